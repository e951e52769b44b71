/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/transfer.c - extents of files, put in order (SMB, NFS). An extent ahead of the current
 * offset has its own buffer; the protocol's settings limit the memory. */
#include "app/core/transfer.h"

#include "app/parser.h"
#include "base/memory/lib_memory.h"

/* Per flow, beyond what the protocol limits: a peer can have many files open. */
#define FLOW_AHEAD_MAX (64u << 20)

/* An extent that came early. Owned by its transfer. */
struct app_transfer_extent {
    struct app_transfer_extent *next;
    uint64_t offset;
    struct buf data;
    uint64_t lost;              /* missing bytes at its end */
};

static uint64_t extent_len(const struct app_transfer_extent *extent)
{
    return extent->data.len + extent->lost;
}

/* Bytes that wait, of all files of the flow. ext exists since the first extent that waited. */
static uint64_t *flow_ahead(const struct app_transfer *t)
{
    return &t->tx->flow->ext->ahead_bytes;
}

static void extent_free(struct app_transfer *t, struct app_transfer_extent *extent)
{
    t->ahead_bytes -= extent_len(extent);
    *flow_ahead(t) -= extent_len(extent);
    t->ahead_count--;
    buf_fini(&extent->data);
    lib_free(extent);
}

/* Frees what waits; the file itself belongs to the transaction. */
void app_transfer_fini(struct app_transfer *t)
{
    while (t->ahead != NULL) {
        struct app_transfer_extent *next = t->ahead->next;

        extent_free(t, t->ahead);
        t->ahead = next;
    }
    t->filling = NULL;
}

/* Ends the file as truncated, because later data follow a hole. As in Suricata what is left of a
 * transfer has a SHA-256 only where a rule may store it. */
void app_transfer_truncate(struct app_transfer *t)
{
    if (t->truncated || !t->opened || t->closed)
        return;
    app_file_leave(t->file);
    t->truncated = true;
    app_transfer_fini(t);
}

/* The flow has ended. */
void app_transfer_leave(struct app_transfer *t)
{
    app_file_leave(t->file);
    app_transfer_truncate(t);
}

/* The file is complete, or as complete as it will be; later extents are skipped. */
void app_transfer_close(struct app_transfer *t)
{
    if (!t->truncated)
        app_file_close(t->file, FILE_CLOSED);
    t->closed = true;
    t->next = 0;
    app_transfer_fini(t);
}

/* A second extent for the same offset adds to the first. */
static struct app_transfer_extent *extent_at(struct app_transfer *t, uint64_t offset)
{
    struct app_transfer_extent *extent = t->ahead;

    while (extent != NULL && extent->offset != offset)
        extent = extent->next;
    if (extent != NULL)
        return extent;
    extent = lib_calloc(1, sizeof(*extent));
    if (extent == NULL)
        return NULL;
    extent->offset = offset;
    extent->next = t->ahead;
    t->ahead = extent;
    t->ahead_count++;
    return extent;
}

/* An extent that begins before the last one is complete, or a last one that is early, leaves a hole
 * that nothing will fill. */
void app_transfer_extent(struct app_transfer *t, struct app_tx *tx, enum direction d,
                         struct slice name, const struct app_extent *e)
{
    bool early = e->offset != t->next;

    if (t->left != 0 || t->padding != 0 || (early && e->last))
        app_transfer_truncate(t);
    t->left = e->len;
    t->padding = e->padding;
    t->last = e->last;
    t->filling = NULL;
    if (t->truncated || t->closed)
        return;
    if (!t->opened) {
        t->opened = true;
        t->file = app_file_open(tx, d, name, NULL);
    }
    if (early && e->len > 0) {
        t->tx = tx;
        if (app_ext_make(tx->flow) != NULL)
            t->filling = extent_at(t, e->offset);
        if (t->filling == NULL)
            app_transfer_truncate(t);
    }
}

/* data NULL: bytes that were lost. */
static void append(struct app_transfer *t, const uint8_t *data, uint32_t len)
{
    if (data != NULL)
        app_file_append(t->file, data, len);
    else
        app_file_gap(t->file, len);
    t->next += len;
}

/* After a gap in an extent only its length is kept: later bytes have no position in the file. */
static void keep(struct app_transfer *t, const uint8_t *data, uint32_t len)
{
    if (data == NULL || t->filling->lost > 0 || !buf_add(&t->filling->data, data, len))
        t->filling->lost += len;
    t->ahead_bytes += len;
    *flow_ahead(t) += len;
}

/* Appends the extents that are next. Starts again after each, because one may make space for
 * another that is earlier in the list. */
static void catch_up(struct app_transfer *t)
{
    struct app_transfer_extent **link = &t->ahead;

    while (*link != NULL) {
        struct app_transfer_extent *extent = *link;

        if (extent->offset != t->next || extent_len(extent) == 0) {
            link = &extent->next;
            continue;
        }
        *link = extent->next;
        append(t, extent->data.data, (uint32_t)extent->data.len);
        if (extent->lost > 0)
            append(t, NULL, (uint32_t)extent->lost);
        extent_free(t, extent);
        link = &t->ahead;
    }
}

/* XDR pads opaque data to a multiple of four bytes (RFC 4506, 4.10). */
static uint32_t take_padding(struct app_transfer *t, uint32_t len)
{
    uint32_t n = MIN(t->padding, len);

    t->padding = (uint8_t)(t->padding - n);
    return n;
}

/* Takes bytes of the current extent and then its padding; data NULL for a gap. Returns how many
 * were taken; the rest belongs to the next message. */
uint32_t app_transfer_data(struct app_transfer *t, const uint8_t *data, uint32_t len)
{
    uint32_t n = MIN(t->left, len);

    if (t->filling != NULL && *flow_ahead(t) + n > FLOW_AHEAD_MAX)
        app_transfer_truncate(t);
    if (n > 0 && !t->truncated && !t->closed) {
        if (t->filling != NULL)
            keep(t, data, n);
        else
            append(t, data, n);
    }
    t->left -= n;
    if (t->left == 0 && !t->truncated && !t->closed) {
        if (t->filling == NULL)
            catch_up(t);
        t->filling = NULL;
        if (t->last)
            app_transfer_close(t);
    }
    return n + (t->left == 0 ? take_padding(t, len - n) : 0);
}
