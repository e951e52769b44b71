/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/decode/tunnel.c - inner packets of tunnels and of fragments.
 *
 * An inner packet borrows the bytes of its root's frame; one reassembled from fragments has a
 * frame of its own. Both keep the root from returning to the pool. The decoder collects them and
 * inserts them after their root, in the order in which they were found. */
#include "packet/decode/decode_private.h"

static struct packet *inner_get(struct decoder *d, struct packet *outer)
{
    struct packet *p;
    struct packet *root = outer->root != NULL ? outer->root : outer;

    if (d->inner_count == INNER_MAX)
        return NULL;
    p = packet_pool_get(d->pool);
    if (p == NULL) {
        COUNT(d, inner_lost);
        return NULL;
    }
    p->root = root;
    p->time_us = outer->time_us;
    p->seqno = outer->seqno;
    p->device = outer->device;
    p->file = outer->file;
    p->device_name = outer->device_name;
    p->layers = outer->layers;
    p->recursion = outer->recursion;
    d->inner[d->inner_count++] = p;
    return p;
}

/* It has been read and stays: the root packet waits for it, and its bytes are not read again. */
static void inner_keep(struct packet *p, struct packet *outer)
{
    __atomic_fetch_add(&p->root->children, 1, __ATOMIC_RELAXED);
    p->root->flags |= PACKET_HAS_TUNNEL;
    outer->flags |= PACKET_HAS_TUNNEL | PACKET_NO_PAYLOAD_INSPECT;
}

static void inner_remove(struct decoder *d, const struct packet *p)
{
    unsigned i = d->inner_count;

    while (i-- > 0)
        if (d->inner[i] == p)
            break;
    for (d->inner_count--; i < d->inner_count; i++)
        d->inner[i] = d->inner[i + 1];
}

/* Releases an inner packet that its root has not counted yet. */
static void inner_discard(struct decoder *d, struct packet *p)
{
    inner_remove(d, p);
    p->root = NULL;
    packet_release(p, PACKET_THREAD_OWNER);
}

struct packet *decode_inner(struct decoder *d, struct packet *outer, struct slice data,
                            decode_fn *fn, enum packet_source source)
{
    struct packet *p;

    if (outer->layers + 1u >= d->conf->max_layers) {
        decode_invalid(outer, EVENT_TOO_MANY_LAYERS);
        return NULL;
    }
    p = inner_get(d, outer);
    if (p == NULL)
        return NULL;
    p->data = (uint8_t *)data.data;
    p->len = p->wire_len = data.len;
    p->datalink = DATALINK_RAW;
    p->source = (uint8_t)source;
    p->flags |= PACKET_TUNNEL;
    p->layers++;
    p->recursion++;
    if (!fn(d, p, data.data, data.len)) {
        inner_discard(d, p);
        return NULL;
    }
    inner_keep(p, outer);
    return p;
}

/* The layers of the fragments count on: a reassembled datagram may bring the last fragment of
 * the next one, and so on, nested as deep as someone likes. */
void decode_fragment(struct decoder *d, struct packet *p, const struct fragment *fragment)
{
    struct datagram datagram;
    struct packet *complete;

    if (!defrag_add(d->defrag, p, fragment, &datagram))
        return;
    complete = inner_get(d, p);
    if (complete == NULL)
        return;
    complete->flags |= PACKET_REASSEMBLED;
    complete->source = PACKET_DEFRAG;
    complete->datalink = datagram.datalink;
    complete->vlan_count = p->vlan_count;
    memcpy(complete->vlan, p->vlan, sizeof(complete->vlan));
    defrag_take_frame(d->defrag, &complete->frame);
    complete->data = complete->frame.data;
    complete->len = complete->wire_len = (uint32_t)complete->frame.len;

    const uint8_t *ip = complete->data + datagram.ip_offset;
    uint32_t len = complete->len - datagram.ip_offset;
    bool read = p->src.version == 4 ? decode_ipv4(d, complete, ip, len)
                                    : decode_ipv6(d, complete, ip, len);

    if (read)
        inner_keep(complete, p);
    else
        inner_discard(d, complete);
}
