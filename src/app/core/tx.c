/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/tx.c - the life of transactions: made by parsers, ended by limits, freed once both
 * directions are done, rules have seen all of it and the outputs have written it. All of that is
 * done by one thread, the one that inspects the flow. */
#include "app/core/files.h"
#include "app/core/session.h"
#include "app/core/settings.h"
#include "app/core/thread.h"

#include <string.h>

#define TX_ARENA_BLOCK 104              /* with the block's header a size class of allocators */
#define TX_ARENA_KEEP (4u << 10)        /* a larger arena goes back to the heap */
#define TX_ARENAS_LIMIT 2048             /* beyond this many in use, freed ones keep no blocks */
/* Transactions of a flow, open or not: an upper bound for any max-tx. */
#define TX_HARD_LIMIT 16384
#define TX_MEMORY_MAX (10u << 20)       /* arena bytes of a flow's open transactions */
#define TX_LAST_MAX (64u << 20)         /* of the last one alone: a message of a large limit */
#define TX_MEMORY_UNIT 64               /* bytes in which they are counted */
#define TX_LIMIT_CHECK_EVERY 16         /* counting open ones walks the list: not every time */
/* The transactions of one protocol may take this much, whichever flows and threads have them.
 * Beyond it, those of a flow may take so many times the flow's bytes, and less the more all take: a
 * quarter of it where they take four times as much. Ten bytes of HTTP/2 open a stream, and
 * thousands of connections may each have fewer than max-streams. Ordinary traffic pays with its
 * requests. */
#define TX_PLENTY (8u << 20)
#define TX_PAID_TIMES 16u
#define TX_PAID_FREE (8u << 10)         /* for flows of a few packets */
#define TX_ACCOUNT_EVERY (256u << 10)   /* bytes that a thread adds at a time, so that it seldom
                                         * writes what others read */

static const struct app_proto_conf *proto_conf(const struct app_flow *af)
{
    return &af->thread->conf->proto[af->proto->id];
}

static bool is_open_in(const struct app_tx *tx, const struct app_proto *proto, enum direction d)
{
    return tx->progress[d] < proto->progress_done[d] &&
           (!tx->unidirectional[d] || tx->awaits_other);
}

/* Open: a direction may still bring something. */
static bool is_open(const struct app_tx *tx, const struct app_proto *proto)
{
    return is_open_in(tx, proto, TO_SERVER) || is_open_in(tx, proto, TO_CLIENT);
}

/* Ends the transaction with the protocol's event, if it has one, so that rules can see the
 * limit. */
static void force_done(struct app_tx *tx, const struct app_proto *proto)
{
    tx->progress[TO_SERVER] = proto->progress_done[TO_SERVER];
    tx->progress[TO_CLIENT] = proto->progress_done[TO_CLIENT];
    app_tx_key_drop(tx);
    app_tx_mark(tx);
    if (proto->too_many_tx_event != 0)
        app_tx_event(tx, proto->too_many_tx_event);
}

/* This many transactions may be opened before a check can find too many. If many are done but not
 * yet freed, open ones are counted less often. */
static void skip_checks(struct app_flow *af, uint32_t more)
{
    uint32_t checks = MAX(more, af->tx_count / 64) / TX_LIMIT_CHECK_EVERY;

    af->checks_to_skip = (uint16_t)MIN(checks, UINT16_MAX);
}

/* Bytes of a transaction, with the first block of its arena. */
static size_t tx_bytes(const struct app_proto *proto)
{
    return proto->tx_size + TX_ARENA_BLOCK;
}

static uint64_t *bytes_of_all(const struct app_thread *at, enum app_proto_id id)
{
    struct app_conf *conf = (struct app_conf *)(uintptr_t)at->conf;

    return &conf->tx_bytes[id];
}

static COLD void account(struct app_thread *at, enum app_proto_id id, uint64_t now)
{
    uint64_t *accounted = &at->proto[id].tx_accounted;

    __atomic_add_fetch(bytes_of_all(at, id), now - *accounted, __ATOMIC_RELAXED);
    *accounted = now;
}

/* What the thread's transactions take beyond what all know of. After a change of
 * TX_ACCOUNT_EVERY all know of it. */
static int64_t unaccounted(const struct app_flow *af)
{
    struct app_thread *at = af->thread;
    enum app_proto_id id = app_pool_of(af->proto);
    const uint64_t now = at->proto[id].tx.in_use * tx_bytes(af->proto) +
                         at->proto[id].tx_arenas * TX_MEMORY_UNIT;
    const int64_t more = (int64_t)(now - at->proto[id].tx_accounted);

    if (LIKELY(more < (int64_t)TX_ACCOUNT_EVERY && -more < (int64_t)TX_ACCOUNT_EVERY))
        return more;
    account(at, id, now);
    return 0;
}

static int64_t taken_by_all(const struct app_flow *af)
{
    const int64_t more = unaccounted(af);

    return (int64_t)__atomic_load_n(bytes_of_all(af->thread, app_pool_of(af->proto)),
                                    __ATOMIC_RELAXED) + more;
}

static bool has_plenty(const struct app_flow *af)
{
    return LIKELY(taken_by_all(af) <= (int64_t)TX_PLENTY);
}

/* How many transactions the flow has paid for with its bytes. */
static COLD uint32_t paid_txs(const struct app_flow *af)
{
    const uint64_t bytes = af->flow->bytes[TO_SERVER] + af->flow->bytes[TO_CLIENT];
    const uint64_t all = (uint64_t)MAX(taken_by_all(af), (int64_t)TX_PLENTY) / TX_MEMORY_UNIT;
    const uint64_t txs = (TX_PAID_FREE + TX_PAID_TIMES * bytes) / tx_bytes(af->proto);

    return (uint32_t)(MIN(txs, (uint64_t)TX_HARD_LIMIT) * (TX_PLENTY / TX_MEMORY_UNIT) / all);
}

/* Where the open ones begin. A segment of tiny messages makes hundreds that are over and wait for
 * rules and logs. Walking them again with each check would cost the square of their number. */
static COLD struct app_tx *oldest_open(struct app_flow *af)
{
    struct app_ext *ext = app_ext_make(af);
    struct app_tx *tx = ext != NULL && ext->oldest_open != NULL ? ext->oldest_open : af->first;

    while (tx != af->last && !is_open(tx, af->proto))
        tx = tx->next;
    if (ext != NULL)
        ext->oldest_open = tx;
    return tx;
}

/* A peer that opens transactions and never ends them must not fill our memory: the oldest ones
 * are declared done, so that they are logged and freed. */
static void limit_open(struct app_flow *af)
{
    uint32_t limit = proto_conf(af)->tx_limit, open = 0, most;
    struct app_tx *first;

    if (UNLIKELY(!has_plenty(af)))
        limit = MIN(limit, paid_txs(af));
    most = limit;
    if (af->tx_count <= limit || af->next_tx_id % TX_LIMIT_CHECK_EVERY != 0)
        return;
    if (af->checks_to_skip > 0) {
        af->checks_to_skip--;
        return;
    }
    first = oldest_open(af);
    for (const struct app_tx *tx = first; tx != NULL; tx = tx->next)
        open += is_open(tx, af->proto);
    if (most < proto_conf(af)->tx_limit && open > most)
        most -= most / 2;       /* so that the next ones do not each count them again */
    for (struct app_tx *tx = first; tx != NULL && open > most; tx = tx->next) {
        if (!is_open(tx, af->proto))
            continue;
        force_done(tx, af->proto);
        open--;
    }
    skip_checks(af, limit - open);
}

/* --- their beginning and end ------------------------------------------------------------------ */

/* Off the list of all. */
static void tx_unlink(struct app_tx *tx)
{
    struct app_flow *af = tx->flow;

    app_tx_key_drop(tx);
    app_tx_undefer(tx);
    if (af->ext != NULL && af->ext->oldest_open == tx)
        af->ext->oldest_open = tx->next;
    if (tx->prev != NULL)
        tx->prev->next = tx->next;
    else
        af->first = tx->next;
    if (tx->next != NULL)
        tx->next->prev = tx->prev;
    else
        af->last = tx->prev;
    af->tx_count--;
    af->tx_memory -= tx->counted;
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

/* At the hard limit the oldest goes, if it is over and logged, and only rules on the other
 * direction, from which nothing comes, have not seen it. */
static COLD void evict(struct app_flow *af)
{
    struct app_tx *tx = af->first;

    if (tx->later == 0 || is_open(tx, af->proto))
        return;
    tx_unlink(tx);
    app_tx_free(tx);
}

/* NULL at the hard limit or without memory, counted as an alloc error. */
struct app_tx *app_tx_new(struct app_flow *af)
{
    struct app_thread *at = af->thread;
    struct app_tx *tx;

    limit_open(af);
    if (UNLIKELY(af->tx_count >= TX_HARD_LIMIT))
        evict(af);
    tx = af->tx_count < TX_HARD_LIMIT ? tx_fresh(af) : NULL;
    if (tx == NULL) {
        app_count(at->counters,
                  at->conf->counter[app_session_of(af)->transport][af->proto->id].alloc, 1);
        return NULL;
    }
    tx->flow = af;
    tx->id = af->next_tx_id++;
    tx->start_us = at->packet != NULL ? at->packet->time_us : 0;
    tx->prev = af->last;
    if (af->last != NULL)
        af->last->next = tx;
    else
        af->first = tx;
    af->last = tx;
    af->tx_count++;
    app_tx_mark(tx);
    if (UNLIKELY(app_session_of(af)->replaying))
        app_handover_tx(tx);
    return tx;
}

/* Nearly always the last. Ids grow along the list, so the walk stops early. */
struct app_tx *app_tx_find(struct app_flow *af, uint64_t id)
{
    if (af->last != NULL && af->last->id == id)
        return af->last;
    for (struct app_tx *tx = af->proto->marks_tx ? af->due : NULL; tx != NULL; tx = tx->due_next)
        if (tx->id == id)
            return tx;
    for (struct app_tx *tx = af->first; tx != NULL && tx->id <= id; tx = tx->next)
        if (tx->id == id)
            return tx;
    return NULL;
}

/* Hooks first: detection and outputs keep their own data per transaction. */
void app_tx_free(struct app_tx *tx)
{
    const struct app_flow *af = tx->flow;
    struct app_thread *at = af->thread;
    const struct app_proto *proto = af->proto;

    at->place.list = NULL;                  /* perhaps of this one */
    tx->is_due = true;                      /* what closes its files must not put it on the list */
    if (at->hooks.tx_released != NULL)
        at->hooks.tx_released(tx);
    if (proto->tx_close != NULL)
        proto->tx_close(tx);
    app_files_free(at, tx);
    at->proto[app_pool_of(proto)].tx_arenas -= tx->counted;
    if (tx->arena.used > TX_ARENA_KEEP ||
        at->proto[app_pool_of(proto)].tx.in_use > TX_ARENAS_LIMIT)
        arena_fini(&tx->arena);
    else
        arena_reset(&tx->arena);
    pool_put(&at->proto[app_pool_of(proto)].tx, tx);
    (void)unaccounted(af);
}

/* For a transaction that turned out to be none. Its id is used again when it was the last. */
void app_tx_discard(struct app_tx *tx)
{
    struct app_flow *af = tx->flow;
    struct app_tx *prev = NULL;

    for (struct app_tx *t = af->due; tx->is_due && t != tx; t = t->due_next)
        prev = t;
    if (tx->is_due && prev == NULL)
        af->due = tx->due_next;
    else if (tx->is_due)
        prev->due_next = tx->due_next;
    if (af->due_last == tx)
        af->due_last = prev;
    if (af->next_tx_id == tx->id + 1)
        af->next_tx_id--;
    tx_unlink(tx);
    app_tx_free(tx);
}

/* --- events ----------------------------------------------------------------------------------- */

void app_tx_event(struct app_tx *tx, unsigned event)
{
    app_tx_mark(tx);
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

/* The transaction that requested another protocol is kept: the new parser's open() may read it. */
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
        in_use -= (size_t)tx->counted * TX_MEMORY_UNIT;
        if (is_open(tx, af->proto))
            force_done(tx, af->proto);
    }
    if (in_use > TX_LAST_MAX)
        app_stop(af, APP_STOP_PARSER);
}

/* No reader has anything to do with it before its parser has: rules have seen all of it in both
 * directions, its files are reported. One that is over stays, because it is to be freed. */
static bool can_wait(const struct app_thread *at, const struct app_tx *tx)
{
    const struct app_proto *proto = tx->flow->proto;

    return proto->marks_tx && tx->unseen == 0 &&
           !(app_tx_done(tx, TO_SERVER, proto) && app_tx_done(tx, TO_CLIENT, proto)) &&
           app_files_idle(tx, required_get(&at->conf->required_files));
}

/* Only rules of the other direction have anything to do with it, also when it is over: who sends
 * datagrams in one direction decides how many these are. */
static bool can_wait_for_other(const struct app_thread *at, const struct app_tx *tx,
                               enum direction d)
{
    return tx->flow->proto->marks_tx && tx->unseen == APP_DIRECTION_BIT(OTHER_DIRECTION(d)) &&
           app_files_idle(tx, required_get(&at->conf->required_files));
}

static void count_memory(struct app_flow *af, struct app_tx *tx)
{
    uint32_t used = (uint32_t)(tx->arena.used / TX_MEMORY_UNIT);

    af->tx_memory += used - tx->counted;
    af->thread->proto[app_pool_of(af->proto)].tx_arenas += used - tx->counted;
    tx->counted = used;
}

/* The lists of a flow with few transactions are not worth their memory. */
#define DUE_FEW 16

/* So many transactions that are over may wait for a packet of the other side. A segment of tiny
 * messages from a side that is never answered would cost hundreds of times its bytes until the flow
 * ends. */
#define LATER_MAX 256

/* What goes when more wait, or when they hold much memory: it is logged, and only rules on the
 * other direction, from which nothing comes, have not seen it. */
static bool must_go(const struct app_thread *at, const struct app_tx *tx, enum direction d)
{
    const struct app_proto *proto = tx->flow->proto;
    uint32_t most = has_plenty(tx->flow) ? LATER_MAX : MIN(LATER_MAX, paid_txs(tx->flow));

    if (LIKELY(tx->flow->tx_count <= most &&
               tx->flow->tx_memory <= TX_MEMORY_MAX / TX_MEMORY_UNIT))
        return false;
    return app_tx_done(tx, TO_SERVER, proto) && app_tx_done(tx, TO_CLIENT, proto) &&
           can_wait_for_other(at, tx, d);
}

/* Off the list of those with news until the parser changes it, or a packet of the other direction
 * comes. False: it stays. */
static bool rest(const struct app_thread *at, struct app_tx *tx, enum direction d)
{
    if (can_wait(at, tx)) {
        tx->is_due = false;
        return true;
    }
    if (LIKELY(tx->flow->tx_count <= DUE_FEW) || !can_wait_for_other(at, tx, d) ||
        app_ext_make(tx->flow) == NULL)
        return false;
    app_tx_defer(tx, OTHER_DIRECTION(d));
    return true;
}

/* One walk over those with news: frees what is done, and lets files drop what no reader needs. */
void app_txs_cleanup(struct app_thread *at, struct app_flow *af, const struct inspection *in)
{
    struct app_tx **link = &af->due, *tx, *next;

    af->due_last = NULL;
    while ((tx = *link) != NULL) {
        if ((can_go(at, tx, in) || must_go(at, tx, in->direction)) && !is_awaited(af, tx)) {
            *link = tx->due_next;
            tx_unlink(tx);
            app_tx_free(tx);
            continue;
        }
        app_files_prune(tx, TO_SERVER, in->direction == TO_SERVER);
        app_files_prune(tx, TO_CLIENT, in->direction == TO_CLIENT);
        count_memory(af, tx);
        next = tx->due_next;
        if (rest(at, tx, in->direction)) {
            *link = next;
            continue;
        }
        af->due_last = tx;
        link = &tx->due_next;
    }
    if (UNLIKELY(af->tx_memory > TX_MEMORY_MAX / TX_MEMORY_UNIT))
        limit_memory(af, (size_t)af->tx_memory * TX_MEMORY_UNIT);
}
