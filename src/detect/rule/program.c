/* SPDX-License-Identifier: GPL-2.0-or-later */
/* From the ops of a list to a program; and the small services that buffer keywords share. */
#include "detect/rule/program.h"

#include "detect/analysis/analysis.h"
#include "base/array.h"
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

struct rule_op *op_last(struct rule_parser *p)
{
    struct rule_op *last = NULL;

    for (struct rule_list *l = p->rule->list; l != NULL; l = l->next)
        if (l->last != NULL && (last == NULL || l->last->serial > last->serial))
            last = l->last;
    return last;
}

/* Behind a sticky buffer only what was said of that one, whatever it was transformed to since. */
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

static struct rule_list *list_for(struct rule_parser *p, bool relative)
{
    struct rule_op *last;

    if (p->current != NULL)
        return p->current;
    last = relative ? op_last(p) : NULL;
    return last != NULL ? last->list : rule_payload_list(p);
}

#define LIST_OPS_MAX 512

struct rule_op *op_append(struct rule_parser *p, enum op_kind kind, bool relative)
{
    struct rule_op *last = op_last(p), *op;
    struct rule_list *list = list_for(p, relative);

    if (list->op_count == LIST_OPS_MAX) {
        rule_error(p, "%s: more than %u tests on one buffer", p->keyword->name, LIST_OPS_MAX);
        return NULL;
    }
    op = arena_zalloc(p->arena, sizeof(*op));
    op->kind = (uint8_t)kind;
    op->keyword = p->keyword;
    op->serial = last != NULL ? (uint16_t)(last->serial + 1) : 0;
    if (p->negated)
        op->flags |= OP_NEGATED;
    if (relative)
        op->flags |= OP_RELATIVE;
    list_add(list, op);
    p->last_test = NULL;
    return op;
}

void op_move(struct rule_parser *p, struct rule_op *op, struct rule_list *to)
{
    struct rule_op *last = op_last(p);

    list_remove(op);
    op->serial = (uint16_t)(last->serial + 1);
    list_add(to, op);
}

/* --- variables ---------------------------------------------------------------------------- */

int byte_var_find(struct rule_parser *p, struct text name)
{
    for (unsigned i = 0; i < p->rule->var_count; i++)
        if (text_equal(name, p->rule->var_names[i]))
            return (int)i;
    return -1;
}

int byte_var_make(struct rule_parser *p, struct text name)
{
    struct rule *r = p->rule;
    const char **names;

    if (r->var_count == BYTE_VARS_MAX)
        return -1;
    names = arena_alloc(p->arena, (r->var_count + 1) * sizeof(*names));
    if (r->var_count > 0)
        memcpy(names, r->var_names, r->var_count * sizeof(*names));
    names[r->var_count] = arena_text(p->arena, name);
    r->var_names = names;
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

/* The inside of |..| from `i` on; returns the place behind the closing bar. */
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

int content_bytes_parse(struct rule_parser *p, struct text in, const char *keyword,
                        uint8_t **bytes, uint16_t *len)
{
    uint8_t *out = arena_alloc(p->arena, in.n + 1);
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

void content_set_nocase(struct rule_parser *p, struct content_op *content, uint32_t *flags)
{
    uint8_t *lower = arena_copy(p->arena, content->bytes, content->len);

    for (unsigned i = 0; i < content->len; i++)
        lower[i] = ascii_lower(lower[i]);
    content->bytes = lower;
    *flags |= OP_NOCASE;
}

/* --- who depends on whom ------------------------------------------------------------------ */

static struct rule_op *previous_pattern(struct rule_op *op)
{
    for (op = op->prev; op != NULL; op = op->prev)
        if (op->kind == OP_CONTENT || op->kind == OP_PCRE)
            return op;
    return NULL;
}

/* A later place of the pattern before only helps when `op` is bound to be near it; something
 * that may stand anywhere behind it is best served by the first place. */
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

/* --- laying out --------------------------------------------------------------------------- */

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
        break;
    case OP_ABSENT:
        break;
    }
}

/* On where the data end, or on what is not among them. */
static bool depends_on_end(const struct rule_list *list)
{
    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        if ((op->flags & (OP_NEGATED | OP_ENDSWITH)) || op->kind == OP_BSIZE || op->kind == OP_CALL)
            return true;
    return false;
}

/* The longest content that must be there: a shorter buffer cannot match. */
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

static struct rule_program *program_build_with(struct arena *arena, const struct rule_list *list,
                                               const struct rule_program *then)
{
    size_t literals = 0, at;
    struct rule_program *program;
    unsigned i = 0;

    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        literals += op->kind == OP_CONTENT ? op->content.len : 0;
    at = sizeof(*program) + list->op_count * sizeof(struct step);
    program = arena_alloc(arena, at + literals);
    program->count = (uint16_t)list->op_count;
    program->absent = list->first != NULL && list->first->kind == OP_ABSENT;
    program->absent_or_else = program->absent && (list->first->flags & OP_OR_ELSE);
    program->min_len = least_length(list);
    program->revocable = depends_on_end(list);
    for (struct rule_op *op = list->first; op != NULL; op = op->next, i++) {
        step_fill(&program->step[i], op, then);
        if (op->next == NULL)
            program->step[i].flags |= OP_LAST;
        if (op->kind != OP_CONTENT)
            continue;
        program->step[i].literal = (uint32_t)at;
        memcpy((uint8_t *)program + at, op->content.bytes, op->content.len);
        at += op->content.len;
    }
    return program;
}

const struct rule_program *program_build(struct arena *arena, const struct rule_list *list)
{
    return program_build_with(arena, list, NULL);
}

/* --- the end of a rule -------------------------------------------------------------------- */

/* How many bytes the contents that hang together need. A negated one needs none, but must be
 * able to look at as many. *offset: the largest of them. */
static int64_t needed_length(const struct rule_list *list, uint64_t limit, int64_t *offset)
{
    int64_t total = 0;
    bool first = true;

    *offset = 0;
    for (const struct rule_op *op = list->first; op != NULL; op = op->next) {
        const struct content_op *c = &op->content;
        uint32_t vars = OP_DISTANCE_VAR | OP_WITHIN_VAR | OP_OFFSET_VAR;

        if (op->kind != OP_CONTENT || (op->flags & vars))
            continue;
        if (!first && !(op->flags & (OP_DISTANCE | OP_WITHIN)))
            continue;
        if (!first && (op->flags & OP_NEGATED)) {
            int64_t need = total + c->distance + c->within;

            if (need < 0 || need > (int64_t)limit) {
                *offset = 0;
                return need;
            }
            continue;
        }
        total += c->len + c->distance;
        *offset = MAX(*offset, c->offset);
        first = false;
    }
    return total;
}

/* The most bytes that a condition on a length allows; false when it sets no bound. */
static bool most_allowed(const struct int_match *m, uint64_t *most)
{
    switch (m->op) {
    case INT_LT:
    case INT_EQ:
    case INT_NE:
        *most = m->a;
        return true;
    case INT_RANGE:
        *most = m->b;
        return true;
    default:
        return false;
    }
}

static int check_dsize(struct rule_parser *p, const struct rule_list *list)
{
    for (unsigned i = 0; i < p->rule->test_count; i++) {
        const struct rule_test *test = &p->rule->test[i];
        uint64_t most;
        int64_t need, offset;

        if (strcmp(test->keyword->name, "dsize") != 0 || !most_allowed(test->arg, &most))
            continue;
        need = needed_length(list, most, &offset);
        if (need <= (int64_t)most)
            need += offset;
        if (need > (int64_t)most)
            return rule_error(p, "signature can't match as required content length %lld exceeds "
                              "dsize value %llu", (long long)need, (unsigned long long)most);
    }
    return 0;
}

static int check_bsize(struct rule_parser *p, const struct rule_list *list)
{
    for (const struct rule_op *op = list->first; op != NULL; op = op->next) {
        uint64_t most;
        int64_t need, offset;

        if (op->kind != OP_BSIZE || (op->flags & OP_VALUE_VAR) ||
            op->size.op == INT_NE || !most_allowed(&op->size, &most))
            continue;
        need = needed_length(list, most, &offset);
        if (need >= 0 && need <= (int64_t)most)
            need += offset;
        if (need >= 0 && need <= (int64_t)most)
            continue;
        if (op->size.op == INT_RANGE)
            return rule_error(p, "signature can't match as required content length %lld exceeds "
                              "bsize range: %llu-%llu", (long long)need,
                              (unsigned long long)op->size.a, (unsigned long long)op->size.b);
        return rule_error(p, "signature can't match as required content length %lld exceeds "
                          "bsize value: %llu", (long long)need, (unsigned long long)most);
    }
    return 0;
}

/* The longest URI that the rule is about; UINT16_MAX: of any length. */
static unsigned longest_uri(const struct rule_list *list)
{
    uint64_t most = UINT16_MAX;

    for (const struct rule_op *op = list->first; op != NULL; op = op->next) {
        if (op->kind != OP_URILEN)
            continue;
        switch (op->size.op) {
        case INT_EQ:
        case INT_LE: most = op->size.a; break;
        case INT_LT: most = op->size.a + 1; break;
        case INT_RANGE: most = op->size.b + 1; break;
        default: most = UINT16_MAX; break;
        }
    }
    return (unsigned)MIN(most, UINT16_MAX);
}

static int check_urilen(struct rule_parser *p, const struct rule_list *list)
{
    unsigned most = longest_uri(list);

    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        if (op->kind == OP_CONTENT && most > 0 && most < op->content.len)
            return rule_error(p, "depth or urilen %u smaller than content len %u", most,
                              op->content.len);
    return 0;
}

static int check_absent(struct rule_parser *p, const struct rule_list *list)
{
    const struct rule_op *first = list->first;

    if (first->kind != OP_ABSENT)
        return 0;
    if (!(first->flags & OP_OR_ELSE))
        return first->next == NULL ? 0 :
            rule_error(p, "signature can't have a buffer tested absent and tested with other "
                       "keywords such as content");
    if (first->next == NULL)
        return rule_error(p, "signature with absent: or_else expects other keywords to test on "
                          "such as content");
    for (const struct rule_op *op = first->next; op != NULL; op = op->next)
        if (op->flags & OP_FAST)
            return rule_error(p, "signature can't have absent and fast_pattern on the same "
                              "buffer");
    return 0;
}

static int check_patterns(struct rule_parser *p, const struct rule_list *list)
{
    for (unsigned i = 0; i < APP_PROTO_COUNT; i++) {
        const struct app_buffer *b = list->buffer->by_proto[i];

        if (b == NULL || (b->check == NULL && !b->lower_case && !b->any_case) ||
            list->buffer->transform_count > 0)
            continue;
        for (struct rule_op *op = list->first; op != NULL; op = op->next) {
            struct slice pattern = { op->content.written, op->content.len };
            struct err err = { 0 };

            if (op->kind != OP_CONTENT)
                continue;
            if (b->any_case && !(op->flags & OP_NOCASE))
                content_set_nocase(p, &op->content, &op->flags);
            if (b->lower_case && !(op->flags & OP_NOCASE))
                for (unsigned k = 0; k < pattern.len; k++)
                    if (isupper(pattern.data[k]))
                        return rule_error(p, "rule %u: A pattern with uppercase characters "
                                          "detected for %s. The hostname buffer is normalized to "
                                          "lowercase, please specify a lowercase pattern.",
                                          p->rule->sid, b->name);
            if (b->lower_case && (op->flags & OP_NOCASE))
                rule_warning(p, "rule %u: nocase is not needed on %s, which is in lower case",
                             p->rule->sid, b->name);
            if (b->check != NULL && !b->check(pattern, op->flags & OP_NOCASE, &err))
                return rule_error(p, "rule %u: %s", p->rule->sid, err.text);
        }
        return 0;
    }
    return 0;
}

static int check_list(struct rule_parser *p, struct rule_list *list)
{
    if (list->first == NULL)
        return rule_error(p, "no matches in sticky buffer %s",
                          list->buffer != NULL ? list->buffer->name : "payload");
    for (struct rule_op *op = list->first; op != NULL; op = op->next)
        mark_dependence(op);
    if (list->buffer == NULL)
        return check_dsize(p, list);
    if (check_absent(p, list) < 0 || check_bsize(p, list) < 0 || check_urilen(p, list) < 0)
        return -1;
    return check_patterns(p, list);
}

/* What request and response both have is not looked for in both: the rule has to say itself in
 * which, whatever its other buffers tell. */
static int check_one_way(struct rule_parser *p)
{
    uint32_t both = RULE_TO_SERVER | RULE_TO_CLIENT, required = p->rule->flags & both;

    if (required != 0 && required != both)
        return 0;
    for (const struct rule_list *l = p->rule->list; l != NULL; l = l->next) {
        for (unsigned i = 0; l->buffer != NULL && i < APP_PROTO_COUNT; i++) {
            const struct app_buffer *b = l->buffer->by_proto[i];

            if (b != NULL && b->one_way && l->directions == APP_BOTH &&
                l->buffer->transform_count == 0)
                return rule_error(p, "rule %u: %s without a direction; say flow:to_server for "
                                  "requests or flow:to_client for responses", p->rule->sid,
                                  b->name);
        }
    }
    return 0;
}

/* The directions in which a buffer exists in what the rule is about. */
static uint8_t directions_of(const struct rule *r, const struct rule_list *l)
{
    uint8_t found = 0;

    if (l->buffer->kind != BUFFER_TX || r->app_proto == APP_PROTO_UNKNOWN)
        return l->directions;
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        if (l->buffer->by_proto[id] != NULL &&
            app_proto_matches((enum app_proto_id)r->app_proto, (enum app_proto_id)id))
            found |= l->buffer->by_proto[id]->directions;
    return found & l->directions ? found & l->directions : l->directions;
}

/* Which directions the buffers and tests demand, and whether that is one. */
static int derive_direction(struct rule_parser *p)
{
    bool server = false, client = false, either = false;
    uint8_t directions;
    struct rule *r = p->rule;
    uint32_t required = r->flags & (RULE_TO_SERVER | RULE_TO_CLIENT);

    for (const struct rule_list *l = r->list; l != NULL; l = l->next) {
        if (l->buffer == NULL || (l->buffer->kind != BUFFER_TX && l->buffer->kind != BUFFER_FRAME))
            continue;
        directions = directions_of(r, l);
        server |= directions == APP_TS;
        client |= directions == APP_TC;
        either |= directions == APP_BOTH;
    }
    for (unsigned i = 0; i < r->tx_test_count; i++) {
        server |= r->tx_test[i].directions == APP_TS;
        client |= r->tx_test[i].directions == APP_TC;
    }
    if (r->flags & RULE_TX_BOTH) {
        if (!server || !client)
            return rule_error(p, "rule %u should use both directions, but does not", r->sid);
        if (either)
            return rule_error(p, "rule %u means to use both directions, cannot have keywords "
                              "ambiguous about directions", r->sid);
        return 0;
    }
    if (check_one_way(p) < 0)
        return -1;
    if (server && client)
        return rule_error(p, "rule %u mixes keywords with conflicting directions, a transactional "
                          "rule with => should be used", r->sid);
    if ((server && required == RULE_TO_CLIENT) || (client && required == RULE_TO_SERVER))
        return rule_error(p, "rule %u mixes keywords with conflicting directions", r->sid);
    if (server || client) {
        r->flags &= ~(uint32_t)(RULE_TO_SERVER | RULE_TO_CLIENT);
        r->flags |= server ? RULE_TO_SERVER : RULE_TO_CLIENT;
    }
    return 0;
}

/* A buffer that came before the rule's protocol was known may not be one of it. */
static int check_proto(struct rule_parser *p)
{
    const struct rule *r = p->rule;

    for (const struct rule_list *l = r->list; l != NULL && r->app_proto != 0; l = l->next) {
        bool has = l->buffer == NULL || l->buffer->kind != BUFFER_TX;

        if (!has && r->app_proto == APP_PROTO_http2 &&
            strcmp(l->buffer->base->name, "file.name") == 0)
            return rule_error(p, "%s: files of HTTP/2 have no names", l->buffer->base->name);
        for (unsigned id = 0; id < APP_PROTO_COUNT && !has; id++)
            has = l->buffer->by_proto[id] != NULL &&
                  (app_proto_matches((enum app_proto_id)r->app_proto, (enum app_proto_id)id) ||
                   app_proto_matches((enum app_proto_id)id, (enum app_proto_id)r->app_proto));
        if (!has && !(r->app_proto == APP_PROTO_ftp && strncmp(l->buffer->name, "file", 4) == 0))
            return rule_error(p, "the %s keyword cannot be used with protocol %s",
                              l->buffer->base->name,
                              app_proto_name((enum app_proto_id)r->app_proto));
    }
    return 0;
}

static bool tests_packets_only(const struct rule *r)
{
    for (unsigned i = 0; i < r->test_count; i++)
        if (r->test[i].keyword->needs_packet)
            return true;
    return false;
}

static int check_mixture(struct rule_parser *p)
{
    bool frame = false, tx = p->rule->tx_test_count > 0, packet = false, payload = false;
    const struct rule *r = p->rule;

    for (const struct rule_list *l = r->list; l != NULL; l = l->next) {
        payload |= l->buffer == NULL;
        frame |= l->buffer != NULL && l->buffer->kind == BUFFER_FRAME;
        tx |= l->buffer != NULL && l->buffer->kind == BUFFER_TX;
        packet |= l->buffer != NULL && l->buffer->kind == BUFFER_PACKET;
    }
    if ((r->flags & (RULE_PROTO_TCP_STREAM | RULE_ONLY_STREAM)) &&
        ((r->flags & RULE_NEEDS_PACKET) || tests_packets_only(r)))
        return rule_error(p, "can't mix packet keywords with tcp-stream or flow:only_stream.  "
                          "Invalidating signature.");
    if ((r->flags & RULE_NEEDS_PACKET) && (tx || frame))
        return rule_error(p, "Signature combines packet specific matches (like dsize, flags, ttl) "
                          "with stream / state matching by matching on app layer proto (like "
                          "using http_* keywords).");
    if (frame && payload)
        return rule_error(p, "can't mix pure content and frame inspection");
    if (frame && tx)
        return rule_error(p, "can't mix app-layer buffer and frame inspection");
    if (frame && packet)
        return rule_error(p, "can't mix pkt buffer and frame inspection");
    return 0;
}

/* base64_data has no life of its own: its program hangs at the end of the one that decodes. */
static void build_programs(struct rule_parser *p)
{
    const struct rule_list *decoded = NULL;
    struct rule_list **at = &p->rule->list;

    while (*at != NULL) {
        if ((*at)->buffer != NULL && (*at)->buffer->kind == BUFFER_BASE64) {
            (*at)->program = program_build(p->arena, *at);
            decoded = *at;
            *at = (*at)->next;
        } else {
            at = &(*at)->next;
        }
    }
    for (struct rule_list *l = p->rule->list; l != NULL; l = l->next) {
        l->program = program_build_with(p->arena, l, decoded != NULL ? decoded->program : NULL);
        l->decoded = decoded;
    }
}

/* A transform behind what it might have been for is about nothing. */
static void drop_unused_transforms(struct rule *r)
{
    const struct rule_list *before = NULL;

    for (struct rule_list **at = &r->list; *at != NULL; ) {
        const struct buffer *b = (*at)->buffer;
        bool unused = (*at)->first == NULL && before != NULL && before->buffer != NULL &&
                      b != NULL && b->transform_count > 0 && b->base == before->buffer->base;

        before = *at;
        if (unused)
            *at = (*at)->next;
        else
            at = &(*at)->next;
    }
}

int rule_finish(struct rule_parser *p)
{
    drop_unused_transforms(p->rule);
    for (struct rule_list *l = p->rule->list; l != NULL; l = l->next)
        if (check_list(p, l) < 0)
            return -1;
    if (check_proto(p) < 0 || check_mixture(p) < 0 || derive_direction(p) < 0)
        return -1;
    build_programs(p);
    if (!analysis_fits_hook(p->rule))
        return rule_error(p, "rule %u: what it looks at is not known at its hook, or before",
                          p->rule->sid);
    return 0;
}
