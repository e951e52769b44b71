/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of packet/decode against broken input: each prefix of sample packets, and each with any
 * one bit turned. The frames are allocated to the byte, so that a sanitizer sees overruns; here
 * it is checked that what decode points at lies within the frame, and that a peek (packet/decode/peek.h)
 * says of a frame what comes of decoding it, or nothing. */
#include "packet/decode/peek.h"
#include "packet/tests/decode_env.h"

#include <string.h>

static const char *const samples[] = {
    "eth:0800 ip4:06,8603000094040000 tcp:1,2,020405b40402080a0000000100000002 'hello",
    "eth:8100 00018100 00020800 ip4:11 udp:1000,53 'hello",
    "eth:86dd ip6:00 2b00050200000100 3300020000000000 2c04 zero:22 0600000100000001 tcp:1,2 'x",
    "eth:86dd ip6:3c 0600c90400000000 tcp:1,2 'hello",
    "eth:0800 ip4:01 0303000000000000 ip4:11 udp:1000,53 'hello",
    "eth:86dd ip6:3a 0100000000000000 ip6:11 udp:1000,53 'hello",
    "eth:0800 ip4:2f b0000800 zero:12 ip4:06 tcp:1,2 'hello",
    "eth:0800 ip4:2f 40000800 00000000 0001000361626300000000 ip4:06 tcp:1,2 'hello",
    "eth:0800 ip4:2f 3081880b 00200001 00000001 00000001 ff030021 ip4:06 tcp:1,2 'hello",
    "eth:0800 ip4:2f 100088be 00000001 1005000000000000 eth:0800 ip4:06 tcp:1,2 'hello",
    "eth:0800 ip4:11 udp:9,4789 0800000000000100 eth:8100 00010800 ip4:06 tcp:1,2 'hello",
    "eth:0800 ip4:11 udp:9,6081 0200655800000100 0001010161626364 eth:0800 ip4:06 tcp:1,2 'hello",
    "eth:0800 ip4:11 udp:9,3544 0000010101010101 ip6:06 tcp:1,2 'hello",
    "eth:8847 000100ff 000101ff 00000000 eth:0800 ip4:06 tcp:1,2 'hello",
    "eth:894f 0006010100000100 zero:16 ip4:06 tcp:1,2 'hello",
    "eth:8864 110000010002 0021 ip4:06 tcp:1,2 'hello",
    "eth:0806 0001080006040001 zero:20",
    "eth:0800 ip4:04 ip4:29 ip6:2f 00000800 ip4:06 tcp:1,2",
    "eth:0800 ip4f:11,2000,7 0001000200100000",
    "eth:0800 ip4f:11,0001,7 'abcdefgh",
    "eth:0800 ip4:06 tcp:1024,80 'hello",
    "eth:0800 ip4:06 tcp:80,1024,01010101 'hello",
    "eth:8100 00010800 ip4:06 tcp:80,1024 'hello",
    "eth:86dd ip6:06 tcp:80,1024 'hello",
    "eth:86dd ip6:11 udp:1000,53 'hello",
    "eth:8100 000186dd ip6:11 udp:1000,53 'hello",
    "eth:0800 ip4:11 udp:1000,53 60 zero:45",
    "eth:0800 ip4:11 udp:1000,53 60000000 zero:2 11ff zero:32",
};

static bool within(const struct packet *p, const uint8_t *at, size_t len)
{
    return at == NULL || (at >= p->data && at + len <= p->data + p->len);
}

static bool sane(const struct packet *p)
{
    return within(p, p->eth, 14) && within(p, p->l3, p->l3_len) && within(p, p->l4, p->l4_len) &&
           within(p, p->payload, p->payload_len) &&
           within(p, p->tcp_options.sack, p->tcp_options.sack_count * 8u);
}

static unsigned plain;          /* frames that a peek said something of */

/* One packet, of the same flow and with the same payload. */
static void check_peek(struct test *t, struct decode_env *env, const char *words)
{
    const struct packet *p = env->vector.packet[0];
    struct packet_peek peek;
    struct ip src, dst;

    if (!packet_peek(env->conf, DATALINK_ETHERNET, p->data, p->len, &peek))
        return;
    plain++;
    src = packet_peek_src(&peek);
    dst = packet_peek_dst(&peek);
    if (env->vector.count != 1 || p->root != NULL)
        test_fail(t, __FILE__, __LINE__, "%s: more than a plain packet", words);
    if (peek.flow_hash != p->flow_hash || !ip_equal(&src, &p->src) || !ip_equal(&dst, &p->dst))
        test_fail(t, __FILE__, __LINE__, "%s: another flow", words);
    if (peek.is_tcp != packet_is_tcp(p) || peek.payload != p->payload ||
        peek.payload_len != p->payload_len)
        test_fail(t, __FILE__, __LINE__, "%s: another payload", words);
}

static void check_bytes(struct test *t, struct decode_env *env, const char *words,
                        const uint8_t *data, size_t len)
{
    env_decode_bytes(env, DATALINK_ETHERNET, data, len);
    for (unsigned i = 0; i < env->vector.count; i++) {
        struct packet *p = env->vector.packet[i];

        if (!sane(p))
            test_fail(t, __FILE__, __LINE__, "%s: points out of the frame", words);
        packet_l4_checksum_ok(p);
        packet_ip_checksum_ok(p);
    }
    check_peek(t, env, words);
}

TEST(decode_every_prefix)
{
    struct decode_env env;

    env_open(&env, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(samples); i++) {
        uint8_t data[512];
        size_t len = env_bytes(samples[i], data, sizeof(data));

        for (size_t n = 0; n <= len; n++)
            check_bytes(t, &env, samples[i], data, n);
    }
    env_close(t, &env);
}

TEST(decode_every_bit)
{
    struct decode_env env;

    plain = 0;
    env_open(&env, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(samples); i++) {
        uint8_t data[512];
        size_t len = env_bytes(samples[i], data, sizeof(data));

        for (size_t bit = 0; bit < len * 8; bit++) {
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
            check_bytes(t, &env, samples[i], data, len);
            data[bit / 8] ^= (uint8_t)(1 << bit % 8);
        }
    }
    CHECK(plain > 1000);
    env_close(t, &env);
}

TEST(decode_every_byte_full)
{
    struct decode_env env;

    env_open(&env, NULL);
    for (unsigned i = 0; i < ARRAY_LEN(samples); i++) {
        uint8_t data[512];
        size_t len = env_bytes(samples[i], data, sizeof(data));

        for (size_t at = 0; at < len; at++) {
            uint8_t retained = data[at];

            data[at] = 0xff;
            check_bytes(t, &env, samples[i], data, len);
            data[at] = 0;
            check_bytes(t, &env, samples[i], data, len);
            data[at] = retained;
        }
    }
    env_close(t, &env);
}
