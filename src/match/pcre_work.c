/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/pcre_work.c - a bound on the work of regular expressions. */
#include "match/pcre_work.h"

#include "base/array.h"
#include "match/pcre_items.h"
#include "match/pcre_memory.h"

#include <ctype.h>
#include <string.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#define CALLOUT_WORK 24         /* 10 ns, in which a repeat runs over so many bytes */

/* --- counting --------------------------------------------------------------------------------- */

static int count_work(pcre2_callout_block *block, void *arg)
{
    struct pcre_work *w = arg;
    size_t at = block->current_position, last = w->at;
    uint64_t cost = CALLOUT_WORK + (at > last ? at - last : last - at);

    w->at = at;
    if (cost > w->left) {
        w->left = 0;
        return PCRE2_ERROR_MATCHLIMIT;
    }
    w->left -= cost;
    return 0;
}

void *pcre_work_context_try(struct pcre_work *work)
{
    pcre2_match_context *c = pcre2_match_context_create(NULL);

    if (c == NULL)
        return NULL;
    pcre2_set_heap_limit(c, PCRE_HEAP_LIMIT_KIB);
    pcre2_set_callout(c, count_work, work);
    return c;
}

void *pcre_work_context_new(struct pcre_work *work)
{
    void *c;

    while ((c = pcre_work_context_try(work)) == NULL)
        out_of_memory(sizeof(*work));
    return c;
}

/* --- expressions that need it ----------------------------------------------------------------- */

/* Measured with PCRE2 10.42, nanoseconds for a byte of packets of 1,440 and of a body of 30,000:
 * one repeat without limit that follows plain items 1 to 5 (machine code remembers where it
 * failed); {1,1000} 340; two of {1,31} 310; one within or after a lookaround, in a group that is
 * repeated itself, or within five groups 200 and 3,900; one before a back reference 1,800. */
#define WIDE 8                  /* repeats: one such costs 11 ns, two of them are counted */
#define FAR 64                  /* one is counted */
#define NESTED 4

/* So many repeats to the end of the subject, and so many that also go back, take 70 and 130 ns
 * for a byte. */
#define FEW_STARTS 256
#define FEW_STARTS_BACK 16
#define BACK_WORK 20            /* of a byte, where the search goes back */

struct findings {
    struct text re;
    unsigned wide, far, endless, depth;
    bool hard;                  /* machine code does not remember where it failed */
    bool back;                  /* as hard, and the search goes back */
};

static bool starts_one_of(struct text t, const char *const *words)
{
    for (; *words != NULL; words++)
        if (text_starts(t, *words))
            return true;
    return false;
}

/* Lookarounds, conditions and calls of other groups. */
static void visit_group(struct findings *f, struct text item)
{
    static const char *const hard[] = { "(?=", "(?!", "(?<=", "(?<!", "(?(", "(?R", "(?&", "(?P>",
                                        "(*", NULL };
    const bool called = item.n > 2 && item.p[1] == '?' &&
                        (isdigit((unsigned char)item.p[2]) || item.p[2] == '+' ||
                         (item.p[2] == '-' && item.n > 3 && isdigit((unsigned char)item.p[3])));

    f->hard |= called || starts_one_of(item, hard);
    if (item.p[item.n - 1] != ')')
        f->depth++;
    f->hard |= f->depth > NESTED;
}

static bool is_back_reference(struct text item)
{
    return item.n > 1 && item.p[0] == '\\' && memchr("123456789gk", item.p[1], 11) != NULL;
}

/* Callouts come before each item, with the item's text. For some items at the end, PCRE2 gives more
 * than the expression has. */
static int visit_item(pcre2_callout_enumerate_block *block, void *arg)
{
    struct findings *f = arg;
    const size_t at = MIN(block->pattern_position, f->re.n);
    struct text item = { f->re.p + at, MIN(block->next_item_length, f->re.n - at) };
    uint64_t most;

    if (item.n == 0)
        return 0;
    if (item.p[0] == '(') {
        visit_group(f, item);
        return 0;
    }
    most = pcre_item_most(item);
    f->endless += most == UINT64_MAX;
    f->far += most >= FAR && most != UINT64_MAX;
    f->wide += most >= WIDE;
    f->back |= is_back_reference(item);
    if (item.p[0] != ')')
        return 0;
    f->back |= item.n > 1;
    f->depth -= f->depth > 0;
    return 0;
}

static bool may_repeat(struct text re)
{
    for (size_t i = 0; i < re.n; i++)
        if (memchr("*+{", re.p[i], 3) != NULL)
            return true;
    return false;
}

/* Whether the work is in going back, which the match limit of `code` can keep small. */
static bool goes_back(const struct findings *f)
{
    return f->wide > 1 || f->back;
}

/* Without machine code each repeat runs to its end again from each place. */
static bool is_costly(const struct findings *f, bool fast)
{
    return f->far > 0 || f->wide > 1 || (f->endless > 0 && (f->hard || f->back || !fast));
}

/* Of c->start. */
static bool find_two_starts(struct pcre_compiled *c)
{
    unsigned count = 0;

    for (unsigned byte = 0; byte <= UINT8_MAX; byte++) {
        if ((c->start[byte / 8] >> byte % 8 & 1) == 0)
            continue;
        if (count == ARRAY_LEN(c->starts))
            return false;
        c->starts[count++] = (uint8_t)byte;
    }
    if (count == 1)
        c->starts[1] = c->starts[0];
    return count > 0;
}

/* The bytes that a match may begin with, as far as PCRE2 knows. */
static void find_starts(struct pcre_compiled *c)
{
    uint32_t type = 0, unit = 0, options = 0;
    const uint8_t *bitmap = NULL;

    pcre2_pattern_info(c->code, PCRE2_INFO_ALLOPTIONS, &options);
    pcre2_pattern_info(c->code, PCRE2_INFO_FIRSTCODETYPE, &type);
    pcre2_pattern_info(c->code, PCRE2_INFO_FIRSTCODEUNIT, &unit);
    pcre2_pattern_info(c->code, PCRE2_INFO_FIRSTBITMAP, &bitmap);
    c->anchored = (options & PCRE2_ANCHORED) != 0;
    memset(c->start, bitmap != NULL || type != 0 ? 0 : 0xff, sizeof(c->start));
    if (type == 2)
        unit = '\n';            /* it starts at lines */
    if (type != 0) {
        /* PCRE2 does not tell whether the case matters. */
        c->start[toupper((int)unit) / 8] |= (uint8_t)(1u << toupper((int)unit) % 8);
        c->start[tolower((int)unit) / 8] |= (uint8_t)(1u << tolower((int)unit) % 8);
    } else if (bitmap != NULL) {
        memcpy(c->start, bitmap, sizeof(c->start));
    }
    c->starts_are_two = find_two_starts(c);
}

/* A loop of so many steps, without an end before, becomes vectors. It counts in a byte, so at most
 * 255. */
#define COUNT_BLOCK 32

static unsigned count_of_two(const uint8_t *data, const uint8_t two[2])
{
    const uint8_t a = two[0], b = two[1];
    uint8_t count = 0;

    for (unsigned i = 0; i < COUNT_BLOCK; i++)
        count = (uint8_t)(count + (uint8_t)(data[i] == a || data[i] == b));
    return count;
}

/* Where a match may start, but hardly more places than `enough`. */
static size_t count_starts(const struct pcre_compiled *c, const uint8_t *data, size_t len,
                           size_t enough)
{
    size_t starts = 0, i = 0;

    if (c->starts_are_two)
        for (; len - i >= COUNT_BLOCK && starts <= enough; i += COUNT_BLOCK)
            starts += count_of_two(data + i, c->starts);
    for (; i < len && starts <= enough; i++)
        starts += c->start[data[i] / 8] >> data[i] % 8 & 1;
    return starts;
}

bool pcre_work_is_small(const struct pcre_compiled *c, const uint8_t *data, size_t len,
                        uint64_t *most)
{
    size_t starts = c->anchored ? 1 : len;

    if (starts > c->few_starts)
        starts = count_starts(c, data, len, c->few_starts);
    *most = (uint64_t)starts * len * (c->few_backtracks ? BACK_WORK : 1);
    return starts <= c->few_starts;
}

static pcre2_code *compile_counted(struct text re, uint32_t options)
{
    size_t at;
    int error;

    return pcre2_compile((PCRE2_SPTR)re.p, re.n, options | PCRE2_AUTO_CALLOUT, &error, &at, NULL);
}

/* Compiles with callouts to see what the expression has. No machine code is made of it: with 25,185
 * rules that would take 14 MB and a quarter of the start, for what seldom runs. */
static void find_cost(struct pcre_compiled *c, struct text re, uint32_t options, bool keep)
{
    struct findings f = { .re = re };
    pcre2_code *code = compile_counted(re, options);

    if (code == NULL)
        return;
    pcre2_callout_enumerate(code, visit_item, &f);
    c->costly = is_costly(&f, c->fast != NULL || c->fast_when_used);
    if (c->costly && keep)
        c->counted = code;
    else
        pcre2_code_free(code);
    if (!c->costly)
        return;
    c->few_backtracks = goes_back(&f);
    c->nested = f.hard || f.back || f.far > 0;
    c->few_starts = c->few_backtracks ? FEW_STARTS_BACK : FEW_STARTS;
    find_starts(c);
}

/* Each thread that needs one makes it, and the first one stays: none waits for another. */
static void *put_first(void *const *at, pcre2_code *code)
{
    void *first = NULL;

    if (__atomic_compare_exchange_n((void **)(uintptr_t)at, &first, code, false, __ATOMIC_ACQ_REL,
                                    __ATOMIC_ACQUIRE))
        return code;
    pcre2_code_free(code);
    return first;
}

COLD void *pcre_work_make_counted(const struct pcre_compiled *c, struct text re, uint32_t options)
{
    void *counted = __atomic_load_n(&c->counted, __ATOMIC_ACQUIRE);

    if (counted != NULL)
        return counted;
    counted = compile_counted(re, options);
    return counted != NULL ? put_first(&c->counted, counted) : NULL;
}

/* --- machine code ----------------------------------------------------------------------------- */

bool pcre_machine_code_works(void)
{
    int error;
    size_t at;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR) "a", 1, 0, &error, &at, NULL);
    bool works = code != NULL && pcre2_jit_compile(code, PCRE2_JIT_COMPLETE) == 0;

    pcre2_code_free(code);
    return works;
}

/* PCRE2 has no machine code for a few items, for expressions that ask for none, and for some whose
 * code is very large. Which of these it is has to be known at once, because what is not translated
 * may need a count. */
#define SURE_SIZE 4096

static bool is_surely_translated(const pcre2_code *code, struct text re)
{
    size_t size = SIZE_MAX;

    pcre2_pattern_info(code, PCRE2_INFO_SIZE, &size);
    return size <= SURE_SIZE && memmem(re.p, re.n, "(*", 2) == NULL &&
           memmem(re.p, re.n, "(?C", 3) == NULL && memmem(re.p, re.n, "\\C", 2) == NULL;
}

COLD void *pcre_work_make_fast(const struct pcre_compiled *c, struct text re, uint32_t options)
{
    pcre2_code *fast = __atomic_load_n(&c->fast, __ATOMIC_ACQUIRE);
    int error;
    size_t at;

    if (fast != NULL)
        return fast;
    fast = pcre2_compile((PCRE2_SPTR)re.p, re.n, options, &error, &at, NULL);
    if (fast == NULL)
        return NULL;
    if (pcre2_jit_compile(fast, PCRE2_JIT_COMPLETE) == 0)
        return put_first(&c->fast, fast);
    pcre2_code_free(fast);
    return NULL;
}

/* --- compiling -------------------------------------------------------------------------------- */

struct pcre_compiled pcre_work_compile(struct text re, uint32_t options,
                                       enum pcre_machine_code machine, int *error, size_t *at)
{
    struct pcre_compiled c = {
        .code = pcre2_compile((PCRE2_SPTR)re.p, re.n, options, error, at, NULL),
    };

    if (c.code == NULL)
        return c;
    if (machine == PCRE_WHEN_USED && is_surely_translated(c.code, re))
        c.fast_when_used = true;
    else if (machine != PCRE_INTERPRETED && pcre2_jit_compile(c.code, PCRE2_JIT_COMPLETE) == 0)
        c.fast = c.code;
    if (may_repeat(re))
        find_cost(&c, re, options, machine != PCRE_WHEN_USED);
    return c;
}

void pcre_work_drop_code(struct pcre_compiled *c)
{
    if (!c->fast_when_used)
        return;
    pcre2_code_free(c->code);
    c->code = NULL;
}

void pcre_work_free(struct pcre_compiled *c)
{
    if (c->fast != c->code)
        pcre2_code_free(c->fast);
    pcre2_code_free(c->code);
    pcre2_code_free(c->counted);
}
