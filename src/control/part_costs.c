/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/part_costs.c - collects what groups, buffers and keywords cost, and writes it. */
#include "control/part_costs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "detect/state/profile.h"

struct visit { struct part_cost_rows *to; double tick_ns; };

/* Tenants have rulesets of their own, with the same names. */
static struct part_cost_row *row_of(struct part_cost_rows *t, const char *name)
{
    for (size_t i = 0; i < t->rows.count; i++)
        if (strcmp(t->rows.at[i].name, name) == 0)
            return &t->rows.at[i];
    ARRAY_PUSH(&t->rows, (struct part_cost_row){ .name = name });
    return &t->rows.at[t->rows.count - 1];
}

static void add_part(const struct part_cost *part, void *arg)
{
    struct visit *v = arg;
    struct part_cost_row *row = row_of(v->to, part->name);
    uint64_t ns = (uint64_t)((double)part->ticks * v->tick_ns);
    uint64_t max_ns = (uint64_t)((double)part->max_ticks * v->tick_ns);

    row->checks += part->checks;
    row->timed += part->timed;
    row->ns += ns;
    row->max_ns = MAX(row->max_ns, max_ns);
    v->to->ns += ns;
}

static int dearer_first(const void *a, const void *b)
{
    const struct part_cost_row *x = a, *y = b;

    if (x->ns != y->ns)
        return x->ns > y->ns ? -1 : 1;
    return strcmp(x->name, y->name);
}

void part_cost_rows_collect(struct part_cost_rows *t, const struct rules_in_force *f,
                            enum cost_kind kind)
{
    *t = (struct part_cost_rows){ 0 };
    for (size_t i = 0; i < f->sets.count; i++) {
        struct visit v = { t, ruleset_costs_tick(f->sets.at[i]) };

        if (ruleset_part_costs(f->sets.at[i]) != NULL)
            part_costs_each(ruleset_part_costs(f->sets.at[i]), kind, add_part, &v);
    }
    if (t->rows.count > 0)
        qsort(t->rows.at, t->rows.count, sizeof(t->rows.at[0]), dearer_first);
}

void part_cost_rows_fini(struct part_cost_rows *t)
{
    ARRAY_FREE(&t->rows);
}

const char *cost_kind_name(enum cost_kind kind)
{
    static const char *const names[COST_KINDS] = {
        [COST_GROUP] = "group", [COST_BUFFER] = "buffer", [COST_KEYWORD] = "keyword",
    };

    return names[kind];
}

double cost_percent(uint64_t part, uint64_t total)
{
    return total > 0 ? (double)(uint64_t)(10000.0 * (double)part / (double)total + 0.5) / 100 : 0;
}

void part_cost_members(const struct part_cost_rows *t, const struct part_cost_row *row,
                       struct json *j)
{
    json_string(j, "name", row->name);
    json_u64(j, "checks", row->checks);
    json_u64(j, "ns", row->ns);
    json_u64(j, "ns_avg", row->checks > 0 ? row->ns / row->checks : 0);
    json_u64(j, "ns_max", row->max_ns);
    json_double(j, "percent", cost_percent(row->ns, t->ns));
    json_u64(j, "timed", row->timed);
}

void part_cost_rows_json(const struct part_cost_rows *t, enum cost_kind kind, size_t limit,
                         struct json *j)
{
    char key[16];

    snprintf(key, sizeof(key), "%ss", cost_kind_name(kind));
    json_array(j, key);
    for (size_t i = 0; i < MIN(t->rows.count, limit); i++) {
        json_object(j, NULL);
        part_cost_members(t, &t->rows.at[i], j);
        json_object_end(j);
    }
    json_array_end(j);
}
