/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/transfer.h - a file that is read or written in extents with offsets, as in network file
 * systems. Extents may arrive in any order, one at a time; those ahead of the next offset are
 * buffered. All files of a flow together may buffer 64 MiB; the file that exceeds this is
 * truncated. */
#ifndef APP_TRANSFER_H
#define APP_TRANSFER_H

#include "app/core/file.h"

struct app_transfer_extent;

/* An announced extent: `len` bytes at `offset`, and `padding` bytes after them. */
struct app_extent {
    uint64_t offset;
    uint32_t len;
    uint8_t padding;
    bool last;                  /* the file ends after it */
};

/* Part of the protocol's transaction, which owns the file. Empty when zeroed. */
struct app_transfer {
    struct app_file *file;    /* NULL when files are not required; the transfer is tracked anyway */
    uint64_t next;              /* offset of the first byte not received yet */
    uint32_t left;              /* bytes left of the current extent */
    uint8_t padding;            /* bytes after it */
    bool last;                  /* the file ends after it */
    bool opened, truncated, closed;
    struct app_transfer_extent *ahead;   /* extents that wait for earlier ones */
    struct app_transfer_extent *filling; /* the one that is being received */
    struct app_tx *tx;          /* transaction of the file, once an extent waits */
    uint64_t ahead_bytes;
    uint32_t ahead_count;
};

/* Begins an extent of the file `name`. app_transfer_data() passes its bytes, then the padding. */
void app_transfer_extent(struct app_transfer *t, struct app_tx *tx, enum direction d,
                         struct slice name, const struct app_extent *e);
/* Adds bytes of the current extent; data NULL: they were lost. Returns how many of len it
 * consumed. */
uint32_t app_transfer_data(struct app_transfer *t, const uint8_t *data, uint32_t len);
void app_transfer_close(struct app_transfer *t);
void app_transfer_truncate(struct app_transfer *t);
void app_transfer_leave(struct app_transfer *t);
/* Frees the buffered extents; the transaction frees the file. */
void app_transfer_fini(struct app_transfer *t);

static inline bool app_transfer_is_open(const struct app_transfer *t)
{
    return t->opened && !t->closed;
}

#endif
