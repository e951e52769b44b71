/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_xdp/conf.c - `af-xdp:`, a list of interfaces. `default` has the values of interfaces
 * that do not configure them. */
#include "config.h"

#ifdef HAVE_XDP
#include "capture/af_xdp/af_xdp.h"

#include <linux/if_link.h>
#include <linux/if_xdp.h>
#include <stdio.h>
#include <string.h>

#include "base/report/log.h"
#include "base/text/text.h"

#define LINK_HEADER_LEN 26              /* Ethernet and three VLAN tags */
/* Bytes of a frame that the kernel reserves, XDP_PACKET_HEADROOM. */
#define KERNEL_HEADROOM 256
/* Frames are half a page or a page: aligned chunks must be a power of two from 2,048 to the page
 * size. */
#define FRAME_SMALL 2048
#define FRAME_LARGE 4096
#define RING_MIN 2048
/* Frames that do not fit are lost between two hosts: this holds bursts of hundreds of senders that
 * start at once. */
#define RING_MIN_INLINE 8192
#define RING_MAX 16384

/* The kernel requires powers of two for ring sizes. */
static unsigned ring_size(unsigned least, uint64_t requested)
{
    unsigned n = least;

    while (n < requested && n < RING_MAX)
        n *= 2;
    return n;
}

/* Suricata's keys force-xdp-mode and force-bind-mode. Without them the kernel uses the best mode
 * that the driver has. */
static int read_modes(struct xdp_conf *conf, const struct conf_node *item)
{
    static const char *const xdp[] = { "none", "drv", "skb", NULL };
    static const char *const bind[] = { "none", "zero", "copy", NULL };
    static const unsigned attach_flags[] = { 0, XDP_FLAGS_DRV_MODE, XDP_FLAGS_SKB_MODE };
    static const unsigned bind_flags[] = { 0, XDP_ZEROCOPY, XDP_COPY };

    conf->attach_flags = attach_flags[conf_choice_or_end(item, "force-xdp-mode", xdp, 0)];
    conf->bind_flags = bind_flags[conf_choice_or_end(item, "force-bind-mode", bind, 0)] |
                       XDP_USE_NEED_WAKEUP;
    return 0;
}

/* Suricata's keys and defaults. */
static void read_busy_poll(struct xdp_conf *conf, const struct conf_node *item)
{
    /* With busy polling a frame may wait for gro-flush-timeout. Inline that delays traffic, so it
     * is off by default there. */
    conf->busy_poll = conf_bool(item, "enable-busy-poll", conf->bridge.copy == BRIDGE_NONE);
    conf->busy_poll_us = (unsigned)conf_u64_range(item, "busy-poll-time", 20, 0, 1000000);
    conf->busy_poll_budget = (unsigned)conf_u64_range(item, "busy-poll-budget", 64, 1, 65535);
    conf->gro_flush_ns = (unsigned)conf_u64_range(item, "gro-flush-timeout", 2000000, 0,
                                                  1000000000);
    conf->defer_interrupts = (unsigned)conf_u64_range(item, "napi-defer-hard-irq", 2, 0, 1000);
}

/* Rejects what cannot work and warns about queues without a thread: RSS distributes packets to all
 * queues, also to those that no socket reads. */
static int check(const struct xdp_conf *conf, struct err *err)
{
    const char *name = conf->device.name;

    if (net_device_link(conf->facts.arp_type) != DATALINK_ETHERNET)
        return err_set(err, "%s: AF_XDP is for Ethernet", name);
    if (conf->facts.mtu + LINK_HEADER_LEN + KERNEL_HEADROOM > FRAME_LARGE)
        return err_set(err, "%s: frames of AF_XDP hold %u bytes; `ip link set dev %s mtu %u`, or "
                       "--af-packet", name, FRAME_LARGE - KERNEL_HEADROOM, name,
                       FRAME_LARGE - KERNEL_HEADROOM - LINK_HEADER_LEN);
    if (conf->threads > conf->queues)
        return err_set(err, "%s has %u receive queue%s, each for one thread of AF_XDP, not %u: "
                       "`ethtool -L %s combined %u`, or threads: %u", name, conf->queues,
                       conf->queues == 1 ? "" : "s", conf->threads, name, conf->threads,
                       conf->queues);
    if (conf->threads < conf->queues && conf->bridge.copy != BRIDGE_NONE)
        return err_set(err, "%s has %u receive queues, and %u threads: what comes by the others "
                       "would not go on; `ethtool -L %s combined %u`", name, conf->queues,
                       conf->threads, name, conf->threads);
    if (conf->threads < conf->queues)
        log_warning("af-xdp", "%s has %u receive queues, and %u threads: what comes by the others "
                    "is not seen; `ethtool -L %s combined %u`", name, conf->queues,
                    conf->threads, name, conf->threads);
    return 0;
}

/* `conf` needs xdp_conf_fini() even after an error. */
int xdp_conf_read(struct xdp_conf *conf, const struct capture_request *rq, const char *name,
                  struct err *err)
{
    const struct capture_section section = { rq->conf, "af-xdp" };
    const struct conf_node *item = conf_item(conf_find(rq->conf, "af-xdp"), "interface", name);

    snprintf(conf->device.name, sizeof(conf->device.name), "%s", name);
    conf->prog = (struct xdp_prog){ .map_fd = -1, .program_fd = -1, .link_fd = -1 };
    pthread_mutex_init(&conf->prog.lock, NULL);
    conf->late = late_close_new();
    if (net_device_read(name, &conf->facts, err) < 0 ||
        bridge_read(section, name, &conf->facts, &conf->bridge, err) < 0)
        return -1;
    conf->device.if_index = conf->facts.index;
    conf->device.numa_node = net_device_numa_node(name);
    conf->queues = net_device_queues(name);
    conf->ring_size = ring_size(conf->bridge.copy != BRIDGE_NONE ? RING_MIN_INLINE : RING_MIN,
                                conf_u64(rq->conf, "max-pending-packets", 1024));
    conf->frame_size = conf->facts.mtu + LINK_HEADER_LEN + KERNEL_HEADROOM <= FRAME_SMALL
                           ? FRAME_SMALL : FRAME_LARGE;
    conf->unaligned = conf_bool(item, "mem-unaligned", false);
    conf->promisc = !conf_bool(item, "disable-promisc", false);
    conf->checksums = capture_checksums_read(item);
    conf->bpf_filter = rq->bpf_filter != NULL ? rq->bpf_filter
                                              : conf_string(item, "bpf-filter", NULL);
    read_busy_poll(conf, item);
    if (read_modes(conf, item) < 0)
        return -1;
    return check(conf, err);
}

void xdp_conf_fini(struct xdp_conf *conf)
{
    xdp_prog_close(conf);
    pthread_mutex_destroy(&conf->prog.lock);
    late_close_free(conf->late);
}
#endif
