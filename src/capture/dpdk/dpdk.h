/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/dpdk/dpdk.h - the parts of the DPDK capture: settings of a port, DPDK's environment
 * (EAL), ports and their queues. Includes no header of DPDK, so that tests of the settings need
 * none.
 *
 * A source is a port, or the two ports of a bridge. Thread N of a source reads queue N of its ports
 * and has one mempool for both. A packet stays in its mbuf. The mbuf goes back to the mempool when
 * the packet has returned and, inline, the driver has sent it, in either order. */
#ifndef CAPTURE_DPDK_H
#define CAPTURE_DPDK_H

#include <pthread.h>

#include "capture/transmit/bridge.h"

#define DPDK_AUTO UINT32_MAX            /* a number that the configuration leaves to us */

struct rte_mempool;

/* Settings of one port; read-only. */
struct dpdk_conf {
    struct capture_device device;
    const struct conf_node *item;       /* of dpdk.interfaces; for messages */
    unsigned threads;
    bool promisc, multicast, interrupts;
    bool strips_vlans, offloads_checksums;
    enum capture_checksums checksums;
    unsigned mtu, linkup_timeout_s;
    unsigned mempool_size, cache_size;  /* mbufs of all threads; of a thread's cache; DPDK_AUTO */
    unsigned rx_descriptors, tx_descriptors;    /* DPDK_AUTO */
    uint64_t rss_functions;             /* RTE_ETH_RSS_*; 0: by addresses */
    const char *bpf_filter;             /* NULL: none */
    struct bridge bridge;
};

/* conf.c: needs no EAL. */
struct capture_section dpdk_section(const struct conf_node *root);
/* Fills all but `threads`. */
int dpdk_conf_read(struct dpdk_conf *conf, const struct conf_node *root, const char *name,
                   struct err *err);
/* mbufs that one thread needs when each descriptor is full and each packet in use. */
unsigned dpdk_mempool_need(const struct dpdk_conf *conf, unsigned descriptors, unsigned packets);
/* A key with which Toeplitz gives both directions of a flow the same hash. */
bool dpdk_key_is_symmetric(const uint8_t *key, unsigned len);

/* args.c: needs no EAL. */
#define DPDK_ARGS_MAX 128
struct dpdk_args {
    char *at[DPDK_ARGS_MAX + 1];        /* NULL-ended, as argv */
    int count;
};
/* `eal-params` as arguments of EAL. cpus: "0-3", those of the process. */
int dpdk_args_read(const struct conf_node *root, const char *cpus, struct dpdk_args *out,
                   struct err *err);
void dpdk_args_free(struct dpdk_args *args);

/* eal.c */
/* Starts EAL at the first call; later calls give the first one's result. One thread. */
int dpdk_eal_start(const struct conf_node *root, struct err *err);

/* port.c */
struct dpdk_port {
    struct dpdk_conf conf;
    uint16_t id;                        /* DPDK's number */
    bool is_open, is_inline;
    bool checks_checksums, strips_vlans;    /* the device does */
    unsigned if_index;                  /* of the kernel's interface below it; 0: none */
    char driver[48];
    struct dpdk_stats { uint64_t missed, errors, no_mbufs, unsent; } seen;
};

/* Configures the port for conf.threads queues, without starting it. */
int dpdk_port_open(struct dpdk_port *port, struct err *err);
int dpdk_port_queue(struct dpdk_port *port, unsigned queue, struct rte_mempool *pool,
                    struct err *err);
/* Starts it, and says when flows may be split between its queues. */
int dpdk_port_start(struct dpdk_port *port, struct err *err);
void dpdk_port_close(struct dpdk_port *port);
/* What has come since the last call. */
void dpdk_port_stats(struct dpdk_port *port, struct dpdk_stats *add);
/* Queues that the port can have; 0: there is no such port. */
unsigned dpdk_port_queues(const char *name);
/* "net_ixgbe, 64 queues, node 0, symmetric RSS", for --plan. */
void dpdk_port_describe(const char *name, char *buf, size_t size);
/* The mempool of one thread, for all ports of a source. */
struct rte_mempool *dpdk_mempool_new(const struct dpdk_port *ports, unsigned count, unsigned queue,
                                     unsigned packets, struct err *err);

#endif
