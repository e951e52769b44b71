/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/follow_tx.c - finds rules on payload that test a flowbit which only rules on
 * transactions set. Payload is inspected before transactions, so with the packet that sets the bit
 * such a rule would come too early. As in Suricata it is inspected with the transactions, after the
 * rules that set the bit. */
#include "base/array.h"
#include "detect/compile/compile.h"
#include "detect/rule/flowbits.h"

#include <stdlib.h>
#include <string.h>

/* What the rules of a set do with one bit. */
struct bit_use {
    bool is_set_by_tx;          /* by a rule on transactions */
    bool is_read_by_tx;
    ARRAY_OF(uint32_t) setters;         /* sids of all rules that set it */
    const struct bit_setters *shared;   /* the same in the ruleset's arena; NULL: not yet */
};
typedef ARRAY_OF(struct bit_use) bit_uses;

static struct bit_use *use_of(bit_uses *uses, uint32_t id)
{
    while (uses->count <= id)
        ARRAY_PUSH(uses, (struct bit_use){ .is_set_by_tx = false });
    return &uses->at[id];
}

static void note_uses(bit_uses *uses, const struct rule *r)
{
    bool on_tx = r->type == RULE_APP_TX;
    struct flowbits_use use;

    for (unsigned i = 0; i < r->post_count; i++)
        if (flowbits_use_of(&r->post[i], &use) && strcmp(use.command, "set") == 0) {
            use_of(uses, use.id[0])->is_set_by_tx |= on_tx;
            ARRAY_PUSH(&use_of(uses, use.id[0])->setters, r->sid);
        }
    for (unsigned i = 0; on_tx && i < r->test_count; i++)
        if (flowbits_use_of(&r->test[i], &use) && strcmp(use.command, "isset") == 0)
            for (unsigned k = 0; k < use.count; k++)
                use_of(uses, use.id[k])->is_read_by_tx = true;
}

/* A bit that a rule on transactions reads is one that is set in time, to Suricata. */
static bool is_late(bit_uses *uses, uint32_t id)
{
    const struct bit_use *use = use_of(uses, id);

    return use->is_set_by_tx && !use->is_read_by_tx;
}

/* One list for all rules that wait for the bit. */
static const struct bit_setters *setters_of(struct arena *arena, bit_uses *uses, uint32_t id)
{
    struct bit_use *use = use_of(uses, id);
    struct bit_setters *out;

    if (use->shared == NULL) {
        use->shared = out = arena_zalloc(arena, sizeof(*out));
        out->id = id;
        out->count = (unsigned)use->setters.count;
        out->sid = arena_copy(arena, use->setters.at, out->count * sizeof(out->sid[0]));
    }
    return use->shared;
}

/* A rule tests few bits, so the list is copied for each. */
static void wait_for(struct arena *arena, bit_uses *uses, struct rule *r, uint32_t id)
{
    const struct rule_upstream *old = r->upstream;
    unsigned count = old != NULL ? old->count : 0;
    struct rule_upstream *up =
        arena_zalloc(arena, sizeof(*up) + (count + 1) * sizeof(up->bit[0]));

    if (count > 0)
        memcpy(up->bit, old->bit, count * sizeof(up->bit[0]));
    up->bit[count] = setters_of(arena, uses, id);
    up->count = count + 1;
    r->upstream = up;
}

static void find_upstream(struct arena *arena, bit_uses *uses, struct rule *r)
{
    struct flowbits_use use;

    for (unsigned i = 0; i < r->test_count; i++) {
        if (!flowbits_use_of(&r->test[i], &use) || strcmp(use.command, "isset") != 0)
            continue;
        for (unsigned k = 0; k < use.count; k++)
            if (is_late(uses, use.id[k]))
                wait_for(arena, uses, r, use.id[k]);
    }
}

/* Of other transports the payload is never searched with transactions. */
static bool is_on_stream(const struct rule *r)
{
    return (r->type == RULE_STREAM || r->type == RULE_PACKET_STREAM) &&
           rule_payload(r) != NULL && rule_has_ip_proto(r, 6) && !rule_has_ip_proto(r, 17) &&
           !(r->flags & RULE_FIREWALL) && !r->is_facts;
}

/* Runs when all rules have their types, and before fast patterns are chosen. */
void rules_follow_tx(struct ruleset *set)
{
    bit_uses uses = { 0 };

    for (size_t i = 0; i < set->rules.count; i++)
        note_uses(&uses, set->rules.at[i]);
    for (size_t i = 0; i < set->rules.count; i++) {
        struct rule *r = set->rules.at[i];

        if (is_on_stream(r))
            find_upstream(&set->arena, &uses, r);
        if (r->upstream != NULL)
            r->type = RULE_APP_TX;
    }
    for (size_t i = 0; i < uses.count; i++)
        ARRAY_FREE(&uses.at[i].setters);
    ARRAY_FREE(&uses);
}
