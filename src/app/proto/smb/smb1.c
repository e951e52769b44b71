/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/smb1.c - SMB 1 ([MS-CIFS] section 2.2): records with chains of AndX commands, what
 * each command says. Offsets in it count from the header's beginning. */
#include "app/proto/smb/smb1.h"

bool smb1_take_record(struct bytes *in, struct smb_record *r)
{
    uint16_t flags2;
    uint8_t flags;

    *r = (struct smb_record){ .version = 1, .header_len = SMB1_HEADER_LEN };
    take_skip(in, 4);
    r->command = take_u8(in);
    r->status = take_le32(in);
    flags = take_u8(in);
    flags2 = take_le16(in);
    take_skip(in, 2 + 8 + 2);       /* high process id, signature, reserved */
    r->tree = take_le16(in);
    take_skip(in, 2);
    r->session = take_le16(in);     /* the user's id */
    r->message = take_le16(in);     /* multiplex id */
    r->is_response = (flags & 0x80) != 0;
    r->unicode = (flags2 & 0x8000) != 0;
    r->is_dos_error = (flags2 & 0x4000) == 0;
    r->complete = r->body = take_rest(in);
    return !in->failed;
}

struct bytes smb1_at(const struct smb_record *r, uint32_t offset)
{
    struct bytes in = bytes_of_slice(r->complete);

    if (offset < SMB1_HEADER_LEN)
        in.failed = true;
    else
        take_skip(&in, offset - SMB1_HEADER_LEN);
    return in;
}

/* In UTF-16 only low bytes are kept. False, with nothing taken, when its end is not there. */
bool smb1_take_string(struct smb_tx *t, struct bytes *in, bool unicode, struct slice *out)
{
    struct slice text;
    uint8_t *copy;
    uint32_t n = 0;

    *out = (struct slice){ (const uint8_t *)"", 0 };
    if (!unicode) {
        if (!take_until(in, 0, &text))
            return false;
        *out = smb_keep(t, text);
        return true;
    }
    text = (struct slice){ in->next, in->failed ? 0 : (uint32_t)bytes_left(in) };
    while (2 * n + 1 < text.len && (text.data[2 * n] != 0 || text.data[2 * n + 1] != 0))
        n++;
    if (2 * n >= text.len || (2 * n + 1 == text.len && text.data[2 * n] != 0))
        return false;
    copy = arena_alloc(&t->tx.arena, n + 1);
    if (copy == NULL)
        return false;
    for (uint32_t i = 0; i < n; i++)
        copy[i] = text.data[2 * i];
    take_skip(in, MIN(2 * n + 2, text.len));
    *out = (struct slice){ copy, n };
    return true;
}

/* UTF-16 stands at even offsets. */
void smb1_align(const struct smb_record *r, struct bytes *in)
{
    if (r->unicode && !in->failed && ((in->next - r->complete.data) & 1) != 0)
        take_skip(in, 1);
}

bool smb1_take_id(const struct smb_record *r, struct bytes *in, struct smb_id *id)
{
    const uint8_t *p = take_bytes(in, 2);
    uint32_t session = (uint32_t)r->session;

    *id = (struct smb_id){ .len = 6 };
    if (p == NULL)
        return false;
    memcpy(id->at, p, 2);
    for (unsigned i = 0; i < 4; i++)
        id->at[2 + i] = (uint8_t)(session >> (24 - 8 * i));
    return true;
}

struct smb_key smb1_message_key(const struct smb_record *r, uint32_t kind)
{
    return (struct smb_key){ .a = r->session, .b = r->message, .c = r->tree, .kind = kind };
}

struct smb_key smb1_tree_key(const struct smb_record *r)
{
    return (struct smb_key){ .a = r->session, .c = r->tree, .kind = SMB_KEY_SHARE };
}

static bool malformed(bool *bad)
{
    *bad = true;
    return false;
}

/* --- sessions ------------------------------------------------------------------------------- */

/* Each of the requests gives whether it made the command's transaction. */

static bool negotiate_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body), count;
    struct smb_tx *t = smb_tx_negotiate(st, 1);
    struct slice dialect;
    unsigned most = 0;

    take_skip(&in, 1 + 2);
    for (count = in; take_until(&count, 0, &dialect);)
        most++;
    if (in.failed || most == 0)
        return malformed(bad);
    if (t != NULL) {
        app_tx_event(&t->tx, SMB_DUPLICATE_NEGOTIATE);
        return true;
    }
    t = smb_tx_new(st, SMB_NEGOTIATE, r);
    if (t == NULL)
        return true;
    t->negotiate.dialect = arena_alloc(&t->tx.arena, most * sizeof(*t->negotiate.dialect));
    while (t->negotiate.dialect != NULL && take_until(&in, 0, &dialect)) {
        if (dialect.len <= 1)
            app_tx_event(&t->tx, SMB_NEGOTIATE_MALFORMED_DIALECTS);
        if (dialect.len == 0)
            continue;
        dialect.data++;
        dialect.len--;
        t->negotiate.dialect[t->negotiate.dialect_count++] = smb_keep(t, dialect);
    }
    return true;
}

static bool negotiate_response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    const uint8_t *guid = NULL;
    struct smb_tx *t;
    unsigned chosen = 0;

    if (take_u8(&in) != 0) {
        chosen = take_le16(&in);
        take_skip(&in, 1 + 16 + 4 + 8 + 2 + 1);
        if (take_le16(&in) >= 16)
            guid = take_bytes(&in, 16);
    } else {
        take_skip(&in, 2);
    }
    if (in.failed)
        return malformed(bad);
    t = smb_tx_negotiate(st, 1);
    if (t == NULL)
        return false;
    smb_on_response(t, r);
    t->negotiate.has_server_guid = guid != NULL;
    if (guid != NULL)
        memcpy(t->negotiate.server_guid, guid, 16);
    if (chosen >= t->negotiate.dialect_count) {
        app_tx_event(&t->tx, SMB_NEGOTIATE_MALFORMED_DIALECTS);
        return true;
    }
    buf_clear(&st->dialect_name);
    buf_add(&st->dialect_name, t->negotiate.dialect[chosen].data,
            t->negotiate.dialect[chosen].len);
    return true;
}

static void take_hosts(struct smb_tx *t, const struct smb_record *r, struct bytes in,
                       unsigned before, enum direction d)
{
    struct smb_hosts *hosts = arena_zalloc(&t->tx.arena, sizeof(*hosts));
    struct slice skipped;

    if (hosts == NULL)
        return;
    hosts->os = hosts->lan_manager = (struct slice){ (const uint8_t *)"", 0 };
    t->setup.hosts[d] = hosts;
    smb1_align(r, &in);
    while (before-- > 0)
        if (!smb1_take_string(t, &in, r->unicode, &skipped))
            return;
    if (smb1_take_string(t, &in, r->unicode, &hosts->os))
        (void)smb1_take_string(t, &in, r->unicode, &hosts->lan_manager);
}

/* With a security blob (12 words), or with two passwords, account and domain in its scope (13). */
static void setup_request(struct smb_state *st, const struct smb_record *r)
{
    struct bytes in = bytes_of_slice(r->body);
    bool passwords = peek_u8(&in) == 13;
    unsigned blob_len, more = 0;
    struct slice blob;
    struct smb_tx *t;

    take_skip(&in, 15);
    blob_len = take_le16(&in);
    if (passwords)
        more = take_le16(&in);
    take_skip(&in, 8 + 2);
    blob = take_slice(&in, blob_len + more);
    t = in.failed ? NULL : smb_tx_new(st, SMB_SESSION_SETUP, r);
    if (t == NULL)
        return;
    t->scope = smb_scope_of(r, SCOPE_HEADER);
    t->scope.tree = 0;
    take_hosts(t, r, in, passwords ? 2 : 0, TO_SERVER);
    if (!passwords)
        smb_read_token(t, blob);
}

static void setup_response(struct smb_state *st, const struct smb_record *r)
{
    struct smb_scope scope = smb_scope_of(r, SCOPE_HEADER), start = scope;
    struct bytes in = bytes_of_slice(r->body);
    struct smb_tx *t = NULL;
    unsigned words = take_u8(&in), blob = 0;

    start.session = 0;
    if (r->session != 0)
        t = smb_tx_find_kind(st, SMB_SESSION_SETUP, scope);
    if (t == NULL)
        t = smb_tx_find_kind(st, SMB_SESSION_SETUP, start);
    if (t == NULL)
        return;
    if (words != 0) {
        take_skip(&in, 6);
        if (words != 3)
            blob = take_le16(&in);
    }
    take_skip(&in, 2);
    take_skip(&in, blob);
    if (in.failed)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
    else
        take_hosts(t, r, in, 0, TO_CLIENT);
    t->scope = scope;
    smb_on_response(t, r);
}

/* --- trees ---------------------------------------------------------------------------------- */

static bool tree_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    struct slice path, service;
    struct smb_tx *t;

    take_skip(&in, 7);
    take_skip(&in, take_le16(&in) + 2u);
    smb1_align(r, &in);
    if (in.failed)
        return malformed(bad);
    t = smb_tx_new(st, SMB_TREE_CONNECT, r);
    if (t == NULL)
        return true;
    if (!smb1_take_string(t, &in, r->unicode, &path) || !take_until(&in, 0, &service)) {
        app_tx_discard(&t->tx);
        return malformed(bad);
    }
    if (path.len > 1) {
        path.data++;
        path.len--;
    }
    t->scope = smb_scope_of(r, SCOPE_TREE);
    t->tree.share = path;
    t->tree.service[TO_SERVER] = smb_keep(t, service);
    return true;
}

static bool tree_response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct smb_tx *t = smb_tx_find_kind(st, SMB_TREE_CONNECT, smb_scope_of(r, SCOPE_TREE));
    struct bytes in = bytes_of_slice(r->body);
    unsigned words = take_u8(&in);
    struct slice service, fs;
    struct smb_entry *entry;

    if (r->status != STATUS_SUCCESS) {
        if (t != NULL)
            smb_on_response(t, r);
        return true;
    }
    take_skip(&in, 4u + (words >= 3 ? 2 : 0) + (words == 7 ? 8 : 0) + 2);
    if (!take_until(&in, 0, &service) || !take_until(&in, 0, &fs))
        return malformed(bad);
    if (t == NULL)
        return false;
    t->tree.is_pipe = service.len == 3 && memcmp(service.data, "IPC", 3) == 0;
    t->tree.service[TO_CLIENT] = smb_keep(t, service);
    t->scope = smb_scope_of(r, SCOPE_HEADER);
    smb_on_response(t, r);
    entry = smb_cache_put(&st->trees, smb1_tree_key(r));
    if (entry == NULL)
        return true;
    buf_add(&entry->text, t->tree.share.data, t->tree.share.len);
    entry->flag = t->tree.is_pipe;
    return true;
}

/* --- create and close ----------------------------------------------------------------------- */

static bool take_name(struct smb_tx *t, const struct smb_record *r, struct bytes *in,
                      unsigned len, unsigned space, struct slice *out)
{
    struct bytes start = *in;

    *out = (struct slice){ (const uint8_t *)"", 0 };
    if (space < len)
        return true;
    if (r->unicode && ((space - len) & 1) != 0)
        take_skip(in, 1);
    if (smb1_take_string(t, in, r->unicode, out))
        return true;
    *in = start;
    take_skip(in, space - len);
    *out = smb_keep_text(t, take_slice(in, len));
    return !in->failed;
}

static bool create_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    uint32_t disposition, options;
    unsigned len, space;
    struct smb_entry *entry;
    struct smb_tx *t;

    take_skip(&in, 6);
    len = take_le16(&in);
    take_skip(&in, 28);
    disposition = take_le32(&in);
    options = take_le32(&in);
    take_skip(&in, 5);
    space = take_le16(&in);
    if (in.failed)
        return malformed(bad);
    t = smb_tx_new(st, SMB_CREATE, r);
    if (t == NULL)
        return true;
    if (!take_name(t, r, &in, len, space, &t->create.name)) {
        app_tx_discard(&t->tx);
        return malformed(bad);
    }
    entry = smb_cache_put(&st->keys, smb1_message_key(r, SMB_KEY_NAME));
    if (entry != NULL)
        buf_add(&entry->text, t->create.name.data, t->create.name.len);
    t->scope = smb_scope_of(r, SCOPE_GENERIC);
    t->create.disposition = disposition;
    t->create.delete_on_close = (options & 0x1000) != 0;
    t->create.is_directory = (options & 1) != 0;
    return true;
}

static uint32_t unix_seconds(uint64_t filetime)
{
    return filetime > UINT64_C(116444736000000000)
               ? (uint32_t)(filetime / 10000000 - UINT64_C(11644473600)) : 0;
}

static void name_file(struct smb_state *st, const struct smb_record *r, const struct smb_id *id)
{
    const struct smb_entry *key = smb_cache_pop(&st->keys, smb1_message_key(r, SMB_KEY_NAME));
    struct smb_entry *entry;

    if (key == NULL)
        return;
    entry = smb_cache_put(&st->names, smb_key_of_id(id));
    if (entry != NULL)
        buf_add(&entry->text, key->text.data, key->text.len);
}

static bool create_response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    struct smb_create new = { 0 };
    unsigned words;
    struct smb_tx *t;

    if (r->status != STATUS_SUCCESS)
        return false;
    words = take_u8(&in);
    take_skip(&in, 4 + 1);
    smb1_take_id(r, &in, &new.id);
    take_skip(&in, 4);
    new.created = unix_seconds(take_le64(&in));
    new.accessed = unix_seconds(take_le64(&in));
    new.modified = unix_seconds(take_le64(&in));
    new.changed = unix_seconds(take_le64(&in));
    take_skip(&in, 4);
    new.size = take_le64(&in);
    take_skip(&in, 8 + 2 + 2 + 1 + (words == 42 ? 32u : 0) + 2);
    if (in.failed)
        return malformed(bad);
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

void smb1_close_file(struct smb_state *st, const struct smb_id *id, enum direction d)
{
    struct smb_tx *t = smb_file_find(st, id, d, false);

    if (t == NULL || t->tx.progress[TO_SERVER] != 0)
        return;
    smb_file_close(t);
    smb_done(t, TO_SERVER);
    smb_done(t, TO_CLIENT);
}

static void close_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    struct smb_id id;

    take_skip(&in, 1);
    if (!smb1_take_id(r, &in, &id)) {
        *bad = true;
        return;
    }
    (void)smb_cache_pop(&st->names, smb_key_of_id(&id));
    smb_cache_set_id(&st->keys, smb1_message_key(r, SMB_KEY_FILE), &id);
    smb1_close_file(st, &id, TO_SERVER);
}

static void close_response(struct smb_state *st, const struct smb_record *r)
{
    const struct smb_entry *entry = smb_cache_pop(&st->keys, smb1_message_key(r, SMB_KEY_FILE));

    if (entry != NULL)
        smb1_close_file(st, &entry->id, TO_CLIENT);
}

/* --- commands ------------------------------------------------------------------------------- */

static bool is_andx(unsigned command)
{
    return command == SMB1_LOCKING_ANDX || command == SMB1_OPEN_ANDX ||
           command == SMB1_READ_ANDX || command == SMB1_SESSION_SETUP_ANDX ||
           command == SMB1_LOGOFF_ANDX || command == SMB1_TREE_CONNECT_ANDX ||
           command == SMB1_NT_CREATE_ANDX || command == SMB1_WRITE_ANDX;
}

bool smb1_has_own_tx(unsigned command)
{
    return command != SMB1_READ_ANDX && command != SMB1_WRITE_ANDX && command != SMB1_TRANS &&
           command != SMB1_TRANS2;
}

static bool request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    switch (r->command) {
    case SMB1_RENAME:
        return smb1_rename(st, r, bad);
    case SMB1_TRANS2:
        return smb1_trans2(st, r, bad);
    case SMB1_READ_ANDX:
        smb1_read_request(st, r, bad);
        return false;
    case SMB1_WRITE_ANDX:
    case SMB1_WRITE:
    case SMB1_WRITE_AND_CLOSE:
        smb1_write_request(st, r);
        return true;
    case SMB1_TRANS:
        smb1_trans_request(st, r);
        return true;
    case SMB1_NEGOTIATE:
        return negotiate_request(st, r, bad);
    case SMB1_NT_CREATE_ANDX:
        return create_request(st, r, bad);
    case SMB1_SESSION_SETUP_ANDX:
        setup_request(st, r);
        return true;
    case SMB1_TREE_CONNECT_ANDX:
        return tree_request(st, r, bad);
    case SMB1_TREE_DISCONNECT:
        (void)smb_cache_pop(&st->trees, smb1_tree_key(r));
        return false;
    case SMB1_CLOSE:
        close_request(st, r, bad);
        return false;
    default:
        return false;
    }
}

static void one_request(struct smb_state *st, const struct smb_record *r)
{
    bool bad = false;
    struct smb_tx *t;

    if (request(st, r, &bad) || !smb1_has_own_tx(r->command) || st->full)
        return;
    t = smb_tx_new(st, SMB_GENERIC, r);
    if (t == NULL)
        return;
    t->scope = smb_scope_of(r, SCOPE_GENERIC);
    if (bad)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
    if (r->command == SMB1_NT_CANCEL || r->command == SMB1_TRANS2_SECONDARY ||
        r->command == SMB1_LOCKING_ANDX)
        smb_done(t, TO_CLIENT);         /* nobody answers these */
}

static bool response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    switch (r->command) {
    case SMB1_READ_ANDX:
        smb1_read_response(st, r);
        return true;
    case SMB1_NEGOTIATE:
        return negotiate_response(st, r, bad);
    case SMB1_TREE_CONNECT_ANDX:
        return tree_response(st, r, bad);
    case SMB1_TREE_DISCONNECT:
        (void)smb_cache_pop(&st->trees, smb1_tree_key(r));
        return false;
    case SMB1_NT_CREATE_ANDX:
        return create_response(st, r, bad);
    case SMB1_CLOSE:
        close_response(st, r);
        return false;
    case SMB1_TRANS:
        smb1_trans_response(st, r);
        return true;
    case SMB1_SESSION_SETUP_ANDX:
        setup_response(st, r);
        return true;
    default:
        return false;
    }
}

/* A logoff's answer no longer says whose it was. */
static struct smb_tx *request_of(struct smb_state *st, const struct smb_record *r)
{
    struct smb_tx *last = st->flow->last != NULL ? smb_tx_of(st->flow->last) : NULL;

    if (r->command != SMB1_LOGOFF_ANDX)
        return smb_tx_find(st, r, smb_scope_of(r, SCOPE_GENERIC));
    return last != NULL && last->version == 1 && last->command == r->command ? last : NULL;
}

static void one_response(struct smb_state *st, const struct smb_record *r)
{
    bool bad = false;
    struct smb_tx *t;

    if (response(st, r, &bad) || r->command == SMB1_WRITE_ANDX)
        return;
    t = request_of(st, r);
    if (t == NULL)
        return;
    smb_done(t, TO_SERVER);
    smb_on_response(t, r);
    if (bad)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
}

/* The next command of the chain; each lies behind the one before. */
static bool next_andx(struct smb_record *r)
{
    struct bytes in = bytes_of_slice(r->body);
    uint32_t here = (uint32_t)(r->body.data - r->complete.data) + SMB1_HEADER_LEN, next;
    unsigned command;

    if (!is_andx(r->command))
        return false;
    take_skip(&in, 1);
    command = take_u8(&in);
    take_skip(&in, 1);
    next = take_le16(&in);
    if (in.failed || next <= here || command == SMB1_NONE ||
        next - SMB1_HEADER_LEN >= r->complete.len)
        return false;
    r->command = (uint16_t)command;
    in = smb1_at(r, next);
    r->body = take_rest(&in);
    return true;
}

void smb1_request(struct smb_state *st, struct smb_record *r)
{
    do
        one_request(st, r);
    while (!st->full && next_andx(r));
}

void smb1_response(struct smb_state *st, struct smb_record *r)
{
    do
        one_response(st, r);
    while (!st->full && next_andx(r));
}
