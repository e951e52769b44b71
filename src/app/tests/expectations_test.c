/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of app/expect: who announces and who asks in the order of the packets, and who waits. */
#include "app/core/expectations.h"
#include "app/core/settings.h"
#include "app/session.h"
#include "app/tests/replay.h"
#include "base/test.h"
#include "sequencer/setup.h"

#include <stdlib.h>
#include <string.h>

/* A thread that is behind, and advances as far as required when another thread waits. */
struct other {
    struct seq_handle *handle;
    uint64_t upto;
    unsigned waits;
};

static void come(void *self)
{
    struct other *other = self;

    seq_publish(other->handle, other->upto, 0);
}

static void count_wait(void *self)
{
    struct other *other = self;

    other->waits++;
}

static void wakes(void *self UNUSED)
{
}

struct expect_fixture {
    struct app_fixture fixture;
    struct sequencer *seq;
    struct seq_handle *handle;
    struct other other;
    struct flow *control, *data;
    struct packet *packet;
};

static struct flow *flow_to(uint16_t port)
{
    static const uint8_t client[4] = { 10, 0, 0, 1 }, server[4] = { 10, 0, 0, 2 };
    struct flow *f = xaligned(CACHE_LINE, sizeof(*f));

    f->key = (struct flow_key){ .src = ip_v4(client), .dst = ip_v4(server), .src_port = 40000,
                                .dst_port = port, .proto = 6 };
    f->id = port;
    return f;
}

static void expect_fixture_open(struct test *t, struct expect_fixture *s)
{
    struct seq_thread ours = { &s->other, come, count_wait, wakes };
    struct seq_thread others = { &s->other, come, wakes, wakes };

    *s = (struct expect_fixture){ .seq = sequencer_new(), .other.upto = 1000 };
    CHECK_INT(app_fixture_open(&s->fixture, NULL, NULL), 0);
    s->handle = seq_handle_new(s->seq, &ours);
    s->other.handle = seq_handle_new(s->seq, &others);
    s->control = flow_to(21);
    s->data = flow_to(2000);
    s->packet = xcalloc(1, sizeof(*s->packet));
}

static void expect_fixture_close(struct expect_fixture *s)
{
    free(s->packet);
    free(s->data);
    free(s->control);
    sequencer_free(s->seq);
    app_fixture_close(&s->fixture);
}

static const struct packet *packet_of(struct expect_fixture *s, struct flow *f, uint32_t hash,
                                      uint64_t seqno)
{
    *s->packet = (struct packet){ .flow = f, .src = f->key.src, .dst = f->key.dst,
                                  .flow_hash = hash, .seqno = seqno };
    sequencer_slot(s->packet)->handle = s->handle;
    return s->packet;
}

static bool expect_flow(struct expect_fixture *s, uint64_t seqno)
{
    static const struct app_expected expected = { .dst_port = 2000, .proto = APP_PROTO_ftp_data };

    return app_expectations_add(s->fixture.conf->expectations, s->control, &expected,
                                packet_of(s, s->control, 7, seqno));
}

static void opens(struct expect_fixture *s, uint32_t hash, uint64_t seqno)
{
    expectation_parent_add(s->fixture.conf, &(struct expectation_opening){
        s->control->key.src, s->control->key.dst, hash, seqno, hash == 0 });
}

static void ends(struct expect_fixture *s, uint32_t hash, uint64_t seqno)
{
    expectation_parent_remove(s->fixture.conf, packet_of(s, s->control, hash, seqno));
}

static bool match(struct expect_fixture *s, uint64_t seqno)
{
    struct expectation_match found;

    return app_expectations_match(s->fixture.conf->expectations,
                                  packet_of(s, s->data, 9, seqno), TO_SERVER, &found);
}

TEST(expect_who_asks_finds_what_is_before_it)
{
    struct expect_fixture s;

    expect_fixture_open(t, &s);
    opens(&s, 7, 10);
    CHECK(expect_flow(&s, 100));
    CHECK(!match(&s, 90));
    CHECK(match(&s, 110));
    CHECK(!match(&s, 110));
    expect_fixture_close(&s);
}

TEST(expect_the_only_parent_does_not_wait)
{
    struct expect_fixture s;

    expect_fixture_open(t, &s);
    opens(&s, 7, 10);
    opens(&s, 7, 20);
    CHECK(expect_flow(&s, 100));
    CHECK_INT(s.other.waits, 0);
    for (uint64_t i = 1; i < 20; i++)               /* at last the oldest has to go */
        CHECK(expect_flow(&s, 100 + i));
    CHECK(s.other.waits > 0);
    CHECK_INT(app_expectations_count(s.fixture.conf->expectations), 10);
    expect_fixture_close(&s);
}

static void check_expecting_waits(struct test *t, uint32_t first_parent, uint32_t second_parent)
{
    struct expect_fixture s;

    expect_fixture_open(t, &s);
    opens(&s, first_parent, 10);
    opens(&s, second_parent, 20);
    CHECK(expect_flow(&s, 100));
    CHECK_INT(s.other.waits, 1);
    expect_fixture_close(&s);
}

TEST(expect_one_of_two_parents_waits)
{
    check_expecting_waits(t, 7, 8);
}

/* Where flows of one hash may be on several threads the hash says nothing. */
TEST(expect_a_parent_without_a_hash_waits)
{
    check_expecting_waits(t, 0, 0);
}

/* What asking for the data flow costs; whether it was announced. */
static unsigned waits_to_ask(struct expect_fixture *s, uint64_t seqno, bool *found)
{
    struct expectation_data *owned = NULL;
    unsigned before = s->other.waits;
    struct packet *p = (struct packet *)packet_of(s, s->data, 9, seqno);

    s->other.upto = seqno;
    *found = expectation_take(s->fixture.thread, p, TO_SERVER, &owned) != APP_PROTO_UNKNOWN;
    expectation_data_free(&owned);
    return s->other.waits - before;
}

TEST(expect_parent_is_removed_when_it_ends)
{
    struct expect_fixture s;
    bool found;

    expect_fixture_open(t, &s);
    opens(&s, 7, 10);
    CHECK_INT(waits_to_ask(&s, 20, &found), 1);
    opens(&s, 8, 30);
    ends(&s, 7, 40);
    CHECK_INT(waits_to_ask(&s, 50, &found), 1);     /* for the other one */
    ends(&s, 8, 60);
    CHECK_INT(waits_to_ask(&s, 70, &found), 0);
    opens(&s, 7, 90);
    CHECK_INT(waits_to_ask(&s, 100, &found), 1);
    expect_fixture_close(&s);
}

TEST(expect_later_parent_is_kept)
{
    struct expect_fixture s;
    bool found;

    expect_fixture_open(t, &s);
    opens(&s, 7, 10);
    opens(&s, 7, 50);                               /* noted ahead: addresses and ports again */
    ends(&s, 7, 30);
    CHECK_INT(waits_to_ask(&s, 60, &found), 1);
    expect_fixture_close(&s);
}

/* Who comes behind the end finds it, and takes his turn as others may want it, too. */
TEST(expect_expectations_outlast_their_parent)
{
    struct expect_fixture s;
    bool found;

    expect_fixture_open(t, &s);
    opens(&s, 7, 10);
    CHECK(expect_flow(&s, 20));
    ends(&s, 7, 30);
    CHECK_INT(waits_to_ask(&s, 40, &found), 1);
    CHECK(found);
    CHECK_INT(waits_to_ask(&s, 50, &found), 0);
    CHECK(!found);
    expect_fixture_close(&s);
}

TEST(expect_more_parents_than_are_distinguished_stay)
{
    struct expect_fixture s;
    bool found;

    expect_fixture_open(t, &s);
    for (uint32_t i = 1; i <= 8; i++)
        opens(&s, i, 10 * i);
    for (uint32_t i = 1; i <= 8; i++)
        ends(&s, i, 100 + i);
    CHECK_INT(waits_to_ask(&s, 200, &found), 1);
    expect_fixture_close(&s);
}
