/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/tests/decode_env.c - a decoder to test with, and packets written as words. */
#include "packet/tests/decode_env.h"

#include "base/array.h"
#include "packet/seqno.h"

#include <stdlib.h>
#include <string.h>

void env_open(struct decode_env *env, const char *yaml)
{
    struct err err = { 0 };

    *env = (struct decode_env){ .time_us = 1000000000 };
    env->yaml = conf_new();
    if (yaml != NULL)
        conf_load_string(env->yaml, yaml, "test", &err);
    env->conf = decode_conf_new(conf_root(env->yaml), &err);
    env->counters = counters_new("test");
    env->pool = packet_pool_new(64, 0);
    env->decoder = decoder_new(env->conf, env->pool, env->counters);
}

void env_release(struct decode_env *env)
{
    for (unsigned i = 0; i < env->vector.count; i++)
        packet_release(env->vector.packet[i], PACKET_THREAD_OWNER);
    env->vector.count = 0;
    free(env->frame);
    env->frame = NULL;
}

void env_close(struct test *t, struct decode_env *env)
{
    env_release(env);
    CHECK_INT(packet_pool_out(env->pool), 0);
    decoder_free(env->decoder);
    packet_pool_free(env->pool);
    counters_free(env->counters);
    decode_conf_free(env->conf);
    conf_free(env->yaml);
    free(env->vector.packet);
}

uint64_t env_count(const struct decode_env *env, const char *counter)
{
    for (unsigned i = 0; i < counter_count(); i++)
        if (strcmp(counter_name((counter_id)i), counter) == 0)
            return env->counters->value[i];
    return 0;
}

/* --- words --- */

struct writer {
    uint8_t *at;
    size_t len, size;
    struct {
        size_t field, from;     /* a 16-bit length counts from `from` to the end */
    } lengths[16];
    unsigned length_count;
};

static void put(struct writer *w, unsigned value)
{
    if (w->len < w->size)
        w->at[w->len++] = (uint8_t)value;
}

static void put16(struct writer *w, unsigned value)
{
    put(w, value >> 8);
    put(w, value);
}

static void put_zeros(struct writer *w, unsigned n)
{
    while (n-- > 0)
        put(w, 0);
}

static void put_hex(struct writer *w, struct text hex)
{
    for (size_t i = 0; i + 1 < hex.n; i += 2) {
        char two[3] = { hex.p[i], hex.p[i + 1], 0 };

        put(w, (unsigned)strtoul(two, NULL, 16));
    }
}

static void length_field(struct writer *w, size_t field, size_t from)
{
    w->lengths[w->length_count].field = field;
    w->lengths[w->length_count++].from = from;
}

static unsigned number(struct text t, int base)
{
    char digits[16] = "";

    memcpy(digits, t.p, MIN(t.n, sizeof(digits) - 1));
    return (unsigned)strtoul(digits, NULL, base);
}

static void put_ip4(struct writer *w, unsigned proto, unsigned offset, unsigned id,
                    struct text options)
{
    size_t start = w->len;

    put(w, 0x45 + (unsigned)options.n / 8);
    put(w, 0);
    length_field(w, w->len, start);
    put16(w, 0);
    put16(w, id);
    put16(w, offset);
    put(w, 64);
    put(w, proto);
    put16(w, 0);
    put_hex(w, TEXT_LITERAL("0a0000010a000002"));
    put_hex(w, options);
}

static void put_ip6(struct writer *w, unsigned next)
{
    put_hex(w, TEXT_LITERAL("60000000"));
    length_field(w, w->len, w->len + 36);
    put16(w, 0);
    put(w, next);
    put(w, 1);
    put_hex(w, TEXT_LITERAL("20010000000000000000000000000001"));
    put_hex(w, TEXT_LITERAL("20010000000000000000000000000002"));
}

static void put_tcp(struct writer *w, unsigned src, unsigned dst, struct text options)
{
    put16(w, src);
    put16(w, dst);
    put_hex(w, TEXT_LITERAL("0000000100000002"));
    put(w, (5 + (unsigned)options.n / 8) << 4);
    put(w, TCP_ACK);
    put_hex(w, TEXT_LITERAL("040000000000"));
    put_hex(w, options);
}

static void put_word(struct writer *w, struct text word)
{
    struct text args = { 0 }, arg[3] = { { 0 } };

    for (size_t i = 0; i < word.n; i++)
        if (word.p[i] == ':') {
            args = text_from(word, i + 1);
            break;
        }
    for (unsigned i = 0; i < 3; i++)
        text_split(&args, ',', &arg[i]);

    if (text_starts(word, "eth:")) {
        put_hex(w, TEXT_LITERAL("020000000001020000000002"));
        put16(w, number(arg[0], 16));
    } else if (text_starts(word, "ip4:")) {
        put_ip4(w, number(arg[0], 16), 0, 1, arg[1]);
    } else if (text_starts(word, "ip4f:")) {
        put_ip4(w, number(arg[0], 16), number(arg[1], 16), number(arg[2], 16), (struct text){ 0 });
    } else if (text_starts(word, "ip6:")) {
        put_ip6(w, number(arg[0], 16));
    } else if (text_starts(word, "tcp:")) {
        put_tcp(w, number(arg[0], 10), number(arg[1], 10), arg[2]);
    } else if (text_starts(word, "udp:")) {
        put16(w, number(arg[0], 10));
        put16(w, number(arg[1], 10));
        length_field(w, w->len, w->len - 4);
        put_zeros(w, 4);
    } else if (text_starts(word, "zero:")) {
        put_zeros(w, number(arg[0], 10));
    } else if (word.n > 0 && word.p[0] == '\'') {
        for (size_t i = 1; i < word.n; i++)
            put(w, (unsigned char)word.p[i]);
    } else {
        put_hex(w, word);
    }
}

size_t env_bytes(const char *words, uint8_t *out, size_t size)
{
    struct writer w = { .at = out, .size = size };
    struct text rest = text_of(words), word;

    while (text_split(&rest, ' ', &word))
        put_word(&w, word);
    for (unsigned i = 0; i < w.length_count; i++) {
        size_t n = w.len - w.lengths[i].from;

        out[w.lengths[i].field] = (uint8_t)(n >> 8);
        out[w.lengths[i].field + 1] = (uint8_t)n;
    }
    return w.len;
}

/* --- decoding --- */

struct packet *env_decode_bytes(struct decode_env *env, enum datalink link, const uint8_t *data,
                                size_t len)
{
    struct packet *p;

    env_release(env);
    env->frame = xmalloc(MAX(len, (size_t)1));
    if (len > 0)
        memcpy(env->frame, data, len);
    p = packet_pool_get(env->pool);
    p->data = env->frame;
    p->len = p->wire_len = (uint32_t)len;
    p->datalink = (uint8_t)link;
    p->time_us = env->vector.now_us = env->time_us;
    if (env->seqno != 0) {
        p->seqno = env->seqno = seqno_next(env->seqno, env->time_us);
        env->vector.now_us = seqno_time_us(env->seqno);
    }
    vector_push(&env->vector, p);
    decode_vector(env->decoder, &env->vector);
    return p;
}

struct packet *env_decode(struct decode_env *env, enum datalink link, const char *words)
{
    uint8_t data[4096];
    size_t len = env_bytes(words, data, sizeof(data));

    return env_decode_bytes(env, link, data, len);
}
