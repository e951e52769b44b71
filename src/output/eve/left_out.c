/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/left_out.c - the record `left_out`: what log-limit has left out in a minute. */
#include <stdlib.h>
#include <string.h>

#include "output/eve/eve.h"
#include "output/output_private.h"

#define RULES_MAX 64                    /* that the record names */

struct rule_count {
    struct left_out_rule rule;
    uint64_t count;
};

/* The most frequent first. */
static int compare_counts(const void *a, const void *b)
{
    const struct rule_count *x = a, *y = b;

    if (x->count != y->count)
        return x->count > y->count ? -1 : 1;
    if (x->rule.gid != y->rule.gid)
        return x->rule.gid < y->rule.gid ? -1 : 1;
    return (x->rule.sid > y->rule.sid) - (x->rule.sid < y->rule.sid);
}

/* The array is the caller's; `named` gets its length. NULL without memory: the sums stand alone. */
static struct rule_count *sorted_counts(const struct left_out *left, size_t *named)
{
    struct rule_count *list = calloc(left->rules.count + 1, sizeof(*list));
    size_t n = 0;

    if (list == NULL)
        return NULL;
    MAP_EACH (&left->rules, e) {
        memcpy(&list[n].rule, e->key, sizeof(list[n].rule));
        list[n++].count = (uintptr_t)e->value;
    }
    qsort(list, n, sizeof(*list), compare_counts);
    *named = MIN(n, RULES_MAX);
    return list;
}

static void write_rules(struct json *j, const struct left_out *left)
{
    size_t count = 0;
    struct rule_count *list = sorted_counts(left, &count);
    uint64_t named = 0;

    json_array(j, "signatures");
    for (size_t i = 0; i < count; i++) {
        json_object(j, NULL);
        json_u64(j, "gid", list[i].rule.gid);
        json_u64(j, "signature_id", list[i].rule.sid);
        json_u64(j, "alerts", list[i].count);
        json_object_end(j);
        named += list[i].count;
    }
    json_array_end(j);
    if (named < left->count[LEFT_OUT_ALERT])
        json_u64(j, "alerts_of_others", left->count[LEFT_OUT_ALERT] - named);
    free(list);
}

static void left_out_object(struct json *j, const struct left_out *left)
{
    json_object(j, "left_out");
    json_u64(j, "alerts", left->count[LEFT_OUT_ALERT]);
    json_u64(j, "flows", left->count[LEFT_OUT_FLOW]);
    json_u64(j, "lines", left->count[LEFT_OUT_LINE]);
    json_u64(j, "others", left->count[LEFT_OUT_OTHER]);
    if (left->count[LEFT_OUT_ALERT] > 0)
        write_rules(j, left);
    json_object_end(j);
}

void eve_left_out(struct render *r, void *self, const struct left_out *left)
{
    const struct eve *eve = self;
    struct json j;

    eve_start(r, eve, &j, left->time_us);
    json_string(&j, "event_type", "left_out");
    eve_type_left_out.left_out(&j, left);
    eve_end(r, eve, &j, NULL);
}

/* Not a type for `types:`: it says what the others do not have. */
const struct eve_type eve_type_left_out = { .name = "left_out", .left_out = left_out_object };
