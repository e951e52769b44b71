/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/heartbeat.c - heartbeats (RFC 6520), and the leak of memory through them
 * (CVE-2014-0160, "Heartbleed").
 *
 * A request in the clear that claims more payload than its record has is an attack. When encrypted,
 * only lengths are visible: a response longer than its request leaks. */
#include "app/proto/tls/tls.h"

enum { HEARTBEAT_REQUEST = 1, HEARTBEAT_RESPONSE = 2 };

#define HEADER_LEN 3    /* type, payload length */
#define PADDING_MIN 16  /* RFC 6520 section 4 */

static bool refuse(struct tls_state *st, enum tls_event event)
{
    tls_event(st, event);
    return false;
}

/* False: more payload than the record has, or less padding than required. */
static bool check_request(struct tls_state *st, uint32_t record_len, uint32_t payload_len)
{
    if (payload_len + HEADER_LEN > record_len)
        return refuse(st, TLS_EVENT_OVERFLOW_HEARTBEAT);
    if (record_len - payload_len - HEADER_LEN < PADDING_MIN)
        return refuse(st, TLS_EVENT_INVALID_HEARTBEAT);
    return true;
}

/* False stops the parser. `heartbeat_len` is 0 for a request in the clear, which was checked
 * itself. */
bool tls_heartbeat(struct tls_state *st, struct bytes body, enum direction d)
{
    bool encrypted = st->cipher_changed[TO_SERVER] || st->cipher_changed[TO_CLIENT];
    uint32_t record_len = (uint32_t)bytes_left(&body), asked;
    unsigned type = take_u8(&body), payload_len = take_be16(&body);

    if (body.failed)
        return true;
    if (!encrypted && type != HEARTBEAT_REQUEST && type != HEARTBEAT_RESPONSE)
        return refuse(st, TLS_EVENT_INVALID_HEARTBEAT);
    if (!st->heartbeat_waiting) {
        st->heartbeat_waiting = true;
        st->heartbeat_by_server = d == TO_CLIENT;
        st->heartbeat_len = encrypted ? record_len : 0;
        return encrypted || check_request(st, record_len, payload_len);
    }
    if (st->heartbeat_by_server == (d == TO_CLIENT))    /* one in flight, section 4 */
        return refuse(st, TLS_EVENT_INVALID_HEARTBEAT);
    asked = st->heartbeat_len;
    st->heartbeat_waiting = false;
    st->heartbeat_len = 0;
    if (encrypted && asked > 0 && asked < record_len)
        return refuse(st, TLS_EVENT_DATALEAK_HEARTBEAT_MISMATCH);
    return true;
}
