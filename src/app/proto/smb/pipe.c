/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/pipe.c - DCERPC in what is written to and read from named pipes ([MS-RPCE]). A call
 * is a transaction; its fragments may need several writes and reads. */
#include "app/proto/smb/events.h"
#include "app/proto/smb/file.h"
#include "app/proto/smb/record.h"
#include "app/proto/smb/state.h"
#include "app/proto/smb/tx.h"
#include "base/containers/hash.h"

/* True if these bytes begin with a DCERPC header. It is a guess for handles whose create was
 * missed, so version and type must be plausible. */
bool smb_is_call(struct slice data)
{
    struct bytes in = bytes_of_slice(data);
    struct dce_header h;

    return dce_take_header(&in, &h) && h.major == 5 && h.minor < 3 && h.length > 0 &&
           h.type <= DCE_TYPE_LAST;
}

/* Are calls known to go through this handle? By the pipe's name, or because data looked like a call
 * before (`flag`). The names are those that Suricata knows. */
bool smb_pipe_has_calls(struct smb_state *st, const struct smb_id *id)
{
    static const char *const services[] = {
        "svcctl", "srvsvc", "atsvc", "lsarpc", "samr", "spoolss", "winreg",
    };
    const struct smb_entry *entry = smb_cache_get(&st->names, smb_key_of_id(id));
    struct slice name = smb_entry_text(entry);

    if (entry == NULL)
        return false;
    if (name.len > 1 && name.data[0] == '\\') {
        name.data++;
        name.len--;
    }
    for (unsigned i = 0; i < ARRAY_LEN(services); i++)
        if (strlen(services[i]) == name.len && memcmp(services[i], name.data, name.len) == 0)
            return true;
    return entry->flag;
}

/* On SMB2, a call is written by WRITE and answered by READ: two messages with different numbers.
 * Only the pipe transceive control has request and response under one number. */
static bool message_counts(const struct smb_record *r)
{
    return r->version == 2 && r->command != 8 && r->command != 9;
}

static uint64_t key_of(const struct smb_record *r, uint32_t call_id)
{
    const uint64_t key[] = { SMB_KEY_OF_CALL, r->session, call_id };

    return hash_bytes(key, sizeof(key));
}

/* The oldest call of this id in the session. Call ids are the client's choice and may repeat. */
static struct smb_tx *find_call(struct smb_state *st, const struct smb_record *r,
                                uint32_t call_id)
{
    for (struct app_tx *tx = app_tx_by_key(st->flow, key_of(r, call_id)); tx != NULL;
         tx = app_tx_next_by_key(tx)) {
        struct smb_tx *t = smb_tx_of(tx);

        if (t->kind == SMB_DCERPC && t->call.call_id == call_id &&
            t->scope.session == r->session &&
            (!message_counts(r) || t->scope.message == r->message))
            return t;
    }
    return NULL;
}

/* NULL at the limit of transactions. */
static struct smb_tx *new_call(struct smb_state *st, const struct smb_record *r,
                               uint32_t call_id)
{
    struct smb_tx *t = smb_tx_new(st, SMB_DCERPC, r);

    if (t == NULL)
        return NULL;
    t->scope = smb_scope_of(r, SCOPE_HEADER);
    t->call.call_id = call_id;
    app_tx_key(&t->tx, key_of(r, call_id));
    st->has_calls = true;
    return t;
}

/* dcerpc.max-stub-size: bytes of stub data that each direction of a call keeps. */
static uint32_t max_stub(const struct smb_state *st)
{
    return ((const struct smb_settings *)st->flow->settings)->max_stub_size;
}

/* Adds a fragment's stub data (C706 section 12.6.4.9): 8 bytes of its own header come before them.
 * Operation and context are those of the first request fragment. False: shorter than it claims. */
static bool add_stub(struct smb_state *st, struct smb_tx *t, const struct dce_header *h,
                     struct bytes body, enum direction d)
{
    struct dce_request request = { 0 };
    struct slice stub;

    if (h->length < DCE_HEADER_LEN + 8 || !dce_take_request(&body, h->little, &request))
        return false;
    stub = take_slice(&body, h->length - DCE_HEADER_LEN - 8u);
    if (body.failed)
        return false;
    if (d == TO_SERVER && t->call.ds[d].fragments == 0) {
        t->call.opnum = request.opnum;
        t->call.context = request.context;
    }
    t->call.ds[d].fragments = (uint16_t)MIN(t->call.ds[d].fragments + 1, UINT16_MAX);
    dce_stub_add(&t->call.ds[d].stub, &t->tx.arena, stub, max_stub(st));
    return true;
}

/* --- requests ------------------------------------------------------------------------------- */

/* A fragment that is not the first. Without the first one there is no call to add it to. */
static void later_fragment(struct smb_state *st, const struct smb_record *r,
                           const struct dce_header *h, struct bytes body)
{
    struct smb_tx *t = find_call(st, r, h->call_id);

    if (t == NULL)
        return;
    if (!add_stub(st, t, h, body, TO_SERVER))
        smb_event(st, SMB_MALFORMED_DATA);
    else if (h->flags & DCE_LAST_FRAGMENT)
        smb_done(t, TO_SERVER);
}

/* BIND starts a new set of interfaces; ALTER_CONTEXT adds to it. False: malformed. */
static bool bind(struct smb_state *st, const struct dce_header *h, struct bytes body)
{
    if (h->type == DCE_BIND)
        st->interfaces.count = 0;
    return dce_read_bind(body, h, &st->interfaces);
}

/* What a client writes to a pipe: one fragment, from its header. Anything but a request is complete
 * in one PDU. */
void smb_pipe_request(struct smb_state *st, const struct smb_record *r, struct slice data)
{
    struct bytes body = bytes_of_slice(data);
    struct dce_header h;
    struct smb_tx *t;
    bool good = true;

    if (!dce_take_header(&body, &h)) {
        smb_event(st, SMB_MALFORMED_DATA);
        return;
    }
    if (h.type == DCE_REQUEST && (h.flags & DCE_FIRST_FRAGMENT) == 0) {
        later_fragment(st, r, &h, body);
        return;
    }
    t = new_call(st, r, h.call_id);
    if (t == NULL)
        return;
    /* smb1.c ignores responses to writes: the status is that of the request, 0. */
    if (r->version == 1 && r->command != 0x25)
        smb_set_status(t, r);
    t->call.ds[TO_SERVER].set = true;
    t->call.ds[TO_SERVER].type = h.type;
    if (h.type == DCE_REQUEST)
        good = add_stub(st, t, &h, body, TO_SERVER);
    else if (h.type == DCE_BIND || h.type == DCE_ALTER_CONTEXT)
        good = bind(st, &h, body);
    else
        good = h.type <= DCE_TYPE_LAST;
    if (!good)
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
    if (!good || h.type != DCE_REQUEST || (h.flags & DCE_LAST_FRAGMENT) != 0)
        smb_done(t, TO_SERVER);
}

/* --- responses ------------------------------------------------------------------------------ */

/* The type of PDU that the server answered with. */
static void set_result(struct smb_tx *t, uint8_t type)
{
    t->call.ds[TO_CLIENT].set = true;
    t->call.ds[TO_CLIENT].type = type;
}

/* A bind without its request is read only to check its form: `none` has no interfaces that it could
 * mark. */
static void bind_response(struct smb_state *st, const struct smb_record *r,
                        const struct dce_header *h, struct bytes body)
{
    struct smb_tx *t = find_call(st, r, h->call_id);
    struct dce_interfaces none = { 0 };

    if (!dce_read_bind_ack(body, h, t != NULL ? &st->interfaces : &none)) {
        smb_event(st, SMB_MALFORMED_DATA);
        return;
    }
    if (t == NULL)
        return;
    set_result(t, h->type);
    smb_on_response(t, r);
}

/* A fault or another PDU ends the call. A response collects stub data until its last fragment. */
static void call_response(struct smb_state *st, struct smb_tx *t, const struct smb_record *r,
                        const struct dce_header *h, struct bytes body)
{
    if (h->type != DCE_RESPONSE) {
        set_result(t, h->type);
        smb_on_response(t, r);
        if (h->type > DCE_TYPE_LAST)
            app_tx_event(&t->tx, SMB_MALFORMED_DATA);
        return;
    }
    if (!add_stub(st, t, h, body, TO_CLIENT)) {
        app_tx_event(&t->tx, SMB_MALFORMED_DATA);
        return;
    }
    set_result(t, h->type);
    smb_set_status(t, r);
    if (h->flags & DCE_LAST_FRAGMENT)
        smb_done(t, TO_CLIENT);
}

/* A pipe's id is unique within its session; the tree separates SMB1's short numbers. */
static struct smb_key fragment_key(const struct smb_record *r, const struct smb_id *id)
{
    struct smb_key key = smb_key_of_id(id);

    key.b = hash_bytes((uint64_t[]){ key.b, r->session }, 2 * sizeof(uint64_t));
    key.c = r->tree;
    key.kind = SMB_KEY_PIPE;
    return key;
}

/* Handles data that a client reads from a pipe. STATUS_BUFFER_OVERFLOW means that the fragment
 * continues in the next read ([MS-SMB2] section 3.3.5.12): the beginning waits in the cache of
 * fragments, whose count max-dcerpc-frag-cache-size limits. Other errors end the command's
 * transaction. */
void smb_pipe_response(struct smb_state *st, const struct smb_record *r, const struct smb_id *id,
                       struct slice data)
{
    struct smb_key key = fragment_key(r, id);
    struct smb_entry *before;
    struct dce_header h;
    struct bytes body;
    struct smb_tx *t;

    if (r->status != STATUS_SUCCESS && r->status != STATUS_BUFFER_OVERFLOW) {
        t = smb_tx_find(st, r, smb_scope_of(r, SCOPE_HEADER));
        if (t != NULL)
            smb_on_response(t, r);
        return;
    }
    before = smb_cache_pop(&st->fragments, key);
    if (before != NULL && before->text.len > 0) {
        buf_add(&before->text, data.data, data.len);
        data = buf_slice(&before->text);
    }
    if (data.len == 0)
        return;
    body = bytes_of_slice(data);
    if (!dce_take_header(&body, &h)) {
        smb_event(st, SMB_MALFORMED_DATA);
        return;
    }
    if (r->status == STATUS_BUFFER_OVERFLOW && data.len < h.length) {
        if (before == NULL || before->text.data != data.data) {
            before = smb_cache_put(&st->fragments, key);
            if (before != NULL)
                buf_add(&before->text, data.data, data.len);
            return;
        }
        /* The beginning moves back into the cache without copying its bytes. */
        struct buf retained = before->text;

        before->text = (struct buf){ 0 };
        before = smb_cache_put(&st->fragments, key);
        if (before == NULL) {
            buf_fini(&retained);
            return;
        }
        buf_fini(&before->text);
        before->text = retained;
        return;
    }
    if (h.type == DCE_BIND_ACK || h.type == DCE_ALTER_CONTEXT_RESP) {
        bind_response(st, r, &h, body);
        return;
    }
    t = find_call(st, r, h.call_id);
    if (t == NULL)
        t = new_call(st, r, h.call_id);
    if (t != NULL)
        call_response(st, t, r, &h, body);
}
