/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/nfs4.c - version 4, RFC 7530: a call is a list of operations, and so is its reply.
 * All of a list is read before any operation counts, because one unknown operation hides where the
 * next begins. */
#include "app/proto/nfs/nfs.h"

#define OPS_MAX 64                  /* of one call; Linux accepts 16 */
#define WRAPPED_MAX 4096            /* bytes of a wrapped call */
enum { GSS_DATA = 0, GSS_INTEGRITY = 2 };

struct compound {
    struct nfs_op op[OPS_MAX];
    uint32_t count;
};

/* False: malformed, too long, or with an unknown operation. */
static bool take_compound(struct bytes *in, struct compound *c,
                          bool (*take)(struct bytes *in, struct nfs_op *op))
{
    (void)nfs_take_string(in);          /* tag */
    if (take == nfs4_take_argument)
        take_skip(in, 4);               /* minor version */
    c->count = take_be32(in);
    if (in->failed || c->count > OPS_MAX)
        return false;
    for (uint32_t i = 0; i < c->count; i++)
        if (!take(in, &c->op[i]))
            return false;
    return true;
}

/* RFC 2203 section 5.3.2.2: with integrity protection the arguments are between a length and a
 * checksum. */
static bool unwrap(struct slice complete, struct bytes *out)
{
    struct bytes in = bytes_of_slice(complete);
    uint32_t len = take_be32(&in);

    take_skip(&in, 4);                  /* sequence number */
    if (len >= WRAPPED_MAX)
        return false;
    *out = take_sub(&in, len);
    return !in.failed;
}

/* --- calls ---------------------------------------------------------------------------------- */

/* In version 4 a write is complete when it comes here. */
static void write_file(struct nfs_state *st, const struct rpc_call *r, struct nfs_op *op,
                       struct slice handle)
{
    op->extent.handle = handle;
    op->extent.name = nfs_name_find(st, handle);
    nfs_file_write(st, r, NFS4_WRITE, &op->extent);
}

/* Operations concern the file that the last PUTFH named. Returns the operation that names the call
 * in the log; 0: none. */
static uint32_t follow_call(struct nfs_state *st, const struct rpc_call *r, struct compound *c,
                            struct nfs_call *call)
{
    struct slice at_hand = { 0 };
    bool has_file = false;
    uint32_t main_op = 0;

    for (uint32_t i = 0; i < c->count; i++) {
        struct nfs_op *op = &c->op[i];

        switch (op->op) {
        case NFS4_PUTFH:
            at_hand = op->handle;
            has_file = true;
            break;
        case NFS4_OPEN:
        case NFS4_LOOKUP:
            nfs_call_set_name(call, op->name);
            break;
        case NFS4_READ:
            if (!has_file)
                break;
            call->offset = op->extent.offset;
            nfs_call_set_handle(st, call, at_hand);
            break;
        case NFS4_WRITE:
            if (has_file)
                write_file(st, r, op, at_hand);
            break;
        case NFS4_COMMIT:
        case NFS4_CLOSE:
            if (has_file)
                nfs_file_commit(st, r, at_hand);
            break;
        case NFS4_CREATE:
            if (has_file)
                nfs_call_set_handle(st, call, at_hand);
            nfs_call_set_name(call, op->name);
            main_op = op->op;
            break;
        case NFS4_REMOVE:
            nfs_call_set_name(call, op->name);
            main_op = op->op;
            break;
        default:
            break;
        }
    }
    return main_op;
}

/* Arguments with privacy protection are encrypted: they fail to parse, and raise an event. */
void nfs4_call(struct nfs_state *st, const struct rpc_call *r)
{
    bool integrity = r->flavor == RPC_AUTH_GSS && r->gss_procedure == GSS_DATA &&
                     r->gss_service == GSS_INTEGRITY;
    struct bytes in = bytes_of_slice(r->arguments);
    struct nfs_call *call;
    struct compound c;
    uint32_t main_op;

    if (r->procedure == NFS4_COMPOUND && integrity && !unwrap(r->arguments, &in)) {
        nfs_event(st, NFS_MALFORMED_DATA);
        return;
    }
    call = nfs_call_new(st, r);
    if (call == NULL || r->procedure != NFS4_COMPOUND)
        return;
    call->integrity = integrity;
    if (!take_compound(&in, &c, nfs4_take_argument)) {
        nfs_event(st, NFS_MALFORMED_DATA);
        return;
    }
    main_op = follow_call(st, r, &c, call);
    if (main_op != 0)
        nfs_tx_for_call(st, r, call, main_op, NULL);
}

/* --- answers -------------------------------------------------------------------------------- */

/* The call has the extent's position. */
static void read_file(struct nfs_state *st, const struct rpc_reply *r, struct nfs_op *op,
                      const struct nfs_call *call)
{
    op->extent.handle = buf_slice(&call->handle);
    op->extent.name = buf_slice(&call->name);
    op->extent.offset = call->offset;
    nfs_file_read(st, r, call, op->status, &op->extent);
}

/* GETFH after a successful OPEN returns the handle of the name that was opened. */
static void follow_reply(struct nfs_state *st, const struct rpc_reply *r, struct compound *c,
                         struct nfs_call *call)
{
    static const struct slice root = { (const uint8_t *)"<mount_root>", 12 };
    const struct nfs_op *replied = NULL;
    bool opened = false;

    for (uint32_t i = 0; i < c->count; i++) {
        struct nfs_op *op = &c->op[i];
        bool ok = op->status == 0;

        switch (op->op) {
        case NFS4_CREATE:
        case NFS4_REMOVE:
            replied = op;
            break;
        case NFS4_READ:
            if (ok)
                read_file(st, r, op, call);
            break;
        case NFS4_OPEN:
            opened |= ok;
            break;
        case NFS4_GETFH:
            if (ok && opened)
                nfs_name_put(st, op->handle, buf_slice(&call->name));
            break;
        case NFS4_PUTROOTFH:
            if (ok && call->name.len == 0)
                nfs_call_set_name(call, root);
            break;
        default:
            break;
        }
    }
    if (replied != NULL)
        nfs_on_reply(st, r, replied->status, (struct slice){ 0 });
}

void nfs4_reply(struct nfs_state *st, const struct rpc_reply *r, struct nfs_call *call)
{
    struct bytes in = bytes_of_slice(r->results);
    struct compound c;

    if (call->procedure != NFS4_COMPOUND)
        return;
    if (call->integrity && !unwrap(r->results, &in)) {
        nfs_event(st, NFS_MALFORMED_DATA);
        return;
    }
    take_skip(&in, 4);                  /* status of the last operation */
    if (take_compound(&in, &c, nfs4_take_result))
        follow_reply(st, r, &c, call);
    else
        nfs_event(st, NFS_MALFORMED_DATA);
}
