/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Where the header of IGMP ends, and what has none. */
#include "packet/tests/decode_env.h"

#include <stdio.h>

#define NO_EVENT PACKET_EVENT_NONE

static void check(struct test *t, struct decode_env *env, const char *message, unsigned header,
                  enum packet_event event)
{
    char words[256];
    struct packet *p;

    snprintf(words, sizeof(words), "eth:0800 ip4:02 %s", message);
    p = env_decode(env, DATALINK_ETHERNET, words);
    if (p->l4_header_len != header || (p->l4 != NULL) != (header > 0))
        test_fail(t, __FILE__, __LINE__, "%s: %u bytes of header", message, p->l4_header_len);
    CHECK_INT(p->ip_proto, 2);
    CHECK_INT(p->event_count, event != PACKET_EVENT_NONE);
    if (event != PACKET_EVENT_NONE && !packet_has_event(p, event))
        test_fail(t, __FILE__, __LINE__, "%s: no %s", message, packet_event_name(event));
    CHECK(!(p->flags & PACKET_INVALID));
    CHECK_INT(p->payload_len, 0);
    CHECK_INT(p->flow_hash, 0);
}

TEST(decode_igmp_headers)
{
    static const struct { const char *message; unsigned header; enum packet_event event; } rows[] = {
        { "11000000 efffffff", 8, NO_EVENT },                   /* version 1 or 2 */
        { "16000000 efffffff 0000", 8, NO_EVENT },
        { "11000000 efffff", 0, EVENT_IGMP_PKT_TOO_SMALL },
        { "11000000 efffffff 027d00", 8, NO_EVENT },            /* too short for version 3 */
        { "11000000 efffffff 027d0000", 12, NO_EVENT },
        { "11000000 efffffff 027d0002 0a000001 0a000002", 20, NO_EVENT },
        { "11000000 efffffff 027d0002 0a000001 0a0000", 0, EVENT_IGMP_V3_PKT_TOO_SMALL },
        { "11000000 efffffff 027dffff 0a000001", 0, EVENT_IGMP_MALFORMED },
        { "22000000 00000000", 8, NO_EVENT },
        { "22000000 00000001 04000000 efffffff", 16, NO_EVENT },
        { "22000000 00000001 04010001 efffffff 0a000001 00000000 00", 24, NO_EVENT },
        { "22000000 00000001 04010001 efffffff 0a000001 000000", 0, EVENT_IGMP_MALFORMED },
        { "22000000 00000001 04010001 efffffff 0a0000", 0, EVENT_IGMP_MALFORMED },
        { "22000000 00000001 04000000 efffff", 0, EVENT_IGMP_V3_PKT_TOO_SMALL },
        { "22000000 0000ffff 04000000 efffffff", 0, EVENT_IGMP_V3_PKT_TOO_SMALL },
    };
    struct decode_env env;

    env_open(&env, "");
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        check(t, &env, rows[i].message, rows[i].header, rows[i].event);
    env_close(t, &env);
}
