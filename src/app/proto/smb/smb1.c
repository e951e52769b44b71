/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/smb1.c - SMB 1 ([MS-CIFS] section 2.2): records with chains of AndX commands,
 * sessions, trees, creates and closes. Offsets in a record count from the first byte of its
 * header. */
#include "app/proto/smb/smb1.h"

#include "app/proto/smb/events.h"
#include "app/proto/smb/file.h"

/* The header, [MS-CIFS] section 2.2.3.1. All fields are little endian. The caller has checked the
 * magic. False: the record is shorter than its header. */
bool smb1_take_record(struct bytes *in, struct smb_record *r)
{
    uint16_t flags2;
    uint8_t flags;

    *r = (struct smb_record){ .version = 1, .header_len = SMB1_HEADER_LEN };
    take_skip(in, 4);   /* 0xff "SMB" */
    r->command = take_u8(in);
    r->status = take_le32(in);
    flags = take_u8(in);
    flags2 = take_le16(in);
    take_skip(in, 2 + 8 + 2);       /* high part of the process id, signature, reserved */
    r->tree = take_le16(in);
    take_skip(in, 2);               /* low part of the process id */
    r->session = take_le16(in);     /* the user's id */
    r->message = take_le16(in);     /* multiplex id */
    r->is_response = (flags & 0x80) != 0;           /* SMB_FLAGS_REPLY */
    r->unicode = (flags2 & 0x8000) != 0;            /* SMB_FLAGS2_UNICODE */
    r->is_dos_error = (flags2 & 0x4000) == 0;       /* SMB_FLAGS2_NT_STATUS is absent */
    r->complete = r->body = take_rest(in);
    return !in->failed;
}

/* Offsets come from the network. One that points into the header, or beyond the record, sets
 * `failed`; it never reads outside the record. */
struct bytes smb1_at(const struct smb_record *r, uint32_t offset)
{
    struct bytes in = bytes_of_slice(r->complete);

    if (offset < SMB1_HEADER_LEN)
        in.failed = true;
    else
        take_skip(&in, offset - SMB1_HEADER_LEN);
    return in;
}

/* Takes a text up to its zero: one byte, or in UTF-16 two at an even offset. Of UTF-16 it keeps the
 * low bytes only, as Suricata does, so that rules for ASCII names match. A last character without
 * its second byte ends the text, too. False, with nothing taken, when the end is missing. */
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

/* SMB1 pads a UTF-16 text to an even offset from the header's start ([MS-CIFS] section 2.2.1.1). */
void smb1_align(const struct smb_record *r, struct bytes *in)
{
    if (r->unicode && !in->failed && ((in->next - r->complete.data) & 1) != 0)
        take_skip(in, 1);
}

/* A file number (FID) is unique only within its session. The id is the number as sent, then the
 * session's number (UID), so that equal numbers of two users stay apart. */
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

/* Key of a request in flight: its response repeats user, multiplex id and tree. */
struct smb_key smb1_message_key(const struct smb_record *r, uint32_t kind)
{
    return (struct smb_key){ .a = r->session, .b = r->message, .c = r->tree, .kind = kind };
}

/* Key of a tree connect. A tree id is looked up with the session that uses it. */
struct smb_key smb1_tree_key(const struct smb_record *r)
{
    return (struct smb_key){ .a = r->session, .c = r->tree, .kind = SMB_KEY_SHARE };
}

/* Sets *bad and returns false, so that a handler can end with `return malformed(bad)`. */
static bool malformed(bool *bad)
{
    *bad = true;
    return false;
}

/* --- sessions ------------------------------------------------------------------------------- */

/* A handler of a request returns true when it has dealt with the command's transaction: it made
 * one, found an older one, or hit the limit. Otherwise one_request() makes a generic one. *bad asks
 * for SMB_MALFORMED_DATA on that one. */

/* [MS-CIFS] section 2.2.4.52: a list of dialects, each 0x02 and a text that ends with a zero. The
 * first pass counts them, so that the arena is asked once; what a client sends bounds the count. A
 * second NEGOTIATE in a flow raises an event on the first one's transaction. */
static bool negotiate_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body), count;
    struct smb_tx *t = smb_tx_negotiate(st, 1);
    struct slice dialect;
    unsigned most = 0;

    take_skip(&in, 1 + 2);  /* word count (0), byte count */
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
        dialect.data++; /* the buffer format, 0x02 */
        dialect.len--;
        t->negotiate.dialect[t->negotiate.dialect_count++] = smb_keep(t, dialect);
    }
    return true;
}

/* [MS-CIFS] section 2.2.4.52. A word count of 0 means that the server took no dialect. The server's
 * GUID is present with extended security only: the data then begin with it. `chosen` is an index
 * into the client's list, and hostile when it is beyond the list. */
static bool negotiate_response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    const uint8_t *guid = NULL;
    struct smb_tx *t;
    unsigned chosen = 0;

    if (take_u8(&in) != 0) {
        chosen = take_le16(&in);
        take_skip(&in, 1 + 16 + 4 + 8 + 2 + 1); /* security mode to challenge length */
        if (take_le16(&in) >= 16)
            guid = take_bytes(&in, 16);
    } else {
        take_skip(&in, 2);  /* byte count */
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

/* Native OS and LAN manager after `before` texts (account and domain) that are not logged. These
 * texts are optional: where they end early, the rest stays empty and no event is raised. */
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

/* [MS-CIFS] section 2.2.4.53. Clients with extended security send a security blob (12 words);
 * others two passwords, account and domain (13 words). The session's number is not known yet, and
 * the scope leaves out the tree, so that setup_response() finds the transaction. */
static void setup_request(struct smb_state *st, const struct smb_record *r)
{
    struct smb_scope scope = smb_scope_of(r, SCOPE_HEADER);
    struct bytes in = bytes_of_slice(r->body);
    bool passwords = peek_u8(&in) == 13;
    unsigned blob_len, more = 0;
    struct slice blob;
    struct smb_tx *t;

    take_skip(&in, 15); /* word count, AndX, buffer sizes, session key */
    blob_len = take_le16(&in);
    if (passwords)
        more = take_le16(&in);
    take_skip(&in, 8 + 2);  /* reserved and capabilities, byte count */
    blob = take_slice(&in, blob_len + more);
    t = in.failed ? NULL : smb_tx_new(st, SMB_SESSION_SETUP, r);
    if (t == NULL)
        return;
    scope.tree = 0;
    smb_set_scope(t, scope);
    take_hosts(t, r, in, passwords ? 2 : 0, TO_SERVER);
    if (!passwords)
        smb_read_token(t, blob);
}

/* The first response brings the session's number, which the request could not know: the lookup
 * tries the number, then 0. A logon of several steps goes on in the same transaction. Word counts:
 * 3 without a blob, 4 with one; 0 with an error status. */
static void setup_response(struct smb_state *st, const struct smb_record *r)
{
    struct smb_scope scope = smb_scope_of(r, SCOPE_HEADER), start = scope;
    struct bytes in = bytes_of_slice(r->body);
    struct smb_tx *t = NULL;
    unsigned words = take_u8(&in), blob = 0;

    start.session = 0;  /* scope of the first request */
    if (r->session != 0)
        t = smb_tx_find_kind(st, SMB_SESSION_SETUP, scope);
    if (t == NULL)
        t = smb_tx_find_kind(st, SMB_SESSION_SETUP, start);
    if (t == NULL)
        return;
    if (words != 0) {
        take_skip(&in, 6);  /* AndX, action */
        if (words != 3)
            blob = take_le16(&in);
    }
    take_skip(&in, 2);  /* byte count */
    take_skip(&in, blob);
    if (in.failed)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
    else
        take_hosts(t, r, in, 0, TO_CLIENT);
    smb_set_scope(t, scope);
    smb_on_response(t, r);
}

/* --- trees ---------------------------------------------------------------------------------- */

/* [MS-CIFS] section 2.2.4.55: password, path and service. The transaction exists before the texts
 * are read, because its arena holds them; it is discarded when they are missing. */
static bool tree_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    struct slice path, service;
    struct smb_tx *t;

    take_skip(&in, 7);                      /* word count, AndX, flags */
    take_skip(&in, take_le16(&in) + 2u);    /* password length; byte count and password */
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
    /* Strips one leading backslash of "\\server\share", as Suricata logs it. */
    if (path.len > 1) {
        path.data++;
        path.len--;
    }
    smb_set_scope(t, smb_scope_of(r, SCOPE_TREE));
    t->tree.share = path;
    t->tree.service[TO_SERVER] = smb_keep(t, service);
    return true;
}

/* A successful response has the tree's id and kind: service "IPC" means named pipes. The tree cache
 * keeps share name and kind for later reads and writes. Optional words: 2 bytes of optional support
 * (3 words), 8 more of access masks (7 words, [MS-SMB]). */
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
    take_skip(&in, 4u + (words >= 3 ? 2 : 0) + (words == 7 ? 8 : 0) + 2);   /* AndX to byte count */
    if (!take_until(&in, 0, &service) || !take_until(&in, 0, &fs))
        return malformed(bad);
    if (t == NULL)
        return false;
    t->tree.is_pipe = service.len == 3 && memcmp(service.data, "IPC", 3) == 0;
    t->tree.service[TO_CLIENT] = smb_keep(t, service);
    smb_set_scope(t, smb_scope_of(r, SCOPE_HEADER));
    smb_on_response(t, r);
    entry = smb_cache_put(&st->trees, smb1_tree_key(r));
    if (entry == NULL)
        return true;
    buf_add(&entry->text, t->tree.share.data, t->tree.share.len);
    entry->flag = t->tree.is_pipe;
    return true;
}

/* --- create and close ----------------------------------------------------------------------- */

/* The name of a file to create. `len` is its length in bytes, `space` the bytes of data that follow
 * the words. Unicode names are padded to an even offset. A name without a terminator is cut out by
 * its length instead; both come from the client. */
static bool take_name(struct smb_tx *t, const struct smb_record *r, struct bytes *in,
                      unsigned len, unsigned space)
{
    struct bytes start = *in;
    struct slice *out = &t->create.name;

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

/* [MS-CIFS] section 2.2.4.64. The name goes into the cache under the message, because only the
 * response brings the file's number. */
static bool create_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    uint32_t disposition, options;
    unsigned len, space;
    struct smb_entry *entry;
    struct smb_tx *t;

    take_skip(&in, 6);  /* words, AndX, reserved */
    len = take_le16(&in);
    take_skip(&in, 28); /* flags to share access */
    disposition = take_le32(&in);
    options = take_le32(&in);
    take_skip(&in, 5);  /* impersonation level, security flags */
    space = take_le16(&in);
    if (in.failed)
        return malformed(bad);
    t = smb_tx_new(st, SMB_CREATE, r);
    if (t == NULL)
        return true;
    if (!take_name(t, r, &in, len, space)) {
        app_tx_discard(&t->tx);
        return malformed(bad);
    }
    entry = smb_cache_put(&st->keys, smb1_message_key(r, SMB_KEY_NAME));
    if (entry != NULL)
        buf_add(&entry->text, t->create.name.data, t->create.name.len);
    smb_set_scope(t, smb_scope_of(r, SCOPE_GENERIC));
    t->create.disposition = disposition;
    t->create.delete_on_close = (options & 0x1000) != 0;    /* FILE_DELETE_ON_CLOSE */
    t->create.is_directory = (options & 1) != 0;            /* FILE_DIRECTORY_FILE */
    return true;
}

/* FILETIME counts 100 ns from 1601 ([MS-DTYP] section 2.3.3). Times before 1970 become 0. */
static uint32_t unix_seconds(uint64_t filetime)
{
    return filetime > UINT64_C(116444736000000000)
               ? (uint32_t)(filetime / 10000000 - UINT64_C(11644473600)) : 0;
}

/* Moves the name of a pending create from its message to the number that the server chose. */
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

/* [MS-CIFS] section 2.2.4.64. A failed create has no file number: the generic path of
 * one_response() records its status. 42 words are the longer form of [MS-SMB], with 32 more
 * bytes. */
static bool create_response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    struct smb_create new = { 0 };
    unsigned words;
    struct smb_tx *t;

    if (r->status != STATUS_SUCCESS)
        return false;
    words = take_u8(&in);
    take_skip(&in, 4 + 1);  /* AndX, oplock level */
    smb1_take_id(r, &in, &new.id);
    take_skip(&in, 4);  /* create action */
    new.created = unix_seconds(take_le64(&in));
    new.accessed = unix_seconds(take_le64(&in));
    new.modified = unix_seconds(take_le64(&in));
    new.changed = unix_seconds(take_le64(&in));
    take_skip(&in, 4);  /* attributes */
    new.size = take_le64(&in);
    take_skip(&in, 8 + 2 + 2 + 1 + (words == 42 ? 32u : 0) + 2); /* allocation size to byte count */
    if (in.failed)
        return malformed(bad);
    name_file(st, r, &new.id);
    t = smb_tx_find(st, r, smb_scope_of(r, SCOPE_GENERIC));
    if (t == NULL)
        return true;
    smb_on_response(t, r);
    if (t->kind != SMB_CREATE)
        return true;
    /* The fields of the request live on in the transaction; `new` has those of the response. */
    new.name = t->create.name;
    new.disposition = t->create.disposition;
    new.delete_on_close = t->create.delete_on_close;
    new.is_directory = t->create.is_directory;
    t->create = new;
    return true;
}

/* Ends the file's transaction in one direction of data. A file that is done already stays as it is,
 * because its number may belong to a newer file. */
void smb1_close_file(struct smb_state *st, const struct smb_id *id, enum direction d)
{
    struct smb_tx *t = smb_file_find(st, id, d, false);

    if (t == NULL || t->tx.progress[TO_SERVER] != 0)
        return;
    smb_file_close(t);
    smb_done(t, TO_SERVER);
    smb_done(t, TO_CLIENT);
}

/* [MS-CIFS] section 2.2.4.5. The request ends a written file. A read file ends with the response,
 * because read responses may still be on their way; the cache keeps the file's number for it. */
static void close_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = bytes_of_slice(r->body);
    struct smb_id id;

    take_skip(&in, 1);  /* word count */
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

/* Only these commands begin with the AndX words that name a next command ([MS-CIFS] section
 * 2.2.3.4). Following them elsewhere would read parameters as offsets. */
static bool is_andx(unsigned command)
{
    return command == SMB1_LOCKING_ANDX || command == SMB1_OPEN_ANDX ||
           command == SMB1_READ_ANDX || command == SMB1_SESSION_SETUP_ANDX ||
           command == SMB1_LOGOFF_ANDX || command == SMB1_TREE_CONNECT_ANDX ||
           command == SMB1_NT_CREATE_ANDX || command == SMB1_WRITE_ANDX;
}

/* Reads, writes and TRANS are logged as files and calls. A transaction for each of them as well
 * would flood the log, so they get none. */
bool smb1_has_own_tx(unsigned command)
{
    return command != SMB1_READ_ANDX && command != SMB1_WRITE_ANDX && command != SMB1_TRANS &&
           command != SMB1_TRANS2;
}

/* True: the command's transaction exists or must not exist. False: one_request() makes a generic
 * one. */
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

/* One command of the chain. At the limit of transactions (`full`) nothing more is made. */
static void one_request(struct smb_state *st, const struct smb_record *r)
{
    bool bad = false;
    struct smb_tx *t;

    if (request(st, r, &bad) || !smb1_has_own_tx(r->command) || st->full)
        return;
    t = smb_tx_new(st, SMB_GENERIC, r);
    if (t == NULL)
        return;
    smb_set_scope(t, smb_scope_of(r, SCOPE_GENERIC));
    if (bad)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
    if (r->command == SMB1_NT_CANCEL || r->command == SMB1_TRANS2_SECONDARY ||
        r->command == SMB1_LOCKING_ANDX)
        smb_done(t, TO_CLIENT);         /* the server sends no response to these */
}

/* True: the transaction has got its response. False: one_response() looks it up by its scope. */
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

/* A response to LOGOFF no longer carries the user's id, so the scope cannot match. The newest
 * transaction is taken when it is a LOGOFF of SMB1. */
static struct smb_tx *request_of(struct smb_state *st, const struct smb_record *r)
{
    struct smb_tx *last = st->flow->last != NULL ? smb_tx_of(st->flow->last) : NULL;

    if (r->command != SMB1_LOGOFF_ANDX)
        return smb_tx_find(st, r, smb_scope_of(r, SCOPE_GENERIC));
    return last != NULL && last->version == 1 && last->command == r->command ? last : NULL;
}

/* A response to WRITE_ANDX ends nothing: the file's transaction goes on until the close. */
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

/* Moves `r` to the next command of its chain. Each offset must be larger than the current one, so
 * that a hostile chain cannot loop; the record's length bounds the number of steps. False at the
 * end. */
static bool next_andx(struct smb_record *r)
{
    struct bytes in = bytes_of_slice(r->body);
    uint32_t here = (uint32_t)(r->body.data - r->complete.data) + SMB1_HEADER_LEN, next;
    unsigned command;

    if (!is_andx(r->command))
        return false;
    take_skip(&in, 1);  /* word count */
    command = take_u8(&in);
    take_skip(&in, 1);  /* reserved */
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
