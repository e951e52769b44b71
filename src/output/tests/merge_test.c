/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of output/merge: what several threads have rendered comes out in the order of the packets,
 * and nothing before all threads are past it. */
#include "output/merge.h"

#include "base/memory/buf.h"
#include "base/test.h"
#include "sequencer/setup.h"

#include <string.h>

static void gather(void *arg, const uint8_t *records, size_t len)
{
    buf_add(arg, records, len);
}

static void nothing(void *self)
{
    (void)self;
}

static void add(struct merge_input *input, uint64_t seqno, uint64_t sub, const char *text)
{
    struct packet p = { .seqno = seqno, .seqno_sub = sub };
    struct buf records = { 0 };

    buf_add_string(&records, text);
    merge_add(input, &p, &records);
    buf_fini(&records);
}

TEST(merge_goes_by_the_packets)
{
    struct seq_thread thread = { NULL, nothing, nothing, nothing };
    struct sequencer *seq = sequencer_new();
    struct buf out = { 0 };
    struct merge *m = merge_new(seq, gather, &out);
    struct merge_input *a, *b;

    (void)seq_handle_new(seq, &thread);
    a = merge_input_new(m);
    b = merge_input_new(m);
    add(a, 2, 0, "1 ");
    add(a, 2, 2, "3 ");
    add(b, 2, 1, "2 ");
    add(b, 8, 0, "5 ");
    add(b, 8, 0, "6 ");
    add(a, 6, 0, "4 ");
    add(a, 10, 0, "7 ");
    CHECK_INT(out.len, 0);
    merge_free(m);
    buf_add_u8(&out, 0);
    CHECK_STRING((const char *)out.data, "1 2 3 4 5 6 7 ");
    buf_fini(&out);
    sequencer_free(seq);
}

TEST(merge_waits_for_the_slowest)
{
    struct seq_thread thread = { NULL, nothing, nothing, nothing };
    struct sequencer *seq = sequencer_new();
    struct seq_handle *fast = seq_handle_new(seq, &thread);
    struct seq_handle *slow = seq_handle_new(seq, &thread);
    struct buf out = { 0 };
    struct merge *m = merge_new(seq, gather, &out);
    struct merge_input *input = merge_input_new(m);
    char line[4097];

    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    seq_publish(slow, 40, 0);
    for (uint64_t at = 2; at <= 1000; at += 2) {
        seq_publish(fast, at, 0);
        add(input, at, 0, line);
    }
    CHECK_INT(out.len, 19 * (sizeof(line) - 1));
    merge_free(m);
    CHECK_INT(out.len, 500 * (sizeof(line) - 1));
    buf_fini(&out);
    sequencer_free(seq);
}

/* A thread that is far ahead must not keep records without end, nor move them again and again. */
TEST(merge_limits_how_far_a_thread_is_ahead)
{
    struct seq_thread thread = { NULL, nothing, nothing, nothing };
    struct sequencer *seq = sequencer_new();
    struct seq_handle *fast = seq_handle_new(seq, &thread);
    struct seq_handle *slow = seq_handle_new(seq, &thread);
    struct buf out = { 0 };
    struct merge *m = merge_new(seq, gather, &out);
    struct merge_input *input = merge_input_new(m);
    char line[65536];
    uint64_t at = 2;
    unsigned added = 0;

    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    for (; !merge_is_full(input) && added < 1000; at += 2, added++) {
        seq_publish(fast, at, 0);
        seq_publish(slow, at / 64, 0);
        add(input, at, 0, line);
    }
    CHECK(added > 200 && added < 400);
    seq_publish(slow, at, 0);
    seq_publish(fast, at, 0);
    add(input, at, 0, line);
    CHECK_INT(out.len, added * (sizeof(line) - 1));
    CHECK(!merge_is_full(input));
    merge_free(m);
    CHECK_INT(out.len, (added + 1) * (sizeof(line) - 1));
    buf_fini(&out);
    sequencer_free(seq);
}
