/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/range_set.h - sets of numbers as sorted ranges, and the grammar rules write them in.
 *
 * Addresses and ports share it: "a", "a,b", "[a,b]", "![a,b]", "[a,![b,!c]]", "$VAR". What a list
 * names without "!" is joined, what it names with "!" is then taken away; a negated group is
 * worked out by itself first. A list of negations alone starts from everything. Load time only. */
#ifndef MATCH_RANGE_SET_H
#define MATCH_RANGE_SET_H

#include "base/array.h"
#include "base/err.h"
#include "base/text/text.h"

typedef unsigned __int128 range_value;

struct range {
    range_value lo, hi;         /* both within */
};

/* Families are spaces of their own: IPv4 and IPv6, or ports alone. */
#define RANGE_FAMILIES 2
struct range_set {
    ARRAY_OF(struct range) of[RANGE_FAMILIES];
    bool negates;               /* as parsed: something was taken away with "!" */
};

void range_set_fini(struct range_set *set);
void range_set_add(struct range_set *set, unsigned family, range_value lo, range_value hi);
void range_set_normalise(struct range_set *set);                /* sorts, joins neighbours */
bool range_set_is_empty(const struct range_set *set);
/* Both normalised. */
void range_set_subtract(struct range_set *set, const struct range_set *less);
bool range_set_is_all(const struct range_set *set, unsigned family, range_value max);

/* Values of $VARIABLES; NULL for one that is not defined. */
struct set_vars {
    const char *(*find)(void *arg, struct text name);
    void *arg;
};

/* What the elements of a list are. */
struct set_grammar {
    const char *what;                           /* "address", "port": for messages */
    unsigned families;
    range_value max[RANGE_FAMILIES];
    /* Adds one element. False, and `why` set (a format-free sentence), when it is none. */
    bool (*element)(struct text in, struct range_set *into, const char **why);
};

/* A list as written in a rule or setting. */
struct set_text {
    struct text text;
    struct where at;            /* location of text.p[0], for errors */
};

/* The result is normalised and not empty. */
int range_set_parse(const struct set_grammar *grammar, struct set_text in,
                    const struct set_vars *vars, struct range_set *out, struct err *err);

#endif
