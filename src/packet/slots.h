/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/slots.h - space in a packet for the private state of higher layers.
 *
 * The state of a layer travels with the packet in the layer's slot, so it needs no allocation and
 * no lookup per packet. Only the layer knows the contents of its slot. One header of the layer
 * defines the struct and its accessor:
 *
 *     struct sequencer_slot   sequencer/sequencer.h
 *     struct capture_slot     capture/capture.h
 *     struct flow_slot        flow/flow.h
 *     struct stream_slot      stream/slot.h
 *     struct detect_slot      detect/rule/alert.h
 *
 * All slots of a new packet are zero. */
#ifndef PACKET_SLOTS_H
#define PACKET_SLOTS_H

#include "base/base.h"

#define PACKET_SLOT_SEQUENCER 8
#define PACKET_SLOT_CAPTURE 16
#define PACKET_SLOT_FLOW 8
#define PACKET_SLOT_DETECT 24
#define PACKET_SLOT_STREAM 152
#define PACKET_SLOT_STREAM_CLEARED 24   /* the rest is guarded by a count */

/* Declares a slot in struct packet. */
#define PACKET_SLOT(layer, size) _Alignas(8) unsigned char layer[size]

/* Defines the accessor of a layer; it follows the layer's struct. */
#define PACKET_SLOT_ACCESSOR(layer, size)                                                     \
    _Static_assert(sizeof(struct layer##_slot) <= (size), "the slot of " #layer " is full");  \
    static inline struct layer##_slot *layer##_slot(const struct packet *p)                   \
    {                                                                                         \
        return (struct layer##_slot *)(uintptr_t)p->slot.layer;                               \
    }

/* Memory of a layer that stays with the packet when the packet is reused. */
enum packet_memory {
    PACKET_MEMORY_CHUNKS,       /* stream data for another thread, or for reinspection */
    PACKET_MEMORY_SESSION,      /* the state of a TCP session, see stream/snapshot.h */
    PACKET_MEMORY_ALERTS,
    PACKET_MEMORY_RECORDS,      /* finished log records, see output/output.h */
    PACKET_MEMORY_COUNT
};

#endif
