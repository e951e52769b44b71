/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/file.c - files that are read or written. Each is a transaction of its own, from its
 * first extent to its last. The limits bound what waits out of order. */
#include "app/proto/nfs/nfs.h"

#include "base/containers/hash.h"

#define ABANDON_US UINT64_C(60000000)       /* 60 s without an extent after a gap */
#define AHEAD_AFTER_GAP 2000000             /* bytes that may wait for lost ones */
#define AHEAD_MAX (64u << 20)               /* bytes that may wait out of order at all */
#define AHEAD_COUNT_MAX 1024                /* extents */

static bool same(struct slice a, struct slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.data, b.data, a.len) == 0);
}

/* Beyond the keys of calls, which have 32 bits. */
static uint64_t key_of(struct slice handle, enum direction d)
{
    return hash_bytes(handle.data, handle.len) << 2 | UINT64_C(1) << 63 | d;
}

/* The open file of this handle and direction. */
struct nfs_tx *nfs_file_find(struct nfs_state *st, struct slice handle, enum direction d)
{
    struct app_tx *tx = app_tx_by_key(st->flow, key_of(handle, d));

    while (tx != NULL && (!nfs_tx_of(tx)->is_file || !same(nfs_tx_of(tx)->handle, handle)))
        tx = app_tx_next_by_key(tx);
    return tx != NULL ? nfs_tx_of(tx) : NULL;
}

/* NULL: too many transactions. */
struct nfs_tx *nfs_file_new(struct nfs_state *st, const struct rpc_call *r, uint32_t procedure,
                            struct nfs_file_ref file, enum direction d)
{
    struct nfs_tx *t = nfs_tx_new(st, r);

    if (t == NULL)
        return NULL;
    t->is_file = t->first = true;
    t->procedure = procedure;
    t->handle = nfs_keep(t, file.handle);
    t->name = nfs_keep(t, file.name);
    t->file.direction = d;
    app_tx_key(&t->tx, key_of(file.handle, d));
    return t;
}

/* A later file of the same handle is another one. */
static void file_done(struct nfs_tx *t)
{
    nfs_done(t, t->file.direction);
    app_tx_key_drop(&t->tx);
}

/* The last extent is complete, or the file is closed. */
static void finish_if_complete(struct nfs_tx *t)
{
    if (t->file.transfer.closed || (t->last && t->file.transfer.left == 0))
        file_done(t);
}

/* An extent begins. XDR pads it to 4 bytes (RFC 4506 section 4.10). Beyond the limits the
 * file is truncated. */
static void begin(struct nfs_state *st, struct nfs_tx *t, const struct nfs_extent *p)
{
    struct app_transfer *transfer = &t->file.transfer;
    uint8_t padding = (uint8_t)(-p->len & 3);
    uint32_t len = MIN(p->data.len, p->streamed ? p->len + padding : p->len);
    struct app_extent extent = { p->offset, p->len, padding, p->last };

    if (transfer->ahead_bytes + p->len > AHEAD_MAX || transfer->ahead_count >= AHEAD_COUNT_MAX)
        app_transfer_truncate(transfer);
    app_transfer_extent(transfer, &t->tx, t->file.direction, p->name, &extent);
    (void)app_transfer_data(transfer, p->data.data, len);
    t->file.abandon_us = 0;
    if (p->streamed)
        st->ds[t->file.direction].file_tx = t->tx.id;
    finish_if_complete(t);
}

/* A length that no server uses is a lie. */
static bool is_believable(const struct nfs_extent *p)
{
    return p->len > 0 && p->len <= NFS_EXTENT_MAX;
}

/* A write with FILE_SYNC counts as the last one, see README.md. */
void nfs_file_write(struct nfs_state *st, const struct rpc_call *r, uint32_t procedure,
                    const struct nfs_extent *p)
{
    struct nfs_tx *t;

    if (!is_believable(p))
        return;
    t = nfs_file_find(st, p->handle, TO_SERVER);
    if (t != NULL)
        t->file.extents++;
    else
        t = nfs_file_new(st, r, procedure, (struct nfs_file_ref){ p->handle, p->name }, TO_SERVER);
    if (t == NULL)
        return;
    if (p->last) {
        t->last = true;
        t->file.last_xid = r->xid;
    }
    begin(st, t, p);
}

/* The first response may come without its call: then it has the transaction's xid. */
void nfs_file_read(struct nfs_state *st, const struct rpc_reply *r, const struct nfs_call *call,
                   uint32_t status, const struct nfs_extent *p)
{
    struct nfs_tx *t;

    if (!is_believable(p))
        return;
    t = nfs_file_find(st, p->handle, TO_CLIENT);
    if (t != NULL)
        t->file.extents++;
    else
        t = nfs_file_new(st, NULL, call->version < 4 ? NFS3_READ : NFS4_READ,
                         (struct nfs_file_ref){ p->handle, p->name }, TO_CLIENT);
    if (t == NULL)
        return;
    if (t->file.extents == 0 && t->xid == 0)
        t->xid = r->xid;
    if (p->last) {
        t->last = true;
        t->file.last_xid = r->xid;
        t->rpc_status = r->state;
        t->status = status;
        nfs_done(t, TO_SERVER);
    }
    begin(st, t, p);
}

/* Bytes of the current extent, or a gap (data NULL). Returns how many belong to the file. */
uint32_t nfs_file_data(struct nfs_state *st, enum direction d, const uint8_t *data, uint32_t len)
{
    struct nfs_dir *ds = &st->ds[d];
    uint32_t n = MIN(ds->file_left, len);
    struct app_tx *tx;
    struct nfs_tx *t;

    if (n == 0)
        return 0;
    ds->file_left -= n;
    tx = app_tx_find(st->flow, ds->file_tx);
    if (tx == NULL)
        return n;
    t = nfs_tx_of(tx);
    /* After a gap the missing bytes never come: the file ends instead of waiting for ever. */
    if (st->any_gap && t->file.transfer.ahead_bytes > AHEAD_AFTER_GAP)
        app_transfer_truncate(&t->file.transfer);
    t->file.abandon_us = 0;
    (void)app_transfer_data(&t->file.transfer, data, n);
    finish_if_complete(t);
    return n;
}

/* COMMIT, or CLOSE of version 4, ends a written file. */
void nfs_file_commit(struct nfs_state *st, const struct rpc_call *r, struct slice handle)
{
    struct nfs_tx *t = nfs_file_find(st, handle, TO_SERVER);

    if (t == NULL)
        return;
    app_transfer_close(&t->file.transfer);
    t->file.last_xid = r->xid;
    t->last = true;
    finish_if_complete(t);
    if (r->version == 3) {
        t->file.extents++;
        t->file.committed = true;
    }
}

/* A gap may have contained responses: calls count as done in the gap's direction. A file may go on,
 * and gets a deadline. */
void nfs_files_after_gap(struct nfs_state *st, enum direction d)
{
    for (struct app_tx *tx = st->flow->first; tx != NULL; tx = tx->next) {
        struct nfs_tx *t = nfs_tx_of(tx);

        if (t->is_file) {
            if (t->file.abandon_us == 0)
                t->file.abandon_us = st->now_us + ABANDON_US;
            st->check_files = true;
            continue;
        }
        nfs_done(t, TO_SERVER);
        if (d == TO_CLIENT)
            nfs_done(t, TO_CLIENT);
        app_tx_mark(tx);
    }
}

/* Ends files whose deadline has passed. check_files stays set while one is pending. */
void nfs_files_abandon(struct nfs_state *st)
{
    bool more = false;

    for (struct app_tx *tx = st->flow->first; tx != NULL; tx = tx->next) {
        struct nfs_tx *t = nfs_tx_of(tx);

        if (!t->is_file || t->file.abandon_us == 0)
            continue;
        if (st->now_us <= t->file.abandon_us) {
            more = true;
            continue;
        }
        app_transfer_truncate(&t->file.transfer);
        nfs_done(t, TO_SERVER);
        nfs_done(t, TO_CLIENT);
        app_tx_key_drop(tx);
        app_tx_mark(tx);
    }
    st->check_files = more;
}
