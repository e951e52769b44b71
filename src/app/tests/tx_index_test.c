/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Transactions by key, and those that wait for a packet of the other direction. */
#include "app/core/session.h"
#include "app/tests/replay.h"
#include "base/memory/lib_memory.h"
#include "base/test.h"

#include <string.h>

#define MANY 500

struct flow_of_many {
    struct app_session session;
    struct app_tx tx[MANY];
};

static struct app_flow *open_many(struct flow_of_many *all)
{
    struct app_flow *af = &all->session.flow;

    *all = (struct flow_of_many){ 0 };
    for (unsigned i = 0; i < MANY; i++) {
        struct app_tx *tx = &all->tx[i];

        tx->flow = af;
        tx->id = i;
        tx->prev = af->last;
        *(af->last != NULL ? &af->last->next : &af->first) = tx;
        af->last = tx;
        af->tx_count++;
    }
    return af;
}

static void close_many(struct app_flow *af)
{
    app_tx_index_free(af);
    lib_free(af->ext);
}

TEST(app_txs_are_found_by_key_the_oldest_first)
{
    static struct flow_of_many all;
    struct app_flow *af = open_many(&all);

    for (unsigned i = 0; i < MANY; i++)
        app_tx_key(&all.tx[i], i % 100);
    for (unsigned round = 0; round < MANY / 100; round++) {
        for (unsigned key = 0; key < 100; key++) {
            struct app_tx *tx = app_tx_by_key(af, key);

            CHECK(tx == &all.tx[round * 100 + key] && tx->is_due);
            CHECK(round == 4 ? app_tx_next_by_key(tx) == NULL
                             : app_tx_next_by_key(tx) == tx + 100);
            app_tx_key_drop(tx);
        }
    }
    CHECK(af->ext != NULL && af->ext->index != NULL && app_tx_by_key(af, 7) == NULL);
    app_tx_key(&all.tx[3], 1000);
    app_tx_key(&all.tx[3], 1001);           /* another key replaces the first */
    CHECK(app_tx_by_key(af, 1000) == NULL && app_tx_by_key(af, 1001) == &all.tx[3]);
    close_many(af);
}

TEST(app_txs_of_a_small_flow_need_no_index)
{
    static struct flow_of_many all;
    struct app_flow *af = open_many(&all);

    af->tx_count = 5;
    app_tx_key(&all.tx[2], 9);
    app_tx_key(&all.tx[4], 9);
    CHECK(app_tx_by_key(af, 9) == &all.tx[2] && app_tx_next_by_key(&all.tx[2]) == &all.tx[4]);
    CHECK(af->ext == NULL);
    close_many(af);
}

/* A search of LDAP (RFC 4511 section 4.5.1), with the message id. */
static size_t search(uint8_t *out, unsigned id)
{
    static const uint8_t text[] = "\x30\x22\x02\x02\0\0\x63\x1c\x04\x04" "dc=a\x0a\1\2\x0a\1\0\2\1\0\2"
                                  "\1\0\1\1\0\x87\0\x30\0";

    memcpy(out, text, sizeof(text) - 1);
    out[1] = (uint8_t)(sizeof(text) - 3);
    out[7] = (uint8_t)(sizeof(text) - 9);
    out[4] = (uint8_t)(id >> 8);
    out[5] = (uint8_t)id;
    return sizeof(text) - 1;
}

/* Rules have looked at this direction. */
static void seen(struct app_flow *af, enum direction d)
{
    for (struct app_tx *tx = af->due; tx != NULL; tx = tx->due_next)
        tx->unseen &= (uint8_t)~APP_DIRECTION_BIT(d);
}

static unsigned due_count(const struct app_flow *af)
{
    unsigned n = 0;

    for (const struct app_tx *tx = af->due; tx != NULL; tx = tx->due_next)
        n++;
    return n;
}

/* Datagrams in one direction must not make each further one visit all before. */
TEST(app_txs_wait_for_a_packet_of_the_other_direction)
{
    struct app_fixture fixture;
    struct replay replay;
    struct app_flow *af = NULL;
    uint8_t message[64];

    CHECK_INT(app_fixture_open(&fixture, NULL, NULL), 0);
    replay_begin(&replay, &fixture, true, 389);
    replay_force(&replay, APP_PROTO_ldap);
    for (unsigned i = 1; i <= 60; i++) {
        struct inspection in = { .flow = replay.flow, .direction = TO_SERVER };

        replay_data(&replay, TO_SERVER, message, search(message, i));
        af = replay.flow->app;
        seen(af, TO_SERVER);
        app_cleanup(af->thread, &in);
        CHECK(due_count(af) <= 16);
    }
    CHECK_INT(af->tx_count, 60);
    CHECK(af->ext != NULL && af->ext->later[TO_CLIENT] != NULL);
    app_txs_of_direction(af, TO_CLIENT);
    CHECK(due_count(af) == 60 && af->ext->later[TO_CLIENT] == NULL);
    CHECK(af->due == af->first && af->due_last == af->last);
    replay_end(&replay);
    replay_free(&replay);
    app_fixture_close(&fixture);
}
