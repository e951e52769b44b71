/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/text.c - borrowed runs of characters. ASCII only: no locale may change how a rule is
 * read. */
#include "base/text/text.h"

#include "base/array.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_space(char c)
{
    return c == ' ' || (c >= '\t' && c <= '\r');
}

static char lower(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + ('a' - 'A')) : c;
}

static bool equal_nocase(const char *a, const char *b, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (lower(a[i]) != lower(b[i]))
            return false;
    }
    return true;
}

/* The text borrows the string; NULL is empty. */
struct text text_of(const char *s)
{
    return s != NULL ? (struct text){ s, strlen(s) } : (struct text){ "", 0 };
}

bool text_equal(struct text a, const char *b)
{
    return strlen(b) == a.n && memcmp(a.p, b, a.n) == 0;
}

bool text_equal_nocase(struct text a, const char *b)
{
    return strlen(b) == a.n && equal_nocase(a.p, b, a.n);
}

bool text_starts(struct text t, const char *prefix)
{
    size_t n = strlen(prefix);

    return n <= t.n && memcmp(t.p, prefix, n) == 0;
}

bool text_starts_nocase(struct text t, const char *prefix)
{
    size_t n = strlen(prefix);

    return n <= t.n && equal_nocase(t.p, prefix, n);
}

struct text text_trim(struct text t)
{
    while (t.n > 0 && is_space(t.p[0])) {
        t.p++;
        t.n--;
    }
    while (t.n > 0 && is_space(t.p[t.n - 1]))
        t.n--;
    return t;
}

struct text text_from(struct text t, size_t at)
{
    at = MIN(at, t.n);
    return (struct text){ t.p + at, t.n - at };
}

/* Takes the part before `sep`, trimmed. An empty rest has no more parts, so "a," has one. */
bool text_split(struct text *rest, char sep, struct text *part)
{
    const char *hit;

    if (rest->n == 0)
        return false;
    hit = memchr(rest->p, sep, rest->n);
    if (hit == NULL) {
        *part = text_trim(*rest);
        *rest = text_from(*rest, rest->n);
        return true;
    }
    *part = text_trim((struct text){ rest->p, (size_t)(hit - rest->p) });
    *rest = text_from(*rest, (size_t)(hit - rest->p) + 1);
    return true;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = lower(c);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Decimal or "0x" and hexadecimal; no sign, no spaces, nothing after the digits, no overflow. */
bool text_to_u64(struct text t, uint64_t max, uint64_t *out)
{
    unsigned base = 10;
    uint64_t n = 0;

    if (t.n > 2 && text_starts_nocase(t, "0x")) {
        base = 16;
        t = text_from(t, 2);
    }
    if (t.n == 0)
        return false;
    for (size_t i = 0; i < t.n; i++) {
        unsigned digit = (unsigned)digit_value(t.p[i]);

        if (digit >= base || __builtin_mul_overflow(n, (uint64_t)base, &n) ||
            __builtin_add_overflow(n, (uint64_t)digit, &n))
            return false;
    }
    if (n > max)
        return false;
    *out = n;
    return true;
}

bool text_to_decimal(struct text t, uint64_t max, uint64_t *out)
{
    return !text_starts_nocase(t, "0x") && text_to_u64(t, max, out);
}

bool text_to_i64(struct text t, int64_t *out)
{
    bool negative = t.n > 0 && t.p[0] == '-';
    uint64_t n, max = negative ? (uint64_t)INT64_MAX + 1 : INT64_MAX;

    if (t.n > 0 && (t.p[0] == '-' || t.p[0] == '+'))
        t = text_from(t, 1);
    if (!text_to_u64(t, max, &n))
        return false;
    *out = (int64_t)(negative ? 0 - n : n);
    return true;
}

/* The base that C derives from the start of a number; removes "0x". */
static unsigned take_base(struct text *t)
{
    if (t->n > 2 && text_starts_nocase(*t, "0x") && digit_value(t->p[2]) < 16) {
        *t = text_from(*t, 2);
        return 16;
    }
    return t->n > 0 && t->p[0] == '0' ? 8 : 10;
}

/* As strtoll() with base 0, for keywords that Suricata reads with it. *t becomes what follows. */
bool text_take_c_number(struct text *t, int64_t *out)
{
    struct text rest = text_trim(*t);
    bool negative = text_starts(rest, "-");
    int64_t n = 0, digits = 0;
    unsigned base;

    if (negative || text_starts(rest, "+"))
        rest = text_from(rest, 1);
    for (base = take_base(&rest); rest.n > 0; rest = text_from(rest, 1), digits++) {
        int digit = digit_value(rest.p[0]);

        if ((unsigned)digit >= base)
            break;
        if (__builtin_mul_overflow(n, (int64_t)base, &n) || __builtin_add_overflow(n, digit, &n))
            return false;
    }
    if (digits == 0)
        return false;
    *out = negative ? -n : n;
    *t = rest;
    return true;
}

/* At most 63 characters; no NaN, no infinity. */
bool text_to_double(struct text t, double *out)
{
    char copy[64], *end;
    double n;

    if (t.n == 0 || t.n >= sizeof(copy) || is_space(t.p[0]))
        return false;
    memcpy(copy, t.p, t.n);
    copy[t.n] = '\0';
    n = strtod(copy, &end);
    if (end != copy + t.n || !isfinite(n))
        return false;
    *out = n;
    return true;
}

/* The number of bits of a unit; -1 if it is unknown. Units are powers of 1,024, as in Suricata. */
static int unit_shift(struct text unit)
{
    static const struct {
        const char *name;
        int shift;
    } units[] = {
        { "", 0 },     { "b", 0 },
        { "k", 10 },   { "kb", 10 }, { "kib", 10 },
        { "m", 20 },   { "mb", 20 }, { "mib", 20 },
        { "g", 30 },   { "gb", 30 }, { "gib", 30 },
        { "t", 40 },   { "tb", 40 }, { "tib", 40 },
    };

    for (size_t i = 0; i < ARRAY_LEN(units); i++) {
        if (text_equal_nocase(unit, units[i].name))
            return units[i].shift;
    }
    return -1;
}

/* "128", "64kb", "1.5 GiB". False if it does not fit into 63 bits or has something else. */
bool text_to_size(struct text t, uint64_t *out)
{
    size_t digits = 0;
    struct text number, unit;
    double n;
    int shift;

    t = text_trim(t);
    while (digits < t.n && ((t.p[digits] >= '0' && t.p[digits] <= '9') || t.p[digits] == '.'))
        digits++;
    number = (struct text){ t.p, digits };
    unit = text_trim(text_from(t, digits));
    shift = unit_shift(unit);
    if (shift < 0)
        return false;
    if (text_to_u64(number, UINT64_MAX >> shift, out)) {
        *out <<= shift;
        return true;
    }
    if (memchr(number.p, '.', number.n) == NULL || !text_to_double(number, &n))
        return false;
    n *= (double)(UINT64_C(1) << shift);
    if (n >= 0x1p63)
        return false;
    *out = (uint64_t)n;
    return true;
}

/* All spellings that YAML 1.1 files and Suricata use. */
bool text_to_bool(struct text t, bool *out)
{
    static const char *const yes[] = { "yes", "true", "on", "enabled", "1" };
    static const char *const no[] = { "no", "false", "off", "disabled", "0" };

    for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
        if (text_equal_nocase(t, yes[i]) || text_equal_nocase(t, no[i])) {
            *out = text_equal_nocase(t, yes[i]);
            return true;
        }
    }
    return false;
}

char *text_dup(struct text t)
{
    char *copy = xmalloc(t.n + 1);

    if (t.n > 0)
        memcpy(copy, t.p, t.n);
    copy[t.n] = '\0';
    return copy;
}

/* Longer names are not typing errors of each other. */
#define DISTANCE_MAX 64

/* The Levenshtein distance, at most limit + 1: for "did you mean". */
unsigned text_distance(struct text a, struct text b, unsigned limit)
{
    unsigned row[DISTANCE_MAX + 1];
    size_t difference = a.n > b.n ? a.n - b.n : b.n - a.n;

    if (difference > limit || a.n > DISTANCE_MAX || b.n > DISTANCE_MAX)
        return limit + 1;
    for (unsigned j = 0; j <= b.n; j++)
        row[j] = j;
    for (unsigned i = 0; i < a.n; i++) {
        unsigned diagonal = row[0];

        row[0] = i + 1;
        for (unsigned j = 0; j < b.n; j++) {
            unsigned change = diagonal + (a.p[i] != b.p[j]);
            unsigned gap = MIN(row[j], row[j + 1]) + 1;

            diagonal = row[j + 1];
            row[j + 1] = MIN(change, gap);
        }
    }
    return MIN(row[b.n], limit + 1);
}
