/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the bytes of a buffer come from. Transformed ones are kept for the packet, because the
 * prefilter and each candidate ask for the same. */
#include "detect/inspect/inspect_private.h"

static bool base_get(const struct buffer *b, struct packet *p, struct app_tx *tx,
                     enum direction d, unsigned index, struct slice *out)
{
    const struct app_buffer *app;

    if (b->kind == BUFFER_PACKET)
        return index == 0 && b->get_packet(p, out);
    if (b->kind != BUFFER_TX || tx == NULL)
        return false;
    app = b->by_proto[tx->flow->proto->id];
    if (app == NULL || !(app->directions & APP_DIRECTION_BIT(d)) || (index > 0 && !app->multi))
        return false;
    return app_buffer_get(app, tx, d, index, out);
}

/* The chain, from one buffer to the other and back; the last step writes into *out. */
struct slice inspect_transform(struct detect_thread *dt, const struct buffer *b, struct slice in,
                               struct buf *out)
{
    struct buf *to, *other;

    for (unsigned i = 0; i < b->transform_count; i++) {
        bool last_writes_out = (b->transform_count - i) % 2 == 1;

        to = last_writes_out ? out : &dt->spare;
        other = last_writes_out ? &dt->spare : out;
        (void)other;
        buf_clear(to);
        if (UNLIKELY(b->transform[i].ops->apply_with != NULL))
            b->transform[i].ops->apply_with(dt, in, b->transform[i].arg, to);
        else
            b->transform[i].ops->apply(in, b->transform[i].arg, to);
        in = buf_slice(to);
    }
    return in;
}

bool inspect_buffer(struct detect_thread *dt, const struct buffer *b, struct packet *p,
                    struct app_tx *tx, enum direction d, unsigned index, struct slice *out)
{
    struct buffer_slot *slot = &dt->slot[b->id];
    struct slice base;

    if (b->transform_count == 0)
        return base_get(b, p, tx, d, index, out);
    if (slot->epoch != dt->epoch || slot->tx != tx || slot->index != index ||
        slot->direction != d) {
        slot->epoch = dt->epoch;
        slot->tx = tx;
        slot->index = index;
        slot->direction = (uint8_t)d;
        slot->there = base_get(b, p, tx, d, index, &base);
        if (slot->there)
            (void)inspect_transform(dt, b, base, &slot->data);
    }
    *out = buf_slice(&slot->data);
    return slot->there;
}

bool inspect_slice(struct detect_thread *dt, const struct rule_program *program, struct slice data,
                   uint64_t start, bool complete, const struct match_input *in)
{
    struct program_run run = {
        .data = data.data,
        .len = data.len,
        .start = start,
        .complete = complete,
        .little = in->little,
        .is_payload = in->packet != NULL && data.data == in->packet->payload,
        .vars = dt->vars,
        .scratch = &dt->program,
        .input = in,
    };

    return program_match(program, &run);
}
