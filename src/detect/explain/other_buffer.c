/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/other_buffer.c - which other buffer of the same transaction has what a step did
 * not find. Of several the most exact: the one with the fewest other bytes. */
#include "detect/explain/notes.h"

#include "flow/flow.h"
#include "match/spm_literal.h"

#include <string.h>

#define INSTANCES_MOST 64u

struct best {
    const struct search *search;
    struct found_in *out;
    bool any;
};

static void offer(struct best *best, const char *name, enum direction d, struct slice data)
{
    struct found_in f = { .name = name, .direction = d, .len = data.len };

    if (data.len == 0 || !best->search->find(best->search->arg, data, &f.at, &f.other_case))
        return;
    if (best->any && (f.other_case > best->out->other_case ||
                      (f.other_case == best->out->other_case && f.len >= best->out->len)))
        return;
    *best->out = f;
    best->any = true;
}

/* That in which the step has looked already. */
static bool is_own(const struct subject *s, const struct trace *t, const struct app_buffer *b,
                   enum direction d)
{
    const struct buffer *own = t->list->buffer;

    return own != NULL && own->kind == BUFFER_TX && own->transform_count == 0 &&
           own->by_proto[s->tx->flow->proto->id] == b && d == s->direction;
}

static void offer_instances(struct best *best, const struct subject *s, const struct trace *t,
                            const struct app_buffer *b, enum direction d)
{
    struct slice data;

    if (!(b->directions & APP_DIRECTION_BIT(d)) || s->tx->progress[d] < b->progress[d] ||
        is_own(s, t, b, d))
        return;
    for (unsigned i = 0; i < (b->multi ? INSTANCES_MOST : 1) &&
                         app_buffer_get(b, s->tx, d, i, &data); i++)
        offer(best, b->name, d, data);
}

/* The payload of a stream's packet may have bytes of another transaction. */
static bool payload_is_its_own(const struct subject *s)
{
    const struct flow *f = s->packet->flow;

    return s->tx == NULL || s->packet->ip_proto != 6 ||
           (f != NULL && f->app != NULL && f->app->next_tx_id <= 1);
}

bool other_buffer_find(const struct subject *s, const struct trace *t, const struct search *search,
                       struct found_in *out)
{
    const struct app_proto *proto = s->tx != NULL ? s->tx->flow->proto : NULL;
    struct best best = { search, out, false };

    for (const struct app_buffer *const *b = proto != NULL ? proto->buffers : NULL;
         b != NULL && *b != NULL; b++)
        for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
            offer_instances(&best, s, t, *b, d);
    if (!best.any && t->list->buffer != NULL && payload_is_its_own(s))
        offer(&best, "the payload", s->direction,
              (struct slice){ s->packet->payload, s->packet->payload_len });
    return best.any;
}

static bool find_literal(const void *arg, struct slice data, uint32_t *at, bool *other_case)
{
    const struct slice *literal = arg;
    const uint8_t *found = data.len < literal->len
                               ? NULL : memmem(data.data, data.len, literal->data, literal->len);

    *other_case = found == NULL;
    if (found != NULL) {
        *at = (uint32_t)(found - data.data);
        return true;
    }
    for (uint32_t i = 0; i + literal->len <= data.len; i++) {
        uint32_t k = 0;

        while (k < literal->len &&
               ascii_lower(data.data[i + k]) == ascii_lower(literal->data[k]))
            k++;
        if (k == literal->len) {
            *at = i;
            return true;
        }
    }
    return false;
}

void describe_other_buffer(const struct subject *s, const struct trace *t, struct slice literal,
                           struct buf *out)
{
    const struct search search = { find_literal, &literal };
    struct found_in f;

    if (!other_buffer_find(s, t, &search, &f))
        return;
    buf_printf(out, "; %s has it at %u", f.name, f.at);
    if (f.other_case)
        buf_add_string(out, " in another case");
    if (f.direction != s->direction)
        buf_printf(out, ", to the %s", f.direction == TO_SERVER ? "server" : "client");
}
