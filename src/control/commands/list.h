/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/list.h - all commands, in the order of the output of command-list. */
#ifndef CONTROL_COMMANDS_LIST_H
#define CONTROL_COMMANDS_LIST_H

#define COMMAND_LIST(C)             \
    C(shutdown)                     \
    C(command_list)                 \
    C(help)                         \
    C(command_help)                 \
    C(version)                      \
    C(uptime)                       \
    C(running_mode)                 \
    C(capture_mode)                 \
    C(conf_get)                     \
    C(dump_counters)                \
    C(metrics)                      \
    C(thread_report)                \
    C(reload_rules)                 \
    C(ruleset_reload_rules)         \
    C(ruleset_reload_nonblocking)   \
    C(ruleset_reload_time)          \
    C(ruleset_stats)                \
    C(ruleset_failed_rules)         \
    C(ruleset_profile)              \
    C(ruleset_profile_start)        \
    C(ruleset_profile_stop)         \
    C(rule_costs)                   \
    C(explain)                      \
    C(explain_result)               \
    C(explain_stop)                 \
    C(register_tenant_handler)      \
    C(unregister_tenant_handler)    \
    C(register_tenant)              \
    C(reload_tenant)                \
    C(reload_tenants)               \
    C(unregister_tenant)            \
    C(add_hostbit)                  \
    C(remove_hostbit)               \
    C(list_hostbit)                 \
    C(reopen_log_files)             \
    C(memcap_set)                   \
    C(memcap_show)                  \
    C(memcap_list)                  \
    C(dataset_add)                  \
    C(dataset_remove)               \
    C(dataset_add_json)             \
    C(get_flow_stats_by_id)         \
    C(dataset_dump)                 \
    C(dataset_clear)                \
    C(dataset_lookup)               \
    C(iface_stat)                   \
    C(iface_list)                   \
    C(iface_bypassed_stat)          \
    C(ebpf_bypassed_stat)           \
    C(take_over)                    \
    C(take_over_commit)             \
    C(take_over_done)               \
    C(pcap_file)                    \
    C(pcap_file_continuous)         \
    C(pcap_file_number)             \
    C(pcap_file_list)               \
    C(pcap_last_processed)          \
    C(pcap_file_failed)             \
    C(pcap_interrupt)               \
    C(pcap_current) C(pcap_file_running)

#endif
