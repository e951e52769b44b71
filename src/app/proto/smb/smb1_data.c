/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/smb1_data.c - SMB 1: reads and writes, TRANS on pipes, TRANS2 and RENAME on
 * files. */
#include "app/proto/smb/smb1.h"

#define DATA_OFFSET_MIN 0x3c        /* of a write: behind its own parameters */

static const struct slice unknown_name = { (const uint8_t *)"<unknown>", 9 };

static bool is_pipe(struct smb_state *st, const struct smb_record *r)
{
    const struct smb_entry *tree = smb_cache_get(&st->trees, smb1_tree_key(r));

    return tree != NULL && tree->flag;
}

/* The transaction of a command that has one, or one made to tell of a mistake. */
static void trans_request(struct smb_state *st, const struct smb_record *r, bool bad)
{
    struct smb_tx *t;

    if ((!bad && !smb1_has_own_tx(r->command)) || st->full)
        return;
    t = smb_tx_new(st, SMB_GENERIC, r);
    if (t == NULL)
        return;
    t->scope = smb_scope_of(r, SCOPE_GENERIC);
    if (bad)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
}

static void trans_response(struct smb_state *st, const struct smb_record *r, bool bad)
{
    struct smb_tx *t = smb_tx_find(st, r, smb_scope_of(r, SCOPE_GENERIC));

    if (t == NULL && bad && !st->full) {
        t = smb_tx_new(st, SMB_GENERIC, r);
        if (t != NULL)
            t->scope = smb_scope_of(r, SCOPE_GENERIC);
    }
    if (t == NULL)
        return;
    smb_done(t, TO_SERVER);
    smb_on_response(t, r);
    if (bad)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
}

/* --- writes --------------------------------------------------------------------------------- */

static bool take_write_andx(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = bytes_of_slice(r->body);
    uint32_t here = (uint32_t)(r->body.data - r->complete.data) + SMB1_HEADER_LEN;
    unsigned words = take_u8(&in), offset;

    take_skip(&in, 4);
    smb1_take_id(r, &in, &p->id);
    p->offset = take_le32(&in);
    take_skip(&in, 4 + 2 + 2);
    p->len = (uint32_t)take_le16(&in) << 16;
    p->len |= take_le16(&in);
    offset = take_le16(&in);
    if (words == 14)
        p->offset |= (uint64_t)take_le32(&in) << 32;
    take_skip(&in, 2);
    if (in.failed || offset < DATA_OFFSET_MIN || offset < here)
        return false;
    in = smb1_at(r, offset);
    p->data = take_slice(&in, in.failed ? 0 : MIN(p->len, bytes_left(&in)));
    return !in.failed;
}

static bool take_write_core(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = bytes_of_slice(r->body);

    take_skip(&in, 1);
    smb1_take_id(r, &in, &p->id);
    take_skip(&in, 2);
    p->offset = take_le32(&in);
    take_skip(&in, 2 + 2 + 1);
    p->len = take_le16(&in);
    p->data = take_slice(&in, p->len);
    return !in.failed;
}

static bool take_write_and_close(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned count;

    take_skip(&in, 1);
    smb1_take_id(r, &in, &p->id);
    p->len = take_le16(&in);
    p->offset = take_le32(&in);
    take_skip(&in, 4);
    count = take_le16(&in);
    if (count > p->len)
        take_skip(&in, count - p->len);
    p->data = take_slice(&in, p->len);
    return !in.failed;
}

static bool take_write(const struct smb_record *r, struct smb_extent *p)
{
    switch (r->command) {
    case SMB1_WRITE_ANDX:
        return take_write_andx(r, p);
    case SMB1_WRITE:
        return take_write_core(r, p);
    default:
        return take_write_and_close(r, p);
    }
}

static struct slice name_of(struct smb_state *st, const struct smb_id *id, struct slice otherwise)
{
    const struct smb_entry *entry = smb_cache_get(&st->names, smb_key_of_id(id));

    return entry != NULL ? smb_entry_text(entry) : otherwise;
}

/* As the transaction of the file is called, whichever command began it. */
static void file_extent(struct smb_state *st, const struct smb_record *r,
                        const struct smb_extent *p)
{
    struct smb_record named = *r;

    named.command = r->direction == TO_SERVER ? SMB1_WRITE_ANDX : SMB1_READ_ANDX;
    smb_file_extent(st, &named, p);
}

void smb1_write_request(struct smb_state *st, const struct smb_record *r)
{
    struct smb_extent p = { 0 };

    if (!take_write(r, &p)) {
        trans_request(st, r, true);
        return;
    }
    if (p.len - p.data.len > r->missing) {
        smb_event(st, SMB_WRITE_REQUEST_TOO_LARGE);
        st->ds[TO_SERVER].skip = r->missing;
        return;
    }
    p.name = name_of(st, &p.id, unknown_name);
    if (is_pipe(st, r) && smb_file_find(st, &p.id, TO_SERVER, true) == NULL)
        smb_pipe_request(st, r, p.data);
    else
        file_extent(st, r, &p);
    if (r->command == SMB1_WRITE_AND_CLOSE) {
        (void)smb_cache_pop(&st->names, smb_key_of_id(&p.id));
        smb1_close_file(st, &p.id, TO_SERVER);
    }
    trans_request(st, r, false);
}

/* --- reads ---------------------------------------------------------------------------------- */

void smb1_read_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned words = take_u8(&in);
    struct smb_entry *entry;
    struct smb_id id;
    uint64_t offset;

    take_skip(&in, 4);
    smb1_take_id(r, &in, &id);
    offset = take_le32(&in);
    take_skip(&in, 2 + 2 + 4 + 2);
    if (words == 12)
        offset |= (uint64_t)take_le32(&in) << 32;
    *bad = in.failed;
    if (in.failed)
        return;
    entry = smb_cache_put(&st->offsets, smb1_message_key(r, SMB_KEY_OFFSET));
    if (entry == NULL)
        return;
    entry->id = id;
    entry->offset = offset;
}

static bool take_read(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned offset, count, low;
    uint32_t here;

    take_skip(&in, 1 + 4 + 6);
    low = take_le16(&in);
    offset = take_le16(&in);
    p->len = (uint32_t)take_le16(&in) << 16 | low;
    take_skip(&in, 8);
    count = take_le16(&in);
    if (in.failed)
        return false;
    here = (uint32_t)(in.next - r->complete.data) + SMB1_HEADER_LEN;
    if (offset > here)
        take_skip(&in, offset - here);
    else if (count > low)
        take_skip(&in, count - low);
    p->data = take_slice(&in, in.failed ? 0 : MIN(p->len, bytes_left(&in)));
    return !in.failed;
}

static void read_extent(struct smb_state *st, const struct smb_record *r, struct smb_extent *p)
{
    const struct smb_entry *entry;
    struct smb_id pure;

    if (p->len - p->data.len > r->missing) {
        smb_event(st, SMB_READ_RESPONSE_TOO_LARGE);
        st->ds[TO_CLIENT].skip = r->missing;
        return;
    }
    entry = smb_cache_pop(&st->offsets, smb1_message_key(r, SMB_KEY_OFFSET));
    if (entry == NULL) {
        st->ds[TO_CLIENT].skip = r->missing;
        return;
    }
    p->id = entry->id;
    p->offset = entry->offset;
    if (!is_pipe(st, r)) {
        p->name = name_of(st, &p->id, (struct slice){ 0 });
        file_extent(st, r, p);
        return;
    }
    pure = (struct smb_id){ .len = 2, .at = { p->id.at[0], p->id.at[1] } };
    smb_pipe_response(st, r, &pure, p->data);
}

void smb1_read_response(struct smb_state *st, const struct smb_record *r)
{
    struct smb_extent p = { 0 };
    bool bad = false;

    if (r->status == STATUS_SUCCESS) {
        bad = !take_read(r, &p);
        if (!bad)
            read_extent(st, r, &p);
    }
    trans_response(st, r, bad);
}

bool smb1_begin_data(struct smb_state *st, struct smb_record *r)
{
    struct smb_extent p = { 0 };

    if (r->is_response != (r->direction == TO_CLIENT) || is_pipe(st, r))
        return false;
    if (r->direction == TO_SERVER) {
        if (r->command != SMB1_WRITE_ANDX || !take_write(r, &p))
            return false;
        smb1_write_request(st, r);
    } else {
        if (r->command != SMB1_READ_ANDX || r->status != STATUS_SUCCESS || !take_read(r, &p))
            return false;
        smb1_read_response(st, r);
    }
    return true;
}

/* --- TRANS: calls through pipes --------------------------------------------------------------- */

static bool take_trans(const struct smb_record *r, struct smb_id *id, bool *pipe,
                       struct slice *data)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned words = take_u8(&in), count, offset, setup;

    take_skip(&in, 2 + 2 + 2 + 2 + 1 + 1 + 2 + 4 + 2 + 2 + 2);
    count = take_le16(&in);
    offset = take_le16(&in);
    setup = take_u8(&in);
    take_skip(&in, 1);
    *pipe = words == 16 && setup == 2 && count > 0;
    if (*pipe) {
        take_skip(&in, 2);
        smb1_take_id(r, &in, id);
    }
    take_skip(&in, 2);
    if (in.failed)
        return false;
    *data = (struct slice){ 0 };
    if (count == 0)
        return true;
    in = smb1_at(r, offset);
    *data = take_slice(&in, count);
    return !in.failed;
}

void smb1_trans_request(struct smb_state *st, const struct smb_record *r)
{
    struct smb_id id = { 0 };
    struct slice data;
    bool pipe = false, good = take_trans(r, &id, &pipe, &data);

    if (good && pipe) {
        smb_cache_set_id(&st->keys, smb1_message_key(r, SMB_KEY_FILE), &id);
        if (smb_pipe_has_calls(st, &id))
            smb_pipe_request(st, r, data);
    }
    trans_request(st, r, !good);
}

static bool take_trans_response(const struct smb_record *r, struct slice *data)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned words = take_u8(&in), count, offset;
    uint32_t here;

    *data = (struct slice){ 0 };
    if (words == 0) {
        take_skip(&in, 2);
        return !in.failed;
    }
    take_skip(&in, 2 + 2 + 2 + 2 + 2 + 2);
    count = take_le16(&in);
    offset = take_le16(&in);
    take_skip(&in, 2 + 1 + 1 + 2);
    here = (uint32_t)(in.next - r->complete.data) + SMB1_HEADER_LEN;
    if (in.failed)
        return false;
    take_skip(&in, offset > here ? offset - here : 1);
    *data = take_slice(&in, count);
    return !in.failed;
}

void smb1_trans_response(struct smb_state *st, const struct smb_record *r)
{
    const struct smb_entry *entry;
    struct smb_id id = { 0 }, pure;
    struct slice data;
    bool good = take_trans_response(r, &data);

    if (good) {
        entry = smb_cache_pop(&st->keys, smb1_message_key(r, SMB_KEY_FILE));
        if (entry != NULL)
            id = entry->id;
        pure = (struct smb_id){ .len = id.len > 0 ? 2 : 0, .at = { id.at[0], id.at[1] } };
        if (smb_pipe_has_calls(st, &id))
            smb_pipe_response(st, r, &pure, data);
    }
    trans_response(st, r, !good);
}

/* --- TRANS2 and RENAME ------------------------------------------------------------------------ */

enum { SET_PATH_INFO = 6, SET_FILE_INFO = 8, LEVEL_RENAME = 1010, LEVEL_DISPOSITION = 1013 };

struct trans2 {
    unsigned subcommand, level;
    struct bytes params, data;
};

static bool take_trans2(const struct smb_record *r, struct trans2 *out)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned params, params_at, count, at;

    take_skip(&in, 1 + 2 + 2 + 2 + 2 + 1 + 1 + 2 + 4 + 2);
    params = take_le16(&in);
    params_at = take_le16(&in);
    count = take_le16(&in);
    at = take_le16(&in);
    take_skip(&in, 1 + 1);
    out->subcommand = take_le16(&in);
    take_skip(&in, 2 + 3);
    out->params = take_sub(&in, params);
    if (at > params_at + params)
        take_skip(&in, at - params_at - params);
    out->data = take_sub(&in, count);
    return !in.failed;
}

static struct smb_tx *info_tx(struct smb_state *st, const struct smb_record *r,
                              const struct trans2 *m, enum smb_kind kind)
{
    struct smb_tx *t = smb_tx_new(st, kind, r);

    if (t == NULL)
        return NULL;
    t->scope = smb_scope_of(r, SCOPE_GENERIC);
    if (kind == SMB_SET_INFO) {
        t->set_info.subcommand = (uint16_t)m->subcommand;
        t->set_info.level = (uint16_t)m->level;
    }
    return t;
}

static bool set_disposition(struct smb_state *st, const struct smb_record *r, struct trans2 *m,
                            struct slice name, const struct smb_id *id)
{
    uint8_t remove = take_u8(&m->data);
    struct smb_tx *t;

    if (m->data.failed)
        return false;
    t = info_tx(st, r, m, SMB_SET_INFO);
    if (t == NULL)
        return true;
    t->set_info.name = smb_keep_text(t, name);
    t->set_info.id = *id;
    t->set_info.delete_on_close = (remove & 1) != 0;
    return true;
}

static bool set_name(struct smb_state *st, const struct smb_record *r, struct trans2 *m,
                     struct slice name, const struct smb_id *id)
{
    struct slice to;
    struct smb_tx *t;

    take_skip(&m->data, 1 + 3 + 4);
    to = take_slice(&m->data, take_le32(&m->data));
    if (m->data.failed)
        return false;
    t = info_tx(st, r, m, SMB_RENAME);
    if (t == NULL)
        return true;
    t->rename.id = *id;
    t->rename.from = smb_keep_text(t, name);
    t->rename.to = smb_keep_text(t, to);
    return true;
}

/* What is set of a file, by its path or by its number. */
static bool take_target(struct smb_state *st, const struct smb_record *r, struct trans2 *m,
                        struct slice *name, struct smb_id *pure)
{
    struct smb_id id;

    *pure = (struct smb_id){ 0 };
    if (m->subcommand == SET_PATH_INFO) {
        m->level = take_le16(&m->params);
        take_skip(&m->params, 4);
        *name = take_rest(&m->params);
        return !m->params.failed;
    }
    if (!smb1_take_id(r, &m->params, &id))
        return false;
    m->level = take_le16(&m->params);
    *pure = (struct smb_id){ .len = 2, .at = { id.at[0], id.at[1] } };
    *name = name_of(st, &id, unknown_name);
    return !m->params.failed;
}

bool smb1_trans2(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct trans2 m;
    struct slice name;
    struct smb_id id;
    bool good;

    *bad = !take_trans2(r, &m);
    if (*bad || (m.subcommand != SET_PATH_INFO && m.subcommand != SET_FILE_INFO))
        return false;
    *bad = !take_target(st, r, &m, &name, &id);
    if (*bad || (m.level != LEVEL_DISPOSITION && m.level != LEVEL_RENAME))
        return false;
    good = m.level == LEVEL_DISPOSITION ? set_disposition(st, r, &m, name, &id)
                                        : set_name(st, r, &m, name, &id);
    *bad = !good;
    return good;
}

bool smb1_rename(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    struct smb_tx *t;

    take_skip(&in, 1 + 2 + 2 + 1);
    t = in.failed ? NULL : smb_tx_new(st, SMB_RENAME, r);
    *bad = in.failed;
    if (t == NULL)
        return !in.failed;
    t->scope = smb_scope_of(r, SCOPE_GENERIC);
    if (smb1_take_string(t, &in, true, &t->rename.from)) {
        take_skip(&in, 1 + 1);          /* format, and what puts UTF-16 at an even offset */
        if (smb1_take_string(t, &in, true, &t->rename.to))
            return true;
    }
    app_tx_discard(&t->tx);
    *bad = true;
    return false;
}
