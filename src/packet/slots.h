/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/slots.h - room in a packet for the layers above.
 *
 * What a layer knows of a packet travels with it, in a slot of its own: nothing is allocated per
 * packet, and nothing looked up. Only the layer knows what is in its slot. It has a struct that
 * fits and an accessor, both in one header:
 *
 *     struct sequencer_slot   sequencer/sequencer.h
 *     struct capture_slot     capture/capture.h
 *     struct flow_slot        flow/flow.h
 *     struct stream_slot      stream/slot.h
 *     struct detect_slot      detect/rule/alert.h
 *
 * A packet begins its life with slots full of zeros. */
#ifndef PACKET_SLOTS_H
#define PACKET_SLOTS_H

#include "base/base.h"

#define PACKET_SLOT_SEQUENCER 8
#define PACKET_SLOT_CAPTURE 16
#define PACKET_SLOT_FLOW 8
#define PACKET_SLOT_DETECT 24
#define PACKET_SLOT_STREAM 152
#define PACKET_SLOT_STREAM_CLEARED 24   /* the rest is guarded by a count */

/* Within struct packet. */
#define PACKET_SLOT(layer, size) _Alignas(8) unsigned char layer[size]

/* Of a layer, behind its struct. */
#define PACKET_SLOT_ACCESSOR(layer, size)                                                     \
    _Static_assert(sizeof(struct layer##_slot) <= (size), "the slot of " #layer " is full");  \
    static inline struct layer##_slot *layer##_slot(const struct packet *p)                   \
    {                                                                                         \
        return (struct layer##_slot *)(uintptr_t)p->slot.layer;                               \
    }

/* Memory of a layer that stays with the packet over its lives. */
enum packet_memory {
    PACKET_MEMORY_CHUNKS,       /* stream data that cross threads, or are repeated */
    PACKET_MEMORY_SESSION,      /* a TCP session as it was, see stream/snapshot.h */
    PACKET_MEMORY_ALERTS,
    PACKET_MEMORY_RECORDS,      /* finished log records, see output/output.h */
    PACKET_MEMORY_COUNT
};

#endif
