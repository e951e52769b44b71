/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/setters.c - which rules set the bits that a rule asks for, and with which packet
 * they did; which rules put values into its dataset. That is known when all packets have gone. */
#include "detect/explain/notes.h"

#include "base/memory/lib_memory.h"
#include "detect/rule/dataset_use.h"
#include "detect/rule/flowbits.h"
#include "detect/rule/host_bit_use.h"

#include <stdlib.h>
#include <string.h>

#define SETTERS_SHOWN 4

/* A bit, of whichever owner. */
struct bit { bool is_flowbit; uint32_t id; const char *command, *track; };

/* Of several flowbits in one test the first counts. */
static bool bit_of(const struct rule_test *test, struct bit *out)
{
    struct flowbits_use flow;
    struct host_bit_use host;

    if (flowbits_use_of(test, &flow) && flow.count > 0)
        *out = (struct bit){ true, flow.id[0], flow.command, NULL };
    else if (test->keyword != NULL && host_bit_use_of(test, &host))
        *out = (struct bit){ false, host.id, host.command, host.track };
    else
        return false;
    return true;
}

static bool is_same(const struct bit *a, const struct bit *b)
{
    return a->is_flowbit == b->is_flowbit && a->id == b->id &&
           (a->track == NULL || (strcmp(a->track, "tx") == 0) == (strcmp(b->track, "tx") == 0));
}

/* The rule's action that sets the bit; false: there is none. */
static bool sets(const struct rule *r, const struct bit *want, struct bit *use)
{
    for (unsigned i = 0; i < r->post_count; i++)
        if (bit_of(&r->post[i], use) && strcmp(use->command, "unset") != 0 && is_same(want, use))
            return true;
    return false;
}

void setters_each(const struct ruleset *set, const struct rule *r,
                  void (*visit)(void *arg, const struct rule *setter), void *arg)
{
    struct bit want, use;

    for (unsigned i = 0; i < r->test_count + r->tx_test_count; i++) {
        const struct rule_test *test = i < r->test_count ? &r->test[i]
                                                         : &r->tx_test[i - r->test_count];

        if (!bit_of(test, &want))
            continue;
        for (size_t k = 0; k < set->rules.count; k++)
            if (set->rules.at[k] != r && sets(set->rules.at[k], &want, &use))
                visit(arg, set->rules.at[k]);
    }
}

/* The first packet with which the rule has set the bit: a flowbit in this flow. 0: with none. */
static uint64_t first_packet(const struct group *g, const struct bit *bit, uint64_t flow)
{
    uint64_t first = 0;

    for (size_t i = 0; i < g->seen_count; i++) {
        const struct seen *s = g->list[i];

        if (s->first_held != 0 && (!bit->is_flowbit || s->flow == flow) &&
            (first == 0 || s->first_held < first))
            first = s->first_held;
    }
    return first;
}

static const struct group *group_of(const struct explain *e, uint32_t sid)
{
    for (unsigned i = 0; i < e->group_count; i++)
        if (e->group[i].sid == sid)
            return &e->group[i];
    return NULL;
}

static void add_setter(const struct explain *e, const struct rule *r, const struct bit *bit,
                       uint64_t flow, struct buf *out)
{
    const struct group *g = group_of(e, r->sid);
    uint64_t first = g != NULL ? first_packet(g, bit, flow) : 0;

    buf_printf(out, "rule %u sets it", r->sid);
    if (bit->track != NULL)
        buf_printf(out, " (track %s)", bit->track);
    if (first != 0)
        buf_printf(out, ", first at packet %llu", (unsigned long long)first);
    else if (g != NULL && bit->is_flowbit)
        buf_add_string(out, ", but has not matched in this flow");
    else if (g != NULL)
        buf_add_string(out, ", but has not matched");
}

static void add_setters(const struct explain *e, const struct bit *want, uint64_t flow,
                        struct buf *out)
{
    unsigned count = 0;
    struct bit use;

    for (size_t i = 0; i < e->set->rules.count && count < SETTERS_SHOWN; i++) {
        if (!sets(e->set->rules.at[i], want, &use))
            continue;
        count++;
        buf_add_string(out, "; ");
        add_setter(e, e->set->rules.at[i], &use, flow, out);
    }
    if (count == 0)
        buf_add_string(out, "; no rule sets it");
}

/* --- datasets --------------------------------------------------------------------------------- */

static bool puts_into(const struct rule *r, const struct dataset *set)
{
    struct dataset_use use;

    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        for (const struct rule_op *op = l->first; op != NULL; op = op->next)
            if (dataset_use_of(op, &use) && use.set == set && strcmp(use.command, "set") == 0)
                return true;
    return false;
}

/* Also files, scripts and the control socket put values there, so rules are named that do, and
 * nothing is said of others. */
static void add_sources(const struct explain *e, const struct dataset *set, struct buf *out)
{
    unsigned count = 0;

    for (size_t i = 0; i < e->set->rules.count && count < SETTERS_SHOWN; i++)
        if (puts_into(e->set->rules.at[i], set)) {
            buf_printf(out, "; rule %u puts values there", e->set->rules.at[i]->sid);
            count++;
        }
}

/* --- notes ------------------------------------------------------------------------------------ */

/* Writes who is behind the state that the condition found; false: it asks for no state. */
static bool add_behind(const struct explain *e, const struct condition *c, uint64_t flow,
                       struct buf *out)
{
    struct dataset_use use;
    struct bit want;

    if (c->test != NULL && bit_of(c->test, &want))
        add_setters(e, &want, flow, out);
    else if (c->trace != NULL && dataset_use_of(c->trace->op[c->step], &use))
        add_sources(e, use.set, out);
    else
        return false;
    return true;
}

/* A note that says something is told again, with the rules behind it. */
static void tell_note(const struct explain *e, struct attempt *a, unsigned i)
{
    const struct condition *c = &a->rule->condition[i];
    struct note *n = &a->note[i];
    struct buf out = { 0 };
    char *text = NULL;

    if (n->outcome != OUTCOME_FAIL || n->text == NULL)
        return;
    buf_add_string(&out, n->text);
    if (add_behind(e, c, a->seen->flow, &out))
        text = text_take(&out);
    buf_fini(&out);
    if (text == NULL)
        return;
    lib_free(n->text);
    n->text = text;
    if (i == a->seen->culprit) {
        lib_free(a->reason);
        a->reason = reason_make(a->rule, i, n);
    }
}

void setters_tell(struct explain *e)
{
    if (e->setters_told)
        return;
    e->setters_told = true;
    for (unsigned g = 0; g < e->group_count; g++)
        for (unsigned k = 0; k < e->group[g].nearest_count; k++) {
            struct attempt *a = e->group[g].nearest[k];

            for (unsigned i = 0; i < a->rule->count; i++)
                tell_note(e, a, i);
        }
}
