/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Messages of the firewall, whole and cut at every byte. Each cut stands in memory of its own size,
 * so that the address sanitizer sees a byte that is read beyond it. */
#include "base/array.h"
#include "base/test.h"
#include "capture/nfq/nflog.h"
#include "capture/nfq/nfq.h"

#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_log.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <stdlib.h>
#include <string.h>

struct wire { uint8_t data[512]; uint32_t len; };

static void wire_add(struct wire *w, const void *data, uint32_t len)
{
    memcpy(w->data + w->len, data, len);
    w->len += len;
}

static void wire_attribute(struct wire *w, uint16_t type, const void *data, uint16_t len)
{
    struct nlattr head = { .nla_len = (uint16_t)(sizeof(head) + len), .nla_type = type };

    wire_add(w, &head, sizeof(head));
    wire_add(w, data, len);
    w->len = (w->len + 3) & ~3u;
}

static uint32_t wire_begin(struct wire *w, uint16_t type)
{
    struct nlmsghdr head = { .nlmsg_type = type };
    struct nfgenmsg gen = { 0 };
    uint32_t at = w->len;

    wire_add(w, &head, sizeof(head));
    wire_add(w, &gen, sizeof(gen));
    return at;
}

static void wire_end(struct wire *w, uint32_t at)
{
    uint32_t len = w->len - at;

    memcpy(w->data + at, &len, sizeof(len));
}

static const uint8_t payload[13] = "hello, packet";

static void queue_message(struct wire *w)
{
    static const uint8_t head[7] = { 0, 0, 0x12, 0x34, 0x08, 0x00, 1 }, mark[4] = { 1, 2, 3, 4 };
    static const uint8_t wire_len[4] = { 0, 0, 0, 99 };
    static const uint8_t time[16] = { [7] = 5, [15] = 7 };
    uint32_t at;

    *w = (struct wire){ .len = 0 };
    at = wire_begin(w, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET);
    wire_attribute(w, NFQA_PACKET_HDR, head, sizeof(head));
    wire_attribute(w, NFQA_MARK, mark, sizeof(mark));
    wire_attribute(w, NFQA_TIMESTAMP, time, sizeof(time));
    wire_attribute(w, NFQA_CAP_LEN, wire_len, sizeof(wire_len));
    wire_attribute(w, NFQA_PAYLOAD, payload, sizeof(payload));
    wire_end(w, at);
}

TEST(netlink_queue_message_truncated_anywhere)
{
    struct wire w;

    queue_message(&w);
    for (uint32_t len = 0; len <= w.len; len++) {
        uint8_t *cut = xmalloc(len + 1);
        struct nfq_message m;
        enum nfq_kind kind;

        memcpy(cut, w.data, len);
        kind = nfq_message_read(cut, len, &m);
        CHECK(kind == (m.has_id ? NFQ_PACKET : NFQ_OTHER));
        CHECK(m.payload == NULL || (m.len == sizeof(payload) && m.payload + m.len <= cut + len &&
                                    memcmp(m.payload, payload, m.len) == 0));
        if (kind == NFQ_PACKET)
            CHECK_INT(m.id, 0x1234);
        if (len == w.len)
            CHECK(m.payload != NULL && m.mark == 0x01020304 && m.time_us == 5000007 &&
                  m.wire_len == 99 && m.protocol == 0x0800);
        free(cut);
    }
}

/* Lengths that promise more than there is, or less than nothing. */
TEST(netlink_attribute_lengths_that_lie)
{
    for (unsigned len = 0; len < 300; len++) {
        struct nlattr head = { .nla_len = (uint16_t)len, .nla_type = NFQA_PAYLOAD };
        struct wire w = { .len = 0 };
        struct nfq_message m;

        (void)wire_begin(&w, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET);
        wire_add(&w, &head, sizeof(head));
        wire_add(&w, payload, sizeof(payload));
        (void)nfq_message_read(w.data, w.len, &m);
        CHECK(m.len <= sizeof(payload));
        CHECK((m.payload != NULL) == (len >= sizeof(head) &&
                                      len <= sizeof(head) + sizeof(payload)));
    }
}

static void log_message(struct wire *w, uint8_t number)
{
    static const uint8_t head[4] = { 0x86, 0xdd, 0, 0 };
    uint8_t seq[4] = { 0, 0, 0, number };
    uint32_t at = wire_begin(w, NFNL_SUBSYS_ULOG << 8 | NFULNL_MSG_PACKET);

    wire_attribute(w, NFULA_PACKET_HDR, head, sizeof(head));
    wire_attribute(w, NFULA_SEQ, seq, sizeof(seq));
    wire_attribute(w, NFULA_PAYLOAD, payload, sizeof(payload));
    wire_end(w, at);
}

/* Two packets in what came at once; between them a message of another kind. */
TEST(netlink_log_messages_truncated_anywhere)
{
    struct wire w = { .len = 0 };
    uint32_t at, first;

    log_message(&w, 1);
    first = w.len;
    at = wire_begin(&w, NLMSG_DONE);
    wire_end(&w, at);
    log_message(&w, 2);
    for (uint32_t len = 0; len <= w.len; len++) {
        uint8_t *cut = xmalloc(len + 1);
        struct bytes rest = bytes_of(cut, len);
        struct nflog_packet m;
        unsigned count = 0;

        memcpy(cut, w.data, len);
        while (nflog_packet_read(&rest, &m)) {
            count++;
            CHECK_INT(m.number, count);
            CHECK(m.payload.len == sizeof(payload) &&
                  memcmp(m.payload.data, payload, sizeof(payload)) == 0);
            CHECK_INT(m.protocol, 0x86dd);
        }
        CHECK_INT(count, len == w.len ? 2 : len >= first ? 1 : 0);
        free(cut);
    }
}
