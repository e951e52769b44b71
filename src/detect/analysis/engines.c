/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/engines.c - in which steps a rule looks at transactions: one for each buffer or
 * group of tests, protocol and direction. The step with the rule's pattern comes first, then by
 * the progress that each needs. */
#include "detect/analysis/private.h"

#include "detect/keyword_registry.h"

#include <string.h>

static bool fits(const struct rule *rule, enum app_proto_id id)
{
    return rule->app_proto == APP_PROTO_UNKNOWN || app_proto_matches(rule->app_proto, id);
}

static bool in_direction(const struct rule *rule, unsigned d)
{
    return (rule->flags & RULE_TX_BOTH) ||
           (rule->flags & (d == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT));
}

static void insert_at(analysis_engines *to, size_t at, struct analysis_engine e)
{
    ARRAY_PUSH(to, e);
    memmove(&to->at[at + 1], &to->at[at], (to->count - 1 - at) * sizeof(e));
    to->at[at] = e;
}

static void engine_add(analysis_engines *to, struct analysis_engine e)
{
    size_t at = 1;

    if (to->count == 0 || e.pattern || (!to->at[0].pattern && to->at[0].progress > e.progress)) {
        insert_at(to, 0, e);
        return;
    }
    while (at < to->count && to->at[at].progress <= e.progress)
        at++;
    insert_at(to, at, e);
}

static void add_list(const struct rule *rule, const struct rule_list *l, bool pattern,
                     analysis_engines *out)
{
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_buffer *b = l->buffer->by_proto[id];

        if (b == NULL || !fits(rule, (enum app_proto_id)id))
            continue;
        for (unsigned d = 0; d < 2; d++)
            if (in_direction(rule, d) &&
                (l->directions & b->directions & APP_DIRECTION_BIT(d)))
                engine_add(out, (struct analysis_engine){
                    .list = l, .pattern = pattern, .direction = (uint8_t)d,
                    .progress = b->progress[d], .proto = (enum app_proto_id)id });
    }
}

static bool test_in_proto(const struct rule_test *test, const struct app_proto *proto)
{
    if (strcmp(analysis_test_place(test), "files") == 0)
        return proto->has_files;
    return keyword_declared_in(test->keyword, proto->id);
}

static void add_place(const struct rule *rule, const struct rule_test *test,
                      enum app_proto_id id, analysis_engines *out)
{
    for (unsigned d = 0; d < 2; d++)
        if (in_direction(rule, d) && (test->directions & APP_DIRECTION_BIT(d)))
            engine_add(out, (struct analysis_engine){
                .place = analysis_test_place(test), .direction = (uint8_t)d,
                .progress = test->progress[d], .proto = id });
}

/* Tests of one place are asked together. */
static bool is_first_of_place(const struct rule *rule, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (strcmp(analysis_test_place(&rule->tx_test[k]),
                   analysis_test_place(&rule->tx_test[i])) == 0)
            return false;
    return true;
}

static void add_test(const struct rule *rule, const struct rule_test *test,
                     analysis_engines *out)
{
    bool any = false;

    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        if (proto == NULL || !fits(rule, proto->id) || !test_in_proto(test, proto))
            continue;
        any = true;
        add_place(rule, test, proto->id, out);
    }
    if (!any)
        add_place(rule, test, APP_PROTO_UNKNOWN, out);
}

static void add_stream(const struct rule *rule, const struct rule_list *payload,
                       analysis_engines *out)
{
    for (unsigned d = 0; d < 2; d++)
        if (in_direction(rule, d))
            ARRAY_PUSH(out, ((struct analysis_engine){ .list = payload, .stream = true,
                                                       .direction = (uint8_t)d }));
}

void analysis_engines_of(const struct rule *rule, analysis_engines *out)
{
    const struct rule_list *payload = analysis_payload(rule);
    bool negated;
    const struct rule_op *pattern = analysis_pattern(rule, &negated);

    for (const struct rule_list *l = rule->list; l != NULL; l = l->next)
        if (l->buffer != NULL && l->buffer->kind == BUFFER_TX)
            add_list(rule, l, pattern != NULL && pattern->list == l, out);
    for (unsigned i = 0; i < rule->tx_test_count; i++)
        if (is_first_of_place(rule, i))
            add_test(rule, &rule->tx_test[i], out);
    if (out->count > 0 && payload != NULL)
        add_stream(rule, payload, out);
}
