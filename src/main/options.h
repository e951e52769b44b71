/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/options.h - the command line as a struct. */
#ifndef MAIN_OPTIONS_H
#define MAIN_OPTIONS_H

#include "base/array.h"
#include "base/err.h"

enum option_job {
    JOB_RUN,
    JOB_HELP, JOB_VERSION, JOB_BUILD_INFO, JOB_DUMP_CONFIG, JOB_DUMP_FEATURES, JOB_TEST,
    JOB_PLAN, JOB_LIST_KEYWORDS, JOB_LIST_RUN_MODES, JOB_LIST_PROTOS, JOB_LIST_HOOKS,
    JOB_LIST_FRAMES, JOB_LIST_RULE_PROTOS, JOB_ENGINE_ANALYSIS, JOB_LINT,
    JOB_UNIX_SOCKET,
};

typedef ARRAY_OF(const char *) string_list;

struct options {
    enum option_job job;
    const char *job_argument;           /* --list-keywords=csv, --plan=json */
    bool svg;                           /* --plan --svg, the same as --plan=svg */
    const char *config;                 /* -c; NULL: the installed one */
    string_list include, set;
    string_list plugins;                /* --plugin */
    const char *log_dir, *data_dir, *pid_file, *user, *group;
    bool daemon;
    unsigned verbose;
    bool init_errors_fatal;
    bool strict_all;
    const char *strict_keywords;
    const char *run_mode;
    const char *capture;                /* name in capture_table; NULL: the other options decide */
    string_list sources;                /* files, interfaces, queues */
    const char *plugin_capture, *plugin_source; /* --capture-plugin and its -args */
    const char *checksums;              /* -k */
    bool simulate_ips;
    const char *reject_device;
    string_list rule_files;             /* -s */
    const char *only_rule_file;         /* -S */
    bool no_detection, no_hashing;
    bool firewall;
    const char *firewall_file;
    bool recursive, continuous, delete_done;
    const char *pcap_buffer_size, *pcap_file_buffer_size;
    const char *bpf_file;
    char *bpf;                          /* from the remaining words, or the file; heap */
    const char *topology;
    const char *cpu;                    /* --cpu; NULL: from IDS_CPU, or all that the CPU has */
    const char *unix_socket;
    const char *take_over;              /* control socket of the engine to replace */
    bool no_random, deterministic;
    bool quiet_progress;
    const char *explain;                /* rules to explain: numbers, or "all" */
    const char *explain_flow, *explain_nearest;
    const char *life;                   /* the flow whose life is told */
    bool explain_summary, json;
    const char *rule_profile;           /* a file for what rules cost */
    const char *lint_off;               /* classes that --lint leaves out */
};

/* Fills *o; -1 with *err for an invalid option. Texts are borrowed from argv. */
int options_parse(struct options *o, int argc, char **argv, struct err *err);
void options_free(struct options *o);
void options_help(const char *program);

#endif
