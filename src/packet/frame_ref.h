/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/frame_ref.h - a frame of a capture file before it becomes a packet: where its bytes are,
 * and what the file records of it. */
#ifndef PACKET_FRAME_REF_H
#define PACKET_FRAME_REF_H

#include "base/base.h"

struct frame_ref {
    uint8_t *data;
    uint32_t len, wire_len;
    uint64_t time_us, number;
    uint64_t seqno;             /* see sequencer.h */
    void *file;                 /* owned by the capture */
    uint8_t datalink;           /* enum datalink */
    bool is_stable;             /* the bytes stay until the packet returns; else they are copied */
};

#endif
