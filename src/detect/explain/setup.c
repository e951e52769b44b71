/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/setup.c - which rules and which flow are wanted; memory of the whole. */
#include "detect/explain/notes.h"

#include "base/memory/lib_memory.h"
#include "conf/conf.h"
#include "detect/compile/tenants.h"
#include "detect/rule/rule_block.h"
#include "detect/state/threshold.h"

#include <stdlib.h>
#include <string.h>

/* --- what is wanted ------------------------------------------------------------------------- */

/* A rule that could not be loaded: the number stands in its text. */
static const struct ruleset_failure *failure_of(const struct ruleset *set, uint32_t sid)
{
    for (size_t i = 0; i < set->failures.count; i++) {
        const char *p = set->failures.at[i].rule;

        for (p = p != NULL ? strstr(p, "sid:") : NULL; p != NULL; p = strstr(p + 4, "sid:"))
            if (strtoul(p + 4, NULL, 10) == sid)
                return &set->failures.at[i];
    }
    return NULL;
}

static void group_add_rule(struct explain *e, struct group *g, const struct rule *r, bool hidden)
{
    struct wanted *w = &e->wanted[e->wanted_count++];

    *w = (struct wanted){ .rule = r, .group = g, .is_hidden = hidden, .text = r->text };
    if (w->text == NULL && e->text_of != NULL)
        w->text = e->text_of(r, &e->arena);
    g->rule[g->rule_count++] = w;
    e->by_index[r->index] = w;
    conditions_make(e, w);
}

/* "<>" makes two rules of a number. */
static void group_make(struct explain *e, uint32_t sid, bool hidden)
{
    struct group *g = NULL;

    for (unsigned i = 0; i < e->group_count; i++)
        if (e->group[i].sid == sid)
            return;
    g = &e->group[e->group_count++];
    g->sid = sid;
    for (size_t i = 0; i < e->set->rules.count; i++)
        if (e->set->rules.at[i]->sid == sid && !e->set->rules.at[i]->is_facts &&
            g->rule_count < ARRAY_LEN(g->rule))
            group_add_rule(e, g, e->set->rules.at[i], hidden);
    if (g->rule_count == 0)
        g->failure = failure_of(e->set, sid);
}

/* rate_filter may make a pass rule of another one. */
static bool may_pass(const struct rule *r)
{
    for (const struct threshold_spec *t = r->threshold; t != NULL; t = t->next)
        if (t->type == THRESHOLD_RATE && t->new_action == RATE_PASS)
            return true;
    return r->action == RULE_PASS;
}

#define SETTERS_MOST 32

struct setters { struct explain *e; unsigned count; };

static void add_setter(void *arg, const struct rule *setter)
{
    struct setters *s = arg;

    if (s->count++ < SETTERS_MOST)
        group_make(s->e, setter->sid, true);
}

/* Rules of which the engine may be about to speak: those that end the inspection of others, and
 * those that set what the wanted ones ask for. */
static void add_hidden(struct explain *e)
{
    unsigned wanted = e->wanted_count;
    struct setters setters = { e, 0 };

    for (unsigned i = 0; i < wanted; i++)
        setters_each(e->set, e->wanted[i].rule, add_setter, &setters);
    for (size_t i = 0; i < e->set->rules.count; i++)
        if (may_pass(e->set->rules.at[i]))
            group_make(e, e->set->rules.at[i]->sid, true);
}

static void add_all(struct explain *e)
{
    struct group *last = NULL;

    for (size_t i = 0; i < e->set->rules.count; i++) {
        const struct rule *r = e->set->rules.at[i];

        if (r->is_facts)
            continue;
        if (last == NULL || last->sid != r->sid || last->rule_count == ARRAY_LEN(last->rule)) {
            last = &e->group[e->group_count++];
            last->sid = r->sid;
        }
        group_add_rule(e, last, r, false);
    }
}

static int add_wanted(struct explain *e, const char *rules, struct err *err)
{
    struct text rest = text_of(rules), one;
    uint64_t sid;

    if (strcmp(rules, "all") == 0) {
        add_all(e);
        return 0;
    }
    while (text_split(&rest, ',', &one)) {
        if (!text_to_u64(text_trim(one), UINT32_MAX, &sid) || sid == 0 ||
            e->group_count >= e->set->rules.count + 100)
            return err_set(err, "--explain: expected numbers of rules or \"all\", got \"%s\"",
                           rules);
        group_make(e, (uint32_t)sid, false);
    }
    return e->group_count > 0 ? 0 : err_set(err, "--explain: no rule is named");
}

static int request_read(struct explain *e, const struct explain_request *request, struct err *err)
{
    uint64_t nearest = 10;

    if (request->nearest != NULL &&
        (!text_to_u64(text_of(request->nearest), 1000, &nearest) || nearest == 0))
        return err_set(err, "--nearest: expected 1 to 1000, got \"%s\"", request->nearest);
    e->nearest = (unsigned)nearest;
    e->json = request->json;
    e->summary = request->summary;
    if (request->flow != NULL && flow_wanted_read(&e->flow, "--flow", request->flow, err) < 0)
        return -1;
    if (strcmp(request->rules, "all") == 0 && !request->summary)
        return err_set(err, "--explain all goes with --summary: name the rules to explain");
    return 0;
}

/* --- life ----------------------------------------------------------------------------------- */

static struct explain *explain_of_set(const struct explain_request *request, struct ruleset *set,
                                      struct err *err)
{
    struct explain *e = xcalloc(1, sizeof(*e));
    size_t count = set->rules.count;

    arena_init(&e->arena, 64 * 1024, 0);
    e->set = ruleset_ref(set);
    rule_blocks_read_operations(set);
    e->text_of = request->text_of;
    e->seen_most = SEEN_MAX;
    e->counts_matches = true;
    e->group = xcalloc(count + 101, sizeof(*e->group));
    e->wanted = xcalloc(count + 1, sizeof(*e->wanted));
    e->by_index = xcalloc(count + 1, sizeof(struct wanted *));
    program_scratch_init(&e->scratch, set->plan->step_limit * 2);
    if (request_read(e, request, err) < 0 || add_wanted(e, request->rules, err) < 0) {
        explain_free(e);
        return NULL;
    }
    if (!e->summary)
        add_hidden(e);
    return e;
}

/* Tenants that have none of the rules are left out. */
static bool has_any(const struct explain *e)
{
    for (unsigned i = 0; i < e->group_count; i++)
        if ((e->group[i].rule_count > 0 && !e->group[i].rule[0]->is_hidden) ||
            e->group[i].failure != NULL)
            return true;
    return false;
}

struct explain *explain_new(const struct explain_request *request, struct ruleset *set,
                            struct err *err)
{
    const struct tenants *tenants = request->tenants;
    struct explain *e = explain_of_set(request, set, err), *last = e;

    for (size_t i = 0; e != NULL && tenants != NULL && i < tenants->list.count; i++) {
        const struct tenant *tenant = tenants->list.at[i];
        struct explain *one = explain_of_set(request, tenant->rules, err);

        if (one == NULL || !has_any(one)) {
            explain_free(one);
            continue;
        }
        one->tenant = tenant->id;
        last->next = one;
        last = one;
    }
    return e;
}

static void explain_free_one(struct explain *e)
{
    for (unsigned i = 0; i < e->group_count; i++)
        group_free(&e->group[i]);
    free(e->group);
    free(e->wanted);
    free(e->by_index);
    free(e->matches);
    program_scratch_fini(&e->scratch);
    ruleset_unref(e->set);
    arena_fini(&e->arena);
    free(e);
}

void explain_free(struct explain *e)
{
    explain_end(e);
    while (e != NULL) {
        struct explain *next = e->next;

        explain_free_one(e);
        e = next;
    }
}

/* A thread of its own for detection, as buffers and variables of the engine's must stay as they
 * are. */
int explain_begin(struct explain *e, const struct conf_node *conf, struct counters *counters,
                  struct err *err)
{
    for (; e != NULL; e = e->next) {
        e->shadow = detect_thread_new(e->set, conf, counters, e->set->is_inline, err);
        if (e->shadow == NULL)
            return -1;
        e->midstream = conf_bool(conf, "stream.midstream", false);
        variables_read(e, conf);
        if (e->counts_matches)
            e->matches = xcalloc(e->set->plan->rule_count + 1, sizeof(*e->matches));
    }
    return 0;
}

void explain_end(struct explain *e)
{
    for (; e != NULL; e = e->next) {
        detect_thread_free(e->shadow);
        e->shadow = NULL;
    }
}
