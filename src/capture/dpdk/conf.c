/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/dpdk/conf.c - `dpdk.interfaces`, a list of ports. `default` has the values of ports that
 * do not configure them. */
#include "capture/dpdk/dpdk.h"

#include <stdio.h>

#include "base/text/text.h"
#include "packet/vector.h"

#define DESCRIPTORS_MAX 32768
#define MEMPOOL_MAX (1u << 24)
/* RTE_MEMPOOL_CACHE_MAX_SIZE. */
#define CACHE_MAX 512
/* The longest frame that DPDK's lengths of 16 bits hold. */
#define MTU_MAX 65000

struct capture_section dpdk_section(const struct conf_node *root)
{
    return (struct capture_section){ root, "dpdk.interfaces" };
}

/* "auto" is DPDK_AUTO, as is a value that is no number. */
static unsigned number_or_auto(const struct conf_node *item, const char *key, unsigned min,
                               unsigned max)
{
    struct text word = text_of(conf_string(item, key, "auto"));
    uint64_t n;

    if (text_equal_nocase(word, "auto"))
        return DPDK_AUTO;
    if (text_to_u64(word, max, &n) && n >= min)
        return (unsigned)n;
    conf_error(conf_find(item, key), "expected auto or %u to %u, got \"%.*s\"", min, max,
               TEXT(word));
    return DPDK_AUTO;
}

/* A mask of RTE_ETH_RSS_* in hexadecimal, as Suricata's documentation has it. */
static uint64_t rss_functions(const struct conf_node *item)
{
    const char *word = conf_string(item, "rss-hash-functions", "auto");
    unsigned long long mask;
    int end = 0;

    if (text_equal_nocase(text_of(word), "auto"))
        return 0;
    if (sscanf(word, "0x%16llx%n", &mask, &end) == 1 && word[end] == '\0')
        return mask;
    conf_error(conf_find(item, "rss-hash-functions"),
               "expected auto or a mask such as 0x1ab, got \"%s\"", word);
    return 0;
}

int dpdk_conf_read(struct dpdk_conf *conf, const struct conf_node *root, const char *name,
                   struct err *err)
{
    const struct capture_section section = dpdk_section(root);
    const struct conf_node *item = conf_item(conf_find(root, section.name), "interface", name);

    snprintf(conf->device.name, sizeof(conf->device.name), "%s", name);
    conf->device.numa_node = -1;
    conf->item = item;
    conf->promisc = conf_bool(item, "promisc", true);
    conf->multicast = conf_bool(item, "multicast", true);
    conf->interrupts = conf_bool(item, "interrupt-mode", false);
    conf->strips_vlans = conf_bool(item, "vlan-strip-offload", false);
    conf->checksums = capture_checksums_read(item);
    conf->offloads_checksums = conf->checksums != CAPTURE_CHECKSUMS_NO &&
                               conf_bool(item, "checksum-checks-offload", true);
    conf->mtu = (unsigned)conf_u64_or_end(item, "mtu", 1500, 68, MTU_MAX);
    conf->linkup_timeout_s = (unsigned)conf_u64_range(item, "linkup-timeout", 0, 0, 3600);
    conf->mempool_size = number_or_auto(item, "mempool-size", 64, MEMPOOL_MAX);
    conf->cache_size = number_or_auto(item, "mempool-cache-size", 0, CACHE_MAX);
    conf->rx_descriptors = number_or_auto(item, "rx-descriptors", 16, DESCRIPTORS_MAX);
    conf->tx_descriptors = number_or_auto(item, "tx-descriptors", 16, DESCRIPTORS_MAX);
    conf->rss_functions = rss_functions(item);
    return bridge_read_keys(section, name, &conf->bridge, err);
}

/* A cache is flushed when it is half as full again. Returned packets wait for a burst of them. */
unsigned dpdk_mempool_need(const struct dpdk_conf *conf, unsigned descriptors, unsigned packets)
{
    unsigned cache = conf->cache_size == DPDK_AUTO ? CACHE_MAX : conf->cache_size;

    return descriptors + packets + cache + cache / 2 + 2 * VECTOR_FILL;
}

/* With a period of 16 bits, exchanged addresses and exchanged ports meet the same bits of the key
 * (Woo and Park, 2012). */
bool dpdk_key_is_symmetric(const uint8_t *key, unsigned len)
{
    bool is_zero = true;

    for (unsigned i = 0; i < len; i++) {
        is_zero &= key[i] == 0;
        if (i >= 2 && key[i] != key[i - 2])
            return false;
    }
    return !is_zero;
}
