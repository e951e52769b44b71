/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/rule_text.c - writes one rule as text for people: what it inspects, how it is
 * found, and what may be slow or differ from its author's intention. */
#include "detect/analysis/private.h"

#include "conf/conf.h"

#include <ctype.h>
#include <string.h>

struct counts { unsigned content, pcre, buffer_content, buffer_pcre; }; /* operations of one rule */

static struct counts count_ops(const struct rule *r)
{
    struct counts n = { 0 };

    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        for (const struct rule_op *op = l->first; op != NULL; op = op->next) {
            if (op->kind == OP_CONTENT)
                (*(l->buffer != NULL ? &n.buffer_content : &n.content))++;
            if (op->kind == OP_PCRE)
                (*(l->buffer != NULL ? &n.buffer_pcre : &n.pcre))++;
        }
    return n;
}

/* Other bytes as \xNN. */
static void add_printable(struct buf *out, const uint8_t *bytes, unsigned len)
{
    for (unsigned i = 0; i < len; i++) {
        if (isprint(bytes[i]) && bytes[i] != '"')
            buf_add_u8(out, bytes[i]);
        else
            buf_printf(out, "\\x%02X", bytes[i]);
    }
}

/* With fast_pattern:offset,length returns a part of the content. */
static struct slice searched_bytes(const struct rule_op *op)
{
    const struct content_op *c = &op->content;

    if (op->flags & OP_FAST_CHOP)
        return (struct slice){ c->bytes + c->fast_offset, c->fast_len };
    return (struct slice){ c->bytes, c->len };
}

/* Suricata's words for where payload is searched. */
static const char *payload_name(const struct rule *r)
{
    switch (r->flags & (RULE_NEEDS_PACKET | RULE_NEEDS_STREAM)) {
    case RULE_NEEDS_STREAM: return "reassembled stream";
    case RULE_NEEDS_STREAM | RULE_NEEDS_PACKET: return "payload and reassembled stream";
    default: return "payload";
    }
}

static void print_type(struct buf *out, const struct rule *r)
{
    static const char *const what[] = {
        [RULE_IP_ONLY] = "ip only", [RULE_LIKE_IP_ONLY] = "like ip only",
        [RULE_PROTO_ONLY] = "PD only", [RULE_DECODER_EVENT] = "DE only",
        [RULE_PACKET] = "packet inspecting",
        [RULE_PACKET_STREAM] = "packet and stream inspecting",
        [RULE_STREAM] = "stream inspecting", [RULE_APP_LAYER] = "app-layer inspecting",
        [RULE_APP_TX] = "App-layer TX inspecting",
    };

    buf_printf(out, "    Rule is %s.\n", what[r->type]);
    if (r->ip_version != 0)
        buf_printf(out, "    Rule is IPv%u only.\n", r->ip_version);
}

static void print_positions(struct buf *out, const struct rule *r)
{
    char name[ENGINE_NAME_SIZE];

    if (rule_payload(r) != NULL && (r->flags & RULE_NEEDS_PACKET))
        BUF_LITERAL(out, "    Rule matches on packets.\n");
    if (rule_payload(r) != NULL && (r->flags & RULE_NEEDS_STREAM))
        BUF_LITERAL(out, "    Rule matches on reassembled stream.\n");
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        if (l->buffer != NULL)
            buf_printf(out, "    Rule matches on %s buffer.\n",
                       engine_buffer_name(l->buffer, name));
    if (r->app_proto != APP_PROTO_UNKNOWN)
        buf_printf(out, "    App layer protocol is %s.\n",
                   app_proto_name((enum app_proto_id)r->app_proto));
}

static void print_counts(struct buf *out, const struct counts *n)
{
    if (n->content + n->pcre + n->buffer_content + n->buffer_pcre == 0)
        return;
    buf_printf(out, "    Rule contains %u content options, %u buffer content options, %u pcre "
               "options, and %u buffer pcre options.\n", n->content, n->buffer_content, n->pcre,
               n->buffer_pcre);
}

/* The pattern that Suricata would choose, see analysis_pattern(). */
static void print_pattern(struct buf *out, const struct rule *r)
{
    bool negated;
    const struct rule_op *op = analysis_pattern(r, &negated);
    char name[ENGINE_NAME_SIZE];
    const struct buffer *b;
    struct slice bytes;

    if (r->prefilter != NULL)
        buf_printf(out, "    Prefilter on: %s.\n", r->prefilter->name);
    if (op == NULL)
        return;
    b = op->list->buffer;
    bytes = searched_bytes(op);
    BUF_LITERAL(out, "    Fast Pattern \"");
    add_printable(out, bytes.data, bytes.len);
    buf_printf(out, "\" on \"%s\" ", b != NULL ? engine_buffer_name(b, name) : payload_name(r));
    if (b != NULL && b->transform_count > 0)
        buf_printf(out, "(with %u transform(s)) ", b->transform_count);
    BUF_LITERAL(out, "buffer.\n");
}

/* --- warnings ----------------------------------------------------------------------------- */

/* The rule does not name a direction. */
static bool both_directions(const struct rule *r)
{
    uint32_t both = RULE_TO_SERVER | RULE_TO_CLIENT;

    return (r->flags & both) == both;
}

/* Such a rule is inspected with each packet of each connection. */
static bool is_tcp_without_flow(const struct rule *r)
{
    return rule_has_ip_proto(r, 6) && !rule_has_ip_proto(r, 17) && r->type != RULE_IP_ONLY &&
           !analysis_has_test(r, "flow") && !analysis_has_test(r, "tcp.flags") &&
           both_directions(r);
}

/* Ports of clients are chosen at random, so naming them is often a mistake. */
static bool client_ports_only(const struct rule *r)
{
    if ((r->flags & RULE_TO_SERVER) && !(r->flags & RULE_TO_CLIENT))
        return (r->flags & RULE_DPORT_ANY) && !(r->flags & RULE_SPORT_ANY);
    if ((r->flags & RULE_TO_CLIENT) && !(r->flags & RULE_TO_SERVER))
        return (r->flags & RULE_SPORT_ANY) && !(r->flags & RULE_DPORT_ANY);
    return false;
}

/* "%2e": an escape that the parser would have decoded. */
static bool has_percent(const struct rule_op *op)
{
    const uint8_t *b = op->content.bytes;

    for (unsigned i = 0; op->kind == OP_CONTENT && i + 2 < op->content.len; i++)
        if (b[i] == '%' && isxdigit(b[i + 1]) && isxdigit(b[i + 2]))
            return true;
    return false;
}

/* Buffers that the HTTP parser decodes. */
static bool percent_in_normalised(const struct rule *r)
{
    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        if (l->buffer != NULL && buffer_declared(l->buffer)->percent_decoded)
            for (const struct rule_op *op = l->first; op != NULL; op = op->next)
                if (has_percent(op))
                    return true;
    return false;
}

static bool anchored_payload(const struct rule *r)
{
    const struct rule_list *l = rule_payload(r);

    for (const struct rule_op *op = l != NULL ? l->first : NULL; op != NULL; op = op->next)
        if (op->kind == OP_CONTENT && (op->flags & (OP_OFFSET | OP_DEPTH)))
            return true;
    return false;
}

static bool payload_pattern_in_app_rule(const struct rule *r)
{
    return r->app_proto != APP_PROTO_UNKNOWN && r->fast_op != NULL &&
           r->fast_op->list->buffer == NULL;
}

/* Each row: when the warning applies, and its text. Returns how many were printed. */
static unsigned print_warnings(struct buf *out, const struct rule *r, const struct counts *n,
                             const struct conf_node *root)
{
    const struct { bool holds; const char *text; } warnings[] = {
        { n->pcre + n->buffer_pcre > 0 && n->content + n->buffer_content == 0,
          "a pcre without any content is run on all traffic that the header admits; a content "
          "beside it would make the rule much cheaper" },
        { n->buffer_content > 0 && n->content > 0,
          "some contents look into a buffer and some into the raw payload" },
        { percent_in_normalised(r),
          "a content has %-encoded bytes, but its buffer is decoded before it is searched" },
        { is_tcp_without_flow(r),
          "a TCP rule without flow or tcp.flags looks at all packets of all connections" },
        { client_ports_only(r), "ports are named on the client's side only" },
        { (r->flags & RULE_BIDIRECTIONAL) && !both_directions(r),
          "the rule is bidirectional, but its flow option names one direction" },
        { anchored_payload(r) && (r->flags & RULE_NEEDS_STREAM) &&
              (r->flags & RULE_NEEDS_PACKET),
          "depth or offset count from the start of each packet and of the stream" },
        { anchored_payload(r) && r->app_proto != APP_PROTO_UNKNOWN,
          "an app-layer protocol is named, but depth or offset are about the raw payload" },
        { payload_pattern_in_app_rule(r),
          "an app-layer protocol is named, but the rule is found by a raw payload pattern" },
        { both_directions(r) && r->type != RULE_DECODER_EVENT &&
              (n->content + n->pcre + n->buffer_content + n->buffer_pcre > 0 ||
               r->type == RULE_IP_ONLY),
          "the rule looks at the request and at the response" },
        { (r->flags & RULE_FILESTORE) && !conf_bool(root, "outputs.file-store.enabled", false),
          "Rule requires file-store but the output file-store is not enabled" },
    };
    unsigned count = 0;

    for (size_t i = 0; i < ARRAY_LEN(warnings); i++)
        if (warnings[i].holds) {
            buf_printf(out, "    Warning: %s.\n", warnings[i].text);
            count++;
        }
    return count;
}

void analysis_rule_text(struct buf *out, const struct rule *r, const struct conf_node *root)
{
    struct counts n = count_ops(r);

    buf_printf(out, "== Sid: %u ==\n%s\n", r->sid, r->text);
    print_type(out, r);
    print_positions(out, r);
    print_counts(out, &n);
    print_pattern(out, r);
    if (print_warnings(out, r, &n, root) == 0)
        BUF_LITERAL(out, "    No warnings for this rule.\n");
    BUF_LITERAL(out, "\n");
}

/* --- the pattern alone -------------------------------------------------------------------- */

static const char *yes(bool b) { return b ? "yes" : "no"; }

/* Positions as Suricata converts them. */
static void position_flags(struct buf *out, const struct rule_op *op)
{
    static const struct { uint32_t flag; const char *name; } names[] = {
        { OP_OFFSET, "Offset" }, { OP_DEPTH, "Depth" }, { OP_WITHIN, "Within" },
        { OP_DISTANCE, "Distance" }, { OP_NOCASE, "Nocase" }, { OP_NEGATED, "Negated" },
    };
    uint32_t flags = analysis_position(op).flags | (op->flags & (OP_NOCASE | OP_NEGATED));

    BUF_LITERAL(out, "        Flags:");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (flags & names[i].flag)
            buf_printf(out, " %s", names[i].name);
    buf_printf(out, "%s\n", flags == 0 ? " None" : "");
}

static void pattern_details(struct buf *out, const struct rule_op *op)
{
    struct slice bytes = searched_bytes(op);
    char name[ENGINE_NAME_SIZE];

    buf_printf(out, "        Fast pattern matcher: %s\n", op->list->buffer == NULL ? "content"
               : engine_buffer_name(op->list->buffer, name));
    position_flags(out, op);
    buf_printf(out, "        Fast pattern set: %s\n", yes(op->flags & OP_FAST));
    buf_printf(out, "        Fast pattern only set: %s\n", yes(op->flags & OP_FAST_ONLY));
    buf_printf(out, "        Fast pattern chop set: %s\n", yes(op->flags & OP_FAST_CHOP));
    if (op->flags & OP_FAST_CHOP)
        buf_printf(out, "        Fast pattern offset, length: %u, %u\n", op->content.fast_offset,
                   op->content.fast_len);
    BUF_LITERAL(out, "        Original content: ");
    add_printable(out, op->content.bytes, op->content.len);
    BUF_LITERAL(out, "\n        Final content: ");
    add_printable(out, bytes.data, bytes.len);
    BUF_LITERAL(out, "\n");
}

void analysis_fast_pattern_text(struct buf *out, const struct rule *r,
                                const struct conf_node *root UNUSED)
{
    bool negated;
    const struct rule_op *op = analysis_pattern(r, &negated);

    buf_printf(out, "== Sid: %u ==\n%s\n    Fast Pattern analysis:\n", r->sid, r->text);
    if (r->prefilter != NULL)
        buf_printf(out, "        Prefilter on: %s\n", r->prefilter->name);
    if (op != NULL)
        pattern_details(out, op);
    else if (r->prefilter == NULL)
        BUF_LITERAL(out, "        No content present\n");
    BUF_LITERAL(out, "\n");
}

/* About the patterns that inspection uses; index 1 is for buffers. */
void analysis_fast_pattern_summary(struct buf *out, const struct ruleset *set)
{
    struct { unsigned least, most, count; uint64_t total; } n[2] = { 0 };

    for (size_t i = 0; i < set->rules.count; i++) {
        const struct rule_op *op = set->rules.at[i]->fast_op;
        unsigned len = op != NULL ? searched_bytes(op).len : 0;
        bool buffer = op != NULL && op->list->buffer != NULL;

        if (op == NULL)
            continue;
        n[buffer].least = n[buffer].count == 0 ? len : MIN(n[buffer].least, len);
        n[buffer].most = MAX(n[buffer].most, len);
        n[buffer].total += len;
        n[buffer].count++;
    }
    BUF_LITERAL(out, "============\nSummary:\n============\n");
    for (unsigned i = 0; i < 2; i++)
        if (n[i].count > 0)
            buf_printf(out, "%s, smallest pattern %u byte(s), longest pattern %u byte(s), number "
                       "of patterns %u, avg pattern len %.2f byte(s)\n",
                       i == 0 ? "packet/stream payload" : "buffers", n[i].least, n[i].most,
                       n[i].count, (double)n[i].total / n[i].count);
}
