/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/tx_engines.c - lists the steps in which Suricata would inspect
 * transactions for a rule: --engine-analysis prints them, and the check of hooks compares
 * them. The step with the rule's pattern comes first; the others follow by the progress
 * that each one needs. */
#include "detect/compile/tx_engines.h"

#include "detect/compile/compile.h"

#include <stdlib.h>
#include <string.h>

static bool rule_allows_proto(const struct rule *rule, enum app_proto_id id)
{
    return rule->app_proto == APP_PROTO_UNKNOWN || app_proto_matches(rule->app_proto, id);
}

/* A rule with "=>" inspects both. */
static bool in_direction(const struct rule *rule, unsigned d)
{
    return (rule->flags & RULE_TX_BOTH) ||
           (rule->flags & (d == TO_SERVER ? RULE_TO_SERVER : RULE_TO_CLIENT));
}

/* A rule has few steps; moving them costs nothing at load time. */
static void insert_at(tx_engines *to, size_t at, struct tx_engine e)
{
    ARRAY_PUSH(to, e);
    memmove(&to->at[at + 1], &to->at[at], (to->count - 1 - at) * sizeof(e));
    to->at[at] = e;
}

/* The pattern's step stays first. Steps of equal progress keep the order in which they are
 * added. */
static void engine_add(tx_engines *to, struct tx_engine e)
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

/* One protocol and direction in which a rule inspects something. */
struct order_step { enum app_proto_id id; uint8_t direction, rank; };
#define STEPS_MAX (2 * APP_PROTO_COUNT)

/* Compares by the name in the tables of engine_progress.c. */
static int compare_ranks(const void *a, const void *b)
{
    return ((const struct order_step *)a)->rank - ((const struct order_step *)b)->rank;
}

/* All steps of a keyword, in the order in which reports count them: that of Suricata's
 * table, or by protocol number. */
static unsigned steps_of(const char *name, struct order_step out[STEPS_MAX])
{
    unsigned count = 0;

    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++) {
        const struct app_report_order *order = engine_order(name, id);

        for (unsigned d = 0; order != NULL && d < 2; d++)
            if (order->rank[d] != 0)
                out[count++] = (struct order_step){ id, (uint8_t)d, order->rank[d] };
    }
    if (count > 0) {
        qsort(out, count, sizeof(*out), compare_ranks);
        return count;
    }
    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++)
        for (unsigned d = 0; d < 2; d++)
            out[count++] = (struct order_step){ id, (uint8_t)d, 0 };
    return count;
}

/* Data that a protocol transfers on connections of another protocol count for both. */
static const struct app_buffer *in_proto(const struct buffer *b, enum app_proto_id id)
{
    enum app_proto_id files_by = app_proto_by_id(id)->files_by;

    if (files_by != 0 && b->by_proto[id] == NULL && b->by_proto[files_by] != NULL &&
        strncmp(b->base->name, "file.", 5) == 0)
        id = files_by;
    return b->by_proto[id];
}

/* Adds the steps of one buffer in all protocols and directions that the rule allows. */
static void add_list(const struct rule *rule, const struct rule_list *l, bool pattern,
                     tx_engines *out)
{
    char text[ENGINE_NAME_SIZE];
    const char *name = engine_buffer_name(l->buffer, text);
    struct order_step step[STEPS_MAX];
    unsigned count = steps_of(name, step);

    for (unsigned i = 0; i < count; i++) {
        const struct app_buffer *b = in_proto(l->buffer, step[i].id);
        unsigned d = step[i].direction;

        if (b != NULL && rule_allows_proto(rule, step[i].id) && in_direction(rule, d) &&
            (l->directions & b->directions & APP_DIRECTION_BIT(d)))
            engine_add(out, (struct tx_engine){
                .list = l, .pattern = pattern, .direction = (uint8_t)d,
                .progress = engine_progress(name, step[i].id, d, b->progress[d]),
                .proto = step[i].id });
    }
}

static bool test_in_files(const struct rule_test *test)
{
    return strcmp(engine_test_position(test), "files") == 0;
}

static uint8_t file_directions(const struct app_proto *proto)
{
    return proto->files_by != 0 ? app_proto_by_id(proto->files_by)->file_directions
                                : proto->file_directions;
}

static bool test_in_proto(const struct rule_test *test, const struct app_proto *proto)
{
    if (test_in_files(test))
        return file_directions(proto) != 0;
    return keyword_declared_in(test->keyword, proto->id);
}

/* Suricata inspects all tests of one list in one step, so only the first adds it. */
static bool is_first_at_position(const struct rule *rule, unsigned i)
{
    for (unsigned k = 0; k < i; k++)
        if (strcmp(engine_test_position(&rule->tx_test[k]),
                   engine_test_position(&rule->tx_test[i])) == 0)
            return false;
    return true;
}

static bool is_inspected_in(const struct rule_test *test, const struct app_proto *proto, unsigned d)
{
    uint8_t directions = test->directions;

    if (test_in_files(test))
        directions &= file_directions(proto);
    return (directions & APP_DIRECTION_BIT(d)) != 0;
}

/* A test that no protocol declares (app-layer-event) has a step without a protocol. */
static void add_everywhere(const struct rule *rule, const struct rule_test *test,
                           tx_engines *out)
{
    for (unsigned d = 0; d < 2; d++)
        if (in_direction(rule, d) && (test->directions & APP_DIRECTION_BIT(d)))
            engine_add(out, (struct tx_engine){ .position = engine_test_position(test),
                                                      .direction = (uint8_t)d,
                                                      .progress = test->progress[d] });
}

static void add_test(const struct rule *rule, const struct rule_test *test,
                     tx_engines *out)
{
    const char *position = engine_test_position(test);
    struct order_step step[STEPS_MAX];
    unsigned count = steps_of(position, step);
    size_t before = out->count;

    for (unsigned i = 0; i < count; i++) {
        const struct app_proto *proto = app_proto_by_id(step[i].id);
        unsigned d = step[i].direction;

        if (proto != NULL && rule_allows_proto(rule, proto->id) && test_in_proto(test, proto) &&
            in_direction(rule, d) && is_inspected_in(test, proto, d))
            engine_add(out, (struct tx_engine){
                .position = position, .direction = (uint8_t)d, .proto = proto->id,
                .progress = engine_progress(position, proto->id, d, test->progress[d]) });
    }
    if (out->count == before)
        add_everywhere(rule, test, out);
}

/* Payload comes last, unless its pattern is the rule's. */
static void add_stream(const struct rule *rule, const struct rule_list *payload, bool pattern,
                       tx_engines *out)
{
    for (unsigned d = 0; d < 2; d++) {
        struct tx_engine e = { .list = payload, .stream = true, .pattern = pattern,
                                     .direction = (uint8_t)d };

        if (in_direction(rule, d))
            insert_at(out, pattern ? 0 : out->count, e);
    }
}

static uint8_t hook_progress(const struct rule *rule)
{
    const struct app_proto *proto = app_proto_by_id((enum app_proto_id)rule->app_proto);

    if (rule->hook > 1 && proto->reports != NULL && proto->reports->hook_progress != 0)
        return proto->reports->hook_progress;
    return (uint8_t)(rule->hook - 1);
}

/* A rule with a hook and without tests on the transaction has one step: at the hook's
 * progress. Suricata gives HTTP/2 the last progress there, which is 7. */
static void add_hook(const struct rule *rule, tx_engines *out)
{
    if (!rule->hook_in_app)
        return;
    for (const struct rule_list *l = rule->list; l != NULL; l = l->next)
        if (l->buffer != NULL && l->buffer->kind == BUFFER_PACKET)
            return;
    for (unsigned d = 0; d < 2; d++)
        if (in_direction(rule, d))
            ARRAY_PUSH(out, ((struct tx_engine){
                .hook = true, .direction = (uint8_t)d, .progress = hook_progress(rule),
                .step = (uint8_t)(rule->hook - 1), .kind = rule->hook_kind,
                .proto = (enum app_proto_id)rule->app_proto }));
}

/* Some tests can be evaluated at any hook. */
static bool fits_any_hook(const struct tx_engine *e)
{
    const struct app_reports *reports = app_proto_by_id(e->proto)->reports;

    return e->position != NULL && reports != NULL && reports->any_hook != NULL &&
           strcmp(e->position, reports->any_hook) == 0;
}

static bool has_own_progress(const struct tx_engine *e)
{
    return !e->hook && !e->stream && e->proto != APP_PROTO_UNKNOWN && !fits_any_hook(e);
}

static bool is_hook_of_nine(const struct rule *rule)
{
    const struct app_proto *proto = app_proto_by_id((enum app_proto_id)rule->app_proto);

    return proto != NULL && (proto->steps_of_nine >> (rule->hook - 1) & 1) != 0;
}

/* Suricata rejects a rule whose keywords need another progress than its hook has; so do
 * we. */
bool tx_engines_fit_hook(const struct rule *rule)
{
    tx_engines all = { 0 };
    bool fits = true;

    if (!rule->hook_in_app || rule->hook_kind != 0 || is_hook_of_nine(rule))
        return true;
    tx_engines_of(rule, NULL, &all);
    for (size_t i = 0; i < all.count; i++)
        if (has_own_progress(&all.at[i]))
            fits &= all.at[i].progress == hook_progress(rule);
    ARRAY_FREE(&all);
    return fits;
}

/* `pattern`: the rule's fast pattern; NULL: none. Appends to *out, which the caller frees. */
void tx_engines_of(const struct rule *rule, const struct rule_op *pattern, tx_engines *out)
{
    const struct rule_list *payload = rule_payload(rule);

    for (const struct rule_list *l = rule->list; l != NULL; l = l->next)
        if (l->buffer != NULL && l->buffer->kind == BUFFER_TX)
            add_list(rule, l, pattern != NULL && pattern->list->buffer == l->buffer, out);
    for (unsigned i = 0; i < rule->tx_test_count; i++)
        if (is_first_at_position(rule, i))
            add_test(rule, &rule->tx_test[i], out);
    if (out->count == 0)
        add_hook(rule, out);
    if ((out->count > 0 || rule->upstream != NULL) && payload != NULL)
        add_stream(rule, payload, pattern != NULL && pattern->list == payload, out);
}
