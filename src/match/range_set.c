/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/range_set.c - sets of numbers as sorted ranges, and the grammar of sets in rules. */
#include "match/range_set.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Groups in groups, and variables in variables. The limit also ends a loop of variables. */
#define DEPTH_MAX 64
/* Uses of variables within one list: forty variables that each name the one before twice would be
 * 2^40 elements. */
#define VARIABLES_MAX 10000

void range_set_fini(struct range_set *set)
{
    for (unsigned f = 0; f < RANGE_FAMILIES; f++)
        ARRAY_FREE(&set->of[f]);
}

void range_set_add(struct range_set *set, unsigned family, range_value lo, range_value hi)
{
    struct range r = { lo, hi };

    ARRAY_PUSH(&set->of[family], r);
}

static int compare_ranges(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return x->lo < y->lo ? -1 : x->lo > y->lo;
}

/* Sorts, and merges ranges that overlap or touch. The largest value has no successor, so adding 1
 * to it would wrap. */
void range_set_normalise(struct range_set *set)
{
    for (unsigned f = 0; f < RANGE_FAMILIES; f++) {
        struct range *r = set->of[f].at;
        size_t n = 0;

        if (set->of[f].count < 2)
            continue;
        qsort(r, set->of[f].count, sizeof(r[0]), compare_ranges);
        for (size_t i = 1; i < set->of[f].count; i++) {
            if (r[n].hi == (range_value)-1 || r[i].lo <= r[n].hi + 1)
                r[n].hi = MAX(r[n].hi, r[i].hi);
            else
                r[++n] = r[i];
        }
        set->of[f].count = n + 1;
    }
}

bool range_set_is_empty(const struct range_set *set)
{
    for (unsigned f = 0; f < RANGE_FAMILIES; f++)
        if (set->of[f].count > 0)
            return false;
    return true;
}

bool range_set_is_all(const struct range_set *set, unsigned family, range_value max)
{
    return set->of[family].count == 1 && set->of[family].at[0].lo == 0 &&
           set->of[family].at[0].hi == max;
}

/* Both sets are sorted. A range that is cut in the middle becomes two. */
static void subtract_family(struct range_set *set, unsigned f, const struct range_set *less)
{
    struct range_set out = { 0 };

    for (size_t i = 0; i < set->of[f].count; i++) {
        struct range left = set->of[f].at[i];
        bool removed = false;

        for (size_t k = 0; k < less->of[f].count && !removed; k++) {
            const struct range *cut = &less->of[f].at[k];

            if (cut->hi < left.lo || cut->lo > left.hi)
                continue;
            if (cut->lo > left.lo)
                range_set_add(&out, f, left.lo, cut->lo - 1);
            removed = cut->hi >= left.hi;
            left.lo = cut->hi + 1;
        }
        if (!removed)
            range_set_add(&out, f, left.lo, left.hi);
    }
    ARRAY_FREE(&set->of[f]);
    memcpy(&set->of[f], &out.of[f], sizeof(out.of[f]));
}

void range_set_subtract(struct range_set *set, const struct range_set *less)
{
    for (unsigned f = 0; f < RANGE_FAMILIES; f++)
        if (less->of[f].count > 0)
            subtract_family(set, f, less);
}

static void add_all(struct range_set *to, const struct range_set *from)
{
    for (unsigned f = 0; f < RANGE_FAMILIES; f++)
        for (size_t i = 0; i < from->of[f].count; i++)
            range_set_add(to, f, from->of[f].at[i].lo, from->of[f].at[i].hi);
}

/* --- the grammar ------------------------------------------------------------------------------ */

/* State of parsing one list. It is copied for each variable, so that errors name the variable. */
struct set_parser {
    const struct set_grammar *grammar;
    const struct set_vars *vars;
    struct err *err;
    struct where at;            /* of text[0] */
    const char *text;           /* what columns count from; NULL inside a variable */
    struct text variable;       /* the one being expanded; n 0: none */
    unsigned depth;
    unsigned *variables;        /* how many were expanded */
    bool *negates;              /* set when a "!" stands anywhere, variables included */
};

/* `yes` has the plain elements of a list, `no` those with "!". */
struct signed_set {
    struct range_set yes, no;
};

static void signed_set_fini(struct signed_set *s)
{
    range_set_fini(&s->yes);
    range_set_fini(&s->no);
}

/* The value of a variable has no position in the rule: errors in it point to the variable's
 * name. */
static struct where location_of(const struct set_parser *sp, const char *p)
{
    struct where at = sp->at;

    if (sp->text != NULL && at.column > 0)
        at.column += (unsigned)(p - sp->text);
    return at;
}

/* One sentence, which names the variable if the text is the value of one. */
static int set_error(const struct set_parser *sp, const char *p, const char *sentence,
                     struct text found)
{
    struct where at = location_of(sp, p);

    if (sp->variable.n > 0)
        return err_at(sp->err, at, "%s: \"%.*s\" (in the value of $%.*s)", sentence, TEXT(found),
                      TEXT(sp->variable));
    return err_at(sp->err, at, "%s: \"%.*s\"", sentence, TEXT(found));
}

static int describe(const struct set_parser *sp, const char *p, const char *fmt, struct text found)
{
    char sentence[160];

    snprintf(sentence, sizeof(sentence), fmt, sp->grammar->what);
    return set_error(sp, p, sentence, found);
}

/* Subtracts `no` from `yes`. A family with negations only starts from all its numbers. An empty
 * result is an error, because the rule could never match. */
static int subtract_negated(const struct set_parser *sp, struct text list, struct signed_set *s)
{
    const struct set_grammar *g = sp->grammar;
    bool all_negated = true;

    range_set_normalise(&s->yes);
    range_set_normalise(&s->no);
    for (unsigned f = 0; f < g->families; f++)
        all_negated &= range_set_is_all(&s->no, f, g->max[f]);
    if (all_negated)
        return describe(sp, list.p, "every %s is negated, the rule could never match", list);
    for (unsigned f = 0; f < g->families; f++)
        if (s->yes.of[f].count == 0 && s->no.of[f].count > 0)
            range_set_add(&s->yes, f, 0, g->max[f]);
    range_set_subtract(&s->yes, &s->no);
    if (range_set_is_empty(&s->yes))
        return describe(sp, list.p, "no %s is left once the negated ones are taken away", list);
    return 0;
}

static int parse_list(struct set_parser *sp, struct text in, struct signed_set *into);

/* A negated group is evaluated by itself and then subtracted. */
static int parse_negated(struct set_parser *sp, struct text in, struct signed_set *into)
{
    struct signed_set group = { 0 };
    int r = parse_list(sp, in, &group);

    if (r == 0)
        r = subtract_negated(sp, in, &group);
    if (r == 0)
        add_all(&into->no, &group.yes);
    signed_set_fini(&group);
    return r;
}

static int parse_group(struct set_parser *sp, struct text in, bool negated,
                       struct signed_set *into)
{
    int r;

    if (sp->depth >= DEPTH_MAX)
        return describe(sp, in.p, "%s groups or variables stand too deep in each other", in);
    sp->depth++;
    r = negated ? parse_negated(sp, in, into) : parse_list(sp, in, into);
    sp->depth--;
    return r;
}

/* Variables are expanded where they are used, like a group. */
static int parse_variable(struct set_parser *sp, struct text in, bool negated,
                          struct signed_set *into)
{
    struct text name = text_from(in, 1);
    const char *value = sp->vars != NULL ? sp->vars->find(sp->vars->arg, name) : NULL;
    struct set_parser inner = *sp;
    int r;

    if (value == NULL)                  /* language servers look for the first words */
        return err_at(sp->err, location_of(sp, in.p),
                      "Variable \"%.*s\" is not defined in configuration file: vars.%s-groups has "
                      "none of this name", TEXT(name), sp->grammar->what);
    if (text_trim(text_of(value)).n == 0)
        return err_at(sp->err, location_of(sp, in.p),
                      "variable $%.*s is empty (a value that begins with \"!\" must stand in "
                      "quotes)", TEXT(name));
    if (++*sp->variables > VARIABLES_MAX)
        return describe(sp, in.p, "variables of %s groups name each other too often", in);
    inner.at = location_of(sp, in.p);
    inner.text = NULL;
    inner.variable = name;
    r = parse_group(&inner, text_of(value), negated, into);
    return r;
}

/* Two "!" cancel each other. */
static int parse_element(struct set_parser *sp, struct text in, struct signed_set *into)
{
    const char *start = in.p, *why = NULL;
    bool negated = false;

    while (in.n > 0 && in.p[0] == '!') {
        negated = !negated;
        *sp->negates = true;
        in = text_trim(text_from(in, 1));
    }
    if (in.n == 0)
        return describe(sp, start, "an element of this %s list is missing", in);
    if (in.p[0] == '[') {
        if (in.p[in.n - 1] != ']')
            return describe(sp, in.p, "this %s group is not closed", in);
        return parse_group(sp, (struct text){ in.p + 1, in.n - 2 }, negated, into);
    }
    if (in.p[0] == '$')
        return parse_variable(sp, in, negated, into);
    if (!sp->grammar->element(in, negated ? &into->no : &into->yes, &why))
        return set_error(sp, in.p, why, in);
    return 0;
}

/* The length of the part before the next comma outside of brackets; -1 if brackets do not match. */
static ptrdiff_t part_length(struct text in)
{
    int depth = 0;

    for (size_t i = 0; i < in.n; i++) {
        if (in.p[i] == '[')
            depth++;
        else if (in.p[i] == ']' && --depth < 0)
            return -1;
        else if (in.p[i] == ',' && depth == 0)
            return (ptrdiff_t)i;
    }
    return depth == 0 ? (ptrdiff_t)in.n : -1;
}

static int parse_list(struct set_parser *sp, struct text in, struct signed_set *into)
{
    do {
        ptrdiff_t n = part_length(in);

        if (n < 0)
            return describe(sp, in.p, "brackets of this %s group do not pair", in);
        if (parse_element(sp, text_trim((struct text){ in.p, (size_t)n }), into) < 0)
            return -1;
        in = text_from(in, (size_t)n + 1);
    } while (in.n > 0);
    return 0;
}

/* On success the caller owns *out (range_set_fini()). */
int range_set_parse(const struct set_grammar *grammar, struct set_text in,
                    const struct set_vars *vars, struct range_set *out, struct err *err)
{
    struct set_parser sp = { .grammar = grammar, .vars = vars, .err = err, .at = in.at,
                             .text = in.text.p };
    struct signed_set result = { 0 };
    unsigned variables = 0;
    int r;

    sp.variables = &variables;
    sp.negates = &result.yes.negates;
    r = parse_list(&sp, in.text, &result);
    if (r == 0)
        r = subtract_negated(&sp, in.text, &result);
    range_set_fini(&result.no);
    if (r < 0)
        range_set_fini(&result.yes);
    else
        *out = result.yes;
    return r;
}
