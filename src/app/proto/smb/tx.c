/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/tx.c - transactions: created, found again, completed. They are found
 * by their keys, in constant time: a client chooses how many are open. */
#include "app/proto/smb/tx.h"

#include "app/proto/smb/events.h"
#include "app/proto/smb/record.h"
#include "app/proto/smb/state.h"
#include "base/containers/hash.h"

/* A tree connect is found without its tree, because only the response brings the tree's id. */
struct smb_scope smb_scope_of(const struct smb_record *r, unsigned kind)
{
    return (struct smb_scope){
        .kind = kind, .session = r->session, .message = r->message,
        .tree = kind == SCOPE_TREE ? 0 : r->tree,
    };
}

/* Trees are not compared: an asynchronous SMB2 response has none. */
static bool scope_equal(const struct smb_scope *a, const struct smb_scope *b)
{
    return a->kind == b->kind && a->session == b->session && a->message == b->message;
}

/* A negotiation is found by its version, and a step of a logon or a tree connect by kind and scope;
 * the commands by what smb_tx_find() compares. */
static uint64_t key_of(enum smb_kind kind, unsigned version, unsigned command,
                       const struct smb_scope *scope)
{
    const bool by_kind = kind == SMB_SESSION_SETUP || kind == SMB_TREE_CONNECT;
    const uint64_t key[] = {
        SMB_KEY_OF_SCOPE, kind == SMB_NEGOTIATE || by_kind ? kind : SMB_GENERIC,
        by_kind ? 0 : version, by_kind ? 0 : command, scope->kind, scope->session, scope->message,
    };

    return hash_bytes(key, sizeof(key));
}

void smb_set_scope(struct smb_tx *t, struct smb_scope scope)
{
    t->scope = scope;
    app_tx_key(&t->tx, key_of(t->kind, t->version, t->command, &scope));
}

/* An event without any transaction is dropped. */
void smb_event(struct smb_state *st, enum smb_event event)
{
    if (st->flow->last != NULL)
        app_tx_event(st->flow->last, event);
}

/* At max-tx the parser stops (`full`) instead of evicting: the transactions of a flow in progress
 * would lose their responses. A request is complete when its transaction is created, except for
 * files and calls, which take several messages. After a loss of framing (`cut_off`) no response can
 * be matched, so that direction is done, too. */
struct smb_tx *smb_tx_new(struct smb_state *st, enum smb_kind kind, const struct smb_record *r)
{
    const struct smb_settings *settings = st->flow->settings;
    struct smb_tx *t = NULL;

    if (st->flow->tx_count < settings->max_tx)
        t = smb_tx_of(app_tx_new(st->flow));
    if (t == NULL) {
        st->full = true;
        smb_event(st, SMB_TOO_MANY_TRANSACTIONS);
        return NULL;
    }
    t->kind = kind;
    t->version = r->version;
    t->command = r->command;
    if (kind == SMB_NEGOTIATE)
        app_tx_key(&t->tx, key_of(kind, r->version, 0, &t->scope));
    t->tx.progress[TO_SERVER] = kind != SMB_FILE && kind != SMB_DCERPC;
    t->tx.progress[TO_CLIENT] = t->tx.progress[TO_SERVER] && st->ds[TO_CLIENT].cut_off;
    return t;
}

/* What is found is found to be changed. */
struct smb_tx *smb_changing(struct smb_tx *t)
{
    app_tx_mark(&t->tx);
    return t;
}

static bool is_request_of(const struct smb_tx *t, const struct smb_record *r,
                          const struct smb_scope *scope)
{
    return t->version == r->version && t->command == r->command && scope_equal(&t->scope, scope);
}

/* A call through a pipe has the key of its call id, so that an error in place of its answer is the
 * only lookup that walks, in a flow with such calls. */
static struct smb_tx *find_call(struct smb_state *st, const struct smb_record *r,
                                const struct smb_scope *scope)
{
    if (!st->has_calls || scope->kind != SCOPE_HEADER)
        return NULL;
    for (struct app_tx *tx = st->flow->first; tx != NULL; tx = tx->next)
        if (smb_tx_of(tx)->kind == SMB_DCERPC && is_request_of(smb_tx_of(tx), r, scope))
            return smb_changing(smb_tx_of(tx));
    return NULL;
}

/* A response matches version, command and scope: message numbers are used again. */
struct smb_tx *smb_tx_find(struct smb_state *st, const struct smb_record *r,
                           struct smb_scope scope)
{
    struct app_tx *tx = app_tx_by_key(st->flow,
                                      key_of(SMB_GENERIC, r->version, r->command, &scope));

    while (tx != NULL && !is_request_of(smb_tx_of(tx), r, &scope))
        tx = app_tx_next_by_key(tx);
    return tx != NULL ? smb_tx_of(tx) : find_call(st, r, &scope);
}

struct smb_tx *smb_tx_find_kind(struct smb_state *st, enum smb_kind kind, struct smb_scope scope)
{
    struct app_tx *tx = app_tx_by_key(st->flow, key_of(kind, 0, 0, &scope));

    while (tx != NULL &&
           (smb_tx_of(tx)->kind != kind || !scope_equal(&smb_tx_of(tx)->scope, &scope)))
        tx = app_tx_next_by_key(tx);
    return tx != NULL ? smb_tx_of(tx) : NULL;
}

/* There is one NEGOTIATE for each version in a flow. */
struct smb_tx *smb_tx_negotiate(struct smb_state *st, uint8_t version)
{
    const struct smb_scope none = { 0 };
    struct app_tx *tx = app_tx_by_key(st->flow, key_of(SMB_NEGOTIATE, version, 0, &none));

    while (tx != NULL &&
           (smb_tx_of(tx)->kind != SMB_NEGOTIATE || smb_tx_of(tx)->version != version))
        tx = app_tx_next_by_key(tx);
    return tx != NULL ? smb_tx_of(tx) : NULL;
}

/* A DOS error is a class in the low byte and a code in the high half of the field. */
void smb_set_status(struct smb_tx *t, const struct smb_record *r)
{
    t->has_status = true;
    t->is_dos_error = r->is_dos_error;
    t->error_class = r->is_dos_error ? (uint8_t)r->status : 0;
    t->status = r->is_dos_error ? r->status >> 16 : r->status;
}

void smb_done(struct smb_tx *t, enum direction d)
{
    t->tx.progress[d] = 1;
}

void smb_on_response(struct smb_tx *t, const struct smb_record *r)
{
    smb_set_status(t, r);
    smb_done(t, TO_CLIENT);
}

/* Copies into the transaction's arena what borrows from the record. */
struct slice smb_keep(struct smb_tx *t, struct slice s)
{
    return s.len > 0 ? arena_slice(&t->tx.arena, s) : s;
}

struct slice smb_keep_text(struct smb_tx *t, struct slice s)
{
    uint8_t *out;
    uint32_t n = 0;

    if (s.len == 0)
        return (struct slice){ (const uint8_t *)"", 0 };
    out = arena_alloc(&t->tx.arena, s.len);
    for (uint32_t i = 0; out != NULL && i < s.len; i++)
        if (s.data[i] != 0)
            out[n++] = s.data[i];
    return (struct slice){ out, n };
}
