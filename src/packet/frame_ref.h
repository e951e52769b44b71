/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/frame_ref.h - a frame of a capture file before a packet is made of it: where its bytes
 * are, and what the file says of it. */
#ifndef PACKET_FRAME_REF_H
#define PACKET_FRAME_REF_H

#include "base/base.h"

struct frame_ref {
    uint8_t *data;
    uint32_t len, wire_len;
    uint64_t time_us, number;
    uint64_t order;             /* see sequencer.h */
    void *file;                 /* the capture's own */
    uint8_t datalink;           /* enum datalink */
    bool is_stable;             /* the bytes stay until the packet is home; else they are copied */
};

#endif
