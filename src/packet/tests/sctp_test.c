/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Chunks of SCTP: taken one by one, and cut off at every byte. */
#include "base/test.h"
#include "packet/sctp.h"
#include "packet/tests/decode_env.h"

#include <stdio.h>
#include <string.h>

/* SACK of 8 bytes, DATA with 3 bytes and one of padding, INIT without body. */
static const uint8_t chunks[] = { 3, 0, 0, 8, 1, 2, 3, 4,
                                  0, 3, 0, 19, 0, 0, 0, 1, 0, 2, 0, 3, 0, 0, 0, 4, 'a', 'b', 'c', 0,
                                  1, 0, 0, 4 };

TEST(sctp_takes_chunks_until_one_is_cut_off)
{
    for (size_t len = 0; len <= sizeof(chunks); len++) {
        struct bytes in = bytes_of(chunks, len);
        struct sctp_chunk c;
        unsigned n = 0, bytes = 0;
        bool complete = len == 0 || len == 8 || len == 27 || len == 28 || len == 32;

        while (sctp_take_chunk(&in, &c)) {
            n++;
            bytes += c.all.len;
        }
        CHECK_INT(in.failed, !complete);
        CHECK_INT(n, (len >= 8) + (len >= 27) + (len >= 32));
        CHECK_INT(bytes, (len >= 8) * 8 + (len >= 27) * 19 + (len >= 32) * 4);
    }
}

TEST(sctp_takes_no_chunk_shorter_than_its_header)
{
    static const uint8_t wrong[] = { 3, 0, 0, 3, 0, 0, 0, 0 };
    struct bytes in = bytes_of(wrong, sizeof(wrong));
    struct sctp_chunk c;

    CHECK(!sctp_take_chunk(&in, &c));
    CHECK(in.failed);
}

TEST(sctp_decoder_notes_data_chunks)
{
    struct decode_env env;
    struct packet *p;

    env_open(&env, "");
    p = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:84 00010002 00000007 00000000 03000008 "
                   "00000000 00030014 00000001 00020003 00000004 'abcd 00030010 00000001 00020003 "
                   "00000004");
    CHECK_INT(p->sctp.chunks, 3);
    CHECK_INT(p->sctp.data, 1);                 /* the second has no user data */
    CHECK_INT(p->sctp_data[0], 20);
    CHECK(!p->sctp.malformed);
    CHECK_INT(p->event_count, 0);
    p = env_decode(&env, DATALINK_ETHERNET, "eth:0800 ip4:84 00010002 00000007 00000000 030000");
    CHECK(p->sctp.malformed);
    CHECK(!(p->flags & PACKET_INVALID));
    CHECK_INT(p->payload_len, 3);
    env_close(t, &env);
}

TEST(sctp_payload_as_in_suricata_9)
{
    static const struct { const char *chunks; unsigned len; } rows[] = {
        { "03000008 00000000 00030014 00000001 00020003 00000004 'abcd", 4 },
        { "03000008 00000000", 0 },
        { "00030014 00000001 00020003 00000004 'abcd 0000", 0 },        /* cut off */
    };
    struct decode_env env;

    env_open(&env, "compatibility: suricata-9");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char words[160];
        struct packet *p;

        snprintf(words, sizeof(words), "eth:0800 ip4:84 00010002 00000007 00000000 %s",
                 rows[i].chunks);
        p = env_decode(&env, DATALINK_ETHERNET, words);
        CHECK_INT(p->payload_len, rows[i].len);
        CHECK(rows[i].len == 0 || memcmp(p->payload, "abcd", 4) == 0);
    }
    env_close(t, &env);
}

/* The events that the decoder raises for these chunks; `tag` is the verification tag. */
static void check_events(struct test *t, const char *tag, const char *chunks, unsigned events)
{
    struct decode_env env;
    struct packet *p;
    char words[2000];
    unsigned found = 0;

    snprintf(words, sizeof(words), "eth:0800 ip4:84 00010002 %s 00000000 %s", tag, chunks);
    env_open(&env, "");
    p = env_decode(&env, DATALINK_ETHERNET, words);
    for (unsigned i = 0; i < p->event_count; i++)
        found |= 1u << (p->event[i] - EVENT_SCTP_CHUNK_TOO_SMALL);
    if (found != events)
        test_fail(t, __FILE__, __LINE__, "%.40s: events %x, expected %x", chunks, found, events);
    env_close(t, &env);
}

#define EVENT(name) (1u << (EVENT_SCTP_##name - EVENT_SCTP_CHUNK_TOO_SMALL))

TEST(sctp_decoder_raises_events)
{
    static const struct { const char *tag, *chunks; unsigned events; } rows[] = {
        { "00000000", "01000004", 0 },
        { "00000007", "03000008 00000000", 0 },
        { "00000007", "", 0 },
        { "00000007", "01000004", EVENT(INIT_WITH_NON_ZERO_VTAG) },
        { "00000007", "02000004 03000004", EVENT(INIT_CHUNK_BUNDLED) },
        { "00000000", "00030010 00000001 00020003 00000004", EVENT(DATA_WITH_ZERO_VTAG) },
        { "00000007", "030000", EVENT(CHUNK_TOO_SMALL) },
        { "00000007", "03000004 0300", EVENT(CHUNK_TOO_SMALL) },
        { "00000007", "03000003", EVENT(CHUNK_LEN_INVALID) },
        { "00000007", "03000009 00000000", EVENT(CHUNK_LEN_INVALID) },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check_events(t, rows[i].tag, rows[i].chunks, rows[i].events);
}

TEST(sctp_decoder_counts_chunks)
{
    static const char data[] = "00030010 00000001 00020003 00000004 ";
    const size_t len = sizeof(data) - 1;
    char words[20 * sizeof(data)];

    for (unsigned i = 0; i < 16; i++)
        memcpy(words + i * len, data, sizeof(data));
    check_events(t, "00000007", words, 0);
    memcpy(words + 16 * len, "03000004 ", 10);
    check_events(t, "00000007", words, EVENT(TOO_MANY_CHUNKS));
    memcpy(words + 16 * len, data, sizeof(data));
    check_events(t, "00000007", words, EVENT(TOO_MANY_CHUNKS) | EVENT(TOO_MANY_DATA_CHUNKS));
}
