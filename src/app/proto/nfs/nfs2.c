/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/nfs2.c - version 2, RFC 1094: follows reads, and logs the status of other calls. */
#include "app/proto/nfs/nfs.h"

#define HANDLE_LEN 32               /* RFC 1094 section 2.3.3 */
#define ATTRIBUTES_LEN 68           /* bytes, RFC 1094 section 2.3.5 */
#define SIZE_AT 20                  /* offset within the attributes */

/* RFC 1094 section 2.2.7. READ has the same number in versions 2 and 3. */
static bool take_read_call(struct slice arguments, struct slice *handle, uint32_t *offset)
{
    struct bytes in = bytes_of_slice(arguments);

    *handle = take_slice(&in, HANDLE_LEN);
    *offset = take_be32(&in);
    take_skip(&in, 4);                  /* count */
    return !in.failed;
}

/* A read becomes a file with its reply; all other calls are transactions now. */
void nfs2_call(struct nfs_state *st, const struct rpc_call *r)
{
    struct nfs_call *call = nfs_call_new(st, r);
    struct slice handle;
    uint32_t offset;

    if (call == NULL)
        return;
    if (r->procedure != NFS3_READ) {
        nfs_tx_for_call(st, r, call, r->procedure, NULL);
        return;
    }
    if (!take_read_call(r->arguments, &handle, &offset)) {
        nfs_event(st, NFS_MALFORMED_DATA);
        return;
    }
    call->offset = offset;
    nfs_call_set_handle(st, call, handle);
}

/* The attributes have the file's size: an extent that reaches it is the last. */
static bool take_read(struct slice results, const struct nfs_call *call, struct nfs_extent *p)
{
    struct bytes in = bytes_of_slice(results);
    struct slice attributes;

    take_skip(&in, 4);                  /* status */
    attributes = take_slice(&in, ATTRIBUTES_LEN);
    p->len = take_be32(&in);
    p->data = take_slice(&in, p->len);
    if (in.failed)
        return false;
    p->handle = buf_slice(&call->handle);
    p->name = buf_slice(&call->name);
    p->offset = call->offset;
    p->last = get_be32(attributes.data + SIZE_AT) == p->offset + p->len;
    return true;
}

/* A failed read ends its transaction too. */
void nfs2_reply(struct nfs_state *st, const struct rpc_reply *r, const struct nfs_call *call)
{
    struct bytes in = bytes_of_slice(r->results);
    uint32_t status = take_be32(&in);
    struct nfs_extent p = { 0 };

    if (call->procedure == NFS3_READ && status == 0) {
        if (take_read(r->results, call, &p))
            nfs_file_read(st, r, call, status, &p);
        else
            nfs_event(st, NFS_MALFORMED_DATA);
    }
    nfs_on_reply(st, r, status, (struct slice){ 0 });
}
