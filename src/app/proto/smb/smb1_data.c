/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/smb1_data.c - SMB 1: reads and writes, TRANS on pipes, TRANS2 and RENAME on files.
 * A handler whose command has no transaction of its own makes one only to carry an event. */
#include "app/proto/smb/events.h"
#include "app/proto/smb/file.h"
#include "app/proto/smb/smb1.h"

#define DATA_OFFSET_MIN 0x3c        /* of a write: header (32) and the shortest parameters */

/* As Suricata logs files whose open was missed. */
static const struct slice unknown_name = { (const uint8_t *)"<unknown>", 9 };

/* Do reads and writes of this record's tree go to named pipes? False when its connect was
 * missed. */
static bool is_pipe(struct smb_state *st, const struct smb_record *r)
{
    const struct smb_entry *tree = smb_cache_get(&st->trees, smb1_tree_key(r));

    return tree != NULL && tree->flag;
}

/* Makes the transaction of a command that has one, or one that carries SMB_MALFORMED_DATA. */
static void trans_request(struct smb_state *st, const struct smb_record *r, bool bad)
{
    struct smb_tx *t;

    if ((!bad && !smb1_has_own_tx(r->command)) || st->full)
        return;
    t = smb_tx_new(st, SMB_GENERIC, r);
    if (t == NULL)
        return;
    smb_set_scope(t, smb_scope_of(r, SCOPE_GENERIC));
    if (bad)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
}

/* Ends the transaction of the request. A malformed response without a request still gets a
 * transaction, so that its event is seen. */
static void trans_response(struct smb_state *st, const struct smb_record *r, bool bad)
{
    struct smb_tx *t = smb_tx_find(st, r, smb_scope_of(r, SCOPE_GENERIC));

    if (t == NULL && bad && !st->full) {
        t = smb_tx_new(st, SMB_GENERIC, r);
        if (t != NULL)
            smb_set_scope(t, smb_scope_of(r, SCOPE_GENERIC));
    }
    if (t == NULL)
        return;
    smb_done(t, TO_SERVER);
    smb_on_response(t, r);
    if (bad)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
}

/* --- writes --------------------------------------------------------------------------------- */

/* [MS-CIFS] section 2.2.4.43. 14 words have the high half of the offset. The client says where the
 * data begin: before the end of the parameters it is hostile, and the command malformed. Data that
 * have not come yet are not an error, see smb_record.missing. */
static bool take_write_andx(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = bytes_of_slice(r->body);
    uint32_t here = (uint32_t)(r->body.data - r->complete.data) + SMB1_HEADER_LEN;
    unsigned words = take_u8(&in), offset;

    take_skip(&in, 4);  /* AndX */
    smb1_take_id(r, &in, &p->id);
    p->offset = take_le32(&in);
    take_skip(&in, 4 + 2 + 2);  /* timeout, write mode, remaining */
    p->len = (uint32_t)take_le16(&in) << 16;
    p->len |= take_le16(&in);
    offset = take_le16(&in);
    if (words == 14)
        p->offset |= (uint64_t)take_le32(&in) << 32;
    take_skip(&in, 2);  /* byte count */
    if (in.failed || offset < DATA_OFFSET_MIN || offset < here)
        return false;
    in = smb1_at(r, offset);
    p->data = take_slice(&in, in.failed ? 0 : MIN(p->len, bytes_left(&in)));
    return !in.failed;
}

/* SMB_COM_WRITE, [MS-CIFS] section 2.2.4.12: all of its data must be present. */
static bool take_write_core(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = bytes_of_slice(r->body);

    take_skip(&in, 1);  /* word count */
    smb1_take_id(r, &in, &p->id);
    take_skip(&in, 2);  /* count of bytes to write */
    p->offset = take_le32(&in);
    take_skip(&in, 2 + 2 + 1);  /* bytes that remain, byte count, buffer format */
    p->len = take_le16(&in);
    p->data = take_slice(&in, p->len);
    return !in.failed;
}

/* SMB_COM_WRITE_AND_CLOSE, [MS-CIFS] section 2.2.4.40. The byte count includes padding before the
 * data, so that what exceeds the length is skipped. */
static bool take_write_and_close(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned count;

    take_skip(&in, 1);
    smb1_take_id(r, &in, &p->id);
    p->len = take_le16(&in);
    p->offset = take_le32(&in);
    take_skip(&in, 4);  /* time of last write */
    count = take_le16(&in);
    if (count > p->len)
        take_skip(&in, count - p->len);
    p->data = take_slice(&in, p->len);
    return !in.failed;
}

/* Dispatches by command. The other two forms exist in old clients only. */
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

/* The name under which the file was opened; `otherwise` when the create was missed. */
static struct slice name_of(struct smb_state *st, const struct smb_id *id, struct slice otherwise)
{
    const struct smb_entry *entry = smb_cache_get(&st->names, smb_key_of_id(id));

    return entry != NULL ? smb_entry_text(entry) : otherwise;
}

/* Hands the extent to file.c. A file's transaction is named WRITE_ANDX or READ_ANDX, so that it
 * looks the same whichever command brought its first extent. */
static void file_extent(struct smb_state *st, const struct smb_record *r,
                        const struct smb_extent *p)
{
    struct smb_record named = *r;

    named.command = r->direction == TO_SERVER ? SMB1_WRITE_ANDX : SMB1_READ_ANDX;
    smb_file_extent(st, &named, p);
}

/* A length that exceeds both the data present and those still expected is a lie: the extent is
 * refused and the rest of the record skipped. On a pipe the data are DCERPC, unless a file of this
 * number is being written already. */
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

/* [MS-CIFS] section 2.2.4.42. A response repeats neither the file nor the offset: the cache keeps
 * both under the message. 12 words have the high half of the offset. */
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
    take_skip(&in, 2 + 2 + 4 + 2);  /* counts, timeout, remaining */
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

/* The response's data. Its offset field is relative to the header. Without a useful one,
 * the bytes by which the byte count exceeds the length are taken for padding before the data. */
static bool take_read(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned offset, count, low;
    uint32_t here;

    take_skip(&in, 1 + 4 + 6);  /* words, AndX, available to reserved */
    low = take_le16(&in);
    offset = take_le16(&in);
    p->len = (uint32_t)take_le16(&in) << 16 | low;  /* DataLengthHigh */
    take_skip(&in, 8);                              /* reserved */
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

/* Passes read data to their file or pipe. Without the request the offset is unknown: the data are
 * skipped, because they could go to a wrong position. Pipes are found by the bare file number. */
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

/* Errors carry no data; they only end a transaction where there is one. */
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

/* Takes the beginning of a record whose rest comes later. Pipes are refused: a DCERPC header must
 * be complete. Only a file's data may come in extents. */
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

/* [MS-CIFS] section 2.2.4.33. `pipe`: the two setup words of TransactNmPipe, function and file
 * number. Data are cut out at the offset that the client gives; beyond the record it is
 * malformed. */
static bool take_trans(const struct smb_record *r, struct smb_id *id, bool *pipe,
                       struct slice *data)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned words = take_u8(&in), count, offset, setup;

    /* The counts up to the reserved bytes, then the parameter count and offset. */
    take_skip(&in, 2 + 2 + 2 + 2 + 1 + 1 + 2 + 4 + 2 + 2 + 2);
    count = take_le16(&in);
    offset = take_le16(&in);
    setup = take_u8(&in);
    take_skip(&in, 1);
    *pipe = words == 16 && setup == 2 && count > 0;
    if (*pipe) {
        take_skip(&in, 2);  /* function */
        smb1_take_id(r, &in, id);
    }
    take_skip(&in, 2);  /* byte count */
    if (in.failed)
        return false;
    *data = (struct slice){ 0 };
    if (count == 0)
        return true;
    in = smb1_at(r, offset);
    *data = take_slice(&in, count);
    return !in.failed;
}

/* The number of the pipe stays in the cache, because the response does not repeat it. */
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

/* The response's data follow its parameters. The server gives their offset; when it points
 * backwards, one byte of padding is assumed. */
static bool take_trans_response(const struct smb_record *r, struct slice *data)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned words = take_u8(&in), count, offset;
    uint32_t here;

    *data = (struct slice){ 0 };
    /* An interim response: no words, only the byte count. */
    if (words == 0) {
        take_skip(&in, 2);
        return !in.failed;
    }
    take_skip(&in, 2 + 2 + 2 + 2 + 2 + 2);  /* counts, reserved, parameter count to displacement */
    count = take_le16(&in);
    offset = take_le16(&in);
    take_skip(&in, 2 + 1 + 1 + 2);  /* displacement, setup count, reserved, byte count */
    here = (uint32_t)(in.next - r->complete.data) + SMB1_HEADER_LEN;
    if (in.failed)
        return false;
    take_skip(&in, offset > here ? offset - here : 1);
    *data = take_slice(&in, count);
    return !in.failed;
}

/* Ends a call through a pipe. With a lost request the id is empty and no call matches. */
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

/* Subcommands of TRANS2 ([MS-CIFS] sections 2.2.6.7 and 2.2.6.9) and levels of information: 1000
 * plus the class of [MS-FSCC] section 2.4 (10 rename, 13 disposition). */
enum { SET_PATH_INFO = 6, SET_FILE_INFO = 8, LEVEL_RENAME = 1010, LEVEL_DISPOSITION = 1013 };

/* Views into the record: valid only while its bytes are. */
struct trans2 {
    unsigned subcommand, level;
    struct bytes params, data;
};

/* [MS-CIFS] section 2.2.4.46. Parameters and data follow in this order, with padding between them.
 * Offsets that overlap are not followed: each part is read once. */
static bool take_trans2(const struct smb_record *r, struct trans2 *out)
{
    struct bytes in = bytes_of_slice(r->body);
    unsigned params, params_at, count, at;

    take_skip(&in, 1 + 2 + 2 + 2 + 2 + 1 + 1 + 2 + 4 + 2);  /* words to reserved */
    params = take_le16(&in);
    params_at = take_le16(&in);
    count = take_le16(&in);
    at = take_le16(&in);
    take_skip(&in, 1 + 1);  /* setup count, reserved */
    out->subcommand = take_le16(&in);
    take_skip(&in, 2 + 3);  /* byte count, padding */
    out->params = take_sub(&in, params);
    if (at > params_at + params)
        take_skip(&in, at - params_at - params);
    out->data = take_sub(&in, count);
    return !in.failed;
}

/* The transaction of a change to a file. NULL at the limit. */
static struct smb_tx *info_tx(struct smb_state *st, const struct smb_record *r,
                              const struct trans2 *m, enum smb_kind kind)
{
    struct smb_tx *t = smb_tx_new(st, kind, r);

    if (t == NULL)
        return NULL;
    smb_set_scope(t, smb_scope_of(r, SCOPE_GENERIC));
    if (kind == SMB_SET_INFO) {
        t->set_info.subcommand = (uint16_t)m->subcommand;
        t->set_info.level = (uint16_t)m->level;
    }
    return t;
}

/* A file is to be deleted when its last handle closes. False: the data are missing. */
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

/* FileRenameInformation, [MS-FSCC]: replace flag, root directory, then the name by
 * its length. */
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

/* Finds the target: SET_PATH_INFO names a path, SET_FILE_INFO a file number, whose name the cache
 * has if the create was seen. */
static bool take_target(struct smb_state *st, const struct smb_record *r, struct trans2 *m,
                        struct slice *name, struct smb_id *pure)
{
    struct smb_id id;

    *pure = (struct smb_id){ 0 };
    if (m->subcommand == SET_PATH_INFO) {
        m->level = take_le16(&m->params);
        take_skip(&m->params, 4);   /* reserved */
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

/* Only deletion and renaming are logged, as in Suricata. Others return false and get a generic
 * transaction. */
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

/* [MS-CIFS] section 2.2.4.8: search attributes, then two names, each after a format byte. The names
 * are read as UTF-16 whatever the flags say, as Suricata reads them. */
bool smb1_rename(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    struct smb_tx *t;

    take_skip(&in, 1 + 2 + 2 + 1);  /* words, attributes, byte count, format */
    t = in.failed ? NULL : smb_tx_new(st, SMB_RENAME, r);
    *bad = in.failed;
    if (t == NULL)
        return !in.failed;
    smb_set_scope(t, smb_scope_of(r, SCOPE_GENERIC));
    if (smb1_take_string(t, &in, true, &t->rename.from)) {
        take_skip(&in, 1 + 1);          /* format, and padding to an even offset */
        if (smb1_take_string(t, &in, true, &t->rename.to))
            return true;
    }
    app_tx_discard(&t->tx);
    *bad = true;
    return false;
}
