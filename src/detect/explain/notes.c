/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/notes.c - what a condition wanted and what was there, in words. */
#include "app/proto.h"
#include "base/memory/lib_memory.h"
#include "detect/explain/private.h"
#include "detect/rule/flowbits.h"
#include "flow/elephant.h"
#include "flow/flow.h"
#include "match/address.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

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

static void describe_not_inspected(struct buf *out, const struct subject *s)
{
    const struct packet *p = s->packet;

    if (p->flow != NULL && (p->flow->action & ACTION_PASS))
        buf_add_string(out, "a pass rule has let the rest of the flow go");
    else if (p->flow != NULL && (p->flow->action & ACTION_DROP))
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
        buf_add_string(out, "the stream has refused the payload: it is invalid, repeated, or "
                            "beyond the depth");
}

static void describe_flow(struct buf *out, const struct wanted *w, const struct subject *s)
{
    const struct packet *p = s->packet;
    uint32_t f = w->rule->flags;

    if (p->flow == NULL)
        buf_add_string(out, "the packet has no flow");
    else if ((f & RULE_FLOW_ESTABLISHED) && !(p->flags & PACKET_ESTABLISHED))
        buf_add_string(out, "the flow is not established at this packet");
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

static void describe_header(struct buf *out, const struct condition *c, const struct subject *s)
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
        buf_printf(out, "the %s address is %s, the rule wants %s",
                   c->part == PART_SRC ? "source" : "destination", text, c->text);
        break;
    case PART_SRC_PORT:
    case PART_DST_PORT:
        buf_printf(out, "the %s port is %u, the rule wants %s",
                   c->part == PART_SRC_PORT ? "source" : "destination",
                   c->part == PART_SRC_PORT ? ends.src_port : ends.dst_port, c->text);
        break;
    case PART_DIRECTION:
        buf_printf(out, "the direction is to the %s, the rule looks at what goes to the %s", to,
                   s->direction == TO_SERVER ? "client" : "server");
        if (strncmp(c->text, "flow:", 5) == 0)
            buf_printf(out, " (%s)", c->text);
        break;
    default:
        buf_printf(out, "the application protocol is %s, the rule wants %s",
                   s->packet->flow != NULL
                       ? app_proto_name((enum app_proto_id)s->packet->flow->app_proto) : "unknown",
                   c->text);
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

/* Rules that set the bits which this one asks for. */
static void describe_setters(struct explain *e, const struct rule_test *test, struct buf *out)
{
    struct flowbits_use want, use;
    unsigned count = 0;

    if (!flowbits_use_of(test, &want) || strcmp(want.command, "isset") != 0)
        return;
    for (size_t i = 0; i < e->set->rules.count && count < 4; i++) {
        const struct rule *r = e->set->rules.at[i];

        for (unsigned k = 0; k < r->post_count; k++)
            if (flowbits_use_of(&r->post[k], &use) && strcmp(use.command, "unset") != 0 &&
                use.id[0] == want.id[0])
                buf_printf(out, "%s%u", count++ == 0 ? "; it is set by rule " : ", ", r->sid);
    }
    if (count == 0)
        buf_add_string(out, "; no rule sets it");
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
    describe_setters(e, c->test, out);
}

/* --- steps ------------------------------------------------------------------------------------ */

/* The bytes that stand where the content could begin. */
static struct slice there(const struct trace *t, uint32_t at, uint32_t len)
{
    if (at >= t->data.len)
        return (struct slice){ NULL, 0 };
    return (struct slice){ t->data.data + at, MIN(len, t->data.len - at) };
}

static void describe_place(const struct trace *t, unsigned step, struct buf *out)
{
    const struct rule_op *op = t->op[step];
    struct place p;

    if (!content_place(t, step, &p))
        buf_add_string(out, ", the rule wants it where the buffer has no bytes");
    else
        buf_printf(out, ", the rule wants it in bytes %lld to %lld", (long long)p.from,
                   (long long)MIN(p.to, (int64_t)t->data.len));
    if ((op->flags & (OP_DISTANCE | OP_WITHIN)) && step > 0)
        buf_printf(out, ", counted from the match that ends at %u", t->end[step - 1]);
    if (t->tries > 1 && step == t->reached)
        buf_printf(out, " (%u places of that match were tried)", t->tries);
}

/* Another buffer of the transaction, or the payload, which has the content. */
static bool other_buffer(const struct subject *s, const struct trace *t, struct slice literal,
                         struct buf *out)
{
    const struct app_proto *proto = s->tx != NULL ? s->tx->flow->proto : NULL;
    const struct buffer *own = t->list->buffer;
    struct slice data = { s->packet->payload, s->packet->payload_len };
    const uint8_t *found;

    for (const struct app_buffer *const *b = proto != NULL ? proto->buffers : NULL;
         b != NULL && *b != NULL; b++) {
        for (unsigned d = 0; d < 2; d++) {
            if (!((*b)->directions & APP_DIRECTION_BIT(d)) ||
                s->tx->progress[d] < (*b)->progress[d] ||
                (own != NULL && own->transform_count == 0 && own->by_proto[proto->id] == *b &&
                 d == (unsigned)s->direction) ||
                !app_buffer_get(*b, s->tx, d, 0, &data) || data.len < literal.len)
                continue;
            found = memmem(data.data, data.len, literal.data, literal.len);
            if (found == NULL)
                continue;
            buf_printf(out, "; %s has it at %u", (*b)->name, (unsigned)(found - data.data));
            return true;
        }
    }
    data = (struct slice){ s->packet->payload, s->packet->payload_len };
    found = own != NULL && data.len >= literal.len
                ? memmem(data.data, data.len, literal.data, literal.len) : NULL;
    if (found != NULL)
        buf_printf(out, "; the payload has it at %u", (unsigned)(found - data.data));
    return found != NULL;
}

static struct slice written(const struct rule_op *op)
{
    return (struct slice){ op->content.written != NULL ? op->content.written : op->content.bytes,
                           op->content.len };
}

static void describe_content_there(const struct condition *c, uint32_t at, uint32_t len,
                              struct buf *out)
{
    const struct trace *t = c->trace;
    const struct rule_op *op = t->op[c->step];

    buf_printf(out, "%s has ", condition_buffer(c));
    text_add_bytes(out, there(t, at, len), 60);
    buf_printf(out, " at %llu", (unsigned long long)(t->start + at));
    if (op->flags & OP_NEGATED)
        buf_add_string(out, ", which the rule excludes");
    else if ((op->flags & OP_ENDSWITH) && at + len != t->data.len)
        buf_printf(out, ", the rule wants it at the end, which is at %u", t->data.len);
    else
        describe_place(t, c->step, out);
}

/* The place to mark, in *at and *len. */
static void describe_content(const struct condition *c, const struct subject *s, uint32_t *at,
                        uint32_t *len, struct buf *out)
{
    const struct trace *t = c->trace;
    const struct rule_op *op = t->op[c->step];
    struct slice wanted = written(op);

    switch (content_nearness(t, c->step, at, len)) {
    case NEAR_HERE:
    case NEAR_ELSEWHERE:
        describe_content_there(c, *at, *len, out);
        return;
    case NEAR_CASE:
        buf_printf(out, "%s has ", condition_buffer(c));
        text_add_bytes(out, there(t, *at, *len), 60);
        buf_printf(out, " at %llu, the rule wants ", (unsigned long long)(t->start + *at));
        text_add_bytes(out, wanted, 60);
        buf_add_string(out, " with this case");
        return;
    case NEAR_PART:
        buf_printf(out, "%s has ", condition_buffer(c));
        text_add_bytes(out, there(t, *at, wanted.len), 60);
        buf_printf(out, " at %llu, the rule wants ", (unsigned long long)(t->start + *at));
        text_add_bytes(out, wanted, 60);
        break;
    case NEAR_NOT:
        *len = 0;
        buf_printf(out, "%s does not have ", condition_buffer(c));
        text_add_bytes(out, wanted, 60);
        if (op->flags & (OP_DISTANCE | OP_WITHIN | OP_OFFSET | OP_DEPTH))
            describe_place(t, c->step, out);
        break;
    }
    (void)other_buffer(s, t, wanted, out);
}

#define PARTIAL_MOST 2048u

/* The longest beginning of a match that the bytes have: that of a cut subject which could go on. */
static bool pcre_furthest(const struct pcre_op *pcre, struct slice data, void *match_data,
                          uint32_t *at, uint32_t *len)
{
    *len = 0;
    for (uint32_t n = MIN(data.len, PARTIAL_MOST); n > *len; n--) {
        const PCRE2_SIZE *ov;

        if (pcre2_match(pcre->code, data.data, n, 0, PCRE2_PARTIAL_HARD, match_data,
                        pcre->context) != PCRE2_ERROR_PARTIAL)
            continue;
        ov = pcre2_get_ovector_pointer(match_data);
        if (ov[1] - ov[0] > *len) {
            *at = (uint32_t)ov[0];
            *len = (uint32_t)(ov[1] - ov[0]);
        }
    }
    return *len > 0;
}

static void describe_pcre(struct explain *e, const struct condition *c, uint32_t *at, uint32_t *len,
                     struct buf *out)
{
    const struct trace *t = c->trace;
    const struct rule_op *op = t->op[c->step];
    uint32_t base = op->flags & OP_RELATIVE ? MIN(t->start_at, t->data.len) : 0;
    struct slice data = { t->data.data + base, t->data.len - base };

    if (op->flags & OP_NEGATED) {
        buf_printf(out, "%s matches %s, which the rule excludes", condition_buffer(c), c->text);
        return;
    }
    buf_printf(out, "%s does not match %s", condition_buffer(c), c->text);
    if (pcre_furthest(op->pcre, data, e->scratch.match_data, at, len)) {
        *at += base;
        buf_add_string(out, "; it gets as far as ");
        text_add_bytes(out, there(t, *at, *len), 60);
        buf_printf(out, " at %u", *at);
    } else {
        buf_add_string(out, "; not even a beginning of it is there");
    }
}

/* byte_test and its kin read where the run came furthest. */
static void describe_byte_value(const struct condition *c, uint32_t *at, uint32_t *len,
                           struct buf *out)
{
    struct trace *t = c->trace;
    const struct rule_op *op = t->op[c->step];
    struct step step = { .flags = op->flags, .kind = op->kind, .byte = op->byte };
    struct program_run run = { .data = t->data.data, .len = t->data.len, .little = t->little,
                               .at = t->start_at, .vars = t->vars };
    uint64_t value;
    uint32_t end;

    buf_printf(out, "%s: ", c->text);
    if (!byte_extract_value(&step, &run, &value, &end)) {
        buf_printf(out, "%s has no such number there: it has %u bytes", condition_buffer(c),
                   t->data.len);
        return;
    }
    *len = op->flags & OP_NBYTES_VAR ? 1 : MAX(op->byte.nbytes, 1u);
    *at = end >= *len ? end - *len : 0;
    buf_printf(out, "the value at %u of %s is %llu", *at, condition_buffer(c),
               (unsigned long long)value);
    if (op->kind == OP_BYTE_TEST && (op->flags & OP_VALUE_VAR))
        buf_printf(out, ", the variable is %llu", (unsigned long long)t->vars[op->byte.value]);
}

static void describe_data_at(const struct condition *c, struct buf *out)
{
    const struct trace *t = c->trace;
    bool relative = t->op[c->step]->flags & OP_RELATIVE;

    buf_printf(out, "%s: %s has %u bytes", c->text, condition_buffer(c), t->data.len);
    if (relative)
        buf_printf(out, ", %u of them after the match that ends at %u",
                   t->data.len - MIN(t->start_at, t->data.len), t->start_at);
}

static void describe_step(struct explain *e, const struct condition *c, const struct subject *s,
                     struct note *note, struct buf *out)
{
    const struct trace *t = c->trace;
    uint32_t at = 0, len = 0;

    switch ((enum op_kind)t->op[c->step]->kind) {
    case OP_CONTENT:  describe_content(c, s, &at, &len, out); break;
    case OP_PCRE:     describe_pcre(e, c, &at, &len, out); break;
    case OP_ISDATAAT: describe_data_at(c, out); break;
    case OP_BSIZE:
    case OP_URILEN:
        buf_printf(out, "%s has %llu bytes, the rule wants %s", condition_buffer(c),
                   (unsigned long long)(t->start + t->data.len), c->text);
        break;
    case OP_BASE64:
        buf_printf(out, "%s: %s has nothing there that decodes", c->text, condition_buffer(c));
        break;
    case OP_ABSENT:
        buf_printf(out, "%s is there, the rule wants it absent", condition_buffer(c));
        break;
    case OP_CALL:
        buf_printf(out, "%s does not hold for %s, which is ", c->text, condition_buffer(c));
        text_add_bytes(out, t->data, 60);
        break;
    default:
        describe_byte_value(c, &at, &len, out);
    }
    note->at = at;
    note->len = len;
    if (t->data.len > 0)
        note->excerpt = excerpt_make(t->data, t->start, MIN(at, t->data.len - 1), len);
}

static void describe_no_buffer(const struct condition *c, const struct subject *s, struct buf *out)
{
    const struct buffer *b = c->trace->list->buffer;

    if (b == NULL)
        buf_add_string(out, s->has_payload ? "the payload has not been looked at"
                                           : "there is no payload that the rule looks at");
    else if (b->kind == BUFFER_TX && s->tx == NULL)
        buf_printf(out, "there is no transaction, so no %s", b->name);
    else
        buf_printf(out, "there is no %s %s", b->name,
                   s->direction == TO_SERVER ? "to the server" : "to the client");
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
        describe_not_inspected(&text, s);
    else if (c->part == PART_FLOW)
        describe_flow(&text, w, s);
    else if (c->part < PART_TEST)
        describe_header(&text, c, s);
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
