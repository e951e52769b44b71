/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/pcre_near.c - how near a pcre came to matching: what would have been enough, and
 * the longest text with which a match could begin. */
#include "detect/explain/notes.h"

#include "match/expressions.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <string.h>

/* What a looser expression leaves out. */
enum loose { LOOSE_CASE = 1, LOOSE_BEGIN = 2, LOOSE_END = 4, LOOSE_PLACE = 8, LOOSE_ALL = 15 };

/* One search. Its code is the rule's own, or compiled for the occasion. */
struct attempt_at {
    struct explain *e;
    const struct pcre_op *pcre;
    pcre2_code *code;
};

static bool begins_with_anchor(struct text re)
{
    return text_starts(re, "^") || text_starts(re, "\\A");
}

/* "$" behind a backslash is a character, unless that is one itself. */
static bool ends_with_anchor(struct text re)
{
    size_t slashes = 0;

    if (re.n == 0 || re.p[re.n - 1] != '$')
        return false;
    while (slashes + 1 < re.n && re.p[re.n - 2 - slashes] == '\\')
        slashes++;
    return slashes % 2 == 0;
}

/* The parts of enum loose that the expression has. */
static unsigned can_be_left_out(const struct expression *x, const struct trace *t, unsigned step)
{
    unsigned can = x->options & PCRE2_CASELESS ? 0 : LOOSE_CASE;

    if (begins_with_anchor(x->text) || (x->options & PCRE2_ANCHORED))
        can |= LOOSE_BEGIN;
    if (ends_with_anchor(x->text))
        can |= LOOSE_END;
    if ((t->op[step]->flags & OP_RELATIVE) && t->start_at > 0)
        can |= LOOSE_PLACE;
    return can;
}

static pcre2_code *compile_loose(const struct expression *x, unsigned loose)
{
    struct text re = x->text;
    uint32_t options = x->options;
    PCRE2_SIZE at;
    int error;

    if (loose & LOOSE_CASE)
        options |= PCRE2_CASELESS;
    if (loose & LOOSE_BEGIN) {
        re = begins_with_anchor(re) ? text_from(re, re.p[0] == '^' ? 1 : 2) : re;
        options &= ~(uint32_t)PCRE2_ANCHORED;
    }
    if (loose & LOOSE_END)
        re.n--;
    return pcre2_compile((PCRE2_SPTR)re.p, re.n, options, &error, &at, NULL);
}

static int search(const struct attempt_at *a, struct slice data, uint32_t options, uint32_t *at,
                  uint32_t *len)
{
    pcre2_match_data *md = a->e->scratch.match_data;
    int n = pcre2_match(a->code, data.data, data.len, 0, options, md, a->pcre->context);
    const PCRE2_SIZE *ov = pcre2_get_ovector_pointer(md);

    if ((n >= 0 || n == PCRE2_ERROR_PARTIAL) && ov[1] >= ov[0] && ov[1] <= data.len) {
        *at = (uint32_t)ov[0];
        *len = (uint32_t)(ov[1] - ov[0]);
    }
    return n;
}

static bool find_match(const void *arg, struct slice data, uint32_t *at, bool *other_case)
{
    uint32_t len;

    *other_case = false;
    return search(arg, data, 0, at, &len) >= 0;
}

#define PARTIAL_MOST 2048u

/* The longest beginning of a match that the bytes have: that of a cut subject which could go on. */
static bool find_furthest(const struct attempt_at *a, struct slice data, uint32_t *at,
                          uint32_t *len)
{
    *len = 0;
    for (uint32_t n = MIN(data.len, PARTIAL_MOST); n > *len; n--) {
        uint32_t from = 0, got = 0;

        if (search(a, (struct slice){ data.data, n }, PCRE2_PARTIAL_HARD, &from, &got) ==
                PCRE2_ERROR_PARTIAL && got > *len) {
            *at = from;
            *len = got;
        }
    }
    return *len > 0;
}

static void add_loose(struct buf *out, const struct expression *x, unsigned loose)
{
    const char *const words[] = { "with i", x->options & PCRE2_ANCHORED ? "without A" : "without ^",
                                  "without $", "without R" };
    const char *before = "";

    for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
        if (!(loose & 1u << i))
            continue;
        buf_printf(out, "%s%s", before, words[i]);
        before = " and ";
    }
}

static unsigned bits_of(unsigned loose)
{
    return (unsigned)__builtin_popcount(loose);
}

/* What matches with the least left out. 0: nothing does. */
static unsigned find_loose(struct attempt_at *a, const struct pcre_place *p, struct slice *found,
                           uint32_t *at)
{
    unsigned can = can_be_left_out(p->expression, p->trace, p->step);

    for (unsigned bits = 1; bits <= bits_of(can); bits++)
        for (unsigned loose = 1; loose <= LOOSE_ALL; loose++) {
            uint32_t base = loose & LOOSE_PLACE ? 0 : p->base, len = 0;
            const struct slice all = p->trace->data;
            int n = -1;

            if ((loose & ~can) != 0 || bits_of(loose) != bits)
                continue;
            a->code = compile_loose(p->expression, loose);
            if (a->code != NULL)
                n = search(a, (struct slice){ all.data + base, all.len - base }, 0, at, &len);
            pcre2_code_free(a->code);
            if (n < 0)
                continue;
            *at += base;
            *found = (struct slice){ all.data + *at, len };
            return loose;
        }
    return 0;
}

/* What the rule runs. Its limits count less with machine code. */
static void *code_of(const struct pcre_op *pcre)
{
    void *fast = expression_fast(pcre->compiled);

    return fast != NULL ? fast : pcre->compiled->code;
}

/* As it is, or else with all left out that can be, which it returns. */
static unsigned furthest(struct attempt_at *a, const struct pcre_place *p, uint32_t *at,
                         uint32_t *len)
{
    unsigned can = can_be_left_out(p->expression, p->trace, p->step);
    struct slice all = p->trace->data;

    a->code = code_of(a->pcre);
    if (find_furthest(a, (struct slice){ all.data + p->base, all.len - p->base }, at, len)) {
        *at += p->base;
        return 0;
    }
    a->code = can != 0 ? compile_loose(p->expression, can) : NULL;
    if (a->code != NULL)
        (void)find_furthest(a, all, at, len);
    pcre2_code_free(a->code);
    return can;
}

void describe_pcre_near(struct explain *e, const struct pcre_place *p, const struct subject *s,
                        struct note *mark, struct buf *out)
{
    struct attempt_at a = { .e = e, .pcre = p->trace->op[p->step]->pcre };
    const struct search elsewhere = { find_match, &a };
    struct slice found = { NULL, 0 };
    struct found_in other;
    uint32_t at = 0, len = 0;
    unsigned loose = find_loose(&a, p, &found, &at);

    if (loose != 0) {
        buf_add_string(out, "; ");
        add_loose(out, p->expression, loose);
        buf_add_string(out, " it matches ");
        text_add_bytes(out, found, 60);
        buf_printf(out, " at %u", at);
        mark->at = at;
        mark->len = found.len;
        return;
    }
    loose = furthest(&a, p, &at, &len);
    if (len > 0) {
        buf_add_string(out, "; ");
        add_loose(out, p->expression, loose);
        buf_add_string(out, loose != 0 ? " it gets as far as " : "it gets as far as ");
        text_add_bytes(out, (struct slice){ p->trace->data.data + at, len }, 60);
        buf_printf(out, " at %u", at);
        mark->at = at;
        mark->len = len;
    }
    a.code = code_of(a.pcre);
    if (other_buffer_find(s, p->trace, &elsewhere, &other))
        buf_printf(out, "; it matches %s at %u", other.name, other.at);
    else if (len == 0)
        buf_add_string(out, "; not even a beginning of it is there");
}
