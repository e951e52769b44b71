/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A vector decodes usual frames in one step (decode_usual()). Here each frame, with any of its
 * bytes changed or cut, is decoded so and by the decoders of its layers: both must agree. */
#include "packet/decode/decode_private.h"
#include "packet/tests/decode_env.h"

#include <string.h>

static const char *const samples[] = {
    "eth:0800 ip4:06 tcp:1024,80 'hello",
    "eth:0800 ip4:06 tcp:1024,80",
    "eth:0800 ip4:06 tcp:80,1024,0101080a0000000100000002 'hello",
    "eth:0800 ip4:06 tcp:80,1024,0101080a0000000100000002 'hello zero:9",
    "eth:0800 ip4:06 tcp:80,1024,01010101 'hello",
    "eth:0800 ip4:06,01010100 tcp:80,1024 'hello",
    "eth:0800 ip4:11 udp:1000,53 'hello",
};

struct both {
    struct decode_env vector, layers;
    unsigned usual;
};

/* By the decoders of its layers, in the bytes of the other. */
static const struct packet *decode_layers(struct decode_env *env, const struct packet *other)
{
    struct packet *p;

    env_release(env);
    p = packet_pool_get(env->pool);
    p->data = other->data;
    p->len = other->len;
    p->wire_len = other->wire_len;
    p->time_us = other->time_us;
    p->datalink = other->datalink;
    vector_push(&env->vector, p);
    (void)decode_packet(env->decoder, &env->vector, 0);
    decode_end(env->decoder, &env->vector);
    return env->vector.packet[0];
}

static bool same_fields(const struct packet *a, const struct packet *b, size_t from, size_t to)
{
    return memcmp((const uint8_t *)a + from, (const uint8_t *)b + from, to - from) == 0;
}

static bool same_packet(const struct packet *a, const struct packet *b)
{
    return a->flags == b->flags && a->event_count == b->event_count &&
           memcmp(a->event, b->event, a->event_count * sizeof(a->event[0])) == 0 &&
           same_fields(a, b, offsetof(struct packet, eth), offsetof(struct packet, src)) &&
           ip_equal(&a->src, &b->src) && ip_equal(&a->dst, &b->dst) &&
           same_fields(a, b, offsetof(struct packet, src_port), offsetof(struct packet, flow));
}

static bool same_counts(const struct both *s)
{
    for (unsigned i = 0; i < counter_count(); i++)
        if (s->vector.counters->value[i] != s->layers.counters->value[i] ||
            s->vector.counters->samples[i] != s->layers.counters->samples[i])
            return false;
    return true;
}

static void check_bytes(struct test *t, struct both *s, const uint8_t *data, size_t len)
{
    const struct packet *a = env_decode_bytes(&s->vector, DATALINK_ETHERNET, data, len);
    const struct packet *b = decode_layers(&s->layers, a);
    struct packet once = { .data = a->data, .len = a->len, .datalink = a->datalink };

    s->usual += decode_usual(s->vector.decoder, &once);
    if (!same_packet(a, b) || !same_counts(s))
        test_fail(t, __FILE__, __LINE__, "a frame of %zu bytes differs", len);
}

static void check_sample(struct test *t, struct both *s, const char *words)
{
    uint8_t data[256];
    size_t len = env_bytes(words, data, sizeof(data));

    for (size_t n = 0; n <= len; n++)
        check_bytes(t, s, data, n);
    for (size_t at = 0; at < len; at++) {
        uint8_t before = data[at];

        for (unsigned value = 0; value < 256; value++) {
            data[at] = (uint8_t)value;
            check_bytes(t, s, data, len);
        }
        data[at] = before;
    }
}

static void check_with(struct test *t, const char *yaml, bool any_usual)
{
    struct both s = { 0 };

    env_open(&s.vector, yaml);
    env_open(&s.layers, yaml);
    for (unsigned i = 0; i < ARRAY_LEN(samples); i++)
        check_sample(t, &s, samples[i]);
    CHECK((s.usual > 1000) == any_usual);
    env_close(t, &s.vector);
    env_close(t, &s.layers);
}

TEST(decode_usual_frames_as_by_their_layers)
{
    check_with(t, NULL, true);
    check_with(t, "decoder: { max-layers: 2 }", false);
    check_with(t, "decoder: { max-layers: 3 }", true);
}
