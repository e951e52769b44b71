/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/run_program.c - runs the program of one rule on one buffer.
 *
 * Steps run one after the other; each may move run->at. If later steps depend on the position of a
 * content or pcre, that step runs them for each of its positions until they succeed. Results have
 * three values, because "no" from a step at a fixed position is final: no other match of an earlier
 * step can help. A limit on steps bounds the cost of hostile bytes. */
#include "detect/rule/program.h"

#include "base/text/base64.h"
#include "match/expressions.h"
#include "match/pcre_memory.h"
#include "match/spm_literal.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <stdlib.h>

static enum step_result run_from(const struct rule_program *program, unsigned i,
                                 struct program_run *run);

/* A number in the rule, or the variable that byte_extract or byte_math has set. */
static int64_t number(const struct program_run *run, uint32_t flags, uint32_t var_flag,
                      int32_t written)
{
    return flags & var_flag ? (int64_t)run->vars[written] : written;
}

/* --- content ------------------------------------------------------------------------------ */

/* Signed: a negative distance may lead before the buffer. */
struct range { int64_t from, to; };

/* Moves the end of an absolute depth into data that begin inside the buffer. False: the
 * depth ends before the data begin. */
static bool depth_in_window(const struct program_run *run, int64_t *depth)
{
    if (run->start == 0)
        return true;
    if ((uint64_t)*depth <= run->start)
        return false;
    if ((uint64_t)*depth < run->start + run->len)
        *depth -= (int64_t)run->start;
    return true;
}

/* Returns where a relative content may be. base: the end of the match before it. */
static bool relative_range(const struct step *s, const struct program_run *run, uint32_t base,
                           struct range *out)
{
    int64_t distance = number(run, s->flags, OP_DISTANCE_VAR, s->content.distance);
    int64_t to = run->len, from = base;

    if (s->flags & OP_DISTANCE)
        from = (int64_t)base + distance < 0 ? 0 : (int64_t)base + distance;
    if (s->flags & OP_WITHIN) {
        int64_t within = number(run, s->flags, OP_WITHIN_VAR, s->content.within);

        to = MIN(to, (int64_t)base + within + distance);
        if (run->start != 0 && base == 0 && !depth_in_window(run, &to))
            return false;
    }
    *out = (struct range){ from, to };
    return true;
}

/* Returns where a content without distance and within may be. A depth from a variable counts from
 * the offset, as in Suricata. */
static bool absolute_range(const struct step *s, const struct program_run *run,
                           struct range *out)
{
    int64_t from = number(run, s->flags, OP_OFFSET_VAR, s->content.offset);
    int64_t to = run->len;

    if (s->flags & OP_DEPTH) {
        to = number(run, s->flags, OP_DEPTH_VAR, s->content.depth);
        if (!depth_in_window(run, &to))
            return false;
    }
    if (s->flags & (OP_OFFSET_VAR | OP_DEPTH_VAR))
        to += from;
    *out = (struct range){ from, to };
    return true;
}

/* The first match at or after `from`; NULL: none up to `to`. */
static const uint8_t *content_find(const struct rule_program *program, const struct step *s,
                                   const struct program_run *run, int64_t from, int64_t to)
{
    const uint8_t *literal = (const uint8_t *)program + s->content.literal;

    if (s->flags & OP_ENDSWITH) {
        if (to < (int64_t)run->len)
            return NULL;
        /* Only a match at the very end counts, so the search begins there. */
        if (!(s->flags & OP_NEGATED) && to - s->len > from)
            from = to - s->len;
    }
    if (s->len > to - from)
        return NULL;
    return spm_find(run->data + from, (size_t)(to - from), literal, s->len,
                        s->flags & OP_NOCASE);
}

/* The bytes that retries search again are limited, too: a step over a body of 100 KB costs more
 * than one over a packet. */
#define SCAN_FREE (512u << 10)
#define SCAN_TIMES 8
/* Decoding a byte of base64 costs as much as searching so many. */
#define BASE64_SCANS 16
/* Searching SEARCH_STEP bytes costs as much as a step; so do READ_STEP bytes that machine code of
 * an expression reads, and so much work of those that count it (PCRE_WORK()). */
#define SEARCH_STEP 512
#define READ_STEP 24
#define WORK_STEP 24

static uint64_t steps_of(const struct program_run *run)
{
    return run->steps + run->scanned / SEARCH_STEP + run->read / READ_STEP +
           run->worked / WORK_STEP;
}

static bool COLD at_step_limit(struct program_run *run)
{
    run->scratch->limits |= PROGRAM_STEP_LIMIT;
    return true;
}

/* The steps that all programs on the packet may still take, those of this run included. */
static uint64_t COLD steps_left(const struct program_run *run)
{
    struct program_work *work = &run->scratch->packet;
    uint64_t left;

    if (work->pay == NULL)
        return UINT64_MAX;
    if (work->most == 0)
        work->pay(work->arg, work);
    left = work->most - MIN(work->used, work->most);
    return left + PROGRAM_STEPS_FREE;
}

/* Asking for the limits costs as much as a quarter of a step. So when they are far, some steps run
 * unasked. */
#define UNASKED_STEPS 16
#define UNASKED_BYTES (4 * SEARCH_STEP)

/* False: the limit is reached, and the rule does not match. */
static bool COLD step_may_run(struct program_run *run, const struct step *s)
{
    uint64_t used, left;

    if (run->scratch->on_step != NULL)
        run->scratch->on_step(run->scratch->on_step_arg, s);
    if (run->steps >= run->scratch->steps_most)
        return !at_step_limit(run);
    if (run->steps <= PROGRAM_STEPS_FREE)
        return true;
    used = steps_of(run);
    left = steps_left(run);
    if (used > left)
        return !at_step_limit(run);
    if (LIKELY(run->scratch->on_step == NULL)) {
        left = MIN((left - used) / 2, (uint64_t)(run->scratch->steps_most - run->steps - 1));
        run->check_at = run->steps + 1 + (uint32_t)MIN(left, (uint64_t)UNASKED_STEPS);
    }
    return true;
}

static bool COLD scan_may_go_on(struct program_run *run)
{
    run->check_scanned = run->scanned + UNASKED_BYTES;
    return (run->scanned <= SCAN_FREE + (uint64_t)SCAN_TIMES * run->len &&
            steps_of(run) <= steps_left(run)) || !at_step_limit(run);
}

static bool may_retry(struct program_run *run)
{
    return LIKELY(run->scanned <= run->check_scanned) || scan_may_go_on(run);
}

static void count_scan(struct program_run *run, const uint8_t *found, int64_t from, int64_t to)
{
    if (found != NULL)
        to = found - run->data;
    if (to > from)
        run->scanned += (uint64_t)(to - from);
}

static enum step_result content_negated(const struct step *s, const struct program_run *run,
                                        const uint8_t *found)
{
    const uint32_t bound = OP_DISTANCE | OP_WITHIN | OP_RELATIVE_NEXT | OP_DEPTH | OP_OFFSET;

    if (found == NULL)
        return STEP_YES;
    if ((s->flags & OP_ENDSWITH) && (uint32_t)(found - run->data) + s->len != run->len)
        return STEP_YES;
    return s->flags & bound ? STEP_NO : STEP_STOP;
}

/* Stores the position; alert.c writes when the entire rule has matched. */
static void content_replace(const struct step *s, struct program_run *run, const uint8_t *found)
{
    struct program_scratch *scratch = run->scratch;

    if (!run->is_payload || scratch->replace_count == ARRAY_LEN(scratch->replace))
        return;
    scratch->replace[scratch->replace_count].at = (uint8_t *)(uintptr_t)found;
    scratch->replace[scratch->replace_count].with = s->content.replace;
    scratch->replace[scratch->replace_count++].len = s->len;
}

/* The content and all steps after it. *rest: whether those have run already. */
static enum step_result step_content(const struct rule_program *program, unsigned i,
                                     struct program_run *run, bool *rest)
{
    const struct step *s = &program->step[i];
    bool relative = s->flags & (OP_DISTANCE | OP_WITHIN);
    bool negated = s->flags & OP_NEGATED;
    struct range r = { 0, 0 };

    if (!(relative ? relative_range(s, run, run->at, &r) : absolute_range(s, run, &r)))
        return STEP_NO;
    r.to = MIN(r.to, (int64_t)run->len);
    for (;;) {
        const uint8_t *found;
        enum step_result result;

        if (r.from > r.to || r.to <= 0)
            return negated ? STEP_YES : STEP_NO;
        found = content_find(program, s, run, r.from, r.to);
        count_scan(run, found, r.from, r.to);
        if (negated)
            return content_negated(s, run, found);
        if (found == NULL)
            return relative ? STEP_NO : STEP_STOP;
        run->at = (uint32_t)(found - run->data) + s->len;
        if (!(s->flags & OP_ENDSWITH) || run->at == run->len) {
            if (UNLIKELY(s->flags & OP_REPLACE))
                content_replace(s, run, found);
            if (s->flags & OP_LAST)
                return STEP_YES;
            *rest = true;
            result = run_from(program, i + 1, run);
            if (result != STEP_NO)
                return result;
            if (!(s->flags & OP_RETRY))
                return STEP_STOP;
            *rest = false;
            if (!may_retry(run))
                return STEP_STOP;
        }
        r.from = found - run->data + 1;
    }
}

/* --- pcre --------------------------------------------------------------------------------- */

/* Copies key and text, cut to 255 and 65,535 bytes. Captures beyond the fixed number are
 * lost. */
void program_capture(struct program_scratch *s, uint8_t kind, uint32_t id, struct slice key,
                     struct slice text)
{
    struct pending_capture *out;

    if (s->capture_count == ARRAY_LEN(s->capture))
        return;
    out = &s->capture[s->capture_count++];
    *out = (struct pending_capture){ .kind = kind, .id = id, .key_at = (uint32_t)s->text.len,
                                     .key_len = MIN(key.len, 255u) };
    out->len = MIN(text.len, 65535u);
    if (!buf_reserve(&s->text, (size_t)out->key_len + out->len)) {
        s->capture_count--;
        return;
    }
    buf_add(&s->text, key.data, out->key_len);
    out->at = (uint32_t)s->text.len;
    buf_add(&s->text, text.data, out->len);
}

/* \K and lookbehinds may put a group's end before its start: then it is empty. */
static struct slice between(const uint8_t *subject, const PCRE2_SIZE *at)
{
    return (struct slice){ subject + at[0], at[1] > at[0] ? (uint32_t)(at[1] - at[0]) : 0 };
}

/* ov: pairs of offsets, the first pair for the entire match. A capture with a key uses two groups,
 * and is then the only one. */
static void pcre_captures(const struct pcre_op *pcre, struct program_run *run,
                          const uint8_t *subject, const PCRE2_SIZE *ov, unsigned groups)
{
    for (unsigned i = 0; i < pcre->capture_count && i + 1 < groups; i++) {
        const struct pcre_capture *c = &pcre->capture[i];
        const PCRE2_SIZE *one = ov + 2 * (i + 1);

        if (one[0] == PCRE2_UNSET)
            continue;
        if (!c->has_key) {
            program_capture(run->scratch, c->kind, c->id, (struct slice){ NULL, 0 },
                            between(subject, one));
        } else if (i + 2 < groups && one[2] != PCRE2_UNSET) {
            program_capture(run->scratch, c->kind, c->id, between(subject, one),
                            between(subject, one + 2));
            break;
        }
    }
}

/* Counts a step that begins now. */
static inline bool step_is_left(struct program_run *run, const struct step *s)
{
    return LIKELY(++run->steps < run->check_at) || step_may_run(run, s);
}

/* pcre2 gave up: limits on matching, on its memory, or on the stack of compiled code. The
 * rule does not match then, as in Suricata. */
static bool is_pcre_limit(int result)
{
    return result == PCRE2_ERROR_MATCHLIMIT || result == PCRE2_ERROR_DEPTHLIMIT ||
           result == PCRE2_ERROR_HEAPLIMIT || result == PCRE2_ERROR_JIT_STACKLIMIT ||
           result == PCRE2_ERROR_NOMEMORY;
}

/* What a search may take of the limit of the packet. A short one is always possible. */
static uint64_t work_left(const struct program_run *run)
{
    const uint64_t used = steps_of(run), most = steps_left(run);
    const uint64_t left = MAX(most - MIN(most, used), PROGRAM_STEPS_FREE);

    return left < UINT64_MAX / WORK_STEP ? left * WORK_STEP : UINT64_MAX;
}

/* The work of all searches of a program has one limit, because one that is relative starts after
 * each match of the step before. Who allows more backtracking allows more work, too. */
static int counted_match(const struct pcre_op *pcre, struct program_run *run, uint32_t base,
                         uint32_t from)
{
    struct program_scratch *s = run->scratch;
    const uint64_t most = PCRE_WORK(run->len) * MAX(pcre->match_limit / PCRE_MATCH_LIMIT, 1u);
    const uint64_t left = MIN(most - MIN(most, run->worked), work_left(run));
    const pcre2_code *code = expression_counted(pcre->compiled);
    int n;

    if (code == NULL)
        return PCRE2_ERROR_NOMEMORY;

    s->work = (struct pcre_work){ left, from };
    pcre2_set_match_limit(s->counted, pcre->match_limit);
    pcre2_set_depth_limit(s->counted, pcre->depth_limit);
    n = pcre2_match(code, run->data + base, run->len - base, from, 0, s->match_data, s->counted);
    run->worked += left - s->work.left;
    return n;
}

/* Most expressions take a small part of what they take at most: so many times what the packet pays
 * for may be estimated. With 1, requests of a few hundred bytes were mostly searched without
 * machine code: 4 % of all instructions on http-1k with 25,000 rules. */
#define ESTIMATE_TIMES 64

/* Whether machine code may search what is left of the data. The work it takes is not known, only
 * that it is at most so much. When that comes to much more than the packet pays for, the
 * expressions that follow count theirs. */
static bool needs_no_count(const struct pcre_compiled *c, const struct program_run *run,
                           uint32_t at)
{
    struct program_work *work = &run->scratch->packet;
    uint64_t most;

    if (!c->costly)
        return true;
    if (!pcre_work_is_small(c, run->data + at, run->len - at, &most))
        return false;
    most /= WORK_STEP;
    if (LIKELY(most <= PROGRAM_STEPS_FREE) || work->pay == NULL)
        return true;
    (void)steps_left(run);
    work->estimated += most;
    return work->estimated <= ESTIMATE_TIMES * work->own;
}

/* Data that the expression would read when the packet has nothing left to pay with. Short ones are
 * always read. */
static bool may_read(struct program_run *run, uint32_t len)
{
    return LIKELY(run->read + len <= READ_STEP * PROGRAM_STEPS_FREE) ||
           steps_of(run) + len / READ_STEP <= steps_left(run);
}

/* Without memory for machine code the rule does not match, because only with that the work is
 * bounded. */
static int plain_match(const struct pcre_op *pcre, struct program_run *run, uint32_t base,
                       uint32_t from)
{
    pcre2_match_data *md = run->scratch->match_data;
    const pcre2_code *fast = expression_fast(pcre->compiled);

    if (LIKELY(fast != NULL))
        return pcre2_jit_match(fast, run->data + base, run->len - base, from, 0, md,
                               pcre->context);
    if (pcre->compiled->fast_when_used)
        return PCRE2_ERROR_NOMEMORY;
    return pcre2_match(pcre->compiled->code, run->data + base, run->len - base, from, 0, md,
                       pcre->context);
}

/* The next match from pcre_from on. A relative pcre sees only the data after the last
 * match, so ^ is there. */
static enum step_result pcre_once(const struct step *s, struct program_run *run)
{
    const struct pcre_op *pcre = s->pcre;
    uint32_t base = s->flags & OP_RELATIVE ? run->at : 0;
    uint32_t from = run->pcre_from > base ? run->pcre_from - base : 0;
    pcre2_match_data *md = run->scratch->match_data;
    const PCRE2_SIZE *ov;
    uint64_t read;
    int n;

    if (base > run->len || from > run->len - base)
        return STEP_NO;
    n = PCRE2_ERROR_MATCHLIMIT;
    if (may_read(run, run->len - base - from) &&
        needs_no_count(pcre->compiled, run, base + from))
        n = plain_match(pcre, run, base, from);
    if (n == PCRE2_ERROR_MATCHLIMIT && pcre->compiled->costly)
        n = counted_match(pcre, run, base, from);
    read = n > 0 ? pcre2_get_ovector_pointer(md)[1] - from : run->len - base - from;
    run->scanned += read;
    run->read += read;
    if (n == PCRE2_ERROR_NOMATCH)
        return s->flags & OP_NEGATED ? STEP_YES : STEP_NO;
    if (UNLIKELY(n < 0) && is_pcre_limit(n))
        run->scratch->limits |= PROGRAM_PCRE_LIMIT;
    if (n < 0 || (s->flags & OP_NEGATED))
        return STEP_NO;
    ov = pcre2_get_ovector_pointer(md);
    if (UNLIKELY(pcre->capture_count > 0) && n > 1)
        pcre_captures(pcre, run, run->data + base, ov, (unsigned)n);
    /* \K may put the start after the end, and a lookbehind the end before the subject's start. */
    run->at = base + (uint32_t)ov[1];
    run->pcre_from = base + (uint32_t)ov[0] + 1;
    return STEP_YES;
}

/* Like step_content(): if a later step is relative, each match is tried in turn. */
static enum step_result step_pcre(const struct rule_program *program, unsigned i,
                                  struct program_run *run, bool *rest)
{
    const struct step *s = &program->step[i];
    uint32_t at = run->at;

    run->pcre_from = 0;
    for (;;) {
        uint32_t next;
        enum step_result result = pcre_once(s, run);

        if (result != STEP_YES || !(s->flags & OP_RELATIVE_NEXT) || (s->flags & OP_LAST))
            return result;
        next = run->pcre_from;
        *rest = true;
        result = run_from(program, i + 1, run);
        if (result != STEP_NO || next == 0)
            return result;
        *rest = false;
        if (!step_is_left(run, s) || !may_retry(run))
            return STEP_STOP;
        run->at = at;
        run->pcre_from = next;
    }
}

/* --- the rest ----------------------------------------------------------------------------- */

/* STEP_STOP if no other position of earlier steps can change the result. 100,000,000: from there on
 * Suricata rejects a variable as invalid. */
static enum step_result step_isdataat(const struct step *s, const struct program_run *run)
{
    bool negated = s->flags & OP_NEGATED, var = s->flags & OP_OFFSET_VAR, there;
    uint64_t need = var ? run->vars[s->byte.offset] : (uint64_t)(uint32_t)s->byte.offset;

    if (var && need >= 100000000)
        return negated ? STEP_YES : STEP_NO;
    there = s->flags & OP_RELATIVE ? run->at + need <= run->len : need < run->len;
    if (there != negated)
        return STEP_YES;
    if (var || ((s->flags & OP_RELATIVE) && negated))
        return STEP_NO;
    return STEP_STOP;
}

/* `&` and `^` test for any bit of the result. */
static bool byte_compare(uint8_t op, uint64_t found, uint64_t value)
{
    switch (op) {
    case BYTE_EQ:  return found == value;
    case BYTE_LT:  return found < value;
    case BYTE_GT:  return found > value;
    case BYTE_LE:  return found <= value;
    case BYTE_GE:  return found >= value;
    case BYTE_AND: return (found & value) != 0;
    case BYTE_XOR: return (found ^ value) != 0;
    default:       return false;
    }
}

/* A number that cannot be read is no match, also for a negated test. */
static enum step_result step_byte_test(const struct step *s, const struct program_run *run)
{
    uint64_t value = s->flags & OP_VALUE_VAR ? run->vars[s->byte.value] : s->byte.value, found;
    uint32_t end;

    if (!byte_extract_value(s, run, &found, &end))
        return STEP_NO;
    return byte_compare(s->byte.op, found, value) != !!(s->flags & OP_NEGATED) ? STEP_YES : STEP_NO;
}

/* The order of multiplier, align and post_offset is Suricata's. A jump before the buffer
 * goes to its start, one past the end does not match. */
static enum step_result step_byte_jump(const struct step *s, struct program_run *run)
{
    uint64_t value;
    uint32_t end;
    int64_t to;

    if (!byte_extract_value(s, run, &value, &end))
        return STEP_NO;
    value *= s->byte.multiplier;
    if (s->flags & OP_ALIGN)
        value = (value + 3) & ~(uint64_t)3;
    value += (uint64_t)(int64_t)s->byte.post_offset;
    to = (int64_t)value;
    if (to > INT32_MAX || to < INT32_MIN)
        to = to > 0 ? INT32_MAX : INT32_MIN;
    if (s->flags & OP_FROM_END)
        to += run->len;
    else if (!(s->flags & OP_FROM_BEGINNING))
        to += end;
    if (to > (int64_t)run->len)
        return STEP_NO;
    run->at = to < 0 ? 0 : (uint32_t)to;
    return STEP_YES;
}

/* align works on the value here, up to the next multiple. */
static enum step_result step_byte_extract(const struct step *s, struct program_run *run)
{
    uint64_t value;
    uint32_t end;

    if (!byte_extract_value(s, run, &value, &end))
        return STEP_NO;
    value *= s->byte.multiplier;
    if (s->byte.align != 0 && value % s->byte.align != 0)
        value += s->byte.align - value % s->byte.align;
    run->vars[s->byte.result] = value;
    run->at = end;
    return STEP_YES;
}

/* Unsigned, modulo 2^64. Division by zero and unknown operators: no match. */
static bool byte_calculate(uint8_t op, uint64_t *value, uint64_t with)
{
    switch (op) {
    case BYTE_ADD: *value += with; break;
    case BYTE_SUB: *value -= with; break;
    case BYTE_MUL: *value *= with; break;
    case BYTE_SHL: *value = with < 64 ? *value << with : 0; break;
    case BYTE_SHR: *value = with < 64 ? *value >> with : 0; break;
    case BYTE_DIV:
        if (with == 0)
            return false;
        *value /= with;
        break;
    default: return false;
    }
    return true;
}

/* The value of another variable may be the operand. */
static enum step_result step_byte_math(const struct step *s, struct program_run *run)
{
    uint64_t with = s->flags & OP_VALUE_VAR ? run->vars[s->byte.value] : s->byte.value, value;
    struct step plain = *s;
    uint32_t end;

    plain.flags &= ~(uint32_t)OP_BITMASK;       /* the mask applies to the result */
    if (!byte_extract_value(&plain, run, &value, &end) ||
        !byte_calculate(s->byte.op, &value, with))
        return STEP_NO;
    if (s->flags & OP_BITMASK)
        value = (value & s->byte.mask) >> s->byte.mask_shift;
    run->vars[s->byte.result] = value;
    run->at = end;
    return STEP_YES;
}

/* For a buffer that may still grow, "no" is only final when growing cannot make it "yes". */
static enum step_result step_bsize(const struct step *s, const struct program_run *run)
{
    struct int_match size = s->size;
    uint64_t len = run->start + run->len;

    if (s->flags & OP_VALUE_VAR)
        size.a = run->vars[size.a];
    if (int_match_has(&size, len))
        return STEP_YES;
    return run->complete ? STEP_STOP : STEP_NO;
}

/* Suricata keeps the length in 16 bits. */
static enum step_result step_urilen(const struct step *s, const struct program_run *run)
{
    return int_match_has(&s->size, MIN(run->len, 65535u)) ? STEP_YES : STEP_STOP;
}

/* Decodes up to the first byte that is not base64; what came before counts. */
static void base64_take(struct slice in, struct buf *out)
{
    buf_clear(out);
    if (buf_reserve(out, base64_capacity(in.len)))
        out->len = (size_t)base64_decode(in, BASE64_TO_WRONG, out->data);
}

/* The contents after base64_data are a separate program, which runs on the decoded bytes. */
static enum step_result step_base64(const struct step *s, struct program_run *run)
{
    uint32_t from = (s->flags & OP_RELATIVE ? run->at : 0) + s->base64.offset;
    struct program_run inner = *run;
    struct buf *out = &run->scratch->base64;
    bool matches;
    uint32_t len;

    if (from >= run->len || s->base64.then == NULL)
        return STEP_NO;
    len = run->len - from;
    if (s->base64.bytes > 0)
        len = MIN(len, s->base64.bytes);
    base64_take((struct slice){ run->data + from, len }, out);
    run->scanned += BASE64_SCANS * (uint64_t)out->len;
    if (out->len == 0)
        return STEP_NO;
    inner.data = out->data;
    inner.len = (uint32_t)out->len;
    inner.start = 0;
    inner.at = inner.pcre_from = 0;
    inner.scanned = inner.read = 0;
    inner.check_scanned = SEARCH_STEP * PROGRAM_STEPS_FREE / 2;
    inner.complete = true;
    inner.is_payload = false;
    /* the decoded text ends the rule's search, so its result is the result of the program */
    matches = run_from(s->base64.then, 0, &inner) == STEP_YES;
    run->scanned += inner.scanned;
    run->read += inner.read;
    run->worked = inner.worked;
    run->steps = inner.steps;
    return matches ? STEP_YES : STEP_NO;
}

/* OP_ABSENT: the buffer exists; so only "absent: or_else" can go on. */
static enum step_result run_step(const struct rule_program *program, unsigned i,
                                 struct program_run *run, bool *rest)
{
    const struct step *s = &program->step[i];

    switch ((enum op_kind)s->kind) {
    case OP_CONTENT:      return step_content(program, i, run, rest);
    case OP_PCRE:         return step_pcre(program, i, run, rest);
    case OP_ISDATAAT:     return step_isdataat(s, run);
    case OP_BYTE_TEST:    return step_byte_test(s, run);
    case OP_BYTE_JUMP:    return step_byte_jump(s, run);
    case OP_BYTE_EXTRACT: return step_byte_extract(s, run);
    case OP_BYTE_MATH:    return step_byte_math(s, run);
    case OP_BSIZE:        return step_bsize(s, run);
    case OP_URILEN:       return step_urilen(s, run);
    case OP_BASE64:       return step_base64(s, run);
    case OP_ABSENT:       return s->flags & OP_OR_ELSE ? STEP_YES : STEP_NO;
    case OP_CALL:         return s->call.call(run, s->call.arg);
    }
    return STEP_NO;
}

static enum step_result run_from(const struct rule_program *program, unsigned i,
                                 struct program_run *run)
{
    for (; i < program->count; i++) {
        bool rest = false;
        enum step_result result;

        if (!step_is_left(run, &program->step[i]))
            return STEP_STOP;
        result = run_step(program, i, run, &rest);
        if (rest || result != STEP_YES)
            return result;
    }
    return STEP_YES;
}

/* Most programs take fewer steps than PROGRAM_STEPS_FREE, and most others than STEPS_UNCOUNTED,
 * from where on a transaction counts them. */
#define STEPS_UNCOUNTED 64

static void COLD count_steps(const struct program_run *run, uint64_t steps)
{
    struct program_scratch *scratch = run->scratch;

    (void)steps_left(run);
    scratch->packet.used += steps - PROGRAM_STEPS_FREE;
    steps -= run->read / READ_STEP;
    if (steps > STEPS_UNCOUNTED)
        scratch->extra_steps += steps - STEPS_UNCOUNTED;
}

/* min_len skips the run for data that are too short for the contents. */
bool program_match(const struct rule_program *program, struct program_run *run)
{
    static const uint8_t nothing[1];
    uint64_t steps;
    bool matches;

    if (run->len < program->min_len)
        return false;
    if (run->data == NULL) {
        if (run->len > 0)
            return false;
        run->data = nothing;
    }
    run->at = run->pcre_from = run->steps = 0;
    run->scanned = run->read = run->worked = 0;
    run->check_at = run->scratch->step_limit;
    run->check_scanned = SEARCH_STEP * PROGRAM_STEPS_FREE / 2;
    matches = run_from(program, 0, run) == STEP_YES;
    steps = steps_of(run);
    if (UNLIKELY(steps > PROGRAM_STEPS_FREE))
        count_steps(run, steps);
    return matches;
}

void program_scratch_set_steps(struct program_scratch *s, uint32_t step_limit)
{
    s->steps_most = step_limit > 0 ? step_limit : UINT32_MAX;
    s->step_limit = MIN(s->steps_most, PROGRAM_STEPS_FREE);
}

/* One for each thread; step_limit 0: none. */
void program_scratch_init(struct program_scratch *s, uint32_t step_limit)
{
    memset(s, 0, sizeof(*s));
    s->match_data = pcre_match_data_new(PCRE_CAPTURES_MAX + 2);
    s->counted = pcre_work_context_new(&s->work);
    program_scratch_set_steps(s, step_limit);
    (void)!buf_reserve(&s->base64, 4096);       /* or when first needed */
    (void)!buf_reserve(&s->text, 4096);
}

void program_scratch_fini(struct program_scratch *s)
{
    pcre2_match_data_free(s->match_data);
    pcre2_match_context_free(s->counted);
    buf_fini(&s->base64);
    buf_fini(&s->text);
}
