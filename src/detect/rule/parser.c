/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/parser.c - turns the text of one rule into a struct rule. */
#include "detect/rule/parser.h"

#include "base/report/log.h"
#include "detect/rule/rule_block.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Keywords see only the parser, which is a part of the builder. */
static struct rule_builder *builder_of(struct rule_parser *p)
{
    return CONTAINER_OF(p, struct rule_builder, parser);
}

/* --- functions for keywords ------------------------------------------------------------------- */

/* The text is formatted first, because an argument may be a part of p->err. */
int rule_error(struct rule_parser *p, const char *fmt, ...)
{
    char text[sizeof(p->err->text)];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return err_at(p->err, p->at, "%s", text);
}

void rule_warning(struct rule_parser *p, const char *fmt, ...)
{
    char text[sizeof(p->err->text)];
    va_list args;

    if (rule_bind(p) < 0)
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    log_at(LOG_LEVEL_WARNING, "detect-parse", p->at, "%s", text);
}

int rule_bind(struct rule_parser *p)
{
    if (p->block == NULL)
        return 0;
    p->must_bind = true;
    return -1;
}

void rule_free_later(struct rule_parser *p, const struct keyword_ops *keyword, void *arg)
{
    struct rule_test test = { .keyword = keyword, .arg = arg };

    if (p->block != NULL)
        ARRAY_PUSH(&p->block->to_free, test);
    else
        ARRAY_PUSH(&p->ruleset->to_free, test);
}

/* The builder has one list of tests for each of these points. */
static unsigned list_of_point(enum inspect_point point)
{
    return point == POINT_PACKET ? 0 : point == POINT_TX ? 1 : 2;
}

void rule_add_test(struct rule_parser *p, enum inspect_point point, const struct rule_test *test)
{
    struct rule_builder *b = builder_of(p);

    ARRAY_PUSH(&b->tests[list_of_point(point)], *test);
    p->last_test = test->keyword;
    if (point == POINT_TX)
        rule_end_buffer(p, NULL);
}

/* The pointer holds until the next test is added. */
struct rule_test *rule_last_test(struct rule_parser *p, enum inspect_point point)
{
    struct rule_builder *b = builder_of(p);
    unsigned i = list_of_point(point);

    return b->tests[i].count > 0 ? &b->tests[i].at[b->tests[i].count - 1] : NULL;
}

const struct rule_test *rule_test_at(struct rule_parser *p, enum inspect_point point, unsigned i)
{
    const struct rule_builder *b = builder_of(p);
    unsigned list = list_of_point(point);

    return i < b->tests[list].count ? &b->tests[list].at[i] : NULL;
}

/* The more specific of the two protocols stays. Only a group narrows to one of its members: a rule
 * about DCERPC does not become one about SMB. */
int rule_set_app_proto(struct rule_parser *p, enum app_proto_id proto)
{
    enum app_proto_id now = (enum app_proto_id)p->rule->app_proto;

    if (now == APP_PROTO_UNKNOWN || (app_proto_is_group(now) && app_proto_matches(now, proto))) {
        p->rule->app_proto = (uint8_t)proto;
        return 0;
    }
    if (app_proto_matches(proto, now))
        return 0;
    return rule_error(p, "%s: is about protocol %s, but the rule is about %s already",
                      p->keyword->name, app_proto_name(proto), app_proto_name(now));
}

/* --- options ---------------------------------------------------------------------------------- */

/* One "name:value;" of the rule, borrowed from its text. */
struct option {
    struct text name, value;    /* value.p NULL: no colon */
    struct text complete;          /* name as written, for messages */
};

static bool is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static struct text skip_blanks(struct text t)
{
    while (t.n > 0 && is_blank(t.p[0]))
        t = text_from(t, 1);
    return t;
}

static struct text cut_blanks(struct text t)
{
    while (t.n > 0 && is_blank(t.p[t.n - 1]))
        t.n--;
    return t;
}

/* Where the option ends; in.n: nowhere. A semicolon inside quotes must be escaped too, as in
 * Suricata. */
static size_t option_end(struct text in)
{
    const char *at = in.n > 0 ? memchr(in.p, ';', in.n) : NULL;

    while (at != NULL && at > in.p && at[-1] == '\\')
        at = memchr(at + 1, ';', in.n - (size_t)(at + 1 - in.p));
    return at != NULL ? (size_t)(at - in.p) : in.n;
}

/* Takes one option off *rest. */
static int take_option(struct rule_builder *b, struct text *rest, struct option *o,
                       struct err *err)
{
    struct text in = skip_blanks(*rest);
    const char *colon;
    const size_t n = option_end(in);

    if (n == in.n)
        return err_at(err, rule_text_at(b->text, in.p), "no \";\" ends the option \"%.*s\"",
                      (int)MIN(in.n, 40), in.p);
    *rest = text_from(in, n + 1);
    in.n = n;
    colon = memchr(in.p, ':', in.n);
    *o = (struct option){ .name = in };
    if (colon != NULL) {
        o->name.n = (size_t)(colon - in.p);
        o->value = cut_blanks(text_from(in, o->name.n + 1));
    }
    o->name = cut_blanks(o->name);
    return 0;
}

/* Removes negation and quotes from the value, if the keyword has them. */
static int unwrap_value(struct rule_parser *p, const struct option *o, struct text *value)
{
    const struct keyword_ops *k = p->keyword;
    struct text in = skip_blanks(o->value);

    if (in.n > 0 && k->negatable && in.p[0] == '!') {
        p->negated = true;
        in = skip_blanks(text_from(in, 1));
    }
    if (in.n == 0)
        return rule_error(p, "%.*s: the value is missing", TEXT(o->name));
    if (in.p[0] != '"') {
        *value = in;
        if (k->quotes_required)
            return rule_error(p, "invalid formatting to %.*s keyword: the value must stand in "
                              "double quotes, found \"%.*s\"", TEXT(o->name),
                              (int)MIN(in.n, 60), in.p);
        return 0;
    }
    if (!k->quotes && !k->quotes_required)
        return rule_error(p, "%.*s: takes no quotes, found %.*s", TEXT(o->name),
                          (int)MIN(in.n, 60), in.p);
    if (in.p[in.n - 1] != '"')
        return rule_error(p, "bad option value formatting (possible missing semicolon) for keyword "
                          "%.*s: '%.*s'", TEXT(o->name), TEXT(o->value));
    p->quoted = true;
    if (in.n <= 2)
        return rule_error(p, "%.*s: the value between the quotes is empty", TEXT(o->name));
    *value = (struct text){ in.p + 1, in.n - 2 };
    return 0;
}

/* Checks whether the keyword takes a value, needs one, or has none. */
static int option_value(struct rule_parser *p, const struct option *o, struct text *value)
{
    const struct keyword_ops *k = p->keyword;

    *value = (struct text){ o->name.p + o->name.n, 0 };
    if (o->value.n > 0) {
        if (k->argument == ARGUMENT_NONE)
            return rule_error(p, "%.*s: takes no value, found \"%.*s\"", TEXT(o->name),
                              TEXT(o->value));
        return unwrap_value(p, o, value);
    }
    if (k->argument == ARGUMENT_REQUIRED)
        return rule_error(p, "invalid formatting or malformed option to %.*s keyword: a value is "
                          "missing, as in \"%.*s: ...;\"", TEXT(o->name), TEXT(o->name));
    return 0;
}

/* A keyword without a match function only changes the rule. What the arena does not own is
 * remembered for the end of the ruleset. */
static void keep_test(struct rule_parser *p, void *arg)
{
    const struct keyword_ops *k = p->keyword;
    struct rule_test test = {
        .keyword = k, .match = k->match, .arg = arg, .negated = p->negated,
        .directions = APP_BOTH,
    };

    if (k->free_arg != NULL && arg != NULL)
        rule_free_later(p, k, arg);
    if (k->match != NULL && k->point != POINT_NONE && k->point != POINT_BUFFER)
        rule_add_test(p, k->point, &test);
}

/* --strict-rule-keywords without a list, or with this keyword in it. */
static bool is_strict(const struct rule_parser *p)
{
    struct text rest, word;

    if (p->request->strict_all)
        return true;
    rest = text_of(p->request->strict_keywords);
    while (text_split(&rest, ',', &word))
        if (text_equal_nocase(word, p->keyword->name) || text_equal(word, "all"))
            return true;
    return false;
}

/* The argument is zeroed memory of the arena; a rule that fails leaves it there until the
 * ruleset goes. */
static int option_apply(struct rule_builder *b, const struct option *o)
{
    struct rule_parser *p = &b->parser;
    struct text value;
    void *arg = NULL;
    int r;

    p->at = rule_text_at(b->text, o->name.p);
    p->negated = p->quoted = false;
    p->keyword = keyword_find(o->name);
    if (p->keyword == NULL)
        return rule_error(p, "unknown rule keyword '%.*s'.", TEXT(o->name));
    if (p->keyword->firewall_only && !(p->rule->flags & RULE_FIREWALL))
        return rule_error(p, "%.*s: is for firewall rules only", TEXT(o->name));
    p->strict = is_strict(p);
    if (option_value(p, o, &value) < 0)
        return -1;
    if (p->keyword->arg_size > 0)
        arg = arena_zalloc(p->arena, p->keyword->arg_size);
    r = p->keyword->parse != NULL ? p->keyword->parse(p, value, arg) : 0;
    if (r < 0)
        return r;
    if (p->keyword->needs_packet)
        p->rule->flags |= RULE_NEEDS_PACKET;
    if ((p->rule->flags & RULE_NEEDS_PACKET) && p->packet_at.line == 0)
        p->packet_at = p->at;
    keep_test(p, arg);
    return 0;
}

/* `requires` and `sid` are read in a first pass: a rule for another engine may contain
 * anything else, and messages need the sid. */
static bool is_first(struct text name)
{
    return text_equal_nocase(name, "requires") || text_equal_nocase(name, "sid");
}

/* An unmet requirement skips the rule without an error. */
static enum rule_outcome requires_outcome(struct rule_builder *b, const struct option *o,
                                          struct err *err)
{
    enum requires_result r = rule_requires(o->value, b->parser.ruleset->conf, err);

    err->at = rule_text_at(b->text, o->name.p);
    return r == REQUIRES_MET ? RULE_OK : r == REQUIRES_UNMET ? RULE_SKIPPED : RULE_FAILED;
}

/* One of the two passes over the options. */
static enum rule_outcome options_parse(struct rule_builder *b, struct text options, bool first,
                                       struct err *err)
{
    while (options.n > 0) {
        enum rule_outcome outcome = RULE_OK;
        struct option o = { 0 };
        int r = 0;

        if (take_option(b, &options, &o, err) < 0)
            return RULE_FAILED;
        if (is_first(o.name) != first)
            continue;
        if (text_equal_nocase(o.name, "requires"))
            outcome = requires_outcome(b, &o, err);
        else
            r = option_apply(b, &o);
        if (outcome != RULE_OK || r < 0)
            return r == KEYWORD_IGNORE_RULE ? RULE_IGNORED : r < 0 ? RULE_FAILED : outcome;
    }
    return RULE_OK;
}

/* --- the rule --------------------------------------------------------------------------------- */

/* Eight printable characters of ASCII. A sum carries into the next byte only from one that has its
 * highest bit set, and then it is false anyway. */
static bool is_plain_word(const char *at)
{
    const uint64_t w = get_le64((const uint8_t *)at);
    const uint64_t above = w + EACH_BYTE(0x60), delete = w + EACH_BYTE(0x01);

    return (w & EACH_BYTE(0x80)) == 0 && (above & ~delete & EACH_BYTE(0x80)) == EACH_BYTE(0x80);
}

/* Rejects control characters and invalid UTF-8 (RFC 3629), which would end up in logs and
 * EVE. */
static bool is_clean_text(struct text t)
{
    for (size_t i = 0; i < t.n;) {
        if (t.n - i >= 8 && is_plain_word(t.p + i)) {
            i += 8;
            continue;
        }
        uint8_t c = (uint8_t)t.p[i];
        unsigned more = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 :
                        c >= 0xf0 && c < 0xf5 ? 3 : 9;

        if (c == 0x7f || (c < 0x20 && c != '\t' && c != '\n' && c != '\r') || more == 9 ||
            i + more >= t.n)
            return false;
        for (unsigned k = 1; k <= more; k++)
            if (((uint8_t)t.p[i + k] & 0xc0) != 0x80)
                return false;
        i += 1 + more;
    }
    return true;
}

/* -1 as the priority means that none is given. The lists keep their memory from rule to
 * rule. */
static void start_rule(struct rule_builder *b, const struct rule_text *text, struct err *err)
{
    struct rule_parser *p = &b->parser;
    struct rule *rule = p->rule;

    arena_reset(&b->scratch);
    *rule = (struct rule){ 0 };
    rule->stored_info = arena_zalloc(p->scratch, sizeof(*rule->stored_info));
    rule->gid = 1;
    rule->priority = -1;
    rule->flags = b->firewall ? RULE_FIREWALL : 0;
    rule->text = text->text.p;
    rule->at = rule_text_at(text, text->text.p);
    b->text = text;
    for (unsigned i = 0; i < ARRAY_LEN(b->tests); i++)
        b->tests[i].count = 0;
    p->current = NULL;
    p->current_is_sticky = false;
    p->last_content = NULL;
    p->last_test = NULL;
    p->priority_given = false;
    p->wants_files = NULL;
    p->named_count = 0;
    p->packet_at = (struct where){ 0 };
    p->metadata.count = 0;
    p->err = err;
}

/* Moves a list of the builder into the arena, at its final size. */
static struct rule_test *freeze_tests(struct rule_builder *b, unsigned list, unsigned *count)
{
    *count = (unsigned)b->tests[list].count;
    if (*count == 0)
        return NULL;
    return arena_copy(b->parser.arena, b->tests[list].at, *count * sizeof(struct rule_test));
}

/* Those that wait for everything else (Lua) go behind the others, which keep their order. */
static void late_tests_last(struct rule *rule)
{
    struct rule_test *to = rule->test, late;
    unsigned count = 0;

    for (unsigned i = 0; i < rule->test_count; i++) {
        late = rule->test[i];
        if (!late.late) {
            memmove(to + count + 1, to + count, (i - count) * sizeof(*to));
            to[count++] = late;
        }
    }
    rule->late_count = rule->test_count - count;
}

static size_t text_size(const char *text)
{
    return text != NULL ? strlen(text) + 1 : 0;
}

/* Copies the text to *to, which moves behind it. */
static const char *text_put(char **to, const char *text)
{
    char *at = *to;

    if (text == NULL)
        return NULL;
    *to += text_size(text);
    return memcpy(at, text, text_size(text));
}

/* One object with its texts, because it is packed and read as one. Names of classes and prefixes of
 * references belong to the ruleset. */
static struct rule_info *store_info(struct rule_parser *p, const struct rule_info *from)
{
    size_t list = from->reference_count * sizeof(*from->reference);
    size_t size = sizeof(*from) + list + text_size(from->msg) + text_size(from->metadata_json);
    struct rule_info *info;
    char *text;

    for (unsigned i = 0; i < from->reference_count; i++)
        size += text_size(from->reference[i].id);
    info = p->block != NULL ? packed_arena_alloc(&p->block->texts, size) : NULL;
    p->rule->info_is_packed = info != NULL;
    if (info == NULL)
        info = arena_alloc(p->arena, size);
    *info = *from;
    info->reference = (struct rule_reference *)(info + 1);
    text = (char *)(info + 1) + list;
    for (unsigned i = 0; i < from->reference_count; i++) {
        info->reference[i].prefix = from->reference[i].prefix;
        info->reference[i].id = text_put(&text, from->reference[i].id);
    }
    info->msg = text_put(&text, from->msg);
    info->metadata_json = text_put(&text, from->metadata_json);
    return info;
}

/* A rule without priority and class has 3, as in Suricata. */
static int finish_rule(struct rule_builder *b)
{
    struct rule_parser *p = &b->parser;
    struct rule *rule = p->rule;

    p->at = rule->at;
    if (rule->sid == 0)
        return rule_error(p, "the rule has no \"sid\"");
    if (rule->priority < 0)
        rule->priority = 3;
    rule->test = freeze_tests(b, 0, &rule->test_count);
    rule->tx_test = freeze_tests(b, 1, &rule->tx_test_count);
    rule->post = freeze_tests(b, 2, &rule->post_count);
    late_tests_last(rule);
    rule->stored_info->metadata_json = rule_metadata_render(b);
    rule->stored_info = store_info(p, rule->stored_info);
    if (rule->post_count > 0)
        rule->flags |= RULE_HAS_POST;
    return b->finish(p);
}

static enum rule_outcome parse(struct rule_builder *b, const struct rule_text *text, bool swapped,
                               struct err *err)
{
    struct rule_parts parts;
    enum rule_outcome outcome;

    *err = (struct err){ 0 };
    start_rule(b, text, err);
    if (!is_clean_text(text->text)) {
        err_at(err, b->parser.rule->at, "the rule has control characters or is not valid UTF-8");
        return RULE_FAILED;
    }
    if (rule_split(text, &parts, err) < 0)
        return RULE_FAILED;
    outcome = options_parse(b, parts.options, true, err);
    if (outcome != RULE_OK)
        return outcome;
    if (rule_header_parse(b, &parts, swapped, err) < 0)
        return RULE_FAILED;
    outcome = options_parse(b, parts.options, false, err);
    if (outcome != RULE_OK)
        return outcome;
    return finish_rule(b) < 0 ? RULE_FAILED : RULE_OK;
}

static struct rule_block *block_with_space(struct rule_builder *b)
{
    if (b->block == NULL || rule_block_is_full(b->block)) {
        b->block = rule_block_new(b->parser.ruleset);
        map_fini(&b->metadata_built);
        arena_reset(&b->metadata);
        map_fini(&b->required_built);
    }
    return b->block;
}

static void use_memory(struct rule_parser *p, struct rule_block *block)
{
    p->block = block;
    p->arena = block != NULL ? &block->arena : &p->ruleset->arena;
    p->must_bind = false;
}

/* Most rules need the same features, which a block stores once. NULL: none. */
static const struct app_required_features *required_copy(struct rule_builder *b)
{
    const struct app_required_features *needs = &b->parser.ruleset->required, *known;
    static const struct app_required_features nothing;

    if (memcmp(needs, &nothing, sizeof(nothing)) == 0)
        return NULL;
    known = map_get(&b->required_built, needs, sizeof(*needs));
    if (known == NULL) {
        known = arena_copy(b->parser.arena, needs, sizeof(*needs));
        map_put(&b->required_built, needs, sizeof(*needs), (void *)(uintptr_t)known);
    }
    return known;
}

static struct rule_source *source_of(struct rule_builder *b, const struct rule *rule)
{
    struct rule_source *source = packed_arena_alloc(&b->block->operations, sizeof(*source));

    source->block = b->parser.block;
    source->required = required_copy(b);
    source->threshold = rule->threshold;
    source->flags = rule->flags;
    return source;
}

/* The set's `required` has what the rule alone requires, while it is parsed. */
static enum rule_outcome parse_into_block(struct rule_builder *b, const struct rule_text *text,
                                          bool swapped, struct err *err)
{
    struct ruleset *set = b->parser.ruleset;
    struct app_required_features before = set->required;
    enum rule_outcome outcome;

    memset(&set->required, 0, sizeof(set->required));
    use_memory(&b->parser, block_with_space(b));
    outcome = parse(b, text, swapped, err);
    if (outcome == RULE_OK && !b->parser.must_bind) {
        b->parser.rule->source = source_of(b, b->parser.rule);
        b->block->parsed++;
        b->block->live++;
    }
    app_required_add(&set->required, &before);
    return outcome;
}

/* Called by the loading thread only. *err is filled unless the outcome is RULE_OK or
 * RULE_IGNORED. */
enum rule_outcome rule_parse(struct rule_builder *b, const struct rule_text *text, bool swapped,
                             struct rule **out, struct err *err)
{
    struct rule_parser *p = &b->parser;
    enum rule_outcome outcome = RULE_OK;

    p->rule = arena_alloc(&p->ruleset->arena, sizeof(*p->rule));
    if (b->shares)
        outcome = parse_into_block(b, text, swapped, err);
    if (!b->shares || p->must_bind) {
        use_memory(p, NULL);
        outcome = parse(b, text, swapped, err);
    }
    *out = p->rule;
    return outcome;
}

/* --- the builder ------------------------------------------------------------------------------ */

/* The value of a variable as text; the sets parse it. */
static const char *group_value(const struct conf_node *root, const char *group, struct text name)
{
    char path[256];
    int n = snprintf(path, sizeof(path), "vars.%s.%.*s", group, TEXT(name));

    return n < 0 || (size_t)n >= sizeof(path) ? NULL : conf_string(root, path, NULL);
}

static const char *find_address_var(void *arg, struct text name)
{
    return group_value(arg, "address-groups", name);
}

static const char *find_port_var(void *arg, struct text name)
{
    return group_value(arg, "port-groups", name);
}

/* One builder serves all rules of a load. */
void rule_builder_init(struct rule_builder *b, struct ruleset *set,
                       const struct ruleset_request *request, rule_finish_fn *finish)
{
    *b = (struct rule_builder){
        .finish = finish,
        .parser = { .arena = &set->arena, .ruleset = set, .request = request },
        .address_vars = { find_address_var, (void *)request->conf },
        .port_vars = { find_port_var, (void *)request->conf },
    };
    arena_init(&b->scratch, 0, 0);
    arena_init(&b->metadata, 0, 0);
    b->parser.scratch = &b->scratch;
}

void rule_builder_fini(struct rule_builder *b)
{
    for (unsigned i = 0; i < ARRAY_LEN(b->tests); i++)
        ARRAY_FREE(&b->tests[i]);
    ARRAY_FREE(&b->parser.metadata);
    buf_fini(&b->metadata_text);
    buf_fini(&b->metadata_cut);
    map_fini(&b->metadata_built);
    map_fini(&b->required_built);
    arena_fini(&b->metadata);
    arena_fini(&b->scratch);
}
