/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/proto/sip/sip.h"
#include "app/tests/split.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SDP "v=0\r\no=u  1 2 IN IP4 h\r\ns=call\r\nc=IN IP4 10.0.0.1\r\nb=AS:64\r\nt=0  0\r\n" \
    "r=1d 2h 0 0\r\na=sendrecv\r\nm=audio 9/2 RTP/AVP 0 8\r\ni=info\r\na=x:y\r\n"
#define INVITE "INVITE sip:a@b SIP/2.0\r\nf: <sip:c@d>\r\nVia: one\r\n two\r\n"
#define OK "SIP/2.0 200 OK\r\nTo: x\r\nContent-Length: 0\r\n\r\n"

#define INVITE_LINE                                                                          \
    "tx 0 sip {\"sip\":{\"method\":\"INVITE\",\"uri\":\"sip:a@b\",\"version\":\"SIP/2.0\","  \
    "\"sdp\":{\"origin\":\"u 1 2 IN IP4 h\",\"session_name\":\"call\","                      \
    "\"connection_data\":\"IN IP4 10.0.0.1\",\"bandwidths\":[\"AS:64\"],"                    \
    "\"time_descriptions\":[{\"time\":\"0 0\",\"repeat_time\":\"1d 2h 0 0\"}],"              \
    "\"attributes\":[\"sendrecv\"],\"media_descriptions\":[{"                                \
    "\"media\":\"audio 9/2 RTP/AVP 0 8\",\"media_info\":\"info\",\"attributes\":[\"x:y\"]}]}," \
    "\"request_line\":\"INVITE sip:a@b SIP/2.0\"}}\n"
#define OK_LINE                                                                              \
    "tx 1 sip {\"sip\":{\"version\":\"SIP/2.0\",\"code\":\"200\",\"reason\":\"OK\","         \
    "\"response_line\":\"SIP/2.0 200 OK\"}}\n"

TEST(sip_udp_request_and_response)
{
    static const struct split_step steps[] = { SPLIT_TS(INVITE "\r\n" SDP), SPLIT_TC(OK) };
    const struct split_case c = { .udp = true, .port = 5060, .steps = steps, .count = 2 };

    split_expect(t, &c, INVITE_LINE OK_LINE "flow sip sip sip\n");
}

TEST(sip_tcp_in_any_segmentation)
{
    char request[1024], more[64];
    struct split_step steps[] = { { TO_SERVER, request, 0 }, SPLIT_TC(OK), SPLIT_TC(OK) };
    const struct split_case c = { .port = 5060, .steps = steps, .count = 3, .frames = true };
    char *text;

    snprintf(more, sizeof(more), "l: %zu\r\n\r\n", sizeof(SDP) - 1);
    steps[0].len = (uint32_t)snprintf(request, sizeof(request), "%s%s%s", INVITE, more, SDP);
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, INVITE_LINE OK_LINE "tx 2 sip") != NULL);
    CHECK(strstr(text, "flow sip sip sip\n") != NULL);
    free(text);
    split_check(t, &c);
}

/* Headers that are too long to be parsed again with each byte, then a body. */
TEST(sip_tcp_long_headers_in_any_segmentation)
{
    char request[8192], filler[3072], more[64];
    struct split_step steps[] = { { TO_SERVER, request, 0 }, SPLIT_TC(OK) };
    const struct split_case c = { .port = 5060, .steps = steps, .count = 2, .frames = true };
    char *text;

    memset(filler, 'x', sizeof(filler) - 1);
    filler[sizeof(filler) - 1] = '\0';
    snprintf(more, sizeof(more), "l: %zu\r\n\r\n", sizeof(SDP) - 1);
    steps[0].len = (uint32_t)snprintf(request, sizeof(request), "%sA: %s\r\nB: %s\r\n%s%s", INVITE,
                                      filler, filler, more, SDP);
    text = split_replay(&c, SPLIT_NONE, 0);
    CHECK(strstr(text, INVITE_LINE OK_LINE) != NULL);
    free(text);
    split_check(t, &c);
}

/* A transaction takes the event while it is still there. */
TEST(sip_invalid_data)
{
    static const struct split_step steps[] = {
        SPLIT_TS("ACK sip:a SIP/2.0\r\n\r\nBYE sip:a HTTP/1.0\r\n\r\n") };
    const struct split_case c = { .port = 5060, .steps = steps, .count = 1 };
    char *text = split_replay(&c, SPLIT_NONE, 0);

    CHECK(strstr(text, "event invalid_data\n") != NULL);
    free(text);
}
