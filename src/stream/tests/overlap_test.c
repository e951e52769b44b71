/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "stream/tests/script.h"

#include <stdio.h>
#include <string.h>

/* Nine blocks, one for each way in which a new segment (small letter) can meet an old one
 * (capital): by start and end before, with, or after it; then one new segment over three old
 * ones, and one over all of those. Dots fill what is left. */
static const struct {
    uint8_t offset, len;
    char letter;
} model[] = {
    { 4, 8, 'A' }, { 24, 8, 'B' }, { 44, 8, 'C' }, { 64, 8, 'D' }, { 84, 8, 'E' },
    { 104, 8, 'F' }, { 124, 8, 'G' }, { 144, 8, 'H' }, { 164, 8, 'I' },
    { 2, 8, 'a' }, { 22, 10, 'b' }, { 42, 12, 'c' }, { 64, 6, 'd' }, { 84, 8, 'e' },
    { 104, 10, 'f' }, { 126, 4, 'g' }, { 146, 6, 'h' }, { 166, 8, 'i' },
    { 182, 4, 'P' }, { 188, 4, 'Q' }, { 194, 4, 'R' }, { 184, 12, 'p' }, { 180, 20, 'z' },
    { 0, 2, '.' }, { 12, 10, '.' }, { 32, 10, '.' }, { 54, 10, '.' }, { 72, 12, '.' },
    { 92, 12, '.' }, { 114, 10, '.' }, { 132, 12, '.' }, { 152, 12, '.' }, { 174, 6, '.' },
};

#define STARTS_FIRST                                                                     \
    "..aaaaaaaaAA..........bbbbbbbbbb..........cccccccccccc..........DDDDDDDD..........." \
    ".EEEEEEEE............FFFFFFFFff..........GGGGGGGG............HHHHHHHH............II" \
    "IIIIIIii......zzzzzzzzzzzzzzzzzzzz"
#define COVERS_TO_END                                                                    \
    "..aaAAAAAAAA..........bbbbbbbbbb..........cccccccccccc..........DDDDDDDD..........." \
    ".eeeeeeee............ffffffffff..........GGGGGGGG............HHHHHHHH............II" \
    "iiiiiiii......zzzzzzzzzzzzzzzzzzzz"

static const struct {
    const char *os, *data;
} outcomes[] = {
    { "bsd", STARTS_FIRST },
    { "bsd-right", STARTS_FIRST },
    { "hpux10", STARTS_FIRST },
    { "irix", STARTS_FIRST },
    { "macos", STARTS_FIRST },
    { "windows", STARTS_FIRST },
    { "windows2k3", STARTS_FIRST },
    { "solaris", COVERS_TO_END },
    { "old-solaris", COVERS_TO_END },
    { "hpux11", COVERS_TO_END },
    { "linux",
      "..aaaaaaaaAA..........bbbbbbbbbb..........cccccccccccc..........DDDDDDDD..........."
      ".EEEEEEEE............ffffffffff..........GGGGGGGG............HHHHHHHH............II"
      "IIIIIIii......zzzzzzzzzzzzzzzzzzzz" },
    { "old-linux",
      "..aaaaaaaaAA..........bbbbbbbbbb..........cccccccccccc..........DDDDDDDD..........."
      ".eeeeeeee............ffffffffff..........GGGGGGGG............HHHHHHHH............II"
      "IIIIIIii......zzzzzzzzzzzzzzzzzzzz" },
    { "vista",
      "..aaAAAAAAAA..........bbBBBBBBBB..........ccCCCCCCCCcc..........DDDDDDDD..........."
      ".EEEEEEEE............FFFFFFFFff..........GGGGGGGG............HHHHHHHH............II"
      "IIIIIIii......zzPPPPppQQQQppRRRRzz" },
};

static void run_model(struct script *s)
{
    char data[32];

    script_run(s, "c>s S; s>c SA; c>s A");
    for (unsigned i = 0; i < ARRAY_LEN(model); i++) {
        memset(data, model[i].letter, model[i].len);
        script_packet(s, TO_SERVER, TCP_ACK | TCP_PSH, 1u + model[i].offset, 1, data,
                      model[i].len);
        script_vector(s);
    }
    script_run(s, "s>c A ack=201");
}

TEST(stream_overlap_by_system)
{
    for (unsigned i = 0; i < ARRAY_LEN(outcomes); i++) {
        struct script s;
        char yaml[80];

        snprintf(yaml, sizeof(yaml), "host-os-policy: { %s: [10.0.0.0/8] }", outcomes[i].os);
        script_open(&s, yaml, false);
        run_model(&s);
        CHECK_BYTES(s.data[TO_SERVER].data, s.data[TO_SERVER].len, outcomes[i].data,
                    strlen(outcomes[i].data));
        CHECK(script_count(&s, "tcp.overlap") > 0);
        script_close(t, &s);
    }
}

TEST(stream_overlap_policy_goes_by_longest_prefix)
{
    struct script s;

    script_open(&s, "host-os-policy: { vista: [0.0.0.0/0], old-linux: [10.0.0.2], "
                    "solaris: [10.0.0.0/24] }", false);
    run_model(&s);
    CHECK_BYTES(s.data[TO_SERVER].data, s.data[TO_SERVER].len, outcomes[11].data,
                strlen(outcomes[11].data));
    script_close(t, &s);
}

/* Inline what came first has been passed on, whatever the host. */
TEST(stream_overlap_inline_keeps_the_first)
{
    struct script s;

    script_open(&s, "host-os-policy: { old-linux: [0.0.0.0/0] }", true);
    run_model(&s);
    CHECK_BYTES(s.data[TO_SERVER].data, s.data[TO_SERVER].len, outcomes[12].data,
                strlen(outcomes[12].data));
    CHECK(script_count(&s, "tcp.overlap_diff_data") > 0);
    script_close(t, &s);
}

TEST(stream_overlap_inline_rewrites_the_packet)
{
    struct script s;

    script_open(&s, NULL, true);
    script_run(&s, "c>s S; s>c SA; c>s A; c>s PA 'hello; c>s PA seq=1 'HELLO");
    CHECK(s.last_flags & PACKET_MODIFIED);
    CHECK_STRING(script_log(&s), "4: c0=hello\n"
                                 "5: reassembly_overlap_different_data again c0=hello\n");
    CHECK_INT(script_count(&s, "tcp.overlap_diff_data"), 0);
    script_run(&s, "c>s PA seq=3 'LLO!!");
    CHECK_STRING(script_log(&s), "6: reassembly_overlap_different_data "
                                 "reassembly_overlap_different_data c5=!!\n");
    CHECK_INT(script_count(&s, "tcp.overlap_diff_data"), 1);
    script_close(t, &s);
}

/* What is sent again brings nothing to the stream: inline rules look at it again, for its first
 * copy may have been dropped. */
TEST(stream_retransmission_inline_is_reinspected)
{
    struct script s;

    script_open(&s, NULL, true);
    script_run(&s, "c>s S; s>c SA; c>s A; c>s PA 'hello");
    CHECK(s.last_flags & PACKET_STREAM_ADDED);
    script_run(&s, "c>s PA seq=1 'hello");
    CHECK_STRING(script_log(&s), "4: c0=hello\n5: again c0=hello\n");
    script_run(&s, "c>s PA seq=4 'lo, you");
    CHECK(s.last_flags & PACKET_STREAM_ADDED);
    script_close(t, &s);
}

TEST(stream_overlap_different_data_when_asked)
{
    struct script s;

    script_open(&s, "stream: { reassembly: { check-overlap-different-data: yes } }", false);
    script_run(&s, "c>s S; s>c SA; c>s A; c>s PA 'hello; c>s PA seq=1 'hello; c>s PA seq=1 'HELL");
    CHECK_STRING(script_log(&s), "6: reassembly_overlap_different_data\n");
    CHECK_INT(script_count(&s, "tcp.overlap"), 2);
    CHECK_INT(script_count(&s, "tcp.overlap_diff_data"), 1);
    script_close(t, &s);
}

/* A rule on the event asks for it. What the other side has acknowledged, rules have reported on and
 * the parser has taken is compared all the same, a window back. */
TEST(stream_overlap_different_data_when_rules_ask)
{
    struct script s;

    script_open(&s, NULL, false);
    stream_conf_set_compare(s.conf, true);
    script_run(&s, "c>s S; s>c SA; c>s A; c>s PA 'hello; s>c A; c>s PA ' there; s>c A");
    script_run(&s, "c>s PA seq=3 'LLO THERE");
    CHECK_STRING(script_log(&s), "5: c0=hello\n8: pkt_spurious_retransmission "
                                 "reassembly_overlap_different_data\n");
    CHECK_INT(script_count(&s, "tcp.overlap_diff_data"), 1);
    script_close(t, &s);
}

TEST(stream_overlap_is_not_compared_when_nobody_asks)
{
    struct script s;

    script_open(&s, NULL, false);
    stream_conf_set_compare(s.conf, true);
    stream_conf_set_compare(s.conf, false);
    stream_conf_set_lookback(s.conf, false);
    script_run(&s, "c>s S; s>c SA; c>s A; c>s PA 'hello; s>c A; c>s A");
    CHECK_INT(script_count(&s, "tcp.reassembly_memuse"), 0);
    script_run(&s, "c>s PA seq=3 'LLO");
    CHECK_STRING(script_log(&s), "5: c0=hello\n7: pkt_spurious_retransmission\n");
    script_close(t, &s);
}

/* What lies more than a window back is forgotten. */
TEST(stream_overlap_is_compared_a_window_back)
{
    struct script s;
    char data[120];

    script_open(&s, NULL, false);
    stream_conf_set_compare(s.conf, true);
    script_run(&s, "c>s S; s>c SA win=100; c>s A; c>s PA x=80,a; s>c A win=100; c>s PA x=80,b; "
                   "s>c A win=100; c>s A");
    memset(data, 'b', sizeof(data));
    memset(data, 'a', 40);
    data[19] = 'X';
    script_packet(&s, TO_SERVER, TCP_ACK | TCP_PSH, 41, 1, data, sizeof(data));
    script_vector(&s);
    CHECK_INT(script_count(&s, "tcp.overlap"), 1);
    CHECK_INT(script_count(&s, "tcp.overlap_diff_data"), 0);
    data[20] = 'X';
    script_packet(&s, TO_SERVER, TCP_ACK | TCP_PSH, 41, 1, data, sizeof(data));
    script_vector(&s);
    CHECK_INT(script_count(&s, "tcp.overlap_diff_data"), 1);
    script_close(t, &s);
}

/* Data kept to compare with leave room for new ones. */
TEST(stream_kept_to_compare_gives_way)
{
    struct script s;

    script_open(&s, "stream: { reassembly: { memcap: 64kb } }", false);
    stream_conf_set_compare(s.conf, true);
    script_run(&s, "c>s S; s>c SA win=65000; c>s A");
    for (unsigned i = 0; i < 60; i++)
        script_run(&s, "c>s PA x=1000,a; s>c A win=65000");
    CHECK_INT(s.data[TO_SERVER].len, 60000);
    CHECK_INT(script_count(&s, "tcp.segment_memcap_drop"), 0);
    script_close(t, &s);
}
