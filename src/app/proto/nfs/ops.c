/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/ops.c - the operations of version 4 (RFC 7530 section 16, RFC 8881 section 18), as
 * far as needed to find the end of each. The parser keeps names, handles and extents. */
#include "app/proto/nfs/nfs.h"

#define STATE_ID_LEN 16
#define SESSION_ID_LEN 16
#define CHANGE_INFO_LEN 20
#define CHANNEL_LEN 28              /* bytes: attributes of a channel without RDMA */
#define BITMAP_WORDS_MAX 8          /* of attributes; RFC 8881 defines three */

/* --- parts ---------------------------------------------------------------------------------- */

static void skip_string(struct bytes *in)
{
    (void)nfs_take_string(in);
}

/* The bits name the attributes that follow; those are skipped by their length. */
static void skip_bitmap(struct bytes *in)
{
    uint32_t words = take_be32(in);

    if (words > BITMAP_WORDS_MAX)
        in->failed = true;
    take_skip(in, (size_t)words * 4);
}

static void skip_attributes(struct bytes *in)
{
    skip_bitmap(in);
    skip_string(in);
}

/* --- arguments ------------------------------------------------------------------------------ */

/* How to create a file: unchecked, guarded, exclusive, or (3) exclusive with attributes. */
static void skip_create_how(struct bytes *in)
{
    switch (take_be32(in)) {
    case 0:                             /* unchecked, guarded */
    case 1:
        skip_attributes(in);
        return;
    case 2:                             /* exclusive: a verifier */
        take_skip(in, 8);
        return;
    case 3:
        take_skip(in, 8);
        skip_attributes(in);
        return;
    default:
        in->failed = true;
        return;
    }
}

/* The claim of an OPEN: CLAIM_NULL (0) to CLAIM_DELEG_PREV_FH (6). */
static void take_claim(struct bytes *in, struct nfs_op *op)
{
    switch (take_be32(in)) {
    case 0:                             /* by name in the current directory */
    case 3:
        op->name = nfs_take_string(in);
        return;
    case 1:
        take_skip(in, 4);
        return;
    case 2:
        take_skip(in, STATE_ID_LEN);
        op->name = nfs_take_string(in);
        return;
    case 4:                             /* the current file */
    case 6:
        return;
    case 5:
        take_skip(in, STATE_ID_LEN);
        return;
    default:
        in->failed = true;
        return;
    }
}

/* OPEN. Only a create (1) has `how`. */
static void take_open(struct bytes *in, struct nfs_op *op)
{
    take_skip(in, 20);                  /* number, access, deny, client */
    skip_string(in);                    /* owner */
    if (take_be32(in) == 1)
        skip_create_how(in);
    take_claim(in, op);
}

/* CREATE makes anything but plain files. */
static void take_create(struct bytes *in, struct nfs_op *op)
{
    uint32_t type = take_be32(in);

    if (type == 5)                      /* a symbolic link: where to */
        skip_string(in);
    else if (type == 3 || type == 4)    /* devices: which */
        take_skip(in, 8);
    op->name = nfs_take_string(in);
    skip_attributes(in);
}

/* FILE_SYNC marks the last extent, as in version 3. */
static void take_write(struct bytes *in, struct nfs_op *op)
{
    struct nfs_extent *p = &op->extent;

    take_skip(in, STATE_ID_LEN);
    p->offset = take_be64(in);
    p->last = take_be32(in) == NFS_FILE_SYNC;
    p->data = nfs_take_string(in);
    p->len = p->data.len;
    op->has_extent = true;
}

static void take_read_call(struct bytes *in, struct nfs_op *op)
{
    take_skip(in, STATE_ID_LEN);
    op->extent.offset = take_be64(in);
    take_skip(in, 4);                   /* count */
    op->has_extent = true;
}

static void skip_set_client(struct bytes *in)
{
    take_skip(in, 8);                   /* verifier */
    skip_string(in);
    take_skip(in, 4);                   /* where to call back */
    skip_string(in);
    skip_string(in);
    take_skip(in, 4);
}

/* At most one in practice; a hostile count ends with the data. */
static void skip_implementation(struct bytes *in)
{
    for (uint32_t n = take_be32(in); n > 0 && !in->failed; n--) {
        skip_string(in);
        skip_string(in);
        take_skip(in, 12);              /* build time */
    }
}

static void skip_exchange_id(struct bytes *in)
{
    take_skip(in, 8);                   /* verifier */
    skip_string(in);
    take_skip(in, 4);                   /* flags */
    if (take_be32(in) != 0)             /* state protection: none, as nearly always */
        in->failed = true;
    skip_implementation(in);
}

/* RDMA: an array of at most one element. */
static void skip_channel(struct bytes *in)
{
    take_skip(in, CHANNEL_LEN - 4);
    take_skip(in, (size_t)MIN(take_be32(in), 1u) * 4);
}

/* Security parameters of callbacks follow, in many forms: the rest of the call is not parsed. */
static void skip_create_session(struct bytes *in)
{
    take_skip(in, 16);                  /* client, number, flags */
    skip_channel(in);
    skip_channel(in);
    (void)take_rest(in);
}

static void skip_layout_return(struct bytes *in)
{
    take_skip(in, 12);                  /* reclaim, type, mode */
    if (take_be32(in) != 1)             /* layout of one file */
        return;
    take_skip(in, 16 + STATE_ID_LEN);
    skip_string(in);
}

/* False: an unknown operation, or too few bytes. Each line skips or takes exactly its operation's
 * arguments. */
static bool take_argument_body(struct bytes *in, struct nfs_op *op)
{
    switch (op->op) {
    case NFS4_GETFH: case NFS4_SAVEFH: case NFS4_PUTROOTFH: break;
    case NFS4_ACCESS: case NFS4_SECINFO_NO_NAME: take_skip(in, 4); break;
    case NFS4_RECLAIM_COMPLETE: (void)nfs_take_bool(in); break;
    case NFS4_RENEW: case NFS4_DESTROY_CLIENTID: take_skip(in, 8); break;
    case NFS4_COMMIT: take_skip(in, 12); break;
    case NFS4_SETCLIENTID_CONFIRM: case NFS4_DELEGRETURN: case NFS4_DESTROY_SESSION:
        take_skip(in, 16);
        break;
    case NFS4_CLOSE: case NFS4_OPEN_CONFIRM: take_skip(in, 4 + STATE_ID_LEN); break;
    case NFS4_SEQUENCE: take_skip(in, SESSION_ID_LEN + 16); break;
    case NFS4_PUTFH: op->handle = nfs_take_string(in); break;
    case NFS4_LOOKUP: case NFS4_REMOVE: op->name = nfs_take_string(in); break;
    case NFS4_RENAME: skip_string(in); skip_string(in); break;
    case NFS4_GETATTR: skip_bitmap(in); break;
    case NFS4_SETATTR: take_skip(in, STATE_ID_LEN); skip_attributes(in); break;
    case NFS4_READDIR: take_skip(in, 24); skip_bitmap(in); break;
    case NFS4_OPEN: take_open(in, op); break;
    case NFS4_CREATE: take_create(in, op); break;
    case NFS4_READ: take_read_call(in, op); break;
    case NFS4_WRITE: take_write(in, op); break;
    case NFS4_SETCLIENTID: skip_set_client(in); break;
    case NFS4_EXCHANGE_ID: skip_exchange_id(in); break;
    case NFS4_CREATE_SESSION: skip_create_session(in); break;
    case NFS4_GETDEVICEINFO: take_skip(in, 24); skip_bitmap(in); break;
    case NFS4_LAYOUTGET: take_skip(in, 36 + STATE_ID_LEN + 4); break;
    case NFS4_LAYOUTRETURN: skip_layout_return(in); break;
    default: return false;
    }
    return !in->failed;
}

/* The arguments of one operation. */
bool nfs4_take_argument(struct bytes *in, struct nfs_op *op)
{
    *op = (struct nfs_op){ .op = take_be32(in) };
    return !in->failed && take_argument_body(in, op);
}

/* --- results -------------------------------------------------------------------------------- */

static void skip_access_entry(struct bytes *in)
{
    take_skip(in, 12);                  /* type, flags, mask */
    skip_string(in);                    /* the entry's principal */
}

/* A delegation that OPEN grants; WANT results (3) are those of RFC 8881. */
static void skip_delegation(struct bytes *in)
{
    uint32_t type = take_be32(in), why;

    switch (type) {
    case 0:
        return;
    case 1:                             /* to read */
        take_skip(in, STATE_ID_LEN + 4);
        skip_access_entry(in);
        return;
    case 2:                             /* to write, up to a limit */
        take_skip(in, STATE_ID_LEN + 4 + 12);
        skip_access_entry(in);
        return;
    case 3:                             /* none, for a reason */
        why = take_be32(in);
        take_skip(in, why == 1 || why == 2 ? 4 : 0);
        return;
    default:
        in->failed = true;
        return;
    }
}

/* State id, change info, flags, attributes, delegation. */
static void skip_open_result(struct bytes *in)
{
    take_skip(in, STATE_ID_LEN + CHANGE_INFO_LEN + 4);
    skip_bitmap(in);
    skip_delegation(in);
}

static void take_read_result(struct bytes *in, struct nfs_op *op)
{
    op->extent.last = nfs_take_bool(in);
    op->extent.data = nfs_take_string(in);
    op->extent.len = op->extent.data.len;
    op->has_extent = true;
}

static void skip_listing(struct bytes *in)
{
    take_skip(in, 8);                   /* verifier */
    while (nfs_take_bool(in)) {
        take_skip(in, 8);               /* cookie */
        skip_string(in);
        skip_attributes(in);
    }
    (void)nfs_take_bool(in);            /* at its end */
}

/* Only SP4_NONE is followed, as in the call. */
static void skip_exchange_id_result(struct bytes *in)
{
    take_skip(in, 16);                  /* client, number, flags */
    if (take_be32(in) != 0)
        in->failed = true;
    take_skip(in, 8);                   /* server: minor, major */
    skip_string(in);
    skip_string(in);                    /* scope */
    skip_implementation(in);
}

static void skip_security(struct bytes *in)
{
    for (uint32_t n = take_be32(in); n > 0 && !in->failed; n--) {
        if (take_be32(in) != RPC_AUTH_GSS)
            continue;
        skip_string(in);                /* mechanism */
        take_skip(in, 8);               /* quality, service */
    }
}

static void skip_layouts(struct bytes *in)
{
    take_skip(in, 4 + STATE_ID_LEN);
    for (uint32_t n = take_be32(in); n > 0 && !in->failed; n--) {
        take_skip(in, 24);              /* offset, length, mode, type */
        skip_string(in);
    }
}

/* The results of a successful operation; failed ones have only a status. */
static void take_result_body(struct bytes *in, struct nfs_op *op)
{
    switch (op->op) {
    case NFS4_ACCESS: take_skip(in, 8); break;
    case NFS4_COMMIT: take_skip(in, 8); break;
    case NFS4_WRITE: take_skip(in, 16); break;
    case NFS4_CLOSE: case NFS4_OPEN_CONFIRM: take_skip(in, STATE_ID_LEN); break;
    case NFS4_SETCLIENTID: take_skip(in, 16); break;
    case NFS4_SEQUENCE: take_skip(in, SESSION_ID_LEN + 20); break;
    case NFS4_REMOVE: take_skip(in, CHANGE_INFO_LEN); break;
    case NFS4_RENAME: take_skip(in, 2 * CHANGE_INFO_LEN); break;
    case NFS4_CREATE: take_skip(in, CHANGE_INFO_LEN); skip_bitmap(in); break;
    case NFS4_GETFH: op->handle = nfs_take_string(in); break;
    case NFS4_GETATTR: skip_attributes(in); break;
    case NFS4_READ: take_read_result(in, op); break;
    case NFS4_READDIR: skip_listing(in); break;
    case NFS4_OPEN: skip_open_result(in); break;
    case NFS4_EXCHANGE_ID: skip_exchange_id_result(in); break;
    case NFS4_CREATE_SESSION:
        take_skip(in, SESSION_ID_LEN + 8);
        skip_channel(in);
        skip_channel(in);
        break;
    case NFS4_SECINFO_NO_NAME: skip_security(in); break;
    case NFS4_LAYOUTGET: skip_layouts(in); break;
    case NFS4_LAYOUTRETURN: take_skip(in, nfs_take_bool(in) ? STATE_ID_LEN : 0); break;
    case NFS4_GETDEVICEINFO: take_skip(in, 4); skip_string(in); skip_bitmap(in); break;
    default: break;                     /* nothing but the status */
    }
}

/* An unknown operation's length is unknown. */
static bool is_known(uint32_t op)
{
#define KNOWN(name, number, read) case number: return (read);
#define KNOWN_41(name, number) case number: return true;
    switch (op) {
    NFS4_OP_LIST(KNOWN)
    NFS41_OP_LIST(KNOWN_41)
    default: return false;
    }
#undef KNOWN
#undef KNOWN_41
}

/* The result of one operation. */
bool nfs4_take_result(struct bytes *in, struct nfs_op *op)
{
    *op = (struct nfs_op){ .op = take_be32(in) };
    op->status = take_be32(in);
    if (in->failed || !is_known(op->op))
        return false;
    if (op->op == NFS4_SETATTR)           /* has its result also when it failed */
        skip_bitmap(in);
    else if (op->status == 0)
        take_result_body(in, op);
    return !in->failed;
}
