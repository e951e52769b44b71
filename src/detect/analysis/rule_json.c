/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/rule_json.c - writes one rule as a line of rules.json: its requirements, the
 * steps of its inspection, the tests of each step, and the pattern by which it is found. Keys and
 * words are Suricata's, so that tools for its analysis work. */
#include "detect/analysis/private.h"

#include "detect/compile/compile.h"
#include "detect/rule/flowbits.h"
#include "detect/state/threshold.h"
#include "flow/vars.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* State of writing one rule. */
struct writer {
    struct json *j;
    const struct rule *rule;
    const struct rule_op *pattern;
    bool negated;               /* the pattern must not occur */
    ARRAY_OF(const char *) notes;
};

/* Notes come at the end of the object, so they are collected. */
static void note(struct writer *w, const char *text)
{
    ARRAY_PUSH(&w->notes, text);
}

/* --- operations on buffers ---------------------------------------------------------------- */

/* no_double_inspect: Suricata need not search the content again after the prefilter. */
static void content_members(struct writer *w, const struct rule_op *op)
{
    const struct content_position position = analysis_position_in(w->rule, op);
    struct buf text = { 0 };
    struct json *j = w->j;
    bool pattern = op == w->pattern;

    analysis_pattern_text(&text, op->content.bytes, op->content.len);
    json_string(j, "pattern", (const char *)text.data);
    buf_fini(&text);
    json_u64(j, "length", op->content.len);
    json_bool(j, "nocase", op->flags & OP_NOCASE);
    json_bool(j, "negated", op->flags & OP_NEGATED);
    json_bool(j, "starts_with", op->flags & OP_STARTSWITH);
    json_bool(j, "ends_with", op->flags & OP_ENDSWITH);
    json_bool(j, "is_mpm", pattern);
    json_bool(j, "no_double_inspect", pattern && analysis_is_conclusive(op));
    if (position.flags & OP_OFFSET)
        json_i64(j, "offset", position.offset);
    if (position.flags & OP_DEPTH)
        json_i64(j, "depth", position.depth);
    if (position.flags & OP_DISTANCE)
        json_i64(j, "distance", position.distance);
    if (position.flags & OP_WITHIN)
        json_i64(j, "within", position.within);
    json_bool(j, "fast_pattern", op->flags & OP_FAST);
    json_bool(j, "relative_next", analysis_has_relative(op));
}

/* Writes the notes of protocols about a content that looks like theirs. */
static void protocol_notes(struct writer *w, const struct rule_op *op)
{
    const struct slice content = { op->content.bytes, op->content.len };

    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++) {
        const struct app_reports *reports = app_proto_by_id(id)->reports;
        const char *text = NULL;

        if (reports != NULL && reports->content_note != NULL)
            text = reports->content_note(content);
        if (text != NULL)
            note(w, text);
    }
}

/* Advice about contents that HTTP buffers would serve better; Suricata's texts. */
static void content_notes(struct writer *w, const struct rule_op *op)
{
    const struct content_position position = analysis_position(op);

    if (op->flags & OP_FAST_ONLY)
        note(w, "'fast_pattern:only' option is silently ignored and is interpreted as regular "
                "'fast_pattern'");
    protocol_notes(w, op);
    if (position.was_within)
        note(w, "'within' option for pattern w/o previous content was converted to 'depth'");
    if (position.was_distance)
        note(w, "'distance' option for pattern w/o previous content was converted to 'offset'");
}

/* "unset" without "string": the number is binary. */
static const char *base_name(const struct rule_op *op)
{
    if (!(op->flags & OP_STRING))
        return "unset";
    switch (op->byte.base) {
    case 8: return "oct";
    case 10: return "dec";
    case 16: return "hex";
    default: return "unset";
    }
}

/* `jump`: only byte_jump has these flags. */
static void flag_names(struct json *j, uint32_t flags, bool jump)
{
    static const struct { uint32_t flag; const char *name; bool jump; } names[] = {
        { OP_FROM_BEGINNING, "from_beginning", true },
        { OP_LITTLE, "little_endian", false },
        { OP_STRING, "string", false },
        { OP_RELATIVE, "relative", false },
        { OP_ALIGN, "align", true },
        { OP_DCE, "dce", false },
        { OP_FROM_END, "from_end", true },
    };

    json_array(j, "flags");
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if ((flags & names[i].flag) && (jump || !names[i].jump))
            json_string(j, NULL, names[i].name);
    json_array_end(j);
}

static void byte_members(struct writer *w, const struct rule_op *op)
{
    bool jump = op->kind == OP_BYTE_JUMP;
    struct json *j = w->j;

    json_object(j, jump ? "byte_jump" : "byte_test");
    json_u64(j, "nbytes", op->byte.nbytes);
    json_i64(j, "offset", op->byte.offset);
    if (jump) {
        json_u64(j, "multiplier", op->byte.multiplier);
        json_i64(j, "post_offset", op->byte.post_offset);
    }
    json_string(j, "base", base_name(op));
    flag_names(j, op->flags, jump);
    json_object_end(j);
}

/* Other kinds have no members in Suricata's report. */
static void op_members(struct writer *w, const struct rule_op *op)
{
    struct json *j = w->j;

    switch ((enum op_kind)op->kind) {
    case OP_CONTENT:
        json_object(j, "content");
        content_members(w, op);
        json_object_end(j);
        content_notes(w, op);
        break;
    case OP_PCRE:
        json_object(j, "pcre");
        json_bool(j, "relative", op->flags & OP_RELATIVE);
        json_bool(j, "relative_next", op->flags & OP_RELATIVE_NEXT);
        json_bool(j, "nocase", op->flags & OP_NOCASE);
        json_bool(j, "negated", op->flags & OP_NEGATED);
        json_object_end(j);
        if (op->flags & OP_RAWBYTES)
            note(w, "'/B' (rawbytes) option is a no-op and is silently ignored");
        break;
    case OP_BYTE_JUMP:
    case OP_BYTE_TEST:
        byte_members(w, op);
        break;
    case OP_ABSENT:
        json_object(j, "absent");
        json_bool(j, "or_else", op->flags & OP_OR_ELSE);
        json_object_end(j);
        break;
    default:
        break;
    }
}

static void list_matches(struct writer *w, const struct rule_list *l)
{
    json_array(w->j, "matches");
    for (const struct rule_op *op = l->first; op != NULL; op = op->next) {
        json_object(w->j, NULL);
        json_string(w->j, "name", analysis_op_name(op));
        op_members(w, op);
        json_object_end(w->j);
    }
    json_array_end(w->j);
}

static void transforms(struct json *j, const struct buffer *b)
{
    if (b->transform_count == 0)
        return;
    json_array(j, "transforms");
    for (unsigned i = 0; i < b->transform_count; i++) {
        json_object(j, NULL);
        json_string(j, "name", b->transform[i].ops->name);
        json_object_end(j);
    }
    json_array_end(j);
}

/* --- tests -------------------------------------------------------------------------------- */

static void test_members(struct json *j, const struct rule_test *test)
{
    json_object(j, NULL);
    json_string(j, "name", analysis_test_name(test));
    if (test->keyword->describe != NULL)
        test->keyword->describe(test, j);
    json_object_end(j);
}

static void list_begin(struct json *j, const char *key)
{
    json_object(j, key);
    json_array(j, "matches");
}

static void list_end(struct json *j)
{
    json_array_end(j);
    json_object_end(j);
}

static void name_member(struct json *j, const char *name)
{
    json_object(j, NULL);
    json_string(j, "name", name);
    json_object_end(j);
}

/* ip_proto has become a part of the rule's header. */
static bool is_packet_test(const struct rule_test *test)
{
    return strcmp(test->keyword->name, "ip_proto") != 0;
}

/* "stateless" is a flag here and a test in Suricata. */
static unsigned packet_test_count(const struct rule *r)
{
    unsigned count = r->flags & RULE_FLOW_STATELESS ? 1 : 0;

    for (unsigned i = 0; i < r->test_count; i++)
        count += is_packet_test(&r->test[i]);
    return count;
}

static void packet_tests(struct json *j, const struct rule *r)
{
    if (packet_test_count(r) == 0)
        return;
    list_begin(j, "packet");
    for (unsigned i = 0; i < r->test_count; i++)
        if (is_packet_test(&r->test[i]))
            test_members(j, &r->test[i]);
    if (r->flags & RULE_FLOW_STATELESS)
        name_member(j, "flow");
    list_end(j);
}

static bool is_tag(const struct rule_test *test)
{
    return strcmp(test->keyword->name, "tag") == 0;
}

static unsigned count_tags(const struct rule *r)
{
    unsigned count = 0;

    for (unsigned i = 0; i < r->post_count; i++)
        count += is_tag(&r->post[i]);
    return count;
}

/* Counts the captures of its expressions that the rule stores. */
static unsigned count_captures(const struct rule *r)
{
    unsigned count = 0;

    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        for (const struct rule_op *op = l->first; op != NULL; op = op->next)
            count += op->kind == OP_PCRE ? op->pcre->capture_count : 0;
    return count;
}

/* Suricata reports a capture as a post-match test. */
static void post_tests(struct json *j, const struct rule *r)
{
    unsigned captures = count_captures(r);

    if (r->post_count - count_tags(r) + captures == 0)
        return;
    list_begin(j, "postmatch");
    for (unsigned i = 0; i < captures; i++)
        name_member(j, "__flowvar__postmatch__");
    for (unsigned i = 0; i < r->post_count; i++)
        if (!is_tag(&r->post[i]))
            test_members(j, &r->post[i]);
    list_end(j);
}

static void tag_tests(struct json *j, const struct rule *r)
{
    if (count_tags(r) == 0)
        return;
    list_begin(j, "tag");
    for (unsigned i = 0; i < r->post_count; i++)
        if (is_tag(&r->post[i]))
            test_members(j, &r->post[i]);
    list_end(j);
}

/* --- members of the rule ------------------------------------------------------------------ */

struct bit_name { uint32_t bit; const char *name; }; /* a flag's bit and word */

static void bit_names(struct json *j, uint32_t bits, const struct bit_name *names, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (bits & names[i].bit)
            json_string(j, NULL, names[i].name);
}

static void requirements(struct writer *w)
{
    static const struct bit_name names[] = {
        { NEED_PAYLOAD, "payload" },   { NEED_NO_PAYLOAD, "no_payload" },
        { NEED_FLOW, "flow" },         { NEED_INIT_FLAGS, "tcp_flags_init_deinit" },
        { NEED_RARE_FLAGS, "tcp_flags_unusual" }, { NEED_EVENT, "engine_event" },
        { NEED_REAL_PACKET, "real_pkt" },
    };

    json_array(w->j, "requirements");
    bit_names(w->j, analysis_needs(w->rule), names, ARRAY_LEN(names));
    json_array_end(w->j);
}

static bool waits_for_flowbit(const struct rule *r)
{
    struct flowbits_use use;

    for (unsigned i = 0; i < r->test_count; i++)
        if (flowbits_use_of(&r->test[i], &use) && strcmp(use.command, "isset") == 0)
            return true;
    return false;
}

/* True if a match raises no alert. Firewall rules alert only with the keyword. */
static bool is_silent(const struct rule *r)
{
    if (r->flags & (RULE_ALERT_KEYWORD | RULE_FIREWALL))
        return !(r->flags & RULE_ALERT_KEYWORD);
    return r->action > RULE_REJECT_BOTH || (r->flags & RULE_NOALERT);
}

/* A reject drops as well, and both alert. */
static void action_names(struct json *j, const struct rule *r)
{
    static const char *const names[] = {
        [RULE_DROP] = "drop", [RULE_REJECT_SRC] = "reject", [RULE_REJECT_DST] = "reject_dst",
        [RULE_REJECT_BOTH] = "reject_both", [RULE_CONFIG] = "config", [RULE_PASS] = "pass",
        [RULE_ACCEPT] = "accept",
    };
    bool rejects = r->action == RULE_REJECT_SRC || r->action == RULE_REJECT_DST ||
                   r->action == RULE_REJECT_BOTH;

    if (!is_silent(r))
        json_string(j, NULL, "alert");
    if (rejects)
        json_string(j, NULL, "drop");
    if (r->action != RULE_ALERT)
        json_string(j, NULL, names[r->action]);
    if (r->also_pass)
        json_string(j, NULL, "pass");
}

static void match_policy(struct writer *w)
{
    static const char *const reach[] = {
        [REACH_PACKET] = "packet", [REACH_FLOW] = "flow",
        [REACH_FLOW_IF_STATEFUL] = "flow_if_stateful",
    };

    json_object(w->j, "match_policy");
    json_array(w->j, "actions");
    action_names(w->j, w->rule);
    json_array_end(w->j);
    if (w->rule->scope == SCOPE_HOOK || w->rule->scope == SCOPE_TX)
        json_string(w->j, "scope", w->rule->scope == SCOPE_HOOK ? "hook" : "tx");
    else
        json_string(w->j, "scope", reach[rule_reach(w->rule)]);
    json_object_end(w->j);
}

/* Writes the flags that keywords declare. */
static void keyword_flags(struct json *j, const struct rule *r)
{
    for (unsigned i = 0; i < r->post_count; i++)
        if (r->post[i].keyword->rule_flag != NULL)
            json_string(j, NULL, r->post[i].keyword->rule_flag);
}

/* The order of the words is that of Suricata's report. */
static void flags(struct writer *w, bool has_engines)
{
    static const struct bit_name any[] = {
        { RULE_SRC_ANY, "src_any" }, { RULE_DST_ANY, "dst_any" },
        { RULE_SPORT_ANY, "sp_any" }, { RULE_DPORT_ANY, "dp_any" },
    };
    static const struct bit_name rest[] = {
        { RULE_FILESTORE, "filestore" }, { RULE_TO_SERVER, "toserver" },
        { RULE_TO_CLIENT, "toclient" },
    };
    static const struct bit_name last[] = {
        { RULE_BYPASS, "bypass" },
    };
    static const struct bit_name targets[] = {
        { RULE_TARGET_SRC, "src_is_target" }, { RULE_TARGET_DST, "dst_is_target" },
    };
    const struct rule *r = w->rule;
    struct json *j = w->j;

    json_array(j, "flags");
    bit_names(j, r->flags, any, ARRAY_LEN(any));
    if (is_silent(r))
        json_string(j, NULL, "noalert");
    if (analysis_has_test(r, "dsize"))
        json_string(j, NULL, "dsize");
    if (r->app_proto != APP_PROTO_UNKNOWN || analysis_names_file(r))
        json_string(j, NULL, "applayer");
    if (analysis_needs_packet(r))
        json_string(j, NULL, "need_packet");
    if (r->flags & RULE_NEEDS_STREAM)
        json_string(j, NULL, "need_stream");
    if (w->negated)
        json_string(j, NULL, "negated_mpm");
    /* Suricata flushes the stream for it. */
    if (has_engines && rule_payload(r) != NULL && rule_looks_at_body(r))
        json_string(j, NULL, "flush");
    if (waits_for_flowbit(r))
        json_string(j, NULL, "need_flowvar");
    bit_names(j, r->flags, rest, ARRAY_LEN(rest));
    keyword_flags(j, r);
    bit_names(j, r->flags, last, ARRAY_LEN(last));
    if (w->pattern != NULL || r->prefilter != NULL)
        json_string(j, NULL, "prefilter");
    bit_names(j, r->flags, targets, ARRAY_LEN(targets));
    json_array_end(j);
}

/* --- steps -------------------------------------------------------------------------------- */

static void buffer_engine(struct writer *w, const struct rule_list *l)
{
    char name[ENGINE_NAME_SIZE];
    bool pattern = w->pattern != NULL && w->pattern->list == l;

    json_object(w->j, NULL);
    json_string(w->j, "name", engine_buffer_name(l->buffer, name));
    json_bool(w->j, "is_mpm", pattern);
    if (l->buffer != NULL) {
        transforms(w->j, l->buffer);
        list_matches(w, l);
    }
    json_object_end(w->j);
}

static void buffer_engines(struct writer *w, enum buffer_kind kind)
{
    /* Frames are inspected by direction. */
    bool twice = kind == BUFFER_FRAME && (w->rule->flags & RULE_TO_SERVER) &&
                 (w->rule->flags & RULE_TO_CLIENT);

    for (const struct rule_list *l = w->rule->list; l != NULL; l = l->next) {
        if (l->buffer == NULL || l->buffer->kind != kind)
            continue;
        buffer_engine(w, l);
        if (twice)
            buffer_engine(w, l);
    }
}

/* If the rule has engines on transactions, the payload is one of them. */
static void packet_engines(struct writer *w, bool has_engines)
{
    const struct rule_list *payload = rule_payload(w->rule);

    json_array(w->j, "pkt_engines");
    buffer_engines(w, BUFFER_PACKET);
    if (payload != NULL && !has_engines)
        buffer_engine(w, payload);
    if (packet_test_count(w->rule) > 0) {
        json_object(w->j, NULL);
        json_string(w->j, "name", "packet");
        json_bool(w->j, "is_mpm", false);
        json_object_end(w->j);
    }
    json_array_end(w->j);
}

/* All tests of one of Suricata's lists. */
static void matches_at_position(struct writer *w, const char *position)
{
    const struct rule *r = w->rule;

    json_array(w->j, "matches");
    for (unsigned i = 0; i < r->tx_test_count; i++)
        if (strcmp(engine_test_position(&r->tx_test[i]), position) == 0)
            test_members(w->j, &r->tx_test[i]);
    json_array_end(w->j);
}

/* Returns, for example, "tls:client_hello_done:generic". */
static const char *hook_name(const struct tx_engine *e, char out[ENGINE_NAME_SIZE])
{
    const struct app_proto *proto = app_proto_by_id(e->proto);
    const struct app_name *n = proto->progress_names[e->direction];
    const char *hook = e->step == 0 ? "started" : "complete", *prefix = "request_", *kind = "";

    if (e->kind != 0) {
        kind = proto->tx_kinds[e->kind - 1].name;
        n = proto->tx_kinds[e->kind - 1].progress_names[e->direction];
    }

    if (e->direction == TO_CLIENT)
        prefix = "response_";
    for (; n != NULL && n->name != NULL; n++)
        if (n->value == e->step) {
            hook = n->name;
            prefix = "";
        }
    snprintf(out, ENGINE_NAME_SIZE, "%s:%s%s%s%s:generic", app_proto_rule_name(proto), kind,
             *kind != '\0' ? ":" : "", prefix, hook);
    return out;
}

/* One step: a buffer, the stream, a list of tests, or the rule's hook. */
static void engine(struct writer *w, const struct tx_engine *e)
{
    char name[ENGINE_NAME_SIZE];
    struct json *j = w->j;

    json_object(j, NULL);
    json_string(j, "name", e->hook ? hook_name(e, name) : e->stream ? "stream" : e->list != NULL
                           ? engine_buffer_name(e->list->buffer, name) : e->position);
    json_string(j, "direction", e->direction == TO_SERVER ? "toserver" : "toclient");
    json_bool(j, "is_mpm", e->pattern);
    json_string(j, "app_proto", app_proto_name(e->proto));
    json_u64(j, "progress", e->progress);
    if (e->list != NULL && e->list->buffer != NULL)
        transforms(j, e->list->buffer);
    if (e->list != NULL)
        list_matches(w, e->list);
    else if (!e->hook)
        matches_at_position(w, e->position);
    json_object_end(j);
}

static void engines(struct writer *w, const tx_engines *all)
{
    if (all->count == 0)
        return;
    json_array(w->j, "engines");
    for (size_t i = 0; i < all->count; i++)
        engine(w, &all->at[i]);
    json_array_end(w->j);
}

/* Writes tests by Suricata's lists. The decoded program of base64_data has its own list. */
static void lists(struct writer *w, bool has_engines)
{
    const struct rule_list *payload = rule_payload(w->rule), *decoded = NULL;
    const struct rule *r = w->rule;
    struct json *j = w->j;

    json_object(j, "lists");
    packet_tests(j, r);
    if (payload != NULL && !has_engines) {
        json_object(j, "payload");
        list_matches(w, payload);
        json_object_end(j);
    }
    if (r->list != NULL)
        decoded = r->list->decoded;
    if (decoded != NULL) {
        json_object(j, "base64_data");
        list_matches(w, decoded);
        json_object_end(j);
    }
    post_tests(j, r);
    tag_tests(j, r);
    if (r->threshold != NULL) {
        list_begin(j, "threshold");
        name_member(j, r->threshold->type == THRESHOLD_FILTER ? "detection_filter" : "threshold");
        list_end(j);
    }
    json_object_end(j);
}

static void pattern(struct writer *w)
{
    char name[ENGINE_NAME_SIZE];

    const struct buffer *b = w->pattern != NULL ? w->pattern->list->buffer : NULL;

    /* Suricata reports patterns of packet buffers as payload, and none of frames. */
    if (w->pattern != NULL && (b == NULL || b->kind != BUFFER_FRAME)) {
        if (b != NULL && b->kind == BUFFER_PACKET)
            b = NULL;
        json_object(w->j, "mpm");
        json_string(w->j, "buffer", engine_buffer_name(b, name));
        content_members(w, w->pattern);
        json_object_end(w->j);
    }
    if (w->rule->prefilter != NULL) {
        json_object(w->j, "prefilter");
        json_string(w->j, "buffer", "packet");
        json_string(w->j, "name", w->rule->prefilter->name);
        json_object_end(w->j);
    }
}

static void notes(struct writer *w)
{
    const struct buffer *b = w->pattern != NULL ? w->pattern->list->buffer : NULL;
    char name[ENGINE_NAME_SIZE], text[ENGINE_NAME_SIZE + 80];

    if (b != NULL && b->kind == BUFFER_TX && buffer_declared(b)->flushes &&
        rule_payload(w->rule) != NULL) {
        snprintf(text, sizeof(text), "mpm in %s combined with stream match leads to stream "
                 "buffering", engine_buffer_name(b, name));
        note(w, text);
    }
    if (w->notes.count == 0)
        return;
    json_array(w->j, "notes");
    for (size_t i = 0; i < w->notes.count; i++)
        json_string(w->j, NULL, w->notes.at[i]);
    json_array_end(w->j);
}

/* The rules that decide whether this one can match, and by which flowbits. */
static void dependencies(struct json *j, const struct rule_upstream *up)
{
    if (up == NULL)
        return;
    json_object(j, "dependencies");
    json_object(j, "flowbits");
    json_object(j, "upstream");
    json_object(j, "state_modifying_rules");
    json_array(j, "sids");
    for (unsigned i = 0; i < up->count; i++)
        for (unsigned k = 0; k < up->bit[i]->count; k++)
            json_u64(j, NULL, up->bit[i]->sid[k]);
    json_array_end(j);
    json_array(j, "names");
    for (unsigned i = 0; i < up->count; i++)
        json_string(j, NULL, var_name(VAR_FLOWBIT, up->bit[i]->id));
    json_array_end(j);
    for (unsigned i = 0; i < 4; i++)
        json_object_end(j);
}

/* The order of the members is Suricata's. */
void analysis_rule_json(struct buf *out, const struct rule *r)
{
    tx_engines all = { 0 };
    struct json j;
    struct writer w = { .j = &j, .rule = r };

    w.pattern = analysis_pattern(r, &w.negated);
    tx_engines_of(r, w.pattern, &all);
    json_init(&j, out);
    json_object(&j, NULL);
    json_string(&j, "class", r->flags & RULE_FIREWALL ? "firewall" : "threat detection");
    json_string(&j, "raw", r->text);
    json_u64(&j, "id", r->sid);
    json_u64(&j, "gid", r->gid);
    json_u64(&j, "rev", r->rev);
    if (rule_info(r)->msg != NULL)
        json_string(&j, "msg", rule_info(r)->msg);
    json_string(&j, "app_proto", app_proto_name((enum app_proto_id)r->app_proto));
    requirements(&w);
    match_policy(&w);
    json_string(&j, "type", analysis_type_name(r));
    dependencies(&j, r->upstream);
    flags(&w, all.count > 0);
    packet_engines(&w, all.count > 0);
    json_array(&j, "frame_engines");
    buffer_engines(&w, BUFFER_FRAME);
    json_array_end(&j);
    engines(&w, &all);
    lists(&w, all.count > 0);
    pattern(&w);
    notes(&w);
    json_object_end(&j);
    buf_add_u8(out, '\n');
    ARRAY_FREE(&w.notes);
    ARRAY_FREE(&all);
}
