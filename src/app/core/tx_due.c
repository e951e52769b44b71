/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/tx_due.c - the lists of transactions that rules, logs and cleanup look at: those that
 * have changed, and those whose change only rules of the other direction have not seen. A packet
 * costs what has changed, not what is open. */
#include "app/core/session.h"

/* --- those that wait for a packet of one direction ------------------------------------------- */

static struct app_tx **later_of(const struct app_tx *tx)
{
    return &tx->flow->ext->later[tx->later == APP_TS ? TO_SERVER : TO_CLIENT];
}

/* With the next packet of direction d. */
void app_tx_defer(struct app_tx *tx, enum direction d)
{
    struct app_tx **list;

    tx->later = APP_DIRECTION_BIT(d);
    list = later_of(tx);
    tx->is_due = false;
    tx->later_prev = NULL;
    tx->due_next = *list;
    if (*list != NULL)
        (*list)->later_prev = tx;
    *list = tx;
}

void app_tx_undefer(struct app_tx *tx)
{
    if (tx->later == 0)
        return;
    *(tx->later_prev != NULL ? &tx->later_prev->due_next : later_of(tx)) = tx->due_next;
    if (tx->due_next != NULL)
        tx->due_next->later_prev = tx->later_prev;
    tx->later = 0;
}

/* --- those with news -------------------------------------------------------------------------- */

static void make_due(struct app_tx *tx)
{
    struct app_flow *af = tx->flow;

    app_tx_undefer(tx);
    tx->is_due = true;
    tx->due_next = NULL;
    if (af->due_last == NULL) {
        af->due = tx;
    } else {
        af->due_last->due_next = tx;
        af->due_unsorted |= af->due_last->id > tx->id;
    }
    af->due_last = tx;
}

void app_tx_mark(struct app_tx *tx)
{
    tx->unseen = APP_BOTH;
    if (!tx->is_due)
        make_due(tx);
}

void app_tx_mark_all(struct app_flow *af)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next) {
        tx->unseen = APP_BOTH;
        tx->is_due = true;
        tx->later = 0;
        tx->due_next = tx->next;
    }
    if (af->ext != NULL)
        af->ext->later[TO_SERVER] = af->ext->later[TO_CLIENT] = NULL;
    af->due = af->first;
    af->due_last = af->last;
    af->due_unsorted = false;
}

static struct app_tx *merge(struct app_tx *a, struct app_tx *b)
{
    struct app_tx *first = NULL, **end = &first;

    while (a != NULL && b != NULL) {
        struct app_tx **from = a->id < b->id ? &a : &b;

        *end = *from;
        end = &(*from)->due_next;
        *from = (*from)->due_next;
    }
    *end = a != NULL ? a : b;
    return first;
}

/* Peers choose the order in which transactions progress; logs list them by age. Merges runs of 1,
 * 2, 4 ..., like a binary counter, so at most 32 runs wait. */
static struct app_tx *sort(struct app_tx *list)
{
    struct app_tx *run[32] = { NULL }, *all = NULL;

    while (list != NULL) {
        struct app_tx *one = list;
        unsigned i = 0;

        list = list->due_next;
        one->due_next = NULL;
        for (; run[i] != NULL; i++) {
            one = merge(run[i], one);
            run[i] = NULL;
        }
        run[i] = one;
    }
    for (unsigned i = 0; i < ARRAY_LEN(run); i++)
        all = merge(run[i], all);
    return all;
}

static void sort_due(struct app_flow *af)
{
    af->due = sort(af->due);
    for (struct app_tx *tx = af->due; tx != NULL; tx = tx->due_next)
        af->due_last = tx;
    af->due_unsorted = false;
}

static uint8_t finished_bits(const struct app_flow *af)
{
    return (uint8_t)(af->end[0] | af->end[1] << 1 | af->disrupted[0] << 2 | af->disrupted[1] << 3);
}

void app_txs_due(struct app_session *s, const struct packet *p)
{
    struct app_flow *af = &s->flow;
    uint8_t finished = finished_bits(af);

    if (UNLIKELY(finished != af->finished || (p->flags & PACKET_FLOW_END))) {
        af->finished = finished;
        app_tx_mark_all(af);
        return;
    }
    if (UNLIKELY(af->due_unsorted))
        sort_due(af);
}

/* Not with each packet of this direction: many only acknowledge, and are no reason to look. */
void app_txs_of_direction(struct app_flow *af, enum direction d)
{
    if (LIKELY(af->ext == NULL || af->ext->later[d] == NULL))
        return;
    while (af->ext->later[d] != NULL)
        make_due(af->ext->later[d]);
    sort_due(af);
}
