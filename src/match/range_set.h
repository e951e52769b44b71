/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/range_set.h - sets of numbers as sorted ranges, and the grammar in which rules write them.
 *
 * Addresses and ports share it: "a", "a,b", "[a,b]", "![a,b]", "[a,![b,!c]]", "$VAR". Elements
 * without "!" are joined, then elements with "!" are subtracted. A negated group is evaluated by
 * itself first. A list with negations only starts from all numbers. Used at load time only. */
#ifndef MATCH_RANGE_SET_H
#define MATCH_RANGE_SET_H

#include "base/array.h"
#include "base/err.h"
#include "base/text/text.h"

typedef unsigned __int128 range_value;

struct range {
    range_value lo, hi;         /* both ends included */
};

/* Each family has its own numbers: IPv4 and IPv6 addresses, or ports alone. */
#define RANGE_FAMILIES 2
struct range_set {
    ARRAY_OF(struct range) of[RANGE_FAMILIES];
    bool negates;               /* the parsed text subtracted something with "!" */
};

void range_set_fini(struct range_set *set);
void range_set_add(struct range_set *set, unsigned family, range_value lo, range_value hi);
void range_set_normalise(struct range_set *set);                /* sorts, merges neighbours */
bool range_set_is_empty(const struct range_set *set);
/* Both sets must be normalised. */
void range_set_subtract(struct range_set *set, const struct range_set *less);
bool range_set_is_all(const struct range_set *set, unsigned family, range_value max);

/* Finds the value of a $VARIABLE; NULL when it is not defined. */
struct set_vars {
    const char *(*find)(void *arg, struct text name);
    void *arg;
};

/* The elements that a list may have. */
struct set_grammar {
    const char *what;                           /* "address", "port": for messages */
    unsigned families;
    range_value max[RANGE_FAMILIES];
    /* Adds one element to *into. False with *why set (one sentence) when it is not an element. */
    bool (*element)(struct text in, struct range_set *into, const char **why);
};

/* A list as written in a rule or a setting. */
struct set_text {
    struct text text;
    struct where at;            /* location of text.p[0], for errors */
};

/* Parses a list. *out is normalised and not empty. */
int range_set_parse(const struct set_grammar *grammar, struct set_text in,
                    const struct set_vars *vars, struct range_set *out, struct err *err);

#endif
