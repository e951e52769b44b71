/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/smb2.c - SMB 2 and 3 without encryption ([MS-SMB2] section 2.2). Numbers are little
 * endian. Each structure begins with its size (2 bytes), which is skipped: its fixed part is read
 * as the standard lays it out. */
#include "app/proto/smb/events.h"
#include "app/proto/smb/file.h"
#include "app/proto/smb/record.h"
#include "app/proto/smb/state.h"
#include "app/proto/smb/tx.h"

/* Commands that are looked into ([MS-SMB2] section 2.2.1). All others get a generic transaction. */
enum {
    NEGOTIATE = 0, SESSION_SETUP = 1, TREE_CONNECT = 3, TREE_DISCONNECT = 4, CREATE = 5,
    CLOSE = 6, READ = 8, WRITE = 9, IOCTL = 11, GET_INFO = 16, SET_INFO = 17,
};

#define FLAG_RESPONSE 1u
#define FLAG_ASYNC 2u
#define FSCTL_PIPE_TRANSCEIVE 0x0011c017u
#define SHARE_PIPE 2

/* The header, [MS-SMB2] section 2.2.1. Asynchronous responses (2.2.1.1) have an id in place of
 * reserved bytes and tree. `chain` is the distance to the next record of a compound; the last one
 * takes the rest. False: the header or the body is not complete. */
bool smb2_take_record(struct bytes *in, enum direction d, struct smb_record *r)
{
    uint32_t flags;

    *r = (struct smb_record){ .version = 2, .direction = d };
    take_skip(in, 4);               /* 0xfe "SMB" */
    r->header_len = take_le16(in);
    take_skip(in, 2);               /* credit charge */
    r->status = take_le32(in);      /* of requests: channel sequence, dropped below */
    r->command = take_le16(in);
    take_skip(in, 2);               /* credits */
    flags = take_le32(in);
    r->is_response = (flags & FLAG_RESPONSE) != 0;
    r->chain = take_le32(in);
    r->message = take_le64(in);
    take_skip(in, 4);   /* process id, or half of the async id */
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

/* A FileId: persistent and volatile part, 16 bytes. The two parts are compared as one. */
static bool take_id(struct bytes *in, struct smb_id *id)
{
    const uint8_t *p = take_bytes(in, 16);

    *id = (struct smb_id){ .len = 16 };
    if (p != NULL)
        memcpy(id->at, p, 16);
    return p != NULL;
}

/* Sets *bad and returns false, so that a handler can end with `return malformed(bad)`. */
static bool malformed(bool *bad)
{
    *bad = true;
    return false;
}

/* --- keys ----------------------------------------------------------------------------------- */

/* A response is found by session and message number; the tree may change to an async id. */
static struct smb_key message_key(const struct smb_record *r, uint32_t kind)
{
    return (struct smb_key){ .a = r->session, .b = r->message, .kind = kind };
}

/* Tree ids are unique within a session only. */
static struct smb_key tree_key(const struct smb_record *r)
{
    return (struct smb_key){ .a = r->session, .c = r->tree, .kind = SMB_KEY_SHARE };
}

/* Reads and writes are logged as files, and the answers of GET_INFO and SET_INFO add nothing. No
 * generic transaction is made for these. */
static bool has_own_tx(uint16_t command)
{
    return command != READ && command != WRITE && command != GET_INFO && command != SET_INFO;
}

/* max-write-size or max-read-size of the configuration. 0: no limit. */
static uint32_t max_size(const struct smb_state *st, enum direction d)
{
    return ((const struct smb_settings *)st->flow->settings)->limits[d].max_size;
}

/* Both limits count: what the server negotiated and what the configuration allows. A hostile client
 * may ask for more than the server agreed to. */
static bool too_large(const struct smb_state *st, enum direction d, uint32_t len)
{
    uint32_t own = max_size(st, d), agreed = d == TO_SERVER ? st->max_write : st->max_read;

    return (agreed != 0 && len > agreed) || (own != 0 && len > own);
}

/* --- pipes and files ------------------------------------------------------------------------- */

enum carried { CARRIES_FILE, CARRIES_CALL, CARRIES_OTHER };

/* Decides what the data of a read or write are. When the tree connect was missed, the data's first
 * bytes decide: a DCERPC header means a pipe. */
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

/* Keeps the decision of carried_by() for later extents, which may begin in the middle of a call:
 * marks the tree and the handle as a pipe's. */
static void note_pipe(struct smb_state *st, const struct smb_record *r, const struct smb_extent *p)
{
    struct smb_entry *tree = smb_cache_get(&st->trees, tree_key(r));

    if (tree != NULL && tree->flag)
        return;
    smb_cache_flag(&st->trees, tree_key(r));
    if (!smb_pipe_has_calls(st, &p->id))
        smb_cache_flag(&st->names, smb_key_of_id(&p->id));
}

/* Takes an extent to its file or call. A file that is open already keeps its extents, whatever
 * their first bytes look like. Data of a pipe without known calls are skipped. */
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

/* [MS-SMB2] section 2.2.21. The data are taken right after the fixed part; DataOffset is not
 * followed. `len` may exceed what is present: the rest comes later or is missing. */
static bool take_write(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = body_of(r);

    take_skip(&in, 4);  /* structure size, data offset */
    p->len = take_le32(&in);
    p->offset = take_le64(&in);
    take_id(&in, &p->id);
    take_skip(&in, 4 + 4 + 4 + 4);  /* channel, remaining bytes, channel info, flags */
    if (in.failed)
        return false;
    p->data = take_slice(&in, MIN(p->len, bytes_left(&in)));
    return true;
}

/* Until an extent claims it, the rest of the record is passed over without buffering. */
static void skip_rest(struct smb_state *st, const struct smb_record *r)
{
    st->ds[r->direction].skip = r->missing;
}

/* The caller may hold only the beginning of the record. A length beyond what is present and
 * expected, or beyond a limit, is an event, and the data are not stored. */
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

/* [MS-SMB2] section 2.2.20. */
static bool take_read(const struct smb_record *r, struct smb_extent *p)
{
    struct bytes in = body_of(r);

    take_skip(&in, 4);  /* structure size, data offset, reserved */
    p->len = take_le32(&in);
    take_skip(&in, 4 + 4);  /* remaining, reserved */
    if (in.failed)
        return false;
    p->data = take_slice(&in, MIN(p->len, bytes_left(&in)));
    return true;
}

/* File and offset come from the request, by the message number. Without the request the data
 * have no known place and are skipped. STATUS_BUFFER_OVERFLOW is a warning: the pipe has more to
 * read. */
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

/* Takes the beginning of a long record if its data belong to a file. Compounds are refused, because
 * their next header is inside what has not come. Calls are refused, because pipe.c needs a fragment
 * that is complete. */
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

/* A handler of a request returns true when it has dealt with the command's transaction; otherwise
 * smb2_request() makes a generic one. *bad asks for SMB_MALFORMED_DATA on that one. */

/* [MS-SMB2] section 2.2.3. The count of dialects is checked against the bytes that are there before
 * memory is taken for them. A second NEGOTIATE changes nothing. */
static bool negotiate_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    const uint8_t *guid;
    struct smb_tx *t;
    unsigned count;

    take_skip(&in, 2);  /* structure size */
    count = take_le16(&in);
    take_skip(&in, 2 + 2 + 4);  /* security mode, reserved, capabilities */
    guid = take_bytes(&in, 16);
    take_skip(&in, 4 + 2 + 2);  /* negotiate contexts, or the client's start time */
    if (!bytes_have(&in, 2 * (size_t)count))
        return malformed(bad);
    if (smb_tx_negotiate(st, 2) != NULL)
        return true;
    t = smb_tx_new(st, SMB_NEGOTIATE, r);
    if (t == NULL)
        return true;
    t->negotiate.has_client_guid = true;
    memcpy(t->negotiate.client_guid, guid, 16);
    /* One byte more, because 0 dialects need a size, too. */
    t->negotiate.dialect2 = arena_alloc(&t->tx.arena, count * sizeof(uint16_t) + 1);
    if (t->negotiate.dialect2 == NULL)
        return true;
    for (unsigned i = 0; i < count; i++)
        t->negotiate.dialect2[i] = take_le16(&in);
    t->negotiate.dialect2_count = count;
    return true;
}

/* [MS-SMB2] section 2.2.5. The security buffer is taken to follow the fixed part (24 bytes). */
static void setup_request(struct smb_state *st, const struct smb_record *r)
{
    struct bytes in = body_of(r);
    struct smb_tx *t;

    take_skip(&in, 24);
    t = in.failed ? NULL : smb_tx_new(st, SMB_SESSION_SETUP, r);
    if (t == NULL)
        return;
    smb_set_scope(t, smb_scope_of(r, SCOPE_HEADER));
    smb_read_token(t, take_rest(&in));
}

/* [MS-SMB2] section 2.2.9. The path is UTF-16. An offset that points into the header or the fixed
 * part is ignored, and a path that is cut short is kept as it is. */
static bool tree_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    unsigned offset, len;
    struct slice path;
    struct smb_tx *t;

    take_skip(&in, 2 + 2);  /* structure size, flags */
    offset = take_le16(&in);
    len = take_le16(&in);
    if (in.failed)
        return malformed(bad);
    in = body_of(r);
    /* 8: the fixed part */
    take_skip(&in, offset > SMB2_HEADER_LEN + 8 ? offset - SMB2_HEADER_LEN : 8);
    path = take_slice(&in, MIN(len, bytes_left(&in)));
    if (in.failed)
        return malformed(bad);
    t = smb_tx_new(st, SMB_TREE_CONNECT, r);
    if (t == NULL)
        return true;
    smb_set_scope(t, smb_scope_of(r, SCOPE_TREE));
    t->tree.share = smb_keep_text(t, path);
    return true;
}

/* [MS-SMB2] section 2.2.19. The response repeats neither file nor offset, so that the cache keeps
 * them by the message number. A read that is too large is not noted: its response is skipped. */
static void read_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    struct smb_entry *entry;
    struct smb_id id;
    uint64_t offset;
    uint32_t len;

    take_skip(&in, 4);  /* structure size, padding, flags */
    len = take_le32(&in);
    offset = take_le64(&in);
    take_id(&in, &id);
    take_skip(&in, 4 + 4 + 4 + 4);  /* minimum count to channel info */
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

/* [MS-SMB2] section 2.2.13. The name waits in the cache for the response, which brings the file's
 * id. It is kept in UTF-16 here; name_file() drops the zero bytes. */
static bool create_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    uint32_t disposition, options, len;
    struct smb_entry *entry;
    struct slice name;
    struct smb_tx *t;

    take_skip(&in, 36); /* structure size to share access */
    disposition = take_le32(&in);
    options = take_le32(&in);
    take_skip(&in, 2);  /* name offset: not followed */
    len = take_le16(&in);
    take_skip(&in, 8);  /* create contexts */
    name = take_slice(&in, len);
    if (in.failed)
        return malformed(bad);
    entry = smb_cache_put(&st->keys, message_key(r, SMB_KEY_NAME));
    if (entry != NULL)
        buf_add(&entry->text, name.data, name.len);
    t = smb_tx_new(st, SMB_CREATE, r);
    if (t == NULL)
        return true;
    smb_set_scope(t, smb_scope_of(r, SCOPE_GENERIC));
    t->create.name = smb_keep(t, name);
    t->create.disposition = disposition;
    t->create.delete_on_close = (options & 0x1000) != 0;    /* FILE_DELETE_ON_CLOSE */
    t->create.is_directory = (options & 1) != 0;            /* FILE_DIRECTORY_FILE */
    return true;
}

/* Ends the transfer of a handle. A close request carries no status: the record shows success. */
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

/* [MS-SMB2] section 2.2.15. The request ends both directions: a client closes when its reads have
 * been answered. */
static void close_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    struct smb_id id;

    take_skip(&in, 8);  /* structure size, flags, reserved */
    if (!take_id(&in, &id)) {
        *bad = true;
        return;
    }
    (void)smb_cache_pop(&st->names, smb_key_of_id(&id));
    close_file(st, &id, TO_SERVER);
    close_file(st, &id, TO_CLIENT);
}

/* [MS-SMB2] section 2.2.31. FSCTL_PIPE_TRANSCEIVE on a pipe with calls writes and reads in one
 * step; all other controls get a transaction with their number. */
static void ioctl_request(struct smb_state *st, const struct smb_record *r)
{
    struct bytes in = body_of(r);
    uint32_t function, len;
    struct slice data;
    struct smb_id id;
    struct smb_tx *t;

    take_skip(&in, 4);  /* structure size, reserved */
    function = take_le32(&in);
    take_id(&in, &id);
    take_skip(&in, 4);  /* input offset: not followed */
    len = take_le32(&in);
    take_skip(&in, 4 + 4 + 4 + 12); /* output fields, flags, reserved */
    data = take_slice(&in, len);
    if (!in.failed && function == FSCTL_PIPE_TRANSCEIVE && smb_pipe_has_calls(st, &id)) {
        smb_pipe_request(st, r, data);
        return;
    }
    t = smb_tx_new(st, in.failed ? SMB_GENERIC : SMB_IOCTL, r);
    if (t == NULL)
        return;
    smb_set_scope(t, smb_scope_of(r, SCOPE_HEADER));
    if (in.failed)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
    else
        t->ioctl = function;
}

/* --- set info ------------------------------------------------------------------------------- */

/* [MS-SMB2] section 2.2.39: SMB2_0_INFO_FILE; classes of [MS-FSCC] section 2.4. */
enum { CLASS_FILE = 1, LEVEL_RENAME = 10, LEVEL_DISPOSITION = 13 };

/* As Suricata logs files whose open was missed. */
static const struct slice unknown_name = { (const uint8_t *)"<unknown>", 9 };

/* FileRenameInformation, [MS-FSCC]: replace flag, reserved, root directory, then the
 * new name by its length. */
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
    smb_set_scope(t, smb_scope_of(r, SCOPE_GENERIC));
    t->rename.id = *id;
    t->rename.from = smb_keep(t, entry != NULL ? smb_entry_text(entry) : unknown_name);
    t->rename.to = smb_keep_text(t, name);
    return true;
}

/* The file's name by its handle. In a compound the handle is not known yet: the create is the
 * message just before, whose name waits in the cache of pending names. */
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

/* Bit 0 of FileDispositionInformation marks the file for deletion at its last close. */
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
    smb_set_scope(t, smb_scope_of(r, SCOPE_GENERIC));
    t->set_info.id = *id;
    t->set_info.name = smb_keep_text(t, name_of(st, r, id));
    t->set_info.subcommand = CLASS_FILE;
    t->set_info.level = LEVEL_DISPOSITION;
    t->set_info.delete_on_close = (remove & 1) != 0;
    return true;
}

/* [MS-SMB2] section 2.2.39. The buffer is taken to follow the fixed part. Only renaming and
 * deletion are logged, as in Suricata. */
static bool set_info_request(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r), info;
    unsigned class, level;
    struct smb_id id;
    uint32_t len;

    take_skip(&in, 2);  /* structure size */
    class = take_u8(&in);
    level = take_u8(&in);
    len = take_le32(&in);
    take_skip(&in, 2 + 2 + 4);  /* buffer offset, reserved, additional information */
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

/* True: the command's transaction is taken care of. False: smb2_request() makes a generic one. */
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

/* One record from the client. At the limit of transactions nothing more is made. */
void smb2_request(struct smb_state *st, const struct smb_record *r)
{
    bool bad = false;
    struct smb_tx *t;

    if (request(st, r, &bad) || !has_own_tx(r->command) || st->full)
        return;
    t = smb_tx_new(st, SMB_GENERIC, r);
    if (t == NULL)
        return;
    smb_set_scope(t, smb_scope_of(r, SCOPE_GENERIC));
    if (bad)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
}

/* --- responses ------------------------------------------------------------------------------ */

/* [MS-SMB2] section 2.2.4. The server's maximum sizes become limits for reads and writes, see
 * too_large(). A client that offered "SMB 2.???" in an SMB1 NEGOTIATE gets an SMB2 response, so
 * that SMB1's transaction is looked up as well. */
static bool negotiate_response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct bytes in = body_of(r);
    const uint8_t *guid = NULL;
    struct smb_tx *t;

    take_skip(&in, 4);  /* structure size, security mode */
    st->dialect = 0;
    st->max_read = st->max_write = 0;
    if (r->status == STATUS_SUCCESS) {
        st->dialect = take_le16(&in);
        take_skip(&in, 2);  /* count of negotiate contexts */
        guid = take_bytes(&in, 16);
        take_skip(&in, 4 + 4);  /* capabilities, maximum transaction size */
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

/* The first response brings the session's id, which the request could not know: the lookup tries
 * the id, then 0. The transaction takes the new scope for the next step of the logon. */
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
    smb_set_scope(t, scope);
    smb_on_response(t, r);
}

/* [MS-SMB2] section 2.2.10. A successful response gives the tree its id and kind; the tree cache
 * keeps both for reads and writes. */
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
    take_skip(&in, 2);  /* structure size */
    type = take_u8(&in);
    take_skip(&in, 4 + 4 + 4);  /* share flags, capabilities, access */
    if (in.failed)
        return malformed(bad);
    if (t == NULL)
        return true;
    t->tree.share_type = type;
    t->tree.is_pipe = type == SHARE_PIPE;
    smb_set_scope(t, smb_scope_of(r, SCOPE_HEADER));
    smb_on_response(t, r);
    entry = smb_cache_put(&st->trees, tree_key(r));
    if (entry == NULL)
        return true;
    buf_add(&entry->text, t->tree.share.data, t->tree.share.len);
    entry->flag = t->tree.is_pipe;
    return true;
}

/* FILETIME counts 100 ns from 1601 ([MS-DTYP] section 2.3.3). Times before 1970 become 0. */
static uint32_t unix_seconds(uint64_t filetime)
{
    return filetime > UINT64_C(116444736000000000)
               ? (uint32_t)(filetime / 10000000 - UINT64_C(11644473600)) : 0;
}

/* Moves the name of a pending create to the file's id, without the zero bytes of UTF-16. */
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

/* [MS-SMB2] section 2.2.14. A failed create has no id: smb2_response() records its status. */
static bool create_response(struct smb_state *st, const struct smb_record *r, bool *bad)
{
    struct smb_create new = { 0 };
    struct bytes in = body_of(r);
    struct smb_tx *t;

    if (r->status != STATUS_SUCCESS)
        return false;
    take_skip(&in, 2 + 1 + 1 + 4);  /* structure size, oplock, flags, action */
    new.created = unix_seconds(take_le64(&in));
    new.accessed = unix_seconds(take_le64(&in));
    new.modified = unix_seconds(take_le64(&in));
    new.changed = unix_seconds(take_le64(&in));
    take_skip(&in, 8);  /* allocation size */
    new.size = take_le64(&in);
    take_skip(&in, 4 + 4);  /* attributes, reserved */
    take_id(&in, &new.id);
    take_skip(&in, 8);  /* create contexts */
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
    /* The fields of the request live on in the transaction; `new` has those of the response. */
    new.name = t->create.name;
    new.disposition = t->create.disposition;
    new.delete_on_close = t->create.delete_on_close;
    new.is_directory = t->create.is_directory;
    t->create = new;
    return true;
}

/* The read reached the end: the file is complete, although its handle is still open. */
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

/* [MS-SMB2] section 2.2.32. STATUS_PENDING is interim: the transaction stays open for the final
 * response. */
static void ioctl_response(struct smb_state *st, const struct smb_record *r)
{
    struct bytes in = body_of(r);
    uint32_t function, in_len, out_len;
    struct slice data;
    struct smb_id id, none = { 0 };
    struct smb_tx *t;

    take_skip(&in, 4);  /* structure size, reserved */
    function = take_le32(&in);
    take_id(&in, &id);
    take_skip(&in, 4);  /* input offset */
    in_len = take_le32(&in);
    take_skip(&in, 4);  /* output offset */
    out_len = take_le32(&in);
    take_skip(&in, 8);  /* flags, reserved */
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

/* Other errors leave the read's offset in the cache; the least recently used goes first. */
static void any_read_response(struct smb_state *st, const struct smb_record *r)
{
    if (r->status == STATUS_SUCCESS || r->status == STATUS_BUFFER_OVERFLOW)
        read_response(st, r);
    else if (r->status == STATUS_END_OF_FILE)
        end_of_file(st, r);
}

/* True: the transaction has got its response. False: smb2_response() looks it up by its scope. */
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
        /* [MS-SMB2] section 2.2.22 */
        *bad = r->status == STATUS_SUCCESS && r->body.len < 4 + 4 + 6;
        return false;
    case IOCTL:
        ioctl_response(st, r);
        return true;
    default:
        return false;
    }
}

/* Interim responses (STATUS_PENDING) set the status and leave the transaction open. */
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
