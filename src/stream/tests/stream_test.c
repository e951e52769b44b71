/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream/tcp_session.h"
#include "stream/tests/script.h"

#define HANDSHAKE "c>s S; s>c SA; c>s A;"

TEST(stream_hands_off_acked_data)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s PA 'hello; s>c A; s>c PA 'world; c>s A; c>s FA; s>c FA; c>s A");
    CHECK_STRING(script_log(&s), "5: c0=hello\n7: s0=world\n");
    CHECK_STRING(s.state, "closed");
    script_run(&s, "end");
    CHECK_STRING(script_log(&s), "0: end(shutdown)\n");
    script_close(t, &s);
}

TEST(stream_inline_hands_off_at_once)
{
    struct script s;

    script_open(&s, NULL, true);
    script_run(&s, HANDSHAKE "c>s PA 'hello; s>c A; s>c PA 'world");
    CHECK_STRING(script_log(&s), "4: c0=hello\n6: s0=world\n");
    script_close(t, &s);
}

TEST(stream_unacked_data_come_with_the_end)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, HANDSHAKE "c>s PA 'hello; end");
    CHECK_STRING(script_log(&s), "0: c0=hello end(shutdown)\n");
    script_close(t, &s);
}

/* More holes than a packet has chunks, and then the flow is dropped: its end must come all the
 * same, and bring nothing. */
TEST(stream_ends_a_dropped_flow_whose_chunks_wait)
{
    struct script s;

    script_open(&s, NULL, false);
    script_run(&s, "c>s S; s>c SA; c>s A; c>s PA seq=11 x=1,a; c>s PA seq=31 x=1,b; "
               "c>s PA seq=51 x=1,c; s>c A ack=52");
    CHECK_STRING(script_log(&s), "7: reassembly_seq_gap reassembly_seq_gap "
                 "c0~10 c10=a c11~19 c30=b\n");
    CHECK(s.flow != NULL && (s.flow->tcp->flags & SSN_WAITS(TO_SERVER)) != 0);
    s.flow->drop_all = true;
    script_run(&s, "end");
    CHECK_INT(s.flow_ends, 1);
    CHECK_STRING(script_log(&s), "0: end(shutdown)\n");
    script_close(t, &s);
}
