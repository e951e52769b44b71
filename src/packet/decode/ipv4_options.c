/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/ipv4_options.c - options of the IPv4 header: RFC 791, 1108, 2113, 4782, CIPSO.
 *
 * Each option has its own check; a malformed one does not count as present. Only a length that
 * exceeds the header ends the walk, because nothing after it can be found. */
#include "packet/decode/decode_private.h"

struct option {
    const uint8_t *data;        /* after type and length */
    uint8_t len;                /* including type and length */
};

typedef bool option_check(struct packet *p, const struct option *o);

static bool malformed(struct packet *p)
{
    return decode_invalid(p, EVENT_IPV4_OPT_MALFORMED);
}

static bool bad_len(struct packet *p)
{
    return decode_invalid(p, EVENT_IPV4_OPT_INVALID_LEN);
}

/* Record route and source routes (RFC 791, section 3.1): the pointer counts from 1 and moves by
 * addresses. */
static bool check_route(struct packet *p, const struct option *o)
{
    uint8_t pointer;

    if (o->len < 3)
        return bad_len(p);
    pointer = o->data[0];
    if (pointer < 4 || pointer % 4 != 0 || pointer > o->len + 1)
        return malformed(p);
    return true;
}

/* RFC 791, section 3.1: records are 8 bytes with an address (flags 1 and 3), otherwise 4. */
static bool check_timestamp(struct packet *p, const struct option *o)
{
    uint8_t pointer, flag, record;

    if (o->len < 5)
        return bad_len(p);
    pointer = o->data[0];
    if (pointer < 5)
        return malformed(p);
    flag = o->data[1] & 0x0f;
    record = flag == 1 || flag == 3 ? 8 : 4;
    if ((pointer - 5) % record != 0 || pointer > o->len + 1)
        return malformed(p);
    return true;
}

/* RFC 4782, section 3.1. */
static bool check_quick_start(struct packet *p, const struct option *o)
{
    return o->len >= 8 || bad_len(p);
}

/* RFC 1108: basic and extended security; only the minimum is checked. */
static bool check_security(struct packet *p, const struct option *o)
{
    return o->len >= 3 || bad_len(p);
}

static bool check_four(struct packet *p, const struct option *o)
{
    return o->len == 4 || bad_len(p);
}

/* Tags of the CIPSO draft. The walk must end exactly at the end of the option. */
static bool cipso_tag(struct bytes *in)
{
    size_t space = bytes_left(in);
    uint8_t type = take_u8(in), len = take_u8(in);

    switch (type) {
    case 1:
    case 2:
    case 5:
    case 6:
    case 7:
        if (len < 4 || len > space)
            return false;
        if (type != 7 && peek_u8(in) != 0)      /* alignment octet */
            return false;
        take_skip(in, len - 2u);
        return !in->failed;
    default:
        return false;
    }
}

static bool check_cipso(struct packet *p, const struct option *o)
{
    struct bytes in;

    if (o->len < 10)
        return bad_len(p);
    in = bytes_of(o->data + 4, o->len - 6u);    /* after the domain of interpretation */
    while (bytes_left(&in) > 0)
        if (!cipso_tag(&in))
            return malformed(p);
    return true;
}

/* Type, bit in packet.ip_options, and the check. */
static const struct {
    uint8_t type;
    uint16_t bit;
    option_check *check;
} known[] = {
    { 0x07, IP_OPTION_RR, check_route },
    { 0x19, IP_OPTION_QS, check_quick_start },
    { 0x44, IP_OPTION_TS, check_timestamp },
    { 0x82, IP_OPTION_SEC, check_security },
    { 0x83, IP_OPTION_LSRR, check_route },
    { 0x85, IP_OPTION_ESEC, check_security },
    { 0x86, IP_OPTION_CIPSO, check_cipso },
    { 0x88, IP_OPTION_SID, check_four },
    { 0x89, IP_OPTION_SSRR, check_route },
    { 0x94, IP_OPTION_RTRALT, check_four },
};

/* Duplicates and unknown options only raise an event; the packet stays valid. */
static void check_option(struct packet *p, uint8_t type, const struct option *o)
{
    for (unsigned i = 0; i < ARRAY_LEN(known); i++) {
        if (known[i].type != type)
            continue;
        if (p->ip_options & known[i].bit)
            packet_set_event(p, EVENT_IPV4_OPT_DUPLICATE);
        else if (known[i].check(p, o))
            p->ip_options |= known[i].bit;
        return;
    }
    packet_set_event(p, EVENT_IPV4_OPT_INVALID);
}

/* False: the header is malformed, so the packet is not decoded further. */
bool decode_ipv4_options(struct packet *p, const uint8_t *at, uint32_t len)
{
    struct bytes in = bytes_of(at, len);

    if (len % 8 != 0)
        packet_set_event(p, EVENT_IPV4_OPT_PAD_REQUIRED);
    while (bytes_left(&in) > 0) {
        uint8_t type = take_u8(&in);
        struct option o;

        if (type == 0) {
            p->ip_options |= IP_OPTION_EOL;
            break;
        }
        if (type == 1) {
            p->ip_options |= IP_OPTION_NOP;
            continue;
        }
        if (bytes_left(&in) == 0) {
            packet_set_event(p, EVENT_IPV4_OPT_EOL_REQUIRED);
            break;
        }
        o.len = take_u8(&in);
        if (o.len < 2)
            return bad_len(p);
        o.data = take_bytes(&in, o.len - 2u);
        if (o.data == NULL)
            return bad_len(p);
        check_option(p, type, &o);
    }
    return true;
}
