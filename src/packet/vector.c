/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/vector.c - growth of packet vectors, and insertion. Both are rare. */
#include "packet/vector.h"

#include "base/array.h"
#include "base/memory/traffic_memory.h"

#include <stdlib.h>
#include <string.h>

void vector_grow(struct packet_vector *v, unsigned cap)
{
    cap = MAX(cap, VECTOR_FILL);
    if (cap <= v->cap)
        return;
    v->packet = xrealloc(v->packet, cap * sizeof(v->packet[0]));
    v->cap = cap;
}

/* Inserts after `at`: inner packets of tunnels follow their outer packet. */
bool vector_try_grow(struct packet_vector *v)
{
    unsigned cap = MAX(2 * v->cap, VECTOR_FILL);
    struct packet **packet;

    if (!traffic_memory_take(cap * sizeof(v->packet[0])))
        return false;
    traffic_memory_release(cap * sizeof(v->packet[0]));        /* a steady size is not counted */
    packet = realloc(v->packet, cap * sizeof(v->packet[0]));
    if (packet == NULL)
        return traffic_memory_out();
    v->packet = packet;
    v->cap = cap;
    return true;
}

bool vector_insert(struct packet_vector *v, unsigned at, struct packet *p)
{
    unsigned position = MIN(at + 1, v->count);

    if (!vector_has_space(v))
        return false;
    memmove(&v->packet[position + 1], &v->packet[position],
            (v->count - position) * sizeof(v->packet[0]));
    v->packet[position] = p;
    v->count++;
    return true;
}
