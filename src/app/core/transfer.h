/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/transfer.h - a file that is read or written in extents with offsets, as network file
 * systems do. Pieces may come in any order, one at a time; those ahead of their turn are kept. When
 * those of all files of a flow are more than 64 MiB, the file that has one more is cut off. */
#ifndef APP_TRANSFER_H
#define APP_TRANSFER_H

#include "app/core/file.h"

struct app_transfer_extent;

/* Lies in the protocol's transaction, which owns the file; zeroed is empty. */
struct app_transfer {
    struct app_file *file;      /* NULL when nobody wants files: the transfer is followed anyway */
    uint64_t next;              /* offset of the first byte not had yet */
    uint32_t left;              /* of the extent at hand */
    uint8_t padding;            /* ... after it */
    bool last;                  /* ... with which the file ends */
    bool opened, truncated, closed;
    struct app_transfer_extent *ahead;   /* extents that wait for their turn */
    struct app_transfer_extent *filling; /* the one of them at hand */
    struct app_tx *tx;          /* whose it is, once anything waits */
    uint64_t ahead_bytes;
    uint32_t ahead_count;
};

/* An extent of `len` bytes begins; app_transfer_data() then brings them, with `padding` behind. */
void app_transfer_extent(struct app_transfer *t, struct app_tx *tx, enum direction d,
                        struct slice name, uint64_t offset, uint32_t len, uint8_t padding,
                        bool last);
/* Bytes of the extent at hand; data NULL: lost ones. Gives how many of len it took. */
uint32_t app_transfer_data(struct app_transfer *t, const uint8_t *data, uint32_t len);
void app_transfer_close(struct app_transfer *t);
void app_transfer_truncate(struct app_transfer *t);
/* What is kept; the file is the transaction's. */
void app_transfer_fini(struct app_transfer *t);

static inline bool app_transfer_is_open(const struct app_transfer *t)
{
    return t->opened && !t->closed;
}

#endif
