/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/file.c - files that are read or written. Each is a transaction of its own, from its
 * first extent to the close of its handle. The limits on what waits out of order are those of
 * max-{read,write}-queue-size and -cnt. */
#include "app/proto/smb/file.h"

#include "app/proto/smb/events.h"
#include "app/proto/smb/record.h"
#include "app/proto/smb/state.h"
#include "app/proto/smb/tx.h"
#include "base/containers/hash.h"

#define ABANDON_US UINT64_C(60000000)       /* 60 s without an extent after a gap */
#define AHEAD_AFTER_GAP 2000000             /* bytes that may wait for lost ones */

static uint64_t key_of(const struct smb_id *id, enum direction d)
{
    uint64_t key[5] = { SMB_KEY_OF_TRANSFER, d, id->len };

    memcpy(&key[3], id->at, MIN(id->len, sizeof(id->at)));
    return hash_bytes(key, sizeof(key));
}

/* Returns the file of this id and direction. `open`: only one whose transfer continues, because a
 * closed file's number may be used again. */
struct smb_tx *smb_file_find(struct smb_state *st, const struct smb_id *id, enum direction d,
                             bool open)
{
    for (struct app_tx *tx = app_tx_by_key(st->flow, key_of(id, d)); tx != NULL;
         tx = app_tx_next_by_key(tx)) {
        struct smb_tx *t = smb_tx_of(tx);

        if (t->kind == SMB_FILE && t->file.direction == d && smb_id_equal(&t->file.id, id) &&
            (!open || app_transfer_is_open(&t->file.transfer)))
            return t;
    }
    return NULL;
}

/* The name of the share that the record's tree stands for; empty when its connect was missed. */
static struct slice share_of(struct smb_state *st, const struct smb_record *r)
{
    struct smb_key key = { .a = r->session, .c = r->tree, .kind = SMB_KEY_SHARE };

    return smb_entry_text(smb_cache_get(&st->trees, key));
}

/* A file's transaction. It belongs to no message: many messages carry its extents. */
static struct smb_tx *file_new(struct smb_state *st, const struct smb_record *r,
                               const struct smb_extent *p)
{
    struct smb_tx *t = smb_tx_new(st, SMB_FILE, r);

    if (t == NULL)
        return NULL;
    t->file.direction = r->direction;
    t->file.id = p->id;
    app_tx_key(&t->tx, key_of(&p->id, r->direction));
    t->file.name = smb_keep(t, p->name);
    /* SMB2 records of written files have an empty share: users of EVE know them so. */
    if (r->version == 1 || r->direction == TO_CLIENT)
        t->file.share = smb_keep(t, share_of(st, r));
    if (r->version == 2) {
        t->scope = smb_scope_of(r, SCOPE_HEADER);
        t->scope.message = 0;
    }
    return t;
}

/* Does more data wait for missing bytes than the configuration allows? A client can write at
 * offsets that never connect, so that without a limit memory would grow with the traffic. */
static bool is_too_much(struct smb_state *st, const struct app_transfer *transfer,
                        enum direction d, uint32_t len)
{
    const struct smb_settings *settings = st->flow->settings;
    const struct smb_limits *limits = &settings->limits[d];

    if (limits->max_queue_size != 0 && transfer->ahead_bytes + len > limits->max_queue_size) {
        smb_event(st, d == TO_SERVER ? SMB_WRITE_QUEUE_SIZE_EXCEEDED
                                     : SMB_READ_QUEUE_SIZE_EXCEEDED);
        return true;
    }
    if (limits->max_queue_count != 0 && transfer->ahead_count >= limits->max_queue_count) {
        smb_event(st, d == TO_SERVER ? SMB_WRITE_QUEUE_CNT_EXCEEDED : SMB_READ_QUEUE_CNT_EXCEEDED);
        return true;
    }
    return false;
}

/* Begins an extent. `file_left` bytes of it are still to come: smb_file_data() takes them from the
 * stream without buffering the message. An extent that would exceed the limits is skipped. */
void smb_file_extent(struct smb_state *st, const struct smb_record *r, const struct smb_extent *p)
{
    struct smb_dir *ds = &st->ds[r->direction];
    struct smb_tx *t = smb_file_find(st, &p->id, r->direction, true);
    struct app_transfer *transfer;
    uint32_t have = MIN(p->data.len, p->len);

    if (t == NULL)
        t = file_new(st, r, p);
    if (t == NULL)
        return;
    transfer = &t->file.transfer;
    /* The offset goes back over data that were seen: a later version of the same bytes. */
    if (p->offset < transfer->next)
        smb_event(st, SMB_FILE_OVERLAP);
    if (is_too_much(st, transfer, r->direction, p->len)) {
        ds->skip = r->missing;
        return;
    }
    app_transfer_extent(transfer, &t->tx, r->direction, t->file.name,
                        &(struct app_extent){ .offset = p->offset, .len = p->len });
    if (have > 0)
        (void)app_transfer_data(transfer, p->data.data, have);
    ds->file_left = p->len - have;
    ds->file_id = p->id;
    ds->skip = 0;
}

/* After a gap the missing bytes never come. More than AHEAD_AFTER_GAP bytes behind a hole end the
 * file as truncated instead of waiting for ever. */
uint32_t smb_file_data(struct smb_state *st, enum direction d, const uint8_t *data, uint32_t len)
{
    struct smb_dir *ds = &st->ds[d];
    uint32_t n = MIN(ds->file_left, len);
    struct smb_tx *t;

    if (n == 0)
        return 0;
    ds->file_left -= n;
    t = smb_file_find(st, &ds->file_id, d, true);
    if (t == NULL)
        return n;
    if ((st->ds[TO_SERVER].had_gap || st->ds[TO_CLIENT].had_gap) &&
        t->file.transfer.ahead_bytes > AHEAD_AFTER_GAP)
        app_transfer_truncate(&t->file.transfer);
    t->file.abandon_us = 0;
    (void)app_transfer_data(&t->file.transfer, data, n);
    return n;
}

/* A file that is done stays as it is. */
void smb_file_close(struct smb_tx *t)
{
    if (t->tx.progress[TO_SERVER] == 0)
        app_transfer_close(&t->file.transfer);
}

/* A gap may have contained responses: transactions before the newest count as done in the gap's
 * direction. A file may go on; it gets a deadline instead (ABANDON_US). */
void smb_files_after_gap(struct smb_state *st, enum direction d)
{
    for (struct app_tx *tx = st->flow->first; tx != NULL && tx != st->flow->last; tx = tx->next) {
        struct smb_tx *t = smb_tx_of(tx);

        if (t->kind == SMB_FILE) {
            if (t->file.abandon_us == 0)
                t->file.abandon_us = st->now_us + ABANDON_US;
            st->check_files = true;
            continue;
        }
        smb_done(smb_changing(t), TO_SERVER);
        if (d == TO_CLIENT)
            smb_done(t, TO_CLIENT);
    }
}

/* Ends files whose deadline has passed. check_files stays set while any deadline is pending, so
 * that flows without gaps never walk their transactions. */
void smb_files_abandon(struct smb_state *st)
{
    bool more = false;

    for (struct app_tx *tx = st->flow->first; tx != NULL; tx = tx->next) {
        struct smb_tx *t = smb_tx_of(tx);

        if (t->kind != SMB_FILE || t->file.abandon_us == 0)
            continue;
        if (st->now_us <= t->file.abandon_us) {
            more = true;
            continue;
        }
        app_transfer_truncate(&t->file.transfer);
        smb_done(smb_changing(t), TO_SERVER);
        smb_done(t, TO_CLIENT);
    }
    st->check_files = more;
}
