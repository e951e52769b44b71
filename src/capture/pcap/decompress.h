/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/decompress.h - streaming decompressors behind one face. */
#ifndef CAPTURE_DECOMPRESS_H
#define CAPTURE_DECOMPRESS_H

#include "base/base.h"

struct decompress_ops {
    const char *name;
    uint8_t magic[6];
    unsigned magic_len;
    void *(*open)(void);                /* NULL: out of memory */
    /* Consumes from in and fills out; adds up how much of each. False: the data are broken.
     * With in_len 0 it gives what it still holds. */
    bool (*run)(void *self, const uint8_t *in, size_t in_len, size_t *in_used, uint8_t *out,
                size_t out_len, size_t *out_produced);
    void (*close)(void *self);
};

/* By the first bytes; NULL: not compressed, or by something this build does not have. */
const struct decompress_ops *decompress_find(const uint8_t *start, size_t len);

#endif
