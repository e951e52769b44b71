/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ssh/tests/ssh_test.c - banners and records, in every cut. */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define CASE(list) { .port = 22, .steps = list, .count = ARRAY_LEN(list) }
#define HASSH_ON "app-layer:\n  protocols:\n    ssh:\n      hassh: yes\n"

#define KEXINIT                                                                                \
    "\x00\x00\x00\x58\x04\x14" "0123456789abcdef" "\x00\x00\x00\x04kex1" "\x00\x00\x00\x01k"   \
    "\x00\x00\x00\x02" "c1" "\x00\x00\x00\x02" "c2" "\x00\x00\x00\x02m1" "\x00\x00\x00\x02m2"  \
    "\x00\x00\x00\x01x" "\x00\x00\x00\x01y" "\x00\x00\x00\x00" "\x00\x00\x00\x00"              \
    "\x00\x00\x00\x00\x00" "pppppppppp"
#define NEWKEYS "\x00\x00\x00\x0c\x0a\x15pppppppppp"

#define BANNERS                                                                                \
    "{\"ssh\":{\"client\":{\"proto_version\":\"2.0\",\"software_version\":\"OpenSSH_9.6\"},"   \
    "\"server\":{\"proto_version\":\"2.0\",\"software_version\":\"dropbear_2022\"}}}"

static const struct split_step session[] = {
    SPLIT_TC("SSH-2.0-dropbear_2022\r\n"),
    SPLIT_TS("SSH-2.0-OpenSSH_9.6 Debian-1\r\n" KEXINIT),
    SPLIT_TC(KEXINIT NEWKEYS),
    SPLIT_TS(NEWKEYS "\xff\xff\xff\xff" "encrypted"),
    SPLIT_TC("encrypted"),
};

TEST(ssh_banners)
{
    struct split_case c = CASE(session);

    split_expect(t, &c, "tx 0 ssh " BANNERS "\nflow ssh ssh ssh\n");
}

TEST(ssh_hassh)
{
    struct split_case c = CASE(session);

    c.yaml = HASSH_ON;
    split_expect(t, &c,
                 "tx 0 ssh {\"ssh\":{\"client\":{\"proto_version\":\"2.0\",\"software_version\":"
                 "\"OpenSSH_9.6\",\"hassh\":{\"hash\":\"fe2b687dfdfae81c34a826606f947c7f\","
                 "\"string\":\"kex1;c1;m1;x\"}},\"server\":{\"proto_version\":\"2.0\","
                 "\"software_version\":\"dropbear_2022\",\"hassh\":{\"hash\":"
                 "\"035a657af3c376e9c2b3a96e206e4eea\",\"string\":\"kex1;c2;m2;y\"}}}}\n"
                 "flow ssh ssh ssh\n");
}

TEST(ssh_frames)
{
    static const struct split_step steps[] = {
        SPLIT_TS("SSH-2.0-a\n" NEWKEYS), SPLIT_TC("SSH-2.0-b\rSSH"),
    };
    struct split_case c = CASE(steps);

    c.frames = true;
    split_expect(t, &c,
                 "tx 0 ssh {\"ssh\":{\"client\":{\"proto_version\":\"2.0\",\"software_version\":"
                 "\"a\"},\"server\":{\"proto_version\":\"2.0\",\"software_version\":\"b\"}}}\n"
                 "frame tc stream 0 13\n"
                 "frame ts record.data 16 10\nframe ts record.hdr 10 6\nframe ts record.pdu 10 16\n"
                 "frame ts stream 0 26\nflow ssh ssh ssh\n");
}

TEST(ssh_bad_banner)
{
    static const struct split_step steps[] = { SPLIT_TS("SSH-2.0\r\n") };
    struct split_case c = CASE(steps);

    split_expect(t, &c, "tx 0 event invalid_banner\nflow ssh ssh unknown\n");
}

TEST(ssh_bad_record)
{
    static const struct split_step steps[] = { SPLIT_TS("SSH-2.0-a\r\n\x00\x00\x00\x01") };
    struct split_case c = CASE(steps);

    split_expect(t, &c,
                 "tx 0 ssh {\"ssh\":{\"client\":{\"proto_version\":\"2.0\",\"software_version\":"
                 "\"a\"}}}\ntx 0 event invalid_record\nflow ssh ssh unknown\n");
}

/* Kept in part, however far its end is. */
TEST(ssh_long_banner)
{
    static char line[1000];
    const struct split_step steps[] = {
        { TO_SERVER, line, sizeof(line) }, SPLIT_TC("SSH-1.99-x\r\n"),
    };
    struct split_case c = CASE(steps);
    char *text;

    memset(line, 'a', sizeof(line));
    memcpy(line, "SSH-2.0-", 8);
    memcpy(line + sizeof(line) - 2, "\r\n", 2);
    split_check(t, &c);
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, "tx 0 event long_banner\n") != NULL);
    CHECK(strstr(text, "\"proto_version\":\"1.99\"") != NULL);
    free(text);
}
