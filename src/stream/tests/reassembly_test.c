/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream/tcp_session.h"
#include "base/tests/pressure.h"
#include "stream/reassembly.h"
#include "stream/stream_thread.h"
#include "stream/tests/script.h"

#include <stdlib.h>
#include <string.h>

#define HANDSHAKE "c>s S ws=7; s>c SA ws=7; c>s A;"

/* ---- any cut, any order ---- */

#define TOTAL 60000u

static uint32_t next_random(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void send_range(struct script *s, const uint8_t *data, uint32_t from, uint32_t to)
{
    script_packet(s, TO_SERVER, TCP_ACK | TCP_PSH, 1 + from, 1, data + from, to - from);
}

/* Pieces of 1 to 1500 bytes of the next 30,000, in random order, some twice, until all came. */
static void send_window(struct script *s, const uint8_t *data, uint32_t from, uint32_t to,
                        uint32_t *state)
{
    uint8_t *seen = calloc(1, TOTAL);
    uint32_t left = to - from;

    while (left > 0) {
        uint32_t at = from + next_random(state) % (to - from);
        uint32_t end = at + 1 + next_random(state) % 1500;

        end = MIN(end, to);
        if (left < 3000 && seen[at])
            continue;
        send_range(s, data, at, end);
        for (uint32_t i = at; i < end; i++) {
            left -= !seen[i];
            seen[i] = 1;
        }
        if (next_random(state) % 5 == 0)
            script_packet(s, TO_CLIENT, TCP_ACK, 1, 1 + from, NULL, 0);
        if (next_random(state) % 7 == 0)
            script_vector(s);
    }
    script_packet(s, TO_CLIENT, TCP_ACK, 1, 1 + to, NULL, 0);
    script_vector(s);
    free(seen);
}

static void any_order(struct test *t, uint32_t seed, const char *yaml, bool is_inline,
                      bool handoff)
{
    uint8_t *data = malloc(TOTAL);
    uint32_t state = seed;
    struct script s;

    if (handoff)
        script_open_handoff(&s, yaml);
    else
        script_open(&s, yaml, is_inline);
    for (uint32_t i = 0; i < TOTAL; i++)
        data[i] = (uint8_t)next_random(&state);
    script_run(&s, HANDSHAKE "---");
    s.vector_each = false;
    for (uint32_t from = 0; from < TOTAL; from += 30000)
        send_window(&s, data, from, MIN(from + 30000, TOTAL), &state);
    CHECK_BYTES(s.data[TO_SERVER].data, s.data[TO_SERVER].len, data, TOTAL);
    CHECK(strstr(script_log(&s), "LOOKBACK-WRONG") == NULL);
    script_close(t, &s);
    free(data);
}

TEST(stream_any_segmentation_and_order_gives_the_same_bytes)
{
    for (uint32_t seed = 1; seed <= 8; seed++) {
        any_order(t, seed, NULL, false, false);
        any_order(t, seed, NULL, true, false);
        any_order(t, seed, NULL, false, true);
        any_order(t, seed, "stream: { reassembly: { toserver-chunk-size: 100, "
                           "check-overlap-different-data: yes } }", false, false);
    }
}

/* ---- what is handed off when ---- */

TEST(stream_out_of_order_waits_for_the_hole)
{
    struct script s;

    script_open(&s, NULL, false);
    s.show_before = true;
    script_run(&s, HANDSHAKE "c>s A seq=6 'world; s>c A ack=1; c>s A seq=1 'hello; s>c A ack=11");
    CHECK_STRING(script_log(&s), "7: c0<0=helloworld\n");
    script_run(&s, "c>s A seq=11 '!; s>c A ack=12");
    CHECK_STRING(script_log(&s), "9: c10<10=!\n");
    script_close(t, &s);
}

/* Far more segments than may wait one by one; some are sent again. */
TEST(stream_many_small_segments_wait_for_the_hole)
{
    static uint8_t data[20000];
    struct script s;

    for (uint32_t i = 0; i < sizeof(data); i++)
        data[i] = (uint8_t)(i * 31 + i / 251);
    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "---");
    s.vector_each = false;
    for (uint32_t at = 1; at < sizeof(data); at++) {
        send_range(&s, data, at, at + 1);
        if (at % 1500 == 0)
            send_range(&s, data, at - 300, at - 200);
        if (at % 100 == 0)
            script_vector(&s);
    }
    send_range(&s, data, 0, 1);
    script_packet(&s, TO_CLIENT, TCP_ACK, 1, 1 + sizeof(data), NULL, 0);
    script_vector(&s);
    CHECK_BYTES(s.data[TO_SERVER].data, s.data[TO_SERVER].len, data, sizeof(data));
    CHECK_INT(script_count(&s, "tcp.insert_data_normal_fail"), 0);
    script_close(t, &s);
}

TEST(stream_partly_acked_data)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s A 'helloworld; s>c A ack=6; s>c A ack=11");
    CHECK_STRING(script_log(&s), "5: c0=hello\n6: c5=world\n");
    script_close(t, &s);
}

TEST(stream_gap_is_signalled_when_acked)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s A 'aaaa; c>s A seq=9 'cccc; s>c A ack=13; "
                             "c>s A seq=13 'dddd; s>c A ack=17");
    CHECK_STRING(script_log(&s), "6: reassembly_seq_gap c0=aaaa c4~4 c8=cccc\n8: c12=dddd\n");
    CHECK_INT(script_count(&s, "tcp.reassembly_gap"), 1);
    script_run(&s, "c>s A seq=5 'late");
    CHECK_STRING(script_log(&s), "9: pkt_spurious_retransmission\n");
    script_close(t, &s);
}

TEST(stream_many_gaps_come_with_later_packets)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s A seq=2 'a; c>s A seq=4 'b; c>s A seq=6 'c; c>s A seq=8 'd;"
                             "s>c A ack=9; s>c A ack=9; end");
    CHECK_STRING(script_log(&s),
                 "8: reassembly_seq_gap reassembly_seq_gap c0~1 c1=a c2~1 c3=b\n"
                 "9: reassembly_seq_gap reassembly_seq_gap c4~1 c5=c c6~1 c7=d\n"
                 "0: end(shutdown)\n");
    script_close(t, &s);
}

TEST(stream_more_chunks_than_one_flow_end_holds)
{
    struct script s;

    script_open(&s, NULL, false);
    s.vector_each = false;
    script_run(&s, HANDSHAKE "c>s A seq=2 'a; c>s A seq=4 'b; c>s A seq=6 'c; c>s A seq=8 'd;"
                             "c>s A seq=10 'e; s>c A ack=11; end");
    CHECK_STRING(script_log(&s),
                 "9: reassembly_seq_gap reassembly_seq_gap c0~1 c1=a c2~1 c3=b\n"
                 "0: reassembly_seq_gap reassembly_seq_gap c4~1 c5=c c6~1 c7=d\n"
                 "0: reassembly_seq_gap c8~1 c9=e end(shutdown)\n");
    script_close(t, &s);
}

TEST(stream_rst_makes_own_data_available)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s A 'hello; c>s RA");
    CHECK_STRING(script_log(&s), "5: c0=hello\n");
    CHECK_STRING(s.state, "closed");
    script_close(t, &s);
}

TEST(stream_fin_with_data)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s FA 'bye; s>c A; s>c FA 'ciao; c>s A");
    CHECK_STRING(script_log(&s), "5: c0=bye\n7: s0=ciao\n");
    CHECK_STRING(s.state, "closed");
    script_close(t, &s);
}

TEST(stream_depth_ends_a_direction)
{
    struct script s;

    script_open(&s, "stream: { reassembly: { depth: 8 } }", false);
    script_run(&s, HANDSHAKE "c>s A 'aaaa; s>c A; c>s A 'bbbb; s>c A; c>s A 'cccc; s>c A;"
                             "c>s A 'dddd; s>c A; s>c A 'xx; c>s A");
    CHECK_STRING(script_log(&s), "5: c0=aaaa\n7: c4=bbbb\n8: reassembly_depth_reached c8= depth\n"
                                 "13: s0=xx\n");
    CHECK_INT(script_count(&s, "tcp.stream_depth_reached"), 1);
    script_close(t, &s);
}

TEST(stream_depth_gives_way_to_requests)
{
    struct script s;

    script_open(&s, "stream: { reassembly: { depth: 8 } }", false);
    script_run(&s, HANDSHAKE "c>s A 'aaaa; s>c A");
    flow_request(s.flow, FLOW_REQ_DEPTH_FREE_TS);
    script_run(&s, "c>s A x=100,b; s>c A; s>c A x=9,c; c>s A");
    CHECK_INT(s.data[TO_SERVER].len, 104);
    CHECK_INT(s.data[TO_CLIENT].len, 0);
    script_close(t, &s);
}

/* An ACK that runs ahead makes the last byte before it look like a keep-alive. */
TEST(stream_takes_a_byte_for_data_when_it_is_new)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s A 'aaaa; s>c A; c>s A seq=8; c>s A seq=5 'bb; c>s A seq=7 'b;"
                             "s>c A ack=8");
    CHECK_INT(s.data[TO_SERVER].len, 7);
    script_run(&s, "c>s A seq=7 'b; s>c A ack=8");              /* and this is one */
    CHECK_INT(s.data[TO_SERVER].len, 7);
    script_close(t, &s);
}

TEST(stream_stops_when_nothing_requires_it)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s A 'aaaa; s>c A");
    flow_request(s.flow, FLOW_REQ_NO_STREAM_TS);
    script_run(&s, "c>s A 'bbbb; s>c A; c>s A 'cccc; s>c A; s>c A 'xx; c>s A");
    CHECK_INT(s.data[TO_SERVER].len, 4);
    CHECK_INT(s.data[TO_CLIENT].len, 2);
    script_close(t, &s);
}

TEST(stream_lookback_has_its_limit)
{
    struct script s;

    script_open(&s, "stream: { reassembly: { toserver-chunk-size: 6 } }", false);
    s.show_before = true;
    script_run(&s, HANDSHAKE "c>s A 'aaaa; s>c A; c>s A 'bbbb; s>c A; c>s A 'cccc; s>c A");
    CHECK_STRING(script_log(&s), "5: c0<0=aaaa\n7: c4<4=bbbb\n9: c8<6=cccc\n");
    script_close(t, &s);
}

/* A flow at rest holds no data that rules have reported on, and what comes next has nothing of it
 * behind it. */
TEST(stream_data_below_raw_progress_are_pruned)
{
    struct script s;

    script_open(&s, NULL, false);
    s.show_before = true;
    script_run(&s, HANDSHAKE "c>s A 'aaaa; s>c A; c>s A 'bb; s>c A");
    s.flow->raw_progress[TO_SERVER] = 4;
    script_run(&s, "c>s A");
    CHECK(s.flow->tcp->stream[TO_SERVER].buffer != NULL);
    s.flow->raw_progress[TO_SERVER] = 6;
    script_run(&s, "c>s A");
    CHECK(s.flow->tcp->stream[TO_SERVER].buffer == NULL);
    script_run(&s, "c>s A 'cc; s>c A");
    CHECK_STRING(script_log(&s), "5: c0<0=aaaa\n7: c4<4=bb\n11: c6<0=cc\n");
    script_close(t, &s);
}

/* As before a vector, when some slabs more have been taken: enough for all buckets of the table. */
static void shrink(struct script *s)
{
    s->st->vector_number++;
    for (unsigned i = 0; i < 8; i++) {
        s->st->shrink.grown--;
        stream_shrink(s->st);
    }
}

/* Rules have finished with most of a burst, but the flow stays idle. */
TEST(stream_buffers_of_idle_flows_shrink_while_memory_grows)
{
    struct script s;
    const struct tcp_stream *stream;

    script_open(&s, NULL, false);
    s.show_before = true;
    script_run(&s, HANDSHAKE "c>s A x=1400,a; c>s A x=1400,b; c>s A x=1400,c; s>c A");
    stream = &s.flow->tcp->stream[TO_SERVER];
    shrink(&s);
    CHECK_INT(block_size(stream->block_class), 2560);           /* how far rules look back */
    CHECK_INT(stream->len, 2560);
    s.flow->raw_progress[TO_SERVER] = 4000;
    shrink(&s);
    CHECK_INT(block_size(stream->block_class), 224);
    CHECK_INT(stream->len, 200);
    (void)script_log(&s);
    script_run(&s, "c>s A 'dd; s>c A");
    CHECK_STRING(script_log(&s), "9: c4200<200=dd\n");
    s.flow->raw_progress[TO_SERVER] = 4202;
    shrink(&s);
    CHECK(stream->buffer == NULL);
    CHECK_INT(s.data[TO_SERVER].len, 4202);
    script_close(t, &s);
}

/* Data that were not acknowledged are not handed off yet. */
TEST(stream_buffers_keep_what_is_not_handed_off)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s A x=1400,a; c>s A x=600,b; s>c A ack=1401");
    s.flow->raw_progress[TO_SERVER] = 1400;
    shrink(&s);
    CHECK_INT(block_size(s.flow->tcp->stream[TO_SERVER].block_class), 640);
    script_run(&s, "s>c A ack=2001");
    CHECK_INT(s.data[TO_SERVER].len, 2000);
    CHECK_INT(s.data[TO_SERVER].data[1999], 'b');
    script_close(t, &s);
}

TEST(stream_data_memcap_is_counted_and_survived)
{
    struct script s;

    script_open(&s, "stream: { reassembly: { memcap: 8kb, memcap-policy: drop-flow } }", true);
    script_run(&s, HANDSHAKE);
    for (unsigned i = 0; i < 20; i++)
        script_run(&s, "c>s A x=1400,a");
    CHECK(script_count(&s, "tcp.segment_memcap_drop") > 0);
    CHECK_INT(s.last_drop, DROP_EXCEPTION_FLOW);
    CHECK_INT(script_count(&s, "exception_policy.tcp.reassembly.drop_flow"), 1);
    script_close(t, &s);
}

TEST(stream_session_memcap_is_counted_and_survived)
{
    struct script s;

    script_open(&s, "stream: { memcap: 100 }", false);
    script_run(&s, HANDSHAKE "c>s A 'hello; s>c A; end");
    CHECK_INT(script_count(&s, "tcp.ssn_memcap_drop"), 1);
    CHECK_STRING(script_log(&s), "0: end(shutdown)\n");
    script_close(t, &s);
}

TEST(stream_urgent_byte_goes_out_of_band)
{
    struct script s;

    script_open(&s, "stream: { reassembly: { urgent: { policy: oob } } }", false);
    script_run(&s, HANDSHAKE "c>s UA urg=3 'abX; s>c A; c>s A 'cd; s>c A; c>s A 'ef; s>c A");
    CHECK_BYTES(s.data[TO_SERVER].data, s.data[TO_SERVER].len, "abcdef", 6);
    CHECK_INT(script_count(&s, "tcp.urgent_oob_data"), 1);
    script_close(t, &s);
}

TEST(stream_urgent_policies)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s UA urg=3 'abX; s>c A; c>s A 'cd; s>c A");
    CHECK_BYTES(s.data[TO_SERVER].data, s.data[TO_SERVER].len, "abXcd", 5);
    script_close(t, &s);

    script_open(&s, "stream: { reassembly: { urgent: { policy: gap } } }", false);
    script_run(&s, HANDSHAKE "c>s UA urg=3 'abX; s>c A; c>s A 'cd; s>c A");
    CHECK_STRING(script_log(&s), "5: c0=ab\n7: reassembly_seq_gap c2~1 c3=cd\n");
    script_close(t, &s);

    script_open(&s, "stream: { reassembly: { urgent: { policy: drop } } }", true);
    script_run(&s, HANDSHAKE "c>s UA urg=3 'abX");
    CHECK_INT(s.last_drop, DROP_STREAM_URGENT);
    script_close(t, &s);
}

/* The last step of giving memory back: a direction with a buffer of 64 KiB goes on without payload, a
 * smaller one keeps it. */
static bool is_given_up(struct test *t, unsigned percent, unsigned bytes)
{
    static uint8_t data[1000];
    struct script s;
    void *block;
    bool result;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "---");
    block = pressure_begins(percent);
    for (uint32_t at = 0; at < bytes; at += sizeof(data))
        script_packet(&s, TO_SERVER, TCP_ACK, 1 + at, 1, data, sizeof(data));
    script_vector(&s);
    script_packet(&s, TO_CLIENT, TCP_ACK, 1, 1 + bytes, NULL, 0);
    script_vector(&s);
    result = s.data[TO_SERVER].len == 0;
    script_close(t, &s);
    pressure_ends(block);
    return result;
}

TEST(stream_largest_goes_on_without_payload)
{
    CHECK(!is_given_up(t, 90, 60000));
    CHECK(!is_given_up(t, 96, 5000));
    CHECK(is_given_up(t, 96, 60000));
}

/* As many blocks behind holes as a packet has chunks, and data of the other side: these wait for a
 * second packet, which must not begin with the blocks again. */
TEST(stream_end_with_blocks_and_data_of_the_other_side)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s A seq=10 'a; c>s A seq=20 'b; c>s A seq=30 'c; c>s A seq=40 'd;"
                             "s>c A seq=1 ack=1 'hello; end");
    CHECK_STRING(script_log(&s), "0: s0=hello again c9=a again c19=b again c29=c end(shutdown)\n");
    CHECK_INT(s.flow_ends, 1);
    script_close(t, &s);
}

/* In-order data of both sides fill the packet: the blocks come with another one. */
TEST(stream_end_with_blocks_after_a_full_packet)
{
    struct script s;

    script_open(&s, "stream: { reassembly: { toserver-chunk-size: 1, toclient-chunk-size: 1 } }",
                false);
    script_run(&s, HANDSHAKE "c>s A 'ab; s>c A seq=1 ack=1 'cd; c>s A seq=20 'x; end");
    CHECK_INT(s.flow_ends, 1);
    CHECK_BYTES(s.data[TO_SERVER].data, s.data[TO_SERVER].len, "ab", 2);
    script_close(t, &s);
}
