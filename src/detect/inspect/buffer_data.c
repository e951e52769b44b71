/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/buffer_data.c - the bytes of a buffer. Transformed bytes are kept until the next
 * packet, because the prefilter and each candidate need the same. */
#include "detect/inspect/part_cost.h"

static bool packet_get(const struct detect_thread *dt, const struct buffer *b,
                       const struct buffer_source *from, struct slice *out)
{
    if (b->get_packet_nth != NULL)
        return b->get_packet_nth(from->packet, from->index, out);
    if (from->index != 0)
        return false;
    if (UNLIKELY(b->registered != NULL))
        return b->registered->get_registered(b->registered, from->packet, out);
    return b->get_packet(from->packet, dt->inspection->direction, out);
}

/* The bytes before any transform. */
static bool base_get(const struct detect_thread *dt, const struct buffer *b,
                     const struct buffer_source *from, struct slice *out)
{
    const struct app_buffer *app;

    if (b->kind == BUFFER_PACKET)
        return packet_get(dt, b, from, out);
    if (b->kind != BUFFER_TX || from->tx == NULL)
        return false;
    app = b->by_proto[from->tx->flow->proto->id];
    if (app == NULL || !(app->directions & APP_DIRECTION_BIT(from->direction)) ||
        (from->index > 0 && !app->multi))
        return false;
    return app_buffer_get(app, from->tx, from->direction, from->index, out);
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
        else if (b->transform[i].ops->apply_within != NULL)
            dt->program.limits |= b->transform[i].ops->apply_within(in, b->transform[i].arg, to)
                                      ? 0 : PROGRAM_PCRE_LIMIT;
        else
            b->transform[i].ops->apply(in, b->transform[i].arg, to);
        in = buf_slice(to);
    }
    return in;
}

/* Whether the place of the bytes is kept for the packet. To find a header among others costs more
 * than that; of a growing buffer each one asks for its own window. */
static bool is_kept(const struct buffer *b)
{
    return b->transform_count > 0 || (b->kind == BUFFER_TX && !b->multi && !b->grows);
}

/* The slot belongs to the buffer, not to the rule: the prefilter and all candidates use
 * the same result. epoch makes the results of an earlier packet invalid without clearing
 * them. */
bool inspect_buffer(struct detect_thread *dt, const struct buffer *b,
                    const struct buffer_source *from, struct slice *out)
{
    struct buffer_slot *slot = &dt->slot[b->id];

    if (UNLIKELY(dt->laps.on)) {
        part_lap(dt, COST_KEYWORD, NULL);
        buffer_begin(dt, b);
    }
    if (!is_kept(b))
        return base_get(dt, b, from, out);
    if (slot->epoch != dt->epoch || slot->tx != from->tx || slot->index != from->index ||
        slot->direction != from->direction) {
        slot->epoch = dt->epoch;
        slot->tx = from->tx;
        slot->index = from->index;
        slot->direction = (uint8_t)from->direction;
        slot->there = base_get(dt, b, from, &slot->data);
        if (slot->there && b->transform_count > 0)
            slot->data = inspect_transform(dt, b, slot->data, &slot->transformed);
    }
    *out = slot->data;
    return slot->there;
}

/* is_payload: only then `replace` has a packet to change. */
bool inspect_part(struct detect_thread *dt, const struct rule_program *program,
                  const struct buffer_part *part, const struct match_input *in)
{
    struct program_run run = {
        .data = part->data.data,
        .len = part->data.len,
        .start = part->start,
        .complete = part->complete,
        .little = in->little,
        .is_payload = in->packet != NULL && part->data.data == in->packet->payload,
        .vars = dt->vars,
        .scratch = &dt->program,
        .input = in,
    };

    return program_match(program, &run);
}
