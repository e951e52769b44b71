/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/vector.c - growth of packet vectors, and insertion. Both are rare. */
#include "packet/vector.h"

#include "base/array.h"

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
void vector_insert(struct packet_vector *v, unsigned at, struct packet *p)
{
    unsigned position = MIN(at + 1, v->count);

    if (v->count == v->cap)
        vector_grow(v, v->cap * 2);
    memmove(&v->packet[position + 1], &v->packet[position],
            (v->count - position) * sizeof(v->packet[0]));
    v->packet[position] = p;
    v->count++;
}
