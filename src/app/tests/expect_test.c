/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of app/expect: who announces and who asks in the order of the packets, and who waits. */
#include "app/private.h"
#include "app/tests/play.h"
#include "base/test.h"
#include "packet/turn.h"

#include <stdlib.h>
#include <string.h>

/* A thread that is behind, and comes as far as it must when somebody waits. */
struct other {
    struct turn_lane *lane;
    unsigned waits;
};

static void come(void *self)
{
    struct other *other = self;

    turn_reached(other->lane, 1000, 0);
}

static void count_wait(void *self)
{
    struct other *other = self;

    other->waits++;
}

static void wakes(void *self UNUSED)
{
}

struct scene {
    struct play_world world;
    struct turns *turns;
    struct turn_lane *lane;
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

static void scene_open(struct test *t, struct scene *s)
{
    struct turn_thread ours = { &s->other, come, count_wait, wakes };
    struct turn_thread others = { &s->other, come, wakes, wakes };

    *s = (struct scene){ .turns = turns_new() };
    CHECK_INT(play_world_open(&s->world, NULL, NULL), 0);
    s->lane = turn_lane_new(s->turns, &ours);
    s->other.lane = turn_lane_new(s->turns, &others);
    s->control = flow_to(21);
    s->data = flow_to(2000);
    s->packet = xcalloc(1, sizeof(*s->packet));
}

static void scene_close(struct scene *s)
{
    free(s->packet);
    free(s->data);
    free(s->control);
    turns_free(s->turns);
    play_world_close(&s->world);
}

static const struct packet *packet_of(struct scene *s, struct flow *f, uint32_t hash,
                                      uint64_t order)
{
    *s->packet = (struct packet){ .flow = f, .src = f->key.src, .dst = f->key.dst,
                                  .flow_hash = hash, .order = order, .lane = s->lane };
    return s->packet;
}

static bool announce(struct scene *s, uint64_t order)
{
    static const struct app_expected expected = { .dst_port = 2000, .proto = APP_PROTO_ftp_data };

    return app_expectations_add(s->world.conf->expectations, s->control, &expected,
                                packet_of(s, s->control, 7, order));
}

static bool claim(struct scene *s, uint64_t order)
{
    struct app_claim found;

    return app_expectations_claim(s->world.conf->expectations,
                                  packet_of(s, s->data, 9, order), TO_SERVER, &found);
}

TEST(expect_who_asks_finds_what_is_before_it)
{
    struct scene s;

    scene_open(t, &s);
    app_note_hosts(s.world.conf, &s.control->key.src, &s.control->key.dst, 7);
    CHECK(announce(&s, 100));
    CHECK(!claim(&s, 90));
    CHECK(claim(&s, 110));
    CHECK(!claim(&s, 110));
    scene_close(&s);
}

TEST(expect_the_only_opener_does_not_wait)
{
    struct scene s;
    const struct flow *f;

    scene_open(t, &s);
    f = s.control;
    app_note_hosts(s.world.conf, &f->key.src, &f->key.dst, 7);
    app_note_hosts(s.world.conf, &f->key.src, &f->key.dst, 7);
    CHECK(announce(&s, 100));
    CHECK_INT(s.other.waits, 0);
    for (uint64_t i = 1; i < 20; i++)               /* at last the oldest has to go */
        CHECK(announce(&s, 100 + i));
    CHECK(s.other.waits > 0);
    CHECK_INT(app_expectations_count(s.world.conf->expectations), 10);
    scene_close(&s);
}

static void check_announcing_waits(struct test *t, uint32_t first_opener, uint32_t second_opener)
{
    struct scene s;
    const struct flow *f;

    scene_open(t, &s);
    f = s.control;
    app_note_hosts(s.world.conf, &f->key.src, &f->key.dst, first_opener);
    app_note_hosts(s.world.conf, &f->key.dst, &f->key.src, second_opener);
    CHECK(announce(&s, 100));
    CHECK_INT(s.other.waits, 1);
    scene_close(&s);
}

TEST(expect_one_of_two_openers_waits)
{
    check_announcing_waits(t, 7, 8);
}

/* Where flows of one hash may be on several threads the hash says nothing. */
TEST(expect_an_opener_without_a_hash_waits)
{
    check_announcing_waits(t, 0, 0);
}
