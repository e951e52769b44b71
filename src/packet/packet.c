/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/packet.c - names of what packets carry, and the reset of a packet before it is used. */
#include "packet/packet.h"

#include "base/text/bytes.h"

#include <stddef.h>
#include <string.h>

/* As EVE shows `pkt_src`. */
const char *packet_source_name(enum packet_source source)
{
    static const char *const names[] = {
        [PACKET_WIRE] = "wire/pcap",
        [PACKET_GRE] = "gre tunnel",
        [PACKET_IPV4_TUNNEL] = "ipv4 tunnel",
        [PACKET_IPV6_TUNNEL] = "ipv6 tunnel",
        [PACKET_TEREDO] = "teredo tunnel",
        [PACKET_GENEVE] = "geneve encapsulation",
        [PACKET_VXLAN] = "vxlan encapsulation",
        [PACKET_DEFRAG] = "defrag",
        [PACKET_STREAM_END] = "stream (flow timeout)",
        [PACKET_STREAM_FLUSH] = "stream (detect/log)",
        [PACKET_RELOAD_FLUSH] = "detect reload flush",
        [PACKET_SHUTDOWN_FLUSH] = "shutdown flush",
    };

    return (unsigned)source < ARRAY_LEN(names) ? names[source] : NULL;
}

/* Suricata's text for EVE drop records, and its key for counters. */
static const struct {
    const char *text, *key;
} drop_reasons[DROP_REASON_COUNT] = {
    [DROP_DECODE_ERROR] = { "decode error", "decode_error" },
    [DROP_DEFRAG_ERROR] = { "defrag error", "defrag_error" },
    [DROP_DEFRAG_MEMCAP] = { "defrag memcap", "defrag_memcap" },
    [DROP_FLOW_MEMCAP] = { "flow memcap", "flow_memcap" },
    [DROP_FLOW_DROP] = { "flow drop", "flow_drop" },
    [DROP_EXCEPTION_FLOW] = { "exception policy flow drop", "exception_policy_flow_drop" },
    [DROP_STREAM_ERROR] = { "stream error", "stream_error" },
    [DROP_STREAM_MEMCAP] = { "stream memcap", "stream_memcap" },
    [DROP_STREAM_MIDSTREAM] = { "stream midstream", "stream_midstream" },
    [DROP_STREAM_URGENT] = { "stream urgent", "stream_urgent" },
    [DROP_STREAM_REASSEMBLY] = { "stream reassembly", "stream_reassembly" },
    [DROP_APP_ERROR] = { "applayer error", "applayer_error" },
    [DROP_APP_MEMCAP] = { "applayer memcap", "applayer_memcap" },
    [DROP_RULES] = { "rules", "rules" },
    [DROP_RULES_THRESHOLD] = { "threshold detection_filter", "threshold_detection_filter" },
    [DROP_NFQ_ERROR] = { "nfq error", "nfq_error" },
    [DROP_TUNNEL] = { "tunnel packet drop", "tunnel_packet_drop" },
    [DROP_FW_RULES] = { "firewall rules", "rules" },
    [DROP_FW_DEFAULT_PACKET] = { "firewall default packet policy", "default_packet_policy" },
    [DROP_FW_DEFAULT_APP] = { "firewall default app policy", "default_app_policy" },
    [DROP_FW_PRE_STREAM] = { "firewall pre stream hook", "pre_stream_hook" },
    [DROP_FW_PRE_FLOW] = { "firewall pre flow hook", "pre_flow_hook" },
    [DROP_FW_FLOW] = { "firewall flow drop", "flow_drop" },
};

const char *drop_reason_text(enum drop_reason reason)
{
    return (unsigned)reason < DROP_REASON_COUNT ? drop_reasons[reason].text : NULL;
}

const char *drop_reason_key(enum drop_reason reason)
{
    return (unsigned)reason < DROP_REASON_COUNT ? drop_reasons[reason].key : NULL;
}

/* 0 without an IP header. */
uint8_t packet_hop_limit(const struct packet *p)
{
    if (p->l3 == NULL)
        return 0;
    return p->src.version == 4 ? p->l3[8] : p->src.version == 6 ? p->l3[7] : 0;
}

/* IPv4's type of service, IPv6's traffic class. */
uint8_t packet_tos(const struct packet *p)
{
    if (p->l3 == NULL)
        return 0;
    if (p->src.version == 4)
        return p->l3[1];
    return p->src.version == 6 ? (uint8_t)(get_be16(p->l3) >> 4) : 0;
}

uint16_t packet_ip_id(const struct packet *p)
{
    return p->l3 != NULL && p->src.version == 4 ? get_be16(p->l3 + 4) : 0;
}

/* In blocks that compilers turn into a few wide stores. For a larger memset() they use `rep stos`,
 * which is slow to start. */
static inline void clear(struct packet *p, size_t from, size_t to)
{
    for (; to - from > 64; from += 64)
        memset((uint8_t *)p + from, 0, 64);
    memset((uint8_t *)p + from, 0, to - from);
}

/* The slots of the layers above are cleared with the rest, but for the end of the last one. The
 * arrays that a count guards (events, chunks) are left as they are: clearing them would cost more
 * than much of the rest. */
void packet_reset(struct packet *p)
{
    clear(p, 0, offsetof(struct packet, slot.stream) + PACKET_SLOT_STREAM_CLEARED);
    buf_clear(&p->frame);
    for (unsigned i = 0; i < PACKET_MEMORY_COUNT; i++)
        buf_clear(&p->memory[i]);
}

void packet_fini(struct packet *p)
{
    buf_fini(&p->frame);
    for (unsigned i = 0; i < PACKET_MEMORY_COUNT; i++)
        buf_fini(&p->memory[i]);
}

/* For a packet that turns out to go to the client: see flow_swap. */
void packet_swap_direction(struct packet *p)
{
    struct ip src = p->src;
    uint16_t src_port = p->src_port;

    p->src = p->dst;
    p->dst = src;
    p->src_port = p->dst_port;
    p->dst_port = src_port;
    p->flags ^= PACKET_TO_CLIENT;
}
