/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/duplicate.c - rules with the conditions of another rule: exactly those, or those and
 * more.
 *
 * The conditions of a rule become a set of numbers: equal conditions have equal numbers. Contents
 * that are relative to each other are one condition, and so are all tests of one instance of a
 * buffer. A rule shadows another when its header admits as much or more, and its set is a part of
 * the other's. */
#include "detect/lint/private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct conditions {
    const struct lint_rule *r;
    uint32_t *id;                       /* sorted */
    unsigned count;
    const struct conditions *next;      /* with the same rarest condition */
};

struct known_condition {
    uint32_t id;
    unsigned uses;
    const struct conditions *first;     /* rules of which it is the rarest */
};

struct reader {
    struct lint *l;
    struct map by_text;
    ARRAY_OF(struct known_condition *) known;
    struct buf text;                    /* of the condition that is being read */
    ARRAY_OF(uint32_t) ids;
};

/* --- reading ------------------------------------------------------------------------------ */

/* Ends the condition in the reader's text. */
static void add_condition(struct reader *rd)
{
    struct known_condition *k;

    if (rd->text.len == 0)
        return;
    k = map_get(&rd->by_text, rd->text.data, rd->text.len);
    if (k == NULL) {
        k = arena_zalloc(&rd->l->arena, sizeof(*k));
        k->id = (uint32_t)rd->known.count;
        ARRAY_PUSH(&rd->known, k);
        map_put(&rd->by_text, rd->text.data, rd->text.len, k);
    }
    ARRAY_PUSH(&rd->ids, k->id);
    buf_clear(&rd->text);
}

/* Blanks outside quotes and the case of names mean nothing. */
static void add_text(struct buf *out, struct text in)
{
    bool quoted = false;

    for (size_t i = 0; i < in.n; i++) {
        if (in.p[i] == '"' && (i == 0 || in.p[i - 1] != '\\'))
            quoted = !quoted;
        if (quoted || !isspace((unsigned char)in.p[i]))
            buf_add_u8(out, (uint8_t)in.p[i]);
    }
    BUF_LITERAL(out, ";");
}

/* Contents by their bytes, because one text has several spellings; fast_pattern is no condition. */
static void add_op(struct reader *rd, const struct lint_rule *r, const struct rule_op *op)
{
    const uint32_t conditions = OP_NEGATED | OP_NOCASE | OP_DEPTH | OP_OFFSET | OP_DISTANCE |
                                OP_WITHIN | OP_STARTSWITH | OP_ENDSWITH | OP_OFFSET_VAR |
                                OP_DEPTH_VAR | OP_DISTANCE_VAR | OP_WITHIN_VAR;
    const struct content_op *c = &op->content;
    const struct lint_option *o;

    if (op->kind == OP_CONTENT) {
        buf_printf(&rd->text, "content %x %d %d %d %d ", op->flags & conditions, c->offset,
                   c->depth, c->distance, c->within);
        buf_add(&rd->text, c->bytes, c->len);
        return;
    }
    o = lint_option_of(r, op);
    if (o != NULL)
        add_text(&rd->text, o->all);
    else                                /* not known: like no other */
        buf_printf(&rd->text, "%p", (const void *)op);
}

static bool is_relative(const struct rule_op *op)
{
    return op->flags & (OP_RELATIVE | OP_DISTANCE | OP_WITHIN);
}

static void begin_condition(struct reader *rd, const struct rule_list *list)
{
    add_condition(rd);
    buf_printf(&rd->text, "%s %u ", lint_buffer_name(list), list->directions);
}

/* Variables and decoded data connect all that a rule looks into. */
static void read_ops(struct reader *rd, const struct lint_rule *r)
{
    const struct rule_list *decoded = NULL;
    bool joined = r->rule->var_count > 0;

    for (const struct rule_list *list = r->rule->list; list != NULL; list = list->next)
        if (list->decoded != NULL)
            decoded = list->decoded;
    joined |= decoded != NULL;
    for (const struct rule_list *list = r->rule->list; list != NULL; list = list->next) {
        bool one = joined || (list->buffer != NULL && list->buffer->multi);

        for (const struct rule_op *op = list->first; op != NULL; op = op->next) {
            if (op == list->first ? !joined || rd->text.len == 0 : !one && !is_relative(op))
                begin_condition(rd, list);
            add_op(rd, r, op);
        }
        if (joined)
            buf_printf(&rd->text, " %s ", lint_buffer_name(list));
    }
    for (const struct rule_op *op = decoded != NULL ? decoded->first : NULL; op != NULL;
         op = op->next)
        add_op(rd, r, op);
    add_condition(rd);
}

/* "from_client" and "to_server" are one word with two spellings. */
static void read_flow(struct reader *rd, struct text value)
{
    struct text word;

    while (text_split(&value, ',', &word)) {
        if (text_equal_nocase(word, "from_client"))
            word = TEXT_LITERAL("to_server");
        if (text_equal_nocase(word, "from_server"))
            word = TEXT_LITERAL("to_client");
        BUF_LITERAL(&rd->text, "flow ");
        add_text(&rd->text, word);
        add_condition(rd);
    }
}

static int compare_ids(const void *a, const void *b)
{
    const uint32_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

static void read_conditions(struct reader *rd, const struct lint_rule *r, struct conditions *out)
{
    unsigned kept = 0;

    rd->ids.count = 0;
    read_ops(rd, r);
    for (unsigned i = 0; i < r->option_count; i++) {
        const struct lint_option *o = &r->option[i];

        if (o->role != LINT_CONDITION)
            continue;
        if (text_equal_nocase(o->name, "flow")) {
            read_flow(rd, o->value);
            continue;
        }
        add_text(&rd->text, o->all);
        add_condition(rd);
    }
    if (rd->ids.count > 0)
        qsort(rd->ids.at, rd->ids.count, sizeof(uint32_t), compare_ids);
    for (size_t i = 0; i < rd->ids.count; i++)
        if (i == 0 || rd->ids.at[i] != rd->ids.at[i - 1])
            rd->ids.at[kept++] = rd->ids.at[i];
    out->r = r;
    out->count = kept;
    out->id = kept > 0 ? arena_copy(&rd->l->arena, rd->ids.at, kept * sizeof(uint32_t)) : NULL;
    for (unsigned i = 0; i < kept; i++)
        rd->known.at[out->id[i]]->uses++;
}

static struct conditions *read_all(struct reader *rd)
{
    struct lint *l = rd->l;
    struct conditions *all = arena_zalloc(&l->arena, (l->rule_count + 1) * sizeof(*all));

    for (unsigned i = 0; i < l->rule_count; i++)
        read_conditions(rd, &l->rule[i], &all[i]);
    return all;
}

static void reader_fini(struct reader *rd)
{
    map_fini(&rd->by_text);
    ARRAY_FREE(&rd->known);
    ARRAY_FREE(&rd->ids);
    buf_fini(&rd->text);
}

/* --- the same ----------------------------------------------------------------------------- */

#define HEADER_FLAGS (RULE_BIDIRECTIONAL | RULE_TX_BOTH | RULE_PROTO_TCP_PKT | RULE_FIREWALL | \
                      RULE_PROTO_TCP_STREAM | RULE_PROTO_PKTHDR)

/* Two rules with different side effects are no duplicates: one sets a bit, the other alerts. */
static void add_effects(struct buf *key, const struct lint_rule *r)
{
    static const char *const effects[] = { "threshold", "detection_filter", "tag", "filestore",
                                           "config", "noalert", "bypass", "target", "flowbits",
                                           "xbits", "hostbits", "flowint", NULL };

    for (unsigned i = 0; i < r->option_count; i++)
        for (unsigned k = 0; effects[k] != NULL && r->option[i].role == LINT_OTHER; k++)
            if (text_equal_nocase(r->option[i].name, effects[k]))
                add_text(key, r->option[i].all);
}

static void duplicate_key(struct buf *key, const struct conditions *c)
{
    const struct rule *rule = c->r->rule;

    buf_clear(key);
    buf_printf(key, "%u %u %u %u %x %u %u %u %u %p %p %p %p ", rule->action, rule->scope,
               rule->app_proto, rule->ip_version, rule->flags & HEADER_FLAGS, rule->hook,
               rule->hook_in_app, rule->hook_kind, rule->link, (const void *)rule->src,
               (const void *)rule->dst, (const void *)rule->src_port,
               (const void *)rule->dst_port);
    buf_add(key, rule->ip_proto, sizeof(rule->ip_proto));
    if (c->count > 0)
        buf_add(key, c->id, c->count * sizeof(*c->id));
    add_effects(key, c->r);
}

/* A script sees the rule that runs it, so equal options do not make equal rules. */
static bool has_script(const struct lint_rule *r)
{
    return lint_option_named(r, "lua", 0) != NULL;
}

static void duplicate_all(struct lint *l)
{
    struct reader rd = { .l = l };
    struct conditions *all = read_all(&rd);
    struct map first = { 0 };
    struct buf key = { 0 };

    for (unsigned i = 0; i < l->rule_count; i++) {
        const struct conditions *other;

        if (has_script(all[i].r))
            continue;
        duplicate_key(&key, &all[i]);
        other = map_get(&first, key.data, key.len);
        if (other == NULL) {
            map_put(&first, key.data, key.len, &all[i]);
            continue;
        }
        lint_find(all[i].r, NULL, "leave one of the two rules out",
                  "the conditions are those of rule %u at %s:%u", other->r->rule->sid,
                  other->r->rule->at.file, other->r->rule->at.line);
    }
    buf_fini(&key);
    map_fini(&first);
    reader_fini(&rd);
}

const struct lint_check lint_duplicate = {
    .name = "duplicate", .level = LINT_WARNING, .all = duplicate_all,
};

/* --- the same and more -------------------------------------------------------------------- */

static bool is_part(const struct conditions *of, const struct conditions *a)
{
    unsigned k = 0;

    for (unsigned i = 0; i < a->count; i++) {
        while (k < of->count && of->id[k] < a->id[i])
            k++;
        if (k == of->count || of->id[k] != a->id[i])
            return false;
    }
    return true;
}

static bool proto_admits(const struct rule *a, const struct rule *b)
{
    for (unsigned i = 0; i < sizeof(a->ip_proto); i++)
        if (b->ip_proto[i] & ~a->ip_proto[i])
            return false;
    return (a->app_proto == APP_PROTO_UNKNOWN || a->app_proto == b->app_proto) &&
           (a->ip_version == 0 || a->ip_version == b->ip_version) && a->link == b->link &&
           a->hook == b->hook && a->hook_in_app == b->hook_in_app &&
           a->hook_kind == b->hook_kind &&
           ((a->flags ^ b->flags) & HEADER_FLAGS) == 0;
}

/* Equal sets have equal pointers. */
static bool header_admits(const struct rule *a, const struct rule *b)
{
    return (a->src == b->src || (a->flags & RULE_SRC_ANY)) &&
           (a->dst == b->dst || (a->flags & RULE_DST_ANY)) &&
           (a->src_port == b->src_port || (a->flags & RULE_SPORT_ANY)) &&
           (a->dst_port == b->dst_port || (a->flags & RULE_DPORT_ANY)) && proto_admits(a, b);
}

/* Fires each time its conditions hold. */
static bool can_shadow(const struct rule *a)
{
    return !(a->flags & RULE_NOALERT) && a->threshold == NULL;
}

/* Has no effect but its alert. */
static bool can_be_shadowed(const struct rule *b)
{
    return !(b->flags & (RULE_NOALERT | RULE_FILESTORE)) && b->post_count == 0 && b->tags == NULL;
}

static bool shadows(const struct conditions *a, const struct conditions *b)
{
    const struct rule *x = a->r->rule, *y = b->r->rule;

    if (a == b || !header_admits(x, y) || !can_shadow(x) || has_script(a->r))
        return false;
    if (x->action != y->action && (x->action != RULE_PASS || x->index > y->index))
        return false;           /* action-order may ask pass rules last */
    if (a->count == b->count && header_admits(y, x) && x->action == y->action)
        return false;           /* a duplicate */
    return is_part(b, a);
}

/* Under its rarest condition a rule is compared with the fewest others. */
static void file_by_rarest(struct reader *rd, struct conditions *c)
{
    struct known_condition *rarest = NULL;

    for (unsigned i = 0; i < c->count; i++) {
        struct known_condition *k = rd->known.at[c->id[i]];

        if (rarest == NULL || k->uses < rarest->uses)
            rarest = k;
    }
    if (rarest == NULL)
        return;
    c->next = rarest->first;
    rarest->first = c;
}

static const struct conditions *shadow_of(const struct reader *rd, const struct conditions *b)
{
    for (unsigned i = 0; i < b->count; i++)
        for (const struct conditions *a = rd->known.at[b->id[i]]->first; a != NULL; a = a->next)
            if (shadows(a, b))
                return a;
    return NULL;
}

static void shadowed_all(struct lint *l)
{
    struct reader rd = { .l = l };
    struct conditions *all = read_all(&rd);

    for (unsigned i = l->rule_count; i-- > 0;)
        file_by_rarest(&rd, &all[i]);
    for (unsigned i = 0; i < l->rule_count; i++) {
        const struct conditions *a;

        if (!can_be_shadowed(all[i].r->rule) || (a = shadow_of(&rd, &all[i])) == NULL)
            continue;
        if (a->r->rule->action == RULE_PASS && all[i].r->rule->action != RULE_PASS)
            lint_find(all[i].r, NULL, "narrow the pass rule, or leave this one out",
                      "the rule never alerts: pass rule %u at %s:%u matches whenever it does",
                      a->r->rule->sid, a->r->rule->at.file, a->r->rule->at.line);
        else
            lint_find(all[i].r, NULL, "leave this rule out, or exclude in the other "
                      "what this one finds",
                      "whenever the rule fires, rule %u at %s:%u fires as well: it has a part of "
                      "the same conditions", a->r->rule->sid, a->r->rule->at.file,
                      a->r->rule->at.line);
    }
    reader_fini(&rd);
}

const struct lint_check lint_shadowed = {
    .name = "shadowed", .level = LINT_NOTE, .all = shadowed_all,
};
