/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transactions with news: the ones that rules, logs and cleanup look at. */
#include "app/core/session.h"
#include "app/core/thread.h"
#include "app/tests/replay.h"
#include "base/test.h"

#include <string.h>

TEST(app_txs_with_news_are_in_order_of_age)
{
    struct app_session s = { 0 };
    struct packet p = { 0 };
    struct app_tx tx[50] = { 0 };
    unsigned n = 0;

    for (unsigned i = 0; i < ARRAY_LEN(tx); i++) {
        tx[i].id = i;
        tx[i].flow = &s.flow;
    }
    for (unsigned i = 0; i < ARRAY_LEN(tx); i++)
        if (i % 5 != 0)
            app_tx_mark(&tx[i * 37 % ARRAY_LEN(tx)]);
    app_txs_due(&s, &p);
    for (const struct app_tx *one = s.flow.due; one != NULL; one = one->due_next, n++) {
        CHECK(one->id % 5 != 0);
        CHECK(one->due_next != NULL ? one->id < one->due_next->id : one == s.flow.due_last);
    }
    CHECK_INT(n, 40);
}

/* Rules have looked at all of them. */
static void seen(struct app_flow *af)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        tx->unseen = 0;
}

TEST(app_txs_without_news_are_left_alone)
{
    static const char open[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
        "\0\0\0\4\0\0\0\0\0"
        "\0\0\6\1\4\0\0\0\1\x82\x86\x84\x41\1a"
        "\0\0\6\1\4\0\0\0\3\x82\x86\x84\x41\1b"
        "\0\0\6\1\4\0\0\0\5\x82\x86\x84\x41\1c";
    static const char update[] = "\0\0\4\x8\0\0\0\0\3\0\0\0\1";
    struct app_fixture fixture;
    struct replay replay;
    struct app_flow *af;

    CHECK_INT(app_fixture_open(&fixture, NULL, NULL), 0);
    replay_begin(&replay, &fixture, false, 80);
    replay_force(&replay, APP_PROTO_http2);
    replay_data(&replay, TO_SERVER, open, sizeof(open) - 1);
    af = replay.flow->app;
    CHECK(af->tx_count == 3 && af->due == af->first && af->due_last == af->last);
    seen(af);
    replay_data(&replay, TO_SERVER, update, sizeof(update) - 1);
    CHECK(af->due == af->first->next && af->due == af->due_last && af->due->unseen == APP_BOTH);
    replay_end(&replay);
    CHECK(af->tx_count == 0 && af->due == NULL && af->tx_memory == 0);
    replay_free(&replay);
    app_fixture_close(&fixture);
}

#define STREAMS 2000

/* Streams of ten bytes each. */
static void open_streams(struct replay *replay)
{
    static uint8_t data[STREAMS * 10];

    for (uint32_t i = 0; i < STREAMS; i++) {
        uint8_t *frame = data + i * 10;

        memcpy(frame, "\0\0\1\1\4\0\0", 7);
        put_be16(frame + 7, (uint16_t)(2 * i + 1));
        frame[9] = 0x82;
    }
    replay_data(replay, TO_SERVER, "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
    replay_data(replay, TO_SERVER, data, sizeof(data));
}

static unsigned count_open(const struct app_flow *af)
{
    unsigned n = 0;

    for (const struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        n += tx->progress[TO_CLIENT] < af->proto->progress_done[TO_CLIENT];
    return n;
}

/* While all transactions of the thread take little, a flow may have as many as max-streams says.
 * Beyond that it must have paid for them with its bytes. */
TEST(app_txs_are_paid_where_memory_is_short)
{
    const size_t many = 100000;

    for (int is_short = 0; is_short < 2; is_short++) {
        struct app_fixture fixture;
        struct replay replay;
        struct pool *pool;

        CHECK_INT(app_fixture_open(&fixture, NULL, NULL), 0);
        replay_begin(&replay, &fixture, false, 80);
        replay_force(&replay, APP_PROTO_http2);
        pool = &fixture.thread->proto[APP_PROTO_http2].tx;
        pool->in_use += is_short ? many : 0;
        replay.flow->bytes[TO_SERVER] = STREAMS * 10;
        open_streams(&replay);
        if (is_short)
            CHECK(count_open(replay.flow->app) < STREAMS / 4);
        else
            CHECK(count_open(replay.flow->app) >= STREAMS);
        pool->in_use -= is_short ? many : 0;
        replay_end(&replay);
        replay_free(&replay);
        app_fixture_close(&fixture);
    }
}
