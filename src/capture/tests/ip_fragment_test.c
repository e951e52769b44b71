/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of capture/ip_fragment: fragments of a packet, put together by the decoder's own hand, are
 * that packet; none is larger than it may be. */
#include "base/array.h"
#include "base/text/bytes.h"
#include "base/test.h"
#include "capture/transmit/ip_fragment.h"
#include "packet/checksum.h"

#include <string.h>

#define LINK 18                         /* Ethernet and a tag */
#define VNET FRAGMENT_VNET_HDR_LEN

struct original {
    struct packet p;
    uint8_t frame[8000];
};

/* IPv4 with so many bytes of options and of payload. */
static void make(struct original *w, uint32_t options, uint32_t payload, uint32_t place)
{
    uint8_t *ip = w->frame + LINK;
    uint32_t header = 20 + options;

    memset(w, 0, sizeof(*w));
    for (uint32_t i = 0; i < sizeof(w->frame); i++)
        w->frame[i] = (uint8_t)(i * 7 + i / 251);
    ip[0] = (uint8_t)(0x40 | header / 4);
    put_be16(ip + 2, header + payload);
    put_be16(ip + 6, place);
    w->p = (struct packet){ .data = w->frame, .l3 = ip, .len = LINK + header + payload };
    w->p.wire_len = w->p.len;
}

static void check_fragments(struct test *t, struct original *w, uint32_t mtu)
{
    uint32_t header = (w->p.l3[0] & 0xfu) * 4, end = w->p.len - LINK - header, at = 0;
    uint32_t first = get_be16(w->p.l3 + 6) & 0x1fff;
    uint8_t head[IP_FRAGMENT_HEAD_MAX], *ip = head + VNET + LINK;
    struct slice body;

    CHECK(ip_fragment_can(&w->p, mtu, 9000));
    for (; at < end; at += body.len) {
        CHECK_INT(VNET + LINK + header, ip_fragment(&w->p, mtu, at, head, &body));
        CHECK(header + body.len <= mtu && body.len > 0);
        CHECK(memcmp(head + VNET, w->frame, LINK) == 0);
        CHECK(memcmp(body.data, w->frame + LINK + header + at, body.len) == 0);
        CHECK_INT(header + body.len, get_be16(ip + 2));
        CHECK_INT(0, checksum_fold(checksum_add(0, ip, header)));
        CHECK_INT(first + at / 8, get_be16(ip + 6) & 0x1fff);
        CHECK_INT(at + body.len < end, (get_be16(ip + 6) & 0x2000) != 0);
    }
    CHECK_INT(end, at);
}

TEST(ip_fragment_fragments_are_the_packet)
{
    static const uint32_t mtus[] = { 100, 576, 1499, 1500 };
    struct original w;

    for (unsigned i = 0; i < ARRAY_LEN(mtus); i++)
        for (uint32_t payload = 1481; payload < 5000; payload += 397) {
            make(&w, 0, payload, 0);
            check_fragments(t, &w, mtus[i]);
            make(&w, 24, payload, 0);
            check_fragments(t, &w, mtus[i]);
        }
}

TEST(ip_fragment_of_a_fragment)
{
    struct original w;
    uint8_t head[IP_FRAGMENT_HEAD_MAX];
    struct slice body;

    make(&w, 0, 1600, 100 | 0x2000);
    ip_fragment(&w.p, 1500, 1480, head, &body);
    CHECK_INT(120, body.len);
    CHECK_INT((100 + 1480 / 8) | 0x2000, get_be16(head + VNET + LINK + 6));
}

TEST(ip_fragment_leaves_others_alone)
{
    struct original w;

    make(&w, 0, 1480, 0);
    CHECK(!ip_fragment_can(&w.p, 1500, 1500));            /* it fits */
    make(&w, 0, 2000, 0x4000);
    CHECK(!ip_fragment_can(&w.p, 1500, 9000));            /* its sender does not allow it */
    CHECK(ip_fragment_can(&w.p, 1500, 1500));             /* but it came in pieces */
    make(&w, 0, 2000, 0);
    CHECK(ip_fragment_can(&w.p, 1500, 1500));
    CHECK(!ip_fragment_can(&w.p, 0, 1500));               /* the way out is gone */
    w.p.len--;
    CHECK(!ip_fragment_can(&w.p, 1500, 1500));            /* cut off */
    w.p.len++;
    w.frame[LINK] = 0x60;
    CHECK(!ip_fragment_can(&w.p, 1500, 1500));            /* IPv6 */
    w.frame[LINK] = 0x44;
    CHECK(!ip_fragment_can(&w.p, 1500, 1500));            /* a header of 16 bytes */
    w.p.l3 = NULL;
    CHECK(!ip_fragment_can(&w.p, 1500, 1500));
}
