/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/tcp_options.c - TCP options that some module reads: RFC 9293, 7323, 2018, 7413,
 * 2385, 5925. A malformed or repeated option raises an event and counts as absent. */
#include "packet/decode/decode_private.h"

enum {
    OPTION_END = 0, OPTION_NOP = 1, OPTION_MSS = 2, OPTION_WINDOW_SCALE = 3, OPTION_SACK_OK = 4,
    OPTION_SACK = 5, OPTION_TIMESTAMP = 8, OPTION_MD5 = 19, OPTION_AO = 29, OPTION_FASTOPEN = 34,
    OPTION_EXPERIMENT_1 = 253, OPTION_EXPERIMENT_2 = 254,
};

#define WINDOW_SCALE_MAX   14 /* RFC 7323, section 2.3 */
#define FASTOPEN_MAGIC     0xf989   /* RFC 7413 section 2.1: the experimental form */

/* The first option of a kind counts, as with most receivers. */
static bool first(struct packet *p, uint8_t bit)
{
    if (p->tcp_options.has & bit) {
        packet_set_event(p, EVENT_TCP_OPT_DUPLICATE);
        return false;
    }
    p->tcp_options.has |= bit;
    return true;
}

static void bad_len(struct packet *p)
{
    packet_set_event(p, EVENT_TCP_OPT_INVALID_LEN);
}

/* At most four blocks fit into the option space (RFC 2018, section 3). */
static void sack(struct packet *p, const uint8_t *at, uint8_t len)
{
    if (len == 2)           /* empty, and common */
        return;
    if (len < 10 || len > 34 || (len - 2) % 8 != 0) {
        bad_len(p);
    } else if (first(p, TCP_HAS_SACK)) {
        p->tcp_options.sack_count = (uint8_t)((len - 2) / 8);
        p->tcp_options.sack = at;
    }
}

/* A cookie has 4 to 16 bytes, an even number; without one it is a request (RFC 7413, section
 * 4.1.1). */
static void fastopen(struct packet *p, uint8_t len)
{
    if (len != 2 && (len < 4 || len > 18 || len % 2 != 0))
        bad_len(p);
    else if (first(p, TCP_HAS_FASTOPEN))
        p->tcp_options.fastopen_len = (uint8_t)(len - 2);
}

/* Options 253 and 254 are shared by all experiments (RFC 6994); the first two bytes tell which. */
static void experiment(struct packet *p, const uint8_t *at, uint8_t len)
{
    if (len != 4 && len != 12)
        bad_len(p);
    else if (get_be16(at) == FASTOPEN_MAGIC && first(p, TCP_HAS_FASTOPEN))
        p->tcp_options.fastopen_len = (uint8_t)(len - 4);
}

/* `at` is the value, len - 2 bytes. */
static void option(struct packet *p, uint8_t type, const uint8_t *at, uint8_t len)
{
    struct tcp_options *o = &p->tcp_options;

    switch (type) {
    case OPTION_WINDOW_SCALE:
        if (len != 3)
            bad_len(p);
        else if (first(p, TCP_HAS_WSCALE))
            o->window_scale = at[0] <= WINDOW_SCALE_MAX ? at[0] : 0;
        break;
    case OPTION_MSS:
        if (len != 4)
            bad_len(p);
        else if (first(p, TCP_HAS_MSS))
            o->mss = get_be16(at);
        break;
    case OPTION_SACK_OK:
        if (len != 2)
            bad_len(p);
        else
            first(p, TCP_HAS_SACK_OK);
        break;
    case OPTION_TIMESTAMP:
        if (len != 10) {
            bad_len(p);
        } else if (first(p, TCP_HAS_TS)) {
            o->ts_value = get_be32(at);
            o->ts_echo = get_be32(at + 4);
        }
        break;
    case OPTION_SACK:
        sack(p, at, len);
        break;
    case OPTION_FASTOPEN:
        fastopen(p, len);
        break;
    case OPTION_EXPERIMENT_1:
    case OPTION_EXPERIMENT_2:
        experiment(p, at, len);
        break;
    case OPTION_MD5:
        if (len != 18)
            decode_invalid(p, EVENT_TCP_OPT_INVALID_LEN);
        else
            o->has |= TCP_HAS_MD5;
        break;
    case OPTION_AO:
        if (len < 4)
            decode_invalid(p, EVENT_TCP_OPT_INVALID_LEN);
        else
            o->has |= TCP_HAS_AO;
        break;
    default:
        break;
    }
}

/* Almost every segment of an established connection has NOP, NOP, timestamp and nothing else (the
 * layout of RFC 7323, appendix A). */
bool decode_only_timestamp(struct packet *p, const uint8_t *at, uint32_t len)
{
    static const uint8_t usual[4] = { OPTION_NOP, OPTION_NOP, OPTION_TIMESTAMP, 10 };

    if (len != 12 || memcmp(at, usual, sizeof(usual)) != 0)
        return false;
    p->tcp_options.has = TCP_HAS_TS;
    p->tcp_options.ts_value = get_be32(at + 4);
    p->tcp_options.ts_echo = get_be32(at + 8);
    return true;
}

/* The data offset bounds all options to 40 bytes. */
void decode_tcp_options(struct packet *p, const uint8_t *at, uint32_t len)
{
    struct bytes in = bytes_of(at, len);

    if (LIKELY(decode_only_timestamp(p, at, len)))
        return;
    while (bytes_left(&in) > 0) {
        uint8_t type = take_u8(&in), option_len;
        const uint8_t *value;

        if (type == OPTION_NOP)
            continue;
        if (type == OPTION_END || bytes_left(&in) == 0)
            return;
        option_len = take_u8(&in);
        value = option_len >= 2 ? take_bytes(&in, option_len - 2u) : NULL;
        if (value == NULL) {
            decode_invalid(p, EVENT_TCP_OPT_INVALID_LEN);
            return;
        }
        option(p, type, value, option_len);
    }
}
