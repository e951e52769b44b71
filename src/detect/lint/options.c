/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/options.c - the options of each rule, what each is for, and where it is written. */
#include "detect/lint/private.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#define OPS_MAX 512             /* of a rule; further ones have no location */

static bool is_in(struct text name, const char *const *names)
{
    for (; *names != NULL; names++)
        if (text_equal_nocase(name, *names))
            return true;
    return false;
}

/* Words that change the content before them. */
static const char *const modifiers[] = {
    "nocase", "offset", "depth", "distance", "within", "startswith", "endswith", "rawbytes",
    "replace", NULL,
};

/* Options that do not decide whether the rule matches. */
static const char *const others[] = {
    "msg", "sid", "gid", "rev", "classtype", "priority", "reference", "metadata", "target",
    "requires", "noalert", "alert", "prefilter", "fast_pattern", "tag", "bypass", "threshold",
    "detection_filter", "filestore", "config", "nfq_set_mark", "logto", NULL,
};

/* Of keywords that test and act, what acts. */
static bool acts_only(const struct lint_option *o)
{
    static const char *const keywords[] = { "flowbits", "xbits", "hostbits", "flowint", NULL };
    static const char *const acts[] = { "set", "unset", "toggle", "noalert", NULL };
    struct text rest = o->value, word;

    return is_in(o->name, keywords) && text_split(&rest, ',', &word) && is_in(word, acts);
}

/* Features are what --list-keywords shows. */
static bool has_feature(const struct keyword_ops *k, const char *feature)
{
    return k != NULL && k->features != NULL && strstr(k->features, feature) != NULL;
}

/* All transforms have one parse function. */
static bool is_transform(const struct keyword_ops *k)
{
    const struct keyword_ops *one = keyword_find(TEXT_LITERAL("to_lowercase"));

    return k != NULL && one != NULL && k->parse == one->parse;
}

static enum lint_role role_of(const struct lint_option *o)
{
    if (is_in(o->name, modifiers) || has_feature(o->keyword, "content modifier"))
        return LINT_MODIFIER;
    if (is_in(o->name, others) || acts_only(o))
        return LINT_OTHER;
    if (o->keyword != NULL && o->keyword->point == POINT_BUFFER)
        return LINT_OPERATION;
    if (has_feature(o->keyword, "sticky buffer") || is_transform(o->keyword) ||
        text_equal(o->name, "pkt_data"))
        return LINT_BUFFER;
    return LINT_CONDITION;
}

/* The same rules as the parser's: a semicolon ends an option unless a backslash precedes it. */
static bool take_option(struct text *rest, struct lint_option *o)
{
    struct text in = text_trim(*rest);
    const char *colon;
    size_t n = 0;

    while (n < in.n && (in.p[n] != ';' || (n > 0 && in.p[n - 1] == '\\')))
        n++;
    if (n == in.n)
        return false;
    *rest = text_from(in, n + 1);
    in.n = n;
    colon = memchr(in.p, ':', in.n);
    *o = (struct lint_option){ .all = text_trim(in), .name = in };
    if (colon != NULL) {
        o->name.n = (size_t)(colon - in.p);
        o->value = text_trim(text_from(in, o->name.n + 1));
    }
    o->name = text_trim(o->name);
    o->keyword = keyword_find(o->name);
    o->role = role_of(o);
    return true;
}

/* --- which option made which operation ---------------------------------------------------- */

static int compare_serials(const void *a, const void *b)
{
    const struct rule_op *const *x = a, *const *y = b;

    return (int)(*x)->serial - (int)(*y)->serial;
}

static unsigned add_ops(const struct rule_list *list, const struct rule_op **op, unsigned count)
{
    for (const struct rule_op *o = list->first; o != NULL && count < OPS_MAX; o = o->next)
        op[count++] = o;
    return count;
}

static unsigned ops_of(const struct rule *rule, const struct rule_op **op)
{
    const struct rule_list *decoded = NULL;
    unsigned count = 0;

    for (const struct rule_list *list = rule->list; list != NULL; list = list->next) {
        count = add_ops(list, op, count);
        if (list->decoded != NULL)
            decoded = list->decoded;
    }
    if (decoded != NULL)
        count = add_ops(decoded, op, count);
    qsort(op, count, sizeof(*op), compare_serials);
    return count;
}

/* The parser makes `endswith` of "isdataat:!1,relative" after a content. */
static bool becomes_endswith(const struct lint_option *o)
{
    struct text rest = o->value, word;

    return text_equal(o->name, "isdataat") && text_split(&rest, ',', &word) &&
           text_equal(word, "!1") && text_split(&rest, ',', &word) && text_equal(word, "relative");
}

/* Operations of a keyword have the order of its options. */
static void join_operations(struct lint_rule *r)
{
    const struct rule_op *op[OPS_MAX];
    unsigned count = ops_of(r->rule, op);

    for (unsigned i = 0; i < r->option_count; i++) {
        struct lint_option *o = &r->option[i];

        if (o->role != LINT_OPERATION || becomes_endswith(o))
            continue;
        for (unsigned k = 0; k < count && o->op == NULL; k++)
            if (op[k] != NULL && op[k]->keyword == o->keyword) {
                o->op = op[k];
                op[k] = NULL;
            }
    }
}

static void read_options(struct lint *l, struct lint_rule *r)
{
    ARRAY_OF(struct lint_option) all = { 0 };
    struct text rest = r->parts.options;
    struct lint_option o;

    while (take_option(&rest, &o))
        ARRAY_PUSH(&all, o);
    r->option_count = (unsigned)all.count;
    if (all.count > 0)
        r->option = arena_copy(&l->arena, all.at, all.count * sizeof(o));
    ARRAY_FREE(&all);
    join_operations(r);
}

/* --- the rules, as written ---------------------------------------------------------------- */

static int compare_places(const void *a, const void *b)
{
    const struct rule *const *x = a, *const *y = b;
    int files = strcmp((*x)->at.file, (*y)->at.file);

    if (files != 0)
        return files;
    if ((*x)->at.line != (*y)->at.line)
        return (*x)->at.line < (*y)->at.line ? -1 : 1;
    return (*x)->index < (*y)->index ? -1 : (*x)->index > (*y)->index;
}

/* A file and a line as the key of struct lint.parts. */
static const char *place_key(struct lint *l, const char *file, unsigned line)
{
    return arena_printf(&l->arena, "%s:%u", file, line);
}

/* Few rules are continued on further lines; only of these the lines have to be known. */
static void keep_parts(const struct rule_text *text, void *arg)
{
    struct lint *l = arg;
    struct rule_text *keep;

    if (text->part.count < 2)
        return;
    keep = arena_zalloc(&l->arena, sizeof(*keep));
    *keep = *text;
    keep->part.at = arena_copy(&l->arena, text->part.at,
                               text->part.count * sizeof(text->part.at[0]));
    map_put_string(&l->parts, place_key(l, text->file, text->part.at[0].line), keep);
}

/* The set does not keep where the lines of a rule begin, so the files are read again. A file that
 * cannot be read twice (a pipe) gives lines without columns. */
static void read_parts(struct lint *l, const char *file)
{
    struct rule_visitor visitor = { keep_parts, l, &l->arena, &l->arena };
    struct err err;

    (void)rule_file_read(file, &visitor, &err);
}

void lint_read_rules(struct lint *l)
{
    size_t count = l->set->rules.count;
    const struct rule **at = arena_zalloc(&l->arena, (count + 1) * sizeof(const struct rule *));
    const char *file = NULL;

    for (size_t i = 0; i < count; i++)
        at[i] = l->set->rules.at[i];
    qsort(at, count, sizeof(*at), compare_places);
    l->rule = arena_zalloc(&l->arena, (count + 1) * sizeof(*l->rule));
    for (size_t i = 0; i < count; i++) {
        struct lint_rule *r = &l->rule[l->rule_count];
        struct rule_text text = { 0 };
        struct err err;

        if (at[i]->text == NULL || (i > 0 && at[i]->text == at[i - 1]->text))
            continue;           /* the second half of a "<>" rule */
        if (file == NULL || strcmp(file, at[i]->at.file) != 0)
            read_parts(l, at[i]->at.file);
        file = at[i]->at.file;
        text.text = text_of(at[i]->text);
        if (rule_split(&text, &r->parts, &err) < 0)
            continue;
        r->lint = l;
        r->rule = at[i];
        read_options(l, r);
        l->rule_count++;
    }
}

/* --- finding options ---------------------------------------------------------------------- */

const struct lint_option *lint_option_named(const struct lint_rule *r, const char *name,
                                            unsigned from)
{
    for (unsigned i = from; i < r->option_count; i++)
        if (text_equal_nocase(r->option[i].name, name))
            return &r->option[i];
    return NULL;
}

const struct lint_option *lint_option_of(const struct lint_rule *r, const struct rule_op *op)
{
    for (unsigned i = 0; op != NULL && i < r->option_count; i++)
        if (r->option[i].op == op)
            return &r->option[i];
    return NULL;
}

const struct lint_option *lint_option_nth(const struct lint_rule *r, const struct keyword_ops *k,
                                          unsigned n)
{
    for (unsigned i = 0; i < r->option_count; i++)
        if (r->option[i].keyword == k && n-- == 0)
            return &r->option[i];
    return NULL;
}

const char *lint_place(const struct lint_option *o)
{
    return o != NULL ? o->all.p : NULL;
}

const char *lint_place_of(const struct lint_rule *r, const struct rule_op *op)
{
    return lint_place(lint_option_of(r, op));
}

const char *lint_buffer_name(const struct rule_list *list)
{
    return list->buffer != NULL ? list->buffer->name : "the payload";
}

const char *lint_literal(struct lint *l, const uint8_t *bytes, unsigned len)
{
    struct buf out = { 0 };
    bool hex = false;
    const char *text;

    for (unsigned i = 0; i < len && i < 40; i++) {
        bool plain = isprint(bytes[i]) && strchr("|\";\\", bytes[i]) == NULL;

        if (hex == plain)
            BUF_LITERAL(&out, "|");
        if (plain)
            buf_add_u8(&out, bytes[i]);
        else
            buf_printf(&out, "%s%02x", hex ? " " : "", bytes[i]);
        hex = !plain;
    }
    text = arena_printf(&l->arena, "\"%.*s%s%s\"", (int)out.len, (const char *)out.data,
                        hex ? "|" : "", len > 40 ? "..." : "");
    buf_fini(&out);
    return text;
}
