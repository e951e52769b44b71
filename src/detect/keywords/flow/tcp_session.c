/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/tcp_session.c - tcp.session: phases of the TCP session, one of which the
 * packet belongs to. */
#include "detect/rule/keyword.h"
#include "stream/stream.h"

#include <string.h>

/* Phases overlap: a packet of an established session stays one while the session closes. */
enum tcp_phase { PHASE_SETUP = 1u << 0, PHASE_ESTABLISHED = 1u << 1, PHASE_CLOSING = 1u << 2 };

static uint8_t phase_of(struct text name)
{
    return text_equal(name, "setup") ? PHASE_SETUP
           : text_equal(name, "established") ? PHASE_ESTABLISHED
           : text_equal(name, "closing") ? PHASE_CLOSING : 0;
}

/* Suricata takes no blanks here. */
static int phases_parse(struct rule_parser *p, struct text in, uint8_t *phases)
{
    while (true) {
        const char *comma = memchr(in.p, ',', in.n);
        struct text name = { in.p, comma != NULL ? (size_t)(comma - in.p) : in.n };
        uint8_t phase = phase_of(name);

        if (phase == 0)
            return rule_error(p, "tcp.session: expected setup, established or closing, found "
                              "\"%.*s\"", TEXT(name));
        if (*phases & phase)
            return rule_error(p, "tcp.session: \"%.*s\" is said twice", TEXT(name));
        *phases |= phase;
        if (comma == NULL)
            return 0;
        in = text_from(in, name.n + 1);
    }
}

static int tcp_session_parse(struct rule_parser *p, struct text in, void *arg)
{
    if (!rule_has_ip_proto(p->rule, 6))
        return rule_error(p, "tcp.session: the rule is not about TCP");
    return phases_parse(p, in, arg);
}

/* 0: no session. */
static uint8_t phases_of(const struct match_input *in)
{
    if (in->flow == NULL || in->packet->ip_proto != 6)
        return 0;
    return ((in->packet->flags & PACKET_ESTABLISHED) ? PHASE_ESTABLISHED : PHASE_SETUP) |
           (stream_has_fin(in->packet) ? PHASE_CLOSING : 0);
}

static bool tcp_session_match(const struct match_input *in, const void *arg)
{
    return phases_of(in) & *(const uint8_t *)arg;
}

static bool tcp_session_tell(const struct rule_test *test UNUSED, const struct match_input *in,
                             struct buf *out)
{
    uint8_t phases = phases_of(in);

    if (phases == 0)
        buf_add_string(out, "the packet belongs to no TCP session");
    else
        buf_printf(out, "the session is in %s%s",
                   phases & PHASE_ESTABLISHED ? "established" : "setup",
                   phases & PHASE_CLOSING ? " and closing" : "");
    return true;
}

const struct keyword_ops keyword_tcp_session = {
    .name = "tcp.session",
    .doc = "phases of the TCP session: setup, established, closing",
    .syntax = "setup|established|closing[,setup|established|closing]...",
    .features = "supports firewall",
    .point = POINT_PACKET,
    .needs_packet = true,
    .of_flow = true,
    .arg_size = sizeof(uint8_t),
    .parse = tcp_session_parse,
    .match = tcp_session_match,
    .tell = tcp_session_tell,
};
