/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of packet/reject: what is built is read by the decoder, and is what the refused packet
 * asks for. */
#include "packet/reject.h"
#include "packet/tests/decode_env.h"

struct reject_case {
    struct decode_env in, out;
};

static void open_both(struct reject_case *c)
{
    env_open(&c->in, "");
    env_open(&c->out, "");
}

static void close_both(struct test *t, struct reject_case *c)
{
    env_close(t, &c->in);
    env_close(t, &c->out);
}

static struct packet *refuse(struct reject_case *c, const struct packet *p, bool to_src)
{
    uint8_t bytes[REJECT_SIZE_MAX];
    size_t len = reject_build(p, to_src, true, bytes);

    return len > 0 ? env_decode_bytes(&c->out, DATALINK_ETHERNET, bytes, len) : NULL;
}

static void check_reset(struct test *t, const char *words)
{
    struct reject_case c;
    struct packet *p, *r;

    open_both(&c);
    p = env_decode(&c.in, DATALINK_ETHERNET, words);
    p->tcp.flags = TCP_ACK | TCP_PSH;
    p->tcp.seq = 1000;
    p->tcp.ack = 5000;
    r = refuse(&c, p, true);
    CHECK(r != NULL && packet_is_tcp(r));
    CHECK_INT(r->tcp.flags, TCP_RST | TCP_ACK);
    CHECK_INT(r->tcp.seq, 5000);
    CHECK_INT(r->tcp.ack, 1000 + p->payload_len);
    CHECK_INT(r->src_port, p->dst_port);
    CHECK(ip_equal(&r->dst, &p->src) && ip_equal(&r->src, &p->dst));
    CHECK(packet_l4_checksum_ok(r) && packet_ip_checksum_ok(r));
    r = refuse(&c, p, false);
    CHECK(r != NULL && r->tcp.seq == 1000 && ip_equal(&r->dst, &p->dst));
    CHECK(packet_l4_checksum_ok(r));
    close_both(t, &c);
}

TEST(reject_resets_tcp)
{
    check_reset(t, "eth:0800 ip4:6 tcp:1000,80 'payload");
    check_reset(t, "eth:86dd ip6:6 tcp:1000,80 'payload");
}

static void check_unreachable(struct test *t, const char *words, unsigned proto, unsigned type)
{
    struct reject_case c;
    struct packet *p, *r;

    open_both(&c);
    p = env_decode(&c.in, DATALINK_ETHERNET, words);
    r = refuse(&c, p, true);
    CHECK(r != NULL && r->ip_proto == proto);
    CHECK_INT(r->icmp.type, type);
    CHECK(r->icmp.embedded != NULL);
    CHECK(ip_equal(&r->dst, &p->src));
    CHECK(packet_l4_checksum_ok(r) && packet_ip_checksum_ok(r));
    close_both(t, &c);
}

TEST(reject_sends_unreachable)
{
    check_unreachable(t, "eth:0800 ip4:11 udp:1000,53 'payload", 1, 3);
    check_unreachable(t, "eth:86dd ip6:11 udp:1000,53 'payload", 58, 1);
}

TEST(reject_answers_no_reset_and_no_error)
{
    struct reject_case c;
    struct packet *p;

    open_both(&c);
    p = env_decode(&c.in, DATALINK_ETHERNET, "eth:0800 ip4:6 tcp:1000,80");
    p->tcp.flags = TCP_RST;
    CHECK(refuse(&c, p, true) == NULL);
    p = env_decode(&c.in, DATALINK_ETHERNET, "eth:0800 ip4:11 udp:1000,53 'x");
    p->ip_proto = 1;
    p->icmp.type = 3;
    CHECK(refuse(&c, p, true) == NULL);
    p = env_decode(&c.in, DATALINK_ETHERNET, "eth:0806 zero:40");
    CHECK(refuse(&c, p, true) == NULL);
    close_both(t, &c);
}
