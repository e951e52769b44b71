/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/summary.c - how far each rule of a set came. */
#include "base/report/json.h"
#include "detect/explain/private.h"

enum stage { STAGE_NEVER, STAGE_PREFILTER, STAGE_CONDITION, STAGE_HELD_BACK, STAGE_FIRED,
             STAGE_COUNT };
static const char *const stages[] = { "never a candidate", "stopped by the prefilter",
                                      "stopped at a condition", "matched, no alert", "fired" };
static const char *const stage_keys[] = { "never", "prefilter", "condition", "held-back",
                                          "fired" };

/* The subject that came nearest; NULL: there is none. */
static const struct seen *nearest(const struct group *g)
{
    const struct seen *best = NULL;

    for (size_t i = 0; i < g->seen_count; i++)
        if (g->list[i]->rule != NULL &&
            (best == NULL || g->list[i]->distance < best->distance))
            best = g->list[i];
    return best;
}

/* Before the content that finds the rule, only the header and the protocol count. */
static enum stage stage_of(const struct group *g, const struct seen *best)
{
    if (g->fired > 0)
        return STAGE_FIRED;
    if (best == NULL)
        return STAGE_NEVER;
    if (best->distance == 0)
        return STAGE_HELD_BACK;
    if (best->culprit >= best->rule->count)
        return STAGE_CONDITION;
    if (best->rule->condition[best->culprit].part <= PART_APP)
        return STAGE_NEVER;
    return best->rule->condition[best->culprit].is_fast ? STAGE_PREFILTER : STAGE_CONDITION;
}

static const char *stopped_at(const struct seen *best)
{
    if (best == NULL || best->distance == 0 || best->culprit >= best->rule->count)
        return NULL;
    return best->rule->condition[best->culprit].text;
}

static void add_histogram(const struct group *g, const struct wanted *w, struct buf *out)
{
    const char *before = "";

    for (unsigned i = 0; i < w->count; i++) {
        unsigned n = 0;

        for (size_t k = 0; k < g->seen_count; k++)
            n += g->list[k]->rule == w && g->list[k]->distance > 0 && g->list[k]->culprit == i;
        if (n == 0)
            continue;
        buf_printf(out, "%s%u at %s", before, n,
                   w->condition[i].text[0] != '\0' ? w->condition[i].text : "the inspection");
        before = ", ";
    }
}

static void add_rule(const struct group *g, struct buf *out)
{
    const struct seen *best = nearest(g);
    enum stage stage = stage_of(g, best);

    buf_printf(out, "%-10u %s", g->sid, stages[stage]);
    if (stage == STAGE_FIRED)
        buf_printf(out, " %llu times", (unsigned long long)g->fired);
    if (stage != STAGE_FIRED && stopped_at(best) != NULL) {
        buf_add_string(out, ": ");
        add_histogram(g, best->rule, out);
    }
    buf_add_u8(out, '\n');
}

/* Rules that were never a candidate are only counted. */
void summary_write(struct explain *e, struct buf *out)
{
    unsigned count[STAGE_COUNT] = { 0 };

    for (unsigned i = 0; i < e->group_count; i++)
        count[stage_of(&e->group[i], nearest(&e->group[i]))]++;
    buf_printf(out, "%u rules, %llu packets:", e->group_count, (unsigned long long)e->packets);
    for (unsigned s = STAGE_COUNT; s-- > 0;)
        buf_printf(out, " %u %s%s", count[s], stages[s], s > 0 ? "," : "\n\n");
    for (unsigned s = STAGE_COUNT; s-- > STAGE_PREFILTER;)
        for (unsigned i = 0; i < e->group_count; i++)
            if (stage_of(&e->group[i], nearest(&e->group[i])) == s)
                add_rule(&e->group[i], out);
}

static void add_histogram_json(struct json *j, const struct group *g, const struct wanted *w)
{
    json_array(j, "stopped");
    for (unsigned i = 0; i < w->count; i++) {
        unsigned n = 0;

        for (size_t k = 0; k < g->seen_count; k++)
            n += g->list[k]->rule == w && g->list[k]->distance > 0 && g->list[k]->culprit == i;
        if (n == 0)
            continue;
        json_object(j, NULL);
        json_u64(j, "number", i);
        json_string(j, "condition", w->condition[i].text);
        json_u64(j, "subjects", n);
        json_object_end(j);
    }
    json_array_end(j);
}

void summary_write_json(struct explain *e, struct buf *out)
{
    for (unsigned i = 0; i < e->group_count; i++) {
        const struct group *g = &e->group[i];
        const struct seen *best = nearest(g);
        struct json j;

        json_init(&j, out);
        json_object(&j, NULL);
        json_u64(&j, "sid", g->sid);
        json_string(&j, "stage", stage_keys[stage_of(g, best)]);
        json_u64(&j, "fired", g->fired);
        json_u64(&j, "subjects", g->seen_count);
        if (best != NULL)
            add_histogram_json(&j, g, best->rule);
        json_object_end(&j);
        buf_add_u8(out, '\n');
    }
}
