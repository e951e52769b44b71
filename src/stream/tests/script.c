/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tests/script.c - text to packets to text. */
#include "stream/tests/script.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define CLIENT_ISN 1000
#define SERVER_ISN 5000000
#define HEADERS 20

static void open_with(struct script *s, const char *yaml, bool is_inline, bool handoff)
{
    struct err err;

    memset(s, 0, sizeof(*s));
    s->yaml = conf_new();
    if (conf_load_string(s->yaml, "stream: { checksum-validation: no }\n", "script", &err) < 0 ||
        (yaml != NULL && conf_load_string(s->yaml, yaml, "script", &err) < 0) ||
        conf_set(s->yaml, "stream.checksum-validation", "no") < 0)
        abort();
    s->flow_conf = flow_conf_new(conf_root(s->yaml), 1, &err);
    s->conf = stream_conf_new(conf_root(s->yaml), is_inline, &err);
    s->counters = counters_new("script");
    s->pool = packet_pool_new(4096, 0);
    s->st = stream_thread_new(&(struct stream_env){
        .conf = s->conf, .flows = s->flow_conf, .pool = s->pool, .counters = s->counters,
        .copy_chunks = handoff }, &err);
    if (s->st == NULL)
        abort();
    s->time_us = 1000000000;
    s->vector_each = true;
    s->ds[TO_SERVER].isn = CLIENT_ISN;
    s->ds[TO_CLIENT].isn = SERVER_ISN;
}

void script_open(struct script *s, const char *yaml, bool is_inline)
{
    open_with(s, yaml, is_inline, false);
}

void script_open_handoff(struct script *s, const char *yaml)
{
    open_with(s, yaml, false, true);
}

static void flush(struct script *s);

void script_close(struct test *t, struct script *s)
{
    script_vector(s);
    flush(s);
    CHECK_INT(packet_pool_out(s->pool), 0);
    stream_thread_free(s->st);
    packet_pool_free(s->pool);
    counters_free(s->counters);
    stream_conf_free(s->conf);
    flow_conf_free(s->flow_conf);
    conf_free(s->yaml);
    free(s->vector.packet);
    buf_fini(&s->log);
    buf_fini(&s->data[0]);
    buf_fini(&s->data[1]);
}

uint64_t script_count(const struct script *s, const char *counter)
{
    return s->counters->value[counter_register(counter, COUNTER_SUM)];
}

/* ---- packets ---- */

static void be16(uint8_t *at, uint16_t n)
{
    at[0] = (uint8_t)(n >> 8);
    at[1] = (uint8_t)n;
}

static struct packet *packet_new(struct script *s, enum direction dir, const void *data,
                                 size_t len)
{
    static const uint8_t ends[2][4] = { { 10, 0, 0, 1 }, { 10, 0, 0, 2 } };
    struct packet *p = packet_pool_get(s->pool);

    if (p == NULL)
        abort();
    buf_clear(&p->frame);
    (void)!buf_reserve(&p->frame, HEADERS * 2 + 8 + len);
    p->frame.len = HEADERS * 2 + len;
    memset(p->frame.data, 0, p->frame.len);
    p->data = p->l3 = p->frame.data;
    p->l3[0] = 0x45;
    p->l3[8] = 64;
    p->l4 = p->l3 + HEADERS;
    p->l4_header_len = HEADERS;
    p->payload = p->l4 + HEADERS;
    p->payload_len = (uint32_t)len;
    if (len > 0)
        memcpy(p->payload, data, len);
    p->len = p->wire_len = (uint32_t)p->frame.len;
    p->l4_len = (uint32_t)(HEADERS + len);
    p->ip_proto = 6;
    p->src = ip_v4(ends[dir]);
    p->dst = ip_v4(ends[!dir]);
    p->src_port = dir == TO_SERVER ? 1025 : 80;
    p->dst_port = dir == TO_SERVER ? 80 : 1025;
    p->flow_hash = packet_flow_hash(p, true, true);
    p->time_us = s->time_us;
    p->number = ++s->number;
    return p;
}

static uint32_t counted(uint8_t flags, size_t len)
{
    return (uint32_t)len + ((flags & TCP_SYN) ? 1 : 0) + ((flags & TCP_FIN) ? 1 : 0);
}

static struct packet *push(struct script *s, enum direction dir, uint8_t flags, uint32_t seq,
                           uint32_t ack, const void *data, size_t len)
{
    struct packet *p = packet_new(s, dir, data, len);

    p->tcp.flags = flags;
    p->tcp.seq = s->ds[dir].isn + seq;
    p->tcp.ack = (flags & TCP_ACK) ? s->ds[!dir].isn + ack : 0;
    p->tcp.window = 65535;
    vector_push(&s->vector, p);
    return p;
}

void script_packet(struct script *s, enum direction dir, uint8_t flags, uint32_t seq, uint32_t ack,
                   const void *data, size_t len)
{
    (void)push(s, dir, flags, seq, ack, data, len);
}

/* ---- what came of it ---- */

static bool log_chunk(struct script *s, const struct stream_chunk *c)
{
    char letter = c->direction == TO_SERVER ? 'c' : 's';

    if (c->kind == CHUNK_GAP) {
        buf_printf(&s->log, " %c%llu~%u", letter, (unsigned long long)c->offset, c->len);
        return true;
    }
    buf_printf(&s->log, "%s %c%llu", c->kind == CHUNK_REINSPECT ? " again" : "", letter,
               (unsigned long long)c->offset);
    if (s->show_before)
        buf_printf(&s->log, "<%u", c->lookbehind);
    buf_printf(&s->log, "=%.*s", (int)c->len, (const char *)c->data);
    if (c->depth_reached)
        buf_add_string(&s->log, " depth");
    return true;
}

/* The data of both directions, and each chunk's look back must be what was handed off before. */
static bool keep_data(struct script *s, const struct stream_chunk *c)
{
    struct buf *all = &s->data[c->direction];

    if (c->kind != CHUNK_DATA || c->len + c->lookbehind == 0)
        return true;
    if (c->lookbehind > all->len ||
        (c->lookbehind > 0 &&
         memcmp(c->data - c->lookbehind, all->data + all->len - c->lookbehind, c->lookbehind) != 0))
        return false;
    buf_add(all, c->data, c->len);
    return true;
}

static void look_at(struct script *s, const struct packet *p)
{
    size_t start = s->log.len;
    bool any = false;

    buf_printf(&s->log, "%llu:", (unsigned long long)p->number);
    for (unsigned i = 0; i < p->event_count; i++) {
        const char *name = packet_event_name((enum packet_event)p->event[i]);

        buf_printf(&s->log, " %s", name + sizeof("stream.") - 1);
        any = true;
    }
    for (unsigned i = 0; i < stream_slot(p)->chunk_count; i++) {
        any |= log_chunk(s, &stream_slot(p)->chunk[i]);
        if (!keep_data(s, &stream_slot(p)->chunk[i]))
            buf_add_string(&s->log, " LOOKBACK-WRONG");
    }
    if (p->flags & PACKET_FLOW_END) {
        buf_printf(&s->log, " end(%s)",
                   flow_end_reason_name((enum flow_end_reason)p->flow->end_reason));
        s->flow_ends++;
        any = true;
    }
    buf_add_string(&s->log, "\n");
    if (!any)
        s->log.len = start;
}

static void note_state(struct script *s, const struct packet *p)
{
    struct tcp_summary summary;

    s->last_flags = p->flags;
    s->last_slot = *stream_slot(p);
    s->last_action = p->action;
    s->last_drop = p->drop_reason;
    s->flow = (p->flags & PACKET_FLOW_END) ? NULL : p->flow;
    s->state = stream_tcp_summary(p->flow, &summary) ? summary.state : "none";
    if (p->flow != NULL)
        s->flow_state = (enum flow_state)p->flow->state;
}

static void consume(struct script *s)
{
    for (unsigned i = 0; i < s->vector.count; i++) {
        look_at(s, s->vector.packet[i]);
        note_state(s, s->vector.packet[i]);
    }
    for (unsigned i = 0; i < s->vector.count; i++)
        packet_release(s->vector.packet[i], PACKET_THREAD_OWNER);
    s->vector.count = 0;
}

void script_vector(struct script *s)
{
    s->vector.now_us = s->time_us;
    stream_vector(s->st, &s->vector);
    consume(s);
}

/* Few flows: what has not ended by then never ends. */
#define FLUSHES_MAX 1000

static void flush(struct script *s)
{
    for (unsigned n = 0; n < FLUSHES_MAX && stream_flush(s->st, &s->vector, s->time_us, 0); n++)
        consume(s);
}

const char *script_log(struct script *s)
{
    (void)!buf_reserve(&s->log, 1);
    s->log.data[s->log.len] = '\0';
    s->log.len = 0;
    return (const char *)s->log.data;
}

/* ---- text ---- */

static uint8_t read_flags(struct text word)
{
    static const char letters[] = "FSRPAU";
    uint8_t flags = 0;

    for (size_t i = 0; i < word.n; i++) {
        const char *hit = strchr(letters, word.p[i]);

        if (hit != NULL)
            flags |= (uint8_t)(1u << (hit - letters));
    }
    return flags;
}

struct step {
    enum direction dir;
    uint8_t flags;
    int64_t seq, ack;                   /* below 0: where the side is */
    uint16_t window, urgent;
    struct tcp_options options;
    uint8_t sack[8];
    bool md5;
    uint8_t data[65536];
    size_t len;
};

static void be32(uint8_t *at, uint32_t n)
{
    be16(at, (uint16_t)(n >> 16));
    be16(at + 2, (uint16_t)n);
}

static void read_pair(const char *value, uint32_t *a, uint32_t *b)
{
    char *end;

    *a = (uint32_t)strtoul(value, &end, 10);
    *b = *end == ',' ? (uint32_t)strtoul(end + 1, NULL, 10) : 0;
}

static void read_option(const struct script *s, struct step *step, const char *key,
                        const char *value)
{
    uint32_t a, b;

    read_pair(value, &a, &b);
    if (strcmp(key, "ws") == 0) {
        step->options.has |= TCP_HAS_WSCALE;
        step->options.window_scale = (uint8_t)a;
    } else if (strcmp(key, "ts") == 0) {
        step->options.has |= TCP_HAS_TS;
        step->options.ts_value = a;
        step->options.ts_echo = b;
    } else if (strcmp(key, "sackok") == 0) {
        step->options.has |= TCP_HAS_SACK_OK;
    } else if (strcmp(key, "tfo") == 0) {
        step->options.has |= TCP_HAS_FASTOPEN;
    } else if (strcmp(key, "sack") == 0) {
        step->options.has |= TCP_HAS_SACK;
        step->options.sack_count = 1;
        be32(step->sack, s->ds[!step->dir].isn + a);
        be32(step->sack + 4, s->ds[!step->dir].isn + b);
    } else if (strcmp(key, "md5") == 0) {
        step->md5 = true;
    }
}

static void read_word(struct script *s, struct step *step, char *word)
{
    char *value = strchr(word, '=');
    uint32_t count, letter;

    if (word[0] == '\'') {
        step->len = strlen(word + 1);
        memcpy(step->data, word + 1, step->len);
        return;
    }
    if (value != NULL)
        *value++ = '\0';
    else
        value = word + strlen(word);
    read_pair(value, &count, &letter);
    if (strcmp(word, "seq") == 0)
        step->seq = count;
    else if (strcmp(word, "ack") == 0)
        step->ack = count;
    else if (strcmp(word, "win") == 0)
        step->window = (uint16_t)count;
    else if (strcmp(word, "urg") == 0)
        step->urgent = (uint16_t)count;
    else if (strcmp(word, "t") == 0)
        s->time_us += (uint64_t)count * 1000000;
    else if (strcmp(word, "x") == 0)
        memset(step->data, value[strlen(value) - 1], step->len = count);
    else
        read_option(s, step, word, value);
}

static void put_options(struct packet *p, const struct step *step)
{
    p->tcp_options = step->options;
    be16(p->l4 + 18, step->urgent);
    if (step->md5) {
        memset(p->l4 + HEADERS, 0, 8);
        p->l4[HEADERS] = 19;
        p->l4[HEADERS + 1] = 2;
        p->l4_header_len = HEADERS + 4;
    }
    if (step->options.has & TCP_HAS_SACK) {
        memcpy(p->frame.data + p->frame.len, step->sack, 8);
        p->tcp_options.sack = p->frame.data + p->frame.len;
    }
}

static void do_step(struct script *s, const struct step *step)
{
    struct script_dir *me = &s->ds[step->dir];
    uint32_t seq = step->seq >= 0 ? (uint32_t)step->seq : me->next;
    uint32_t ack = step->ack >= 0 ? (uint32_t)step->ack : s->ds[!step->dir].next;
    struct packet *p = push(s, step->dir, step->flags, seq, ack, step->data, step->len);
    uint32_t end = seq + counted(step->flags, step->len);

    p->tcp.window = step->window;
    put_options(p, step);
    if ((int32_t)(end - me->next) > 0)
        me->next = end;
    if (s->vector_each)
        script_vector(s);
}

/* Cuts the next piece off *rest; NULL when nothing but separators is left. */
static char *next_segment(char **rest, const char *separators)
{
    char *at = *rest + strspn(*rest, separators);
    size_t len = strcspn(at, separators);

    if (len == 0)
        return NULL;
    *rest = at[len] != '\0' ? at + len + 1 : at + len;
    at[len] = '\0';
    return at;
}

static void run_step(struct script *s, char *text)
{
    static struct step step;
    char *rest = text, *word = next_segment(&rest, " ");

    if (word == NULL)
        return;
    if (strcmp(word, "---") == 0) {
        script_vector(s);
        return;
    }
    if (strcmp(word, "end") == 0) {
        script_vector(s);
        flush(s);
        return;
    }
    memset(&step, 0, sizeof(step));
    step.dir = word[0] == 'c' ? TO_SERVER : TO_CLIENT;
    step.seq = step.ack = -1;
    step.window = 65535;
    word = next_segment(&rest, " ");
    step.flags = read_flags(text_of(word));
    while ((word = next_segment(&rest, " ")) != NULL)
        read_word(s, &step, word);
    do_step(s, &step);
}

void script_run(struct script *s, const char *steps)
{
    char *all = xstrdup(steps), *rest = all, *step;

    while ((step = next_segment(&rest, ";\n")) != NULL)
        run_step(s, step);
    free(all);
}
