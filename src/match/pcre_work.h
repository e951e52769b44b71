/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/pcre_work.h - a bound on the work of regular expressions.
 *
 * PCRE2's match limit counts, for each place where a match may start, to how many places the search
 * goes back. Its machine code does not count what a single repeat runs over: /a(?=[^b]*c)/ reads
 * 450 million bytes of a body of 30,000 letters `a` and stays below the limit. Expressions of which
 * that can be true are compiled a second time, with callouts. One between any two items counts the
 * bytes since the last one, so the same bytes always cost the same. That code runs where a match
 * may start in many places, and where the other code has gone back often. All else runs without.
 * Most of it never runs, so with PCRE_WHEN_USED it is only made then. */
#ifndef MATCH_PCRE_WORK_H
#define MATCH_PCRE_WORK_H

#include "base/text/text.h"

struct pcre_work {
    uint64_t left;
    size_t at;                  /* of the last callout, in the subject */
};

/* What a search of so many bytes may use: a byte read is 1, a callout 24, as long as it takes.
 * 100 ns for a byte at most. */
#define PCRE_WORK(len) (4096u + UINT64_C(256) * (len))

/* Before it is searched again with callouts. */
#define PCRE_FEW_BACKTRACKS 32

/* Machine code takes more memory than all else of an expression, and most expressions of a large
 * set never run. */
enum pcre_machine_code {
    PCRE_INTERPRETED,
    PCRE_WHEN_USED,             /* the first search makes it */
    PCRE_AT_ONCE,
};

struct pcre_compiled {
    void *code;                 /* pcre2_code; NULL: it is wrong, or see pcre_work_drop_code() */
    void *counted;              /* atomic: the same with callouts, or NULL */
    void *fast;                 /* atomic: the same with machine code, or NULL */
    bool fast_when_used;        /* expression_fast() makes it */
    bool costly;                /* it needs `counted`; expression_counted() makes it */
    bool few_backtracks;        /* `code` runs with PCRE_FEW_BACKTRACKS as its match limit */
    bool anchored;
    bool nested;                /* its repeats read the same bytes again and again */
    uint16_t few_starts;        /* where a match may start at most, for `code` to run */
    /* What a match may start with: a bit for each byte, and the bytes themselves if they are one
     * (twice) or two. */
    uint8_t start[32], starts[2];
    bool starts_are_two;
};
struct pcre_compiled pcre_work_compile(struct text re, uint32_t options,
                                       enum pcre_machine_code machine, int *error, size_t *at);
void pcre_work_free(struct pcre_compiled *c);
/* False: this process cannot make machine code. */
bool pcre_machine_code_works(void);

/* The following code is made of the same text and options when it is first used, by any thread.
 * NULL: no memory. */
/* For fast_when_used, unless it has been made. */
void *pcre_work_make_fast(const struct pcre_compiled *c, struct text re, uint32_t options);
/* For a costly one, unless it has been made. */
void *pcre_work_make_counted(const struct pcre_compiled *c, struct text re, uint32_t options);

/* Where machine code is made when used, nothing else searches: the other code may go. */
void pcre_work_drop_code(struct pcre_compiled *c);

/* True if `code` may search the subject; otherwise `counted` has to. *most: the work that it then
 * takes at most. */
bool pcre_work_is_small(const struct pcre_compiled *c, const uint8_t *data, size_t len,
                        uint64_t *most);

/* A pcre2_match_context whose matches end with PCRE2_ERROR_MATCHLIMIT when nothing of *work is
 * left. It waits for memory, so that a reload may call it. */
void *pcre_work_context_new(struct pcre_work *work);
/* For use while packets flow; NULL: no memory. */
void *pcre_work_context_try(struct pcre_work *work);

#endif
