/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The usual segment takes a short path (tcp_usual.c). Here random sessions go through both paths:
 * what packets carry, sessions and counters must be the same after each packet. */
#include "stream/segment.h"
#include "stream/stream_conf.h"
#include "stream/stream_thread.h"
#include "stream/tcp_session.h"
#include "stream/tests/script.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SESSIONS 300
#define PACKETS 60

struct pair {
    struct script with, without;        /* without: the general path only */
    uint32_t random;
    uint32_t next[2], ack[2];           /* what each side has sent, and acknowledges */
    uint32_t ts, seconds;
    bool has_ts;
};

static uint32_t any(struct pair *s, uint32_t below)
{
    s->random = s->random * 1664525u + 1013904223u;
    return (s->random >> 8) % below;
}

static void both(struct pair *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void both(struct pair *s, const char *fmt, ...)
{
    char step[256];
    va_list args;

    va_start(args, fmt);
    vsnprintf(step, sizeof(step), fmt, args);
    va_end(args);
    script_run(&s->with, step);
    script_run(&s->without, step);
}

/* ---- one packet ---- */

static const char *flags_of(struct pair *s)
{
    static const char *const odd[] = { "P", "AU", "PAU", "SA", "S", "FA", "RA", "R", "F", "PAU" };

    return any(s, 40) != 0 ? any(s, 2) != 0 ? "A" : "PA" : odd[any(s, 10)];
}

/* Mostly 0; else a little or a lot off, in either direction. */
static int32_t off(struct pair *s)
{
    switch (any(s, 30)) {
    case 0:
        return -1;
    case 1:
        return 1;
    case 2:
        return (int32_t)any(s, 3000) - 1500;
    case 3:
        return (int32_t)any(s, 200000) - 100000;
    default:
        return 0;
    }
}

static uint32_t length_of(struct pair *s)
{
    switch (any(s, 6)) {
    case 0:
        return 1;
    case 1:
    case 2:
        return 0;
    default:
        return 1 + any(s, 1400);
    }
}

static void options_of(struct pair *s, char *out, size_t size)
{
    uint32_t odd = any(s, 40);
    int n = 0;

    out[0] = '\0';
    if (s->has_ts && odd != 0)
        n = snprintf(out, size, " ts=%u,1", odd == 1 ? 0 : s->ts + (odd == 2 ? -any(s, 9) : 0));
    if (odd == 3)
        snprintf(out + n, size - (size_t)n, " sack=%u,%u", s->next[0], s->next[0] + 100);
}

static void packet(struct pair *s)
{
    static const char *const windows[] = { "win=65535", "win=500", "win=0", "win=1", "win=30000" };
    enum direction d = any(s, 3) == 0 ? TO_CLIENT : TO_SERVER;
    uint32_t len = length_of(s), seq = s->next[d] + (uint32_t)off(s);
    uint32_t sent = s->next[!d] - s->ack[d];
    char options[64], data[32] = "";

    s->ts += any(s, 3);
    if (any(s, 4) != 0)
        s->ack[d] += any(s, 2) != 0 ? sent : any(s, sent + 1);
    options_of(s, options, sizeof(options));
    if (len > 0)
        snprintf(data, sizeof(data), " x=%u,%c", len, 'a' + (int)any(s, 26));
    both(s, "%s %s seq=%u ack=%u %s t=%u%s%s", d == TO_SERVER ? "c>s" : "s>c", flags_of(s), seq,
         s->ack[d] + (uint32_t)off(s), windows[any(s, 8) != 0 ? 0 : any(s, 5)],
         any(s, 200) == 0 ? 2100000 : any(s, 20) / 19, options, data);
    if (seq == s->next[d])
        s->next[d] += len;
}

/* What detection tells the stream module. */
static void answer(struct pair *s)
{
    struct flow *flows[] = { s->with.flow, s->without.flow };
    uint32_t what = any(s, 60), depth = any(s, 2) != 0 ? UINT32_MAX : any(s, 9000);
    enum direction d = any(s, 2) != 0 ? TO_SERVER : TO_CLIENT;

    for (unsigned i = 0; i < 2; i++) {
        struct flow *f = flows[i];

        if (f == NULL || f->tcp == NULL)
            continue;
        if (what < 30)
            f->raw_progress[d] = (uint64_t)f->tcp->stream[d].delivered;
        else if (what == 30)
            flow_request(f, FLOW_REQ_NO_STREAM_TS << d);
        else if (what == 31)
            f->depth = depth;
        else if (what == 32)
            flow_request(f, FLOW_REQ_DEPTH_FREE_TS << d);
    }
}

/* ---- what came of it ---- */

static bool same_stream(const struct tcp_stream *a, const struct tcp_stream *b)
{
    struct tcp_stream x = *a, y = *b;
    const struct segment *p = a->merged.first, *q = b->merged.first;

    for (; p != NULL && q != NULL; p = p->next, q = q->next)
        if (p->seq != q->seq || p->len != q->len)
            return false;
    if (p != q || (a->buffer == NULL) != (b->buffer == NULL) || (a->holes == NULL) != (b->holes == NULL))
        return false;
    if (a->buffer != NULL && (a->start != b->start || a->len != b->len ||
                              memcmp(a->buffer + a->start, b->buffer + b->start, a->len) != 0))
        return false;
    x.buffer = y.buffer = NULL;
    x.merged = y.merged = (struct segment_list){ 0 };
    x.holes = y.holes = NULL;
    return memcmp(&x, &y, sizeof(x)) == 0;
}

static bool same_session(const struct flow *a, const struct flow *b)
{
    const struct tcp_session *x, *y;

    if (a == NULL || b == NULL || a->tcp == NULL || b->tcp == NULL)
        return (a == NULL || a->tcp == NULL) == (b == NULL || b->tcp == NULL);
    x = a->tcp;
    y = b->tcp;
    return memcmp(x, y, offsetof(struct tcp_session, queue)) == 0 && a->state == b->state &&
           same_stream(&x->stream[0], &y->stream[0]) && same_stream(&x->stream[1], &y->stream[1]);
}

static bool same_packet(const struct script *a, const struct script *b)
{
    return a->last_flags == b->last_flags && a->last_action == b->last_action &&
           memcmp(&a->last_slot, &b->last_slot, offsetof(struct stream_slot, chunk)) == 0;
}

static bool same_counts(const struct script *a, const struct script *b)
{
    static const char *const names[] = {
        "tcp.reassembly_memuse", "tcp.segment_from_cache", "tcp.segment_from_pool", "tcp.overlap",
        "tcp.ack_unseen_data", "tcp.reassembly_gap", "tcp.stream_depth_reached",
        "tcp.segment_memcap_drop", "tcp.insert_data_normal_fail",
    };

    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (script_count(a, names[i]) != script_count(b, names[i]))
            return false;
    return true;
}

static bool same(struct pair *s)
{
    const char *log = script_log(&s->with);

    return strcmp(log, script_log(&s->without)) == 0 && same_packet(&s->with, &s->without) &&
           same_session(s->with.flow, s->without.flow) && same_counts(&s->with, &s->without);
}

/* ---- sessions ---- */

static void begin(struct pair *s)
{
    const char *ws = any(s, 2) != 0 ? " ws=7" : "";
    char ts[32] = "";

    s->has_ts = any(s, 2) != 0;
    s->ts = 1000 + any(s, 1000);
    if (s->has_ts)
        snprintf(ts, sizeof(ts), " ts=%u,0", any(s, 12) != 0 ? s->ts : 0);
    for (unsigned d = 0; d < 2; d++)
        s->next[d] = s->ack[d] = 1;
    if (any(s, 15) == 0)
        return;                         /* midstream, where it is allowed */
    both(s, "c>s S seq=0%s%s", ws, ts);
    both(s, "s>c SA seq=0 ack=1%s%s", ws, ts);
    both(s, "c>s A seq=1 ack=1%s", ts);
}

static void play(struct test *t, const char *yaml, bool no_lookback)
{
    static struct pair s;
    bool ok = true;

    s.random = 1;
    script_open(&s.with, yaml, false);
    script_open(&s.without, yaml, false);
    s.without.st->has_usual = false;
    stream_conf_set_lookback(s.with.conf, !no_lookback);
    stream_conf_set_lookback(s.without.conf, !no_lookback);
    CHECK(s.with.st->has_usual);
    for (unsigned i = 0; ok && i < SESSIONS; i++) {
        begin(&s);
        for (unsigned n = 0; ok && n < PACKETS; n++) {
            packet(&s);
            ok = same(&s);
            answer(&s);
        }
        if (!ok)
            test_fail(t, __FILE__, __LINE__, "%s: session %u differs", yaml, i);
        both(&s, "end");
        ok = ok && same(&s);
    }
    CHECK(ok);
    script_close(t, &s.with);
    script_close(t, &s.without);
}

TEST(usual_segments_are_as_in_the_general_path)
{
    play(t, "stream: { reassembly: { depth: 1mb } }", false);
    play(t, "stream: { reassembly: { depth: 1mb } }", true);
}

TEST(usual_segments_are_the_same_at_limits)
{
    play(t, "stream: { reassembly: { depth: 5000 } }", false);
    play(t, "stream: { reassembly: { depth: 0, memcap: 9000 } }", false);
}

TEST(usual_segments_are_the_same_with_other_hosts)
{
    play(t, "stream: { midstream: true, async-oneside: true }", false);
    play(t, "host-os-policy: { solaris: [ 10.0.0.1 ], hpux11: [ 10.0.0.2 ] }", false);
    play(t, "host-os-policy: { bsd: [ 10.0.0.1 ], windows: [ 10.0.0.2 ] }", true);
}
