/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/conf.c - `af-packet:`, a list of interfaces. `default` has the values of
 * interfaces that do not configure them. */
#include "capture/af_packet/af_packet.h"

#include <linux/if_link.h>
#include <linux/if_packet.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/report/log.h"

/* The headers of the build machine may be older than its kernel. */
#ifndef PACKET_FANOUT_FLAG_IGNORE_OUTGOING
#define PACKET_FANOUT_FLAG_IGNORE_OUTGOING 0x4000
#endif

/* Minimum of slots for an inline ring: frames that do not fit are lost between two hosts. The size
 * holds bursts of some hundred senders that start at once. An inline slot takes one packet, unlike
 * a block of an IDS ring. */
#define INLINE_RING_SIZE 4096

static const struct conf_node *item_of(const struct conf_node *root, const char *name)
{
    return conf_item(conf_find(root, "af-packet"), "interface", name);
}

/* Suricata's words. cluster_rollover would split flows between threads, so it becomes cluster_flow
 * with a warning. */
static const struct {
    const char *word;
    unsigned type;
} fanouts[] = {
    { "cluster_flow", PACKET_FANOUT_HASH }, { "cluster_round_robin", PACKET_FANOUT_LB },
    { "cluster_cpu", PACKET_FANOUT_CPU },   { "cluster_random", PACKET_FANOUT_RND },
    { "cluster_qm", PACKET_FANOUT_QM },     { "cluster_ebpf", PACKET_FANOUT_EBPF },
    { "cluster_rollover", PACKET_FANOUT_HASH },
};

/* The fanout type of `cluster-type`; false if the word is unknown. */
static bool fanout_of(const struct conf_node *item, unsigned *type)
{
    const char *word = conf_string(item, "cluster-type", "cluster_flow");

    for (unsigned i = 0; i < ARRAY_LEN(fanouts); i++)
        if (strcmp(word, fanouts[i].word) == 0) {
            *type = fanouts[i].type;
            return true;
        }
    return false;
}

/* Only cluster_qm depends on the interface's queues; 0: they do not matter. */
unsigned af_queues(const struct conf_node *root, const char *name)
{
    unsigned type = PACKET_FANOUT_HASH;

    fanout_of(item_of(root, name), &type);
    return type == PACKET_FANOUT_QM ? net_device_queues(name) : 0;
}

/* Random and round robin get one thread: with more, packets of a flow would go to several. */
unsigned af_threads_auto(const struct conf_node *root, const char *name, unsigned cpus,
                         unsigned queues)
{
    unsigned type = PACKET_FANOUT_HASH;

    fanout_of(item_of(root, name), &type);
    if (type == PACKET_FANOUT_QM)
        return queues > 0 ? queues : cpus;
    if (type == PACKET_FANOUT_HASH || type == PACKET_FANOUT_CPU || type == PACKET_FANOUT_EBPF)
        return cpus;
    return 1;
}

/* cluster-id is the group's number in this network namespace. `auto` asks the kernel for an unused
 * one. */
static int read_fanout(struct af_conf *conf, const struct conf_node *item, struct err *err)
{
    const struct conf_node *type = conf_find(item, "cluster-type");
    const char *id = conf_string(item, "cluster-id", "auto");
    uint64_t number = 0;

    if (!fanout_of(item, &conf->fanout_type))
        return err_at(err, type->at,
                      "cluster-type: expected cluster_flow, cluster_cpu, cluster_qm, "
                      "cluster_random, cluster_round_robin or cluster_ebpf, got \"%s\"",
                      type->value);
    if (type != NULL && strcmp(type->value, "cluster_rollover") == 0)
        conf_warning(type, "cluster_rollover would split flows between threads: taken as "
                     "cluster_flow");
    if (conf->fanout_type == PACKET_FANOUT_HASH && conf_bool(item, "defrag", true))
        conf->fanout_type |= PACKET_FANOUT_FLAG_DEFRAG;
    if (!text_equal_nocase(text_of(id), "auto") && !text_to_u64(text_of(id), 65535, &number))
        return err_at(err, conf_find(item, "cluster-id")->at,
                      "cluster-id: expected auto or 1 to 65535, got \"%s\"", id);
    conf->cluster_id = (unsigned)number;
    conf->fanout_id = -1;
    if (conf->fanout_type == PACKET_FANOUT_EBPF && conf_string(item, "ebpf-lb-file", NULL) == NULL)
        return err_at(err, type->at, "cluster_ebpf needs ebpf-lb-file: the program that deals the "
                      "packets");
    return 0;
}

/* Suricata's defaults: a ring holds twice the thread's part of max-pending-packets. It never gets
 * less than that part, or packets in flight could fill the ring. */
static void read_sizes(struct af_conf *conf, const struct conf_node *root,
                       const struct conf_node *item)
{
    uint64_t pending = conf_u64(root, "max-pending-packets", 1024);
    uint64_t usual = 2 * pending / conf->threads;
    unsigned page = (unsigned)sysconf(_SC_PAGESIZE);

    if (conf->bridge.copy != BRIDGE_NONE)
        usual = MAX(usual, (uint64_t)INLINE_RING_SIZE);
    conf->ring_size = (unsigned)conf_u64_range(item, "ring-size", usual, 1, 1 << 24);
    if ((uint64_t)conf->ring_size * conf->threads < pending)
        conf->ring_size = (unsigned)(pending / conf->threads + 1);
    conf->block_size = (unsigned)conf_u64_range(item, "block-size", page << 5, page, 1u << 30);
    conf->block_timeout_ms = (unsigned)conf_u64_range(item, "block-timeout", 10, 1, 10000);
    conf->v2_block_size = (unsigned)conf_u64_range(item, "v2-block-size", 0, 0, 1u << 30);
    conf->buffer_size = (unsigned)conf_size(item, "buffer-size", 0);
}

/* Only with capture.disable-offloading; af_conf_fini() turns these offloads on again. */
static void switch_offloads_off(struct af_conf *conf)
{
    conf->joined_before = net_device_join_off(conf->device.name);
    if (conf->joined_before != 0)
        log_info("af-packet", "%s joins no packets any more, until the engine ends "
                 "(capture.disable-offloading)", conf->device.name);
    net_device_read(conf->device.name, &conf->facts, NULL);
}

/* LRO and GRO create frames that never were on the wire. An IDS only logs that. In IPS mode slots
 * must be large enough for such frames, because a truncated one cannot be forwarded. */
static void look_at_offloads(struct af_conf *conf, const struct conf_node *root)
{
    const char *name = conf->device.name;

    if (conf_bool(root, "capture.disable-offloading", false))
        switch_offloads_off(conf);
    if (!conf->facts.has_offloads)
        return;
    if (conf->bridge.copy == BRIDGE_NONE) {
        log_info("af-packet", "%s joins or leaves open parts of packets; to see them as on the "
                 "wire: `ethtool -K %s %s`", name, name, conf->facts.offloads);
        return;
    }
    conf->large_frames = true;
    log_notice("af-packet", "%s has offloads on: frames of up to 64 KiB are taken and passed on "
               "whole; for frames as on the wire: `ethtool -K %s %s`", name, name,
               conf->facts.offloads);
}

/* The shortest timeout of a bypassed flow in the engine, in seconds. */
static unsigned timeout_s(const struct conf_node *root)
{
    static const char *const keys[] = { "tcp.bypassed", "tcp.emergency-bypassed", "udp.bypassed",
                                        "udp.emergency-bypassed" };
    const struct conf_node *timeouts = conf_find(root, "flow-timeouts");
    uint64_t least = 50;

    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        least = MIN(least, conf_u64(timeouts, keys[i], 50));
    return (unsigned)least;
}

/* A socket has one filter, and in IPS mode the kernel would not forward what the filter drops. So
 * bypass needs an IDS socket without another filter. */
static void read_bypass(struct af_conf *conf, const struct conf_node *root,
                        const struct conf_node *item)
{
    const char *name = conf->device.name, *why = NULL;
    struct err err = { 0 };

    if (conf->bridge.copy != BRIDGE_NONE)
        why = "inline every packet has to come here";
    else if (conf->filter != NULL || conf->filter_fd >= 0)
        why = "another filter is set there";
    else if (net_device_link(conf->facts.arp_type) != DATALINK_ETHERNET)
        why = "it is no Ethernet";
    else if (timeout_s(root) < 20)
        why = "flow-timeouts forget bypassed flows too soon: expected 20 s at least";
    else if ((conf->bypass = af_bypass_new(timeout_s(root), &err)) == NULL)
        why = err.text;
    if (why != NULL)
        conf_warning(item, "%s: no bypass in the kernel: %s; bypassed flows still come here, and "
                     "pass quickly", name, why);
}

/* Loads what the kernel runs for each packet. A bpf-filter of the command line replaces that of the
 * file. */
static int load_programs(struct af_conf *conf, const struct capture_request *rq,
                         const struct conf_node *item, struct err *err)
{
    static const char *const modes[] = { "soft", "driver", "hw", NULL };
    static const unsigned flags[] = { XDP_FLAGS_SKB_MODE, XDP_FLAGS_DRV_MODE, XDP_FLAGS_HW_MODE };
    const char *lb_file = conf_string(item, "ebpf-lb-file", NULL);
    const char *filter = conf_string(item, "ebpf-filter-file", NULL);
    const char *xdp = conf_string(item, "xdp-filter-file", NULL);
    const char *expression = rq->bpf_filter != NULL ? rq->bpf_filter
                                                    : conf_string(item, "bpf-filter", NULL);

    conf->xdp_flags = flags[conf_choice_or_end(item, "xdp-mode", modes, 0)];
    if (expression != NULL && af_filter_compile(conf, expression, err) < 0)
        return -1;
    if (expression == NULL && filter != NULL &&
        (conf->filter_fd = af_ebpf_load(filter, "filter", err)) < 0)
        return -1;
    if ((conf->fanout_type & 0xff) == PACKET_FANOUT_EBPF &&
        (conf->lb_fd = af_ebpf_load(lb_file, "loadbalancer", err)) < 0)
        return -1;
    return xdp == NULL || (conf->xdp_fd = af_xdp_load(xdp, conf, err)) >= 0 ? 0 : -1;
}

/* Warns about keys of Suricata that ids does not apply, with the reason. */
static void warn_not_applied(const struct conf_node *item)
{
    static const struct {
        const char *key, *why;
        bool when;                  /* for yes or no: warn with this value only */
    } not_done[] = {
        { "use-mmap", "rings are always shared with the kernel", false },
        { "rollover", "rollover moves single packets of a flow to another thread, which then "
                      "lacks the flow: not done", true },
        { "disable-hwtimestamp", "times are always those of the kernel: the clock of a card is not "
                                 "this machine's", false },
        { "enable-hwtimestamp", "times are always those of the kernel: the clock of a card is not "
                                "this machine's", true },
        { "pinned-maps", "tables and programs end with the engine: bypassed flows are found "
                         "again after a restart", true },
        { "use-percpu-hash", "there is one table of bypassed flows for all CPUs", true },
    };

    for (unsigned i = 0; i < ARRAY_LEN(not_done); i++) {
        const char *key = not_done[i].key;

        if (conf_bool(item, key, !not_done[i].when) == not_done[i].when)
            conf_warning(conf_find(item, key), "%s", not_done[i].why);
    }
    if (conf_find(item, "xdp-cpu-redirect") != NULL)
        conf_warning(conf_find(item, "xdp-cpu-redirect"), "tables of xdp-filter-file are not "
                     "filled: CPUs to redirect to must stand in the program itself");
}

/* `conf` needs af_conf_fini() even after an error. */
int af_conf_read(struct af_conf *conf, const struct capture_request *rq, const char *name,
                 struct err *err)
{
    const struct capture_section section = { rq->conf, "af-packet" };
    const struct conf_node *item = item_of(rq->conf, name);

    snprintf(conf->device.name, sizeof(conf->device.name), "%s", name);
    conf->lb_fd = conf->filter_fd = conf->xdp_fd = -1;
    conf->late = late_close_new();
    pthread_mutex_init(&conf->join_lock, NULL);
    if (net_device_read(name, &conf->facts, err) < 0)
        return -1;
    if (net_device_link(conf->facts.arp_type) == DATALINK_NONE)
        return err_set(err, "%s: hardware of type %d is not supported", name,
                       conf->facts.arp_type);
    conf->device.if_index = conf->facts.index;
    conf->device.numa_node = -1;
    if (read_fanout(conf, item, err) < 0 ||
        bridge_read(section, name, &conf->facts, &conf->bridge, err) < 0)
        return -1;
    look_at_offloads(conf, rq->conf);
    /* On the loopback interface each packet is seen twice, outgoing and incoming. */
    conf->ignore_outgoing = conf->bridge.copy != BRIDGE_NONE || conf->facts.is_loopback;
    if (conf->ignore_outgoing)
        conf->fanout_type |= PACKET_FANOUT_FLAG_IGNORE_OUTGOING;
    read_sizes(conf, rq->conf, item);
    conf->v3 = conf->bridge.copy == BRIDGE_NONE && conf_bool(item, "tpacket-v3", true);
    conf->mmap_locked = conf_bool(item, "mmap-locked", false);
    conf->emergency_flush = conf_bool(item, "use-emergency-flush", false);
    conf->promisc = !conf_bool(item, "disable-promisc", false);
    conf->checksums = capture_checksums_read(item);
    warn_not_applied(item);
    if (load_programs(conf, rq, item, err) < 0)
        return -1;
    if (conf_bool(item, "bypass", false))
        read_bypass(conf, rq->conf, item);
    return 0;
}

static void close_program(int fd)
{
    if (fd >= 0)
        close(fd);
}

/* Offloads are only restored on the same interface, not on a new one of the same name. */
void af_conf_fini(struct af_conf *conf)
{
    if (net_device_is(conf->device.name, conf->device.if_index))
        net_device_join_on(conf->device.name, conf->joined_before);
    af_xdp_close(conf);
    af_bypass_free(conf->bypass);
    af_filter_free(conf);
    close_program(conf->lb_fd);
    close_program(conf->filter_fd);
    close_program(conf->xdp_fd);
    pthread_mutex_destroy(&conf->join_lock);
    late_close_free(conf->late);
}
