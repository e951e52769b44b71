/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/gso_frame.c - consecutive TCP segments as one frame (GSO).
 *
 * The kernel segments by counting: IPv4's identification grows by one per segment, the sequence
 * number by the payload. Only the last segment has PSH. The rest comes from the given header, and
 * checksums are computed. So only segments that already look like that are joined, and only with
 * correct checksums: a damaged segment must not come out repaired. */
#include "capture/transmit/gso_frame.h"

#include <linux/virtio_net.h>
#include <string.h>

#include "base/array.h"
#include "base/text/bytes.h"
#include "packet/checksum.h"
#include "packet/decode.h"

/* Smaller segments are not bulk data; joining them saves too little. */
#define SEGMENT_MIN 256
#define IP_LEN_MAX 65535
#define ETHERNET_LEN 14
#define IPV4_LEN 20
#define IPV6_LEN 40

/* Offsets of fields in the headers. */
enum { IPV4_TOTAL = 2, IPV4_ID = 4, IPV4_FRAGMENT = 6, IPV4_CHECKSUM = 10, IPV6_PAYLOAD = 4 };
enum { TCP_SEQ = 4, TCP_ACKED = 8, TCP_OFFSET = 12, TCP_FLAGS = 13, TCP_WINDOW = 14,
       TCP_CHECKSUM = 16, TCP_URGENT = 18, TCP_OPTIONS = 20 };

/* Whether the kernel has nothing left to do for the frame: no checksum, no segmentation. */
static bool is_complete(const struct packet *p)
{
    struct virtio_net_hdr vnet_hdr;

    memcpy(&vnet_hdr, p->data - GSO_VNET_HDR_LEN, GSO_VNET_HDR_LEN);
    return (vnet_hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0 &&
           vnet_hdr.gso_type == VIRTIO_NET_HDR_GSO_NONE;
}

/* No options, no fragments, and a length that leaves no padding. */
static bool has_plain_ip(const struct packet *p)
{
    if (p->src.version != 4)
        return p->l3_len == IPV6_LEN && get_be16(p->l3 + IPV6_PAYLOAD) == p->l4_len;
    return p->l3_len == IPV4_LEN && get_be16(p->l3 + IPV4_TOTAL) == IPV4_LEN + p->l4_len &&
           (get_be16(p->l3 + IPV4_FRAGMENT) & 0xbfff) == 0 &&       /* DF or nothing */
           get_be16(p->l3 + IPV4_CHECKSUM) != 0xffff;
}

/* ACK only, perhaps PSH: the kernel would copy other flags (CWR, ECE, FIN) to the wrong
 * segments. */
static bool has_plain_tcp(const struct packet *p)
{
    return p->l4[TCP_OFFSET] == p->l4_header_len << 2 &&            /* and no reserved bits */
           (p->l4[TCP_FLAGS] & ~TCP_PSH) == TCP_ACK;
}

/* A TCP segment in an untagged Ethernet frame, with headers directly after one another. */
static bool is_segment(const struct packet *p)
{
    if (!packet_is_tcp(p) || p->payload_len < SEGMENT_MIN || p->eth != p->data ||
        p->l3 != p->data + ETHERNET_LEN ||
        (p->flags & (PACKET_MODIFIED | PACKET_INVALID | PACKET_FRAGMENT)) != 0)
        return false;
    return p->l4 == p->l3 + p->l3_len && p->payload == p->l4 + p->l4_header_len &&
           p->payload + p->payload_len == p->data + p->len &&
           p->l4_len == p->l4_header_len + p->payload_len && has_plain_ip(p) &&
           has_plain_tcp(p) && is_complete(p);
}

/* A checksum of 0 can be written in two ways (0 and 0xffff); the kernel writes only one of them. */
static bool has_right_checksums(const struct packet *p)
{
    return get_be16(p->l4 + TCP_CHECKSUM) != 0xffff && packet_ip_checksum_ok(p) &&
           packet_l4_checksum(p) == 0;
}

static bool same(const uint8_t *a, const uint8_t *b, size_t from, size_t to)
{
    return memcmp(a + from, b + from, to - from) == 0;
}

/* The header fields that must be equal, and IPv4's identification, which must count. */
static bool ip_follows(const uint8_t *first, const uint8_t *next, unsigned nth, unsigned version)
{
    if (version != 4)
        return same(first, next, 0, IPV6_PAYLOAD) && same(first, next, 6, IPV6_LEN);
    return get_be16(next + IPV4_ID) == (uint16_t)(get_be16(first + IPV4_ID) + nth) &&
           same(first, next, 0, IPV4_TOTAL) && same(first, next, IPV4_FRAGMENT, IPV4_CHECKSUM) &&
           same(first, next, 12, IPV4_LEN);
}

/* Whether p can be the nth segment after the first one, directly after `before`. A shorter segment,
 * or one with PSH, must be the last. */
static bool follows(const struct packet *first, const struct packet *before,
                    const struct packet *p, unsigned nth)
{
    const uint8_t *a = first->l4, *b = p->l4;

    if (p->src.version != first->src.version ||
        p->l4_header_len != first->l4_header_len || p->payload_len > first->payload_len ||
        before->payload_len != first->payload_len || (before->l4[TCP_FLAGS] & TCP_PSH) != 0 ||
        get_be32(b + TCP_SEQ) != (uint32_t)(get_be32(before->l4 + TCP_SEQ) + before->payload_len))
        return false;
    return same(first->data, p->data, 0, ETHERNET_LEN) &&
           ip_follows(first->l3, p->l3, nth, p->src.version) && same(a, b, 0, TCP_SEQ) &&
           same(a, b, TCP_ACKED, TCP_FLAGS) && same(a, b, TCP_WINDOW, TCP_CHECKSUM) &&
           same(a, b, TCP_URGENT, first->l4_header_len);
}

unsigned gso_frame_count(struct packet *const *p, unsigned count)
{
    uint32_t len;
    unsigned n = 1;

    /* This order avoids checksums of segments that stay alone. */
    if (count < 2 || !is_segment(p[0]) || !is_segment(p[1]) || !follows(p[0], p[0], p[1], 1) ||
        !has_right_checksums(p[0]))
        return 1;
    len = p[0]->l3_len + p[0]->l4_len;
    while (n < count && len + p[n]->payload_len <= IP_LEN_MAX && is_segment(p[n]) &&
           follows(p[0], p[n - 1], p[n], n) && has_right_checksums(p[n]))
        len += p[n++]->payload_len;
    return n;
}

static void put_ip_len(const struct packet *p, uint8_t *ip, uint32_t l4_len)
{
    if (p->src.version != 4) {
        put_be16(ip + IPV6_PAYLOAD, (uint16_t)l4_len);
        return;
    }
    put_be16(ip + IPV4_TOTAL, (uint16_t)(IPV4_LEN + l4_len));
    put_be16(ip + IPV4_CHECKSUM, 0);
    put_be16(ip + IPV4_CHECKSUM, checksum_fold(checksum_add(0, ip, IPV4_LEN)));
}

/* Headers of the first segment with the length of all, and the sum over the pseudo header as the
 * kernel expects it with NEEDS_CSUM. */
uint32_t gso_frame_head(struct packet *const *p, unsigned count,
                         uint8_t out[GSO_FRAME_HEAD_MAX])
{
    const struct packet *first = p[0];
    uint32_t len = ETHERNET_LEN + first->l3_len + first->l4_header_len;
    uint32_t l4_len = first->l4_header_len;
    uint8_t *frame = out + GSO_VNET_HDR_LEN, *l4 = frame + ETHERNET_LEN + first->l3_len;
    struct virtio_net_hdr vnet_hdr = {
        .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM,
        .gso_type = first->src.version == 4 ? VIRTIO_NET_HDR_GSO_TCPV4 : VIRTIO_NET_HDR_GSO_TCPV6,
        .hdr_len = (uint16_t)len, .gso_size = (uint16_t)first->payload_len,
        .csum_start = (uint16_t)(l4 - frame), .csum_offset = TCP_CHECKSUM,
    };

    for (unsigned i = 0; i < count; i++)
        l4_len += p[i]->payload_len;
    memcpy(out, &vnet_hdr, GSO_VNET_HDR_LEN);
    memcpy(frame, first->data, len);
    put_ip_len(first, frame + ETHERNET_LEN, l4_len);
    l4[TCP_FLAGS] = p[count - 1]->l4[TCP_FLAGS];
    put_be16(l4 + TCP_CHECKSUM, (uint16_t)~checksum_fold(checksum_pseudo_header(
                                    &first->src, &first->dst, first->ip_proto, l4_len)));
    return GSO_VNET_HDR_LEN + len;
}
