/* SPDX-License-Identifier: GPL-2.0-or-later */
/* LLMNR over UDP, over TCP in every cut, with each flag and event of its own. */
#include "app/tests/split.h"

#include <stdlib.h>
#include <string.h>

#define ON "app-layer: { protocols: { llmnr: { enabled: yes } } }\n"
#define HEAD(flags, q, an, au, ad) "\x12\x34" flags "\0" q "\0" an "\0" au "\0" ad
#define ASK "\2pc\5local\0\0\1\0\1"

/* Tentative; with an OPT record that has no option. */
static const char request[] = HEAD("\1\0", "\1", "\0", "\0", "\1") ASK
    "\0\0\x29\x10\0\0\0\0\0\0\0";
/* Conflict and truncated; A, PTR, NS, and an OPT record with an option. */
static const char response[] = HEAD("\x86\0", "\1", "\2", "\1", "\1") ASK
    "\xc0\x0c\0\1\0\1\0\0\0\x1e\0\4\x0a\1\2\3"
    "\xc0\x0c\0\x0c\0\1\0\0\0\x1e\0\6\3web\xc0\x0f"
    "\xc0\x0f\0\2\0\1\0\0\0\x1e\0\5\2ns\xc0\x0f"
    "\0\0\x29\x10\0\0\0\0\0\0\6\0\x0a\0\2\xab\xcd";

#define REQUEST                                                                               \
    "llmnr {\"llmnr\":{\"type\":\"request\",\"id\":4660,\"flags\":[\"t\"],\"opcode\":0,"       \
    "\"queries\":[{\"rrname\":\"pc.local\",\"rrtype\":\"a\"}]}}\n"
#define RESPONSE                                                                              \
    "llmnr {\"llmnr\":{\"type\":\"response\",\"id\":4660,\"flags\":[\"c\",\"tc\"],"            \
    "\"opcode\":0,\"queries\":[{\"rrname\":\"pc.local\",\"rrtype\":\"a\"}],"                  \
    "\"answers\":[{\"rrname\":\"pc.local\",\"a\":\"10.1.2.3\"},"                              \
    "{\"rrname\":\"pc.local\",\"ptr\":\"web.local\"}],"                                       \
    "\"authorities\":[{\"rrname\":\"local\",\"ns\":\"ns.local\"}],"                           \
    "\"additionals\":[{\"rrname\":\"\",\"opt\":[{\"code\":10,\"data\":\"abcd\"}]}]}}\n"

TEST(llmnr_udp_question_and_answer)
{
    static const struct split_step steps[] = { { TO_SERVER, request, sizeof(request) - 1 },
                                               { TO_CLIENT, response, sizeof(response) - 1 } };
    const struct split_case c = { .udp = true, .port = 5355, .steps = steps, .count = 2,
                                  .yaml = ON };

    split_expect(t, &c, "tx 0 " REQUEST "tx 1 " RESPONSE "flow llmnr llmnr llmnr\n");
}

/* A length, then the message. */
static uint32_t add_tcp(uint8_t *at, const char *message, size_t len)
{
    at[0] = (uint8_t)(len >> 8);
    at[1] = (uint8_t)len;
    memcpy(at + 2, message, len);
    return (uint32_t)len + 2;
}

TEST(llmnr_tcp_in_any_segmentation)
{
    uint8_t ts[256], tc[512];
    struct split_step steps[2];
    const struct split_case c = { .port = 5355, .steps = steps, .count = 2, .yaml = ON };
    uint32_t len = add_tcp(ts, request, sizeof(request) - 1);

    len += add_tcp(ts + len, request, sizeof(request) - 1);
    steps[0] = (struct split_step){ TO_SERVER, ts, len };
    len = add_tcp(tc, response, sizeof(response) - 1);
    len += add_tcp(tc + len, response, sizeof(response) - 1);
    steps[1] = (struct split_step){ TO_CLIENT, tc, len };
    split_expect(t, &c, "tx 0 " REQUEST "tx 1 " REQUEST "tx 2 " RESPONSE "tx 3 " RESPONSE
                 "flow llmnr llmnr llmnr\n");
}

/* What the engine makes of one datagram to the server, or with yaml NULL in a configuration of
 * Suricata 8.0. */
static char *replay(const char *message, size_t len, const char *yaml)
{
    struct split_step step = { TO_SERVER, message, (uint32_t)len };
    const struct split_case c = { .udp = true, .port = 5355, .steps = &step, .count = 1,
                                  .yaml = yaml };

    return split_replay(&c, SPLIT_NONE, 0);
}

TEST(llmnr_events)
{
    static const struct { const char *flags, *event; } rows[] = {
        { "\x01\x40", "event z_flag_set\n" },
        { "\x08\x00", "event invalid_opcode\n" },
        { "\x38\x00", "event invalid_opcode\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char message[sizeof(request)], *text;
        const char *first;

        memcpy(message, request, sizeof(request));
        memcpy(message + 2, rows[i].flags, 2);
        text = replay(message, sizeof(message) - 1, ON);
        first = strstr(text, rows[i].event);
        CHECK(first != NULL && strstr(first + 1, "event ") == NULL);
        free(text);
    }
}

TEST(llmnr_every_truncation_is_survived)
{
    for (size_t len = 0; len < sizeof(request) - 1; len++) {
        char *text = replay(request, len, ON);

        /* from the end of the question on, only an additional record is missing */
        CHECK((strstr(text, "tx 0 llmnr") != NULL) == (len >= 26));
        CHECK((strstr(text, "event invalid_additionals\n") != NULL) == (len >= 26));
        free(text);
    }
}

TEST(llmnr_is_off_without_its_section)
{
    char *text = replay(request, sizeof(request) - 1, NULL);

    CHECK(strstr(text, "llmnr") == NULL);
    free(text);
}

/* Sections one by one, and `response` with the names that records point to. */
TEST(llmnr_buffers)
{
    static const struct split_step steps[] = { { TO_SERVER, request, sizeof(request) - 1 },
                                               { TO_CLIENT, response, sizeof(response) - 1 } };
    const struct split_case c = { .udp = true, .port = 5355, .steps = steps, .count = 2,
                                  .yaml = ON, .show = "llmnr." };
    static const char *const lines[] = {
        "tx 0 buffer ts llmnr.queries.rrname 0 pc.local\n",
        "tx 1 buffer tc llmnr.queries.rrname 0 pc.local\n",
        "tx 1 buffer tc llmnr.answers.rrname 0 pc.local\n",
        "tx 1 buffer tc llmnr.answers.rrname 1 pc.local\n",
        "tx 1 buffer tc llmnr.authorities.rrname 0 local\n",
        "tx 1 buffer tc llmnr.response.rrname 2 pc.local\n",
        "web.local\n", "ns.local\n",
    };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    for (unsigned i = 0; i < ARRAY_LEN(lines); i++)
        if (strstr(text, lines[i]) == NULL)
            test_fail(t, __FILE__, __LINE__, "no %s in %s", lines[i], text);
    CHECK(strstr(text, "tx 0 buffer ts llmnr.response") == NULL);
    free(text);
}
