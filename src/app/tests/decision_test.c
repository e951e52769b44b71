/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Decisions of recognition. They need no driver: a session in its first state is enough, and nothing
 * of it changes but the state of the detection. */
#include "app/core/decision.h"
#include "app/core/thread.h"
#include "app/tests/replay.h"
#include "app/tests/toy.h"
#include "base/test.h"

#include <string.h>

/* A flow with one packet to the server, and pending bytes in each direction. */
struct stub {
    struct app_fixture fixture;
    struct flow flow;
    struct packet packet;
    struct app_session s;
};

static int stub_open(struct stub *stub)
{
    *stub = (struct stub){ 0 };
    if (app_fixture_open(&stub->fixture, NULL, toy_protocols) < 0)
        return -1;
    stub->packet.flow = &stub->flow;
    stub->packet.src_port = 40000;
    stub->packet.dst_port = 4000;
    stub->fixture.thread->packet = &stub->packet;
    stub->s.flow.thread = stub->fixture.thread;
    stub->s.flow.flow = &stub->flow;
    return 0;
}

static struct proto_decision decide(struct stub *stub, enum direction d, const char *text,
                                    bool end)
{
    stub->s.ds[d].data = (const uint8_t *)text;
    stub->s.ds[d].len = (uint32_t)strlen(text);
    return tcp_detection(&stub->s, d, end);
}

static void stub_close(struct test *t, struct stub *stub)
{
    CHECK(!stub->s.off && !stub->s.ds[0].detected && !stub->s.ds[1].detected);
    CHECK_INT(stub->s.events, 0);
    CHECK(stub->flow.app_proto == APP_PROTO_UNKNOWN && stub->flow.swap == 0);
    stub->fixture.thread->packet = NULL;
    app_fixture_close(&stub->fixture);
}

TEST(app_decision_feeds_a_detected_protocol)
{
    struct stub stub;
    struct proto_decision decision;

    CHECK_INT(stub_open(&stub), 0);
    stub.s.first_sender = APP_TS;
    decision = decide(&stub, TO_SERVER, "HELLO you\n", false);
    CHECK(decision.action == PROTO_FEED && decision.found == APP_PROTO_toy &&
          decision.protocol == APP_PROTO_toy);
    CHECK(!decision.swap && !decision.other_first && decision.events == 0);
    stub.s.ds[TO_CLIENT].len = 0;
    decision = decide(&stub, TO_CLIENT, "WELCOME you\n", false);
    CHECK(decision.action == PROTO_FEED && decision.other_first);
    stub_close(t, &stub);
}

/* The server's side wins, unless a parser has had bytes of the other protocol. */
TEST(app_decision_resolves_a_mismatch)
{
    struct stub stub;
    struct proto_decision decision;

    CHECK_INT(stub_open(&stub), 0);
    stub.flow.app_proto_dir[TO_SERVER] = APP_PROTO_box;
    decision = decide(&stub, TO_CLIENT, "WELCOME you\n", false);
    CHECK(decision.found == APP_PROTO_toy && decision.protocol == APP_PROTO_toy);
    CHECK_INT(decision.events, proto_event_bit(APPLAYER_MISMATCH));
    stub.s.first_sender = FIRST_SENDER_PARSED;
    stub.s.ds[TO_CLIENT].detect_state = (struct proto_detect_state){ 0 };
    decision = decide(&stub, TO_CLIENT, "WELCOME you\n", false);
    CHECK(decision.found == APP_PROTO_toy && decision.protocol == APP_PROTO_box);
    stub_close(t, &stub);
}

/* This side is not recognised: with the other side's protocol known, it is parsed as that. */
TEST(app_decision_takes_the_other_side)
{
    struct stub stub;
    struct proto_decision decision;

    CHECK_INT(stub_open(&stub), 0);
    CHECK_INT(decide(&stub, TO_CLIENT, "W", false).action, PROTO_WAIT);
    stub.flow.app_proto_dir[TO_SERVER] = APP_PROTO_toy;
    stub.s.first_sender = FIRST_SENDER_PARSED;
    CHECK_INT(decide(&stub, TO_CLIENT, "W", true).action, PROTO_NAME_AS_OTHER);
    stub.s.ds[TO_CLIENT].detect_state.patterns_done = true;
    stub.s.ds[TO_CLIENT].detect_state.probes_done = true;
    decision = decide(&stub, TO_CLIENT, "no protocol at all\n", false);
    CHECK_INT(decision.action, PROTO_FEED_AS_OTHER);
    CHECK_INT(decision.events, proto_event_bit(APPLAYER_ONE_DIRECTION));
    stub.flow.app_proto_dir[TO_SERVER] = APP_PROTO_FAILED;
    decision = decide(&stub, TO_CLIENT, "no protocol at all\n", false);
    CHECK(decision.action == PROTO_FEED_AS_OTHER && decision.events == 0);
    /* toy's client has to speak first */
    stub.flow.app_proto_dir[TO_SERVER] = APP_PROTO_toy;
    stub.s.first_sender = APP_TC;
    CHECK_INT(decide(&stub, TO_CLIENT, "no protocol at all\n", false).action, PROTO_DISABLE);
    stub_close(t, &stub);
}

TEST(app_decision_gives_up)
{
    struct stub stub;
    struct proto_detect_state done = { .patterns_done = 1, .probes_done = 1 };

    CHECK_INT(stub_open(&stub), 0);
    stub.s.ds[TO_SERVER].detect_state = stub.s.ds[TO_CLIENT].detect_state = done;
    CHECK_INT(decide(&stub, TO_SERVER, "no protocol at all\n", false).action, PROTO_DISABLE);
    stub.s.redetecting = true;
    CHECK_INT(decide(&stub, TO_SERVER, "no protocol at all\n", false).action, PROTO_WAIT);
    CHECK_INT(decide(&stub, TO_SERVER, "no protocol at all\n", true).action, PROTO_DISABLE);
    stub_close(t, &stub);
}

TEST(app_decision_keeps_the_order_of_senders)
{
    struct stub stub;
    struct proto_decision decision;

    CHECK_INT(stub_open(&stub), 0);
    stub.flow.app_proto = APP_PROTO_toy;
    stub.s.first_sender = APP_TC;
    decision = tcp_sender_decision(&stub.s, TO_CLIENT);
    CHECK_INT(decision.action, PROTO_DISABLE);
    CHECK_INT(decision.events, proto_event_bit(APPLAYER_WRONG_DIRECTION));
    stub.s.first_sender = APP_TS;
    CHECK_INT(tcp_sender_decision(&stub.s, TO_CLIENT).action, PROTO_WAIT);
    CHECK_INT(tcp_sender_decision(&stub.s, TO_SERVER).action, PROTO_FEED);
    stub.s.first_sender = FIRST_SENDER_PARSED;
    CHECK_INT(tcp_sender_decision(&stub.s, TO_CLIENT).action, PROTO_FEED);
    stub.flow.app_proto = APP_PROTO_UNKNOWN;
    stub_close(t, &stub);
}

/* STARTTLS promises TLS. */
TEST(app_decision_tells_of_an_unexpected_change)
{
    struct flow flow = { .app_proto = APP_PROTO_http1, .app_proto_expected = APP_PROTO_tls };
    unsigned absent = app_absent_event(app_proto_by_id(APP_PROTO_tls));

    CHECK(absent != 0);
    CHECK_INT(tcp_change_events(&flow),
              proto_event_bit(APPLAYER_UNEXPECTED) | proto_event_bit(absent));
    flow.app_proto = APP_PROTO_tls;
    CHECK_INT(tcp_change_events(&flow), 0);
    flow.app_proto_expected = APP_PROTO_UNKNOWN;
    CHECK_INT(tcp_change_events(&flow), 0);
}

TEST(app_decision_on_datagrams)
{
    struct stub stub;
    struct proto_decision decision;
    char hello[] = "HELLO you\n", other[] = "no protocol at all\n";

    CHECK_INT(stub_open(&stub), 0);
    stub.packet.payload = (uint8_t *)other;
    stub.packet.payload_len = sizeof(other) - 1;
    decision = udp_detection(stub.fixture.thread, &stub.packet);
    CHECK(decision.found == APP_PROTO_FAILED && decision.protocol == APP_PROTO_FAILED);
    stub.packet.payload = (uint8_t *)hello;
    stub.packet.payload_len = sizeof(hello) - 1;
    decision = udp_detection(stub.fixture.thread, &stub.packet);
    CHECK(decision.found == APP_PROTO_toy && decision.protocol == APP_PROTO_toy && !decision.swap);
    stub_close(t, &stub);
}
