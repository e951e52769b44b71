/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/text.h - borrowed characters, for what is parsed at load time: rules, settings. */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include "base/base.h"

struct text {
    const char *p;
    size_t n;
};

/* For printf's "%.*s". */
#define TEXT(t) (int)(t).n, (t).p
#define TEXT_LITERAL(s) ((struct text){ (s), sizeof(s) - 1 })

struct text text_of(const char *s);                        /* NULL gives an empty one */
bool text_equal(struct text a, const char *b);
bool text_equal_nocase(struct text a, const char *b);
bool text_starts(struct text t, const char *prefix);
bool text_starts_nocase(struct text t, const char *prefix);
struct text text_trim(struct text t);                      /* white space at both ends */
struct text text_from(struct text t, size_t at);           /* the rest from `at` on */

/* Moves the part before the first `sep` from *rest to *part, trimmed. False when *rest is used up.
 * "a,,b" gives "a", "", "b"; "a," gives "a" alone; an empty text gives nothing. */
bool text_split(struct text *rest, char sep, struct text *part);

/* The entire text must be a number: decimal, or 0x hex. False on anything else or out of range. */
bool text_to_u64(struct text t, uint64_t max, uint64_t *out);
bool text_to_decimal(struct text t, uint64_t max, uint64_t *out);     /* without the 0x */
bool text_to_i64(struct text t, int64_t *out);
/* Takes a number as C writes it: base 16 after 0x, base 8 after 0. Leaves what follows it. */
bool text_take_c_number(struct text *t, int64_t *out);
bool text_to_double(struct text t, double *out);

/* "64 MiB", "64mb", "1gb", "100k", "512": bytes, powers of 1024. */
bool text_to_size(struct text t, uint64_t *out);

/* yes/no, true/false, on/off, enabled/disabled, 1/0, any case. */
bool text_to_bool(struct text t, bool *out);

/* Returns a copy with a NUL on the heap; the caller frees it. */
char *text_dup(struct text t);

/* Levenshtein distance, at most `limit` + 1; for "did you mean". */
unsigned text_distance(struct text a, struct text b, unsigned limit);

#endif
