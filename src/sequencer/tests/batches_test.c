/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of sequencer/batches: each frame reaches one thread, once and in order; no thread runs
 * further ahead than there are batches. Those named seq_stress_ are for TSan too. */
#include "sequencer/batches.h"

#include "base/test.h"

#include <pthread.h>
#include <string.h>

#define THREADS_MAX 4

/* A capture of `frames` frames, in batches of `per_batch`. */
struct source {
    unsigned threads, frames, per_batch;
    unsigned next;
    bool at_hand;                       /* scanning waits for nothing */
    struct seq_batches *batches;
};

static bool scan(void *arg, struct seq_batch *batch)
{
    struct source *s = arg;

    if (s->next == s->frames)
        return false;
    for (unsigned i = 0; i < s->per_batch && s->next < s->frames; i++, s->next++) {
        unsigned thread = s->next % s->threads;
        struct seq_entry *e = seq_batch_add(batch, thread);

        e->frame = (struct frame_ref){ .seqno = s->next };
        e->packet = NULL;
        seq_batches_assign(s->batches, thread, 1);
    }
    batch->end = s->next;
    batch->last = s->next == s->frames;
    batch->more_at_hand = s->at_hand && !batch->last;
    return true;
}

static void source_open(struct source *s)
{
    s->batches = seq_batches_new(s->threads, scan, s);
}

/* How many entries the thread has in this batch; *next: the frame it comes to, moved on. */
static unsigned walk(const struct source *s, const struct seq_batch *batch, unsigned thread,
                     uint64_t *next, bool *in_order)
{
    struct seq_list list = seq_batch_list(batch, thread);

    for (const uint16_t *at = list.at; at < list.end; at++) {
        *in_order &= batch->entry[*at].frame.seqno == *next;
        *next += s->threads;
    }
    return (unsigned)(list.end - list.at);
}

TEST(seq_batches_hold_each_frame_once)
{
    struct source s = { .threads = 3, .frames = 40000, .per_batch = SEQ_BATCH_ENTRIES };
    uint64_t next[3] = { 0, 1, 2 };
    unsigned taken = 0;
    bool in_order = true;

    source_open(&s);
    for (bool last = false; !last;) {
        for (unsigned i = 0; i < s.threads; i++) {
            struct seq_batch *batch = seq_batches_next(s.batches, i);

            CHECK(batch != NULL);
            last = batch->last;
            taken += walk(&s, batch, i, &next[i], &in_order);
            seq_batches_leave(s.batches, i);
        }
    }
    CHECK(in_order);
    CHECK_INT(taken, 40000);
    CHECK(seq_batches_next(s.batches, 0) == NULL);
    seq_batches_free(s.batches);
}

TEST(seq_batches_bound_how_far_a_thread_is_ahead)
{
    struct source s = { .threads = 2, .frames = 100, .per_batch = 1 };

    source_open(&s);
    for (unsigned i = 0; i < SEQ_BATCHES; i++) {
        CHECK(seq_batches_next(s.batches, 0) != NULL);
        seq_batches_leave(s.batches, 0);
    }
    CHECK(seq_batches_next(s.batches, 0) == NULL);
    CHECK_INT(s.next, SEQ_BATCHES);
    /* The other one leaves the oldest: its slot is free for the next. */
    CHECK(seq_batches_next(s.batches, 1) != NULL);
    seq_batches_leave(s.batches, 1);
    CHECK(seq_batches_next(s.batches, 0) != NULL);
    CHECK_INT(s.next, SEQ_BATCHES + 1);
    seq_batches_free(s.batches);
}

/* What was scanned before it is not needed. The scan asks: the next slot is free then. */
TEST(seq_batches_know_the_oldest_in_use)
{
    struct source s = { .threads = 2, .frames = 100, .per_batch = 1 };

    source_open(&s);
    CHECK(seq_batches_oldest(s.batches) == NULL);
    for (unsigned i = 0; i < 2; i++) {
        CHECK(seq_batches_next(s.batches, 0) != NULL);
        seq_batches_leave(s.batches, 0);
    }
    CHECK_INT(seq_batches_oldest(s.batches)->end, 1);
    for (unsigned i = 0; i < 2; i++) {
        CHECK(seq_batches_next(s.batches, 1) != NULL);
        seq_batches_leave(s.batches, 1);
        if (i == 0)
            CHECK_INT(seq_batches_oldest(s.batches)->end, 2);
    }
    CHECK(seq_batches_oldest(s.batches) == NULL);
    for (unsigned i = 0; i < SEQ_BATCHES; i++) {
        CHECK(seq_batches_next(s.batches, 0) != NULL);
        seq_batches_leave(s.batches, 0);
    }
    CHECK(seq_batches_next(s.batches, 1) != NULL);
    seq_batches_leave(s.batches, 1);
    CHECK_INT(seq_batches_oldest(s.batches)->end, 4);
    seq_batches_free(s.batches);
}

TEST(seq_batches_choose_who_has_least_to_do)
{
    struct source s = { .threads = 3, .frames = 0 };

    source_open(&s);
    seq_batches_assign(s.batches, 0, 1000);
    seq_batches_assign(s.batches, 1, 400);
    seq_batches_assign(s.batches, 2, 700);
    CHECK_INT(seq_batches_choose(s.batches, -1), 1);
    seq_batches_took(s.batches, 0, 900);
    CHECK_INT(seq_batches_choose(s.batches, -1), 0);
    /* A preferred thread may have some more, but not many. */
    CHECK_INT(seq_batches_choose(s.batches, 2), 2);
    seq_batches_assign(s.batches, 2, SEQ_BATCH_FRAMES);
    CHECK_INT(seq_batches_choose(s.batches, 2), 0);
    seq_batches_free(s.batches);
}

/* Flows that last from the beginning to the end, all with one host, which is a thread's own until
 * another one gets a flow. */
TEST(seq_batches_divide_the_long_flows_of_a_host)
{
    for (unsigned threads = 2; threads <= THREADS_MAX; threads++) {
        struct source s = { .threads = threads, .frames = 0 };
        unsigned owner[64], given[THREADS_MAX] = { 0 };
        int host = 0;

        source_open(&s);
        for (unsigned round = 0; round < 1000; round++) {
            for (unsigned i = 0; i < ARRAY_LEN(owner); i++) {
                if (round == 0)
                    owner[i] = seq_batches_choose(s.batches, host);
                if (owner[i] != 0)
                    host = -1;
                seq_batches_assign(s.batches, owner[i], 1);
                seq_batches_took(s.batches, owner[i], 1);
                given[owner[i]]++;
            }
        }
        for (unsigned i = 0; i < threads; i++)
            CHECK(given[i] <= 1.2 * 64 * 1000 / threads);
        seq_batches_free(s.batches);
    }
}

/* Half of the flows are busy first; then the others are. A packet more or less of the busy ones does
 * not decide about those that are still to come. */
TEST(seq_batches_divide_flows_that_begin_slowly)
{
    struct source s = { .threads = 2, .frames = 0 };
    int owner[64];
    unsigned flows[2] = { 0 };

    source_open(&s);
    memset(owner, -1, sizeof(owner));
    for (unsigned i = 0; i < 2048; i++) {
        unsigned flow = i % 16 == 0 ? i / 16 % 64 : 2 * (i % 32);

        if (owner[flow] < 0) {
            owner[flow] = (int)seq_batches_choose(s.batches, -1);
            flows[owner[flow]]++;
        }
        seq_batches_assign(s.batches, (unsigned)owner[flow], 1);
    }
    CHECK_INT(flows[0] + flows[1], 64);
    CHECK(flows[0] <= 38 && flows[1] <= 38);
    seq_batches_free(s.batches);
}

/* A host with a fair share of all flows stays with its thread. */
TEST(seq_batches_keep_hosts_together)
{
    struct source s = { .threads = 2, .frames = 0 };
    unsigned elsewhere = 0;

    source_open(&s);
    for (unsigned i = 0; i < 1000; i++) {
        unsigned thread = seq_batches_choose(s.batches, i % 2 == 0 ? 0 : 1);

        elsewhere += thread != i % 2;
        seq_batches_assign(s.batches, thread, i % 2 == 0 ? 10 : 11);
    }
    CHECK_INT(elsewhere, 0);
    seq_batches_free(s.batches);
}

/* The first thread that begins the newest batch scans the one after it, if that waits for
 * nothing. */
TEST(seq_batches_are_scanned_ahead)
{
    struct source s = { .threads = 2, .frames = 100, .per_batch = 1, .at_hand = true };

    source_open(&s);
    CHECK(seq_batches_next(s.batches, 0) != NULL);
    CHECK_INT(s.next, 2);
    CHECK(seq_batches_next(s.batches, 1) != NULL);
    CHECK_INT(s.next, 2);
    seq_batches_leave(s.batches, 1);
    s.at_hand = false;
    CHECK(seq_batches_next(s.batches, 1) != NULL);
    CHECK_INT(s.next, 3);
    seq_batches_leave(s.batches, 1);
    CHECK(seq_batches_next(s.batches, 1) != NULL);
    CHECK_INT(s.next, 3);               /* it might wait */
    seq_batches_free(s.batches);
}

/* --- with threads ----------------------------------------------------------------------------- */

struct reader {
    pthread_t id;
    struct source *source;
    unsigned thread, taken;
    bool in_order;
};

static void *read_all(void *arg)
{
    struct reader *r = arg;
    struct seq_batches *batches = r->source->batches;
    uint64_t next = r->thread;

    for (bool last = false; !last;) {
        struct seq_batch *batch = seq_batches_next(batches, r->thread);

        if (batch == NULL) {
            seq_batches_wait(batches, r->thread, 100000000, 1000000);
            continue;
        }
        last = batch->last;
        r->taken += walk(r->source, batch, r->thread, &next, &r->in_order);
        seq_batches_leave(batches, r->thread);
    }
    return NULL;
}

TEST(seq_stress_batches_go_to_all_threads)
{
    struct source s = { .threads = THREADS_MAX, .frames = 20000, .per_batch = 37 };
    struct reader reader[THREADS_MAX];

    source_open(&s);
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        reader[i] = (struct reader){ .source = &s, .thread = i, .in_order = true };
        CHECK_INT(pthread_create(&reader[i].id, NULL, read_all, &reader[i]), 0);
    }
    for (unsigned i = 0; i < THREADS_MAX; i++) {
        pthread_join(reader[i].id, NULL);
        CHECK(reader[i].in_order);
        CHECK_INT(reader[i].taken, 20000 / THREADS_MAX);
    }
    seq_batches_free(s.batches);
}
