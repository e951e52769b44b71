/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/life_proto.c - how the protocol of a flow was recognised: the patterns and probes
 * that its first bytes could have fitted, and the decision. */
#include "app/candidates.h"
#include "detect/explain/life_private.h"
#include "detect/explain/notes.h"
#include "flow/flow.h"

/* --- the first bytes -------------------------------------------------------------------------- */

static void data_add(struct life_dir *ld, const struct stream_chunk *c)
{
    uint64_t skip, have = ld->data_at + ld->data.len;

    if (ld->data.len == 0)
        ld->data_at = have = c->offset;
    if (c->kind != CHUNK_DATA || c->offset > have || c->offset + c->len <= have ||
        ld->data.len >= LIFE_DETECT_MAX)
        return;
    skip = have - c->offset;
    (void)buf_add(&ld->data, c->data + skip, MIN(c->len - skip, LIFE_DETECT_MAX - ld->data.len));
}

/* True: there are bytes of this direction that were not there before. */
static bool data_take(struct life *l, enum direction d)
{
    struct life_dir *ld = &l->at_flow->dir[d];
    const struct packet *p = l->in->packet;
    size_t before = ld->data.len;

    if (p->ip_proto != 6) {
        if (packet_direction(p) != d || (p->flags & PACKET_PSEUDO))
            return false;
        buf_clear(&ld->data);
        (void)buf_add(&ld->data, p->payload, MIN(p->payload_len, LIFE_DETECT_MAX));
        return true;
    }
    for (unsigned i = 0; i < l->in->chunk_count; i++)
        if (l->in->chunk[i].direction == d)
            data_add(ld, &l->in->chunk[i]);
    return ld->data.len > before;
}

/* --- candidates ------------------------------------------------------------------------------- */

static void describe_pattern(struct buf *out, const struct app_pattern *pattern)
{
    size_t len = pattern->len != 0 ? pattern->len : strlen(pattern->bytes);

    BUF_LITERAL(out, "the pattern ");
    text_add_bytes(out, (struct slice){ (const uint8_t *)pattern->bytes, (uint32_t)len }, 40);
    if (pattern->confirm != NULL)
        BUF_LITERAL(out, ", which more bytes have to confirm");
}

static void describe(struct buf *out, const struct life *l, const struct app_candidate *c)
{
    buf_clear(out);
    if (c->pattern != NULL)
        describe_pattern(out, c->pattern);
    else if (!c->by_name)
        buf_printf(out, "the probe for %s port %u", c->by_source ? "source" : "destination",
                   c->port);
    else
        buf_add_string(out, l->in->flow->app_proto_expected != APP_PROTO_UNKNOWN
                                ? "its probe, as it was announced"
                                : "its probe, as the other side speaks it");
    buf_add_u8(out, '\0');
}

/* The direction that is asked about. */
struct asked {
    struct life *l;
    enum direction direction;
};

/* Says it once, and again when the answer changes. */
static void candidate_log(void *arg, const struct app_candidate *c)
{
    static const char *const texts[] = {
        [APP_PROBE_NO] = "no", [APP_PROBE_YES] = "yes", [APP_PROBE_MORE] = "more bytes are needed",
        [APP_PROBE_YES_REVERSED] = "yes, but from the other side" };
    static const char *const words[] = {
        [APP_PROBE_NO] = "no", [APP_PROBE_YES] = "yes", [APP_PROBE_MORE] = "more",
        [APP_PROBE_YES_REVERSED] = "reversed" };
    const struct asked *a = arg;
    struct life_dir *ld = &a->l->at_flow->dir[a->direction];
    struct life_record *r;

    if (c->number >= LIFE_CANDIDATES_MAX || ld->answer[c->number] == 1 + c->answer)
        return;
    ld->answer[c->number] = (uint8_t)(1 + c->answer);
    describe(&a->l->text, a->l, c);
    r = life_log(a->l, LIFE_CANDIDATE, a->direction, "is it %s? by %s: %s", c->proto->name,
                 (char *)a->l->text.data, texts[c->answer]);
    life_word(a->l, r, "protocol", c->proto->name);
    life_word(a->l, r, "by", (char *)a->l->text.data);
    life_word(a->l, r, "answer", words[c->answer]);
}

static void ask_all(struct life *l, enum direction d)
{
    const struct packet *p = l->in->packet;
    struct packet_ends ends = packet_ends(p, TO_SERVER);
    struct life_dir *ld = &l->at_flow->dir[d];
    struct asked a = { l, d };

    ld->patterns = app_candidates(l->app, &(struct app_candidates_input){
        .data = buf_slice(&ld->data), .is_udp = p->ip_proto != 6, .direction = d,
        .flow = l->in->flow, .client_port = ends.src_port, .server_port = ends.dst_port,
        .other = l->at_flow->dir[OTHER_DIRECTION(d)].app_proto,
        .expected = l->in->flow->app_proto_expected }, candidate_log, &a);
}

/* --- the decision ----------------------------------------------------------------------------- */

static void log_direction(struct life *l, enum direction d, uint16_t was)
{
    const struct life_dir *ld = &l->at_flow->dir[d];
    const char *name = app_proto_name((enum app_proto_id)ld->app_proto);
    struct life_record *r;

    if (ld->app_proto == APP_PROTO_UNKNOWN)
        r = life_log(l, LIFE_PROTOCOL, d, "the %s may speak another protocol from here on, after "
                     "%s", life_side(d), app_proto_name((enum app_proto_id)was));
    else if (ld->app_proto == APP_PROTO_FAILED)
        r = life_log(l, LIFE_PROTOCOL, d, "not recognised from the %s: of %u patterns and the "
                     "probes of its ports none fits its first %zu bytes", life_side(d),
                     ld->patterns, ld->data.len);
    else
        r = life_log(l, LIFE_PROTOCOL, d, "the %s speaks %s, known from its first %zu bytes",
                     life_side(d), name, ld->data.len);
    life_word(l, r, "protocol", name);
    life_word(l, r, "of", life_side(d));
    life_number(r, "bytes", ld->data.len);
}

static void tell_direction(struct life *l, enum direction d)
{
    struct life_dir *ld = &l->at_flow->dir[d];
    uint16_t now = l->in->flow->app_proto_dir[d], was = ld->app_proto;

    if (was == APP_PROTO_UNKNOWN && data_take(l, d))
        ask_all(l, d);
    if (now == was)
        return;
    ld->app_proto = now;
    log_direction(l, d, was);
    if (now == APP_PROTO_UNKNOWN)
        memset(ld->answer, 0, sizeof(ld->answer));
    buf_clear(&ld->data);
}

/* They stand for this packet alone. */
static void tell_events(struct life *l)
{
    const struct app_flow *af = l->in->flow->app;

    for (unsigned i = 1; af != NULL && i <= APP_LAYER_EVENT_MAX; i++) {
        const char *name = app_layer_event_name(i);

        if (name != NULL && app_flow_has_event(af, i))
            life_word(l, life_log(l, LIFE_EVENT, l->in->direction, "app-layer-event: %s", name),
                      "event", name);
    }
}

void life_tell_protocol(struct life *l)
{
    const struct flow *f = l->in->flow;
    const struct packet *p = l->in->packet;
    struct life_flow *lf = l->at_flow;
    struct life_record *r;

    if (f == NULL || (p->ip_proto != 6 && p->ip_proto != 17) ||
        l->in->reason == INSPECT_DETECTLOG_FLUSH)
        return;
    tell_direction(l, TO_SERVER);
    tell_direction(l, TO_CLIENT);
    if (f->app_proto != lf->app_proto) {
        const char *name = app_proto_name((enum app_proto_id)f->app_proto);

        lf->app_proto = f->app_proto;
        r = life_log(l, LIFE_PROTOCOL, l->in->direction,
                     f->app_proto == APP_PROTO_FAILED ? "the flow has no protocol that is known"
                                                      : "the flow is %s", name);
        life_word(l, r, "protocol", name);
        life_word(l, r, "of", "flow");
    }
    tell_events(l);
}
