/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/declared.c - makes keywords of what application protocols declare. A
 * sticky buffer of http1 and http2 is one keyword of one name. The same is true of an
 * integer or a test that several protocols share: the protocol of the inspected
 * transaction decides which declaration applies. */
#include "app/values.h"
#include "base/array.h"
#include "base/containers/map.h"
#include "detect/rule/buffer.h"
#include "detect/keywords/registry.h"
#include "detect/rule/ruleset_private.h"

#include <ctype.h>
#include <string.h>

/* DECLARED_LEGACY is a content modifier such as http_uri. */
enum declared_kind { DECLARED_BUFFER, DECLARED_LEGACY, DECLARED_INTEGER, DECLARED_MATCH };

/* One name, with the declarations of all protocols that have it. Allocated once and never
 * freed: rules point to `ops` for as long as the process lives. */
struct declared {
    struct keyword_ops ops;
    enum declared_kind kind;
    const char *buffer_name;
    enum app_proto_id binds;    /* a modifier: rules with it are about this one; 0: as in_proto */
    uint8_t goes;               /* direction of a rule that names it; 0: as in the rule */
    const struct app_integer *integer[APP_PROTO_COUNT];
    const struct app_match *match[APP_PROTO_COUNT];
    bool in_proto[APP_PROTO_COUNT];
};

/* Written while the registry is filled, before any packet thread starts; read-only
 * afterwards. */
static struct map declared_by_name;

static const struct declared *declared_of(const struct keyword_ops *k)
{
    return CONTAINER_OF(k, struct declared, ops);
}

/* The narrowest protocol or group a rule may name that covers all of these; UNKNOWN: there is
 * none. A protocol inside another, such as DNS over HTTP/2, has what the outer one has. */
static enum app_proto_id common_proto(const struct declared *d)
{
    for (unsigned rule_proto = APP_PROTO_COUNT; rule_proto-- > APP_PROTO_FAILED + 1;) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)rule_proto);
        bool covers = app_proto_is_group(rule_proto) ||
                      (d->in_proto[rule_proto] && proto->subprotocol_of == 0);

        for (unsigned id = 0; id < APP_PROTO_COUNT && covers; id++)
            covers = !d->in_proto[id] || id == rule_proto ||
                     app_proto_by_id((enum app_proto_id)id)->subprotocol_of != 0 ||
                     app_proto_matches((enum app_proto_id)rule_proto, (enum app_proto_id)id);
        if (covers)
            return (enum app_proto_id)rule_proto;
    }
    return APP_PROTO_UNKNOWN;
}

/* Restricts the rule to the keyword's protocol. A keyword of several unrelated protocols
 * leaves the rule's protocol open, but a protocol that the rule names must have the
 * keyword. Otherwise the rule could never match, so it is an error. */
static int limit_protocol(struct rule_parser *p)
{
    const struct declared *d = declared_of(p->keyword);
    enum app_proto_id proto = common_proto(d);

    if (p->rule->app_proto != APP_PROTO_UNKNOWN && d->in_proto[p->rule->app_proto])
        return 0;
    if (proto != APP_PROTO_UNKNOWN)
        return rule_set_app_proto(p, proto);
    if (p->rule->app_proto == APP_PROTO_UNKNOWN)
        return 0;
    /* Suricata does not check this one buffer: the rule is loaded and never matches. */
    if (strcmp(d->buffer_name, "file.magic") == 0)
        return 0;
    /* A rule about DNS cannot use what DNS over HTTPS has of HTTP/2. */
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        if (d->in_proto[id] && app_proto_by_id((enum app_proto_id)id)->subprotocol_of == 0 &&
            app_proto_matches((enum app_proto_id)p->rule->app_proto, (enum app_proto_id)id))
            return 0;
    return rule_error(p, "%s: does not exist in protocol %s, which the rule is about",
                      p->keyword->name, app_proto_name((enum app_proto_id)p->rule->app_proto));
}

/* --- buffers ---------------------------------------------------------------------------------- */

/* A test that fails, for a rule that Suricata accepts although it cannot match. */
static bool never(const struct match_input *in UNUSED, const void *arg UNUSED)
{
    return false;
}

/* The keyword fixes the direction of the rule. When `flow` names the other direction
 * together with a state of the connection, Suricata keeps the rule and it never matches;
 * so do we, with a warning. */
static void follow(struct rule_parser *p, uint8_t directions)
{
    const uint32_t way = directions == APP_TS ? RULE_TO_SERVER : RULE_TO_CLIENT;
    const uint32_t states = RULE_FLOW_ESTABLISHED | RULE_FLOW_NOT_ESTABLISHED;
    const uint32_t specified = p->rule->flags & (RULE_TO_SERVER | RULE_TO_CLIENT);

    if (specified != 0 && specified != way && (p->rule->flags & states)) {
        struct rule_test test = { .keyword = p->keyword, .match = never };

        rule_warning(p, "%s: goes the other way than `flow` says, the rule will never match",
                     p->keyword->name);
        rule_add_test(p, POINT_PACKET, &test);
    }
    p->rule->flags &= ~(uint32_t)(RULE_TO_SERVER | RULE_TO_CLIENT);
    p->rule->flags |= way;
}

/* The option to_server or to_client restricts a buffer that exists in both directions.
 * p->directions passes it to rule_set_buffer() for this one buffer. */
static int buffer_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    const struct declared *d = declared_of(p->keyword);
    const struct buffer *buffer = buffer_find(p->ruleset, text_of(d->buffer_name));
    unsigned directions = APP_BOTH;
    int r;

    if (in.n > 0) {
        if (!text_equal(in, "to_server") && !text_equal(in, "to_client"))
            return rule_error(p, "%s: expected nothing, to_server or to_client, found \"%.*s\"",
                              p->keyword->name, TEXT(in));
        directions = text_equal(in, "to_server") ? APP_TS : APP_TC;
    }
    if (buffer == NULL)
        return rule_error(p, "%s: this buffer is not available", p->keyword->name);
    if ((buffer->directions & directions) == 0)
        return rule_error(p, "%s: does not exist %.*s", p->keyword->name, TEXT(in));
    if (limit_protocol(p) < 0)
        return -1;
    if (d->goes != 0 && !(p->rule->flags & RULE_TX_BOTH))
        follow(p, d->goes);
    p->directions = (uint8_t)directions;
    r = rule_set_buffer(p, buffer);
    p->directions = 0;
    return r;
}

/* A content modifier moves the content before it to the buffer. */
static int legacy_parse(struct rule_parser *p, struct text in UNUSED, void *arg UNUSED)
{
    const struct declared *d = declared_of(p->keyword);
    const struct buffer *buffer = buffer_find(p->ruleset, text_of(d->buffer_name));

    if (buffer == NULL)
        return rule_error(p, "%s: this buffer is not available", p->keyword->name);
    if (limit_protocol(p) < 0 || (d->binds != 0 && rule_set_app_proto(p, d->binds) < 0))
        return -1;
    return rule_modify_content(p, buffer);
}

/* --- integers --------------------------------------------------------------------------------- */

struct integer_arg { /* in the ruleset's arena */
    const struct declared *declared;
    struct int_match value;
    struct index_match index;
};

/* Context of integer_get() during one comparison; on the stack. */
struct integer_source {
    const struct integer_arg *arg;
    const struct app_integer *integer;
    struct app_tx *tx;
    enum direction direction;
};

/* Instance `index` of the number; false past the last one. Most numbers have a single
 * instance. */
static bool integer_get(void *arg, unsigned index, uint64_t *out)
{
    const struct integer_source *s = arg;

    if (index > 0 && !s->integer->multi && !s->integer->any_of_many)
        return false;
    return app_integer_get(s->integer, s->tx, s->direction, index, out);
}

/* See app_seen_of(). */
static struct app_seen *integer_seen(void *arg, bool many)
{
    const struct integer_source *s = arg;

    return app_seen_of(s->tx, s->direction, s->arg, many);
}

/* A transaction of a protocol that does not declare the number fails the test. */
static bool integer_match(const struct match_input *in, const void *arg)
{
    const struct integer_arg *a = arg;
    struct integer_source s = { .arg = a, .tx = in->tx, .direction = in->direction };
    struct index_values values = { .get = integer_get, .arg = &s };

    s.integer = a->declared->integer[in->tx->flow->proto->id];
    if (s.integer == NULL || (s.integer->directions & APP_DIRECTION_BIT(in->direction)) == 0)
        return false;
    if (s.integer->lasts)
        values.seen = integer_seen;
    return index_match_has(&a->index, &a->value, in->tx_done, &values);
}

/* Adds the test with the declaration's direction, and the progress from which it can be evaluated.
 * If several protocols declare it, the earliest progress counts. */
static void place_test(struct rule_parser *p, uint8_t directions, const uint8_t progress[2],
                       bool (*match)(const struct match_input *in, const void *arg),
                       const void *arg)
{
    struct rule_test test = { .keyword = p->keyword, .match = match, .arg = arg,
                              .directions = directions,
                              .progress = { progress[0], progress[1] } };

    rule_add_test(p, POINT_TX, &test);
}

/* Parsers skip work that no rule or output needs. So the rule requires the features of every
 * protocol, because only traffic shows which one it meets. */
static void required_features(struct rule_parser *p, const struct declared *d)
{
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        if (d->integer[id] != NULL)
            p->ruleset->required.features[id] |= d->integer[id]->feature;
        if (d->match[id] != NULL)
            p->ruleset->required.features[id] |= d->match[id]->feature;
    }
}

/* A name means the same number in all its protocols, so any declaration serves for
 * parsing. */
static const struct app_integer *first_integer(const struct declared *d)
{
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        if (d->integer[id] != NULL)
            return d->integer[id];
    return NULL;
}

/* Cuts *in to the digits, or to a name. False: there is an operator, which this keyword
 * does not take. `lenient`: Suricata ignores what follows the digits. */
static bool is_plain(struct text *in, const struct app_integer *integer)
{
    struct text t = text_trim(*in);
    size_t digits = 0;

    while (digits < t.n && isdigit((unsigned char)t.p[digits]))
        digits++;
    if (digits == 0)
        return integer->names != NULL && t.n > 0 && isalpha((unsigned char)t.p[0]);
    if (digits < t.n && !integer->lenient)
        return false;
    *in = (struct text){ t.p, digits };
    return true;
}

static int integer_placed(struct rule_parser *p, const struct app_integer *n,
                          const struct integer_arg *a)
{
    struct rule_test test = { .keyword = p->keyword, .match = integer_match, .arg = a,
                              .any_time = index_match_waits(&a->index),
                              .directions = n->directions,
                              .progress = { n->progress[0], n->progress[1] } };

    required_features(p, a->declared);
    rule_add_test(p, POINT_TX, &test);
    return 0;
}

/* Tries a list of bits first ("name,!name"), then a number or a comparison. */
static int integer_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct integer_arg *a = arg;
    int (*parse)(struct rule_parser *, struct text, unsigned, const struct app_name *,
                 struct int_match *);
    const struct app_integer *integer;

    a->declared = declared_of(p->keyword);
    integer = first_integer(a->declared);
    if (integer->multi && index_match_parse(p, &in, &a->index) < 0)
        return -1;
    if (a->index.mode == INDEX_COUNT)
        return limit_protocol(p) < 0 ? -1 : integer_placed(p, integer, a);
    if (integer->plain && !is_plain(&in, integer))
        return rule_error(p, "%s: expected a number%s, found '%.*s'", integer->name,
                          integer->names != NULL ? " or a name" : "", TEXT(in));
    parse = integer->inclusive ? int_match_parse_inclusive : int_match_parse;
    if (limit_protocol(p) < 0)
        return -1;
    if (!int_match_bits(in, integer->bit_names, &a->value) &&
        parse(p, in, integer->bits, integer->names, &a->value) < 0)
        return -1;
    return integer_placed(p, integer, a);
}

/* --- other tests ------------------------------------------------------------------------------ */

struct match_arg { /* in the ruleset's arena, `parsed` as well */
    const struct declared *declared;
    void *parsed;
};

/* The match function belongs to the protocol; it sees a transaction and its own argument. */
static bool declared_match(const struct match_input *in, const void *arg)
{
    const struct match_arg *a = arg;
    const struct app_match *m = a->declared->match[in->tx->flow->proto->id];

    return m != NULL && (m->directions & APP_DIRECTION_BIT(in->direction)) &&
           m->match(in->tx, in->direction, a->parsed);
}

/* As first_integer(). */
static const struct app_match *first_match(const struct declared *d)
{
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        if (d->match[id] != NULL)
            return d->match[id];
    return NULL;
}

/* The protocol parses the argument. It knows negation by the '!', which the parser of
 * rules has taken off, so it is put back. */
static int match_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct match_arg *a = arg;
    const struct app_match *m;
    struct err err = { 0 };
    int r = 0;

    a->declared = declared_of(p->keyword);
    m = first_match(a->declared);
    a->parsed = arena_zalloc(p->arena, m->arg_size);
    if (p->negated)
        in = text_of(arena_printf(p->arena, "!%.*s", TEXT(in)));
    if (limit_protocol(p) < 0)
        return -1;
    if (m->parse != NULL)
        r = m->parse(in, a->parsed, p->arena, &err);
    if (r < 0)
        return rule_error(p, "%s", err.text);
    required_features(p, a->declared);
    if (r != APP_MATCH_NO_TEST)
        place_test(p, m->directions, m->progress, declared_match, a);
    return 0;
}

/* --- registration ----------------------------------------------------------------------------- */

/* NULL when the name exists with another kind: the first declaration wins. */
static struct declared *declared_get(const char *name, enum declared_kind kind)
{
    struct declared *d = map_get_string(&declared_by_name, name);

    if (d != NULL)
        return d->kind == kind ? d : NULL;
    d = xcalloc(1, sizeof(*d));
    d->kind = kind;
    d->ops.name = name;
    map_put_string(&declared_by_name, name, d);
    return d;
}

/* Notes that the protocol has the keyword. True for the first protocol, which fills the
 * ops. The description may come from a later one: HTTP/2 says nothing about the buffers of DNS. */
static bool is_new(struct declared *d, enum app_proto_id id, const char *doc)
{
    bool fresh = d->ops.parse == NULL;

    d->in_proto[id] = true;
    d->ops.in_proto = d->in_proto;
    if (d->ops.doc == NULL)
        d->ops.doc = doc;
    return fresh;
}

/* `same_as`: another name of an existing buffer, in one direction only (http.response_body
 * is file.data to the client). A buffer may also have a content modifier of an older name. */
static void add_buffer(const struct app_proto *proto, const struct app_buffer *b)
{
    struct declared *d = declared_get(b->name, DECLARED_BUFFER);

    if (d != NULL && is_new(d, proto->id, b->doc)) {
        d->buffer_name = b->same_as != NULL ? b->same_as : b->name;
        d->goes = b->same_as != NULL ? b->directions : 0;
        d->ops.alias = b->alias;
        d->ops.features = b->firewall ? "No option,sticky buffer,supports firewall"
                                      : "No option,sticky buffer";
        d->ops.argument = ARGUMENT_OPTIONAL;
        if (b->directions == APP_BOTH && b->same_as == NULL)
            d->ops.syntax = "[to_server|to_client]";
        d->ops.parse = buffer_parse;
        keyword_register(&d->ops);
    }
    if (b->legacy == NULL)
        return;
    d = declared_get(b->legacy, DECLARED_LEGACY);
    if (d != NULL && proto->binds_modifiers)
        d->binds = proto->id;
    if (d != NULL && is_new(d, proto->id, b->doc)) {
        d->buffer_name = b->same_as != NULL ? b->same_as : b->name;
        d->ops.features = "content modifier";
        d->ops.argument = ARGUMENT_NONE;
        d->ops.parse = legacy_parse;
        keyword_register(&d->ops);
    }
}

/* The forms that integer_parse() takes. */
static const char *integer_syntax(const struct app_integer *n)
{
    if (n->plain)
        return n->multi ? "<n or name>[,<index>]" : n->names != NULL ? "<n or name>" : "<n>";
    if (n->bit_names != NULL)
        return n->multi ? "<number>[,<index>]\n[!]<flag>[,<index>]" :
                          "<number>\n[!]<flag>[,[!]<flag>]...";
    if (n->multi)
        return n->names != NULL ? "<number or name>[,<index>]\ncount <number>"
                                : "<number>[,<index>]\ncount <number>";
    return n->names != NULL ? "<number or name>" : "<number>";
}

static void add_integer(const struct app_proto *proto, const struct app_integer *integer)
{
    struct declared *d = declared_get(integer->name, DECLARED_INTEGER);

    if (d == NULL)
        return;
    d->integer[proto->id] = integer;
    if (is_new(d, proto->id, integer->doc)) {
        d->ops.alias = integer->alias;
        d->ops.syntax = integer_syntax(integer);
        d->ops.features = integer->firewall ? "supports firewall" : NULL;
        d->ops.arg_size = sizeof(struct integer_arg);
        d->ops.parse = integer_parse;
        keyword_register(&d->ops);
    }
}

static void add_match(const struct app_proto *proto, const struct app_match *m)
{
    struct declared *d = declared_get(m->name, DECLARED_MATCH);

    if (d == NULL)
        return;
    d->match[proto->id] = m;
    if (is_new(d, proto->id, m->doc)) {
        d->ops.alias = m->alias;
        d->ops.syntax = m->syntax;
        d->ops.features = m->firewall ? "supports firewall" : NULL;
        d->ops.argument = m->no_argument ? ARGUMENT_NONE : ARGUMENT_REQUIRED;
        d->ops.quotes = d->ops.negatable = m->quotes;
        d->ops.quotes_required = m->quotes_required;
        d->ops.arg_size = sizeof(struct match_arg);
        d->ops.parse = match_parse;
        keyword_register(&d->ops);
    }
}

void keyword_declared_add(const struct app_proto *proto)
{
    for (const struct app_buffer *const *b = proto->buffers; b != NULL && *b != NULL; b++)
        add_buffer(proto, *b);
    for (const struct app_integer *const *i = proto->integers; i != NULL && *i != NULL; i++)
        add_integer(proto, *i);
    for (const struct app_match *const *m = proto->matches; m != NULL && *m != NULL; m++)
        add_match(proto, *m);
}

void keyword_declared_register(void)
{
    for (unsigned id = APP_PROTO_FIRST; id < app_proto_end(); id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        if (proto != NULL)
            keyword_declared_add(proto);
    }
}

/* The second condition keeps out a keyword of a file that has the same name. */
const char *keyword_declared_proto(const struct keyword_ops *k)
{
    const struct declared *d = map_get_string(&declared_by_name, k->name);
    enum app_proto_id proto;

    if (d == NULL || &d->ops != k)
        return NULL;
    proto = common_proto(d);
    return proto == APP_PROTO_UNKNOWN ? NULL : app_proto_name(proto);
}

/* first_integer() of a keyword that is no integer is NULL. */
const struct app_name *keyword_declared_names(const struct keyword_ops *k)
{
    const struct declared *d = map_get_string(&declared_by_name, k->name);
    const struct app_integer *n = d != NULL && &d->ops == k ? first_integer(d) : NULL;

    return n == NULL ? NULL : n->bit_names != NULL ? n->bit_names : n->names;
}
