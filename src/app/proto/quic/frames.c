/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/quic/frames.c - frames of initial packets (RFC 9000 section 19): CRYPTO with TLS
 * hellos, and in Google's versions STREAM with tagged values. */
#include "app/parser.h"
#include "app/proto/quic/quic.h"
#include "app/proto/tls/hello.h"

#include <stdio.h>
#include <string.h>

enum { FRAME_PADDING = 0, FRAME_PING = 1, FRAME_ACK = 2, FRAME_ACK_ECN = 3, FRAME_CRYPTO = 6,
       FRAME_GOOGLE_CRYPTO = 8, FRAME_GOOGLE_STREAM = 0x80 };
enum { CLIENT_HELLO = 1, SERVER_HELLO = 2, HANDSHAKE_HEADER = 4 };

#define TAG(a, b, c, d) ((uint32_t)(a) << 24 | (uint32_t)(b) << 16 | (uint32_t)(c) << 8 | (d))
#define TAG_SNI  TAG('S', 'N', 'I', 0)
#define TAG_UAID TAG('U', 'A', 'I', 'D')
#define TAGS_MAX 128    /* of one message */

/* --- Google's tags ---------------------------------------------------------------------------- */

/* A message counts only if all of its tags are known: stream data look like tags otherwise. */
static const uint32_t known_tags[] = {
    TAG('A', 'E', 'A', 'D'), TAG('C', 'C', 'R', 'T'), TAG('C', 'C', 'S', 0),
    TAG('C', 'E', 'T', 'V'), TAG('C', 'F', 'C', 'W'), TAG('C', 'H', 'L', 'O'),
    TAG('C', 'O', 'P', 'T'), TAG('C', 'S', 'C', 'T'), TAG('C', 'T', 'I', 'M'),
    TAG('I', 'C', 'S', 'L'), TAG('I', 'R', 'T', 'T'), TAG('K', 'E', 'X', 'S'),
    TAG('M', 'I', 'D', 'S'), TAG('M', 'S', 'P', 'C'), TAG('N', 'O', 'N', 'C'),
    TAG('N', 'O', 'N', 'P'), TAG('P', 'A', 'D', 0), TAG('P', 'D', 'M', 'D'),
    TAG('P', 'U', 'B', 'S'), TAG('S', 'C', 'I', 'D'), TAG('S', 'C', 'L', 'S'),
    TAG('S', 'F', 'C', 'W'), TAG('S', 'M', 'H', 'L'), TAG_SNI, TAG('S', 'N', 'O', 0),
    TAG('S', 'T', 'K', 0), TAG('T', 'C', 'I', 'D'), TAG_UAID, TAG('V', 'E', 'R', 0),
    TAG('X', 'L', 'C', 'T'),
};

static bool is_known(uint32_t tag)
{
    for (size_t i = 0; i < ARRAY_LEN(known_tags); i++)
        if (known_tags[i] == tag)
            return true;
    return false;
}

struct tag {
    uint32_t name, end;                 /* of its value, within the values */
};

/* [message][count, 2 bytes][padding, 2][[tag][end]...][values]. False: not exactly this form. Ends
 * must not decrease, so that values do not overlap. */
static bool parse_tags(struct bytes in, struct tag *tags, unsigned *count, struct slice *values)
{
    uint32_t before = 0;

    if (!is_known(take_be32(&in)))
        return false;
    *count = take_le16(&in);
    take_skip(&in, 2);
    if (*count > TAGS_MAX)
        return false;
    for (unsigned i = 0; i < *count; i++) {
        tags[i].name = take_be32(&in);
        tags[i].end = take_le32(&in);
        if (in.failed || !is_known(tags[i].name) || tags[i].end < before)
            return false;
        before = tags[i].end;
    }
    *values = take_rest(&in);
    return !in.failed && values->len == before;
}

/* An empty value is a buffer, too. */
static void keep_value(struct quic_tx *t, struct slice value, struct slice *out)
{
    static const uint8_t none;

    out->data = value.len > 0 ? arena_copy(&t->tx.arena, value.data, value.len) : &none;
    out->len = out->data != NULL ? value.len : 0;
}

/* Q045 counts as 44. NULL: versions without CYU. */
static const char *cyu_version(uint32_t version)
{
    switch (version) {
    case QUIC_Q043: return "43";
    case QUIC_Q044:
    case QUIC_Q045: return "44";
    case QUIC_Q046: return "46";
    default: return NULL;
    }
}

/* CYU: the version and the names of the tags in their order, and the MD5 of this text. */
static void add_cyu(struct quic_tx *t, const struct tag *tags, unsigned count)
{
    const struct quic_thread *thread = t->tx.flow->thread_data;
    const char *version = cyu_version(t->version);
    struct quic_cyu *cyu, **last = &t->cyu;
    uint8_t hash[DIGEST_MAX];
    char *text, *p;
    unsigned len;

    if (version == NULL)
        return;
    cyu = arena_zalloc(&t->tx.arena, sizeof(*cyu));
    text = p = arena_alloc(&t->tx.arena, 8 + 5 * (size_t)count + 2 * DIGEST_MAX);
    if (cyu == NULL || text == NULL)
        return;
    p += snprintf(p, 8, "%s,", version);
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            *p++ = '-';
        for (int shift = 24; shift >= 0; shift -= 8)
            if ((tags[i].name >> shift & 0xff) != 0)
                *p++ = (char)(tags[i].name >> shift);
    }
    cyu->text = (struct slice){ (const uint8_t *)text, (uint32_t)(p - text) };
    len = digest(thread->digests, DIGEST_MD5, text, (size_t)(p - text), hash);
    cyu->hash = (struct slice){ (const uint8_t *)p,
                                (uint32_t)hex_text(hash, len, '\0', HEX_LOWER, p) };
    while (*last != NULL)
        last = &(*last)->next;
    *last = cyu;
}

/* Server name and user agent are kept. */
static void take_tags(struct quic_tx *t, struct bytes in)
{
    struct tag tags[TAGS_MAX];
    struct slice values;
    unsigned count;
    uint32_t from = 0;

    if (!parse_tags(in, tags, &count, &values))
        return;
    for (unsigned i = 0; i < count; i++) {
        struct slice value = { values.data + from, tags[i].end - from };

        if (tags[i].name == TAG_SNI)
            keep_value(t, value, &t->sni);
        else if (tags[i].name == TAG_UAID)
            keep_value(t, value, &t->ua);
        from = tags[i].end;
    }
    add_cyu(t, tags, count);
}

/* The type is 1fdooossB: fin, has a length, bytes of offset and of stream id. */
static void parse_stream(struct quic_tx *t, struct bytes *in, uint8_t type)
{
    unsigned offset = type >> 2 & 7;

    take_skip(in, (type & 3) + 1u);
    take_skip(in, offset > 0 ? offset + 1 : 0);
    take_tags(t, take_sub(in, (type & 0x20) != 0 ? take_be16(in) : bytes_left(in)));
}

static void parse_google_crypto(struct quic_tx *t, struct bytes *in)
{
    uint64_t len;

    quic_take_number(in);
    len = quic_take_number(in);
    take_tags(t, take_sub(in, len <= bytes_left(in) ? (size_t)len : SIZE_MAX));
}

/* --- hellos ----------------------------------------------------------------------------------- */

/* The hello borrows from the copy in the arena. */
static bool take_hello(struct quic_state *st, struct quic_tx *t, struct slice message,
                       bool is_server)
{
    uint8_t *retained = arena_copy(&t->tx.arena, message.data, message.len);

    if (retained == NULL || !tls_hello_parse(bytes_of(retained, message.len), is_server, &t->hello))
        return false;
    t->has_hello = true;
    if (t->hello.sni.data != NULL)
        t->sni = t->hello.sni;
    st->hello[t->direction] = true;
    return true;
}

/* Reads the hello when it is complete; nothing that follows is joined. False: another handshake
 * message, which cannot start here. */
static bool look_for_hello(struct quic_state *st, struct quic_tx *t)
{
    struct slice front = quic_assembly_front(&st->assembly[t->direction]);
    struct bytes in = bytes_of_slice(front);
    uint8_t type = take_u8(&in);
    uint32_t len = take_be24(&in);
    struct slice message = take_slice(&in, len);

    if (front.len > 0 && type != CLIENT_HELLO && type != SERVER_HELLO)
        return false;
    if (in.failed)
        return true;
    if (!take_hello(st, t, message, type == SERVER_HELLO))
        return false;
    quic_assembly_fini(&st->assembly[t->direction]);
    return true;
}

/* RFC 9000 section 19.6. */
static void parse_crypto(struct quic_state *st, struct quic_tx *t, struct bytes *in)
{
    uint64_t offset = quic_take_number(in), len = quic_take_number(in);
    struct slice segment = take_slice(in, len <= bytes_left(in) ? (size_t)len : SIZE_MAX);

    if (!in->failed && !quic_assembly_add(&st->assembly[t->direction], offset, segment))
        app_tx_event(&t->tx, QUIC_CRYPTO_FRAG_TOO_LONG);
}

/* --- frames ----------------------------------------------------------------------------------- */

/* RFC 9000 section 19.3: the ranges are skipped, and a hostile count ends with the data. */
static void parse_ack(struct bytes *in, bool ecn)
{
    uint64_t ranges;

    quic_take_number(in);
    quic_take_number(in);
    ranges = quic_take_number(in);
    quic_take_number(in);
    for (; ranges > 0 && !in->failed; ranges--) {
        quic_take_number(in);
        quic_take_number(in);
    }
    for (unsigned i = 0; ecn && i < 3; i++)
        quic_take_number(in);
}

/* Other frames than these cannot occur in initial packets (RFC 9000 section 12.4). */
static void parse_one(struct quic_state *st, struct quic_tx *t, struct bytes *in)
{
    uint8_t type = take_u8(in);

    if ((type & FRAME_GOOGLE_STREAM) != 0) {
        parse_stream(t, in, type);
        return;
    }
    switch (type) {
    case FRAME_PADDING:
    case FRAME_PING:
        break;
    case FRAME_ACK:
    case FRAME_ACK_ECN:
        parse_ack(in, type == FRAME_ACK_ECN);
        break;
    case FRAME_CRYPTO:
        parse_crypto(st, t, in);
        break;
    case FRAME_GOOGLE_CRYPTO:
        parse_google_crypto(t, in);
        break;
    default:
        take_rest(in);                  /* unknown length */
    }
}

/* False: truncated frames, or no hello. Data of all packets are joined per direction. */
bool quic_frames_parse(struct quic_state *st, struct quic_tx *t, struct slice payload)
{
    struct bytes in = bytes_of_slice(payload);

    while (bytes_have(&in, 1))
        parse_one(st, t, &in);
    return !in.failed && look_for_hello(st, t);
}
