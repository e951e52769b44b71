/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Reserved bits of VXLAN, by setting: how many packets come of a datagram. */
#include "packet/tests/decode_env.h"

#include <stdio.h>

/* For each header, '2' where the inner frame is found. */
static void check(struct test *t, const char *yaml, const char *expected)
{
    static const char *const headers[] = {
        "0800000000000500",     /* as RFC 7348 has it */
        "0800000000000501",     /* the last byte */
        "8800000000000500",     /* another flag, as of VXLAN-GBP */
        "0800123400000500",     /* a group policy */
        "0000000000000500",     /* no identifier */
    };
    struct decode_env env;
    char found[ARRAY_LEN(headers) + 1] = "";

    env_open(&env, yaml);
    for (size_t i = 0; i < ARRAY_LEN(headers); i++) {
        char words[160];

        snprintf(words, sizeof(words), "eth:0800 ip4:11 udp:1,4789 %s eth:0800 ip4:06 tcp:1,2 "
                 "'hello", headers[i]);
        (void)env_decode(&env, DATALINK_ETHERNET, words);
        found[i] = (char)('0' + env.vector.count);
    }
    CHECK_STRING(found, expected);
    env_close(t, &env);
}

TEST(vxlan_reserved_bits)
{
    check(t, "", "21221");
    check(t, "decoder: { vxlan: { reserved-bits-check: strict } }", "21111");
    check(t, "decoder: { vxlan: { reserved-bits-check: permissive } }", "22221");
    check(t, "compatibility: suricata-9", "21111");
    check(t, "{ compatibility: suricata-8, decoder: { vxlan: { reserved-bits-check: permissive } } }",
          "22221");
}
