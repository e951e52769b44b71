/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/live.c - a question to all packet threads, for some seconds.
 *
 * A thread may spend 1/64 of its time on it: that is its credit, which time fills and questions
 * use. It begins full, so that each thread is asked about its first packet. Flows are chosen by a
 * hash, so that what is asked about a flow is complete; when the credit is used up, fewer flows
 * are. The time is over for a thread by its own clock, so no other has to end it. */
#include "detect/explain/live.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/report/counters.h"
#include "base/system/clock.h"
#include "detect/explain/private.h"
#include "flow/flow.h"

#define SHARE_OF_TIME 64u               /* one in so many nanoseconds: 1.6 % */
#define CREDIT_MOST_NS 1000000          /* an idle thread saves no more */
#define SHARE_ALL 1024u                 /* all flows */
#define CLOCK_EVERY 256u                /* packets, at the latest */
#define SEEN_MOST 10000u                /* flows or transactions of a rule, for each thread */

/* Of one packet thread. */
struct explain_part {
    struct explain_live *live;
    bool taken;                         /* atomic: a thread has it */
    struct explain *explain;
    struct counters counters;           /* of the shadow: never read */
    int64_t credit_ns;
    uint64_t last_ns;                   /* when the credit was filled */
    unsigned share;                     /* of the flows, of SHARE_ALL */
    unsigned skip;                      /* packets until the credit is looked at again */
    uint32_t random;
    uint64_t packets, asked;
};

struct explain_live {
    uint64_t end_ns;                    /* atomic */
    unsigned seconds, threads;
    unsigned users;                     /* atomic: threads that have a part */
    bool merged;
    unsigned sid_count;
    uint32_t sid[EXPLAIN_LIVE_RULES];
    struct explain_part *part;
};

/* --- texts ------------------------------------------------------------------------------------ */

/* Rules lose their texts after loading. The line of the file has it, unless the file has changed or
 * may not be read any more. NULL: not at hand. */
static const char *text_of_file(const struct rule *r, struct arena *arena)
{
    FILE *f = r->at.file != NULL ? fopen(r->at.file, "re") : NULL;
    char *line = NULL, number[24];
    const char *text = NULL;
    size_t size = 0;
    unsigned at = 0;

    while (f != NULL && at < r->at.line && getline(&line, &size, f) >= 0)
        at++;
    snprintf(number, sizeof(number), "sid:%u;", r->sid);
    if (at == r->at.line && at > 0 && line != NULL && strstr(line, number) != NULL)
        text = arena_text(arena, text_trim(text_of(line)));
    free(line);
    if (f != NULL)
        fclose(f);
    return text;
}

/* --- life ------------------------------------------------------------------------------------- */

static int part_init(struct explain_part *part, struct explain_live *live,
                     const struct explain_request *request, struct ruleset *set, struct err *err)
{
    part->live = live;
    part->share = SHARE_ALL;
    part->counters.value = xcalloc(COUNTERS_MAX, sizeof(uint64_t));
    part->counters.samples = xcalloc(COUNTERS_MAX, sizeof(uint64_t));
    part->explain = explain_new(request, set, err);
    if (part->explain == NULL)
        return -1;
    for (struct explain *e = part->explain; e != NULL; e = e->next) {
        e->seen_most = SEEN_MOST;
        e->counts_matches = false;
    }
    return 0;
}

/* "2012887,2012888" */
static int sids_read(struct explain_live *live, const char *list, struct err *err)
{
    struct text rest = text_of(list), one;
    uint64_t sid;

    while (text_split(&rest, ',', &one)) {
        if (live->sid_count == EXPLAIN_LIVE_RULES)
            return err_set(err, "explain: expected at most %d rules", EXPLAIN_LIVE_RULES);
        if (!text_to_u64(text_trim(one), UINT32_MAX, &sid) || sid == 0)
            return err_set(err, "explain: expected numbers of rules such as 2012887,2012888, got "
                           "\"%.60s\"", list);
        live->sid[live->sid_count++] = (uint32_t)sid;
    }
    return live->sid_count > 0 ? 0 : err_set(err, "explain: no rule is named");
}

/* A typing error is told at once, not after the time of the question. */
static int sids_find(const struct explain_live *live, struct err *err)
{
    struct buf text = { 0 };
    bool unknown = explain_add_unknown(live->part[0].explain, &text);

    if (unknown)
        err_set(err, "explain: %.*s", (int)text.len, (const char *)text.data);
    buf_fini(&text);
    return unknown ? -1 : 0;
}

static int parts_init(struct explain_live *live, const struct explain_live_request *request,
                      struct ruleset *set, const struct conf_node *conf, struct err *err)
{
    const struct explain_request each = { .rules = request->rules, .text_of = text_of_file,
                                          .tenants = request->tenants };

    for (unsigned i = 0; i < live->threads; i++)
        if (part_init(&live->part[i], live, &each, set, err) < 0 ||
            explain_begin(live->part[i].explain, conf, &live->part[i].counters, err) < 0)
            return -1;
    return live->threads == 0 ? 0 : sids_find(live, err);
}

struct explain_live *explain_live_new(const struct explain_live_request *request,
                                      struct ruleset *set, const struct conf_node *conf,
                                      struct err *err)
{
    struct explain_live *live = xcalloc(1, sizeof(*live));

    live->seconds = request->seconds;
    live->threads = request->threads;
    live->part = xcalloc(request->threads + 1, sizeof(*live->part));
    if (sids_read(live, request->rules, err) < 0 ||
        parts_init(live, request, set, conf, err) < 0) {
        explain_live_free(live);
        return NULL;
    }
    live->end_ns = clock_ns() + (uint64_t)request->seconds * 1000000000u;
    return live;
}

void explain_live_free(struct explain_live *live)
{
    if (live == NULL)
        return;
    for (unsigned i = 0; i < live->threads; i++) {
        explain_free(live->part[i].explain);
        free(live->part[i].counters.value);
        free(live->part[i].counters.samples);
    }
    free(live->part);
    free(live);
}

void explain_live_stop(struct explain_live *live)
{
    __atomic_store_n(&live->end_ns, 0, __ATOMIC_RELAXED);
}

unsigned explain_live_seconds_left(const struct explain_live *live)
{
    uint64_t end = __atomic_load_n(&live->end_ns, __ATOMIC_RELAXED), now = clock_ns();

    return end > now ? (unsigned)((end - now) / 1000000000u) + 1 : 0;
}

unsigned explain_live_sids(const struct explain_live *live, const uint32_t **sids)
{
    *sids = live->sid;
    return live->sid_count;
}

bool explain_live_is_used(const struct explain_live *live)
{
    return __atomic_load_n(&live->users, __ATOMIC_ACQUIRE) > 0;
}

/* --- packet threads --------------------------------------------------------------------------- */

static bool is_over(const struct explain_live *live, uint64_t now)
{
    return now >= __atomic_load_n(&live->end_ns, __ATOMIC_RELAXED);
}

/* A part that no thread has, or has any more: its thread ended with a capture, and this one may be
 * of the next. NULL: there are more threads than parts. */
static struct explain_part *part_take(struct explain_live *live)
{
    for (unsigned i = 0; i < live->threads; i++)
        if (!__atomic_test_and_set(&live->part[i].taken, __ATOMIC_ACQUIRE))
            return &live->part[i];
    return NULL;
}

struct explain_part *explain_live_join(struct explain_live *live)
{
    uint64_t now = clock_ns();
    struct explain_part *part;

    if (is_over(live, now))
        return NULL;
    part = part_take(live);
    if (part == NULL)
        return NULL;
    __atomic_fetch_add(&live->users, 1, __ATOMIC_RELAXED);
    part->last_ns = now;
    part->credit_ns = CREDIT_MOST_NS;
    part->random = (uint32_t)(part - live->part);
    return part;
}

/* Release pairs with explain_live_is_used(): what the thread has found is visible then. */
void explain_part_leave(struct explain_part *part)
{
    struct explain_live *live = part->live;

    __atomic_clear(&part->taken, __ATOMIC_RELEASE);
    __atomic_fetch_sub(&live->users, 1, __ATOMIC_RELEASE);
}

bool explain_part_is_over(const struct explain_part *part)
{
    return is_over(part->live, clock_ns());
}

static void credit_fill(struct explain_part *part, uint64_t now)
{
    part->credit_ns += (int64_t)((now - part->last_ns) / SHARE_OF_TIME);
    part->last_ns = now;
    if (part->credit_ns < CREDIT_MOST_NS)
        return;
    part->credit_ns = CREDIT_MOST_NS;
    part->share = MIN(SHARE_ALL, part->share + part->share / 8 + 1);
}

/* The next packets are not asked about. Their number varies, so that it does not follow a rhythm of
 * the traffic. */
static void credit_is_used(struct explain_part *part)
{
    part->share = MAX(1u, part->share - part->share / 8);
    part->random = part->random * 1664525u + 1013904223u;
    part->skip = 8 + (part->random >> 28);
}

/* Packets without a flow are all asked about, as far as the credit goes. */
static bool is_chosen(const struct explain_part *part, const struct packet *p)
{
    return p->flow == NULL ||
           (p->flow->id * 0x9e3779b97f4a7c15u) >> 54 < (uint64_t)part->share;
}

static void ask(struct explain_part *part, struct detect_thread *dt, const struct inspection *in,
                uint64_t now)
{
    part->asked++;
    part->explain->engine_ns = 0;
    explain_inspect(part->explain, dt, in);
    part->credit_ns -= (int64_t)(clock_ns() - now - part->explain->engine_ns);
}

bool explain_part_inspect(struct explain_part *part, struct matched *matched,
                          struct detect_thread *dt, const struct inspection *in)
{
    bool chosen = is_chosen(part, in->packet), reads_clock;
    uint64_t now;

    part->packets++;
    reads_clock = (part->skip == 0 && chosen) || part->packets % CLOCK_EVERY == 0;
    if (part->skip > 0)
        part->skip--;
    now = reads_clock ? clock_ns() : 0;
    part->explain->matched = matched;
    if (reads_clock)
        credit_fill(part, now);
    if (reads_clock && !is_over(part->live, now) && chosen && part->credit_ns > 0) {
        ask(part, dt, in, now);
        return true;
    }
    if (reads_clock && part->credit_ns <= 0)
        credit_is_used(part);
    explain_engine_inspect(part->explain, dt, in);
    return !reads_clock || !is_over(part->live, now);
}

/* --- the answer ------------------------------------------------------------------------------- */

static void merge(struct explain_live *live)
{
    for (unsigned i = 1; i < live->threads && !live->merged; i++)
        explain_merge(live->part[0].explain, live->part[i].explain);
    live->merged = true;
}

bool explain_live_write(struct explain_live *live, bool json, struct buf *out)
{
    if (live->threads == 0)
        return true;
    merge(live);
    live->part[0].explain->json = json;
    return explain_write(live->part[0].explain, out);
}

void explain_live_counts(const struct explain_live *live, uint64_t *packets, uint64_t *asked)
{
    *packets = *asked = 0;
    for (unsigned i = 0; i < live->threads; i++) {
        *packets += live->part[i].packets;
        *asked += live->part[i].asked;
    }
}
