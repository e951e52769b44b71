/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/notes.c - what a condition wanted and what was there, in words. */
#include "app/proto.h"
#include "base/memory/lib_memory.h"
#include "detect/explain/notes.h"
#include "flow/elephant.h"
#include "flow/flow.h"
#include "match/address.h"
#include "stream/tcp_session.h"

#include <stdio.h>
#include <string.h>

/* --- texts ------------------------------------------------------------------------------------ */

/* NULL: empty, or no memory. */
char *text_take(struct buf *b)
{
    char *text = NULL;

    if (b->len > 0 && !b->failed && buf_add_u8(b, 0))
        text = lib_strdup((const char *)b->data);
    buf_clear(b);
    return text;
}

/* As a rule writes it: "abc|0d 0a|". */
void text_add_bytes(struct buf *out, struct slice bytes, unsigned most)
{
    bool hex = false;

    buf_add_u8(out, '"');
    for (uint32_t i = 0; i < MIN(bytes.len, most); i++) {
        uint8_t c = bytes.data[i];
        bool plain = c >= 0x20 && c < 0x7f && strchr("|\";:", c) == NULL;

        if (plain == hex)
            buf_add_u8(out, '|');
        else if (hex)
            buf_add_u8(out, ' ');
        hex = !plain;
        if (plain)
            buf_add_u8(out, c);
        else
            buf_printf(out, "%02x", c);
    }
    if (hex)
        buf_add_u8(out, '|');
    buf_add_string(out, bytes.len > most ? "..." : "");
    buf_add_u8(out, '"');
}

#define ROW 16u

static void excerpt_row(struct buf *out, struct slice data, uint64_t start, uint32_t row)
{
    buf_printf(out, "%06llx ", (unsigned long long)(start + row));
    for (uint32_t i = row; i < row + ROW; i++)
        if (i < data.len)
            buf_printf(out, " %02x", data.data[i]);
        else
            buf_add_string(out, "   ");
    buf_add_string(out, "  ");
    for (uint32_t i = row; i < MIN(row + ROW, data.len); i++)
        buf_add_u8(out, data.data[i] >= 0x20 && data.data[i] < 0x7f ? data.data[i] : '.');
    buf_add_u8(out, '\n');
}

static void excerpt_marks(struct buf *out, uint32_t row, uint32_t at, uint32_t end)
{
    buf_add_string(out, "       ");
    for (uint32_t i = row; i < row + ROW; i++)
        buf_add_string(out, i >= at && i < end ? " ^^" : "   ");
    buf_add_string(out, "  ");
    for (uint32_t i = row; i < MIN(row + ROW, end); i++)
        buf_add_u8(out, i >= at ? '^' : ' ');
    buf_add_u8(out, '\n');
}

/* Rows of 16 bytes, at most 4: the one before the place, its own, and what follows. */
char *excerpt_make(struct slice data, uint64_t start, uint32_t at, uint32_t len)
{
    uint32_t row = at / ROW * ROW, end = at + len;
    struct buf out = { 0 };
    char *text;

    row = row >= ROW ? row - ROW : 0;
    for (unsigned rows = 0; rows < 4 && row < data.len; rows++, row += ROW) {
        excerpt_row(&out, data, start, row);
        if (at < row + ROW && end > row)
            excerpt_marks(&out, row, at, end);
    }
    text = text_take(&out);
    buf_fini(&out);
    return text;
}

/* --- the subject ------------------------------------------------------------------------------ */

static void add_flow(struct buf *out, const struct packet *p, enum direction d)
{
    struct packet_ends ends = packet_ends(p, d);
    char src[IP_TEXT_SIZE], dst[IP_TEXT_SIZE];

    if (p->src.version == 0) {
        buf_add_string(out, "no IP");
        return;
    }
    ip_format(ends.src, src);
    ip_format(ends.dst, dst);
    if (p->ip_proto == 6 || p->ip_proto == 17 || p->ip_proto == 132)
        buf_printf(out, "%s:%u -> %s:%u", src, ends.src_port, dst, ends.dst_port);
    else
        buf_printf(out, "%s -> %s", src, dst);
}

/* The first two buffers of the client that the protocol declares: they tell one transaction from
 * the next. */
void text_add_tx(struct buf *out, struct app_tx *tx)
{
    const struct app_proto *proto = tx->flow->proto;
    unsigned shown = 0;

    buf_printf(out, "transaction %llu of %s", (unsigned long long)tx->id, proto->name);
    for (const struct app_buffer *const *b = proto->buffers; b != NULL && *b != NULL && shown < 2;
         b++) {
        struct slice data;

        if ((*b)->grows || !((*b)->directions & APP_TS) ||
            tx->progress[TO_SERVER] < (*b)->progress[TO_SERVER] ||
            !app_buffer_get(*b, tx, TO_SERVER, 0, &data) || data.len == 0 || data.len > 200)
            continue;
        buf_printf(out, "%s %s ", shown++ > 0 ? "," : " with", (*b)->name);
        text_add_bytes(out, data, 60);
    }
}

char *title_make(const struct subject *s)
{
    struct buf out = { 0 };
    char *text;

    add_flow(&out, s->packet, s->direction);
    if (s->tx != NULL) {
        buf_add_string(&out, ", ");
        text_add_tx(&out, s->tx);
    }
    if (s->packet->number != 0)
        buf_printf(&out, ", packet %llu", (unsigned long long)s->packet->number);
    text = text_take(&out);
    buf_fini(&out);
    return text;
}

/* --- header, flow, tests ---------------------------------------------------------------------- */

static void describe_not_inspected(const struct explain *e, struct buf *out,
                                   const struct subject *s)
{
    const struct packet *p = s->packet;

    if (p->flow != NULL && (p->flow->action & ACTION_PASS)) {
        describe_passed_by(e, p, out);
        buf_add_string(out, " has let the rest of the flow go");
    } else if (p->flow != NULL && (p->flow->action & ACTION_DROP))
        buf_add_string(out, "an earlier packet has dropped the rest of the flow");
    else if (p->flow != NULL && (flow_requests(p->flow) & FLOW_REQ_BYPASS))
        buf_add_string(out, "the flow is bypassed");
    else if (p->flags & PACKET_NO_INSPECT)
        buf_add_string(out, "the packet is not inspected: its flow has been bypassed, passed or "
                            "dropped");
    else if ((p->flags & PACKET_NO_PAYLOAD_INSPECT) && p->flow != NULL &&
             flow_elephant(p->flow) != NULL)
        buf_add_string(out, "the payload is not inspected: flow.elephant samples its flow");
    else if (p->flags & PACKET_NO_PAYLOAD_INSPECT)
        buf_add_string(out, "the payload is not inspected: it is encrypted, or beyond a limit");
    else
        buf_printf(out, "the stream has refused the payload: %s",
                   stream_refusal(p, e->midstream));
}

/* Why a flow of TCP is not established, where more is known than that. */
static const char *why_not_established(const struct explain *e, const struct packet *p)
{
    if (p->ip_proto != 6)
        return "";
    if (p->flags & PACKET_BAD_CHECKSUM)
        return ": its checksum is wrong, so the receiver ignores it";
    if (p->flow->tcp == NULL && !(p->tcp.flags & TCP_SYN))
        return e->midstream ? ": it belongs to no session"
                            : ": its handshake was not seen, and stream.midstream is off";
    if (p->flow->tcp != NULL && (p->flow->tcp->flags & SSN_ASYNC))
        return ": only one direction is seen";
    return "";
}

static void describe_flow(const struct explain *e, struct buf *out, const struct wanted *w,
                          const struct subject *s)
{
    const struct packet *p = s->packet;
    uint32_t f = w->rule->flags;

    if (p->flow == NULL)
        buf_add_string(out, "the packet has no flow");
    else if ((f & RULE_FLOW_ESTABLISHED) && !(p->flags & PACKET_ESTABLISHED))
        buf_printf(out, "the flow is not established at this packet%s", why_not_established(e, p));
    else if ((f & RULE_FLOW_NOT_ESTABLISHED) && (p->flags & PACKET_ESTABLISHED))
        buf_add_string(out, "the flow is established");
    else if ((f & RULE_ONLY_FRAG) && !(p->flags & PACKET_REASSEMBLED))
        buf_add_string(out, "the packet does not come from fragments");
    else if ((f & RULE_NO_FRAG) && (p->flags & PACKET_REASSEMBLED))
        buf_add_string(out, "the packet comes from fragments");
    else if (p->flags & PACKET_PSEUDO)
        buf_add_string(out, "the rule is about single packets, and this is the end of a flow");
    else
        buf_add_string(out, "the packet is not the first of its flow");
}

static const char *proto_text(const struct packet *p, char out[16])
{
    const char *name = ip_proto_name(p->ip_proto);

    if (p->src.version == 0)
        return "not IP";
    if (name != NULL)
        return name;
    snprintf(out, 16, "%u", p->ip_proto);
    return out;
}

/* What the rule wants of an address or a port, its variables with their values. */
static void add_wanted(struct buf *out, const struct condition *c)
{
    buf_printf(out, ", the rule wants %s", c->text);
    if (c->value != NULL)
        buf_printf(out, ", which is %s", c->value);
}

static void describe_port(struct buf *out, const struct condition *c, const struct subject *s)
{
    struct packet_ends ends = packet_ends(s->packet, s->direction);
    bool is_src = c->part == PART_SRC_PORT;
    uint8_t proto = s->packet->ip_proto;
    char text[16];

    if (proto == 6 || proto == 17 || proto == 132)
        buf_printf(out, "the %s port is %u", is_src ? "source" : "destination",
                   is_src ? ends.src_port : ends.dst_port);
    else
        buf_printf(out, "%s has no ports", proto_text(s->packet, text));
    add_wanted(out, c);
}

static void describe_app(const struct explain *e, struct buf *out, const struct condition *c,
                         const struct subject *s)
{
    const struct flow *f = s->packet->flow;

    if (f == NULL)
        buf_add_string(out, "the packet has no flow, so no application protocol");
    else if (f->app_proto == APP_PROTO_UNKNOWN)
        buf_add_string(out, "the application protocol is not known at this packet");
    else if (f->app_proto == APP_PROTO_FAILED)
        buf_add_string(out, "the application protocol was not recognised");
    else
        buf_printf(out, "the application protocol is %s",
                   app_proto_name((enum app_proto_id)f->app_proto));
    buf_printf(out, ", the rule wants %s", c->text);
    if (f != NULL && f->app_proto == APP_PROTO_UNKNOWN && stream_has_refused(s->packet))
        buf_printf(out, "; the stream has refused the payload: %s",
                   stream_refusal(s->packet, e->midstream));
}

static void describe_header(const struct explain *e, struct buf *out, const struct condition *c,
                            const struct subject *s)
{
    struct packet_ends ends = packet_ends(s->packet, s->direction);
    const char *to = s->direction == TO_SERVER ? "server" : "client";
    char text[IP_TEXT_SIZE];

    switch ((enum part)c->part) {
    case PART_PROTO:
        buf_printf(out, "the protocol is %s over IPv%u, the rule wants %s",
                   proto_text(s->packet, text), s->packet->src.version, c->text);
        break;
    case PART_SRC:
    case PART_DST:
        ip_format(c->part == PART_SRC ? ends.src : ends.dst, text);
        buf_printf(out, "the %s address is %s", c->part == PART_SRC ? "source" : "destination",
                   text);
        add_wanted(out, c);
        break;
    case PART_SRC_PORT:
    case PART_DST_PORT:
        describe_port(out, c, s);
        break;
    case PART_DIRECTION:
        buf_printf(out, "the direction is to the %s, the rule looks at what goes to the %s", to,
                   s->direction == TO_SERVER ? "client" : "server");
        if (strncmp(c->text, "flow:", 5) == 0)
            buf_printf(out, " (%s)", c->text);
        break;
    default:
        describe_app(e, out, c, s);
    }
}

/* Integers that protocols declare. */
static bool integer_value(const struct rule_test *test, const struct subject *s, struct buf *out)
{
    const struct app_integer *const *i = s->tx != NULL ? s->tx->flow->proto->integers : NULL;
    unsigned count = 0;
    uint64_t value;

    for (; i != NULL && *i != NULL; i++) {
        if (strcmp((*i)->name, test->keyword->name) != 0)
            continue;
        if (s->tx->progress[s->direction] < (*i)->progress[s->direction])
            break;
        while (count < 4 && (count == 0 || (*i)->multi || (*i)->any_of_many) &&
               app_integer_get(*i, s->tx, s->direction, count, &value)) {
            buf_printf(out, "%s%llu", count > 0 ? ", " : "the value is ",
                       (unsigned long long)value);
            count++;
        }
        if (count == 0)
            buf_printf(out, "there is no %s", (*i)->name);
        return true;
    }
    return false;
}

static void describe_test(struct explain *e, const struct condition *c, const struct wanted *w,
                     const struct subject *s, struct buf *out)
{
    struct match_input in;
    size_t before;

    match_input_init(&in, e->shadow, s->packet, s->direction, w->rule);
    in.tx = s->tx;
    in.tx_done = subject_is_over(s);
    buf_printf(out, "%s does not hold: ", c->text);
    before = out->len;
    if (c->part == PART_TX_TEST && s->tx == NULL)
        buf_add_string(out, "there is no transaction");
    else if (!integer_value(c->test, s, out) && !test_value(c->test, &in, out) &&
             out->len == before)
        out->len -= 2;
}

/* --- notes ------------------------------------------------------------------------------------ */

static void passed_at(const struct condition *c, struct note *out)
{
    const struct trace *t = c->trace;
    const struct rule_op *op = t->op[c->step];

    if (op->kind != OP_CONTENT || (op->flags & OP_NEGATED) || out->earlier || !t->is_there)
        return;
    out->len = op->content.len;
    out->at = (int64_t)t->start + t->end[c->step] - op->content.len;
}

void note_make(struct explain *e, struct wanted *w, unsigned condition, const struct subject *s,
               struct note *out)
{
    const struct condition *c = &w->condition[condition];
    const struct finding *f = &w->finding[condition];
    struct buf text = { 0 };

    *out = (struct note){ .outcome = f->outcome, .earlier = f->earlier, .at = -1 };
    if (f->outcome == OUTCOME_PASS && c->part == PART_STEP)
        passed_at(c, out);
    if (f->outcome != OUTCOME_FAIL)
        return;
    if (c->part == PART_INSPECTED)
        describe_not_inspected(e, &text, s);
    else if (c->part == PART_FLOW)
        describe_flow(e, &text, w, s);
    else if (c->part < PART_TEST)
        describe_header(e, &text, c, s);
    else if (c->part != PART_STEP)
        describe_test(e, c, w, s, &text);
    else if (!c->trace->is_there)
        describe_no_buffer(c, s, &text);
    else
        describe_step(e, c, s, out, &text);
    out->text = text_take(&text);
    buf_fini(&text);
}

/* The sentence of the verdict names the condition, too, where the note does not. */
char *reason_make(const struct wanted *w, unsigned condition, const struct note *note)
{
    const struct condition *c = &w->condition[condition];
    const char *because = note->text != NULL ? note->text : "it is not known why";
    struct buf out = { 0 };
    char *text;

    buf_add_string(&out, because);
    if (c->text[0] != '\0' && strstr(because, c->text) == NULL &&
        (c->part == PART_STEP || c->part == PART_FLOW))
        buf_printf(&out, " (%s)", c->text);
    text = text_take(&out);
    buf_fini(&out);
    return text;
}
