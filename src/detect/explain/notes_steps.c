/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/notes_steps.c - what a step of a program wanted and what was there, in words. */
#include "detect/explain/notes.h"
#include "match/expressions.h"

#include <string.h>

/* The bytes that stand where the content could begin. */
static struct slice there(const struct trace *t, uint32_t at, uint32_t len)
{
    if (at >= t->data.len)
        return (struct slice){ NULL, 0 };
    return (struct slice){ t->data.data + at, MIN(len, t->data.len - at) };
}

/* "bytes 4 to 9, counted from the match that ends at 4" */
static void add_place(const struct trace *t, unsigned step, struct buf *out)
{
    const struct rule_op *op = t->op[step];
    struct place p;

    if (!content_place(t, step, &p))
        buf_add_string(out, " where the buffer has no bytes");
    else
        buf_printf(out, " in bytes %lld to %lld", (long long)p.from,
                   (long long)MIN(p.to, (int64_t)t->data.len));
    if ((op->flags & (OP_DISTANCE | OP_WITHIN)) && step > 0)
        buf_printf(out, ", counted from the match that ends at %u", t->end[step - 1]);
    if (t->tries > 1 && step == t->reached)
        buf_printf(out, " (%u places of that match were tried)", t->tries);
}

static void describe_place(const struct trace *t, unsigned step, struct buf *out)
{
    buf_add_string(out, ", the rule wants it");
    add_place(t, step, out);
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

#define SHORT_BUFFER 40u

/* A short buffer is shown whole. */
static bool is_short(const struct trace *t)
{
    return t->list->buffer != NULL && t->start == 0 && t->complete && t->data.len <= SHORT_BUFFER;
}

/* What stands where the content should: all of a short buffer, or bytes like those of the
 * content. */
static void add_what_is_there(const struct condition *c, uint32_t at, uint32_t len,
                              struct buf *out)
{
    const struct trace *t = c->trace;

    buf_printf(out, "%s %s ", condition_buffer(c), is_short(t) ? "is" : "has");
    text_add_bytes(out, is_short(t) ? t->data : there(t, at, len), 60);
    if (!is_short(t))
        buf_printf(out, " at %llu", (unsigned long long)(t->start + at));
}

static void describe_not_there(const struct condition *c, struct buf *out)
{
    const struct trace *t = c->trace;
    const uint32_t placed = OP_DISTANCE | OP_WITHIN | OP_OFFSET | OP_DEPTH;
    struct slice wanted = written(t->op[c->step]);

    if (is_short(t)) {
        add_what_is_there(c, 0, 0, out);
        buf_add_string(out, ", the rule wants ");
        text_add_bytes(out, wanted, 60);
        if (t->op[c->step]->flags & placed)
            add_place(t, c->step, out);
        return;
    }
    buf_printf(out, "%s does not have ", condition_buffer(c));
    text_add_bytes(out, wanted, 60);
    if (t->op[c->step]->flags & placed)
        describe_place(t, c->step, out);
}

/* A body of which the settings keep only the beginning. */
static void describe_limit(const struct condition *c, const struct subject *s, struct buf *out)
{
    const struct trace *t = c->trace;
    const struct buffer *b = t->list->buffer;
    const struct app_buffer *app = b != NULL && b->kind == BUFFER_TX && s->tx != NULL
                                       ? b->by_proto[s->tx->flow->proto->id] : NULL;

    if (app != NULL && app->is_cut != NULL && app->is_cut(s->tx, s->direction, t->index))
        buf_printf(out, "; %s ends at %llu, the limit of the configuration: what may follow is "
                   "not inspected", b->name, (unsigned long long)(t->start + t->data.len));
}

/* What may help, when the content is not there. */
static void describe_elsewhere(const struct condition *c, const struct subject *s, struct buf *out)
{
    struct slice wanted = written(c->trace->op[c->step]);

    describe_limit(c, s, out);
    if (c->trace->list->buffer == NULL)
        describe_labels(c->trace->data, wanted, out);
    describe_other_buffer(s, c->trace, wanted, out);
}

/* The place to mark, in *at and *len. */
static void describe_content(const struct condition *c, const struct subject *s, uint32_t *at,
                        uint32_t *len, struct buf *out)
{
    const struct trace *t = c->trace;
    struct slice wanted = written(t->op[c->step]);

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
        add_what_is_there(c, *at, wanted.len, out);
        buf_add_string(out, ", the rule wants ");
        text_add_bytes(out, wanted, 60);
        break;
    case NEAR_NOT:
        *len = 0;
        describe_not_there(c, out);
        break;
    }
    describe_elsewhere(c, s, out);
}

static void describe_pcre(struct explain *e, const struct condition *c, const struct subject *s,
                          struct note *mark, struct buf *out)
{
    const struct trace *t = c->trace;
    const struct rule_op *op = t->op[c->step];
    const struct pcre_place place = {
        t, c->step, expression_of(op->pcre->compiled),
        op->flags & OP_RELATIVE ? MIN(t->start_at, t->data.len) : 0 };

    if (op->flags & OP_NEGATED) {
        buf_printf(out, "%s matches %s, which the rule excludes", condition_buffer(c), c->text);
        return;
    }
    buf_printf(out, "%s does not match %s", condition_buffer(c), c->text);
    describe_limit(c, s, out);
    describe_pcre_near(e, &place, s, mark, out);
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

static void tell_data(const struct rule_op *op, struct slice data, struct buf *out)
{
    size_t before = out->len;

    if (op->keyword == NULL || op->keyword->tell_data == NULL)
        return;
    buf_add_string(out, ": ");
    if (!op->keyword->tell_data(op->call.arg, data, out))
        out->len = before;
}

void describe_step(struct explain *e, const struct condition *c, const struct subject *s,
                   struct note *note, struct buf *out)
{
    const struct trace *t = c->trace;
    uint32_t at = 0, len = 0;

    switch ((enum op_kind)t->op[c->step]->kind) {
    case OP_CONTENT:  describe_content(c, s, &at, &len, out); break;
    case OP_PCRE:
        describe_pcre(e, c, s, note, out);
        at = (uint32_t)MAX(note->at, 0);
        len = note->len;
        break;
    case OP_ISDATAAT: describe_data_at(c, out); break;
    case OP_BSIZE:
    case OP_URILEN:
        buf_printf(out, "%s has %llu byte%s, the rule wants %s", condition_buffer(c),
                   (unsigned long long)(t->start + t->data.len),
                   t->start + t->data.len == 1 ? "" : "s", c->text);
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
        tell_data(t->op[c->step], t->data, out);
        break;
    default:
        describe_byte_value(c, &at, &len, out);
    }
    note->at = at;
    note->len = len;
    if (t->data.len > 0)
        note->excerpt = excerpt_make(t->data, t->start, MIN(at, t->data.len - 1), len);
}

void describe_no_buffer(const struct condition *c, const struct subject *s, struct buf *out)
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
