/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

TEST(telnet_frames)
{
    static const struct split_step steps[] = {
        SPLIT_TC("\xff\xfd\x18\xff\xfa\x18\x01\xff\xff\xff\xf0login: "),
        SPLIT_TS("\xff\xfb\x18me\r\n"), SPLIT_TC("Password: "), SPLIT_TS("pw\r\n"),
        SPLIT_TC("\r\nLogin incorrect\r\nlogin: "), SPLIT_TS("\xff\xf1x\r\n"),
    };
    struct split_case c = { .port = 23, .steps = steps, .count = ARRAY_LEN(steps),
                            .frames = true };

    split_expect(t, &c,
                 "frame tc ctl 0 3\nframe tc ctl 3 6\nframe tc ctl 9 2\nframe tc data 11 7\nframe tc data 18 10\n"
                 "frame tc data 28 2\nframe tc data 30 17\nframe tc data 47 7\n"
                 "frame tc pdu 0 3\nframe tc pdu 11 7\nframe tc pdu 18 10\nframe tc pdu 28 2\n"
                 "frame tc pdu 3 6\nframe tc pdu 30 17\nframe tc pdu 47 7\nframe tc pdu 9 2\n"
                 "frame tc stream 0 54\n"
                 "frame ts ctl 0 3\nframe ts ctl 11 2\nframe ts data 13 3\nframe ts data 3 4\n"
                 "frame ts data 7 4\nframe ts pdu 0 3\nframe ts pdu 11 2\nframe ts pdu 13 3\n"
                 "frame ts pdu 3 4\nframe ts pdu 7 4\nframe ts stream 0 16\n"
                 "flow telnet telnet telnet\n");
}
