/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of capture/dpdk/conf and args: settings of ports, arguments of EAL. */
#include <stdio.h>
#include <string.h>

#include "base/report/log.h"
#include "base/test.h"
#include "capture/dpdk/dpdk.h"

static struct conf *load(struct test *t, const char *yaml)
{
    struct conf *conf = conf_new();
    struct err err = { 0 };
    char text[1200];

    snprintf(text, sizeof(text), "%%YAML 1.1\n---\n%s", yaml);
    CHECK_INT(conf_load_string(conf, text, "t.yaml", &err), 0);
    CHECK_STRING(err.text, "");
    return conf;
}

static int read_port(struct test *t, const char *yaml, const char *name, struct dpdk_conf *out,
                     struct err *err)
{
    struct conf *conf = load(t, yaml);
    int status;

    memset(out, 0, sizeof(*out));
    memset(err, 0, sizeof(*err));
    status = dpdk_conf_read(out, conf_root(conf), name, err);
    out->item = NULL;
    conf_free(conf);
    return status;
}

TEST(dpdk_conf_has_suricatas_defaults)
{
    struct dpdk_conf c;
    struct err err;

    CHECK_INT(read_port(t, "dpdk: {interfaces: [{interface: net_ring0}]}\n", "net_ring0", &c, &err),
              0);
    CHECK_STRING(c.device.name, "net_ring0");
    CHECK(c.promisc && c.multicast && c.offloads_checksums);
    CHECK(!c.interrupts && !c.strips_vlans);
    CHECK_INT(c.mtu, 1500);
    CHECK_INT(c.linkup_timeout_s, 0);
    CHECK_INT(c.mempool_size, DPDK_AUTO);
    CHECK_INT(c.cache_size, DPDK_AUTO);
    CHECK_INT(c.rx_descriptors, DPDK_AUTO);
    CHECK_INT(c.tx_descriptors, DPDK_AUTO);
    CHECK_INT(c.rss_functions, 0);
    CHECK_INT(c.bridge.copy, BRIDGE_NONE);
    CHECK_INT(c.checksums, CAPTURE_CHECKSUMS_AUTO);
}

TEST(dpdk_conf_takes_the_ports_values_before_those_of_default)
{
    const char *yaml = "dpdk:\n"
                       "  interfaces:\n"
                       "    - {interface: '0000:3b:00.0', promisc: no, rx-descriptors: 512,\n"
                       "       rss-hash-functions: 0x1ab, mempool-cache-size: 0}\n"
                       "    - {interface: default, promisc: yes, multicast: no, mtu: 9000,\n"
                       "       rx-descriptors: 64, mempool-size: 65535, interrupt-mode: yes,\n"
                       "       checksum-checks: false, vlan-strip-offload: true}\n";
    struct dpdk_conf c;
    struct err err;

    CHECK_INT(read_port(t, yaml, "0000:3b:00.0", &c, &err), 0);
    CHECK(!c.promisc && !c.multicast && c.interrupts && c.strips_vlans);
    CHECK_INT(c.mtu, 9000);
    CHECK_INT(c.rx_descriptors, 512);
    CHECK_INT(c.mempool_size, 65535);
    CHECK_INT(c.cache_size, 0);
    CHECK_INT(c.rss_functions, 0x1ab);
    CHECK_INT(c.checksums, CAPTURE_CHECKSUMS_NO);
    CHECK(!c.offloads_checksums);       /* nothing is to be checked */
}

TEST(dpdk_conf_reports_values_that_are_none)
{
    const char *yaml = "dpdk:\n"
                       "  interfaces:\n"
                       "    - {interface: a, mempool-cache-size: 513, tx-descriptors: many,\n"
                       "       rss-hash-functions: 0x1abz, mtu: 66000}\n";
    unsigned before = log_error_count();
    struct dpdk_conf c;
    struct err err;

    CHECK_INT(read_port(t, yaml, "a", &c, &err), 0);
    CHECK_INT(log_error_count() - before, 4);
    CHECK_INT(c.cache_size, DPDK_AUTO);
    CHECK_INT(c.tx_descriptors, DPDK_AUTO);
    CHECK_INT(c.rss_functions, 0);
    CHECK_INT(c.mtu, 1500);
}

TEST(dpdk_conf_reads_bridges)
{
    const char *yaml = "dpdk:\n"
                       "  interfaces:\n"
                       "    - {interface: a, copy-mode: ips, copy-iface: b}\n"
                       "    - {interface: c, copy-mode: tap}\n"
                       "    - {interface: d, copy-mode: tap, copy-iface: d}\n";
    struct dpdk_conf c;
    struct err err;

    CHECK_INT(read_port(t, yaml, "a", &c, &err), 0);
    CHECK_INT(c.bridge.copy, BRIDGE_IPS);
    CHECK_STRING(c.bridge.peer, "b");
    CHECK_INT(read_port(t, yaml, "c", &c, &err), -1);
    CHECK_INT(err.at.line, 6);
    CHECK(strstr(err.text, "needs copy-iface") != NULL);
    CHECK_INT(read_port(t, yaml, "d", &c, &err), -1);
    CHECK_INT(err.at.line, 7);
}

TEST(dpdk_mempool_has_an_mbuf_for_each_place)
{
    struct dpdk_conf c = { .cache_size = 256 };

    CHECK_INT(dpdk_mempool_need(&c, 2048, 1000), 2048 + 1000 + 256 + 128 + 2 * VECTOR_FILL);
    c.cache_size = DPDK_AUTO;           /* as large as DPDK allows */
    CHECK_INT(dpdk_mempool_need(&c, 0, 0), 512 + 256 + 2 * VECTOR_FILL);
}

TEST(dpdk_key_is_symmetric_with_a_period_of_16_bits)
{
    uint8_t key[40];

    for (unsigned i = 0; i < sizeof(key); i++)
        key[i] = i % 2 == 0 ? 0x6d : 0x5a;
    CHECK(dpdk_key_is_symmetric(key, sizeof(key)));
    key[39] ^= 1;
    CHECK(!dpdk_key_is_symmetric(key, sizeof(key)));
    CHECK(dpdk_key_is_symmetric(key, 38));
    memset(key, 0, sizeof(key));        /* the hash of everything is 0 */
    CHECK(!dpdk_key_is_symmetric(key, sizeof(key)));
}

/* The arguments, each with a blank before it. */
static int read_args(struct test *t, const char *yaml, char *out, size_t size, struct err *err)
{
    struct conf *conf = load(t, yaml);
    struct dpdk_args args;
    int status = dpdk_args_read(conf_root(conf), "0-3", &args, err);
    size_t at = 0;

    out[0] = '\0';
    for (int i = 0; i < args.count && at < size; i++)
        at += (size_t)snprintf(out + at, size - at, " %s", args.at[i]);
    CHECK(args.at[args.count] == NULL);
    dpdk_args_free(&args);
    conf_free(conf);
    return status;
}

TEST(dpdk_args_are_those_of_eal)
{
    struct err err = { 0 };
    char args[400];

    CHECK_INT(read_args(t, "dpdk: {eal-params: {proc-type: primary}}\n", args, sizeof(args), &err),
              0);
    CHECK_STRING(args, " ids --proc-type primary --lcores=0@(0-3)");
    CHECK_INT(read_args(t, "a: 1\n", args, sizeof(args), &err), 0);
    CHECK_STRING(args, " ids --lcores=0@(0-3)");
    CHECK_INT(read_args(t, "dpdk: {eal-params: {l: 0-1, vdev: [net_tap0, 'net_tap1,iface=x'],\n"
                        "  no-huge: yes, no-pci: , in-memory: no, m: 64}}\n", args, sizeof(args),
                        &err), 0);
    CHECK_STRING(args, " ids -l 0-1 --vdev net_tap0 --vdev net_tap1,iface=x --no-huge --no-pci "
                 "-m 64");
}

TEST(dpdk_args_that_are_no_values_are_errors)
{
    struct err err = { 0 };
    char args[400];

    CHECK_INT(read_args(t, "dpdk:\n  eal-params:\n    vdev: {a: b}\n", args, sizeof(args), &err),
              -1);
    CHECK_INT(err.at.line, 5);
    CHECK(strstr(err.text, "vdev") != NULL);
}
