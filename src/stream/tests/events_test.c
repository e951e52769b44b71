/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "flow/exception.h"
#include "stream/tests/script.h"

#define HANDSHAKE "c>s S; s>c SA; c>s A;"
#define WITH_TS "c>s S ts=100,0; s>c SA ts=500,100; c>s A ts=101,500;"
#define SERVER_FIN HANDSHAKE "s>c FA;"
#define CLIENT_FIN HANDSHAKE "c>s FA;"

struct event_case {
    const char *steps, *log, *state;
    const char *yaml;
    bool is_inline;
};

static void run_cases(struct test *t, const struct event_case *cases, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct script s;

        script_open(&s, cases[i].yaml, cases[i].is_inline);
        script_run(&s, cases[i].steps);
        CHECK_STRING(script_log(&s), cases[i].log);
        CHECK_STRING(s.state, cases[i].state);
        script_close(t, &s);
    }
}

#define CASE(steps_, log_, state_) WITH(steps_, log_, state_, NULL)
#define WITH(steps_, log_, state_, yaml_) \
    { .steps = steps_, .log = log_, .state = state_, .yaml = yaml_ }
#define INLINE(steps_, log_, state_) \
    { .steps = steps_, .log = log_, .state = state_, .is_inline = true }
#define RUN(cases) run_cases(t, (cases), ARRAY_LEN(cases))

TEST(stream_events_without_session)
{
    static const struct event_case cases[] = {
        CASE("c>s R", "1: rst_but_no_session\n", "none"),
        CASE("c>s FA", "1: fin_but_no_session\n", "none"),
        CASE("c>s A 'data", "", "none"),
        CASE("s>c SA", "", "none"),
        CASE("c>s S ack=9; c>s P seq=1 ack=5 'x", "", "syn_sent"),
    };
    RUN(cases);
}

TEST(stream_events_of_the_handshake)
{
    static const struct event_case cases[] = {
        CASE("c>s S; s>c SA ack=9", "2: 3whs_synack_with_wrong_ack\n", "syn_sent"),
        CASE("c>s S; c>s SA", "2: 3whs_synack_in_wrong_direction\n", "syn_sent"),
        CASE("c>s S; s>c SA; c>s SA", "3: 3whs_synack_toserver_on_syn_recv\n", "syn_recv"),
        CASE("c>s S; s>c SA; s>c SA seq=0 ack=7", "3: 3whs_synack_resend_with_diff_ack\n",
             "syn_recv"),
        CASE("c>s S; s>c SA; s>c S seq=0", "3: 3whs_syn_toclient_on_syn_recv\n", "syn_recv"),
        CASE("c>s S; s>c SA; c>s S seq=77", "3: 3whs_syn_resend_diff_seq_on_syn_recv\n",
             "syn_recv"),
        CASE("c>s S; s>c SA; c>s A ack=9", "3: 3whs_right_seq_wrong_ack_evasion\n", "syn_recv"),
        CASE("c>s S; s>c SA; c>s A seq=700000 ack=9", "3: 3whs_wrong_seq_wrong_ack\n",
             "syn_recv"),
        CASE("c>s S; s>c SA; s>c SA seq=50 ack=1; s>c SA seq=60 ack=1; s>c SA seq=70 ack=1;"
          "s>c SA seq=80 ack=1; s>c SA seq=90 ack=1; s>c SA seq=95 ack=1",
             "8: 3whs_synack_flood\n", "syn_recv"),
        CASE("c>s S; s>c SA; s>c A 'hello", "", "established"),
        INLINE("c>s S; s>c SA; s>c A seq=1 ack=1 'hello", "3: 3whs_ack_data_inject\n",
             "syn_recv"),
        INLINE("c>s S; s>c SA; s>c A seq=2 ack=1", "3: 3whs_ack_in_wrong_dir\n", "syn_recv"),
        WITH("c>s S ts=5,0; s>c SA ts=9,4", "2: pkt_invalid_timestamp\n", "syn_sent",
             "stream: { liberal-timestamps: no }"),
        CASE("c>s S ts=5,0; s>c SA ts=9,4", "", "syn_recv"),
    };
    RUN(cases);
}

TEST(stream_second_synack_may_be_the_one)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, "c>s S; s>c SA; s>c SA seq=50 ack=1; c>s A seq=1 ack=51");
    CHECK_STRING(s.state, "established");
    script_close(t, &s);
}

TEST(stream_syns_with_other_numbers)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, "c>s S seq=0 ts=1,0; c>s S seq=500 ts=2,0; s>c SA seq=0 ack=1 ts=9,1;"
                   "c>s A seq=1 ack=1 ts=3,9; c>s A seq=1 ack=1 ts=3,9 'hi; s>c A ack=3 ts=10,3");
    CHECK_STRING(script_log(&s), "6: c0=hi\n");
    CHECK_STRING(s.state, "established");
    script_close(t, &s);
}

TEST(stream_four_way_and_fast_open)
{
    static const struct event_case cases[] = {
        CASE("c>s S; s>c S; c>s SA seq=0 ack=1; s>c A; c>s A", "", "established"),
        CASE("c>s S; s>c S; c>s SA seq=0 ack=5", "3: 4whs_synack_with_wrong_ack\n", "syn_sent"),
        CASE("c>s S; s>c S; c>s SA seq=9 ack=1", "3: 4whs_synack_with_wrong_syn\n", "syn_sent"),
        CASE("c>s S; s>c S; c>s SA seq=0 ack=1; s>c A seq=9", "4: 4whs_wrong_seq\n", "syn_recv"),
        CASE("c>s S tfo 'early; s>c SA; c>s A; s>c A", "4: c0=early\n", "established"),
        CASE("c>s S tfo 'early; s>c SA ack=1", "2: 3whs_synack_tfo_data_ignored\n", "syn_recv"),
    };
    RUN(cases);
}

TEST(stream_events_of_an_established_session)
{
    static const struct event_case cases[] = {
        CASE(HANDSHAKE "c>s SA", "4: est_synack_toserver\n", "established"),
        CASE(HANDSHAKE "s>c SA seq=0 ack=9", "4: est_synack_resend_with_diff_ack\n",
             "established"),
        CASE(HANDSHAKE "s>c SA seq=9 ack=1", "4: est_synack_resend_with_diff_seq\n",
             "established"),
        CASE(HANDSHAKE "s>c A; s>c SA seq=0 ack=1", "5: est_synack_resend\n", "established"),
        CASE(HANDSHAKE "s>c S", "4: est_syn_toclient\n", "established"),
        CASE(HANDSHAKE "c>s S seq=0", "4: est_syn_resend_diff_seq\n", "established"),
        CASE(HANDSHAKE "c>s A ack=900000", "4: pkt_invalid_ack est_invalid_ack\n", "established"),
        CASE(HANDSHAKE "c>s A seq=100000 'far", "4: est_packet_out_of_window\n", "established"),
        CASE(HANDSHAKE "c>s P 'x", "", "established"),
        CASE(HANDSHAKE "c>s A 'aaaa; s>c A; c>s A 'bbbb; c>s A seq=1 'aaaa",
             "5: c0=aaaa\n7: pkt_spurious_retransmission\n", "established"),
        CASE(HANDSHAKE "c>s A 'aaaa; c>s A 'bbbb; s>c A; c>s A seq=1 'aaaa",
             "6: c0=aaaabbbb\n7: pkt_spurious_retransmission est_pkt_before_last_ack\n",
             "established"),
        CASE(HANDSHAKE "c>s A seq=0", "", "established"),
        CASE(HANDSHAKE "c>s A win=9000; s>c A 'xx; c>s A seq=50 ack=40 win=10",
             "6: pkt_bad_window_update\n", "established"),
        CASE(WITH_TS "c>s A ts=50,500 'old", "4: pkt_invalid_timestamp\n", "established"),
    };
    RUN(cases);
}

TEST(stream_events_of_resets)
{
    static const struct event_case cases[] = {
        CASE(HANDSHAKE "c>s R seq=1", "", "closed"),
        CASE(HANDSHAKE "c>s R seq=5", "", "established"),
        WITH(HANDSHAKE "c>s R seq=5", "", "closed", "host-os-policy: { linux: [0.0.0.0/0] }"),
        CASE(HANDSHAKE "c>s RA ack=900000", "4: pkt_invalid_ack rst_invalid_ack\n",
             "established"),
        CASE(HANDSHAKE "c>s R 'bye", "4: rst_with_data\n", "closed"),
        CASE(HANDSHAKE "c>s R md5; c>s A 'on; s>c A 'still here",
             "5: suspected_rst_inject\n6: c0=on\n",
             "established"),
    };
    RUN(cases);
}

TEST(stream_events_of_closing)
{
    static const struct event_case cases[] = {
        CASE(HANDSHAKE "c>s FA ack=900000", "4: pkt_invalid_ack fin_invalid_ack\n",
             "established"),
        CASE(HANDSHAKE "c>s FA seq=900000", "4: fin_out_of_window\n", "established"),
        CASE(HANDSHAKE "c>s SFA", "4: fin_syn\n", "established"),
        CASE(SERVER_FIN "c>s FA seq=900000", "5: fin1_fin_wrong_seq\n", "fin_wait1"),
        CASE(SERVER_FIN "c>s FA ack=900000", "5: pkt_invalid_ack fin1_invalid_ack\n",
             "fin_wait1"),
        CASE(SERVER_FIN "c>s S seq=0", "5: shutdown_syn_resend\n", "fin_wait1"),
        CASE(SERVER_FIN "c>s A", "", "fin_wait2"),
        CASE(SERVER_FIN "c>s A; c>s FA", "", "time_wait"),
        CASE(SERVER_FIN "c>s A; c>s FA; s>c A", "", "closed"),
        CASE(SERVER_FIN "c>s A; c>s FA seq=900000", "6: fin2_fin_wrong_seq\n", "fin_wait2"),
        CASE(SERVER_FIN "c>s FA; s>c A seq=900", "6: timewait_ack_wrong_seq\n", "time_wait"),
        CASE(CLIENT_FIN "s>c FA", "", "last_ack"),
        CASE(CLIENT_FIN "s>c FA; c>s A", "", "closed"),
        CASE(CLIENT_FIN "s>c FA; c>s A seq=900", "6: lastack_ack_wrong_seq\n", "last_ack"),
        CASE(CLIENT_FIN "s>c FA seq=900000", "5: closewait_fin_out_of_window\n", "close_wait"),
        CASE(CLIENT_FIN "s>c A seq=900000", "5: closewait_ack_out_of_window\n", "close_wait"),
        CASE(CLIENT_FIN "s>c A ack=900000", "5: pkt_invalid_ack closewait_invalid_ack\n",
             "close_wait"),
    };
    RUN(cases);
}

TEST(stream_midstream_and_one_direction)
{
    static const struct event_case cases[] = {
        WITH("c>s A seq=100 ack=50 'hello; s>c A seq=50 ack=105 'world; c>s A seq=105 ack=55",
             "2: c0=hello\n3: s0=world\n", "established", "stream: { midstream: yes }"),
        WITH("s>c SA seq=0 ack=1; c>s A seq=1 ack=1; c>s A seq=1 ack=1 'hi; s>c A seq=1 ack=3",
             "4: c0=hi\n", "established", "stream: { midstream: yes }"),
        WITH("c>s FA seq=100 ack=50 'hello; s>c A seq=50 ack=106", "2: c0=hello\n", "fin_wait1",
             "stream: { midstream: yes }"),
        WITH("c>s S; c>s A seq=1 ack=1; c>s A seq=1 ack=1 'hello; c>s A seq=6 ack=90 'again",
             "3: c0=hello\n4: c5=again\n", "established", "stream: { async-oneside: yes }"),
        WITH("c>s S; c>s A seq=9 ack=1", "2: 3whs_async_wrong_seq\n", "syn_sent",
             "stream: { async-oneside: yes }"),
    };
    RUN(cases);
}

TEST(stream_new_session_ends_the_old_flow_first)
{
    struct script s;

    script_open(&s, NULL, false);
    s.vector_each = false;
    script_run(&s, HANDSHAKE "c>s RA; c>s S seq=5000; s>c SA seq=9000 ack=5001; ---");
    CHECK_STRING(script_log(&s), "0: end(tcp_reuse)\n");
    CHECK_STRING(s.state, "syn_recv");
    CHECK_INT(script_count(&s, "tcp.sessions"), 2);
    CHECK_INT(script_count(&s, "flow.tcp_reuse"), 1);
    script_close(t, &s);
}

TEST(stream_refused_packets_are_dropped_inline)
{
    struct script s;

    script_open(&s, NULL, true);
    script_run(&s, HANDSHAKE "c>s S seq=0");
    CHECK_INT(s.last_drop, DROP_STREAM_ERROR);
    CHECK(s.last_action & ACTION_DROP);
    script_close(t, &s);

    script_open(&s, "stream: { drop-invalid: no }", true);
    script_run(&s, HANDSHAKE "c>s S seq=0");
    CHECK(!(s.last_action & ACTION_DROP));
    script_close(t, &s);
}

TEST(stream_requests_are_followed)
{
    struct script s;

    script_open(&s, NULL, true);
    script_run(&s, HANDSHAKE "c>s A 'aa");
    flow_request(s.flow, FLOW_REQ_DROP);
    script_run(&s, "c>s A 'bb");
    CHECK_INT(s.last_drop, DROP_FLOW_DROP);
    CHECK_INT(s.data[TO_SERVER].len, 2);
    script_close(t, &s);

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s A 'aa; s>c A");
    flow_request(s.flow, FLOW_REQ_BYPASS);
    script_run(&s, "c>s A 'bb; s>c A");
    CHECK(s.last_flags & PACKET_NO_INSPECT);
    CHECK_INT(s.flow_state, FLOW_LOCAL_BYPASSED);
    CHECK_INT(script_count(&s, "flow_bypassed.local_pkts"), 2);
    CHECK_INT(s.data[TO_SERVER].len, 2);
    script_close(t, &s);
}

TEST(stream_midstream_policy_passes_the_flow)
{
    struct script s;

    script_open(&s, "stream: { midstream-policy: drop-flow }", true);
    script_run(&s, "c>s A 'aa");
    CHECK_INT(s.last_drop, DROP_STREAM_MIDSTREAM);
    script_run(&s, "c>s A 'bb");
    CHECK_INT(s.last_drop, DROP_EXCEPTION_FLOW);
    CHECK_INT(script_count(&s, "exception_policy.tcp.midstream.drop_flow"), 1);
    CHECK_INT(exception_policy_of_flow(s.flow, EXCEPTION_TARGET_MIDSTREAM), EXCEPTION_DROP_FLOW);
    script_close(t, &s);
}
