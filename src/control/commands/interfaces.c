/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/interfaces.c - packets and drops of each interface or queue, summed up
 * from the counters of the threads that read it. */
#include <string.h>

#include "base/report/counters.h"
#include "control/private.h"

/* As in Suricata the commands are there in each mode: files are no interfaces. */
static unsigned interface_count(const struct plan *plan)
{
    return plan != NULL && plan->live ? plan->source_count : 0;
}

static enum command_status list_run(struct command *c)
{
    const struct plan *plan = c->control->plan;
    unsigned count = interface_count(plan);

    json_object(c->j, "message");
    json_array(c->j, "ifaces");
    for (unsigned i = 0; i < count; i++)
        json_string(c->j, NULL, plan->sources[i].name);
    json_array_end(c->j);
    json_u64(c->j, "count", count);
    json_object_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_iface_list = {
    .name = "iface-list", .doc = "what is captured from", .run = list_run,
};

/* The sum of one source, in the order of add_thread(). */
struct iface_sum {
    const struct plan *plan;
    unsigned source;
    counter_id packets, drops, bypassed, bad_tcp;
    uint64_t total[4];
};

/* Threads are matched by name, because that is what their counters carry. */
static bool reads(const struct plan *plan, const char *thread, unsigned source)
{
    for (unsigned i = 0; i < plan->packet_threads; i++)
        if (plan->threads[i].source != NULL && plan->threads[i].source_number == source &&
            strcmp(plan->threads[i].name, thread) == 0)
            return true;
    return false;
}

/* Threads count without a lock; a relaxed load sees each counter as it was at some point. */
static void add_thread(const struct counters *c, void *arg)
{
    struct iface_sum *sum = arg;
    const counter_id ids[4] = { sum->packets, sum->drops, sum->bypassed, sum->bad_tcp };

    if (!reads(sum->plan, c->thread_name, sum->source))
        return;
    for (unsigned i = 0; i < 4; i++)
        sum->total[i] += __atomic_load_n(&c->value[ids[i]], __ATOMIC_RELAXED);
}

/* -1: no source has this name. */
static int find_source(const struct command *c)
{
    const struct plan *plan = c->control->plan;
    const char *name = request_string(c->request, "iface");

    for (unsigned i = 0; i < interface_count(plan); i++)
        if (strcmp(plan->sources[i].name, name) == 0)
            return (int)i;
    return -1;
}

/* The keys are Suricata's. */
static enum command_status stat_run(struct command *c)
{
    int source = find_source(c);
    struct iface_sum sum = {
        .plan = c->control->plan,
        .source = (unsigned)source,
        .packets = counter_register("capture.kernel_packets", COUNTER_SUM),
        .drops = counter_register("capture.kernel_drops", COUNTER_SUM),
        .bypassed = counter_register("flow_bypassed.pkts", COUNTER_SUM),
        .bad_tcp = counter_register("tcp.invalid_checksum", COUNTER_SUM),
    };

    if (source < 0)
        return command_nok(c, "Iface does not exist");
    counters_each(add_thread, &sum);
    json_object(c->j, "message");
    json_u64(c->j, "pkts", sum.total[0]);
    json_u64(c->j, "invalid-checksums", sum.total[3]);
    json_u64(c->j, "drop", sum.total[1]);
    json_u64(c->j, "bypassed", sum.total[2]);
    json_object_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_iface_stat = {
    .name = "iface-stat", .doc = "packets and drops of an interface",
    .args = { { "iface", ARG_STRING, false } }, .run = stat_run,
};

/* One figure for all interfaces and both versions of IP, because the counters have no
 * finer parts. */
static enum command_status bypassed_run(struct command *c)
{
    uint64_t added = counter_total(counter_register_own("capture.afpacket.bypass_added",
                                                        COUNTER_SUM));
    uint64_t failed = counter_total(counter_register_own("capture.afpacket.bypass_failed",
                                                         COUNTER_SUM));

    if (added + failed == 0)
        return command_nok(c, "Bypass not enabled");
    json_object(c->j, "message");
    json_object(c->j, "all");
    json_u64(c->j, "success", added);
    json_u64(c->j, "fail", failed);
    json_object_end(c->j);
    json_object_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_iface_bypassed_stat = {
    .name = "iface-bypassed-stat", .doc = "flows that the capture bypasses", .run = bypassed_run,
};

const struct command_ops command_ebpf_bypassed_stat = {
    .name = "ebpf-bypassed-stat", .doc = "flows that the capture bypasses",
    .args = { { "iface", ARG_STRING, true } }, .run = bypassed_run,
};
