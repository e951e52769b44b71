/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/decompress.h - streaming decompressors behind one interface. */
#ifndef CAPTURE_DECOMPRESS_H
#define CAPTURE_DECOMPRESS_H

#include "base/base.h"

/* One call of a decompressor. The caller owns both buffers and sets the lengths, in bytes. */
struct decompress_step {
    const uint8_t *in;
    size_t in_len, in_used;
    uint8_t *out;
    size_t out_len, out_produced;
};

struct decompress_ops {
    const char *name;
    uint8_t magic[6];
    unsigned magic_len;
    void *(*open)(void);                /* NULL: out of memory */
    /* Reads from step->in, fills step->out, and sets how much of each it used. False: the data are
     * damaged. With in_len 0 it emits what it still holds. */
    bool (*run)(void *self, struct decompress_step *step);
    void (*close)(void *self);
};

/* By the first bytes; NULL: not compressed, or this build lacks the decompressor. */
const struct decompress_ops *decompress_find(const uint8_t *start, size_t len);

#endif
