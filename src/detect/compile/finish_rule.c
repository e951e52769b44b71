/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/finish_rule.c - the last step of parsing a rule. It rejects rules that
 * could never match or contradict themselves, derives the direction, and lays out a
 * program for each buffer. Suricata rejects the same rules. Rule writers look its messages
 * up, so their texts are kept. */
#include "detect/compile/compile.h"
#include "detect/compile/packet_facts.h"
#include "detect/compile/tx_engines.h"
#include "detect/rule/program.h"
#include "detect/rule/ruleset_private.h"

#include <ctype.h>
#include <string.h>

/* Returns how many bytes a chain of relative contents needs. A negated content needs none itself,
 * but its range must fit into the limit. *offset: the largest offset of the chain. Contents with a
 * position from a variable are left out, because the position is unknown here. */
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

/* The largest length that a comparison allows; false: it sets no upper bound. INT_NE
 * counts as its value, as in Suricata. */
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

/* The errors that follow are about this operation. */
static void blame(struct rule_parser *p, const struct rule_op *op)
{
    if (op != NULL && op->serial < RULE_OPS_PLACED && p->op_at[op->serial].line != 0)
        p->at = p->op_at[op->serial];
}

/* They are about the buffer of this list: the option that names it, or its first test. */
static void blame_list(struct rule_parser *p, const struct rule_list *list)
{
    for (unsigned i = 0; i < p->named_count; i++)
        if (p->named[i].list == list && p->named[i].at.line != 0) {
            p->at = p->named[i].at;
            return;
        }
    blame(p, list->first);
}

/* They are about what made the rule one about single packets. */
static void blame_packet(struct rule_parser *p)
{
    if (p->packet_at.line != 0)
        p->at = p->packet_at;
}

/* The longest content of the list. */
static const struct rule_op *longest_content(const struct rule_list *list)
{
    const struct rule_op *longest = NULL;

    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        if (op->kind == OP_CONTENT && (longest == NULL || op->content.len > longest->content.len))
            longest = op;
    return longest;
}

/* Only the payload list: dsize does not restrict other buffers. */
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
        if (need <= (int64_t)most)
            continue;
        blame(p, longest_content(list));
        return rule_error(p, "signature can't match as required content length %lld exceeds "
                          "dsize value %llu", (long long)need, (unsigned long long)most);
    }
    return 0;
}

/* The same for the length of a sticky buffer. */
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
        blame(p, op);
        if (op->size.op == INT_RANGE)
            return rule_error(p, "signature can't match as required content length %lld exceeds "
                              "bsize range: %llu-%llu", (long long)need,
                              (unsigned long long)op->size.a, (unsigned long long)op->size.b);
        return rule_error(p, "signature can't match as required content length %lld exceeds "
                          "bsize value: %llu", (long long)need, (unsigned long long)most);
    }
    return 0;
}

/* The longest URI that the rule allows; UINT16_MAX: any length. The last urilen of the
 * list counts. */
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

/* The message names depth, because Suricata applies urilen as a depth to each content. */
static int check_urilen(struct rule_parser *p, const struct rule_list *list)
{
    unsigned most = longest_uri(list);

    for (const struct rule_op *op = list->first; op != NULL; op = op->next)
        if (op->kind == OP_CONTENT && most > 0 && most < op->content.len) {
            blame(p, op);
            return rule_error(p, "depth or urilen %u smaller than content len %u", most,
                              op->content.len);
        }
    return 0;
}

/* "absent" excludes other tests on the buffer, or_else requires them. fast_pattern would
 * find the rule only where the buffer exists. */
static int check_absent(struct rule_parser *p, const struct rule_list *list)
{
    const struct rule_op *first = list->first;

    if (first->kind != OP_ABSENT)
        return 0;
    blame(p, first);
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

/* Applies what the protocol declares about the buffer's bytes: some are in lower case,
 * some have no case, some have a check of their own. The first protocol with such a
 * declaration decides. A transform changes the bytes, so nothing is known after one. */
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
            p->at = p->rule->at;
            blame(p, op);
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

/* An empty list is a sticky buffer without a test. */
static int check_list(struct rule_parser *p, struct rule_list *list)
{
    p->at = p->rule->at;
    if (list->first == NULL && list == p->current)
        p->at = p->current_at;
    if (list->first == NULL)
        return rule_error(p, "no matches in sticky buffer %s",
                          list->buffer != NULL ? list->buffer->name : "payload");
    ops_mark_dependence(list);
    if (list->buffer == NULL)
        return check_dsize(p, list);
    if (check_absent(p, list) < 0 || check_bsize(p, list) < 0 || check_urilen(p, list) < 0)
        return -1;
    return check_patterns(p, list);
}

/* Some buffers exist in requests and responses, but Suricata inspects them in one
 * direction only. The rule must name it, whatever its other buffers imply. */
static int check_one_way(struct rule_parser *p)
{
    uint32_t both = RULE_TO_SERVER | RULE_TO_CLIENT, required = p->rule->flags & both;

    if (required != 0 && required != both)
        return 0;
    for (const struct rule_list *l = p->rule->list; l != NULL; l = l->next) {
        for (unsigned i = 0; l->buffer != NULL && i < APP_PROTO_COUNT; i++) {
            const struct app_buffer *b = l->buffer->by_proto[i];

            if (b != NULL && b->one_way && l->directions == APP_BOTH &&
                l->buffer->transform_count == 0) {
                blame(p, l->first);
                return rule_error(p, "rule %u: %s without a direction; say flow:to_server for "
                                  "requests or flow:to_client for responses", p->rule->sid,
                                  b->name);
            }
        }
    }
    return 0;
}

/* The directions in which the buffer exists in the protocols that the rule is about. */
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

/* The last operation in the rule's text on a buffer of this direction; 0: of either. */
static const struct rule_op *last_op_of(const struct rule *r, uint8_t directions)
{
    const struct rule_op *last = NULL;

    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        if (l->buffer != NULL && l->buffer->kind != BUFFER_PACKET && l->first != NULL &&
            directions_of(r, l) != APP_BOTH &&
            (directions == 0 || directions_of(r, l) == directions) &&
            (last == NULL || l->first->serial > last->serial))
            last = l->first;
    return last;
}

/* What a list is inspected on, as bits. */
enum { ON_PAYLOAD = 1, ON_FRAME = 2, ON_TX = 4, ON_PACKET = 8 };

static unsigned inspected_on(const struct rule_list *l)
{
    if (l->buffer == NULL)
        return ON_PAYLOAD;
    return l->buffer->kind == BUFFER_FRAME ? ON_FRAME : l->buffer->kind == BUFFER_TX ? ON_TX :
           l->buffer->kind == BUFFER_PACKET ? ON_PACKET : 0;
}

/* Blames the first buffer that both directions have. */
static void blame_either(struct rule_parser *p)
{
    for (const struct rule_list *l = p->rule->list; l != NULL; l = l->next)
        if ((inspected_on(l) & (ON_TX | ON_FRAME)) && directions_of(p->rule, l) == APP_BOTH) {
            blame_list(p, l);
            return;
        }
}

/* Derives the direction from buffers and tests, and rejects rules that need two. A rule
 * with "=>" is one about both and must have keywords for each. */
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
        if (!server || !client) {
            p->at = p->arrow_at;
            return rule_error(p, "rule %u should use both directions, but does not", r->sid);
        }
        if (either) {
            blame_either(p);
            return rule_error(p, "rule %u means to use both directions, cannot have keywords "
                              "ambiguous about directions", r->sid);
        }
        return 0;
    }
    if (check_one_way(p) < 0)
        return -1;
    if (server && client) {
        blame(p, last_op_of(r, 0));
        return rule_error(p, "rule %u mixes keywords with conflicting directions, a transactional "
                          "rule with => should be used", r->sid);
    }
    if ((server && required == RULE_TO_CLIENT) || (client && required == RULE_TO_SERVER)) {
        blame(p, last_op_of(r, server ? APP_TS : APP_TC));
        return rule_error(p, "rule %u mixes keywords with conflicting directions", r->sid);
    }
    if (server || client) {
        r->flags &= ~(uint32_t)(RULE_TO_SERVER | RULE_TO_CLIENT);
        r->flags |= server ? RULE_TO_SERVER : RULE_TO_CLIENT;
    }
    return 0;
}

/* Whether the rule may use a buffer of this protocol: of its own, of one in its group, or of one
 * around it, as DNS over HTTP/2 is in HTTP/2 and DCERPC in SMB. */
static bool buffer_fits(const struct rule *r, enum app_proto_id id)
{
    enum app_proto_id own = (enum app_proto_id)r->app_proto;
    const struct app_proto *proto = app_proto_by_id(id);

    if (id == own || (app_proto_is_group(own) && app_proto_matches(own, id)))
        return true;
    return proto != NULL && proto->subprotocol_of == 0 && app_proto_matches(id, own);
}

static bool is_list_of(const struct rule_list *l, const char *buffer)
{
    return l->buffer != NULL && strcmp(l->buffer->base->name, buffer) == 0;
}

/* Whether only protocols without files have the buffer. */
static bool never_has_files(const struct buffer *b)
{
    bool known = false;

    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        if (b->by_proto[id] != NULL && app_proto_has_files((enum app_proto_id)id))
            return false;
        known |= b->by_proto[id] != NULL;
    }
    return known;
}

/* A rule that asks for files must be about a protocol with files, or leave it open. */
static int check_files(struct rule_parser *p)
{
    const struct rule *r = p->rule;
    bool names = false, lacks = false;

    if (p->wants_files != NULL && r->app_proto != APP_PROTO_UNKNOWN &&
        !app_proto_has_files((enum app_proto_id)r->app_proto)) {
        p->at = p->wants_files_at;
        return rule_error(p, "%s: protocol %s has no files", p->wants_files->name,
                          app_proto_name((enum app_proto_id)r->app_proto));
    }
    for (const struct rule_list *l = r->list; l != NULL && r->app_proto == 0; l = l->next) {
        names |= is_list_of(l, "file.name");
        if (lacks || l->buffer == NULL || l->buffer->kind != BUFFER_TX ||
            !never_has_files(l->buffer))
            continue;
        lacks = true;
        blame_list(p, l);
    }
    if (lacks && (names || p->wants_files != NULL))
        return rule_error(p, "no protocol with this keyword supports file matching");
    return 0;
}

/* FTP may name files, which its data connections transfer, but not by their names. */
static bool may_name_files(const struct rule_list *l, const struct app_proto *proto)
{
    return proto != NULL && proto->files_by != 0 && strncmp(l->buffer->name, "file", 4) == 0 &&
           !is_list_of(l, "file.name");
}

static bool never(const struct match_input *in UNUSED, const void *arg UNUSED)
{
    return false;
}

/* Suricata loads a rule with file.magic about any protocol. */
static void never_matches(struct rule_parser *p, const struct rule_list *l)
{
    struct rule_test test = { .keyword = keyword_find(text_of(l->buffer->base->name)),
                              .match = never };

    rule_warning(p, "file.magic: protocol %s has no files, the rule will never match",
                 app_proto_name((enum app_proto_id)p->rule->app_proto));
    rule_add_test(p, POINT_PACKET, &test);
}

/* Checks buffers that the rule named before its protocol was known. */
static int check_proto(struct rule_parser *p)
{
    const struct rule *r = p->rule;
    const struct app_proto *proto = app_proto_by_id((enum app_proto_id)r->app_proto);

    if (check_files(p) < 0)
        return -1;
    for (const struct rule_list *l = r->list; l != NULL && r->app_proto != 0; l = l->next) {
        bool has = l->buffer == NULL || l->buffer->kind != BUFFER_TX;

        blame_list(p, l);
        if (!has && proto != NULL && proto->unnamed_files && is_list_of(l, "file.name"))
            return rule_error(p, "%s: files of %s have no names", l->buffer->base->name,
                              proto->name);
        for (unsigned id = 0; id < APP_PROTO_COUNT && !has; id++)
            has = l->buffer->by_proto[id] != NULL && buffer_fits(r, (enum app_proto_id)id);
        if (!has && is_list_of(l, "file.magic"))
            never_matches(p, l);
        else if (!has && !may_name_files(l, proto))
            return rule_error(p, "the %s keyword cannot be used with protocol %s",
                              l->buffer->base->name,
                              app_proto_name((enum app_proto_id)r->app_proto));
    }
    p->at = r->at;
    return 0;
}

/* Fields of headers (ttl, flags, dsize) have no meaning for streamed data. */
static bool tests_packets_only(const struct rule *r)
{
    for (unsigned i = 0; i < r->test_count; i++)
        if (r->test[i].keyword->needs_packet)
            return true;
    return false;
}

/* Two kinds of buffers in one rule: the one that comes last in its text is blamed. */
static int mixture_error(struct rule_parser *p, unsigned kinds, const char *text)
{
    const struct rule_list *last = NULL;

    for (const struct rule_list *l = p->rule->list; l != NULL; l = l->next)
        if ((inspected_on(l) & kinds) && l->first != NULL &&
            (last == NULL || l->first->serial > last->first->serial))
            last = l;
    if (last != NULL)
        blame_list(p, last);
    return rule_error(p, "%s", text);
}

/* Streams, transactions, frames and packets are inspected at different times. A rule that
 * mixes them would have to remember its parts; only payload with transactions does that. */
static int check_mixture(struct rule_parser *p)
{
    unsigned on = p->rule->tx_test_count > 0 ? ON_TX : 0;
    const struct rule *r = p->rule;

    for (const struct rule_list *l = r->list; l != NULL; l = l->next)
        on |= inspected_on(l);
    if ((r->flags & (RULE_PROTO_TCP_STREAM | RULE_ONLY_STREAM)) &&
        ((r->flags & RULE_NEEDS_PACKET) || tests_packets_only(r))) {
        blame_packet(p);
        return rule_error(p, "can't mix packet keywords with tcp-stream or flow:only_stream.  "
                          "Invalidating signature.");
    }
    if ((r->flags & RULE_NEEDS_PACKET) && (on & (ON_TX | ON_FRAME))) {
        blame_packet(p);
        return rule_error(p, "Signature combines packet specific matches (like dsize, flags, ttl) "
                          "with stream / state matching by matching on app layer proto.");
    }
    if (!(on & ON_FRAME))
        return 0;
    if (on & ON_PAYLOAD)
        return mixture_error(p, ON_FRAME | ON_PAYLOAD,
                             "can't mix pure content and frame inspection");
    if (on & ON_TX)
        return mixture_error(p, ON_FRAME | ON_TX,
                             "can't mix app-layer buffer and frame inspection");
    if (on & ON_PACKET)
        return mixture_error(p, ON_FRAME | ON_PACKET,
                             "can't mix pkt buffer and frame inspection");
    return 0;
}

/* base64_data is not a buffer that exists by itself: its program is attached to the one
 * that decodes, and its list leaves the rule. */
static void build_programs(struct rule_parser *p)
{
    const struct rule_list *decoded = NULL;
    struct rule_list **at = &p->rule->list;

    while (*at != NULL) {
        if ((*at)->buffer != NULL && (*at)->buffer->kind == BUFFER_BASE64) {
            (*at)->program = program_of_list(p->arena, *at, NULL);
            decoded = *at;
            *at = (*at)->next;
        } else {
            at = &(*at)->next;
        }
    }
    for (struct rule_list *l = p->rule->list; l != NULL; l = l->next) {
        l->program = program_of_list(p->arena, l, decoded != NULL ? decoded->program : NULL);
        l->decoded = decoded;
    }
}

/* Removes an empty list of a transform that follows the tests it could have applied to.
 * Suricata loads such rules. */
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

/* Called once per rule, after its last option. -1: p->err names the reason, and the caller
 * drops the rule. */
int rule_finish(struct rule_parser *p)
{
    p->at = p->protocol_at;
    if (p->ruleset->suricata_9 && (p->rule->flags & RULE_PROTO_PKTHDR) &&
        !rule_is_event_only(p->rule))
        return rule_error(p, "pkthdr: only rules about decoder events have it in Suricata 9");
    drop_unused_transforms(p->rule);
    for (struct rule_list *l = p->rule->list; l != NULL; l = l->next)
        if (check_list(p, l) < 0)
            return -1;
    p->at = p->rule->at;
    if (check_proto(p) < 0 || packet_facts_split(p) < 0 || check_mixture(p) < 0 ||
        derive_direction(p) < 0)
        return -1;
    build_programs(p);
    p->at = p->protocol_at;
    if (!tx_engines_fit_hook(p->rule))
        return rule_error(p, "rule %u: what it looks at is not known at its hook, or before",
                          p->rule->sid);
    p->at = p->rule->at;
    return packet_facts_finish(p);
}
