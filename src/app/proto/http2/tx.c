/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/tx.c - streams as transactions. A small hash finds them by their number, because
 * a connection may have thousands of open streams. */
#include "app/proto/http2/tx.h"

#include "app/parser.h"
#include "app/proto/http2/body.h"
#include "app/proto/http2/events.h"
#include "app/proto/http2/frame.h"
#include "app/proto/http2/state.h"
#include "base/containers/hash.h"
#include "base/memory/lib_memory.h"

/* Keyed, because the peers choose the numbers and could aim at one bucket. */
static uint32_t stream_hash(uint32_t stream)
{
    const struct hash_keys *keys = hash_keys();
    struct hash_sum sum = { 0 };

    hash_pair(&sum, keys, 0, stream, 0);
    return hash_finish(&sum, keys);
}

static struct h2_tx **slot(struct h2_state *st, uint32_t stream)
{
    uint32_t hash = stream_hash(stream);

    return st->many != NULL ? &st->many[hash & (st->hash_size - 1)]
                            : &st->few[hash % H2_HASH_SIZE];
}

/* Doubles the buckets. Without memory the chains stay as they are. */
static void grow(struct h2_state *st)
{
    uint32_t was = st->many != NULL ? st->hash_size : H2_HASH_SIZE;
    struct h2_tx **old = st->many != NULL ? st->many : st->few;
    struct h2_tx **more = lib_calloc(2 * (size_t)was, sizeof(struct h2_tx *));

    if (more == NULL)
        return;
    for (uint32_t i = 0; i < was; i++) {
        for (struct h2_tx *t = old[i], *next; t != NULL; t = next) {
            struct h2_tx **to = &more[stream_hash(t->stream) & (2 * was - 1)];

            next = t->hash_next;
            t->hash_next = *to;
            *to = t;
        }
    }
    lib_free(st->many);
    st->many = more;
    st->hash_size = 2 * was;
}

/* Grows at two streams per bucket. */
static void remember(struct h2_state *st, struct h2_tx *t)
{
    struct h2_tx **at;

    if (UNLIKELY(++st->hashed > 2 * MAX(st->hash_size, (uint32_t)H2_HASH_SIZE)))
        grow(st);
    at = slot(st, t->stream);
    t->hash_next = *at;
    *at = t;
}

struct h2_tx *h2_tx_find(struct app_flow *af, uint32_t stream)
{
    struct h2_tx *t = *slot(af->state, stream);

    while (t != NULL && t->stream != stream)
        t = t->hash_next;
    return t;
}

/* All transactions end, so that they are logged. */
static void disable_parser(struct app_flow *af)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next) {
        app_tx_event(tx, H2_TOO_MANY_STREAMS);
        tx->progress[TO_SERVER] = tx->progress[TO_CLIENT] = H2_COMPLETE;
    }
}

/* NULL: max-streams open transactions; the parser stops. */
static struct h2_tx *open_tx(struct app_flow *af, uint32_t stream)
{
    struct h2_state *st = af->state;
    struct app_tx *tx;
    struct h2_tx *t;

    if (af->tx_count >= h2_settings_of(af)->max_streams) {
        disable_parser(af);
        return NULL;
    }
    tx = app_tx_new(af);
    if (tx == NULL)
        return NULL;
    t = h2_tx_of(tx);
    t->stream = stream;
    tx->no_log |= stream != 0 && stream <= st->logged_to;
    st->newest = MAX(st->newest, stream);
    if (stream != 0)
        remember(st, t);
    return t;
}

/* Frames that may follow on a closed stream (RFC 9113 section 5.1). */
static bool may_follow(uint8_t type)
{
    return type == H2_RST_STREAM || type == H2_WINDOW_UPDATE || type == H2_PRIORITY;
}

/* Stream 0 always gets a new transaction: each frame there is one. */
struct h2_tx *h2_tx_for(struct app_flow *af, uint32_t stream, uint8_t type)
{
    struct h2_tx *t = stream != 0 ? h2_tx_find(af, stream) : NULL;

    if (t == NULL)
        return open_tx(af, stream);
    app_tx_mark(&t->tx);
    if (t->closed && !may_follow(type))
        app_tx_event(&t->tx, H2_STREAM_ID_REUSE);
    return t;
}

void h2_tx_global(struct h2_tx *t, enum direction d)
{
    t->tx.progress[d] = H2_COMPLETE;
    t->tx.unidirectional[OTHER_DIRECTION(d)] = true;
}

void h2_tx_finished(struct h2_tx *t, enum direction d)
{
    struct h2_dir *other = &t->ds[OTHER_DIRECTION(d)];

    t->ds[d].finished = true;
    t->tx.progress[d] = MAX(t->tx.progress[d], H2_CLOSED);
    /* A server that has sent a complete response does not wait for the rest of the request. */
    if (!other->finished && !(d == TO_CLIENT && t->ds[d].data_seen))
        return;
    t->closed = true;
    t->tx.progress[TO_SERVER] = t->tx.progress[TO_CLIENT] = H2_COMPLETE;
}

static void remove_from_hash(struct h2_state *st, const struct h2_tx *t)
{
    for (struct h2_tx **at = slot(st, t->stream); *at != NULL; at = &(*at)->hash_next) {
        if (*at != t)
            continue;
        *at = t->hash_next;
        st->hashed--;
        return;
    }
}

void http2_tx_close(struct app_tx *tx)
{
    struct h2_tx *t = h2_tx_of(tx);

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        h2_body_free(t, d);
    if (t->stream != 0)
        remove_from_hash(tx->flow->state, t);
}
