/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/when.c - dates in rules, in UTC. */
#include "app/proto/tls/when.h"

#include <string.h>
#include <time.h>

/* Takes digits off *in; at least one, at most `most`. */
static bool take_number(struct text *in, unsigned most, int *out)
{
    unsigned n = 0;

    *out = 0;
    while (n < most && n < in->n && in->p[n] >= '0' && in->p[n] <= '9')
        *out = *out * 10 + (in->p[n++] - '0');
    *in = text_from(*in, n);
    return n > 0;
}

static bool take_char(struct text *in, const char *set)
{
    if (in->n == 0 || strchr(set, in->p[0]) == NULL)
        return false;
    *in = text_from(*in, 1);
    return true;
}

/* A second of 60 is a leap second. Days beyond the month's end carry over. */
static bool in_range(const struct tm *tm)
{
    return tm->tm_mon >= 0 && tm->tm_mon < 12 && tm->tm_mday >= 1 && tm->tm_mday <= 31 &&
           tm->tm_hour < 24 && tm->tm_min < 60 && tm->tm_sec < 61;
}

/* Year, and optionally month to second. Missing parts have their lowest value; the month is
 * required, so that a plain number stays seconds. */
static bool parse_date(struct text in, int64_t *out)
{
    static const char *const before[] = { "-", "-", " T", ":", ":" };
    struct tm tm = { .tm_mday = 1 };
    int *const part[] = { &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min, &tm.tm_sec };
    unsigned parts = 0;

    if (!take_number(&in, 4, &tm.tm_year))
        return false;
    while (in.n > 0 && parts < ARRAY_LEN(part)) {
        if (!take_char(&in, before[parts]) || !take_number(&in, 2, part[parts]))
            return false;
        parts++;
    }
    tm.tm_year -= 1900;
    tm.tm_mon -= 1;
    if (in.n > 0 || parts == 0 || !in_range(&tm))
        return false;
    *out = timegm(&tm);
    return true;
}

/* A date, or seconds since 1970. */
static int parse_point(struct text in, int64_t *out, struct err *err)
{
    in = text_trim(in);
    uint64_t seconds;

    *out = 0;
    if (parse_date(in, out))
        return 0;
    if (text_to_decimal(in, INT64_MAX, &seconds)) {
        *out = (int64_t)seconds;
        return 0;
    }
    return err_set(err, "expected a date like 2015-10-22 23:59:59, or seconds since 1970, found "
                   "\"%.*s\"", TEXT(in));
}

static int parse_range(struct text in, size_t at, struct when *out, struct err *err)
{
    struct text first = { in.p, at };

    if (parse_point(first, &out->from, err) < 0 ||
        parse_point(text_from(in, at + 2), &out->to, err) < 0)
        return -1;
    return out->from < out->to ? 0 : err_set(err, "the second date must be the later one");
}

/* "<date", ">date", "from<>to" or one date. Limits are exclusive or inclusive as when_has()
 * decides. */
int when_parse(struct text in, struct when *out, struct err *err)
{
    const char *between;
    char mode;

    in = text_trim(in);
    if (in.n == 0)
        return err_set(err, "expected a date");
    mode = in.p[0];
    between = memmem(in.p, in.n, "<>", 2);
    *out = (struct when){ INT64_MIN, INT64_MAX };
    if (between != NULL)
        return parse_range(in, (size_t)(between - in.p), out, err);
    if (mode == '<')
        return parse_point(text_from(in, 1), &out->to, err);
    if (mode == '>')
        return parse_point(text_from(in, 1), &out->from, err);
    if (parse_point(in, &out->from, err) < 0)
        return -1;
    out->to = out->from;
    return 0;
}
