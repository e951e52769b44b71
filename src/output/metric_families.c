/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/metric_families.c - the table of metrics.
 *
 * The first matching row wins, so rows for one counter precede those with asterisks. Values by
 * protocol, reason or event are one family with a label: Prometheus can then sum over it, and a
 * dashboard needs no list of protocols. */
#include "output/metric_families.h"

#include "base/array.h"

#include <string.h>

#define ONE(pattern, help) { pattern, NULL, { NULL, NULL }, help, false }
#define BY_THREAD(pattern, help) { pattern, NULL, { NULL, NULL }, help, true }
#define BY(pattern, name, label, help) { pattern, name, { label, NULL }, help, false }
#define BY2(pattern, name, first, second, help) \
    { pattern, name, { first, second }, help, false }

const struct metric_family metric_families[] = {
    /* --- capture --- */
    BY_THREAD("capture.kernel_packets", "Packets that the kernel handed to the capture"),
    BY_THREAD("capture.kernel_drops", "Packets that the kernel dropped, the engine being late"),
    BY_THREAD("capture.kernel_ifdrops", "Packets that the interface dropped"),
    BY_THREAD("capture.errors", "Errors of the capture interface"),
    BY_THREAD("capture.bypassed", "Packets that the capture bypassed"),
    { "capture.afpacket.*", "capture_afpacket_events", { "event", NULL },
      "Events of the AF_PACKET capture: polls, errors, bypassed flows", true },
    { "capture.*", "capture_events", { "event", NULL },
      "Events of the capture method that have no family of their own", true },

    /* --- decoders --- */
    BY_THREAD("decoder.pkts", "Packets decoded"),
    BY_THREAD("decoder.bytes", "Bytes of the packets decoded"),
    BY_THREAD("decoder.invalid", "Packets that a decoder refused"),
    ONE("decoder.avg_pkt_size", "Average size of a packet in bytes"),
    ONE("decoder.max_pkt_size", "Size of the largest packet in bytes"),
    ONE("decoder.max_mac_addrs_src", "Most source MAC addresses seen in one flow"),
    ONE("decoder.max_mac_addrs_dst", "Most destination MAC addresses seen in one flow"),
    ONE("decoder.too_many_layers", "Packets with more layers than the decoders follow"),
    ONE("decoder.unknown_ethertype", "Frames of an EtherType that no decoder knows"),
    BY2("decoder.event.*.*", "decoder_events", "layer", "event",
        "Packets with a decoder event, by layer and event"),
    BY("decoder.*", "decoder_layer_pkts", "layer", "Packets with a header of this layer"),

    /* --- defragmentation --- */
    ONE("defrag.memuse", "Bytes that defragmentation holds"),
    ONE("defrag.memcap", "Times that memory for fragments was refused"),
    ONE("defrag.ipv4.fragments", "IPv4 fragments seen"),
    ONE("defrag.ipv4.reassembled", "IPv4 datagrams reassembled"),
    ONE("defrag.ipv6.fragments", "IPv6 fragments seen"),
    ONE("defrag.ipv6.reassembled", "IPv6 datagrams reassembled"),
    BY("defrag.*", "defrag_events", "event", "Events of the defragmentation trackers"),

    /* --- flows --- */
    { "flow.total", "flows", { NULL, NULL }, "Flows created", true },
    BY_THREAD("flow.active", "Flows that live"),
    ONE("flow.memuse", "Bytes that flows hold"),
    ONE("flow.memcap", "Times that memory for a flow was refused"),
    ONE("flow.spare", "Flows kept for reuse"),
    ONE("flow.tcp_reuse", "Connections that took the ports of an earlier one"),
    ONE("flow.elephant", "Flows that crossed the limit of an elephant flow"),
    BY("flow_elephants.*", "flow_elephants", "what",
       "Elephant flows by policy; packets searched by helpers, packets and bytes not searched"),
    ONE("flow.emerg_mode_entered", "Times that the flow table entered emergency mode"),
    ONE("flow.emerg_mode_over", "Times that the flow table left emergency mode"),
    BY("flow.end.state.*", "flow_end_states", "state", "Flows ended, by state"),
    BY("flow.end.tcp_state.*", "flow_end_tcp_states", "state", "TCP flows ended, by TCP state"),
    ONE("flow.end.tcp_liberal", "TCP flows ended that were tracked liberally"),
    BY("flow.mgr.*", "flow_manager_events", "event", "Work of flow timeout handling"),
    BY("flow.wrk.*", "flow_worker_events", "event", "Flow work done by packet threads"),
    BY("flow.recycler.*", "flow_recycler_events", "event", "Work of the flow recycler"),
    BY("flow_bypassed.*", "flow_bypassed", "what", "Flows, packets and bytes bypassed"),
    BY("flow.get_used*", "flow_reuse_events", "event", "Flows taken back for lack of memory"),
    BY("flow.*", "flow_protocol", "protocol", "Flows created, by protocol"),

    /* --- TCP --- */
    ONE("tcp.memuse", "Bytes that TCP sessions hold"),
    ONE("tcp.reassembly_memuse", "Bytes that TCP reassembly holds"),
    ONE("tcp.active_sessions", "TCP sessions that live"),
    ONE("tcp.sessions", "TCP sessions followed"),
    ONE("tcp.ssn_memcap_drop", "TCP sessions that got no memory"),
    ONE("tcp.segment_memcap_drop", "TCP segments that got no memory"),
    ONE("tcp.stream_depth_reached", "Streams whose depth limit was reached"),
    ONE("tcp.reassembly_gap", "Gaps in reassembled streams"),
    ONE("tcp.invalid_checksum", "TCP packets with an invalid checksum"),
    ONE("tcp.overlap", "Segments that overlap others"),
    ONE("tcp.overlap_diff_data", "Overlapping segments with other data"),
    ONE("tcp.midstream_pickups", "TCP sessions picked up in the middle"),
    ONE("tcp.syn", "TCP packets with SYN"),
    ONE("tcp.synack", "TCP packets with SYN and ACK"),
    ONE("tcp.rst", "TCP packets with RST"),
    ONE("tcp.urg", "TCP packets with URG"),
    ONE("tcp.pseudo", "Pseudo packets made for TCP"),
    BY("tcp.*", "tcp_events", "event", "Events of TCP tracking and reassembly"),
    BY("stream.*", "stream_events", "event", "Events of the TCP stream engine"),

    /* --- application layer --- */
    ONE("app_layer.expectations", "Flows expected because another announced them"),
    BY("app_layer.flow.*", "app_flows", "app", "Flows, by application protocol"),
    BY("app_layer.tx.*", "app_transactions", "app", "Transactions, by application protocol"),
    BY2("app_layer.error.*.*", "app_errors", "app", "reason",
        "Errors of application parsers, by protocol and reason"),
    ONE("http.memuse", "Bytes that HTTP holds"),
    ONE("http.memcap", "Times that memory for HTTP was refused"),
    ONE("http.byterange.memuse", "Bytes that HTTP ranges hold"),
    ONE("http.byterange.memcap", "Limit on the bytes of HTTP ranges; 0: none"),
    ONE("ftp.memuse", "Bytes that FTP holds"),
    ONE("ftp.memcap", "Times that memory for FTP was refused"),
    ONE("host.memuse", "Bytes of the host table"),
    ONE("host.memcap", "Limit on the bytes of the host table"),
    ONE("ippair.memuse", "Bytes of the table of address pairs"),
    ONE("ippair.memcap", "Limit on the bytes of the table of address pairs"),
    ONE("file_store.open_files", "Files being stored now"),
    BY("file_magic.*", "file_magic_lookups", "outcome",
       "Lookups of libmagic answered from memory, with less of the file, or not made"),
    BY("file_store.*", "file_store_events", "event", "Events of the file store"),

    /* --- detection and verdicts --- */
    BY_THREAD("detect.alert", "Alerts raised"),
    ONE("detect.alert_queue_overflow", "Alerts that a packet had no place for"),
    ONE("detect.alerts_suppressed", "Alerts suppressed by threshold or suppression"),
    ONE("detect.pcre_limit", "PCRE searches that ended at a match limit"),
    ONE("detect.inspection_limit", "Inspections that ended at a work limit"),
    BY("detect.lua.*", "lua_errors", "reason", "Errors of Lua scripts in rules"),
    BY("detect.*", "detect_events", "event", "Events of detection"),
    BY("ips.drop_reason.*", "ips_dropped", "reason", "Packets dropped inline, by reason"),
    BY("ips.*", "ips_events", "event", "Inline verdicts: accepted, blocked, rejected, replaced"),
    BY("firewall.*", "firewall_events", "event", "Verdicts of the firewall mode"),

    /* --- the engine itself --- */
    ONE("memcap.pressure", "Use of the fullest memory limit in per cent"),
    ONE("memcap.pressure_max", "Highest use of a memory limit so far in per cent"),
    ONE("eve.records_cut", "EVE records left out at the limit of a flow"),
    ONE("eve.contents_cut", "Alerts written without contents at the limit of a flow"),
    ONE("eve.details_cut", "Alerts written without details at the limit of a flow"),
    ONE("log.left_out", "Records and lines that log-limit has left out"),
    ONE("alert_debug.dumps_cut", "Alerts in alert-debug without dumps at the limit of a flow"),
    ONE("engine.memory_used", "Bytes that traffic holds, below global-memcap"),
    ONE("engine.memory_limit", "global-memcap in bytes; 0: none"),
    ONE("engine.memory_refused", "Times that global-memcap refused memory"),
    BY("engine.memory_*", "engine_memory_given_back", "part",
       "Times that a part gave memory back for global-memcap"),
    BY_THREAD("engine.busy_permille", "Share of time in which the thread worked"),
    BY_THREAD("engine.wait_permille", "Share of time in which the thread waited for input"),
    BY_THREAD("engine.blocked_permille", "Share of time in which the thread waited for room"),
    BY_THREAD("engine.queued", "Packet vectors in the input rings of the thread"),
    BY_THREAD("engine.share_permille", "Share of the packets of its stage that the thread got"),
    BY_THREAD("engine.dropped", "Packets dropped because the ring to the next thread was full"),
    BY_THREAD("engine.inner_lost", "Inner packets of tunnels lost for lack of a packet"),
    { "engine.imbalance_permille", "engine_imbalance_ratio", { NULL, NULL },
      "Largest share of packets of a thread over the even share", false },
    { "engine.cpu_imbalance_permille", "engine_cpu_imbalance_ratio", { NULL, NULL },
      "Load of the busiest CPU over the even share, since the last sample", false },
};
const unsigned metric_family_count = ARRAY_LEN(metric_families);

/* Takes the text that '*' matches: up to the next dot, or all the rest if the pattern ends with
 * it. */
static const char *take_part(const char **pattern, const char *at, struct metric_part *part)
{
    bool last = (*pattern)[1] == '\0';

    part->at = at;
    part->len = last ? strlen(at) : strcspn(at, ".");
    (*pattern)++;
    return part->len > 0 || !last ? at + part->len : NULL;
}

static bool fits(const char *pattern, const char *at, struct metric_part *part)
{
    struct metric_part unused;
    unsigned parts = 0;

    while (*pattern != '\0') {
        if (*pattern == '*') {
            at = take_part(&pattern, at, parts < METRIC_LABELS_MAX ? &part[parts] : &unused);
            parts++;
            if (at == NULL)
                return false;
        } else if (*pattern++ != *at++) {
            return false;
        }
    }
    return *at == '\0';
}

const struct metric_family *metric_family_find(const char *counter,
                                               struct metric_part part[METRIC_LABELS_MAX])
{
    for (unsigned i = 0; i < metric_family_count; i++)
        if (fits(metric_families[i].pattern, counter, part))
            return &metric_families[i];
    return NULL;
}
