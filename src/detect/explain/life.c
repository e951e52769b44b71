/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/life.c - follows the packets of the wanted flow and keeps what they did. */
#include "detect/explain/life_private.h"

#include "base/memory/lib_memory.h"
#include "base/memory/traffic_memory.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- records ---------------------------------------------------------------------------------- */

const char *life_side(enum direction d)
{
    return d == TO_SERVER ? "client" : "server";
}

static char *keep(struct life *l, const char *text)
{
    char *copy = strdup(text);

    l->out_of_memory |= copy == NULL;
    return copy;
}

static void record_free(struct life_record *r)
{
    for (unsigned i = 0; i < r->member_count; i++)
        free(r->member[i].text);
    free(r->text);
}

struct life_record *life_log(struct life *l, enum life_kind kind, enum direction d,
                             const char *fmt, ...)
{
    struct life_flow *f = l->at_flow;
    const struct packet *p = l->in->packet;
    char text[1000];
    va_list args;

    if (l->records >= LIFE_RECORDS_MAX || !ARRAY_HAS_SPACE(&f->record, 1)) {
        l->left_out++;
        return NULL;
    }
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    ARRAY_PUSH(&f->record, (struct life_record){ .packet = p->number, .time_us = p->time_us,
                                                 .kind = (uint8_t)kind, .direction = (uint8_t)d,
                                                 .text = keep(l, text) });
    l->records++;
    return &f->record.at[f->record.count - 1];
}

void life_number(struct life_record *r, const char *key, uint64_t number)
{
    if (r != NULL && r->member_count < LIFE_MEMBERS_MAX)
        r->member[r->member_count++] = (struct life_member){ .key = key, .number = number };
}

void life_word(struct life *l, struct life_record *r, const char *key, const char *text)
{
    if (r != NULL && r->member_count < LIFE_MEMBERS_MAX)
        r->member[r->member_count++] = (struct life_member){ .key = key, .text = keep(l, text) };
}

void life_repeats(struct life *l, struct life_record *r, const char *text)
{
    const char **before;

    if (r == NULL)
        return;
    before = &l->at_flow->repeated[r->kind][r->direction];
    r->is_plain = *before != NULL && strcmp(*before, text) == 0;
    *before = text;
}

/* --- packets with nothing new ----------------------------------------------------------------- */

static uint64_t member_of(const struct life_record *r, const char *key)
{
    for (unsigned i = 0; i < r->member_count; i++)
        if (strcmp(r->member[i].key, key) == 0)
            return r->member[i].number;
    return 0;
}

static void series_add(struct life_series *s, const struct life_record *r)
{
    if (r->kind == LIFE_PACKET) {
        s->last_packet = r->packet;
        s->packets[r->direction]++;
        s->bytes[r->direction] += member_of(r, "length");
    }
    s->refused += r->kind == LIFE_REFUSED;
    s->dropped += r->kind == LIFE_VERDICT;
}

/* The records from run_at on become one, which counts. */
static void run_fold(struct life *l, struct life_flow *f)
{
    struct life_record *first = &f->record.at[f->run_at];

    if (first->series == NULL)
        first->series = arena_zalloc(&l->arena, sizeof(*first->series));
    if (first->series == NULL)
        return;
    for (size_t i = f->run_at; i < f->record.count; i++) {
        struct life_record *r = &f->record.at[i];

        if (r->text != NULL)
            series_add(first->series, r);
        record_free(r);
        r->text = NULL;
        r->member_count = 0;
    }
    l->records -= f->record.count - f->run_at - 1;
    f->record.count = f->run_at + 1;
}

/* `from`: the packet's first record. JSON has all of them. */
static void fold(struct life *l, size_t from)
{
    struct life_flow *f = l->at_flow;

    if (l->json || from == f->record.count)
        return;
    for (size_t i = from; i < f->record.count; i++) {
        if (!f->record.at[i].is_plain) {
            f->run = 0;
            return;
        }
    }
    if (f->run++ == 0)
        f->run_at = from;
    if (f->run >= LIFE_SERIES_MIN)
        run_fold(l, f);
}

/* --- life and end of the whole ---------------------------------------------------------------- */

struct life *life_new(const struct life_request *request, struct err *err)
{
    struct life *l = xcalloc(1, sizeof(*l));

    arena_init(&l->arena, 64 * 1024, 0);
    l->json = request->json;
    l->app = request->app;
    l->stream = request->stream;
    if (flow_wanted_read(&l->wanted, "--explain-flow", request->flow, err) < 0) {
        life_free(l);
        return NULL;
    }
    /* No output asks for files here, and without them there is nothing to say of them. */
    app_require_files(l->app, APP_FILE_TRACK | APP_FILE_SHA256);
    return l;
}

static void flow_free(struct life_flow *f)
{
    for (unsigned d = 0; d < 2; d++)
        buf_fini(&f->dir[d].data);
    for (size_t i = 0; i < f->record.count; i++)
        record_free(&f->record.at[i]);
    ARRAY_FREE(&f->tx);
    ARRAY_FREE(&f->file);
    ARRAY_FREE(&f->rule);
    ARRAY_FREE(&f->record);
    free(f->rule_at);
    free(f);
}

void life_free(struct life *l)
{
    if (l == NULL)
        return;
    for (unsigned i = 0; i < l->flow_count; i++)
        flow_free(l->flow[i]);
    free(l->profile);
    if (l->set != NULL)
        ruleset_unref(l->set);
    buf_fini(&l->text);
    arena_fini(&l->arena);
    free(l);
}

/* --- the flow --------------------------------------------------------------------------------- */

static void title_write(const struct packet *p, char *out, size_t size)
{
    struct packet_ends ends = packet_ends(p, TO_SERVER);
    char src[IP_TEXT_SIZE], dst[IP_TEXT_SIZE], number[16];
    const char *proto = ip_proto_name(p->ip_proto);

    ip_format(ends.src, src);
    ip_format(ends.dst, dst);
    snprintf(number, sizeof(number), "protocol %u", p->ip_proto);
    if (p->ip_proto == 6 || p->ip_proto == 17 || p->ip_proto == 132)
        snprintf(out, size, "%s:%u -> %s:%u, %s", src, ends.src_port, dst, ends.dst_port,
                 proto != NULL ? proto : number);
    else
        snprintf(out, size, "%s -> %s, %s", src, dst, proto != NULL ? proto : number);
}

static char *title_of(struct life *l, const struct packet *p)
{
    char title[160];

    title_write(p, title, sizeof(title));
    return arena_text(&l->arena, text_of(title));
}

/* Keeps the likest flows of those that are not the wanted one. */
static void note_other(struct life *l, const struct packet *p)
{
    unsigned alike = flow_wanted_likeness(&l->wanted, p), at = 0;
    uint64_t id = p->flow != NULL ? p->flow->id : 0;

    if (id == 0 || alike == 0 || p->src.version == 0)
        return;
    while (at < LIFE_OTHERS && l->other[at].id != 0 && l->other[at].id != id &&
           l->other[at].alike >= alike)
        at++;
    if (at == LIFE_OTHERS || l->other[at].id == id)
        return;
    memmove(&l->other[at + 1], &l->other[at], (LIFE_OTHERS - 1 - at) * sizeof(l->other[0]));
    l->other[at].id = id;
    l->other[at].alike = alike;
    title_write(p, l->other[at].title, sizeof(l->other[at].title));
}

/* Id 0 stands for packets that have no flow. */
static struct life_flow *flow_get(struct life *l, const struct packet *p)
{
    uint64_t id = p->flow != NULL ? p->flow->id : 0;
    struct life_flow *f;

    for (unsigned i = l->flow_count; i > 0; i--)
        if (l->flow[i - 1]->id == id)
            return l->flow[i - 1];
    if (!flow_is_wanted(&l->wanted, p))
        return NULL;
    if (l->flow_count == LIFE_FLOWS_MAX) {
        l->flows_left_out++;
        return NULL;
    }
    f = calloc(1, sizeof(*f));
    if (f != NULL)
        f->rule_at = calloc(l->set->plan->rule_count + 1, sizeof(*f->rule_at));
    if (f == NULL || f->rule_at == NULL) {
        free(f);
        l->out_of_memory = true;
        return NULL;
    }
    f->id = id;
    f->title = title_of(l, p);
    f->start_us = f->last_us = p->time_us;
    f->first_packet = p->number;
    l->flow[l->flow_count++] = f;
    return f;
}

static void add_flag_names(char out[40], uint8_t flags)
{
    static const char *const names[] = { "FIN", "SYN", "RST", "PSH", "ACK", "URG", "ECE", "CWR" };
    size_t at = 0;

    out[0] = '\0';
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (flags & 1u << i)
            at += (size_t)snprintf(out + at, 40 - at, "%s%s", at > 0 ? " " : "", names[i]);
}

static struct life_record *log_tcp(struct life *l, const struct packet *p, enum direction d)
{
    char flags[40];
    struct life_record *r;

    add_flag_names(flags, p->tcp.flags);
    r = life_log(l, LIFE_PACKET, d, "%s, seq %u, ack %u, window %u, %u bytes", flags, p->tcp.seq,
                 p->tcp.ack, p->tcp.window, p->payload_len);
    life_word(l, r, "tcp_flags", flags);
    life_number(r, "seq", p->tcp.seq);
    life_number(r, "ack", p->tcp.ack);
    return r;
}

static void tell_packet(struct life *l)
{
    const struct packet *p = l->in->packet;
    enum direction d = packet_direction(p);
    struct life_flow *f = l->at_flow;
    struct life_record *r;

    if (p->flags & PACKET_PSEUDO) {
        (void)life_log(l, LIFE_PACKET, l->in->direction, "made by the engine: %s",
                       packet_source_name((enum packet_source)p->source));
        return;
    }
    f->packets[d]++;
    f->bytes[d] += p->payload_len;
    f->last_packet = p->number;
    f->last_us = p->time_us;
    if (packet_is_tcp(p))
        r = log_tcp(l, p, d);
    else
        r = life_log(l, LIFE_PACKET, d, "%u bytes", p->payload_len);
    life_number(r, "length", p->payload_len);
    if (r != NULL)
        r->is_plain = !packet_is_tcp(p) || (p->tcp.flags & (TCP_FIN | TCP_SYN | TCP_RST)) == 0;
}

static void tell_events(struct life *l)
{
    const struct packet *p = l->in->packet;

    for (unsigned i = 0; i < p->event_count; i++) {
        const char *name = packet_event_name((enum packet_event)p->event[i]);
        struct life_record *r = life_log(l, LIFE_EVENT, packet_direction(p), "%s",
                                         name != NULL ? name : "?");

        life_word(l, r, "event", name != NULL ? name : "?");
    }
}

static void tell_state(struct life *l)
{
    const struct packet *p = l->in->packet;
    struct life_flow *f = l->at_flow;
    uint8_t state = p->flow != NULL ? p->flow->state : 0;
    struct life_record *r;

    if (state == f->state || (p->flags & PACKET_PSEUDO))
        return;
    r = life_log(l, LIFE_STATE, packet_direction(p), "flow: %s -> %s",
                 flow_state_name((enum flow_state)f->state),
                 flow_state_name((enum flow_state)state));
    life_word(l, r, "from", flow_state_name((enum flow_state)f->state));
    life_word(l, r, "to", flow_state_name((enum flow_state)state));
    life_word(l, r, "of", "flow");
    f->state = state;
}

static void tell_end(struct life *l)
{
    const struct flow *flow = l->in->flow;
    const char *why = flow_end_reason_name((enum flow_end_reason)flow->end_reason);
    const char *state = flow_state_name(flow_final_state(flow));
    struct life_record *r = life_log(l, LIFE_END, l->in->direction,
                                     "the flow ends (%s) in state %s", why, state);

    life_word(l, r, "reason", why);
    life_word(l, r, "state", state);
    l->at_flow->end = why;
}

/* --- the two calls for each packet ------------------------------------------------------------ */

/* Rules are counted here alone: the profile of the thread, if there is one, rests meanwhile. */
static void inspect_counted(struct life *l, struct detect_thread *dt, const struct inspection *in)
{
    struct rule_profile *own = dt->profile;
    bool was_timed = dt->is_timed;

    dt->profile = l->profile;
    dt->is_timed = true;
    detect_inspect(dt, in);
    dt->profile = own;
    dt->is_timed = was_timed;
}

/* With tenants: the rules that the flow meets first. */
static void take_rules(struct life *l, struct detect_thread *dt)
{
    l->set = ruleset_ref(dt->set);
    l->profile = xcalloc(l->set->plan->rule_count + 1, sizeof(*l->profile));
}

void life_inspect(struct life *l, struct detect_thread *dt, const struct inspection *in)
{
    const struct packet *p = in->packet;
    unsigned alerts = detect_slot(p)->alert_count;
    struct life_flow *f;
    size_t from;

    if (l->set == NULL && flow_is_wanted(&l->wanted, p))
        take_rules(l, dt);
    f = l->set != NULL && dt->set == l->set ? flow_get(l, p) : NULL;
    if (f == NULL) {
        if (l->flow_count == 0)
            note_other(l, p);
        detect_inspect(dt, in);
        return;
    }
    l->at_flow = f;
    l->in = in;
    from = f->record.count;
    tell_packet(l);
    tell_state(l);
    if (in->reason != INSPECT_DETECTLOG_FLUSH)
        tell_events(l);
    life_tell_stream(l);
    life_tell_protocol(l);
    life_tell_transactions(l);
    inspect_counted(l, dt, in);
    life_tell_rules(l, alerts);
    if (inspection_ends_flow(in) && in->flow != NULL)
        tell_end(l);
    fold(l, from);
    if (l->before.packet == p)
        l->before.packet = NULL;
}

bool life_write(struct life *l, struct buf *out)
{
    if (l->json)
        life_write_json(l, out);
    else
        life_write_text(l, out);
    return !out->failed && !l->out_of_memory;
}

bool life_found(const struct life *l)
{
    return l->flow_count > 0;
}
