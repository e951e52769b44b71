/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/tx.c - the life of transactions: made by parsers, ended by limits, freed once both
 * directions are done, rules have seen all of it and the outputs have written it. All of that is
 * done by one thread, the one that inspects the flow. */
#include "app/core/private.h"

#include <string.h>

#define TX_ARENA_BLOCK 104              /* with the block's header a size class of allocators */
#define TX_ARENA_KEEP (64u << 10)       /* a larger arena goes back to the allocator */
#define TX_ARENAS_LIMIT 2048             /* beyond this many in use, freed ones keep no blocks */
/* Of a flow, open or not: the last bound, whatever max-tx says. */
#define TX_HARD_LIMIT 65536
#define TX_MEMORY_MAX (64u << 20)       /* arena bytes of a flow's transactions */
#define TX_LIMIT_CHECK_EVERY 16         /* counting open ones walks the list: not every time */

static const struct app_proto_conf *proto_conf(const struct app_flow *af)
{
    return &af->thread->conf->proto[af->proto->id];
}

/* Open: a direction may still bring something. */
static bool is_open(const struct app_tx *tx, const struct app_proto *proto)
{
    return tx->progress[TO_SERVER] < proto->progress_done[TO_SERVER] ||
           tx->progress[TO_CLIENT] < proto->progress_done[TO_CLIENT];
}

/* The protocol's event, if it has one, tells rules that the limit ended it. */
static void force_done(struct app_tx *tx, const struct app_proto *proto)
{
    tx->progress[TO_SERVER] = proto->progress_done[TO_SERVER];
    tx->progress[TO_CLIENT] = proto->progress_done[TO_CLIENT];
    if (proto->too_many_tx_event != 0)
        app_tx_event(tx, proto->too_many_tx_event);
}

/* A peer that opens transactions and never ends them must not fill our memory: the oldest ones are
 * set to done, so that rules, logs and cleanup finish with them. */
static void limit_open(struct app_flow *af)
{
    uint32_t limit = proto_conf(af)->tx_limit, open = 0;

    if (af->tx_count <= limit || af->next_tx_id % TX_LIMIT_CHECK_EVERY != 0)
        return;
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        open += is_open(tx, af->proto);
    for (struct app_tx *tx = af->first; tx != NULL && open > limit; tx = tx->next) {
        if (!is_open(tx, af->proto))
            continue;
        force_done(tx, af->proto);
        open--;
    }
}

/* Pools keep a transaction's arena with its first block, so a short one allocates nothing. */
static struct app_tx *tx_fresh(struct app_flow *af)
{
    struct app_tx *tx = pool_get(&af->thread->proto[app_pool_of(af->proto)].tx);
    struct arena arena;

    if (tx == NULL)
        return NULL;
    arena = tx->arena;
    memset(tx, 0, af->proto->tx_size);
    tx->arena = arena;
    if (arena.block_size == 0)
        arena_init(&tx->arena, TX_ARENA_BLOCK, 0);
    return tx;
}

/* NULL at the hard limit or without memory, counted as an alloc error. */
struct app_tx *app_tx_new(struct app_flow *af)
{
    struct app_thread *at = af->thread;
    struct app_tx *tx;

    limit_open(af);
    tx = af->tx_count < TX_HARD_LIMIT ? tx_fresh(af) : NULL;
    if (tx == NULL) {
        app_count(at->counters,
                  at->conf->counter[app_session_of(af)->transport][af->proto->id].alloc, 1);
        return NULL;
    }
    tx->flow = af;
    tx->id = af->next_tx_id++;
    tx->start_us = at->packet != NULL ? at->packet->time_us : 0;
    if (af->last != NULL)
        af->last->next = tx;
    else
        af->first = tx;
    af->last = tx;
    af->tx_count++;
    return tx;
}

/* Nearly always the last. Ids grow along the list, so the walk stops early. */
struct app_tx *app_tx_find(struct app_flow *af, uint64_t id)
{
    if (af->last != NULL && af->last->id == id)
        return af->last;
    for (struct app_tx *tx = af->first; tx != NULL && tx->id <= id; tx = tx->next)
        if (tx->id == id)
            return tx;
    return NULL;
}

/* Takes it off the list; prev NULL: it is the first. The caller knows prev from its
 * walk, as the list is singly linked. */
static void tx_unlink(struct app_tx *prev, struct app_tx *tx)
{
    struct app_flow *af = tx->flow;

    if (prev != NULL)
        prev->next = tx->next;
    else
        af->first = tx->next;
    if (af->last == tx)
        af->last = prev;
    af->tx_count--;
}

/* Hooks first: detection and outputs keep their own data per transaction. */
void app_tx_free(struct app_tx *tx)
{
    struct app_thread *at = tx->flow->thread;
    const struct app_proto *proto = tx->flow->proto;

    if (at->hooks.tx_released != NULL)
        at->hooks.tx_released(tx);
    if (proto->tx_close != NULL)
        proto->tx_close(tx);
    app_files_free(at, tx);
    if (tx->arena.used > TX_ARENA_KEEP ||
        at->proto[app_pool_of(proto)].tx.in_use > TX_ARENAS_LIMIT)
        arena_fini(&tx->arena);
    else
        arena_reset(&tx->arena);
    pool_put(&at->proto[app_pool_of(proto)].tx, tx);
}

/* For a transaction that turned out to be none. Its id is used again when it was the last. */
void app_tx_discard(struct app_tx *tx)
{
    struct app_tx *prev = NULL;

    for (struct app_tx *t = tx->flow->first; t != tx; t = t->next)
        prev = t;
    if (tx->flow->next_tx_id == tx->id + 1)
        tx->flow->next_tx_id--;
    tx_unlink(prev, tx);
    app_tx_free(tx);
}

/* Beyond APP_TX_EVENTS_MAX events are dropped: hostile input can raise one per message. */
void app_tx_event(struct app_tx *tx, unsigned event)
{
    if (tx->event_count < APP_TX_EVENTS_FIRST) {
        tx->event[tx->event_count++] = (uint8_t)event;
        return;
    }
    if (tx->more_events == NULL)
        tx->more_events = arena_alloc(&tx->arena, APP_TX_EVENTS_MAX - APP_TX_EVENTS_FIRST);
    if (tx->more_events != NULL && tx->event_count < APP_TX_EVENTS_MAX)
        tx->more_events[tx->event_count++ - APP_TX_EVENTS_FIRST] = (uint8_t)event;
}

/* For the newest transaction; without one, for a new one that is done at once, so that rules on the
 * event still see it. */
void app_event(struct app_flow *af, enum direction direction, unsigned event)
{
    struct app_tx *tx = af->last;

    if (tx == NULL) {
        tx = app_tx_new(af);
        if (tx == NULL)
            return;
        tx->progress[direction] = af->proto->progress_done[direction];
        tx->unidirectional[OTHER_DIRECTION(direction)] = true;
    }
    app_tx_event(tx, event);
}

/* --- cleanup ---------------------------------------------------------------------------------- */

/* True when no rule has anything left to look at. */
static bool is_inspected(const struct app_thread *at, const struct app_tx *tx)
{
    return at->hooks.tx_inspected == NULL ||
           (tx->no_inspect[TO_SERVER] && tx->no_inspect[TO_CLIENT]) ||
           at->hooks.tx_inspected(tx);
}

/* Files go first: app_files_done() also notes which of them this packet reports. */
static bool can_go(const struct app_thread *at, struct app_tx *tx, const struct inspection *in)
{
    const struct app_proto *proto = tx->flow->proto;

    return app_files_done(tx, in, required_get(&at->conf->required_files)) &&
           app_tx_done(tx, TO_SERVER, proto) && app_tx_done(tx, TO_CLIENT, proto) &&
           is_inspected(at, tx);
}

/* The transaction that asked for another protocol is kept: the new parser's open() may read it. */
static bool is_awaited(const struct app_flow *af, const struct app_tx *tx)
{
    const struct app_session *s = CONTAINER_OF(af, const struct app_session, flow);

    return (s->changing || s->replace) && tx == af->last;
}

/* A few transactions may hold much memory, too. The last one may be in use by the parser; when that
 * alone is too much, the parser stops. */
static void COLD limit_memory(struct app_flow *af, size_t in_use)
{
    for (struct app_tx *tx = af->first; tx != af->last && in_use > TX_MEMORY_MAX; tx = tx->next) {
        in_use -= tx->arena.used;
        if (is_open(tx, af->proto))
            force_done(tx, af->proto);
    }
    if (in_use > TX_MEMORY_MAX)
        app_stop(af, APP_STOP_PARSER);
}

/* One walk: frees what is done, and lets files drop what no reader needs. */
static void cleanup_txs(struct app_thread *at, struct app_flow *af, const struct inspection *in)
{
    struct app_tx *prev = NULL, *next;
    size_t in_use = 0;

    for (struct app_tx *tx = af->first; tx != NULL; tx = next) {
        next = tx->next;
        if (can_go(at, tx, in) && !is_awaited(af, tx)) {
            tx_unlink(prev, tx);
            app_tx_free(tx);
            continue;
        }
        app_files_prune(tx, TO_SERVER, in->direction == TO_SERVER);
        app_files_prune(tx, TO_CLIENT, in->direction == TO_CLIENT);
        in_use += tx->arena.used;
        prev = tx;
    }
    if (UNLIKELY(in_use > TX_MEMORY_MAX))
        limit_memory(af, in_use);
}

/* Both sides have ended and nothing is left to inspect or log. The flow may stay in the table for a
 * long time until its timeout; its parser need not. */
static bool is_over(const struct app_flow *af)
{
    const struct app_session *s = CONTAINER_OF(af, const struct app_session, flow);

    return s->ds[TO_SERVER].eof_sent && s->ds[TO_CLIENT].eof_sent && af->proto != NULL &&
           af->first == NULL && af->proto->finish == NULL && !s->changing && !s->replace &&
           frame_count(frames_of(s, TO_SERVER)) == 0 &&
           frame_count(frames_of(s, TO_CLIENT)) == 0;
}

/* After rules and outputs have had the packet, on the same thread. */
void app_cleanup(struct app_thread *at, const struct inspection *in)
{
    struct app_flow *af = in->flow != NULL ? in->flow->app : NULL;

    if (af == NULL)
        return;
    app_session_of(af)->events = 0;
    if (af->first != NULL)
        cleanup_txs(at, af, in);
    if (af->first != NULL && af->proto->rest != NULL)
        af->proto->rest(af);
    app_frames_prune(app_session_of(af), in);
    if (UNLIKELY(is_over(af)))
        app_session_over(app_session_of(af));
}
