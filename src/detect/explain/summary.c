/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/summary.c - how far each rule of a set came. */
#include "base/report/json.h"
#include "detect/explain/notes.h"
#include "detect/explain/report.h"

enum stage { STAGE_NEVER, STAGE_PREFILTER, STAGE_CONDITION, STAGE_HELD_BACK, STAGE_FIRED,
             STAGE_COUNT };
static const char *const stages[] = { "never a candidate", "stopped by the prefilter",
                                      "stopped at a condition", "matched, no alert", "fired" };
static const char *const stage_keys[] = { "never", "prefilter", "condition", "held-back",
                                          "fired" };

/* How far one of the rules came. Up to the protocol it is no candidate; the pattern that finds it
 * is the prefilter's. */
static enum stage stage_of_rule(const struct wanted *w)
{
    enum stage stage = STAGE_NEVER;

    if (w->stopped[w->count] > 0)
        return STAGE_HELD_BACK;
    for (unsigned i = 0; i < w->count; i++) {
        if (w->stopped[i] == 0 || w->condition[i].part <= PART_APP)
            continue;
        stage = MAX(stage, w->condition[i].is_fast ? STAGE_PREFILTER : STAGE_CONDITION);
    }
    return stage;
}

static enum stage stage_of(const struct group *g)
{
    enum stage stage = STAGE_NEVER;

    if (g->fired > 0)
        return STAGE_FIRED;
    for (unsigned i = 0; i < g->rule_count; i++)
        stage = MAX(stage, stage_of_rule(g->rule[i]));
    return stage;
}

static void add_histogram(const struct wanted *w, struct buf *out)
{
    const char *before = ": ";

    for (unsigned i = 0; i < w->count; i++) {
        const struct condition *c = &w->condition[i];

        if (w->stopped[i] == 0 || c->part <= PART_APP)
            continue;
        buf_printf(out, "%s%u at ", before, w->stopped[i]);
        if (c->part == PART_STEP)
            buf_printf(out, "%s ", condition_buffer(c));
        buf_add_string(out, c->text);
        before = ", ";
    }
}

/* The last part of the header at which the rule failed; NULL: no packet came. */
static const struct condition *header_failure(const struct wanted *w)
{
    unsigned at = w->header_at;

    for (unsigned i = at; i < w->count; i++)
        if (w->stopped[i] > 0 && w->condition[i].part <= PART_APP)
            at = i + 1;
    return at > 0 ? &w->condition[at - 1] : NULL;
}

static void add_header(const struct group *g, struct buf *out)
{
    const struct condition *c = g->rule_count > 0 ? header_failure(g->rule[0]) : NULL;

    if (c == NULL)
        return;
    buf_printf(out, ": nothing fits its %s", part_name(c));
    if (c->text[0] != '\0')
        buf_printf(out, " %s", c->text);
    if (c->value != NULL)
        buf_printf(out, ", which is %s", c->value);
}

static void add_held_back(const struct group *g, struct buf *out)
{
    size_t before = out->len;

    buf_add_string(out, " (");
    if (held_back_in_short(g->rule[0]->rule, out))
        buf_add_u8(out, ')');
    else
        out->len = before;
}

static void add_rule(const struct group *g, struct buf *out)
{
    enum stage stage = stage_of(g);

    buf_printf(out, "%-10u %s", g->sid, stages[stage]);
    if (stage == STAGE_FIRED)
        buf_printf(out, " %llu time%s", (unsigned long long)g->fired, g->fired == 1 ? "" : "s");
    else if (stage == STAGE_NEVER)
        add_header(g, out);
    if (stage == STAGE_HELD_BACK)
        add_held_back(g, out);
    if (stage != STAGE_FIRED && stage != STAGE_NEVER)
        for (unsigned i = 0; i < g->rule_count; i++)
            add_histogram(g->rule[i], out);
    buf_add_u8(out, '\n');
}

/* The furthest first. */
void summary_write(struct explain *e, struct buf *out)
{
    unsigned count[STAGE_COUNT] = { 0 };

    for (unsigned i = 0; i < e->group_count; i++)
        count[stage_of(&e->group[i])]++;
    if (e->tenant != 0)
        buf_printf(out, "\nTenant %u: ", e->tenant);
    buf_printf(out, "%u rules, %llu packets:", e->group_count, (unsigned long long)e->packets);
    for (unsigned s = STAGE_COUNT; s-- > 0;)
        buf_printf(out, " %u %s%s", count[s], stages[s], s > 0 ? "," : "\n\n");
    for (unsigned s = STAGE_COUNT; s-- > STAGE_NEVER;)
        for (unsigned i = 0; i < e->group_count; i++)
            if (stage_of(&e->group[i]) == s)
                add_rule(&e->group[i], out);
}

static void add_histogram_json(struct json *j, const struct wanted *w)
{
    for (unsigned i = 0; i < w->count; i++) {
        const struct condition *c = &w->condition[i];

        if (w->stopped[i] == 0)
            continue;
        json_object(j, NULL);
        json_u64(j, "number", i);
        json_string(j, "part", part_key(c));
        if (c->part == PART_STEP)
            json_string(j, "buffer", condition_buffer(c));
        json_string(j, "condition", c->text);
        if (c->is_fast)
            json_bool(j, "fast_pattern", true);
        json_u64(j, "times", w->stopped[i]);
        json_object_end(j);
    }
}

void summary_write_json(struct explain *e, struct buf *out)
{
    for (unsigned i = 0; i < e->group_count; i++) {
        const struct group *g = &e->group[i];
        struct json j;

        json_init(&j, out);
        json_object(&j, NULL);
        json_u64(&j, "sid", g->sid);
        if (e->tenant != 0)
            json_u64(&j, "tenant_id", e->tenant);
        json_string(&j, "stage", stage_keys[stage_of(g)]);
        json_u64(&j, "fired", g->fired);
        json_array(&j, "stopped");
        for (unsigned k = 0; k < g->rule_count; k++)
            add_histogram_json(&j, g->rule[k]);
        json_array_end(&j);
        json_object_end(&j);
        buf_add_u8(out, '\n');
    }
}
