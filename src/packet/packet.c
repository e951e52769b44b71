/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/packet.c - names of what packets carry, and the reset of a packet before it is used. */
#include "packet/packet.h"

#include "base/text/bytes.h"

#include <stddef.h>
#include <string.h>

/* As EVE shows `pkt_src`. */
const char *packet_source_name(enum packet_source source)
{
#define NAME(id, name) [id] = name,
    static const char *const names[] = { PACKET_SOURCE_LIST(NAME) };
#undef NAME

    return (unsigned)source < ARRAY_LEN(names) ? names[source] : NULL;
}

static const struct {
    const char *text, *key;
} drop_reasons[DROP_REASON_COUNT] = {
#define TEXTS(id, text, key) [id] = { text, key },
    DROP_REASON_LIST(TEXTS)
#undef TEXTS
};

const char *drop_reason_text(enum drop_reason reason)
{
    return (unsigned)reason < DROP_REASON_COUNT ? drop_reasons[reason].text : NULL;
}

const char *drop_reason_key(enum drop_reason reason)
{
    return (unsigned)reason < DROP_REASON_COUNT ? drop_reasons[reason].key : NULL;
}

/* 0 without an IP header. */
uint8_t packet_hop_limit(const struct packet *p)
{
    if (p->l3 == NULL)
        return 0;
    return p->src.version == 4 ? p->l3[8] : p->src.version == 6 ? p->l3[7] : 0;
}

/* IPv4's type of service, IPv6's traffic class. */
uint8_t packet_tos(const struct packet *p)
{
    if (p->l3 == NULL)
        return 0;
    if (p->src.version == 4)
        return p->l3[1];
    return p->src.version == 6 ? (uint8_t)(get_be16(p->l3) >> 4) : 0;
}

uint16_t packet_ip_id(const struct packet *p)
{
    return p->l3 != NULL && p->src.version == 4 ? get_be16(p->l3 + 4) : 0;
}

/* Clears in blocks that compilers turn into a few wide stores. For a larger memset() they use
 * `rep stos`, which is slow to start. */
static inline void clear(struct packet *p, size_t from, size_t to)
{
    for (; to - from > 64; from += 64)
        memset((uint8_t *)p + from, 0, 64);
    memset((uint8_t *)p + from, 0, to - from);
}

/* The slots of the layers above are cleared with the rest, but for the end of the last one. The
 * arrays that a count guards (events, chunks) are left as they are: clearing them would cost more
 * than much of the rest. */
void packet_reset(struct packet *p)
{
    clear(p, 0, offsetof(struct packet, slot.stream) + PACKET_SLOT_STREAM_CLEARED);
    buf_clear(&p->frame);
    for (unsigned i = 0; i < PACKET_MEMORY_COUNT; i++)
        buf_clear(&p->memory[i]);
}

void packet_fini(struct packet *p)
{
    buf_fini(&p->frame);
    for (unsigned i = 0; i < PACKET_MEMORY_COUNT; i++)
        buf_fini(&p->memory[i]);
}

void packet_clear_event(struct packet *p, enum packet_event event)
{
    unsigned i = 0;

    while (i < p->event_count && p->event[i] != event)
        i++;
    if (i == p->event_count)
        return;
    p->event_count--;
    memmove(&p->event[i], &p->event[i + 1], (p->event_count - i) * sizeof(p->event[0]));
}

/* The stream module calls this too, when it finds that the packet goes to the client: see
 * flow_swap. */
void packet_swap_direction(struct packet *p)
{
    struct ip src = p->src;
    uint16_t src_port = p->src_port;

    p->src = p->dst;
    p->dst = src;
    p->src_port = p->dst_port;
    p->dst_port = src_port;
    p->flags ^= PACKET_TO_CLIENT;
}
