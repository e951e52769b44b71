/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/smb2.c - SMB 2 and 3, as long as it is not encrypted ([MS-SMB2] section 2.2). */
#include "app/proto/smb/smb.h"

enum {
    NEGOTIATE = 0, SESSION_SETUP = 1, TREE_CONNECT = 3, TREE_DISCONNECT = 4, CREATE = 5,
    CLOSE = 6, READ = 8, WRITE = 9, IOCTL = 11, GET_INFO = 16, SET_INFO = 17,
};

#define FLAG_RESPONSE 1u
#define FLAG_ASYNC 2u
#define FSCTL_PIPE_TRANSCEIVE 0x0011c017u
#define SHARE_PIPE 2

bool smb2_take_record(struct bytes *in, enum direction d, struct smb_record *r)
{
    uint32_t flags;

    *r = (struct smb_record){ .version = 2, .direction = d };
    take_skip(in, 4);
    r->header_len = take_le16(in);
    take_skip(in, 2);               /* credit charge */
    r->status = take_le32(in);      /* of requests: channel sequence */
    r->command = take_le16(in);
    take_skip(in, 2);               /* credits */
    flags = take_le32(in);
    r->is_response = (flags & FLAG_RESPONSE) != 0;
    r->chain = take_le32(in);
    r->message = take_le64(in);
    take_skip(in, 4);
    r->tree = take_le32(in);
    if (d == TO_SERVER)
        r->status = 0;
    else if (flags & FLAG_ASYNC)
        r->tree = 0;
    r->session = take_le64(in);
    take_skip(in, 16);              /* signature */
    r->body = r->chain > r->header_len ? take_slice(in, r->chain - r->header_len) : take_rest(in);
    return !in->failed;
}

static struct bytes body_of(const struct smb_record *r)
{
    return bytes_of_slice(r->body);
}

static bool take_id(struct bytes *in, struct smb_id *id)
{
    const uint8_t *p = take_bytes(in, 16);

    *id = (struct smb_id){ .len = 16 };
    if (p != NULL)
        memcpy(id->at, p, 16);
    return p != NULL;
}

static bool malformed(bool *bad)
{
    *bad = true;
    return false;
}

/* --- keys ----------------------------------------------------------------------------------- */

static struct smb_key message_key(const struct smb_record *r, uint32_t kind)
{
    return (struct smb_key){ .a = r->session, .b = r->message, .kind = kind };
}

static struct smb_key tree_key(const struct smb_record *r)
{
    return (struct smb_key){ .a = r->session, .c = r->tree, .kind = SMB_KEY_SHARE };
}

/* Answers to these have nothing to tell: the requests make no transaction. */
static bool has_own_tx(uint16_t command)
{
    return command != READ && command != WRITE && command != GET_INFO && command != SET_INFO;
}

static uint32_t max_size(const struct smb_state *st, enum direction d)
{
    return ((const struct smb_settings *)st->flow->settings)->limits[d].max_size;
}

static bool too_large(const struct smb_state *st, enum direction d, uint32_t len)
{
    uint32_t own = max_size(st, d), agreed = d == TO_SERVER ? st->max_write : st->max_read;

    return (agreed != 0 && len > agreed) || (own != 0 && len > own);
}

/* --- pipes and files ------------------------------------------------------------------------- */

enum carried { CARRIES_FILE, CARRIES_CALL, CARRIES_OTHER };

/* What the data of a read or write are. When the tree connect was missed the data tell, and
 * later ones follow them. */
static enum carried carried_by(struct smb_state *st, const struct smb_record *r,
                               const struct smb_extent *p)
{
    struct smb_entry *tree = smb_cache_get(&st->trees, tree_key(r));
    bool known = tree != NULL && (tree->flag || tree->text.len > 0);

    if (known && !tree->flag)
        return CARRIES_FILE;
    if (known)
        return smb_pipe_has_calls(st, &p->id) ? CARRIES_CALL : CARRIES_OTHER;
    return smb_is_call(p->data) ? CARRIES_CALL : CARRIES_FILE;
}

static void note_pipe(struct smb_state *st, const struct smb_record *r, const struct smb_extent *p)
{
    struct smb_entry *tree = smb_cache_get(&st->trees, tree_key(r));

    if (tree != NULL && tree->flag)
        return;
    smb_cache_flag(&st->trees, tree_key(r));
    if (!smb_pipe_has_calls(st, &p->id))
        smb_cache_flag(&st->names, smb_key_of_id(&p->id));
}

static void extent(struct smb_state *st, const struct smb_record *r, const struct smb_extent *p)
{
    enum carried what = CARRIES_FILE;

    if (smb_file_find(st, &p->id, r->direction, true) == NULL)
        what = carried_by(st, r, p);
    switch (what) {
    case CARRIES_FILE:
        smb_file_extent(st, r, p);
        return;
    case CARRIES_CALL:
        note_pipe(st, r, p);
        if (r->direction == TO_SERVER)
            smb_pipe_request(st, r, p->data);
        else
            smb_pipe_response(st, r, &p->id, p->data);
        return;
    case CARRIES_OTHER:
        st->ds[r->direction].skip = r->missing;
        return;
    }
}

static bool take_write(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = body_of(r);

    take_skip(&in, 4);
    p->len = take_le32(&in);
    p->offset = take_le64(&in);
    take_id(&in, &p->id);
    take_skip(&in, 4 + 4 + 4 + 4);
    if (in.failed)
        return false;
    p->data = take_slice(&in, MIN(p->len, bytes_left(&in)));
    return true;
}

static void skip_rest(struct smb_state *st, const struct smb_record *r)
{
    st->ds[r->direction].skip = r->missing;
}

static void write_request(struct smb_state *st, const struct smb_record *r)
{
    struct smb_extent p = { 0 };

    if (!take_write(r, &p)) {
        smb_event(st, SMB_MALFORMED_DATA);
        return;
    }
    skip_rest(st, r);
    if (p.len - p.data.len > r->missing || too_large(st, TO_SERVER, p.len)) {
        smb_event(st, SMB_WRITE_REQUEST_TOO_LARGE);
        return;
    }
    p.name = smb_entry_text(smb_cache_get(&st->names, smb_key_of_id(&p.id)));
    extent(st, r, &p);
}

static bool take_read(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = body_of(r);

    take_skip(&in, 4);
    p->len = take_le32(&in);
    take_skip(&in, 4 + 4);
    if (in.failed)
        return false;
    p->data = take_slice(&in, MIN(p->len, bytes_left(&in)));
    return true;
}

static void read_response(struct smb_state *st, const struct smb_record *r)
{
    struct smb_extent p = { 0 };
    struct smb_entry *entry;

    if (!take_read(r, &p)) {
        smb_event(st, SMB_MALFORMED_DATA);
        return;
    }
    skip_rest(st, r);
    if (p.len - p.data.len > r->missing) {
        smb_event(st, SMB_READ_RESPONSE_TOO_LARGE);
        return;
    }
    if (r->status != STATUS_SUCCESS && r->status != STATUS_BUFFER_OVERFLOW)
        return;
    if (too_large(st, TO_CLIENT, p.len)) {
        smb_event(st, SMB_READ_RESPONSE_TOO_LARGE);
        return;
    }
    entry = smb_cache_pop(&st->offsets, message_key(r, SMB_KEY_OFFSET));
    if (entry == NULL)
        return;
    p.id = entry->id;
    p.offset = entry->offset;
    entry = smb_cache_get(&st->names, smb_key_of_id(&p.id));
    p.name = entry != NULL ? smb_entry_text(entry)
                           : (struct slice){ (const uint8_t *)"<unknown>", 9 };
    extent(st, r, &p);
}

bool smb2_begin_data(struct smb_state *st, const struct smb_record *r)
{
    struct smb_extent p = { 0 };
    struct smb_entry *entry;

    if (r->chain != 0 || r->is_response != (r->direction == TO_CLIENT) ||
        r->command != (r->direction == TO_SERVER ? WRITE : READ))
        return false;
    if (r->direction == TO_SERVER ? !take_write(r, &p) : !take_read(r, &p))
        return false;
    if (r->direction == TO_CLIENT) {
        entry = smb_cache_get(&st->offsets, message_key(r, SMB_KEY_OFFSET));
        if (entry != NULL)
            p.id = entry->id;
    }
    if (smb_file_find(st, &p.id, r->direction, true) == NULL &&
        carried_by(st, r, &p) == CARRIES_CALL)
        return false;
    if (r->direction == TO_SERVER)
        write_request(st, r);
    else
        read_response(st, r);
    return true;
}

/* --- requests ------------------------------------------------------------------------------- */

/* Each gives whether it made the command's transaction. */

static bool negotiate_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    const uint8_t *guid;
    struct smb_tx *t;
    unsigned count;

    take_skip(&in, 2);
    count = take_le16(&in);
    take_skip(&in, 2 + 2 + 4);
    guid = take_bytes(&in, 16);
    take_skip(&in, 4 + 2 + 2);
    if (!bytes_have(&in, 2 * (size_t)count))
        return malformed(bad);
    if (smb_tx_negotiate(st, 2) != NULL)
        return true;
    t = smb_tx_new(st, SMB_NEGOTIATE, r);
    if (t == NULL)
        return true;
    t->negotiate.has_client_guid = true;
    memcpy(t->negotiate.client_guid, guid, 16);
    t->negotiate.dialect2 = arena_alloc(&t->tx.arena, count * sizeof(uint16_t) + 1);
    if (t->negotiate.dialect2 == NULL)
        return true;
    for (unsigned i = 0; i < count; i++)
        t->negotiate.dialect2[i] = take_le16(&in);
    t->negotiate.dialect2_count = count;
    return true;
}

static void setup_request(struct smb_state *st, const struct smb_record *r)
{
    struct bytes in = body_of(r);
    struct smb_tx *t;

    take_skip(&in, 24);
    t = in.failed ? NULL : smb_tx_new(st, SMB_SESSION_SETUP, r);
    if (t == NULL)
        return;
    t->scope = smb_scope_of(r, SCOPE_HEADER);
    smb_read_token(t, take_rest(&in));
}

static bool tree_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    unsigned offset, len;
    struct slice path;
    struct smb_tx *t;

    take_skip(&in, 2 + 2);
    offset = take_le16(&in);
    len = take_le16(&in);
    if (in.failed)
        return malformed(bad);
    in = body_of(r);
    take_skip(&in, offset > SMB2_HEADER_LEN + 8 ? offset - SMB2_HEADER_LEN : 8);
    path = take_slice(&in, MIN(len, bytes_left(&in)));
    if (in.failed)
        return malformed(bad);
    t = smb_tx_new(st, SMB_TREE_CONNECT, r);
    if (t == NULL)
        return true;
    t->scope = smb_scope_of(r, SCOPE_TREE);
    t->tree.share = smb_keep_text(t, path);
    return true;
}

static void read_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    struct smb_entry *entry;
    struct smb_id id;
    uint64_t offset;
    uint32_t len;

    take_skip(&in, 4);
    len = take_le32(&in);
    offset = take_le64(&in);
    take_id(&in, &id);
    take_skip(&in, 4 + 4 + 4 + 4);
    if (in.failed) {
        *bad = true;
        return;
    }
    if (too_large(st, TO_CLIENT, len)) {
        smb_event(st, SMB_READ_REQUEST_TOO_LARGE);
        return;
    }
    entry = smb_cache_put(&st->offsets, message_key(r, SMB_KEY_OFFSET));
    if (entry == NULL)
        return;
    entry->id = id;
    entry->offset = offset;
}

static bool create_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    uint32_t disposition, options, len;
    struct smb_entry *entry;
    struct slice name;
    struct smb_tx *t;

    take_skip(&in, 36);
    disposition = take_le32(&in);
    options = take_le32(&in);
    take_skip(&in, 2);
    len = take_le16(&in);
    take_skip(&in, 8);
    name = take_slice(&in, len);
    if (in.failed)
        return malformed(bad);
    entry = smb_cache_put(&st->keys, message_key(r, SMB_KEY_NAME));
    if (entry != NULL)
        buf_add(&entry->text, name.data, name.len);
    t = smb_tx_new(st, SMB_CREATE, r);
    if (t == NULL)
        return true;
    t->scope = smb_scope_of(r, SCOPE_GENERIC);
    t->create.name = smb_keep(t, name);
    t->create.disposition = disposition;
    t->create.delete_on_close = (options & 0x1000) != 0;
    t->create.is_directory = (options & 1) != 0;
    return true;
}

static void close_file(struct smb_state *st, const struct smb_id *id, enum direction d)
{
    struct smb_tx *t = smb_file_find(st, id, d, false);

    if (t == NULL)
        return;
    smb_file_close(t);
    t->has_status = true;
    t->is_dos_error = false;
    t->status = STATUS_SUCCESS;
    smb_done(t, TO_SERVER);
    smb_done(t, TO_CLIENT);
}

static void close_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    struct smb_id id;

    take_skip(&in, 8);
    if (!take_id(&in, &id)) {
        *bad = true;
        return;
    }
    (void)smb_cache_pop(&st->names, smb_key_of_id(&id));
    close_file(st, &id, TO_SERVER);
    close_file(st, &id, TO_CLIENT);
}

static void ioctl_request(struct smb_state *st, const struct smb_record *r)
{
    struct bytes in = body_of(r);
    uint32_t function, len;
    struct slice data;
    struct smb_id id;
    struct smb_tx *t;

    take_skip(&in, 4);
    function = take_le32(&in);
    take_id(&in, &id);
    take_skip(&in, 4);
    len = take_le32(&in);
    take_skip(&in, 4 + 4 + 4 + 12);
    data = take_slice(&in, len);
    if (!in.failed && function == FSCTL_PIPE_TRANSCEIVE && smb_pipe_has_calls(st, &id)) {
        smb_pipe_request(st, r, data);
        return;
    }
    t = smb_tx_new(st, in.failed ? SMB_GENERIC : SMB_IOCTL, r);
    if (t == NULL)
        return;
    t->scope = smb_scope_of(r, SCOPE_HEADER);
    if (in.failed)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
    else
        t->ioctl = function;
}

/* --- set info ------------------------------------------------------------------------------- */

enum { CLASS_FILE = 1, LEVEL_RENAME = 10, LEVEL_DISPOSITION = 13 };

static const struct slice unknown_name = { (const uint8_t *)"<unknown>", 9 };

static bool rename_request(struct smb_state *st, const struct smb_record *r,
                           const struct smb_id *id, struct bytes in, bool *bad)
{
    const struct smb_entry *entry;
    struct slice name;
    struct smb_tx *t;

    take_skip(&in, 1 + 7 + 8);
    name = take_slice(&in, take_le32(&in));
    if (in.failed)
        return malformed(bad);
    t = smb_tx_new(st, SMB_RENAME, r);
    if (t == NULL)
        return true;
    entry = smb_cache_get(&st->names, smb_key_of_id(id));
    t->scope = smb_scope_of(r, SCOPE_GENERIC);
    t->rename.id = *id;
    t->rename.from = smb_keep(t, entry != NULL ? smb_entry_text(entry) : unknown_name);
    t->rename.to = smb_keep_text(t, name);
    return true;
}

/* A handle without a name may be that of the create just before, in a chain. */
static struct slice name_of(struct smb_state *st, const struct smb_record *r,
                            const struct smb_id *id)
{
    const struct smb_entry *entry = smb_cache_get(&st->names, smb_key_of_id(id));
    struct smb_key before = message_key(r, SMB_KEY_NAME);

    before.b--;
    if (entry == NULL && r->message > 0)
        entry = smb_cache_get(&st->keys, before);
    return entry != NULL ? smb_entry_text(entry) : unknown_name;
}

static bool disposition_request(struct smb_state *st, const struct smb_record *r,
                                const struct smb_id *id, struct bytes in, bool *bad)
{
    uint8_t remove = take_u8(&in);
    struct smb_tx *t;

    if (in.failed)
        return malformed(bad);
    t = smb_tx_new(st, SMB_SET_INFO, r);
    if (t == NULL)
        return true;
    t->scope = smb_scope_of(r, SCOPE_GENERIC);
    t->set_info.id = *id;
    t->set_info.name = smb_keep_text(t, name_of(st, r, id));
    t->set_info.subcommand = CLASS_FILE;
    t->set_info.level = LEVEL_DISPOSITION;
    t->set_info.delete_on_close = (remove & 1) != 0;
    return true;
}

static bool set_info_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r), info;
    unsigned class, level;
    struct smb_id id;
    uint32_t len;

    take_skip(&in, 2);
    class = take_u8(&in);
    level = take_u8(&in);
    len = take_le32(&in);
    take_skip(&in, 2 + 2 + 4);
    take_id(&in, &id);
    info = take_sub(&in, len);
    if (in.failed)
        return malformed(bad);
    if (class == CLASS_FILE && level == LEVEL_RENAME)
        return rename_request(st, r, &id, info, bad);
    if (class == CLASS_FILE && level == LEVEL_DISPOSITION)
        return disposition_request(st, r, &id, info, bad);
    return false;
}

static bool request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    switch (r->command) {
    case NEGOTIATE:
        return negotiate_request(st, r, bad);
    case SESSION_SETUP:
        setup_request(st, r);
        return true;
    case TREE_CONNECT:
        return tree_request(st, r, bad);
    case TREE_DISCONNECT:
        (void)smb_cache_pop(&st->trees, tree_key(r));
        return false;
    case CREATE:
        return create_request(st, r, bad);
    case CLOSE:
        close_request(st, r, bad);
        return false;
    case READ:
        read_request(st, r, bad);
        return false;
    case WRITE:
        write_request(st, r);
        return true;
    case IOCTL:
        ioctl_request(st, r);
        return true;
    case SET_INFO:
        return set_info_request(st, r, bad);
    default:
        return false;
    }
}

void smb2_request(struct smb_state *st, const struct smb_record *r)
{
    bool bad = false;
    struct smb_tx *t;

    if (request(st, r, &bad) || !has_own_tx(r->command) || st->full)
        return;
    t = smb_tx_new(st, SMB_GENERIC, r);
    if (t == NULL)
        return;
    t->scope = smb_scope_of(r, SCOPE_GENERIC);
    if (bad)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
}

/* --- responses ------------------------------------------------------------------------------ */

static bool negotiate_response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    const uint8_t *guid = NULL;
    struct smb_tx *t;

    take_skip(&in, 4);
    st->dialect = 0;
    st->max_read = st->max_write = 0;
    if (r->status == STATUS_SUCCESS) {
        st->dialect = take_le16(&in);
        take_skip(&in, 2);
        guid = take_bytes(&in, 16);
        take_skip(&in, 4 + 4);
        st->max_read = take_le32(&in);
        st->max_write = take_le32(&in);
    }
    if (in.failed)
        return malformed(bad);
    if (max_size(st, TO_CLIENT) != 0 && st->max_read > max_size(st, TO_CLIENT))
        smb_event(st, SMB_NEGOTIATE_MAX_READ_SIZE_TOO_LARGE);
    if (max_size(st, TO_SERVER) != 0 && st->max_write > max_size(st, TO_SERVER))
        smb_event(st, SMB_NEGOTIATE_MAX_WRITE_SIZE_TOO_LARGE);
    t = smb_tx_negotiate(st, 2);
    if (t == NULL)
        t = smb_tx_negotiate(st, 1);
    if (t == NULL)
        return false;
    t->negotiate.has_server_guid = guid != NULL;
    if (guid != NULL)
        memcpy(t->negotiate.server_guid, guid, 16);
    smb_on_response(t, r);
    return true;
}

/* The first answer names the session, which the question could not. */
static void setup_response(struct smb_state *st, const struct smb_record *r)
{
    struct smb_scope scope = smb_scope_of(r, SCOPE_HEADER), start = scope;
    struct smb_tx *t = NULL;

    start.session = 0;
    start.tree = 0;
    if (r->session != 0)
        t = smb_tx_find_kind(st, SMB_SESSION_SETUP, scope);
    if (t == NULL)
        t = smb_tx_find_kind(st, SMB_SESSION_SETUP, start);
    if (t == NULL)
        return;
    t->scope = scope;
    smb_on_response(t, r);
}

static bool tree_response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct smb_tx *t = smb_tx_find_kind(st, SMB_TREE_CONNECT, smb_scope_of(r, SCOPE_TREE));
    struct bytes in = body_of(r);
    struct smb_entry *entry;
    uint8_t type;

    if (r->status != STATUS_SUCCESS) {
        if (t != NULL)
            smb_on_response(t, r);
        return t != NULL;
    }
    take_skip(&in, 2);
    type = take_u8(&in);
    take_skip(&in, 4 + 4 + 4);
    if (in.failed)
        return malformed(bad);
    if (t == NULL)
        return true;
    t->tree.share_type = type;
    t->tree.is_pipe = type == SHARE_PIPE;
    t->scope = smb_scope_of(r, SCOPE_HEADER);
    smb_on_response(t, r);
    entry = smb_cache_put(&st->trees, tree_key(r));
    if (entry == NULL)
        return true;
    buf_add(&entry->text, t->tree.share.data, t->tree.share.len);
    entry->flag = t->tree.is_pipe;
    return true;
}

static uint32_t unix_seconds(uint64_t filetime)
{
    return filetime > UINT64_C(116444736000000000)
               ? (uint32_t)(filetime / 10000000 - UINT64_C(11644473600)) : 0;
}

/* The file has a number now, under which its name will be wanted. */
static void name_file(struct smb_state *st, const struct smb_record *r, const struct smb_id *id)
{
    const struct smb_entry *key = smb_cache_pop(&st->keys, message_key(r, SMB_KEY_NAME));
    struct smb_entry *entry;

    if (key == NULL)
        return;
    entry = smb_cache_put(&st->names, smb_key_of_id(id));
    for (size_t i = 0; entry != NULL && i < key->text.len; i++)
        if (key->text.data[i] != 0)
            buf_add_u8(&entry->text, key->text.data[i]);
}

static bool create_response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct smb_create new = { 0 };
    struct bytes in = body_of(r);
    struct smb_tx *t;

    if (r->status != STATUS_SUCCESS)
        return false;
    take_skip(&in, 2 + 1 + 1 + 4);
    new.created = unix_seconds(take_le64(&in));
    new.accessed = unix_seconds(take_le64(&in));
    new.modified = unix_seconds(take_le64(&in));
    new.changed = unix_seconds(take_le64(&in));
    take_skip(&in, 8);
    new.size = take_le64(&in);
    take_skip(&in, 4 + 4);
    take_id(&in, &new.id);
    take_skip(&in, 8);
    if (in.failed) {
        *bad = true;
        return true;
    }
    name_file(st, r, &new.id);
    t = smb_tx_find(st, r, smb_scope_of(r, SCOPE_GENERIC));
    if (t == NULL)
        return true;
    smb_on_response(t, r);
    if (t->kind != SMB_CREATE)
        return true;
    new.name = t->create.name;
    new.disposition = t->create.disposition;
    new.delete_on_close = t->create.delete_on_close;
    new.is_directory = t->create.is_directory;
    t->create = new;
    return true;
}

static void end_of_file(struct smb_state *st, const struct smb_record *r)
{
    const struct smb_entry *entry = smb_cache_pop(&st->offsets, message_key(r, SMB_KEY_OFFSET));
    struct smb_tx *t = entry != NULL ? smb_file_find(st, &entry->id, TO_CLIENT, false) : NULL;

    if (t == NULL)
        return;
    smb_file_close(t);
    smb_set_status(t, r);
    smb_done(t, TO_SERVER);
}

static void ioctl_response(struct smb_state *st, const struct smb_record *r)
{
    struct bytes in = body_of(r);
    uint32_t function, in_len, out_len;
    struct slice data;
    struct smb_id id, none = { 0 };
    struct smb_tx *t;

    take_skip(&in, 4);
    function = take_le32(&in);
    take_id(&in, &id);
    take_skip(&in, 4);
    in_len = take_le32(&in);
    take_skip(&in, 4);
    out_len = take_le32(&in);
    take_skip(&in, 8);
    take_skip(&in, in_len);
    data = take_slice(&in, out_len);
    if (!in.failed && function == FSCTL_PIPE_TRANSCEIVE && smb_pipe_has_calls(st, &id)) {
        smb_pipe_response(st, r, &none, data);
        return;
    }
    t = smb_tx_find(st, r, smb_scope_of(r, SCOPE_HEADER));
    if (t == NULL)
        return;
    smb_set_status(t, r);
    if (r->status != STATUS_PENDING)
        smb_done(t, TO_CLIENT);
    if (in.failed && r->status == STATUS_SUCCESS)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
}

static void any_read_response(struct smb_state *st, const struct smb_record *r)
{
    if (r->status == STATUS_SUCCESS || r->status == STATUS_BUFFER_OVERFLOW)
        read_response(st, r);
    else if (r->status == STATUS_END_OF_FILE)
        end_of_file(st, r);
}

static bool response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    switch (r->command) {
    case NEGOTIATE:
        return negotiate_response(st, r, bad);
    case SESSION_SETUP:
        setup_response(st, r);
        return true;
    case TREE_CONNECT:
        return tree_response(st, r, bad);
    case TREE_DISCONNECT:
        (void)smb_cache_pop(&st->trees, tree_key(r));
        return false;
    case CREATE:
        return create_response(st, r, bad);
    case READ:
        any_read_response(st, r);
        return false;
    case WRITE:
        *bad = r->status == STATUS_SUCCESS && r->body.len < 4 + 4 + 6;
        return false;
    case IOCTL:
        ioctl_response(st, r);
        return true;
    default:
        return false;
    }
}

void smb2_response(struct smb_state *st, const struct smb_record *r)
{
    bool bad = false;
    struct smb_tx *t;

    if (response(st, r, &bad))
        return;
    t = smb_tx_find(st, r, smb_scope_of(r, SCOPE_GENERIC));
    if (t == NULL)
        return;
    smb_set_status(t, r);
    if (r->status != STATUS_PENDING)
        smb_done(t, TO_CLIENT);
    if (bad)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
}
