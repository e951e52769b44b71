/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tcp.hdr and udp.hdr - the transport header with its options, as it is in the frame. */
#include "detect/keywords/buffers/list.h"

#define PROTO_TCP 6
#define PROTO_UDP 17

/* A fragment may lack a part of the header, so rules see the reassembled packet only. */
static bool header(const struct packet *p, uint8_t proto, struct slice *out)
{
    if (p->l4 == NULL || p->ip_proto != proto || (p->flags & PACKET_FRAGMENT))
        return false;
    *out = (struct slice){ p->l4, p->l4_header_len };
    return true;
}

static bool tcp_hdr_get(const struct packet *p, enum direction side, struct slice *out)
{
    (void)side;
    return header(p, PROTO_TCP, out);
}

static bool udp_hdr_get(const struct packet *p, enum direction side, struct slice *out)
{
    (void)side;
    return header(p, PROTO_UDP, out);
}

const struct packet_buffer buffer_tcp_hdr = {
    .name = "tcp.hdr",
    .doc = "the header of TCP",
    .get = tcp_hdr_get,
    .ip_proto = PROTO_TCP,
};

const struct packet_buffer buffer_udp_hdr = {
    .name = "udp.hdr",
    .doc = "sticky buffer to match on the whole UDP header",
    .get = udp_hdr_get,
    .ip_proto = PROTO_UDP,
};
