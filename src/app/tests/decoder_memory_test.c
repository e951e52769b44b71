/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What decompressors and decompressed content may take together, and what connections share. */
#include "app/core/decoder_memory.h"
#include "app/core/file.h"
#include "app/core/files.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/proto.h"
#include "base/report/counters.h"
#include "base/test.h"

#define KIB 1024u
#define MIB (1024u * KIB)

/* A thread with a memcap of 8 MiB, and a flow of a protocol whose files rules inspect. */
struct fixture {
    struct app_conf conf;
    struct app_thread thread;
    struct app_proto proto;
    struct app_flow flow;
    struct app_tx tx;
};

static void fixture_open(struct fixture *w)
{
    *w = (struct fixture){ .conf = { .decoders = { .memory.limit = 8 * MIB, .window_limit = MIB } },
                         .proto.id = APP_PROTO_http1 };
    w->conf.required_files = APP_FILE_CONTENT;
    w->conf.required_content[APP_PROTO_http1] = APP_BOTH;
    w->conf.decoders.refused = counter_register("http.memcap", COUNTER_SUM);
    w->thread.conf = &w->conf;
    w->thread.counters = counters_new("test");
    w->flow.thread = &w->thread;
    w->flow.proto = &w->proto;
    w->tx.flow = &w->flow;
    app_file_pool_init(&w->thread.files);
}

static void fixture_close(struct fixture *w)
{
    app_files_free(&w->thread, &w->tx);
    app_file_pool_fini(&w->thread.files);
    while (w->thread.spare_count > 0)
        buf_fini(&w->thread.spare[--w->thread.spare_count]);
    counters_free(w->thread.counters);
}

TEST(decoder_memory_has_halves)
{
    static struct fixture w;
    struct decoder_memory m = { .flow = &w.flow };
    unsigned large = 0, small = 0;

    fixture_open(&w);
    while (decoder_memory_take(&m, MIB))
        large++;
    CHECK_INT(large, 4);
    while (decoder_memory_take(&m, 64 * KIB))
        small++;
    CHECK_INT(small, 64);
    CHECK_INT(m.refusal, DECODER_AT_MEMCAP);
    while (large-- > 0)
        decoder_memory_return(&m, MIB);
    CHECK(!decoder_memory_take(&m, 64 * KIB));
    CHECK_INT(w.conf.decoders.memory.used, 4 * MIB);
    fixture_close(&w);
}

TEST(unpacked_memory_has_a_quarter)
{
    static struct fixture w;
    struct decoder_memory m = { .flow = &w.flow };
    uint32_t held = 0;

    fixture_open(&w);
    CHECK(unpacked_memory_set(&w.flow, &held, MIB));
    CHECK(!unpacked_memory_is_scarce(&w.flow));
    CHECK(unpacked_memory_set(&w.flow, &held, 2 * MIB));
    CHECK(unpacked_memory_is_scarce(&w.flow));
    CHECK(!unpacked_memory_set(&w.flow, &held, 2 * MIB + 1));
    CHECK_INT(held, 2 * MIB);
    CHECK(unpacked_memory_set(&w.flow, &held, 0));
    CHECK_INT(w.conf.decoders.memory.used, 0);
    for (unsigned i = 0; i < 16; i++)
        CHECK(decoder_memory_take(&m, 240 * KIB));
    CHECK(!unpacked_memory_set(&w.flow, &held, MIB));
    CHECK_INT(w.conf.decoders.unpacked, 0);
    fixture_close(&w);
}

/* One connection draws its allowance; many small ones find that nothing is left. */
TEST(decoder_output_is_shared)
{
    static struct fixture w;
    uint64_t drawn = 0, last = 0;
    struct packet p = { .time_us = 1000000 };
    unsigned pieces = 0;

    fixture_open(&w);
    w.thread.packet = &p;
    while (decoder_output_draw(&w.flow, 10, 16, &drawn))
        pieces++;
    CHECK_INT(pieces, 31);
    CHECK_INT(decoder_output_most(10, 16, drawn), DECODER_OUTPUT_FREE + 160);
    CHECK(decoder_output_draw(&w.flow, 10, 100, &drawn));
    CHECK(!decoder_output_draw(&w.flow, 10, 100, &drawn));
    CHECK_INT(decoder_output_most(10, 100, drawn), DECODER_OUTPUT_FREE + 1000);
    CHECK_INT(decoder_output_most(10, 0, drawn), UINT64_MAX);
    CHECK_INT(decoder_output_most(64 * KIB, 100, 0), 4 * KIB + 32 * KIB * 116);
    p.time_us += 840;
    for (; drawn = 0, decoder_output_draw(&w.flow, 0, 100, &drawn); pieces++)
        continue;
    CHECK_INT(pieces, 32 * MIB / (4 * KIB));
    p.time_us += 4 * KIB;
    CHECK(decoder_output_draw(&w.flow, 0, 100, &last));
    CHECK(!decoder_output_draw(&w.flow, 0, 100, &last));
    p.time_us += 100 * MIB;
    for (pieces = 0; last = 0, decoder_output_draw(&w.flow, 0, 100, &last); pieces++)
        continue;
    CHECK_INT(pieces, 32 * MIB / (4 * KIB));
    fixture_close(&w);
}

static struct app_file *fill(struct fixture *w, bool unpacked, uint32_t size)
{
    static const uint8_t zeros[MIB];
    const struct file_window limits = { .min_inspect = 4 * KIB, .window = 4 * KIB };
    struct app_file *file = app_file_open(&w->tx, TO_CLIENT, (struct slice){ 0 }, &limits);

    file->unpacked = unpacked;
    app_file_append(file, zeros, size);
    return file;
}

/* What is unpacked counts, and where it is scarce, what rules have seen goes with the packet. */
TEST(unpacked_files_release_what_was_seen)
{
    static struct fixture w;
    struct slice seen;
    struct app_file *file;
    uint64_t position;

    fixture_open(&w);
    CHECK_INT(fill(&w, false, MIB)->window.len, MIB);
    CHECK_INT(w.conf.decoders.unpacked, 0);
    file = fill(&w, true, MIB);
    CHECK(app_file_inspect(file, &seen, &position));
    app_files_prune(&w.tx, TO_CLIENT, true);
    CHECK_INT(file->window.len, 0);         /* packed */
    app_file_unpack(file);
    CHECK_INT(file->window.len, MIB);
    file = fill(&w, true, MIB - 1);
    CHECK(app_file_inspect(file, &seen, &position));
    CHECK_INT(seen.len, MIB - 1);
    app_files_prune(&w.tx, TO_CLIENT, true);
    CHECK_INT(file->window.len, 4 * KIB);
    CHECK_INT(file->window_start, MIB - 1 - 4 * KIB);
    CHECK(w.conf.decoders.unpacked < 64 * KIB);
    CHECK(!file->has_gaps);
    fixture_close(&w);
    CHECK_INT(w.conf.decoders.memory.used, 0);
}

/* Beyond the share the content goes, and the file says so. */
TEST(unpacked_files_are_refused)
{
    static struct fixture w;
    struct app_file *file;

    fixture_open(&w);
    for (unsigned i = 0; i < 2; i++)
        CHECK(!fill(&w, true, MIB)->has_gaps);
    file = fill(&w, true, MIB);
    CHECK(file->has_gaps);
    CHECK_INT(file->window.len, 0);
    CHECK_INT(file->window_start, MIB);
    app_file_close(file, FILE_CLOSED);
    CHECK_INT(file->state, FILE_TRUNCATED);
    fixture_close(&w);
    CHECK_INT(w.conf.decoders.memory.used, 0);
}
