/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/trace.c - a rule's program with a probe behind each step, which notes that the
 * step has passed and where.
 *
 * The steps are the engine's own (inspect/run_program.c), so what a trace says is what the engine
 * does. If the program does not match, it runs again without one step at a time: a step without
 * which the rest matches is what keeps the rule from matching. */
#include "detect/explain/private.h"
#include "match/spm_literal.h"

/* --- building ----------------------------------------------------------------------------- */

/* The furthest run counts, and of several the last: its places are in t->end. */
static enum step_result probe_pass(struct program_run *run, const void *arg)
{
    const struct probe *p = arg;
    struct trace *t = p->trace;

    if (t->is_quiet)
        return STEP_YES;
    t->path[p->step] = run->at;
    t->pcre_path[p->step] = run->pcre_from;
    if (p->step + 1 < t->reached)
        return STEP_YES;
    if (p->step + 1 > t->reached) {
        t->reached = p->step + 1;
        t->tries = 0;
        t->data = (struct slice){ run->data, run->len };
        memcpy(t->end, t->path, sizeof(t->end));
        memcpy(t->pcre_from, t->pcre_path, sizeof(t->pcre_from));
        t->start_at = run->at;
        memcpy(t->vars, run->vars, sizeof(t->vars));
    }
    t->tries++;
    return STEP_YES;
}

/* Before the first step: what the program runs on, also when that fails at once. */
static enum step_result probe_begin(struct program_run *run, const void *arg)
{
    const struct probe *p = arg;

    if (!p->trace->is_quiet) {
        p->trace->is_there = true;
        p->trace->data = (struct slice){ run->data, run->len };
        memcpy(p->trace->vars, run->vars, sizeof(p->trace->vars));
    }
    return STEP_YES;
}

/* In place of a step that is left out: later relative ones start where a content stands that is
 * not where, or not written as, the rule wants it. */
static enum step_result step_left_out(struct program_run *run, const void *arg)
{
    const struct probe *p = arg;
    const struct rule_op *op = p->trace->op[p->step];
    uint32_t from = op->flags & (OP_DISTANCE | OP_WITHIN) ? run->at : 0;
    uint8_t lower[256];
    const uint8_t *found;

    if (op->kind != OP_CONTENT || (op->flags & OP_NEGATED) || op->content.len > sizeof(lower))
        return STEP_YES;
    for (unsigned i = 0; i < op->content.len; i++)
        lower[i] = ascii_lower(op->content.bytes[i]);
    found = spm_find(run->data + from, run->len - from, lower, op->content.len, true);
    if (found != NULL)
        run->at = (uint32_t)(found - run->data) + op->content.len;
    return STEP_YES;
}

/* A list as program_build() takes it. */
struct copy { struct rule_list list; struct rule_op *op; };

static struct rule_op *copy_add(struct copy *c, const struct rule_op *op)
{
    struct rule_op *to = &c->op[c->list.op_count++];

    *to = *op;
    to->prev = c->list.last;
    to->next = NULL;
    if (c->list.last != NULL)
        c->list.last->next = to;
    else
        c->list.first = to;
    c->list.last = to;
    return to;
}

static void copy_add_call(struct copy *c, uint32_t flags, struct call_op call)
{
    struct rule_op op = { .kind = OP_CALL, .flags = flags, .call = call };

    copy_add(c, &op);
}

/* `without`: a step to leave out; count: none. min_len is cleared, so that a buffer that is too
 * short fails in the step that does not find its content. A negated step that is left out would
 * have passed. */
static const struct rule_program *build(struct arena *arena, struct trace *t, unsigned without)
{
    struct copy c = { .list = *t->list };
    struct rule_program *program;

    c.op = arena_zalloc(arena, (2 * t->count + 1) * sizeof(*c.op));
    if (c.op == NULL)
        return NULL;
    c.list.first = c.list.last = NULL;
    c.list.op_count = 0;
    if (t->op[0]->kind != OP_ABSENT)
        copy_add_call(&c, 0, (struct call_op){ probe_begin, &t->probe[0] });
    for (unsigned i = 0; i < t->count; i++) {
        if (i == without)
            copy_add_call(&c, 0, (struct call_op){ step_left_out, &t->probe[i] });
        else
            copy_add(&c, t->op[i]);
        copy_add_call(&c, 0, (struct call_op){ probe_pass, &t->probe[i] });
    }
    program = (void *)(uintptr_t)program_build(
        arena, &c.list, t->decoded != NULL ? t->decoded->program : NULL);
    if (program != NULL)
        program->min_len = 0;
    return program;
}

/* Steps that would change a set or run a script are asked once, by the engine. */
static void leave_out_silent(struct trace *t, struct rule_op *silent, unsigned i)
{
    *silent = *t->op[i];
    silent->kind = OP_CALL;
    silent->call = (struct call_op){ step_left_out, &t->probe[i] };
    t->op[i] = silent;
}

static bool changes_state(const struct rule_op *op, bool changes_sets)
{
    return op->kind == OP_CALL && op->keyword != NULL &&
           (strcmp(op->keyword->name, "lua") == 0 ||
            (changes_sets && strcmp(op->keyword->name, "dataset") == 0));
}

/* NULL: the list has no step, or more than are traced; or no memory. */
struct trace *trace_new(struct arena *arena, const struct rule_list *list, unsigned flags)
{
    struct rule_op *silent;
    struct trace *t;
    bool decodes = false;

    if (list->op_count == 0 || list->op_count > TRACE_STEPS_MAX)
        return NULL;
    t = arena_zalloc(arena, sizeof(*t));
    silent = t != NULL ? arena_alloc(arena, list->op_count * sizeof(*silent)) : NULL;
    if (silent == NULL)
        return NULL;
    t->list = list;
    for (const struct rule_op *op = list->first; op != NULL; op = op->next) {
        t->probe[t->count] = (struct probe){ t, t->count };
        t->op[t->count++] = op;
        decodes |= op->kind == OP_BASE64;
    }
    for (unsigned i = 0; i < t->count; i++)
        if (changes_state(t->op[i], flags & TRACE_CHANGES_SETS))
            leave_out_silent(t, silent++, i);
    if (decodes && list->decoded != NULL)
        t->decoded = trace_new(arena, list->decoded, flags);
    t->program = build(arena, t, t->count);
    for (unsigned i = 0; i < t->count && !(flags & TRACE_ONCE); i++)
        t->without[i] = build(arena, t, i);
    return t->program != NULL ? t : NULL;
}

/* --- running ------------------------------------------------------------------------------ */

static bool run_program(struct trace *t, const struct rule_program *program,
                        struct program_scratch *scratch, const struct match_input *in)
{
    uint64_t vars[BYTE_VARS_MAX] = { 0 };
    struct program_run run = {
        .data = t->data.data,
        .len = t->data.len,
        .start = t->start,
        .complete = t->complete,
        .little = t->little,
        .vars = vars,
        .scratch = scratch,
        .input = in,
    };

    scratch->capture_count = scratch->replace_count = 0;
    buf_clear(&scratch->text);
    return program_match(program, &run);
}

/* The failed step first: if the rest matches without it, nothing else is wrong. */
static void find_culprit(struct trace *t, struct program_scratch *scratch,
                         const struct match_input *in)
{
    unsigned failed = t->reached;
    struct slice data = t->data;

    t->culprit = failed;
    t->only_culprit = false;
    if (failed >= t->count || t->without[0] == NULL)
        return;
    t->is_quiet = true;
    if (t->decoded != NULL)
        t->decoded->is_quiet = true;
    for (unsigned i = failed + 1; i-- > 0 && !t->only_culprit;) {
        t->data = data;
        if (run_program(t, t->without[i], scratch, in)) {
            t->culprit = i;
            t->only_culprit = true;
        }
    }
    t->data = data;
    t->is_quiet = false;
    if (t->decoded != NULL)
        t->decoded->is_quiet = false;
}

static void trace_reset(struct trace *t)
{
    t->reached = t->tries = 0;
    t->start_at = 0;
    t->passed = t->only_culprit = false;
    memset(t->vars, 0, sizeof(t->vars));
}

/* t->data and what goes with it say on what. */
bool trace_run(struct trace *t, struct program_scratch *scratch, const struct match_input *in)
{
    trace_reset(t);
    t->is_there = true;
    if (t->decoded != NULL) {
        trace_reset(t->decoded);
        t->decoded->is_there = false;
        t->decoded->data = (struct slice){ 0 };
        t->decoded->start = 0;
        t->decoded->complete = true;
    }
    t->passed = run_program(t, t->program, scratch, in);
    if (!t->passed)
        find_culprit(t, scratch, in);
    if (t->decoded != NULL) {
        t->decoded->passed = t->passed;
        t->decoded->culprit = t->decoded->reached;
        t->decoded->only_culprit = t->only_culprit;
    }
    return t->passed;
}

struct trace *trace_of_failure(struct trace *t)
{
    unsigned at = t->culprit;

    return at < t->count && t->op[at]->kind == OP_BASE64 && t->decoded != NULL &&
           t->decoded->is_there ? t->decoded : t;
}
