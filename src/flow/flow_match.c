/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_match.c - the flow that a packet belongs to: keys from packets and from ICMP quotes. */
#include "flow/flow_match.h"

#include "packet/flow_hash.h"
#include "packet/icmp_pair.h"

/* Reads the quote of an ICMP destination unreachable: it belongs to the flow that it reports, in
 * either direction. Quotes are hostile input: the cursor checks every length. */
static bool quoted_key(const struct packet *p, struct flow_key *key)
{
    struct bytes in = bytes_of(p->icmp.embedded, p->icmp.embedded_len);
    uint8_t first = take_u8(&in);
    unsigned header = (first & 0xfu) * 4;
    const uint8_t *addresses;

    take_skip(&in, 8);
    key->proto = take_u8(&in);
    take_skip(&in, 2);
    addresses = take_bytes(&in, 8);
    if (addresses == NULL || first >> 4 != 4 || header < 20)
        return false;
    key->src = ip_v4(addresses);
    key->dst = ip_v4(addresses + 4);
    take_skip(&in, header - 20);
    key->src_port = take_be16(&in);
    key->dst_port = take_be16(&in);
    return !in.failed && (key->proto == 6 || key->proto == 17);
}

#define ICMP4_UNREACHABLE 3

/* RFC 792; RFC 1122, section 3.2.2, lists the same types as errors. */
bool flow_is_icmp4_error(const struct packet *p)
{
    if (p->ip_proto != 1 || p->l4 == NULL)
        return false;
    switch (p->icmp.type) {
    case ICMP4_UNREACHABLE:
    case 4:             /* source quench */
    case 5:             /* redirect */
    case 11:            /* time exceeded */
    case 12:            /* parameter problem */
        return true;
    default:
        return false;
    }
}

/* Other ICMP errors have no flow. */
void flow_match_key(const struct packet *p, struct flow_key *key)
{
    struct flow_key quoted;

    flow_key_of_packet(p, key);
    if (!flow_is_icmp4_error(p) || p->icmp.type != ICMP4_UNREACHABLE || p->icmp.embedded == NULL)
        return;
    quoted = *key;
    if (quoted_key(p, &quoted))
        *key = quoted;
}

/* What stands in for ports: the smaller type of a request and its reply, or the SPI. */
static uint32_t detail_of(const struct flow_key *key)
{
    uint8_t type = (uint8_t)key->src_port;
    int other;

    if (key->proto == FLOW_PROTO_ESP)
        return flow_esp_spi(key);
    other = icmp_counterpart(key->proto, type);
    if (other != ICMP_NO_COUNTERPART)
        type = MIN(type, (uint8_t)other);
    return (key->src_port & 0xff00u) | type;
}

uint32_t flow_match_hash(const struct flow_conf *conf, const struct flow_key *key, unsigned tags)
{
    bool has_ports = key->proto == 6 || key->proto == 17 || key->proto == 132;
    bool has_detail = key->proto == FLOW_PROTO_ESP || flow_proto_of(key->proto) == FLOW_PROTO_ICMP;
    struct flow_tuple tuple = { .src = key->src, .dst = key->dst, .proto = key->proto };
    uint64_t extra = conf->use_recursion ? (uint64_t)key->recursion << 56 : 0, vlans = 0;

    if (has_ports) {
        tuple.src_port = key->src_port;
        tuple.dst_port = key->dst_port;
    } else if (has_detail) {
        tuple.detail = detail_of(key);
    }
    for (unsigned i = 0; i < MIN(tags, (unsigned)PACKET_VLANS_MAX); i++)
        vlans = vlans << 16 | key->vlan[i];
    return flow_tuple_hash(&tuple, conf->use_vlan ? extra ^ vlans : extra);
}
