/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/dpdk/port.c - ports of DPDK: their queues, mempools, RSS. All of it at start-up, except
 * the counts of dpdk_port_stats(). */
#include "config.h"

#ifdef HAVE_DPDK
#include "capture/dpdk/dpdk.h"
#include "capture/dpdk/rte.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/report/log.h"
#include "base/text/text.h"

/* Two VLAN tags; Ethernet's header and checksum. */
#define LINK_OVERHEAD (8 + RTE_ETHER_HDR_LEN + RTE_ETHER_CRC_LEN)
/* Suricata takes as many as the device has. Beyond this the mbufs of a queue no longer fit into the
 * caches, and virtual devices claim 65,535. */
#define DESCRIPTORS_AUTO_MAX 4096
#define KEY_MAX 128

/* A message about a key of the port. */
#define port_error(port, err, key, ...) err_at(err, key_at(&(port)->conf, key), __VA_ARGS__)

static struct where key_at(const struct dpdk_conf *conf, const char *key)
{
    const struct conf_node *node = conf_find(conf->item, key);

    return node != NULL ? node->at : conf->item != NULL ? conf->item->at : NO_LOCATION;
}

/* --- finding ------------------------------------------------------------------------------ */

static const char *port_names(char *buf, size_t size)
{
    size_t at = 0;
    uint16_t id;

    snprintf(buf, size, "none");
    RTE_ETH_FOREACH_DEV(id) {
        char name[RTE_ETH_NAME_MAX_LEN];

        if (rte_eth_dev_get_name_by_port(id, name) == 0 && at < size)
            at += (size_t)snprintf(buf + at, size - at, "%s%s", at > 0 ? ", " : "", name);
    }
    return buf;
}

static int find(struct dpdk_port *port, struct rte_eth_dev_info *info, struct err *err)
{
    const char *name = port->conf.device.name;
    char names[200];

    if (rte_eth_dev_get_port_by_name(name, &port->id) != 0)
        return port_error(port, err, "interface", "DPDK has no port \"%s\"; it has: %s", name,
                          port_names(names, sizeof(names)));
    if (rte_eth_dev_info_get(port->id, info) != 0)
        return port_error(port, err, "interface", "%s: the driver does not describe the port",
                          name);
    return 0;
}

unsigned dpdk_port_queues(const char *name)
{
    struct rte_eth_dev_info info;
    uint16_t id;

    if (rte_eth_dev_get_port_by_name(name, &id) != 0 || rte_eth_dev_info_get(id, &info) != 0)
        return 0;
    return info.max_rx_queues;
}

/* --- RSS ---------------------------------------------------------------------------------- */

/* Addresses only, so that a fragment, which has no ports, meets the rest of its flow. Intel's 700
 * and 800 series hash TCP and UDP only if these are named. */
static uint64_t functions_wanted(const struct dpdk_conf *conf, const struct rte_eth_dev_info *info)
{
    uint64_t names_all = RTE_ETH_RSS_IP | RTE_ETH_RSS_TCP | RTE_ETH_RSS_UDP | RTE_ETH_RSS_SCTP;
    const char *driver = info->driver_name != NULL ? info->driver_name : "";
    uint64_t wanted = RTE_ETH_RSS_IP;

    if (strstr(driver, "i40e") != NULL || strstr(driver, "net_ice") != NULL ||
        strstr(driver, "iavf") != NULL)
        wanted = names_all;
    if (conf->rss_functions != 0)
        wanted = conf->rss_functions;
    return wanted & info->flow_type_rss_offloads;
}

static unsigned key_len(const struct rte_eth_dev_info *info)
{
    return info->hash_key_size == 0 ? 40 : MIN(info->hash_key_size, (unsigned)KEY_MAX);
}

static void fill_key(uint8_t *key, unsigned len)
{
    for (unsigned i = 0; i < len; i++)
        key[i] = i % 2 == 0 ? 0x6d : 0x5a;
}

/* For drivers that take no key when they are configured. */
static void update_key(const struct dpdk_port *port, const struct rte_eth_dev_info *info)
{
    uint8_t key[KEY_MAX];
    struct rte_eth_rss_conf rss = { .rss_key = key, .rss_key_len = (uint8_t)key_len(info),
                                    .rss_hf = functions_wanted(&port->conf, info) };

    fill_key(key, key_len(info));
    (void)rte_eth_dev_rss_hash_update(port->id, &rss);
}

/* What the device really uses may differ from what it was given. */
static bool is_symmetric(uint16_t id, unsigned len)
{
    uint8_t key[KEY_MAX] = { 0 };
    struct rte_eth_rss_conf rss = { .rss_key = key, .rss_key_len = (uint8_t)len };

    return rte_eth_dev_rss_hash_conf_get(id, &rss) == 0 && rss.rss_hf != 0 &&
           dpdk_key_is_symmetric(key, len);
}

static COLD void resolve_rss(const struct dpdk_port *port, const struct rte_eth_dev_info *info)
{
    const char *name = port->conf.device.name;

    if (port->conf.threads < 2)
        return;
    if (functions_wanted(&port->conf, info) != 0 && !is_symmetric(port->id, key_len(info)))
        update_key(port, info);
    if (functions_wanted(&port->conf, info) == 0)
        conf_warning(port->conf.item, "%s: the driver %s has no RSS that we can set: both "
                     "directions of a flow must arrive on one of the %u queues, or use threads: 1",
                     name, port->driver, port->conf.threads);
    else if (!is_symmetric(port->id, key_len(info)))
        conf_warning(port->conf.item, "%s: the driver %s did not take a symmetric RSS key: the "
                     "directions of a flow may arrive on different queues; use threads: 1",
                     name, port->driver);
    else
        log_info("dpdk", "%s: symmetric RSS over %u queues", name, port->conf.threads);
}

void dpdk_port_describe(const char *name, char *buf, size_t size)
{
    const struct dpdk_conf none = { .threads = 0 };
    struct rte_eth_dev_info info;
    char node[24] = "unknown";
    uint16_t id;

    if (rte_eth_dev_get_port_by_name(name, &id) != 0 || rte_eth_dev_info_get(id, &info) != 0) {
        snprintf(buf, size, "DPDK has no such port");
        return;
    }
    if (rte_eth_dev_socket_id(id) >= 0)
        snprintf(node, sizeof(node), "%d", rte_eth_dev_socket_id(id));
    snprintf(buf, size, "%s, up to %u receive and %u send queues, node %s, %s",
             info.driver_name, info.max_rx_queues, info.max_tx_queues, node,
             functions_wanted(&none, &info) != 0 ? "RSS by addresses, to be symmetric" : "no RSS");
}

/* --- opening ------------------------------------------------------------------------------ */

static unsigned descriptors(unsigned given, const struct rte_eth_desc_lim *limit)
{
    return given != DPDK_AUTO ? given : MIN((unsigned)limit->nb_max, DESCRIPTORS_AUTO_MAX);
}

/* The device rounds to what it has; a number far from the configured one is worth a word. */
static int set_descriptors(struct dpdk_port *port, const struct rte_eth_dev_info *info,
                           struct err *err)
{
    struct dpdk_conf *conf = &port->conf;
    uint16_t rx = (uint16_t)descriptors(conf->rx_descriptors, &info->rx_desc_lim);
    uint16_t tx = (uint16_t)descriptors(conf->tx_descriptors, &info->tx_desc_lim);
    unsigned want = rx;

    if (rte_eth_dev_adjust_nb_rx_tx_desc(port->id, &rx, &tx) != 0)
        return port_error(port, err, "rx-descriptors", "%s: the driver takes no %u descriptors",
                          conf->device.name, want);
    if (rx < want)
        log_warning("dpdk", "%s: the driver has %u rx-descriptors, not %u", conf->device.name, rx,
                    want);
    conf->rx_descriptors = rx;
    conf->tx_descriptors = tx;
    return 0;
}

static int check(const struct dpdk_port *port, const struct rte_eth_dev_info *info,
                 struct err *err)
{
    const struct dpdk_conf *conf = &port->conf;
    const char *name = conf->device.name;
    unsigned queues = port->is_inline ? MIN(info->max_rx_queues, info->max_tx_queues)
                                      : info->max_rx_queues;

    if (conf->threads > queues)
        return port_error(port, err, "threads", "%s has %u queue%s%s, each for one thread, not %u",
                          name, queues, queues == 1 ? "" : "s",
                          port->is_inline ? " in each direction" : "", conf->threads);
    if (conf->mtu < info->min_mtu || (info->max_mtu != 0 && conf->mtu > info->max_mtu))
        return port_error(port, err, "mtu", "%s: the driver takes an MTU from %u to %u", name,
                          info->min_mtu, info->max_mtu);
    return 0;
}

static void choose_offloads(struct dpdk_port *port, const struct rte_eth_dev_info *info,
                            struct rte_eth_conf *out)
{
    const uint64_t checksums = RTE_ETH_RX_OFFLOAD_CHECKSUM;
    const struct dpdk_conf *conf = &port->conf;

    port->checks_checksums = conf->offloads_checksums &&
                             (info->rx_offload_capa & checksums) == checksums;
    port->strips_vlans = conf->strips_vlans &&
                         (info->rx_offload_capa & RTE_ETH_RX_OFFLOAD_VLAN_STRIP) != 0;
    if (port->checks_checksums)
        out->rxmode.offloads |= checksums;
    if (port->strips_vlans)
        out->rxmode.offloads |= RTE_ETH_RX_OFFLOAD_VLAN_STRIP;
    else if (conf->strips_vlans)
        log_info("dpdk", "%s: the driver does not strip VLAN tags", conf->device.name);
}

int dpdk_port_open(struct dpdk_port *port, struct err *err)
{
    struct dpdk_conf *conf = &port->conf;
    struct rte_eth_conf wanted = { .rxmode = { .mtu = conf->mtu } };
    struct rte_eth_dev_info info;
    uint8_t key[KEY_MAX];
    int status;

    if (find(port, &info, err) < 0 || check(port, &info, err) < 0 ||
        set_descriptors(port, &info, err) < 0)
        return -1;
    snprintf(port->driver, sizeof(port->driver), "%s", info.driver_name);
    port->if_index = info.if_index;
    conf->device.if_index = (int)info.if_index;
    conf->device.numa_node = rte_eth_dev_socket_id(port->id);
    choose_offloads(port, &info, &wanted);
    wanted.intr_conf.rxq = conf->interrupts;
    if (conf->threads > 1 && functions_wanted(conf, &info) != 0) {
        fill_key(key, key_len(&info));
        wanted.rxmode.mq_mode = RTE_ETH_MQ_RX_RSS;
        wanted.rx_adv_conf.rss_conf = (struct rte_eth_rss_conf){
            key, (uint8_t)key_len(&info), functions_wanted(conf, &info)
        };
    }
    /* net_tap wants as many queues to send as to receive, also where nothing is sent. */
    status = rte_eth_dev_configure(port->id, (uint16_t)conf->threads,
                                   MIN((uint16_t)conf->threads, info.max_tx_queues), &wanted);
    if (status != 0)
        return port_error(port, err, conf->interrupts ? "interrupt-mode" : "interface",
                          "%s: the driver %s refuses %u queues%s: %s", conf->device.name,
                          port->driver, conf->threads,
                          conf->interrupts ? " with interrupts" : "", rte_strerror(-status));
    port->is_open = true;
    return 0;
}

int dpdk_port_queue(struct dpdk_port *port, unsigned queue, struct rte_mempool *pool,
                    struct err *err)
{
    const struct dpdk_conf *conf = &port->conf;
    unsigned node = (unsigned)conf->device.numa_node;
    struct rte_eth_dev_info info;
    int status;

    if (rte_eth_dev_info_get(port->id, &info) != 0)
        return port_error(port, err, "interface", "%s is gone", conf->device.name);
    status = rte_eth_rx_queue_setup(port->id, (uint16_t)queue, (uint16_t)conf->rx_descriptors, node,
                                    NULL, pool);
    if (status == 0 && queue < info.nb_tx_queues)
        status = rte_eth_tx_queue_setup(port->id, (uint16_t)queue, (uint16_t)conf->tx_descriptors,
                                        node, NULL);
    if (status != 0)
        return port_error(port, err, "interface", "%s: queue %u: %s", conf->device.name, queue,
                          rte_strerror(-status));
    return 0;
}

/* A port whose link is down receives nothing; the engine runs all the same. */
static void wait_for_link(const struct dpdk_port *port)
{
    const struct timespec pause = { .tv_nsec = 100000000 };
    struct rte_eth_link link = { 0 };

    for (unsigned i = 0; i < 10 * port->conf.linkup_timeout_s; i++) {
        if (rte_eth_link_get_nowait(port->id, &link) == 0 && link.link_status != 0)
            return;
        nanosleep(&pause, NULL);
    }
    if (port->conf.linkup_timeout_s > 0)
        log_warning("dpdk", "%s: no link after %u s", port->conf.device.name,
                    port->conf.linkup_timeout_s);
}

/* Virtual devices have neither mode; they receive everything. */
static void set_modes(const struct dpdk_port *port)
{
    const struct dpdk_conf *conf = &port->conf;
    int promisc = conf->promisc ? rte_eth_promiscuous_enable(port->id)
                                : rte_eth_promiscuous_disable(port->id);
    int multicast = conf->multicast ? rte_eth_allmulticast_enable(port->id)
                                    : rte_eth_allmulticast_disable(port->id);

    if (promisc != 0 || multicast != 0)
        log_info("dpdk", "%s: the driver has no %s mode", conf->device.name,
                 promisc != 0 ? "promiscuous" : "multicast");
}

int dpdk_port_start(struct dpdk_port *port, struct err *err)
{
    struct rte_eth_dev_info info;
    struct dpdk_stats before;
    int status;

    dpdk_port_stats(port, &before);     /* what a card has counted for its former user */
    status = rte_eth_dev_start(port->id);
    if (status != 0)
        return port_error(port, err, "interface", "%s does not start: %s", port->conf.device.name,
                          rte_strerror(-status));
    set_modes(port);
    if (rte_eth_dev_info_get(port->id, &info) == 0)
        resolve_rss(port, &info);
    wait_for_link(port);
    return 0;
}

void dpdk_port_close(struct dpdk_port *port)
{
    if (!port->is_open)
        return;
    (void)rte_eth_dev_stop(port->id);
    (void)rte_eth_dev_close(port->id);
    port->is_open = false;
}

void dpdk_port_stats(struct dpdk_port *port, struct dpdk_stats *add)
{
    struct rte_eth_stats now;

    *add = (struct dpdk_stats){ 0 };
    if (rte_eth_stats_get(port->id, &now) != 0)
        return;
    add->missed = now.imissed - port->seen.missed;
    add->errors = now.ierrors - port->seen.errors;
    add->no_mbufs = now.rx_nombuf - port->seen.no_mbufs;
    add->unsent = now.oerrors - port->seen.unsent;
    port->seen = (struct dpdk_stats){ now.imissed, now.ierrors, now.rx_nombuf, now.oerrors };
}

/* --- memory ------------------------------------------------------------------------------- */

/* Of all threads, as `mempool-size` says, or what this one needs. */
static unsigned mempool_size(const struct dpdk_conf *conf, unsigned need)
{
    unsigned size = conf->mempool_size == DPDK_AUTO ? need : conf->mempool_size / conf->threads;

    if (size < need)
        conf_warning(conf_find(conf->item, "mempool-size"), "%s needs %u for %u "
                     "thread%s with all queues full; with less, packets may be lost",
                     conf->device.name, need * conf->threads, conf->threads,
                     conf->threads == 1 ? "" : "s");
    return size;
}

/* Inline a sent packet stays in its descriptor until the driver looks. */
static unsigned descriptors_of(const struct dpdk_port *ports, unsigned count)
{
    unsigned sum = 0;

    for (unsigned i = 0; i < count; i++)
        sum += ports[i].conf.rx_descriptors + (ports[i].is_inline ? ports[i].conf.tx_descriptors
                                                                  : 0);
    return sum;
}

struct rte_mempool *dpdk_mempool_new(const struct dpdk_port *ports, unsigned count, unsigned queue,
                                     unsigned packets, struct err *err)
{
    const struct dpdk_conf *conf = &ports[0].conf;
    unsigned size = mempool_size(conf, dpdk_mempool_need(conf, descriptors_of(ports, count),
                                                         packets));
    unsigned cache = conf->cache_size == DPDK_AUTO ? MIN(512u, size / 2) : conf->cache_size;
    unsigned mtu = MAX(conf->mtu, ports[count - 1].conf.mtu);
    /* Drivers give out multiples of 1,024 bytes. */
    unsigned space = (MAX(mtu + LINK_OVERHEAD, 2048u) + 1023) / 1024 * 1024;
    struct rte_mempool *pool;
    char name[RTE_MEMPOOL_NAMESIZE];

    snprintf(name, sizeof(name), "ids-%u-%u", ports[0].id, queue);
    pool = rte_pktmbuf_pool_create(name, size, cache & ~1u, 0,
                                   (uint16_t)(space + RTE_PKTMBUF_HEADROOM),
                                   conf->device.numa_node);
    if (pool == NULL)
        port_error(&ports[0], err, "mempool-size", "%s: no memory for %u mbufs of %u bytes (%s): "
                   "more huge pages, with no-huge a larger m: in eal-params, or fewer "
                   "rx-descriptors", conf->device.name, size, space, rte_strerror(rte_errno));
    return pool;
}
#endif
