/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of capture/frame_join: what the kernel makes of a joined frame is, bit for bit, what was
 * joined; whatever differs from what it would make is not. */
#include "base/array.h"
#include "base/text/bytes.h"
#include "capture/transmit/gso_frame.h"
#include "packet/checksum.h"
#include "packet/tests/decode_env.h"

#include <linux/virtio_net.h>
#include <stdio.h>
#include <string.h>

#define VNET GSO_VNET_HDR_LEN
#define ROW 4
#define SEGMENT 300

struct row {
    struct decode_env env;
    struct packet packet[ROW], *p[ROW];
    uint8_t frame[ROW][VNET + 600];
};

static const char *const layouts[] = {
    "eth:0800 ip4:6 tcp:1000,80 zero:300",
    "eth:0800 ip4:6 tcp:1000,80,0101080a1122334455667788 zero:300",
    "eth:86dd ip6:6 tcp:1000,80 zero:300",
    "eth:86dd ip6:6 tcp:1000,80,0101080a1122334455667788 zero:300",
};

static void *moved(const void *at, const struct packet *from, const struct packet *to)
{
    return at == NULL ? NULL : to->data + ((const uint8_t *)at - from->data);
}

/* Looks at what stands in the row's frame n. */
static void look(struct row *r, unsigned n, uint32_t len)
{
    const struct packet *d = env_decode_bytes(&r->env, DATALINK_ETHERNET, r->frame[n] + VNET, len);
    struct packet *p = &r->packet[n];

    *p = *d;
    r->p[n] = p;
    p->data = r->frame[n] + VNET;
    p->eth = moved(d->eth, d, p);
    p->l3 = moved(d->l3, d, p);
    p->l4 = moved(d->l4, d, p);
    p->payload = moved(d->payload, d, p);
}

static void row_open(struct row *r, const char *layout)
{
    memset(r, 0, sizeof(*r));
    env_open(&r->env, "");
    for (unsigned n = 0; n < ROW; n++) {
        uint8_t *frame = r->frame[n] + VNET;
        uint32_t len = (uint32_t)env_bytes(layout, frame, sizeof(r->frame[n]) - VNET);

        look(r, n, len);
        for (unsigned i = 0; i < SEGMENT; i++)
            r->packet[n].payload[i] = (uint8_t)(n * 77 + i * 13);
        put_be32(r->packet[n].l4 + 4, 0xffffff00u + n * SEGMENT);
        if (r->packet[n].src.version == 4) {
            put_be16(r->packet[n].l3 + 4, 0xfffe + n);
            put_be16(r->packet[n].l3 + 6, 0x4000);
        }
        packet_fix_checksums(&r->packet[n]);
        look(r, n, len);
    }
}

/* What the kernel would make, as far as it is told. */
static void split(const struct row *r, unsigned count, uint8_t out[ROW][VNET + 600])
{
    uint8_t head[GSO_FRAME_HEAD_MAX], data[ROW * 600];
    uint32_t head_len = gso_frame_head(r->p, count, head), len = 0, at = 0;
    size_t l3 = (size_t)(r->p[0]->l3 - r->p[0]->data);
    struct virtio_net_hdr vnet_hdr;
    unsigned n = 0;

    memcpy(&vnet_hdr, head, VNET);
    for (unsigned i = 0; i < count; i++) {
        memcpy(data + len, r->p[i]->payload, r->p[i]->payload_len);
        len += r->p[i]->payload_len;
    }
    for (; at < len; at += vnet_hdr.gso_size, n++) {
        uint32_t part = MIN((uint32_t)vnet_hdr.gso_size, len - at);
        struct packet p = *r->p[0];

        memcpy(out[n] + VNET, head + VNET, head_len - VNET);
        memcpy(out[n] + head_len, data + at, part);
        p.data = out[n] + VNET;
        p.l3 = p.data + l3;
        p.l4 = p.data + vnet_hdr.csum_start;
        p.payload = out[n] + head_len;
        p.payload_len = part;
        p.l4_len = p.l4_header_len + part;
        put_be32(p.l4 + 4, get_be32(p.l4 + 4) + at);
        if (at + part < len)
            p.l4[13] &= (uint8_t)~TCP_PSH;
        put_be16(p.l3 + (p.src.version == 4 ? 2 : 4),
                 p.src.version == 4 ? p.l3_len + p.l4_len : p.l4_len);
        if (p.src.version == 4)
            put_be16(p.l3 + 4, get_be16(p.l3 + 4) + n);
        packet_fix_checksums(&p);
    }
}

/* How many are joined; they must come out as they are. */
static unsigned check(struct test *t, const struct row *r, const char *what)
{
    unsigned count = gso_frame_count(r->p, ROW);
    uint8_t out[ROW][VNET + 600];

    if (count < 2)
        return count;
    memset(out, 0, sizeof(out));
    split(r, count, out);
    for (unsigned n = 0; n < count; n++)
        if (memcmp(out[n] + VNET, r->p[n]->data, r->p[n]->len) != 0)
            test_fail(t, __FILE__, __LINE__, "%s: of %u, frame %u comes out otherwise", what,
                      count, n);
    return count;
}

TEST(gso_frame_joins_a_row)
{
    struct row r;

    for (unsigned i = 0; i < ARRAY_LEN(layouts); i++) {
        row_open(&r, layouts[i]);
        CHECK_INT(check(t, &r, layouts[i]), ROW);
        CHECK_INT(gso_frame_count(r.p + 1, 2), 2);
        CHECK_INT(gso_frame_count(r.p, 1), 1);
        env_close(t, &r.env);
    }
}

TEST(gso_frame_ends_with_push_and_with_a_short_one)
{
    struct row r;

    for (unsigned i = 0; i < ARRAY_LEN(layouts); i++) {
        row_open(&r, layouts[i]);
        r.p[1]->l4[13] |= TCP_PSH;
        packet_fix_checksums(r.p[1]);
        look(&r, 1, r.p[1]->len);
        CHECK_INT(check(t, &r, layouts[i]), 2);
        env_close(t, &r.env);

        row_open(&r, layouts[i]);
        put_be16(r.p[2]->l3 + (r.p[2]->src.version == 4 ? 2 : 4),
                 get_be16(r.p[2]->l3 + (r.p[2]->src.version == 4 ? 2 : 4)) - 10);
        look(&r, 2, r.p[2]->len - 10);
        packet_fix_checksums(r.p[2]);
        CHECK_INT(check(t, &r, layouts[i]), 3);
        env_close(t, &r.env);
    }
}

/* Each bit of the headers turned, with checksums that are right then and with those that were. */
TEST(gso_frame_mends_nothing)
{
    struct row r;

    for (unsigned i = 0; i < ARRAY_LEN(layouts); i++) {
        unsigned heads;

        row_open(&r, layouts[i]);
        heads = (unsigned)(r.p[0]->payload - r.p[0]->data) + 2;
        for (unsigned n = 0; n < ROW; n++)
            for (unsigned bit = 0; bit < 2 * 8 * heads; bit++) {
                struct packet *p = r.p[n];
                uint32_t len = p->len;
                uint8_t before[VNET + 600];
                char what[64];

                memcpy(before, r.frame[n], sizeof(before));
                p->data[bit / 16] ^= (uint8_t)(1u << bit % 16 / 2);
                if (bit % 2 == 0) {
                    look(&r, n, len);
                    packet_fix_checksums(p);
                }
                look(&r, n, len);
                snprintf(what, sizeof(what), "layout %u, frame %u, bit %u", i, n, bit);
                check(t, &r, what);
                memcpy(r.frame[n], before, sizeof(before));
                look(&r, n, len);
            }
        CHECK_INT(check(t, &r, layouts[i]), ROW);
        env_close(t, &r.env);
    }
}

TEST(gso_frame_leaves_what_the_kernel_is_to_complete)
{
    struct virtio_net_hdr vnet_hdr = { .flags = VIRTIO_NET_HDR_F_NEEDS_CSUM };
    struct row r;

    row_open(&r, layouts[0]);
    memcpy(r.frame[2], &vnet_hdr, VNET);
    CHECK_INT(check(t, &r, "checksum"), 2);
    vnet_hdr = (struct virtio_net_hdr){ .gso_type = VIRTIO_NET_HDR_GSO_TCPV4, .gso_size = 200 };
    memcpy(r.frame[1], &vnet_hdr, VNET);
    CHECK_INT(check(t, &r, "segments"), 1);
    r.packet[0].flags |= PACKET_MODIFIED;
    CHECK_INT(gso_frame_count(r.p, ROW), 1);
    env_close(t, &r.env);
}

TEST(gso_frame_leaves_vlans)
{
    struct row r;

    row_open(&r, "eth:8100 00050800 ip4:6 tcp:1000,80 zero:300");
    CHECK(r.p[0]->payload_len == SEGMENT);
    CHECK_INT(gso_frame_count(r.p, ROW), 1);
    env_close(t, &r.env);
}
