/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include <stdlib.h>

TEST(mdns_question_and_answer)
{
    static const char question[] = "\0\0\0\0\0\1\0\0\0\0\0\0" "\4_ipp\4_tcp\5local\0\0\x0c\0\1";
    static const char reply[] = "\0\0\x84\0\0\0\0\1\0\0\0\1"
        "\4_ipp\4_tcp\5local\0\0\x0c\0\1\0\0\0\x78\0\5\2me\xc0\x0c"
        "\xc0\x27\0\x10\x80\1\0\0\0\x78\0\6\3a=1\1b";
    static const struct split_step steps[] = { { TO_SERVER, question, sizeof(question) - 1 },
                                               { TO_SERVER, reply, sizeof(reply) - 1 } };
    const struct split_case c = { .udp = true, .port = 5353, .steps = steps, .count = 2 };

    split_expect(t, &c,
                 "tx 0 mdns {\"mdns\":{\"type\":\"request\",\"id\":0,\"opcode\":0,\"rcode\":0,"
                 "\"queries\":[{\"rrname\":\"_ipp._tcp.local\",\"rrtype\":\"ptr\"}]}}\n"
                 "tx 1 mdns {\"mdns\":{\"type\":\"response\",\"id\":0,\"flags\":[\"aa\"],"
                 "\"opcode\":0,\"rcode\":0,"
                 "\"answers\":[{\"rrname\":\"_ipp._tcp.local\",\"ptr\":\"me._ipp._tcp.local\"}],"
                 "\"additionals\":[{\"rrname\":\"me._ipp._tcp.local\",\"txt\":[\"a=1\",\"b\"]}]}}\n"
                 "flow mdns mdns unknown\n");
}
