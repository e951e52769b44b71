/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/expressions.h - the compiled regular expressions of a ruleset. Equal expressions of a
 * ruleset are one, and those of the ruleset before it are not compiled again.
 *
 * The loading thread fills a table; from then on only code is added that is made when it is used
 * (expression_fast(), expression_counted()). The last ruleset that has an expression frees it, on
 * whichever thread that is. */
#ifndef MATCH_EXPRESSIONS_H
#define MATCH_EXPRESSIONS_H

#include "base/containers/index.h"
#include "base/text/text.h"
#include "match/pcre_work.h"

struct expression {
    uint32_t refs;              /* atomic: the tables that have it */
    bool stays;                 /* expression_keep(); of the loading thread */
    uint32_t options;
    uint64_t hash;              /* of options and text */
    struct text text;           /* follows the struct, or is the key of a search */
    struct pcre_compiled pcre;
};

struct expressions {
    struct index by_text;                       /* struct expression by options and text */
    enum pcre_machine_code machine;
    const struct expressions *previous;         /* valid while loading only; or NULL */
};

void expressions_init(struct expressions *all, const struct expressions *previous);
/* Compiles the text, or finds it. NULL: *error is PCRE2's number and *at the place. */
const struct expression *expression_get(struct expressions *all, struct text re, uint32_t options,
                                        int *error, size_t *at);
/* The expression that has it; it must be one of a table. */
const struct expression *expression_of(const struct pcre_compiled *compiled);
void *expression_make_fast(const struct pcre_compiled *compiled);
/* Its machine code, if it is of a table. Any thread. NULL: it has none, or with fast_when_used no
 * memory. */
static inline void *expression_fast(const struct pcre_compiled *c)
{
    void *fast = __atomic_load_n(&c->fast, __ATOMIC_ACQUIRE);

    return LIKELY(fast != NULL) || !c->fast_when_used ? fast : expression_make_fast(c);
}
/* Its code with callouts, if it is costly and of a table. Any thread. NULL: no memory. */
void *expression_counted(const struct pcre_compiled *compiled);
/* An expression of the table before stays: expressions_take_kept() adds it to this one. */
void expression_keep(const struct pcre_compiled *compiled);
void expressions_take_kept(struct expressions *all);
void expressions_fini(struct expressions *all);

#endif
