/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/search_ahead.c - one round of searches, shared by a packet thread and its helper.
 *
 * Jobs are claimed in groups, with one compare-and-swap. The helper searches from the first group
 * on. When the packet thread comes to a group that the helper is searching, it searches from the
 * last one on meanwhile, so both have work until they meet. It only waits before it leaves a packet
 * that the helper may be reading, for one group at most, because the packet may go back to its
 * pool. */
#include "detect/inspect/search_ahead.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>

#include "base/array.h"
#include "base/containers/ring.h"
#include "base/system/clock.h"

#define GROUPS_MAX 32           /* of a round: 128 payloads, two usual vectors */
#define GROUP_JOBS 4
#define GROUP_RULES 15          /* candidates of all its jobs */
#define TOO_MANY UINT8_MAX      /* the packet thread searches again */
/* Fewer groups are searched before the helper has woken up. */
#define GROUPS_MIN 2
/* Polls of the helper after a round: about 50 us, in which the packet thread receives and decodes
 * the next vector. */
#define POLLS_AFTER_ROUND 1500
/* Polls of the packet thread for a group that the helper has begun: it takes 2 us. */
#define POLLS_FOR_GROUP 100
#define POLLS_BEFORE_YIELD 1000

enum group_state { GROUP_POSTED, GROUP_OWN, GROUP_HELPER, GROUP_DONE };

/* Payloads of one flow and direction. To move a cache line between the threads costs a third of a
 * search, so a group is one line to read and one line of results. */
struct search_group {
    CACHE_ALIGNED const uint8_t *data[GROUP_JOBS];
    const struct payload_sets *sets;
    uint16_t len[GROUP_JOBS];
    uint16_t src_port, dst_port;
    uint32_t state;                     /* enum group_state; atomic */
    uint8_t at[GROUP_JOBS];             /* positions of the packets in the vector; rising */
    uint8_t count;
    bool by_helper;
    CACHE_ALIGNED uint8_t found[GROUP_JOBS];    /* candidates of each job, or TOO_MANY */
    uint32_t rule[GROUP_RULES];         /* those of the first job, then of the second, ... */
};

_Static_assert(sizeof(struct search_group) == 2 * CACHE_LINE, "see above");

/* What one thread needs to search. */
struct search_memory {
    struct hs_scratch *scratch;
    struct candidates found;
};

struct search_ahead {
    pthread_t thread;
    struct eventcount wake;
    struct search_memory helper;        /* of the helper, while a round is open */
    CACHE_ALIGNED uint32_t open;        /* round number and its groups; 0: none. Atomic */
    bool stop;                          /* atomic */
    CACHE_ALIGNED uint32_t inside;      /* the helper may use groups. Atomic */
    /* of the packet thread */
    CACHE_ALIGNED uint32_t round;
    struct search_memory own;
    unsigned count, next, last;         /* groups; the first with a packet that was not left; no
                                         * group is unclaimed from `last` on */
    unsigned at;                        /* the packet that was reached */
    bool is_started;
    uint64_t answers;
    struct search_group group[GROUPS_MAX];
};

#define ROUND_SHIFT 8                   /* `open`: GROUPS_MAX and below it */
_Static_assert(GROUPS_MAX < 1 << ROUND_SHIFT, "the number of groups has its bits");

/* --- both threads ----------------------------------------------------------------------------- */

static bool group_claim(struct search_group *g, enum group_state by)
{
    uint32_t posted = GROUP_POSTED;

    return __atomic_load_n(&g->state, __ATOMIC_RELAXED) == GROUP_POSTED &&
           __atomic_compare_exchange_n(&g->state, &posted, by, false, __ATOMIC_ACQUIRE,
                                       __ATOMIC_RELAXED);
}

static void group_search(struct search_memory *m, struct search_group *g)
{
    unsigned rules = 0;

    for (unsigned i = 0; i < g->count; i++) {
        struct sent_payload payload = { { g->data[i], g->len[i] }, g->src_port, g->dst_port };

        payload_sets_scan(g->sets, m->scratch, &payload, &m->found);
        g->found[i] = TOO_MANY;
        if (rules + m->found.count <= GROUP_RULES) {
            g->found[i] = (uint8_t)m->found.count;
            for (unsigned k = 0; k < m->found.count; k++)
                g->rule[rules++] = m->found.list[k];
        }
        candidates_clear(&m->found);
    }
    __atomic_store_n(&g->state, GROUP_DONE, __ATOMIC_RELEASE);
}

/* --- the helper ------------------------------------------------------------------------------ */

static void round_search(struct search_ahead *sa, unsigned groups)
{
    for (unsigned i = 0; i < groups && __atomic_load_n(&sa->open, __ATOMIC_RELAXED) != 0; i++) {
        struct search_group *g = &sa->group[i];

        if (!group_claim(g, GROUP_HELPER))
            continue;
        g->by_helper = true;
        group_search(&sa->helper, g);
    }
}

/* The packet thread clears `open` and then reads `inside`. The helper stores `inside` and then
 * reads `open`. All four are sequentially consistent, so either the helper sees that the round is
 * over, or the packet thread waits for it. Returns the round. */
static uint32_t round_enter(struct search_ahead *sa)
{
    uint32_t open;

    __atomic_store_n(&sa->inside, 1, __ATOMIC_SEQ_CST);
    open = __atomic_load_n(&sa->open, __ATOMIC_SEQ_CST);
    round_search(sa, open & ((1u << ROUND_SHIFT) - 1));
    __atomic_store_n(&sa->inside, 0, __ATOMIC_RELEASE);
    return open >> ROUND_SHIFT;
}

static bool has_work(void *arg)
{
    struct search_ahead *sa = arg;

    return __atomic_load_n(&sa->open, __ATOMIC_RELAXED) != 0 ||
           __atomic_load_n(&sa->stop, __ATOMIC_RELAXED);
}

/* True: another round has begun, and within the polls. */
static bool next_round(const struct search_ahead *sa, uint32_t last)
{
    for (unsigned i = 0; i < POLLS_AFTER_ROUND; i++) {
        uint32_t open = __atomic_load_n(&sa->open, __ATOMIC_RELAXED);

        if (__atomic_load_n(&sa->stop, __ATOMIC_RELAXED))
            return false;
        if (open != 0 && open >> ROUND_SHIFT != last)
            return true;
        clock_pause();
    }
    return false;
}

/* A pinned packet thread would have its helper on its own CPU. */
static void leave_cpu(void)
{
    cpu_set_t cpus;

    if (pthread_getaffinity_np(pthread_self(), sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) > 1)
        return;
    for (unsigned cpu = 0; cpu < CPU_SETSIZE; cpu++)
        CPU_SET(cpu, &cpus);
    (void)pthread_setaffinity_np(pthread_self(), sizeof(cpus), &cpus);
}

static void *thread_main(void *arg)
{
    struct search_ahead *sa = arg;
    uint32_t last = 0;

    pthread_setname_np(pthread_self(), "search-ahead");
    leave_cpu();
    while (!__atomic_load_n(&sa->stop, __ATOMIC_ACQUIRE)) {
        eventcount_wait(&sa->wake, has_work, sa, EVENTCOUNT_FOREVER);
        do
            last = round_enter(sa);
        while (next_round(sa, last));
    }
    return NULL;
}

/* --- the packet thread ------------------------------------------------------------------------ */

struct search_ahead *search_ahead_new(void)
{
    struct search_ahead *sa = xaligned(CACHE_LINE, sizeof(*sa));

    *sa = (struct search_ahead){ .round = 0 };
    eventcount_init(&sa->wake);
    if (pthread_create(&sa->thread, NULL, thread_main, sa) != 0) {
        free(sa);
        return NULL;
    }
    return sa;
}

static void memory_free(struct search_ahead *sa)
{
    hs_scratch_free(sa->helper.scratch);
    candidates_fini(&sa->helper.found);
    candidates_fini(&sa->own.found);
}

void search_ahead_free(struct search_ahead *sa)
{
    if (sa == NULL)
        return;
    __atomic_store_n(&sa->stop, true, __ATOMIC_RELEASE);
    eventcount_wake(&sa->wake);
    pthread_join(sa->thread, NULL);
    memory_free(sa);
    free(sa);
}

/* The packet thread searches with the scratch that it has anyway. */
void search_ahead_set_rules(struct search_ahead *sa, unsigned rules, struct hs_scratch *own,
                            struct hs_scratch *helper)
{
    memory_free(sa);
    sa->own.scratch = own;
    sa->helper.scratch = helper;
    candidates_init(&sa->own.found, rules);
    candidates_init(&sa->helper.found, rules);
}

/* The last group, if this payload may join it; else a new one. NULL: there is no space. */
static struct search_group *group_for(struct search_ahead *sa, const struct payload_sets *sets,
                                      const struct sent_payload *payload)
{
    struct search_group *g = sa->count > 0 ? &sa->group[sa->count - 1] : NULL;

    if (g != NULL && g->count < GROUP_JOBS && g->sets == sets &&
        g->src_port == payload->src_port && g->dst_port == payload->dst_port)
        return g;
    if (sa->count == GROUPS_MAX)
        return NULL;
    g = &sa->group[sa->count++];
    g->sets = sets;
    g->src_port = payload->src_port;
    g->dst_port = payload->dst_port;
    g->count = 0;
    g->by_helper = false;
    __atomic_store_n(&g->state, GROUP_POSTED, __ATOMIC_RELAXED);
    return g;
}

void search_ahead_add(struct search_ahead *sa, unsigned at, const struct payload_sets *sets,
                      const struct sent_payload *payload)
{
    struct search_group *g;

    if (at > UINT8_MAX || payload->data.len > UINT16_MAX ||
        (g = group_for(sa, sets, payload)) == NULL)
        return;
    g->data[g->count] = payload->data.data;
    g->len[g->count] = (uint16_t)payload->data.len;
    g->at[g->count++] = (uint8_t)at;
}

/* The round number keeps the helper from entering a round twice; 0 would look like no round. */
void search_ahead_start(struct search_ahead *sa)
{
    sa->is_started = sa->count >= GROUPS_MIN;
    sa->last = sa->count;
    if (!sa->is_started)
        return;
    sa->round = (sa->round + 1) & (UINT32_MAX >> ROUND_SHIFT);
    sa->round += sa->round == 0;
    __atomic_store_n(&sa->open, sa->round << ROUND_SHIFT | sa->count, __ATOMIC_SEQ_CST);
    eventcount_wake(&sa->wake);
}

/* The helper may have lost its CPU: after `polls` polls the CPU is yielded to it, if the caller
 * must wait. */
static uint32_t group_result(const struct search_group *g, unsigned polls, bool must_wait)
{
    uint32_t state = __atomic_load_n(&g->state, __ATOMIC_ACQUIRE);

    for (unsigned i = 0; state == GROUP_HELPER && (must_wait || i < polls); i++) {
        if (i > polls)
            sched_yield();
        clock_pause();
        state = __atomic_load_n(&g->state, __ATOMIC_ACQUIRE);
    }
    return state;
}

/* Packets that were not inspected after all have left their jobs in a group. */
void search_ahead_reach(struct search_ahead *sa, unsigned at)
{
    if (!sa->is_started)
        return;
    for (; sa->next < sa->count && sa->group[sa->next].at[0] < at; sa->next++) {
        struct search_group *g = &sa->group[sa->next];

        if (!group_claim(g, GROUP_OWN))
            (void)group_result(g, POLLS_BEFORE_YIELD, true);
        if (g->at[g->count - 1] >= at)
            break;
    }
    sa->at = at;
}

/* Searches the last group that no thread has claimed. False: all are claimed. */
static bool search_last(struct search_ahead *sa)
{
    while (sa->last > sa->next + 1)
        if (group_claim(&sa->group[--sa->last], GROUP_OWN)) {
            group_search(&sa->own, &sa->group[sa->last]);
            return true;
        }
    return false;
}

/* The job of the packet that was reached, and where its candidates begin. -1: there is none. */
static int job_find(const struct search_ahead *sa, const struct search_group *g, struct slice data)
{
    for (unsigned i = 0; i < g->count; i++)
        if (g->at[i] == sa->at)
            return g->data[i] == data.data && g->len[i] == data.len ? (int)i : -1;
    return -1;
}

static bool job_result(const struct search_group *g, unsigned job, struct candidates *out)
{
    unsigned first = 0;

    if (g->found[job] == TOO_MANY)
        return false;
    for (unsigned i = 0; i < job; i++)
        first += g->found[i] != TOO_MANY ? g->found[i] : 0;
    for (unsigned i = 0; i < g->found[job]; i++)
        candidates_add(out, g->rule[first + i]);
    return true;
}

bool search_ahead_take(struct search_ahead *sa, const struct payload_sets *sets, struct slice data,
                       bool must_wait, struct candidates *out)
{
    struct search_group *g = &sa->group[sa->next];
    int job;

    if (!sa->is_started || sa->next == sa->count || g->sets != sets ||
        (job = job_find(sa, g, data)) < 0 || group_claim(g, GROUP_OWN))
        return false;
    while (__atomic_load_n(&g->state, __ATOMIC_RELAXED) == GROUP_HELPER && search_last(sa))
        continue;
    if (group_result(g, POLLS_FOR_GROUP, must_wait) != GROUP_DONE ||
        !job_result(g, (unsigned)job, out))
        return false;
    sa->answers += g->by_helper;
    return true;
}

void search_ahead_end(struct search_ahead *sa)
{
    sa->count = sa->next = 0;
    if (!sa->is_started)
        return;
    sa->is_started = false;
    __atomic_store_n(&sa->open, 0, __ATOMIC_SEQ_CST);
    for (unsigned i = 0; __atomic_load_n(&sa->inside, __ATOMIC_SEQ_CST) != 0; i++) {
        if (i > POLLS_BEFORE_YIELD)
            sched_yield();
        clock_pause();
    }
}

uint64_t search_ahead_answers(const struct search_ahead *sa)
{
    return sa->answers;
}
