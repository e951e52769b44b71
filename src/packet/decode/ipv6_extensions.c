/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/ipv6_extensions.c - the chain of extension headers, RFC 8200 section 4.
 *
 * Each header starts with the number of the next one, and its own length. The walk ends at a
 * transport header, at a fragment (defrag continues with the datagram), or where the chain breaks.
 * Each step consumes bytes, so a chain ends with the packet. */
#include "packet/decode/decode_private.h"

enum next_header {
    NEXT_HOP_BY_HOP = 0, NEXT_ICMPV4 = 1, NEXT_ROUTING = 43, NEXT_FRAGMENT = 44, NEXT_ESP = 50,
    NEXT_AH = 51, NEXT_NONE = 59, NEXT_DESTINATION = 60, NEXT_MOBILITY = 135, NEXT_HIP = 139,
    NEXT_SHIM6 = 140,
};

#define FRAGMENT_HEADER 8u

struct walk {
    struct decoder *d;
    struct packet *p;
    struct bytes in;            /* from the current header on */
    uint8_t *next_at;           /* position of the current header's number */
    uint8_t next;               /* the current header's number */
    unsigned routing, hop_by_hop, destination, authentication, fragment;   /* seen */
};

/* Continues after the current header. */
static bool skip(struct walk *w, uint32_t len)
{
    w->next_at = (uint8_t *)w->in.next;
    w->next = w->in.next[0];
    take_skip(&w->in, len);
    return true;
}

/* False, with the event set: the header does not end within the packet. */
static bool fits(struct walk *w, uint32_t len)
{
    return bytes_left(&w->in) >= len || decode_invalid(w->p, EVENT_IPV6_TRUNC_EXTHDR);
}

/* Type 0 is deprecated (RFC 5095), because it lets a sender amplify traffic. */
static bool routing(struct walk *w)
{
    uint32_t len = 8 + w->in.next[1] * 8u;

    w->p->ip_proto = NEXT_ROUTING;
    if (!fits(w, len))
        return false;
    if (w->routing++ > 0)
        packet_set_event(w->p, EVENT_IPV6_EXTHDR_DUPL_RH);
    else if (w->in.next[2] == 0)
        packet_set_event(w->p, EVENT_IPV6_RH_TYPE_0);
    return skip(w, len);
}

enum { OPTION_PAD1 = 0, OPTION_PADN = 1, OPTION_ROUTER_ALERT = 5, OPTION_JUMBO = 0xc2,
       OPTION_HOME_ADDRESS = 0xc9 };

/* Shortest value of a known option; -1: unknown. */
static int option_min(uint8_t type)
{
    switch (type) {
    case OPTION_PADN:
        return 0;
    case OPTION_ROUTER_ALERT:
        return 2;
    case OPTION_JUMBO:
        return 4;
    case OPTION_HOME_ADDRESS:
        return 16;
    default:
        return -1;
    }
}

/* Options of a hop-by-hop or destination header. A length one above the remaining space is
 * accepted; the value then ends with the header. */
static void options(struct walk *w, struct bytes in, enum packet_event unknown,
                    enum packet_event only_padding)
{
    unsigned padding = 0, others = 0;

    while (bytes_left(&in) > 0) {
        uint8_t type = take_u8(&in), len;
        int min;

        if (type == OPTION_PAD1) {
            padding++;
            continue;
        }
        if (bytes_left(&in) == 0 || peek_u8(&in) > bytes_left(&in)) {
            decode_invalid(w->p, EVENT_IPV6_EXTHDR_INVALID_OPTLEN);
            break;
        }
        len = take_u8(&in);
        min = option_min(type);
        if (len < min) {
            decode_invalid(w->p, EVENT_IPV6_EXTHDR_INVALID_OPTLEN);
            break;
        }
        if (min < 0)
            packet_set_event(w->p, unknown);
        if (type == OPTION_PADN) {
            padding++;
            if (len == 0)
                packet_set_event(w->p, EVENT_IPV6_ZERO_LEN_PADN);
        } else if (type != OPTION_JUMBO) {
            others++;
        }
        take_skip(&in, MIN((size_t)len, bytes_left(&in)));
    }
    if (padding > 0 && others == 0)
        packet_set_event(w->p, only_padding);
}

/* Only allowed once, and first (RFC 8200, section 4.1). */
static bool hop_by_hop(struct walk *w)
{
    uint32_t len = (w->in.next[1] + 1u) * 8;

    w->p->ip_proto = NEXT_HOP_BY_HOP;
    if (!fits(w, len))
        return false;
    if (w->hop_by_hop++ > 0)
        packet_set_event(w->p, EVENT_IPV6_EXTHDR_DUPL_HH);
    else
        options(w, bytes_of(w->in.next + 2, len - 2), EVENT_IPV6_HOPOPTS_UNKNOWN_OPT,
                EVENT_IPV6_HOPOPTS_ONLY_PADDING);
    return skip(w, len);
}

/* Allowed twice: before a routing header, and as the last header (RFC 8200, section 4.1). */
static bool destination(struct walk *w)
{
    uint32_t len = (w->in.next[1] + 1u) * 8;

    w->p->ip_proto = NEXT_DESTINATION;
    if (!fits(w, len))
        return false;
    if (w->destination++ >= 2)
        packet_set_event(w->p, EVENT_IPV6_EXTHDR_DUPL_DH);
    else
        options(w, bytes_of(w->in.next + 2, len - 2), EVENT_IPV6_DSTOPTS_UNKNOWN_OPT,
                EVENT_IPV6_DSTOPTS_ONLY_PADDING);
    return skip(w, len);
}

/* RFC 4302, section 2.2: the length counts words of four bytes, minus two. */
static bool authentication(struct walk *w)
{
    uint32_t len = 12;

    w->p->ip_proto = NEXT_AH;
    if (w->in.next[1] > 0)
        len += (w->in.next[1] - 1u) * 4;
    if (!fits(w, len))
        return false;
    if (get_be16(w->in.next + 2) != 0)
        packet_set_event(w->p, EVENT_IPV6_EXTHDR_AH_RES_NOT_NULL);
    if (w->authentication++ > 0)
        packet_set_event(w->p, EVENT_IPV6_EXTHDR_DUPL_AH);
    return skip(w, len);
}

/* next_at is where the chain must be closed in the reassembled datagram: its value becomes the
 * number after the fragment header. */
static void hand_to_defrag(struct walk *w)
{
    struct packet *p = w->p;
    const uint8_t *header = w->in.next;
    uint32_t len = (uint32_t)bytes_left(&w->in);
    struct fragment fragment = {
        .head_len = (uint32_t)(header - p->data),
        .next_at = (uint32_t)(w->next_at - p->data),
        .next = header[0],
        .data = header + FRAGMENT_HEADER,
        .data_len = len - FRAGMENT_HEADER,
    };

    if (p->fragment.more && len % 8 != 0)
        packet_set_event(p, EVENT_IPV6_FRAG_INVALID_LENGTH);
    p->flags |= PACKET_FRAGMENT;
    decode_set_flow(w->d, p);
    decode_fragment(w->d, p, &fragment);
}

/* False: the walk ends here, because the rest of the chain is only known after reassembly. A
 * "fragment" with offset 0 and no more fragments is an atomic one (RFC 6946). */
static bool fragment(struct walk *w)
{
    struct packet *p = w->p;
    const uint8_t *at = w->in.next;

    p->ip_proto = NEXT_FRAGMENT;
    if (!fits(w, FRAGMENT_HEADER))
        return false;
    if (at[1] != 0)
        packet_set_event(p, EVENT_IPV6_FH_NON_ZERO_RESERVED_FIELD);
    if (w->fragment++ > 0) {
        packet_set_event(p, EVENT_IPV6_EXTHDR_DUPL_FH);
        return skip(w, FRAGMENT_HEADER);
    }
    p->fragment.present = true;
    p->fragment.offset = get_be16(at + 2) & 0xfff8;
    p->fragment.more = at[3] & 1;
    p->fragment.id = get_be32(at + 4);
    if (p->fragment.offset == 0 && !p->fragment.more) {
        packet_set_event(p, EVENT_IPV6_EXTHDR_USELESS_FH);
        return skip(w, FRAGMENT_HEADER);
    }
    hand_to_defrag(w);
    return false;
}

/* Headers without checks of their own. */
static bool plain(struct walk *w)
{
    uint32_t len = 8 + w->in.next[1] * 8u;

    return fits(w, len) && skip(w, len);
}

/* Handles the current header. False: the walk has ended. */
static bool step(struct walk *w)
{
    struct packet *p = w->p;
    uint32_t len = (uint32_t)bytes_left(&w->in);

    switch (w->next) {
#define X(number, name)                            \
    case number:                                   \
        p->ip_proto = number;                      \
        decode_##name(w->d, p, w->in.next, len);   \
        return false;
    IPV6_INNER_PROTOCOL_LIST(X)
#undef X
    case NEXT_HOP_BY_HOP:
        return hop_by_hop(w);
    case NEXT_ROUTING:
        return routing(w);
    case NEXT_FRAGMENT:
        return fragment(w);
    case NEXT_AH:
        return authentication(w);
    case NEXT_DESTINATION:
        return destination(w);
    case NEXT_MOBILITY:
    case NEXT_HIP:
    case NEXT_SHIM6:
        return plain(w);
    case NEXT_ICMPV4:
        packet_set_event(p, EVENT_IPV6_ICMPV4);
        return false;
    default:
        p->ip_proto = w->next;
        packet_set_event(p, EVENT_IPV6_UNKNOWN_NEXT_HEADER);
        return false;
    }
}

#define PROTO_TCP 6

/* Suricata reads no jumbogram (RFC 2675), as no options fit in a length of 0. Here it is read, with
 * the same event: its length is what the frame has, whatever the option says. TCP is what a kernel
 * has joined (BIG TCP), and never was on a wire. */
static void check_jumbogram(struct packet *p, uint8_t first, uint8_t next)
{
    if (UNLIKELY(first == NEXT_HOP_BY_HOP && get_be16(p->l3 + 4) == 0) && next != PROTO_TCP)
        packet_set_event(p, EVENT_IPV6_TRUNC_EXTHDR);
}

/* Sets l3_len to the start of the last header, so that the payload begins after all of them. */
void decode_ipv6_extensions(struct decoder *d, struct packet *p, uint8_t first,
                            const uint8_t *at, uint32_t len)
{
    struct walk w = {
        .d = d,
        .p = p,
        .in = bytes_of(at, len),
        .next_at = p->l3 + 6,
        .next = first,
    };

    p->ip_proto = 0;
    if (len > 0)
        check_jumbogram(p, first, at[0]);
    for (;;) {
        p->l3_len = (uint16_t)(w.in.next - p->l3);
        if (w.next == NEXT_NONE) {
            if (bytes_left(&w.in) > 0)
                packet_set_event(p, EVENT_IPV6_DATA_AFTER_NONE_HEADER);
            return;
        }
        if (bytes_left(&w.in) < 2) {
            decode_invalid(p, EVENT_IPV6_TRUNC_EXTHDR);
            return;
        }
        if (!step(&w))
            return;
    }
}
