/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/tests/decode_env.h - a decoder to test with, and packets written as words.
 *
 *     env_open(&env, "decoder: { max-layers: 8 }");
 *     p = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:11 udp:1000,53 'payload");
 *     CHECK(packet_has_event(p, ...));
 *     env_close(t, &env);
 *
 * Words: eth:TYPE, ip4:PROTO[,OPTIONS], ip4f:PROTO,FLAGS-AND-OFFSET,ID, ip6:NEXT, udp:SRC,DST,
 * tcp:SRC,DST[,OPTIONS], zero:N, 'text, and hex digits for themselves. Numbers after eth, ip4
 * and ip6 are hex, ports and counts decimal. Length fields are filled in. */
#ifndef PACKET_TESTS_DECODE_ENV_H
#define PACKET_TESTS_DECODE_ENV_H

#include "base/test.h"
#include "packet/decode.h"

struct decode_env {
    struct conf *yaml;
    struct decode_conf *conf;
    struct counters *counters;
    struct packet_pool *pool;
    struct decoder *decoder;
    struct packet_vector vector;
    uint8_t *frame;             /* of exactly its size, so that overruns are seen */
    uint64_t time_us;
    uint64_t seqno;             /* of the last packet; 0: a live capture, without an order */
};

void env_open(struct decode_env *env, const char *yaml);
/* Checks that every packet has been returned. */
void env_close(struct test *t, struct decode_env *env);

/* The bytes of the words; the length is returned. */
size_t env_bytes(const char *words, uint8_t *out, size_t size);

/* Releases what the last call gave, then decodes one frame. The packets are in env->vector. */
struct packet *env_decode_bytes(struct decode_env *env, enum datalink link, const uint8_t *data,
                                size_t len);
struct packet *env_decode(struct decode_env *env, enum datalink link, const char *words);
void env_release(struct decode_env *env);

uint64_t env_count(const struct decode_env *env, const char *counter);

#endif
