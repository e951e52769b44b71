/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/nfs3.c - version 3, RFC 1813: the file that a call concerns, by handle or name, and
 * the handles that replies bring. */
#include "app/proto/nfs/nfs.h"

#define ATTRIBUTES_LEN 84   /* bytes, RFC 1813 section 2.6 */

/* --- calls ---------------------------------------------------------------------------------- */

/* RFC 1813 section 3.3.7. Only padding follows the file's bytes, and it may be missing. False:
 * malformed, or more data than the count says. */
bool nfs3_take_write(struct bytes *in, struct nfs_extent *p)
{
    uint32_t count, stable;

    p->handle = nfs_take_string(in);
    p->offset = take_be64(in);
    count = take_be32(in);
    stable = take_be32(in);
    p->len = take_be32(in);
    if (in->failed || stable > NFS_FILE_SYNC || p->len > count)
        return false;
    p->last = stable == NFS_FILE_SYNC;
    p->data = take_rest(in);
    return true;
}

/* A write whose record is complete; longer ones go through begin_write() of record.c. */
static void complete_write(struct nfs_state *st, const struct rpc_call *r)
{
    struct bytes in = bytes_of_slice(r->arguments);
    struct nfs_extent p = { 0 };

    if (!nfs3_take_write(&in, &p) || p.data.len < p.len) {
        nfs_event(st, NFS_MALFORMED_DATA);
        return;
    }
    p.name = nfs_name_find(st, p.handle);
    nfs_file_write(st, r, NFS3_WRITE, &p);
}

/* RFC 1813 section 3.3.21. */
static void commit(struct nfs_state *st, const struct rpc_call *r)
{
    struct bytes in = bytes_of_slice(r->arguments);
    struct slice handle = nfs_take_string(&in);

    take_skip(&in, 12);                 /* offset, count */
    if (in.failed)
        nfs_event(st, NFS_MALFORMED_DATA);
    else
        nfs_file_commit(st, r, handle);
}

/* A file is read from here on. Its transaction exists before the first extent, so that it has the
 * caller. */
static void begin_file(struct nfs_state *st, const struct rpc_call *r,
                       const struct nfs_call *call)
{
    struct nfs_file_ref file = { buf_slice(&call->handle), buf_slice(&call->name) };
    struct nfs_tx *t;

    if (nfs_file_find(st, file.handle, TO_CLIENT) != NULL)
        return;
    t = nfs_file_new(st, r, NFS3_READ, file, TO_CLIENT);
    if (t != NULL)
        nfs_set_caller(t, r);
}

static bool take_lookup(struct bytes *in, struct nfs_call *call)
{
    (void)nfs_take_string(in);          /* of the directory */
    nfs_call_set_name(call, nfs_take_string(in));
    return !in->failed;
}

/* A handle, and then `rest` bytes that are not used. */
static bool take_handle(struct nfs_state *st, struct bytes *in, uint32_t rest,
                        struct nfs_call *call)
{
    struct slice handle = nfs_take_string(in);

    take_skip(in, rest);
    if (in->failed)
        return false;
    nfs_call_set_handle(st, call, handle);
    return true;
}

/* RFC 1813 section 3.3.6. The reply repeats neither handle nor offset. */
static bool take_read_call(struct nfs_state *st, struct bytes *in, struct nfs_call *call)
{
    struct slice handle = nfs_take_string(in);
    uint64_t offset = take_be64(in);

    take_skip(in, 4);                   /* count */
    if (in->failed)
        return false;
    call->offset = offset;
    nfs_call_set_handle(st, call, handle);
    return true;
}

/* A directory and a name in it. The name is that of the call. */
static bool take_entry(struct nfs_state *st, struct bytes *in, uint32_t rest,
                       struct nfs_call *call)
{
    struct slice directory = nfs_take_string(in), name = nfs_take_string(in);

    take_skip(in, rest);
    if (in->failed)
        return false;
    nfs_call_set_handle(st, call, directory);
    nfs_call_set_name(call, name);
    return true;
}

/* RFC 1813 section 3.3.14: two directories with a name each. */
static bool take_rename(struct nfs_state *st, struct bytes *in, struct nfs_call *call,
                        struct slice *to)
{
    if (!take_entry(st, in, 0, call))
        return false;
    (void)nfs_take_string(in);
    *to = nfs_take_string(in);
    if (in->failed)
        *to = (struct slice){ 0 };
    return !in->failed;
}

/* False: too short. Procedures that are not listed have arguments of no interest. */
static bool take_arguments(struct nfs_state *st, const struct rpc_call *r, struct nfs_call *call,
                           struct slice *new_name)
{
    struct bytes in = bytes_of_slice(r->arguments);

    switch (r->procedure) {
    case NFS3_LOOKUP: return take_lookup(&in, call);
    case NFS3_ACCESS: return take_handle(st, &in, 4, call);
    case NFS3_GETATTR: return take_handle(st, &in, 0, call);
    case NFS3_READDIRPLUS: return take_handle(st, &in, 24, call);
    case NFS3_READ: return take_read_call(st, &in, call);
    case NFS3_CREATE: return take_entry(st, &in, 4, call);
    case NFS3_REMOVE:
    case NFS3_MKDIR:
    case NFS3_RMDIR: return take_entry(st, &in, 0, call);
    case NFS3_RENAME: return take_rename(st, &in, call, new_name);
    default: return true;
    }
}

static void make_transaction(struct nfs_state *st, const struct rpc_call *r,
                             const struct nfs_call *call, const struct slice *new_name)
{
    switch (r->procedure) {
    case NFS3_READ:
        begin_file(st, r, call);
        return;
    case NFS3_WRITE:
        complete_write(st, r);
        return;
    case NFS3_COMMIT:
        commit(st, r);
        return;
    default:
        nfs_tx_for_call(st, r, call, r->procedure, new_name);
        return;
    }
}

/* A malformed call still gets its transaction, which then carries the event. */
void nfs3_call(struct nfs_state *st, const struct rpc_call *r)
{
    struct nfs_call *call = nfs_call_new(st, r);
    struct slice new_name = { 0 };
    bool ok;

    if (call == NULL)
        return;
    ok = take_arguments(st, r, call, &new_name);
    if (st->version == 0)
        st->version = r->version;
    make_transaction(st, r, call, &new_name);
    if (!ok)
        nfs_event(st, NFS_MALFORMED_DATA);
}

/* --- answers -------------------------------------------------------------------------------- */

/* Optional attributes (post_op_attr, RFC 1813 section 2.6). */
static void skip_attributes(struct bytes *in)
{
    if (nfs_take_bool(in))
        take_skip(in, ATTRIBUTES_LEN);
}

/* RFC 1813 section 3.3.6. False: malformed. With an error status nothing follows. */
bool nfs3_take_read(struct bytes *in, uint32_t *status, struct nfs_extent *p)
{
    uint32_t count;

    *status = take_be32(in);
    if (in->failed || *status != 0)
        return !in->failed;
    skip_attributes(in);
    count = take_be32(in);
    p->last = nfs_take_bool(in);
    p->len = take_be32(in);
    if (in->failed || p->len > count)
        return false;
    p->data = take_rest(in);
    return true;
}

static bool complete_read(struct nfs_state *st, const struct rpc_reply *r,
                       const struct nfs_call *call)
{
    struct bytes in = bytes_of_slice(r->results);
    struct nfs_extent p = { 0 };
    uint32_t status;

    if (!nfs3_take_read(&in, &status, &p) || p.data.len < p.len)
        return false;
    p.handle = buf_slice(&call->handle);
    p.name = buf_slice(&call->name);
    p.offset = call->offset;
    nfs_file_read(st, r, call, status, &p);
    return true;
}

/* READDIRPLUS (RFC 1813 section 3.3.17): each entry may bring a handle with its name. A list that
 * is cut off keeps its first entries. */
static bool learn_entries(struct nfs_state *st, struct bytes *in)
{
    skip_attributes(in);
    take_skip(in, 8);                   /* verifier */
    if (in->failed)
        return false;
    while (nfs_take_bool(in)) {
        struct slice name, handle = { 0 };
        bool has_handle;

        take_skip(in, 8);               /* file id */
        name = nfs_take_string(in);
        take_skip(in, 8);               /* cookie */
        skip_attributes(in);
        has_handle = nfs_take_bool(in);
        if (has_handle)
            handle = nfs_take_string(in);
        if (in->failed)
            break;
        if (has_handle)
            nfs_name_put(st, handle, name);
    }
    return true;
}

/* The handle that a LOOKUP or CREATE returns has the name that the call asked for. */
static bool learn_handle(struct nfs_state *st, struct bytes *in, const struct nfs_call *call,
                         struct slice *out)
{
    struct slice handle = nfs_take_string(in);

    if (in->failed)
        return false;
    nfs_name_put(st, handle, buf_slice(&call->name));
    *out = handle;
    return true;
}

static bool take_results(struct nfs_state *st, struct bytes *in, const struct nfs_call *call,
                         struct slice *handle)
{
    switch (call->procedure) {
    case NFS3_LOOKUP: return learn_handle(st, in, call, handle);
    case NFS3_CREATE: return nfs_take_bool(in) ? learn_handle(st, in, call, handle) : !in->failed;
    case NFS3_READDIRPLUS: return learn_entries(st, in);
    default: return true;
    }
}

/* A LOOKUP that failed returns the attributes of its directory, where Suricata sees a handle. Its
 * hash is logged; no name goes with it. */
static struct slice handle_of_failed(struct bytes in)
{
    struct slice handle = nfs_take_string(&in);

    return in.failed ? (struct slice){ 0 } : handle;
}

/* A read has a transaction as a file; the others end here. */
void nfs3_reply(struct nfs_state *st, const struct rpc_reply *r, struct nfs_call *call)
{
    struct bytes in = bytes_of_slice(r->results);
    uint32_t status = take_be32(&in);
    struct slice handle = { 0 };

    if (call->procedure == NFS3_READ) {
        if (!complete_read(st, r, call))
            nfs_event(st, NFS_MALFORMED_DATA);
        return;
    }
    if (status != 0 && call->procedure == NFS3_LOOKUP)
        handle = handle_of_failed(in);
    if (status == 0 && !take_results(st, &in, call, &handle))
        nfs_event(st, NFS_MALFORMED_DATA);
    nfs_on_reply(st, r, status, handle);
}
