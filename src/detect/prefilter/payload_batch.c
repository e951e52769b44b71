/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/prefilter/payload_batch.c - several payloads as two texts: one of their fronts, one of
 * those that are searched as a whole. */
#include "detect/prefilter/payload_batch.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define HITS_MAX 1024           /* of a batch; ordinary traffic has one or two a payload */
#define NO_HIT UINT16_MAX

/* Payloads in a row, with a byte between them. Text i is of payload owner[i]. */
struct batch_text {
    unsigned count;
    uint32_t len;
    uint32_t start[BATCH_PAYLOADS], end[BATCH_PAYLOADS];
    uint8_t owner[BATCH_PAYLOADS];
    uint8_t bytes[BATCH_BYTES + BATCH_PAYLOADS];
};

struct batch_hit {
    uint32_t pattern;
    uint16_t next;              /* hit of the same payload */
    uint8_t position;           /* enum payload_position: the set */
};

struct payload_batch {
    const struct payload_sets *sets;
    unsigned count, hit_count;
    bool is_full;               /* a hit had no space */
    struct sent_payload payload[BATCH_PAYLOADS];
    bool anywhere[BATCH_PAYLOADS];      /* it is in the text of complete payloads */
    uint16_t first[BATCH_PAYLOADS];     /* its hits; NO_HIT: none */
    struct batch_hit hit[HITS_MAX];
    struct batch_text text[POSITION_COUNT];
};

struct payload_batch *payload_batch_new(void)
{
    return xcalloc(1, sizeof(struct payload_batch));
}

void payload_batch_free(struct payload_batch *b)
{
    free(b);
}

void payload_batch_begin(struct payload_batch *b, const struct payload_sets *sets)
{
    b->sets = sets;
    b->count = b->hit_count = 0;
    b->is_full = false;
    for (unsigned p = 0; p < POSITION_COUNT; p++)
        b->text[p].count = b->text[p].len = 0;
}

/* Neither ends the run of bytes before it nor begins the one after it. */
static uint8_t byte_between(uint8_t last, uint8_t first)
{
    uint8_t c = 0;

    while (c == last || c == first)
        c++;
    return c;
}

static void text_add(struct batch_text *t, unsigned owner, struct slice data)
{
    if (t->count > 0) {
        t->bytes[t->len] = byte_between(t->bytes[t->len - 1], data.data[0]);
        t->len++;
    }
    memcpy(t->bytes + t->len, data.data, data.len);
    t->start[t->count] = t->len;
    t->len += data.len;
    t->end[t->count] = t->len;
    t->owner[t->count++] = (uint8_t)owner;
}

bool payload_batch_add(struct payload_batch *b, const struct sent_payload *payload)
{
    struct slice data = payload->data;
    unsigned i = b->count;

    if (data.len == 0 || i == BATCH_PAYLOADS ||
        data.len > BATCH_BYTES - MIN(b->text[POSITION_ANYWHERE].len, BATCH_BYTES) ||
        MIN(data.len, PAYLOAD_FRONT) > BATCH_BYTES - MIN(b->text[POSITION_FRONT].len, BATCH_BYTES))
        return false;
    b->count++;
    b->payload[i] = *payload;
    b->first[i] = NO_HIT;
    b->anywhere[i] = payload_sets_any_anywhere(b->sets, payload);
    if (b->anywhere[i])
        text_add(&b->text[POSITION_ANYWHERE], i, data);
    if (b->sets->any_port[POSITION_FRONT] != NULL)
        text_add(&b->text[POSITION_FRONT], i,
                 (struct slice){ data.data, MIN(data.len, PAYLOAD_FRONT) });
    return true;
}

/* The argument of on_hit(): one search. */
struct batch_scan { struct payload_batch *batch; uint8_t position; };

/* A payload with the same pattern many times in a row has one hit. */
static void on_hit(unsigned id, unsigned text, void *arg)
{
    const struct batch_scan *s = arg;
    struct payload_batch *b = s->batch;
    uint16_t *first = &b->first[b->text[s->position].owner[text]];

    if (*first != NO_HIT && b->hit[*first].pattern == id && b->hit[*first].position == s->position)
        return;
    if (b->hit_count == HITS_MAX) {
        b->is_full = true;
        return;
    }
    b->hit[b->hit_count] = (struct batch_hit){ id, *first, s->position };
    *first = (uint16_t)b->hit_count++;
}

void payload_batch_scan(struct payload_batch *b, struct hs_scratch *scratch)
{
    for (unsigned p = 0; p < POSITION_COUNT; p++) {
        const struct batch_text *t = &b->text[p];
        struct mpm_texts texts = { t->bytes, t->count, t->start, t->end };

        if (t->count > 0)
            pattern_set_scan_texts(b->sets->any_port[p], scratch, &texts, on_hit,
                                   &(struct batch_scan){ b, (uint8_t)p });
    }
}

bool payload_batch_collect(const struct payload_batch *b, unsigned i, struct hs_scratch *scratch,
                           struct candidates *out)
{
    const struct payload_sets *sets = b->sets;

    if (UNLIKELY(b->is_full))
        return false;
    for (unsigned at = b->first[i]; at != NO_HIT; at = b->hit[at].next)
        pattern_set_add_rules(sets->any_port[b->hit[at].position], b->hit[at].pattern, out);
    if (!b->anywhere[i])
        payload_sets_scan_unconditional(sets, scratch, b->payload[i].data, out);
    payload_sets_scan_rest(sets, scratch, &b->payload[i], out);
    return true;
}
