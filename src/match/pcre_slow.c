/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/pcre_slow.c - looks for data that make an expression use up its work.
 *
 * An expression is slow where a repeat runs over bytes with which a match may start again, or where
 * two repeats may share the same bytes. Whether that is so depends on all its items, so each repeat
 * is tried: with bytes that reach it, and then with what it repeats; once behind each other, and
 * once with the bytes that reach it between. */
#include "match/pcre_slow.h"

#include "match/pcre_items.h"

#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define LEVELS 32               /* groups within groups */
#define REACH_MAX 512           /* bytes that lead to a repeat */
#define TAIL_MAX 2
#define OFTEN 8                 /* repeats; a smaller number takes no time */
#define BYTES_TRIED 2           /* of those that a repeat admits */

/* A group that is open: where its bytes begin in `reach`, and whether it only looks around. */
struct level { size_t from; bool around; };

struct search {
    const struct expression *e;
    const pcre2_code *counted;
    struct buf reach;           /* bytes that match all items up to here */
    struct level level[LEVELS];
    unsigned depth;
    size_t next;                /* items before it were seen: PCRE2 unrolls groups */
    int last_byte;              /* without this byte PCRE2 does not search; -1: not known */
    bool is_over;
    struct pcre_work work;
    pcre2_match_context *context;
    pcre2_match_data *md;
    struct pcre_slow_data *found;
};

/* --- bytes that an item admits ---------------------------------------------------------------- */

/* Letters and digits first: they make the result readable. */
static unsigned nth_byte(unsigned n)
{
    static const char first[] = "a0Ax/.-= \t\r\n%&:;\"'";

    return n < sizeof(first) - 1 ? (uint8_t)first[n] : n - (unsigned)(sizeof(first) - 1);
}

#define BYTES_ORDERED (256 + 18)

/* Finds at most `most` bytes that the element admits (or not); returns their number. */
static unsigned find_bytes(const struct search *s, struct text element, bool admits, uint8_t *found,
                           unsigned most)
{
    int error;
    size_t at;
    unsigned n = 0;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)element.p, element.n, s->e->options |
                                     PCRE2_ANCHORED | PCRE2_ENDANCHORED, &error, &at, NULL);

    for (unsigned i = 0; code != NULL && i < BYTES_ORDERED && n < most; i++) {
        uint8_t byte = (uint8_t)nth_byte(i);

        if ((pcre2_match(code, &byte, 1, 0, 0, s->md, NULL) > 0) == admits)
            found[n++] = byte;
    }
    pcre2_code_free(code);
    return n;
}

/* --- trying data ------------------------------------------------------------------------------ */

static bool uses_up_work(struct search *s, const uint8_t *data, size_t len)
{
    const struct pcre_compiled *c = &s->e->pcre;
    uint64_t work;

    if (!c->few_backtracks && pcre_work_is_small(c, data, len, &work))
        return false;
    s->work = (struct pcre_work){ PCRE_WORK(len), 0 };
    return pcre2_match(s->counted, data, len, 0, 0, s->md, s->context) ==
           PCRE2_ERROR_MATCHLIMIT && s->work.left == 0;
}

static bool try_data(struct search *s, struct slice begin, struct slice unit, struct slice tail)
{
    uint8_t data[PCRE_SLOW_LEN];
    const size_t end = sizeof(data) - tail.len;

    if (begin.len > 0)
        memcpy(data, begin.data, begin.len);
    for (size_t i = begin.len; i < end; i++)
        data[i] = unit.data[(i - begin.len) % unit.len];
    if (tail.len > 0)
        memcpy(data + end, tail.data, tail.len);
    if (!uses_up_work(s, data, sizeof(data)))
        return false;
    if (begin.len > 0)
        buf_add(&s->found->begin, begin.data, begin.len);
    buf_add(&s->found->unit, unit.data, unit.len);
    buf_add(&s->found->end, tail.data, tail.len);
    return true;
}

/* The data end with a byte that ends the repeat, and one without which PCRE2 does not search. */
static bool try_tails(struct search *s, struct slice begin, struct slice unit, int stops)
{
    uint8_t tail[TAIL_MAX];
    unsigned n = 0;

    if (stops >= 0)
        tail[n++] = (uint8_t)stops;
    if (s->last_byte >= 0)
        tail[n++] = (uint8_t)s->last_byte;
    return try_data(s, begin, unit, (struct slice){ tail, n });
}

static bool try_repeat(struct search *s, size_t reach, struct slice repeated, int stops)
{
    struct slice begin = { s->reach.data, (uint32_t)reach };
    struct buf both = { 0 };
    bool found = try_tails(s, begin, repeated, stops);

    if (!found && reach > 0) {
        buf_add(&both, begin.data, begin.len);
        buf_add(&both, repeated.data, repeated.len);
        found = try_tails(s, (struct slice){ both.data, 0 }, buf_slice(&both), stops);
        buf_fini(&both);
    }
    return found;
}

/* --- the items -------------------------------------------------------------------------------- */

/* Adds what the quantifier repeats as often as it must, but once at least. */
static void repeat(struct search *s, size_t from, struct text item)
{
    const uint64_t times = MAX(pcre_item_least(item), 1u);
    const size_t n = s->reach.len - from;

    if (from + n * MIN(times, REACH_MAX) > REACH_MAX) {
        s->is_over = true;
        return;
    }
    for (uint64_t i = 1; i < times; i++) {
        uint8_t copy[REACH_MAX];

        memcpy(copy, s->reach.data + from, n);
        buf_add(&s->reach, copy, n);
    }
}

static bool visit_element(struct search *s, struct text item)
{
    const struct text element = { item.p, item.n - pcre_item_quantifier(item).n };
    const size_t reach = s->reach.len;
    uint8_t byte[BYTES_TRIED], stops;
    const unsigned n = find_bytes(s, element, true, byte, BYTES_TRIED);

    if (n == 0)
        return false;
    if (pcre_item_most(item) >= OFTEN) {
        const bool stopped = find_bytes(s, element, false, &stops, 1) > 0;

        for (unsigned i = 0; i < n; i++)
            if (try_repeat(s, reach, (struct slice){ &byte[i], 1 }, stopped ? stops : -1))
                return true;
    }
    buf_add_u8(&s->reach, byte[0]);
    repeat(s, reach, item);
    return false;
}

static void open_group(struct search *s, struct text item)
{
    const bool around = text_starts(item, "(?=") || text_starts(item, "(?!") ||
                       text_starts(item, "(?<=") || text_starts(item, "(?<!");

    if (item.p[item.n - 1] == ')')
        return;                 /* (?i) */
    if (s->depth == LEVELS - 1) {
        s->is_over = true;
        return;
    }
    s->level[++s->depth] = (struct level){ s->reach.len, around };
}

static bool close_group(struct search *s, struct text item)
{
    const struct level *l = &s->level[s->depth];
    uint8_t copy[REACH_MAX];
    const size_t n = s->reach.len - l->from;

    if (s->depth == 0)
        return false;
    s->depth--;
    if (l->around || n == 0) {
        s->reach.len = l->from;
        return false;
    }
    memcpy(copy, s->reach.data + l->from, n);
    if (pcre_item_most(item) >= OFTEN &&
        (try_repeat(s, l->from, (struct slice){ copy, (uint32_t)n }, -1) ||
         try_repeat(s, l->from, (struct slice){ copy, (uint32_t)n }, '!')))
        return true;
    repeat(s, l->from, item);
    return false;
}

/* Ends the enumeration with a positive number when data are found. */
static int visit_item(pcre2_callout_enumerate_block *block, void *arg)
{
    struct search *s = arg;
    const struct text re = s->e->text;
    const size_t at = MIN(block->pattern_position, re.n);
    struct text item = { re.p + at, MIN(block->next_item_length, re.n - at) };

    if (item.n == 0 || at < s->next || s->is_over || s->reach.len >= REACH_MAX)
        return 0;
    s->next = at + item.n;
    switch (item.p[0]) {
    case '(':
        open_group(s, item);
        return 0;
    case ')':
        return close_group(s, item);
    case '|':
        s->reach.len = s->level[s->depth].from;
        return 0;
    default:
        return visit_element(s, item);
    }
}

static int last_byte_of(const pcre2_code *code)
{
    uint32_t type = 0, unit = 0;

    pcre2_pattern_info(code, PCRE2_INFO_LASTCODETYPE, &type);
    pcre2_pattern_info(code, PCRE2_INFO_LASTCODEUNIT, &unit);
    return type == 1 ? (int)unit : -1;
}

bool pcre_slow_find(const struct expression *e, struct pcre_slow_data *data)
{
    struct search s = { .e = e, .found = data };
    bool found;

    if (!e->pcre.costly || (e->pcre.anchored && !e->pcre.few_backtracks))
        return false;
    s.counted = expression_counted(&e->pcre);
    if (s.counted == NULL)
        return false;
    s.last_byte = last_byte_of(s.counted);
    s.context = pcre_work_context_new(&s.work);
    s.md = pcre2_match_data_create_from_pattern(s.counted, NULL);
    found = s.md != NULL && pcre2_callout_enumerate(s.counted, visit_item, &s) > 0;
    pcre2_match_data_free(s.md);
    pcre2_match_context_free(s.context);
    buf_fini(&s.reach);
    return found;
}

void pcre_slow_data_fini(struct pcre_slow_data *d)
{
    buf_fini(&d->begin);
    buf_fini(&d->unit);
    buf_fini(&d->end);
}
