/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/program.c - the operations of a rule on one buffer: appends them while the
 * rule is parsed, and lays a complete list out as a program. */
#include "detect/rule/program.h"

#include "detect/rule/rule_block.h"
#include "match/spm_literal.h"

#include <ctype.h>
#include <string.h>

/* --- appending ---------------------------------------------------------------------------- */

struct rule_list *rule_payload_list(struct rule_parser *p)
{
    struct rule_list **at = &p->rule->list;

    for (; *at != NULL; at = &(*at)->next)
        if ((*at)->buffer == NULL)
            return *at;
    *at = arena_zalloc(p->arena, sizeof(**at));
    (*at)->directions = APP_BOTH;
    return *at;
}

/* Finds it by serial number, because the rule may have changed buffers in between. */
struct rule_op *op_last(struct rule_parser *p)
{
    struct rule_op *last = NULL;

    for (struct rule_list *l = p->rule->list; l != NULL; l = l->next)
        if (l->last != NULL && (last == NULL || l->last->serial > last->serial))
            last = l->last;
    return last;
}

/* After a sticky buffer only contents of that buffer count, whatever transforms it got
 * since. */
struct rule_op *op_last_content(struct rule_parser *p)
{
    const struct buffer *only = p->current_is_sticky ? p->current->buffer->base : NULL;
    struct rule_op *last = NULL;

    for (struct rule_list *l = p->rule->list; l != NULL; l = l->next)
        for (struct rule_op *op = l->last; op != NULL; op = op->prev)
            if (op->kind == OP_CONTENT && (last == NULL || op->serial > last->serial) &&
                (only == NULL || (l->buffer != NULL && l->buffer->base == only)))
                last = op;
    return last;
}

static void list_add(struct rule_list *list, struct rule_op *op)
{
    op->list = list;
    op->next = NULL;
    op->prev = list->last;
    if (list->last != NULL)
        list->last->next = op;
    else
        list->first = op;
    list->last = op;
    list->op_count++;
}

static void list_remove(struct rule_op *op)
{
    struct rule_list *list = op->list;

    *(op->prev != NULL ? &op->prev->next : &list->first) = op->next;
    *(op->next != NULL ? &op->next->prev : &list->last) = op->prev;
    list->op_count--;
}

/* A relative operation without a sticky buffer belongs to the list of the operation before
 * it. */
static struct rule_list *list_for(struct rule_parser *p, bool relative)
{
    struct rule_op *last;

    if (p->current != NULL)
        return p->current;
    last = relative ? op_last(p) : NULL;
    return last != NULL ? last->list : rule_payload_list(p);
}

#define LIST_OPS_MAX 512        /* far above published rules; a program counts in 16 bits */

/* Serial numbers are the order of the rule's text over all lists. */
struct rule_op *op_append(struct rule_parser *p, enum op_kind kind, bool relative)
{
    struct rule_op *last = op_last(p), *op;
    struct rule_list *list = list_for(p, relative);

    if (list->op_count == LIST_OPS_MAX) {
        rule_error(p, "%s: more than %u tests on one buffer", p->keyword->name, LIST_OPS_MAX);
        return NULL;
    }
    op = p->block != NULL ? packed_arena_alloc(&p->block->operations, sizeof(*op))
                          : arena_zalloc(p->arena, sizeof(*op));
    op->kind = (uint8_t)kind;
    op->keyword = p->keyword;
    op->serial = last != NULL ? (uint16_t)(last->serial + 1) : 0;
    if (p->negated)
        op->flags |= OP_NEGATED;
    if (relative)
        op->flags |= OP_RELATIVE;
    list_add(list, op);
    if (op->serial < RULE_OPS_PLACED)
        p->op_at[op->serial] = p->at;
    p->last_test = NULL;
    return op;
}

/* For content modifiers: the operation counts as the last one of the rule. */
void op_move(struct rule_parser *p, struct rule_op *op, struct rule_list *to)
{
    struct rule_op *last = op_last(p);
    uint16_t serial = (uint16_t)(last->serial + 1);

    list_remove(op);
    if (op->serial < RULE_OPS_PLACED && serial < RULE_OPS_PLACED)
        p->op_at[serial] = p->op_at[op->serial];
    op->serial = serial;
    list_add(to, op);
}

/* --- variables ---------------------------------------------------------------------------- */

int byte_var_find(struct rule_parser *p, struct text name)
{
    for (unsigned i = 0; i < p->rule->var_count; i++)
        if (text_equal(name, p->rule->stored_info->var_names[i]))
            return (int)i;
    return -1;
}

/* The array is copied, not grown: a rule has few variables, and the arena frees nothing. */
int byte_var_make(struct rule_parser *p, struct text name)
{
    struct rule *r = p->rule;
    const char **names;

    if (r->var_count == BYTE_VARS_MAX)
        return -1;
    names = arena_alloc(p->arena, (r->var_count + 1) * sizeof(*names));
    if (r->var_count > 0)
        memcpy(names, r->stored_info->var_names, r->var_count * sizeof(*names));
    names[r->var_count] = arena_text(p->arena, name);
    r->stored_info->var_names = names;
    return (int)r->var_count++;
}

/* --- literals ----------------------------------------------------------------------------- */

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Parses the inside of |..| from *i on, and moves *i after the closing bar. Blanks and
 * commas may separate bytes. */
static int hex_parse(struct rule_parser *p, struct text in, size_t *i, uint8_t *out, size_t *n)
{
    int half = -1;

    for (; *i < in.n && in.p[*i] != '|'; ++*i) {
        char c = in.p[*i];
        int v = hex_value(c);

        if (c == ' ' || c == ',')
            continue;
        if (v < 0)
            return rule_error(p, "Invalid hex code in content - %.*s, hex %c. Invalidating "
                              "signature.", TEXT(in), c);
        if (half >= 0)
            out[(*n)++] = (uint8_t)(half << 4 | v);
        half = half >= 0 ? -1 : v;
    }
    if (*i == in.n)
        return rule_error(p, "Invalid hex code assembly in %s - %.*s.  Invalidating signature.",
                          p->keyword->name, TEXT(in));
    if (half >= 0)
        return rule_error(p, "Incomplete hex code in content - %.*s. Invalidating signature.",
                          TEXT(in));
    ++*i;
    return 0;
}

/* `out` is as long as the text, which is never shorter than its bytes. Characters that end
 * options must be escaped. The bytes are in scratch memory, because programs have copies. */
int content_bytes_parse(struct rule_parser *p, struct text in, const char *keyword,
                        uint8_t **bytes, uint16_t *len)
{
    uint8_t *out = arena_alloc(p->scratch, in.n + 1);
    size_t n = 0;

    if (in.n == 0)
        return rule_error(p, "%s: the pattern is empty", keyword);
    for (size_t i = 0; i < in.n; ) {
        char c = in.p[i++];

        if (c == '|') {
            if (hex_parse(p, in, &i, out, &n) < 0)
                return -1;
        } else if (c == '\\') {
            if (i == in.n || strchr(":;\\\"", in.p[i]) == NULL)
                return rule_error(p, "'%c' has to be escaped", c);
            out[n++] = (uint8_t)in.p[i++];
        } else if (c == '"') {
            return rule_error(p, "Invalid unescaped double quote within content section.");
        } else {
            out[n++] = (uint8_t)c;
        }
    }
    if (n == 0 || n > UINT16_MAX)
        return rule_error(p, "%s: the pattern has %zu bytes, expected 1 to 65535", keyword, n);
    *bytes = out;
    *len = (uint16_t)n;
    return 0;
}

/* The search folds the data to lower case, so the pattern is folded once here. */
void content_set_nocase(struct rule_parser *p, struct content_op *content, uint32_t *flags)
{
    uint8_t *lower = arena_copy(p->scratch, content->bytes, content->len);

    for (unsigned i = 0; i < content->len; i++)
        lower[i] = ascii_lower(lower[i]);
    content->bytes = lower;
    *flags |= OP_NOCASE;
}

/* --- dependences between operations ------------------------------------------------------- */

/* Returns the operation at whose end a relative one starts. */
static struct rule_op *previous_pattern(struct rule_op *op)
{
    for (op = op->prev; op != NULL; op = op->prev)
        if (op->kind == OP_CONTENT || op->kind == OP_PCRE)
            return op;
    return NULL;
}

/* A later match of the previous pattern can only help when `op` must be near it. For an
 * operation that may be anywhere after it the first match is the best one. Without the
 * flag a failed operation ends the search. */
static void mark_dependence(struct rule_op *op)
{
    bool relative = op->flags & (OP_RELATIVE | OP_DISTANCE | OP_WITHIN);
    struct rule_op *before = relative ? previous_pattern(op) : NULL;

    if (before == NULL)
        return;
    before->flags |= OP_RELATIVE_NEXT;
    if (op->kind != OP_CONTENT || (op->flags & (OP_WITHIN | OP_NEGATED)))
        before->flags |= OP_RETRY;
}

void ops_mark_dependence(struct rule_list *list)
{
    for (struct rule_op *op = list->first; op != NULL; op = op->next)
        mark_dependence(op);
}

/* --- programs ----------------------------------------------------------------------------- */

/* A step has what running needs, without the links and texts of parsing. */
static void step_fill(struct step *s, const struct rule_op *op, const struct rule_program *then)
{
    *s = (struct step){ .kind = op->kind, .flags = op->flags };
    switch ((enum op_kind)op->kind) {
    case OP_CONTENT:
        s->len = op->content.len;
        s->content.offset = op->content.offset;
        s->content.depth = op->content.depth;
        s->content.distance = op->content.distance;
        s->content.within = op->content.within;
        s->content.replace = op->content.replace;
        break;
    case OP_PCRE:
        s->pcre = op->pcre;
        break;
    case OP_ISDATAAT:
    case OP_BYTE_TEST:
    case OP_BYTE_JUMP:
    case OP_BYTE_EXTRACT:
    case OP_BYTE_MATH:
        s->byte = op->byte;
        break;
    case OP_BSIZE:
    case OP_URILEN:
        s->size = op->size;
        break;
    case OP_BASE64:
        s->base64 = op->base64;
        s->base64.then = then;
        break;
    case OP_CALL:
        s->call = op->call;
        s->keyword = op->keyword;
        break;
    case OP_ABSENT:
        break;
    }
}

/* True if the result depends on where the data end, or on bytes that are absent. More data may then
 * revoke a match. */
static bool depends_on_end(const struct rule_list *list)
{
    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        if ((op->flags & (OP_NEGATED | OP_ENDSWITH)) || op->kind == OP_BSIZE || op->kind == OP_CALL)
            return true;
    return false;
}

/* True if it lists bytes that must be absent, each by itself. */
static bool has_only_absent(const struct rule_list *list)
{
    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        if (!(op->flags & OP_NEGATED) || (op->flags & OP_RELATIVE) ||
            (op->kind != OP_CONTENT && op->kind != OP_PCRE))
            return false;
    return list->first != NULL;
}

/* The longest content that must be present: a shorter buffer cannot match. */
static uint32_t least_length(const struct rule_list *list)
{
    uint32_t most = 0;

    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        if (op->kind == OP_CONTENT && !(op->flags & OP_NEGATED))
            most = MAX(most, op->content.len);
        else if (op->kind == OP_ABSENT)
            return 0;
    return most;
}

/* One block: header, steps, then all literals, so that running touches few cache lines. */
const struct rule_program *program_build(struct arena *arena, const struct rule_list *list,
                                         const struct rule_program *then)
{
    size_t literals = 0, at;
    struct rule_program *program;
    unsigned i = 0;

    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        literals += op->kind == OP_CONTENT ? op->content.len : 0;
    at = sizeof(*program) + list->op_count * sizeof(struct step);
    program = arena_alloc(arena, at + literals);
    if (program == NULL)
        return NULL;
    program->count = (uint16_t)list->op_count;
    program->absent = list->first != NULL && list->first->kind == OP_ABSENT;
    program->absent_or_else = program->absent && (list->first->flags & OP_OR_ELSE);
    program->min_len = least_length(list);
    program->revocable = depends_on_end(list);
    program->only_absent = has_only_absent(list);
    for (struct rule_op *op = list->first; op != NULL; op = op->next, i++) {
        step_fill(&program->step[i], op, then);
        if (op->next == NULL)
            program->step[i].flags |= OP_LAST;
        if (op->kind != OP_CONTENT)
            continue;
        program->step[i].content.literal = (uint32_t)at;
        memcpy((uint8_t *)program + at, op->content.bytes, op->content.len);
        at += op->content.len;
    }
    return program;
}

/* A content's bytes as written are only kept where they differ. */
const struct rule_program *program_of_list(struct arena *arena, struct rule_list *list,
                                           const struct rule_program *then)
{
    const struct rule_program *program = program_build(arena, list, then);
    const struct step *s = program->step;

    for (struct rule_op *op = list->first; op != NULL; op = op->next, s++) {
        const uint8_t *written = op->content.written;

        if (op->kind != OP_CONTENT)
            continue;
        op->content.bytes = (const uint8_t *)program + s->content.literal;
        op->content.written = op->content.bytes;
        if (memcmp(written, op->content.bytes, op->content.len) != 0)
            op->content.written = (const uint8_t *)arena_slice(arena,
                (struct slice){ written, op->content.len }).data;
    }
    return program;
}
