/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/peek.c - a quick decoder for the plain case, to find a frame's flow.
 *
 * Its checks are those of the decoders, each turned into "not plain". A decoder that learns to
 * reject or to open something more needs the same check here; peek_test decodes the same frames and
 * compares. */
#include "packet/decode/peek.h"

#include "packet/decode/decode_private.h"
#include "packet/flow_hash.h"

#define FRAGMENT_BITS 0x3fff            /* more fragments, or an offset */
#define UDP_HEADER 8u
#define PLAIN_LAYERS 4                  /* Ethernet, VLAN, IP, and one spare */

/* Most tunnels are known by their port. Teredo is not, only by its first byte. */
static bool may_be_tunnel(const struct decode_conf *conf, const struct flow_tuple *t,
                          const uint8_t *payload, uint32_t len)
{
    struct packet ports;

    if (conf->teredo.enabled && len >= IPV6_HEADER && (payload[0] >> 4 == 6 || payload[0] == 0))
        return true;
    ports.src_port = t->src_port;
    ports.dst_port = t->dst_port;
    return port_set_has(&conf->geneve, &ports) || port_set_has(&conf->vxlan, &ports);
}

static bool peek_tcp(const uint8_t *at, uint32_t len, struct packet_peek *out)
{
    uint32_t header;

    if (len < TCP_HEADER)
        return false;
    header = (at[12] >> 4) * 4u;
    out->is_tcp = true;
    out->payload = at + header;
    out->payload_len = len - header;
    return header >= TCP_HEADER && header <= len;
}

static bool peek_udp(const uint8_t *at, uint32_t len, struct packet_peek *out)
{
    uint32_t udp_len;

    if (len < UDP_HEADER)
        return false;
    udp_len = get_be16(at + 4);
    out->is_tcp = false;
    out->payload = at + UDP_HEADER;
    out->payload_len = udp_len - UDP_HEADER;
    return udp_len >= UDP_HEADER && udp_len <= len;
}

static bool peek_transport(const struct decode_conf *conf, struct flow_tuple *t,
                           const uint8_t *at, uint32_t len, struct packet_peek *out)
{
    if (LIKELY(t->proto == 6)) {
        if (!peek_tcp(at, len, out))
            return false;
    } else if (t->proto != 17 || !peek_udp(at, len, out)) {
        return false;
    }
    t->src_port = get_be16(at);
    t->dst_port = get_be16(at + 2);
    return out->is_tcp || !may_be_tunnel(conf, t, out->payload, out->payload_len);
}

static bool peek_ipv4(const struct decode_conf *conf, struct flow_tuple *t, const uint8_t *at,
                      uint32_t len, struct packet_peek *out)
{
    uint32_t total;

    if (len < IPV4_HEADER_MIN || at[0] != 0x45 || (get_be16(at + 6) & FRAGMENT_BITS) != 0)
        return false;
    total = get_be16(at + 2);
    if (total < IPV4_HEADER_MIN || total > len)
        return false;
    t->src = ip_v4(at + 12);
    t->dst = ip_v4(at + 16);
    t->proto = at[9];
    out->is_v6 = false;
    return peek_transport(conf, t, at + IPV4_HEADER_MIN, total - IPV4_HEADER_MIN, out);
}

static bool peek_ipv6(const struct decode_conf *conf, struct flow_tuple *t, const uint8_t *at,
                      uint32_t len, struct packet_peek *out)
{
    uint32_t payload;

    if (len < IPV6_HEADER || at[0] >> 4 != 6)
        return false;
    payload = get_be16(at + 4);
    if (len < IPV6_HEADER + payload)
        return false;
    t->src = ip_v6(at + 8);
    t->dst = ip_v6(at + 24);
    t->proto = at[6];
    out->is_v6 = true;
    return peek_transport(conf, t, at + IPV6_HEADER, payload, out);
}

/* False: not plain; the frame must be decoded completely. The hash equals packet_flow_hash() of the
 * decoded packet. */
bool packet_peek(const struct decode_conf *conf, enum datalink link, const uint8_t *at,
                 uint32_t len, struct packet_peek *out)
{
    struct flow_tuple t = { 0 };
    uint64_t vlan = 0;
    uint16_t type;
    bool plain;

    if (UNLIKELY(link != DATALINK_ETHERNET || len < ETHERNET_HEADER + 4 ||
                 conf->max_layers <= PLAIN_LAYERS))
        return false;
    type = get_be16(at + 12);
    at += ETHERNET_HEADER;
    len -= ETHERNET_HEADER;
    if (type == ETHERTYPE_VLAN) {
        vlan = get_be16(at) & 0x0fff;
        type = get_be16(at + 2);
        at += 4;
        len -= 4;
    }
    out->l3 = at;
    if (LIKELY(type == ETHERTYPE_IPV4))
        plain = peek_ipv4(conf, &t, at, len, out);
    else
        plain = type == ETHERTYPE_IPV6 && peek_ipv6(conf, &t, at, len, out);
    if (LIKELY(plain))
        out->flow_hash = flow_tuple_hash(&t, conf->use_vlan ? vlan : 0);
    return plain;
}

struct ip packet_peek_src(const struct packet_peek *peek)
{
    return peek->is_v6 ? ip_v6(peek->l3 + 8) : ip_v4(peek->l3 + 12);
}

struct ip packet_peek_dst(const struct packet_peek *peek)
{
    return peek->is_v6 ? ip_v6(peek->l3 + 24) : ip_v4(peek->l3 + 16);
}
