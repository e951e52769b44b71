/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/conditions.c - a rule as the list of its conditions, each with its words in the
 * rule. */
#include "detect/explain/private.h"

#include "detect/rule/flowbits.h"
#include "match/address.h"
#include "match/port.h"

#include <stdlib.h>
#include <string.h>

#define OPTIONS_MAX 256

/* An option of the rule's text: "content:"abc"". */
struct option { struct text all, name; bool taken; };

struct options { struct option at[OPTIONS_MAX]; unsigned count; };

/* Behind the first '(': to the next ';' that is neither escaped nor in quotes. */
static void options_read(const char *text, struct options *out)
{
    const char *p = text != NULL ? strchr(text, '(') : NULL, *from;
    bool quoted = false;

    out->count = 0;
    for (from = p != NULL ? ++p : p; p != NULL && *p != '\0' && out->count < OPTIONS_MAX; p++) {
        if (*p == '\\' && p[1] != '\0')
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (*p == ';' && !quoted) {
            struct option *o = &out->at[out->count++];
            const char *colon;

            o->all = text_trim((struct text){ from, (size_t)(p - from) });
            colon = memchr(o->all.p, ':', o->all.n);
            o->name = text_trim((struct text){
                o->all.p, colon != NULL ? (size_t)(colon - o->all.p) : o->all.n });
            o->taken = false;
            from = p + 1;
        }
    }
}

static bool is_named(const struct option *o, const struct keyword_ops *k)
{
    return text_equal(o->name, k->name) || (k->alias != NULL && text_equal(o->name, k->alias)) ||
           keyword_find(o->name) == k;
}

/* Words that change the content before them. */
static bool is_modifier(struct text name)
{
    static const char *const words[] = {
        "nocase", "offset", "depth", "distance", "within", "startswith", "endswith", "rawbytes",
        "fast_pattern", "replace", NULL };

    for (unsigned i = 0; words[i] != NULL; i++)
        if (text_equal(name, words[i]))
            return true;
    return false;
}

static const char *with_modifiers(struct arena *arena, const struct options *o, unsigned i)
{
    const char *out = arena_text(arena, o->at[i].all);

    for (i++; i < o->count && is_modifier(o->at[i].name); i++)
        out = arena_printf(arena, "%s; %.*s", out, TEXT(o->at[i].all));
    return out;
}

/* Of a keyword that both asks and acts (flowbits, xbits), what acts is no condition. */
static bool acts_only(const struct option *o)
{
    const char *colon = memchr(o->all.p, ':', o->all.n);
    struct text rest, word;

    if (colon == NULL)
        return false;
    rest = (struct text){ colon + 1, o->all.n - (size_t)(colon + 1 - o->all.p) };
    if (!text_split(&rest, ',', &word))
        return false;
    word = text_trim(word);
    return text_equal(word, "set") || text_equal(word, "unset") || text_equal(word, "toggle") ||
           text_equal(word, "noalert");
}

/* The first option of the keyword that no condition has taken yet; of a keyword that makes several
 * tests, all have its last. */
static const char *option_of(struct explain *e, struct options *o, const struct keyword_ops *k,
                             bool is_test)
{
    unsigned last = o->count;

    for (unsigned i = 0; k != NULL && i < o->count; i++) {
        if (!is_named(&o->at[i], k) || (is_test && acts_only(&o->at[i])))
            continue;
        last = i;
        if (!o->at[i].taken)
            break;
    }
    if (last == o->count)
        return k != NULL ? k->name : "";
    o->at[last].taken = true;
    return with_modifiers(&e->arena, o, last);
}

static const char *option_named(struct explain *e, const struct options *o, const char *name)
{
    for (unsigned i = 0; i < o->count; i++)
        if (text_equal(o->at[i].name, name))
            return arena_text(&e->arena, o->at[i].all);
    return "";
}

static struct condition *add(struct wanted *w, enum part part, const char *text)
{
    struct condition *c = &w->condition[w->count++];

    *c = (struct condition){ .part = (uint8_t)part, .text = text };
    return c;
}

enum header_word { WORD_ACTION, WORD_PROTO, WORD_SRC, WORD_SRC_PORT, WORD_ARROW, WORD_DST,
                   WORD_DST_PORT };

/* As written: a set may be shared with a rule that writes it otherwise. Blanks inside brackets
 * separate no words. The second rule of a "<>" is swapped. */
static const char *header_word(struct explain *e, const struct wanted *w, unsigned n)
{
    const char *p = w->text, *from;
    int depth = 0;

    if (p == NULL)
        return "";
    if (w->group->rule_count > 1 && w->group->rule[1] == w && n >= WORD_SRC)
        n = n == WORD_SRC ? WORD_DST : n == WORD_DST ? WORD_SRC
            : n == WORD_SRC_PORT ? WORD_DST_PORT : WORD_SRC_PORT;
    for (unsigned word = 0;; word++) {
        p += strspn(p, " \t");
        for (from = p; *p != '\0' && *p != '(' && (depth > 0 || strchr(" \t", *p) == NULL); p++)
            depth += *p == '[' ? 1 : *p == ']' ? -1 : 0;
        if (word == n || p == from)
            return arena_text(&e->arena, (struct text){ from, (size_t)(p - from) });
    }
}

/* The name of a group of protocols ends so; rules write it without. */
static const char *app_text(struct explain *e, const struct rule *r)
{
    struct text name = text_of(app_proto_name((enum app_proto_id)r->app_proto));

    if (name.n > 4 && memcmp(name.p + name.n - 4, "_any", 4) == 0)
        name.n -= 4;
    return arena_text(&e->arena, name);
}

static bool has_test(const struct rule *r, const char *name)
{
    for (unsigned i = 0; i < r->test_count; i++)
        if (r->test[i].keyword != NULL && strcmp(r->test[i].keyword->name, name) == 0)
            return true;
    return false;
}

/* What the rule's header asks. "any" is no condition. A protocol that a keyword names is asked
 * there. */
static void add_header(struct explain *e, struct wanted *w)
{
    const struct rule *r = w->rule;
    uint8_t all[sizeof(r->ip_proto)];

    memset(all, 0xff, sizeof(all));
    add(w, PART_INSPECTED, "");
    if (!has_test(r, "ip_proto") &&
        (memcmp(all, r->ip_proto, sizeof(all)) != 0 || r->ip_version != 0))
        add(w, PART_PROTO, header_word(e, w, WORD_PROTO));
    if (r->src != NULL && !r->src->any)
        add(w, PART_SRC, header_word(e, w, WORD_SRC));
    if (r->src_port != NULL && !r->src_port->any)
        add(w, PART_SRC_PORT, header_word(e, w, WORD_SRC_PORT));
    if (r->dst != NULL && !r->dst->any)
        add(w, PART_DST, header_word(e, w, WORD_DST));
    if (r->dst_port != NULL && !r->dst_port->any)
        add(w, PART_DST_PORT, header_word(e, w, WORD_DST_PORT));
}

static void add_flow(struct explain *e, struct wanted *w, const struct options *o)
{
    const uint32_t both = RULE_TO_SERVER | RULE_TO_CLIENT;
    uint32_t f = w->rule->flags;

    if ((f & both) != both && (f & both) != 0)
        add(w, PART_DIRECTION, option_named(e, o, "flow"));
    if (f & (RULE_NEEDS_FLOW | RULE_FLOW_ESTABLISHED | RULE_FLOW_NOT_ESTABLISHED | RULE_ONLY_FRAG |
             RULE_NO_FRAG) || w->rule->hook == HOOK_FLOW_START)
        add(w, PART_FLOW, option_named(e, o, "flow"));
    if (w->rule->app_proto != APP_PROTO_UNKNOWN)
        add(w, PART_APP, app_text(e, w->rule));
}

/* `flow` has been asked by then. */
static void add_tests(struct explain *e, struct wanted *w, struct options *o, bool late)
{
    for (unsigned i = 0; i < w->rule->test_count; i++) {
        const struct rule_test *test = &w->rule->test[i];
        struct condition *c;

        if (test->late != late || test->keyword == NULL ||
            strcmp(test->keyword->name, "flow") == 0)
            continue;
        c = add(w, late ? PART_LATE_TEST : PART_TEST, option_of(e, o, test->keyword, true));
        c->test = test;
        c->silent = strcmp(test->keyword->name, "lua") == 0;
    }
}

static void add_steps(struct wanted *w, struct trace *t, unsigned list)
{
    for (unsigned i = 0; t != NULL && i < t->count; i++) {
        struct condition *c = add(w, PART_STEP, "");

        c->trace = t;
        c->step = i;
        c->list = list;
        c->is_fast = t->op[i]->keyword != NULL && w->rule->fast_op != NULL &&
                     t->op[i]->serial == w->rule->fast_op->serial;
    }
    if (t != NULL && t->decoded != NULL)
        add_steps(w, t->decoded, list);
}

/* Of contents in several buffers the one that stands first in the rule takes the first option. */
static void name_steps(struct explain *e, struct wanted *w, struct options *o)
{
    for (unsigned n = 0; n < w->count; n++) {
        struct condition *next = NULL;

        for (unsigned i = 0; i < w->count; i++) {
            struct condition *c = &w->condition[i];

            if (c->part == PART_STEP && c->text[0] == '\0' &&
                (next == NULL ||
                 c->trace->op[c->step]->serial < next->trace->op[next->step]->serial))
                next = c;
        }
        if (next == NULL)
            return;
        next->text = option_of(e, o, next->trace->op[next->step]->keyword, false);
        if (next->text[0] == '\0')
            next->text = "?";
        next->silent = strncmp(next->text, "lua", 3) == 0 ||
                       strncmp(next->text, "dataset:set", 11) == 0 ||
                       strncmp(next->text, "dataset:unset", 13) == 0;
    }
}

static unsigned most_conditions(const struct rule *r)
{
    unsigned n = 9 + r->test_count + r->tx_test_count;

    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        n += l->op_count + (l->decoded != NULL ? l->decoded->op_count : 0);
    return n;
}

static bool changes_a_set(const char *text)
{
    return text == NULL || strstr(text, "dataset:set") != NULL ||
           strstr(text, "dataset:unset") != NULL;
}

void conditions_make(struct explain *e, struct wanted *w)
{
    const struct rule *r = w->rule;
    struct options *o = xcalloc(1, sizeof(*o));
    unsigned n = 0, flags = (changes_a_set(w->text) ? TRACE_CHANGES_SETS : 0) |
                            (e->summary ? TRACE_ONCE : 0);

    options_read(w->text, o);
    w->condition = arena_zalloc(&e->arena, most_conditions(r) * sizeof(*w->condition));
    if (e->summary)
        w->stopped = arena_zalloc(&e->arena, (most_conditions(r) + 1) * sizeof(*w->stopped));
    w->finding = arena_zalloc(&e->arena, most_conditions(r) * sizeof(*w->finding));
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        w->list_count++;
    w->trace = arena_zalloc(&e->arena, (w->list_count + 1) * sizeof(*w->trace));
    add_header(e, w);
    add_flow(e, w, o);
    add_tests(e, w, o, false);
    for (const struct rule_list *l = r->list; l != NULL; l = l->next, n++) {
        w->trace[n] = trace_new(&e->arena, l, flags);
        add_steps(w, w->trace[n], n);
    }
    name_steps(e, w, o);
    for (unsigned i = 0; i < r->tx_test_count; i++)
        add(w, PART_TX_TEST, option_of(e, o, r->tx_test[i].keyword, true))->test = &r->tx_test[i];
    add_tests(e, w, o, true);
    free(o);
}

const char *condition_buffer(const struct condition *c)
{
    const struct buffer *b;

    if (c->part != PART_STEP)
        return NULL;
    b = c->trace->list->buffer;
    return b != NULL ? b->name : "the payload";
}
