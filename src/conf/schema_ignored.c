/* SPDX-License-Identifier: GPL-2.0-or-later */
/* conf/schema_ignored.c - keys of Suricata's files that have no effect here, and why. Such
 * a key is known. With -v a message names it and its reason. scripts/keys proves that some
 * code reads every other key of schema_keys.c. A path is the outline's, groups with their
 * "@". */
#include "conf/conf_private.h"

#define OLD "an old key that Suricata does not read any more either"
#define LATER "a key of a later Suricata"
#define CAPTURE "this way of capture is not built in"
#define COUNTED "only profiling.rules is counted; thread-report tells where time goes"

const struct conf_ignored conf_ignored[] = {
    { "stats.exception-policy.global-stats", LATER },

    { "@log-file.buffer-size", "records are written as packets are done, in pieces of many" },
    { "@log-file.ipv6-compress", LATER },
    { "heartbeat.output-flush-interval", "nothing waits in a buffer: see buffer-size" },
    { "outputs.eve-log.json", "records are always in one line and in UTF-8" },
    { "outputs.eve-log.types.alert.http-extended", OLD },
    { "outputs.eve-log.types.files.force-md5", "now force-hash: [md5]" },
    { "outputs.alert-prelude.log-packet-content", OLD },
    { "outputs.alert-prelude.log-packet-header", OLD },
    { "outputs.file-store.force-md5", "now force-hash: [md5]" },
    { "outputs.file-store.log-dir", "now dir" },
    { "outputs.file-store.waldo", OLD },
    { "outputs.file-store.include-pid", OLD },
    { "outputs.file-log.force-md5", OLD },
    { "outputs.tcp-data.ipv6-compress", OLD },
    { "outputs.unified2-alert.sensor-id", OLD },

    { "af-packet.live-interface", OLD },
    { "af-packet.pinned-maps-name", "see pinned-maps" },
    { "af-xdp.live-interface", OLD },
    { "netmap", CAPTURE },
    { "pfring", "this way of capture is not built in: pcap works with PF_RING's libpcap" },
    { "ipfw", CAPTURE },
    { "napatech", "this way of capture is not built in: pcap works with Napatech's libpcap" },
    { "erf-file", CAPTURE },
    { "mpipe", OLD },
    { "cuda", OLD },
    { "pcap.single-pcap-dev", OLD },

    { "@libhtp.log-ftp-uri", OLD },
    { "app-layer.protocols.tls.encrypt-handling", "now encryption-handling" },
    { "app-layer.protocols.http2.http1-rules", LATER },
    { "app-layer.protocols.msn", OLD },
    { "app-layer.protocols.dns.global-memcap", OLD },
    { "app-layer.protocols.dns.state-memcap", OLD },

    { "datasets.save-directory", LATER },
    { "sensor-id", "is a key of eve-log" },
    { "default-packet-size", "frames stay where the kernel or the file has them" },
    { "ignore-unknown-requirements", LATER },
    { "defrag.trackers", "there are as many as defrag.memcap has room for" },
    { "defrag.prealloc", "memory is taken when fragments come" },
    { "host.hash-size", "the table is as large as host.memcap allows" },
    { "host.prealloc", "the table is as large as host.memcap allows" },
    { "ippair", "pairs of hosts stand in the table of hosts: host.memcap" },
    { "flow.managers", "each thread keeps its own flows" },
    { "flow.recyclers", "each thread keeps its own flows" },
    { "stream.max-sessions", OLD },
    { "stream.reassembly.randomize-chunk-size", "the same input gives the same alerts" },
    { "stream.reassembly.randomize-chunk-range", "the same input gives the same alerts" },
    { "stream.reassembly.raw", "rules always see the stream" },
    { "stream.reassembly.segments", OLD },
    { "stream.reassembly.max-regions", "segments after a gap are limited by number and memcap" },
    { "stream.reassembly.chunk-prealloc", OLD },
    { "containers", OLD },
    { "decoder.ipv4.ipip", LATER },
    { "decoder.ipv6.ipip-ipv4", LATER },
    { "decoder.ipv6.ipip-ipv6", LATER },

    { "detect.sgh-mpm-context", "groups with the same patterns share them" },
    { "detect.mpm", "groups with the same patterns share them" },
    { "detect.thresholds.hash-size", "the table is as large as detect.thresholds.memcap allows" },
    { "detect.delayed-detect", "rules are loaded in less than a second" },
    { "detect.grouping.tcp-whitelist", "now tcp-priority-ports" },
    { "detect.grouping.udp-whitelist", "now udp-priority-ports" },
    { "detect.profiling.inspect-logging-threshold", COUNTED },
    { "detect-engine", "now detect" },
    { "pattern-matcher", OLD },
    { "luajit", OLD },
    { "multi-detect.loaders", "tenants are loaded one after the other, in milliseconds" },
    { "profiling.sample-rate", COUNTED },
    { "profiling.keywords", COUNTED },
    { "profiling.prefilter", COUNTED },
    { "profiling.rulegroups", COUNTED },
    { "profiling.packets", COUNTED },
    { "profiling.locks", COUNTED },
    { "profiling.pcap-log", COUNTED },
    { NULL, NULL },
};
