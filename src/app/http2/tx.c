/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/http2/tx.c - streams as transactions: found by their number through a small hash, since a
 * connection may have thousands of them open. */
#include "app/http2/http2.h"

static struct h2_tx **slot(struct h2_state *st, uint32_t stream)
{
    return &st->hash[(stream >> 1 ^ stream >> 7) % H2_HASH_SIZE];
}

struct h2_tx *h2_tx_find(struct app_flow *af, uint32_t stream)
{
    struct h2_tx *t = *slot(af->state, stream);

    while (t != NULL && t->stream != stream)
        t = t->hash_next;
    return t;
}

static void give_up(struct app_flow *af)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next) {
        app_tx_event(tx, H2_TOO_MANY_STREAMS);
        tx->progress[TO_SERVER] = tx->progress[TO_CLIENT] = H2_COMPLETE;
    }
}

static struct h2_tx *open_tx(struct app_flow *af, uint32_t stream)
{
    struct h2_state *st = af->state;
    struct app_tx *tx;
    struct h2_tx *t;

    if (af->tx_count >= h2_settings_of(af)->max_streams) {
        give_up(af);
        return NULL;
    }
    tx = app_tx_new(af);
    if (tx == NULL)
        return NULL;
    t = h2_tx_of(tx);
    t->stream = stream;
    if (stream != 0) {
        t->hash_next = *slot(st, stream);
        *slot(st, stream) = t;
    }
    return t;
}

/* What may still come for a stream that is closed (RFC 9113, 5.1). */
static bool may_follow(uint8_t type)
{
    return type == H2_RST_STREAM || type == H2_WINDOW_UPDATE || type == H2_PRIORITY;
}

struct h2_tx *h2_tx_for(struct app_flow *af, uint32_t stream, uint8_t type)
{
    struct h2_tx *t = stream != 0 ? h2_tx_find(af, stream) : NULL;

    if (t == NULL)
        return open_tx(af, stream);
    if (t->closed && !may_follow(type))
        app_tx_event(&t->tx, H2_STREAM_ID_REUSE);
    return t;
}

void h2_tx_global(struct h2_tx *t, enum direction d)
{
    t->tx.progress[d] = H2_COMPLETE;
    t->tx.one_sided[OTHER_DIRECTION(d)] = true;
}

void h2_tx_ended(struct h2_tx *t, enum direction d)
{
    struct h2_side *other = &t->side[OTHER_DIRECTION(d)];

    t->side[d].ended = true;
    t->tx.progress[d] = MAX(t->tx.progress[d], H2_BODY);
    /* A server that has sent all of an answer is not interested in the rest of the request. */
    if (!other->ended && !(d == TO_CLIENT && t->side[d].data_seen))
        return;
    t->closed = true;
    t->tx.progress[TO_SERVER] = t->tx.progress[TO_CLIENT] = H2_COMPLETE;
}

static void forget(struct h2_state *st, const struct h2_tx *t)
{
    for (struct h2_tx **at = slot(st, t->stream); *at != NULL; at = &(*at)->hash_next) {
        if (*at != t)
            continue;
        *at = t->hash_next;
        return;
    }
}

void h2_tx_close(struct app_tx *tx)
{
    struct h2_tx *t = h2_tx_of(tx);

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        h2_body_free(t, d);
    if (t->stream != 0)
        forget(tx->flow->state, t);
}
