/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/report.c - the answer as text: first the verdict in a sentence. */
#include "detect/explain/notes.h"
#include "detect/explain/report.h"

#include <stdlib.h>
#include <string.h>

/* --- the verdict ------------------------------------------------------------------------------ */

static int by_distance(const void *x, const void *y)
{
    const struct attempt *a = *(struct attempt *const *)x, *b = *(struct attempt *const *)y;

    if ((a->seen->fired > 0) != (b->seen->fired > 0))
        return a->seen->fired > 0 ? -1 : 1;
    if (a->seen->distance != b->seen->distance)
        return a->seen->distance < b->seen->distance ? -1 : 1;
    if (a->counted != b->counted)
        return a->counted > b->counted ? -1 : 1;
    if (a->seen->culprit != b->seen->culprit)
        return a->seen->culprit > b->seen->culprit ? -1 : 1;
    return a->packet < b->packet ? -1 : a->packet > b->packet;
}

/* Packets are those without a flow. */
enum kind { KIND_PACKET, KIND_FLOW, KIND_TX, KIND_COUNT };

static enum kind kind_of(const struct seen *s)
{
    return s->item == UINT64_MAX ? KIND_FLOW : s->flow == 0 ? KIND_PACKET : KIND_TX;
}

static void add_count(struct buf *out, const char *before, unsigned count, enum kind kind)
{
    static const char *const words[] = { "packet", "flow", "transaction" };

    buf_printf(out, "%s%u %s%s", before, count, words[kind], count == 1 ? "" : "s");
}

/* What ended at the same condition, as near; first what is like the nearest. */
static void add_alike(const struct group *g, const struct attempt *a, struct buf *out)
{
    enum kind nearest = kind_of(a->seen);
    unsigned count[KIND_COUNT] = { 0 };

    for (size_t i = 0; i < g->seen_count; i++)
        count[kind_of(g->list[i])] += g->list[i]->rule == a->seen->rule &&
                                      g->list[i]->distance == a->seen->distance &&
                                      g->list[i]->culprit == a->seen->culprit &&
                                      g->list[i]->fired == 0;
    add_count(out, "", count[nearest], nearest);
    for (enum kind k = 0; k < KIND_COUNT; k++)
        if (k != nearest && count[k] > 0)
            add_count(out, " and ", count[k], k);
}

static const char *held_back_text(const struct attempt *a)
{
    return a->held_back != NULL ? a->held_back
                                : "all conditions hold, but the engine had no packet that it "
                                  "could report them with";
}

/* Matches of the rule in all, those included that its threshold has kept silent. */
static uint64_t matches_of(const struct explain *e, const struct rule *r)
{
    for (unsigned i = 0; e->matches != NULL && i < e->set->plan->rule_count; i++)
        if (e->set->plan->rule[i] == r)
            return e->matches[i].matches;
    return 0;
}

/* "; threshold: type limit, ... keeps 3 more back" */
static void add_kept_back(const struct explain *e, const struct group *g, struct buf *out)
{
    uint64_t matches = 0;

    for (unsigned i = 0; i < g->rule_count; i++)
        matches += matches_of(e, g->rule[i]->rule);
    if (matches <= g->fired || g->rule[0]->rule->threshold == NULL)
        return;
    buf_printf(out, "; %llu more held back by ", (unsigned long long)(matches - g->fired));
    if (!describe_threshold(g->rule[0]->rule, out))
        buf_add_string(out, "suppress");
}

static void verdict_fired(const struct explain *e, const struct group *g, struct buf *out)
{
    const struct seen *first = NULL;

    for (size_t i = 0; i < g->seen_count; i++) {
        if (g->list[i]->fired == 0)
            continue;
        if (first == NULL || g->list[i]->first_fired < first->first_fired)
            first = g->list[i];
    }
    buf_printf(out, " fired %llu time%s", (unsigned long long)g->fired, g->fired == 1 ? "" : "s");
    if (first != NULL && first->first_fired != 0)
        buf_printf(out, ", first with packet %llu", (unsigned long long)first->first_fired);
    if (first != NULL && first->attempt != NULL && first->attempt->title != NULL)
        buf_printf(out, ": %s", first->attempt->title);
    add_kept_back(e, g, out);
}

#define NEAREST_SIDS 5

/* How far two numbers are from each other. */
static uint32_t away(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Of the rules that are loaded, those with numbers like the one that is asked for. */
static void add_nearest_sids(const struct explain *e, uint32_t sid, struct buf *out)
{
    uint32_t least = 0;

    for (unsigned shown = 0; shown < NEAREST_SIDS; shown++) {
        const struct rule *best = NULL;

        for (size_t i = 0; i < e->set->rules.count; i++) {
            const struct rule *r = e->set->rules.at[i];

            if (!r->is_facts && away(r->sid, sid) > least &&
                (best == NULL || away(r->sid, sid) < away(best->sid, sid)))
                best = r;
        }
        if (best == NULL)
            return;
        buf_printf(out, "%s%u", shown == 0 ? "; the nearest are " : ", ", best->sid);
        least = away(best->sid, sid);
    }
}

static void add_unknown(const struct explain *e, const struct group *g, struct buf *out)
{
    buf_add_string(out, " is not among the rules that were loaded");
    add_nearest_sids(e, g->sid, out);
}

static void verdict_not_loaded(const struct explain *e, const struct group *g, struct buf *out)
{
    if (g->failure != NULL)
        buf_printf(out, " was refused when it was loaded (%s:%u:%u): %s",
                   g->failure->file != NULL ? g->failure->file : "?",
                   MAX(g->failure->line, g->failure->at.line), g->failure->at.column,
                   g->failure->error);
    else
        add_unknown(e, g, out);
}

void verdict_add(const struct explain *e, const struct group *g, struct buf *out)
{
    const struct attempt *a = g->nearest_count > 0 ? g->nearest[0] : NULL;

    buf_printf(out, "Rule %u", g->sid);
    if (e->tenant != 0)
        buf_printf(out, " of tenant %u", e->tenant);
    if (g->rule_count == 0) {
        verdict_not_loaded(e, g, out);
    } else if (g->fired > 0) {
        verdict_fired(e, g, out);
    } else if (a == NULL) {
        buf_printf(out, " did not fire: %s",
                   e->packets == 0 ? "no packet was inspected"
                                   : "nothing came that it could be asked about");
    } else {
        buf_add_string(out, " did not fire on ");
        add_alike(g, a, out);
        buf_printf(out, ": %s", a->seen->distance == 0 ? held_back_text(a)
                   : a->reason != NULL ? a->reason : "not known why");
    }
}

/* --- the rest --------------------------------------------------------------------------------- */

const char *part_name(const struct condition *c)
{
    static const char *const names[] = {
        [PART_INSPECTED] = "inspected", [PART_PROTO] = "protocol", [PART_SRC] = "source address",
        [PART_SRC_PORT] = "source port", [PART_DST] = "destination address",
        [PART_DST_PORT] = "destination port", [PART_DIRECTION] = "direction",
        [PART_FLOW] = "flow", [PART_APP] = "application protocol", [PART_TEST] = "test",
        [PART_TX_TEST] = "transaction", [PART_LATE_TEST] = "script" };

    return c->part == PART_STEP ? condition_buffer(c) : names[c->part];
}

static void add_indented(struct buf *out, const char *text)
{
    while (*text != '\0') {
        size_t n = strcspn(text, "\n");

        buf_printf(out, "            %.*s\n", (int)n, text);
        text += n + (text[n] == '\n');
    }
}

static void add_condition(const struct attempt *a, unsigned i, struct buf *out)
{
    static const char *const marks[] = { "not asked", "ok", "FAILED" };
    const struct condition *c = &a->rule->condition[i];
    const struct note *n = &a->note[i];

    if (c->part == PART_INSPECTED && n->outcome != OUTCOME_FAIL)
        return;
    buf_printf(out, "  %-9s %s", marks[n->outcome], part_name(c));
    if (c->text[0] != '\0')
        buf_printf(out, ": %s", c->text);
    if (n->outcome == OUTCOME_PASS && n->at >= 0)
        buf_printf(out, " [at %lld to %lld]", (long long)n->at, (long long)n->at + n->len);
    if (n->earlier)
        buf_add_string(out, " [with an earlier packet]");
    if (c->is_fast)
        buf_add_string(out, n->outcome == OUTCOME_PASS
                                ? " (fast pattern: found, the rule is a candidate)"
                                : n->outcome == OUTCOME_FAIL
                                      ? " (fast pattern: the prefilter stops the rule here)"
                                      : " (fast pattern)");
    buf_add_u8(out, '\n');
    if (n->text != NULL)
        buf_printf(out, "            %s\n", n->text);
    if (n->excerpt != NULL)
        add_indented(out, n->excerpt);
}

static void add_attempt(const struct attempt *a, unsigned number, struct buf *out)
{
    unsigned failed = 0;

    for (unsigned i = 0; i < a->rule->count; i++)
        failed += a->note[i].outcome == OUTCOME_FAIL;
    buf_printf(out, "\n%u. %s\n", number, a->title != NULL ? a->title : "?");
    if (a->seen->fired > 0)
        buf_printf(out, "   fired %u time%s", a->seen->fired, a->seen->fired == 1 ? "" : "s");
    if (a->seen->fired > 0 && a->seen->first_fired > 0)     /* 0: live packets have no number */
        buf_printf(out, ", first with packet %llu", (unsigned long long)a->seen->first_fired);
    if (a->seen->fired > 0)
        buf_add_u8(out, '\n');
    if (a->seen->fired > 0 && a->seen->distance > 0)
        buf_add_string(out, "   what it matched has gone; this came nearest of what was left\n");
    if (a->seen->fired == 0 && a->seen->distance == 0)
        buf_printf(out, "   all conditions hold; no alert: %s\n",
                   held_back_text(a));
    else if (a->seen->fired == 0)
        buf_printf(out, "   %u of %u conditions failed\n", failed, a->rule->count);
    for (unsigned i = 0; i < a->rule->count; i++)
        add_condition(a, i, out);
}

/* Beyond this from the one before, what follows has to do with other traffic. */
#define GAP 6

/* How many of the nearest are shown: up to a gap. */
static unsigned shown_of(const struct group *g)
{
    unsigned n = 1;

    while (n < g->nearest_count && (g->nearest[n]->seen->fired > 0 ||
                                    g->nearest[n]->seen->distance <
                                        g->nearest[n - 1]->seen->distance + GAP))
        n++;
    return MIN(n, g->nearest_count);
}

/* Both failed at the same, for the same reason. */
static bool is_alike(const struct attempt *a, const struct attempt *b)
{
    return a->seen->fired == 0 && b->seen->fired == 0 && a->rule == b->rule &&
           a->seen->distance == b->seen->distance && a->seen->distance > 0 &&
           a->reason != NULL && b->reason != NULL && strcmp(a->reason, b->reason) == 0;
}

static void add_attempts(const struct group *g, struct buf *out)
{
    unsigned shown = shown_of(g), number = 0;

    for (unsigned i = 0, next; i < shown; i = next) {
        next = i + 1;
        while (next < shown && is_alike(g->nearest[i], g->nearest[next]))
            next++;
        add_attempt(g->nearest[i], ++number, out);
        if (next > i + 1)
            buf_printf(out, "   %u more like this\n", next - i - 1);
    }
    if (g->seen_count > shown)
        buf_printf(out, "\n%zu more came no nearer.\n", g->seen_count - shown);
}

static void add_group(const struct explain *e, const struct group *g, struct buf *out)
{
    verdict_add(e, g, out);
    buf_add_u8(out, '\n');
    if (g->failure != NULL && g->failure->rule != NULL)
        buf_printf(out, "\n  %s\n", g->failure->rule);
    if (g->rule_count > 0 && g->rule[0]->text != NULL)
        buf_printf(out, "\n  %s\n", g->rule[0]->text);
    add_attempts(g, out);
    if (g->lost > 0)
        buf_printf(out, "%llu times something was left out, as there was too much.\n",
                   (unsigned long long)g->lost);
}

/* Rules that are only tenants' are shown with these. */
bool group_is_shown(const struct explain *e, const struct group *g)
{
    if (g->rule_count > 0)
        return !g->rule[0]->is_hidden;
    if (g->failure != NULL)
        return true;
    for (const struct explain *other = e->next; other != NULL; other = other->next)
        for (unsigned i = 0; i < other->group_count; i++)
            if (other->group[i].sid == g->sid &&
                (other->group[i].rule_count > 0 || other->group[i].failure != NULL))
                return false;
    return e->tenant == 0;
}

static void write_one(struct explain *e, struct buf *out)
{
    bool first = out->len == 0;

    setters_tell(e);
    for (unsigned i = 0; i < e->group_count; i++)
        if (e->group[i].nearest_count > 1)
            qsort(e->group[i].nearest, e->group[i].nearest_count, sizeof(struct attempt *),
                  by_distance);
    if (e->summary && e->json)
        summary_write_json(e, out);
    else if (e->summary)
        summary_write(e, out);
    else if (e->json)
        report_write_json(e, out);
    for (unsigned i = 0; i < e->group_count && !e->json && !e->summary; i++) {
        if (!group_is_shown(e, &e->group[i]))
            continue;
        if (!first)
            buf_add_string(out, "\n\n");
        first = false;
        add_group(e, &e->group[i], out);
    }
}

bool explain_write(struct explain *e, struct buf *out)
{
    bool complete = true;

    for (struct explain *one = e; one != NULL; one = one->next) {
        one->json = e->json;
        write_one(one, out);
        complete = complete && !one->out_of_memory;
    }
    return !out->failed && complete;
}

/* Tenants have only groups of rules that they know. */
static const struct group *unknown_group(const struct explain *e)
{
    for (unsigned i = 0; i < e->group_count; i++)
        if (e->group[i].rule_count == 0 && e->group[i].failure == NULL &&
            group_is_shown(e, &e->group[i]))
            return &e->group[i];
    return NULL;
}

bool explain_found(const struct explain *e)
{
    return unknown_group(e) == NULL;
}

bool explain_add_unknown(const struct explain *e, struct buf *out)
{
    const struct group *g = unknown_group(e);

    if (g == NULL)
        return false;
    buf_printf(out, "rule %u", g->sid);
    add_unknown(e, g, out);
    return true;
}
