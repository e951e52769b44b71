/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/ip_fragment.c - fragments of an IPv4 packet, RFC 791. */
#include "capture/transmit/ip_fragment.h"

#include <string.h>

#include "base/array.h"
#include "base/text/bytes.h"
#include "packet/checksum.h"

/* Bits of the fragment field (RFC 791, section 3.1); offsets count in units of 8 bytes. */
#define DONT_FRAGMENT 0x4000
#define MORE_FRAGMENTS 0x2000
#define OFFSET 0x1fff
#define FRAGMENT_UNIT 8

/* Length of the headers before the IPv4 header. */
static uint32_t link_len(const struct packet *p) { return (uint32_t)(p->l3 - p->data); }
static uint32_t header_len(const uint8_t *ip) { return (ip[0] & 0xfu) * 4; }

/* Accepts only outer IPv4 packets with consistent lengths. DF forbids fragmenting, except for a
 * packet larger than any received frame, which the kernel has reassembled. */
bool ip_fragment_can(const struct packet *p, uint32_t mtu, uint32_t mtu_in)
{
    const uint8_t *ip = p->l3;
    uint32_t total;

    if (ip == NULL || p->recursion > 0 || p->len < link_len(p) + 20 || ip[0] >> 4 != 4)
        return false;
    total = get_be16(ip + 2);
    if (total <= mtu || total != p->len - link_len(p) || header_len(ip) < 20 ||
        mtu < header_len(ip) + FRAGMENT_UNIT || FRAGMENT_VNET_HDR_LEN + link_len(p) +
        header_len(ip) > IP_FRAGMENT_HEAD_MAX)
        return false;
    return (get_be16(ip + 6) & DONT_FRAGMENT) == 0 || total > mtu_in;
}

/* One fragment, of the data from `at` on: its headers into `head`, its data by reference. Keeps the
 * packet's own offset and MF, in case it is a fragment itself. */
uint32_t ip_fragment(const struct packet *p, uint32_t mtu, uint32_t at,
                   uint8_t head[IP_FRAGMENT_HEAD_MAX], struct slice *body)
{
    uint32_t header = header_len(p->l3), rest = get_be16(p->l3 + 2) - header - at;
    uint32_t space = (mtu - header) / FRAGMENT_UNIT * FRAGMENT_UNIT, len = MIN(rest, space);
    uint32_t frag_off = get_be16(p->l3 + 6);
    uint8_t *ip = head + FRAGMENT_VNET_HDR_LEN + link_len(p);

    memset(head, 0, FRAGMENT_VNET_HDR_LEN);
    memcpy(head + FRAGMENT_VNET_HDR_LEN, p->data, link_len(p) + header);
    if (len < rest)
        frag_off |= MORE_FRAGMENTS;
    frag_off = (frag_off & ~(uint32_t)OFFSET) | ((frag_off + at / FRAGMENT_UNIT) & OFFSET);
    put_be16(ip + 2, header + len);
    put_be16(ip + 6, frag_off);
    put_be16(ip + 10, 0);
    put_be16(ip + 10, checksum_fold(checksum_add(0, ip, header)));
    *body = (struct slice){ .data = p->l3 + header + at, .len = len };
    return FRAGMENT_VNET_HDR_LEN + link_len(p) + header;
}
