/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/order.c - the evaluation order of rules: by action as configured, then
 * rules that set flowbits and other variables before rules that read them, then by
 * priority and number. */
#include "detect/compile/compile.h"

#include <stdlib.h>
#include <string.h>

struct ordering {
    uint8_t rank[RULE_ACCEPT + 1];      /* by action; lower goes first */
};

/* The default order, which is Suricata's. */
static const char *const action_words[] = { "pass", "drop", "reject", "alert", NULL };

/* `word` is an index of action_words[]. The three kinds of reject rank alike. */
static void rank_action(struct ordering *o, unsigned word, uint8_t rank)
{
    switch (word) {
    case 0:
        o->rank[RULE_PASS] = rank;
        break;
    case 1:
        o->rank[RULE_DROP] = rank;
        break;
    case 2:
        o->rank[RULE_REJECT_SRC] = o->rank[RULE_REJECT_DST] = o->rank[RULE_REJECT_BOTH] = rank;
        break;
    default:
        o->rank[RULE_ALERT] = o->rank[RULE_CONFIG] = rank;
        break;
    }
}

/* An incomplete list is replaced by the complete default. A wrong word is fatal: a typing error
 * must not make a rule pass traffic before another drops it. */
static void ordering_read(struct ordering *o, const struct conf_node *conf)
{
    const struct conf_node *list = conf_find(conf, "action-order");
    uint8_t rank = 0;
    unsigned seen = 0;

    memset(o, 0, sizeof(*o));
    CONF_EACH(item, list) {
        unsigned word = 0;

        while (action_words[word] != NULL && !text_equal(text_of(item->value), action_words[word]))
            word++;
        if (action_words[word] == NULL || (seen & 1u << word)) {
            conf_fatal(item, "action-order: expected each of pass, drop, reject, alert once, found "
                       "\"%s\"", item->value);
            seen = 0;
            break;
        }
        seen |= 1u << word;
        rank_action(o, word, ++rank);
    }
    if (seen == 15)
        return;
    for (unsigned word = 0; word < 4; word++)
        rank_action(o, word, (uint8_t)(word + 1));
}

/* Setters first, then rules that set and read, then readers, then the rest. A single
 * packet can then match a chain of rules. */
static unsigned rank_of(bool sets, bool reads)
{
    if (sets)
        return reads ? 1 : 0;
    return reads ? 2 : 3;
}

/* Flowbits first, then each kind of variable, as in Suricata. */
static int by_variables(const struct rule *x, const struct rule *y)
{
    unsigned a = rank_of(x->flowbits_set > 0, x->flowbits_read > 0);
    unsigned b = rank_of(y->flowbits_set > 0, y->flowbits_read > 0);

    for (unsigned i = 0; a == b && i < RULE_VARS; i++) {
        a = rank_of(x->vars_set >> i & 1, x->vars_read >> i & 1);
        b = rank_of(y->vars_set >> i & 1, y->vars_read >> i & 1);
    }
    return (int)a - (int)b;
}

/* A total order: the file's order decides last, so every load gives the same indexes. */
static int compare(const void *a, const void *b, void *arg)
{
    const struct rule *x = *(struct rule *const *)a, *y = *(struct rule *const *)b;
    const struct ordering *o = arg;

    /* Firewall rules come first, in the order of their file. */
    if ((x->flags ^ y->flags) & RULE_FIREWALL)
        return x->flags & RULE_FIREWALL ? -1 : 1;
    if (x->flags & RULE_FIREWALL)
        return (x->index > y->index) - (x->index < y->index);
    if (o->rank[x->action] != o->rank[y->action])
        return o->rank[x->action] - o->rank[y->action];
    if (by_variables(x, y) != 0)
        return by_variables(x, y);
    if (x->priority != y->priority)
        return x->priority < y->priority ? -1 : 1;
    if (x->sid != y->sid)
        return x->sid < y->sid ? -1 : 1;
    return (x->index > y->index) - (x->index < y->index);
}

void rules_order(struct ruleset *set)
{
    struct ordering o;

    ordering_read(&o, set->conf);
    for (size_t i = 0; i < set->rules.count; i++)
        set->rules.at[i]->index = (uint32_t)i;
    if (set->rules.count > 1)
        qsort_r(set->rules.at, set->rules.count, sizeof(set->rules.at[0]), compare, &o);
    for (size_t i = 0; i < set->rules.count; i++)
        set->rules.at[i]->index = (uint32_t)i;
}
