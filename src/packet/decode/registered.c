/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/registered.c - decoders that plugins add, for numbers that are in no list. Only
 * packets with such a number come here. */
#include "packet/decode/decode_private.h"

#define REGISTERED_MAX 16

/* Filled while plugins load; then only read. */
static struct {
    struct { uint8_t by; uint16_t number; const struct decode_registered *what; }
        at[REGISTERED_MAX];
    unsigned count;
} registered;

static const struct decode_registered *find(enum decode_by by, uint16_t number)
{
    for (unsigned i = 0; i < registered.count; i++)
        if (registered.at[i].by == by && registered.at[i].number == number)
            return registered.at[i].what;
    return NULL;
}

static bool has_ethertype(uint16_t number)
{
    switch (number) {
#define X(listed, name) case listed:
    ETHERTYPE_LIST(X)
#undef X
        return true;
    default:
        return number < 0x0600;         /* a length, not a type (IEEE 802.3) */
    }
}

/* 0 to 255; those of the lists, and extension headers of IPv6. */
static bool has_ip_protocol(uint16_t number)
{
    static const uint8_t extensions[] = { 0, 43, 44, 51, 59, 60, 135, 139, 140 };

    for (unsigned i = 0; i < sizeof(extensions); i++)
        if (extensions[i] == number)
            return true;
    switch (number) {
#define X(listed, name) case listed:
    IPV4_PROTOCOL_LIST(X)
#undef X
        return true;
    default:
        return number > UINT8_MAX;
    }
}

int decode_register(enum decode_by by, uint16_t number, const struct decode_registered *what,
                    struct err *err)
{
    const char *name = by == DECODE_BY_ETHERTYPE ? "EtherType" : "IP protocol";

    if (find(by, number) != NULL ||
        (by == DECODE_BY_ETHERTYPE ? has_ethertype(number) : has_ip_protocol(number)))
        return err_set(err, "%s 0x%04x has a decoder already", name, number);
    if (registered.count == REGISTERED_MAX)
        return err_set(err, "at most %d decoders can be added", REGISTERED_MAX);
    registered.at[registered.count].by = (uint8_t)by;
    registered.at[registered.count].number = number;
    registered.at[registered.count++].what = what;
    return 0;
}

/* The layer counts, so that decoders that lead to themselves come to an end. */
bool decode_by_registered(enum decode_by by, struct decoder *d, struct packet *p,
                          uint16_t number, struct slice in)
{
    const struct decode_registered *what = find(by, number);

    if (LIKELY(what == NULL))
        return false;
    if (decode_layer(d, p))
        what->decode(what, d, p, in);
    return true;
}

/* A second IP header in one packet would replace the first. */
bool decode_next_ethertype(struct decoder *d, struct packet *p, uint16_t type, struct slice in)
{
    return p->l3 == NULL && decode_ethertype(d, p, type, in.data, in.len);
}

bool decode_tunnelled_ip(struct decoder *d, struct packet *p, struct slice in)
{
    bool is_ipv6 = in.len > 0 && in.data[0] >> 4 == 6;

    return decode_inner(d, p, in, is_ipv6 ? decode_ipv6 : decode_ipv4,
                        PACKET_PLUGIN_TUNNEL) != NULL;
}
