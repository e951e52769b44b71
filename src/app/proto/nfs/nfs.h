/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/nfs.h - NFS 2, 3 and 4 over RPC (RFC 1094, 1813, 7530, 8881; RPC is RFC 5531). Only
 * this directory includes it.
 *
 * A transaction is a call with its reply, or the transfer of a file. Tables of the flow have
 * facts that later calls refer to (names of handles, procedures of replies); each has a limit. */
#ifndef APP_NFS_NFS_H
#define APP_NFS_NFS_H

#include "app/core/transfer.h"
#include "app/lib/lru.h"
#include "app/log.h"
#include "app/proto.h"
#include "app/proto/nfs/procedures.h"
#include "app/proto/nfs/rpc.h"

#define NFS_PROGRAM 100003
#define NFS_EXTENT_MAX (16u << 20)       /* of a file: more is not believed */
#define NFS_NAME_MAX 1024               /* of a name that is remembered */
#define NFS_HANDLE_MAX 256              /* of a handle: 128 is the most that any version has */

#define NFS_EVENT_LIST(E)                                 \
    E(NFS_MALFORMED_DATA, "malformed_data")               \
    E(NFS_NON_EXISTING_VERSION, "non_existing_version")   \
    E(NFS_UNSUPPORTED_VERSION, "unsupported_version")     \
    E(NFS_TOO_MANY_TRANSACTIONS, "too_many_transactions")

enum nfs_event { NFS_EVENT_NONE, NFS_EVENT_LIST(APP_EVENT_ID) };

#define NFS_FRAME_LIST(E)                \
    E(NFS_FRAME_STREAM, "stream")        \
    E(NFS_FRAME_RPC_PDU, "rpc.pdu")      \
    E(NFS_FRAME_RPC_HDR, "rpc.hdr")      \
    E(NFS_FRAME_RPC_DATA, "rpc.data")    \
    E(NFS_FRAME_RPC_CREDS, "rpc.creds")  \
    E(NFS_FRAME_PDU, "nfs.pdu")          \
    E(NFS_FRAME_STATUS, "nfs.status")    \
    E(NFS_FRAME_4_PDU, "nfs4.pdu")       \
    E(NFS_FRAME_4_HDR, "nfs4.hdr")       \
    E(NFS_FRAME_4_OPS, "nfs4.ops")       \
    E(NFS_FRAME_4_STATUS, "nfs4.status")
enum nfs_frame { NFS_FRAME_LIST(APP_ENUM_ID) };

enum { NFS_FILE_SYNC = 2 };             /* how stable a write is to be: nothing more follows */

struct nfs_settings { uint32_t max_calls, max_names; };

/* The transfer of a file: all of its READs or WRITEs. */
struct nfs_file {
    enum direction direction;
    struct app_transfer transfer;
    uint32_t extents;                /* after the first call */
    uint32_t last_xid;
    bool committed;
    uint64_t abandon_us;            /* after a gap: done when nothing has come till then */
};

struct nfs_tx {
    struct app_tx tx;
    uint32_t xid, procedure;
    uint32_t version;               /* 0: created by a reply */
    uint32_t flavor, uid, gid;
    struct slice machine;
    uint32_t rpc_status, status;
    struct slice name, handle, new_name;
    bool is_rename, is_file, first, last;
    struct nfs_file file;
};

static inline struct nfs_tx *nfs_tx_of(const struct app_tx *tx)
{
    return (struct nfs_tx *)(uintptr_t)tx;
}

/* The data of a call that its reply needs. */
struct nfs_call {
    struct app_lru_entry lru;
    uint32_t version, procedure;
    uint64_t offset;
    struct buf name, handle;
    bool integrity;                 /* arguments and results are wrapped, RFC 2203 5.3.3.2 */
};

struct nfs_dir {
    bool searching;                 /* for a record, after a gap */
    bool had_gap;                   /* since the last record */
    uint32_t file_left;             /* of the current record: bytes and padding of a file */
    uint32_t skip;                  /* ... and then bytes to skip */
    uint64_t file_tx;
};

struct nfs_state {
    struct app_flow *flow;
    struct nfs_dir ds[2];
    uint64_t now_us;
    uint32_t version;               /* of the last record that told it first */
    bool any_gap, check_files;
    struct app_lru calls;           /* xid -> struct nfs_call */
    struct app_lru names;           /* handle -> struct nfs_name */
};

/* The position of a record in its direction, for frames. */
struct nfs_position {
    enum direction direction;
    const uint8_t *data;            /* ... is at */
    uint64_t offset;
    bool is_udp;
};
static inline void nfs_frame(struct nfs_state *st, const struct nfs_position *at, unsigned type,
                             const uint8_t *p, int64_t len)
{
    app_frame(st->flow, at->direction, type, at->offset + (uint64_t)(p - at->data), len,
              APP_FRAME_NO_TX);
}

/* --- nfs.c: transactions and memory ---------------------------------------------------------- */
void nfs_event(struct nfs_state *st, enum nfs_event event);     /* on the newest transaction */
struct nfs_tx *nfs_tx_new(struct nfs_state *st, const struct rpc_call *call);  /* NULL: full */
/* Creates the call's transaction, with the table's data of the call. */
void nfs_tx_for_call(struct nfs_state *st, const struct rpc_call *r, const struct nfs_call *call,
                     uint32_t procedure, const struct slice *new_name);
/* Sets authentication flavor, machine name, user and group from the call. */
void nfs_set_caller(struct nfs_tx *t, const struct rpc_call *r);
void nfs_on_reply(struct nfs_state *st, const struct rpc_reply *r, uint32_t status,
                  struct slice handle);
struct slice nfs_keep(struct nfs_tx *t, struct slice s);
void nfs_done(struct nfs_tx *t, enum direction d);
struct nfs_call *nfs_call_new(struct nfs_state *st, const struct rpc_call *r);
struct nfs_call *nfs_call_find(struct nfs_state *st, uint32_t xid);
struct nfs_call *nfs_call_take(struct nfs_state *st, uint32_t xid);
void nfs_call_set_name(struct nfs_call *call, struct slice name);
/* Sets the handle, and the name that is known for it. */
void nfs_call_set_handle(struct nfs_state *st, struct nfs_call *call, struct slice handle);
struct slice nfs_name_find(struct nfs_state *st, struct slice handle);
void nfs_name_put(struct nfs_state *st, struct slice handle, struct slice name);

/* --- file.c ---------------------------------------------------------------------------------- */
struct nfs_extent {
    struct slice handle, name;
    uint64_t offset;
    uint32_t len;
    struct slice data;              /* what has come of it */
    bool last;
    bool streamed;                  /* nfs_file_data() receives the rest */
};
struct nfs_tx *nfs_file_find(struct nfs_state *st, struct slice handle, enum direction d);
/* A file as both sides know it; the name is empty when no lookup was seen. */
struct nfs_file_ref {
    struct slice handle, name;
};
struct nfs_tx *nfs_file_new(struct nfs_state *st, const struct rpc_call *r, uint32_t procedure,
                            struct nfs_file_ref file, enum direction d);
/* An extent begins. */
void nfs_file_write(struct nfs_state *st, const struct rpc_call *r, uint32_t procedure,
                    const struct nfs_extent *p);
void nfs_file_read(struct nfs_state *st, const struct rpc_reply *r, const struct nfs_call *call,
                   uint32_t status, const struct nfs_extent *p);
/* Adds data to the current extent; data NULL: they were lost. Returns how many bytes belonged to
 * the file. */
uint32_t nfs_file_data(struct nfs_state *st, enum direction d, const uint8_t *data, uint32_t len);
/* The client writes no more. */
void nfs_file_commit(struct nfs_state *st, const struct rpc_call *r, struct slice handle);
void nfs_files_after_gap(struct nfs_state *st, enum direction d);
void nfs_files_abandon(struct nfs_state *st);

/* --- record.c: messages, off a stream or a datagram ------------------------------------------ */
enum parse_status nfs_parse(struct app_flow *af, struct app_input *in);
enum app_probe_result nfs_probe_tcp(struct bytes in, enum direction d, const struct flow *flow);
enum app_probe_result nfs_probe_udp(struct bytes in, enum direction d, const struct flow *flow);
#define NFS_PROBE_TCP 36                /* bytes that it reads of a call */
#define NFS_PROBE_TCP_MIN 28            /* the shortest reply, mark and all */

/* --- nfs2.c, nfs3.c, nfs4.c ------------------------------------------------------------------ */
void nfs2_call(struct nfs_state *st, const struct rpc_call *r);
void nfs2_reply(struct nfs_state *st, const struct rpc_reply *r, const struct nfs_call *call);
void nfs3_call(struct nfs_state *st, const struct rpc_call *r);
void nfs3_reply(struct nfs_state *st, const struct rpc_reply *r, struct nfs_call *call);
void nfs4_call(struct nfs_state *st, const struct rpc_call *r);
void nfs4_reply(struct nfs_state *st, const struct rpc_reply *r, struct nfs_call *call);
/* Arguments of WRITE and the result of READ, of which the file's bytes may be missing: false and
 * failed when more than those are; false alone when they are not valid. */
bool nfs3_take_write(struct bytes *in, struct nfs_extent *p);
bool nfs3_take_read(struct bytes *in, uint32_t *status, struct nfs_extent *p);

/* --- xdr.c: what all versions write alike ---------------------------------------------------- */
struct slice nfs_take_string(struct bytes *in);         /* length, bytes, padding to four */
bool nfs_take_bool(struct bytes *in);                   /* fails unless it is 0 or 1 */

/* --- ops.c: the operations of a COMPOUND ------------------------------------------------------ */
struct nfs_op {
    uint32_t op, status;
    struct slice handle, name;
    struct nfs_extent extent;
    bool has_extent;
};
/* The next operation; false: not one that we know, or not valid. */
bool nfs4_take_argument(struct bytes *in, struct nfs_op *op);
bool nfs4_take_result(struct bytes *in, struct nfs_op *op);

/* --- log.c, names.c -------------------------------------------------------------------------- */
extern const struct app_log *const nfs_logs[];
void nfs_alert_metadata(struct json *j, struct app_tx *tx);
const char *nfs_procedure_name(uint32_t version, uint32_t procedure);   /* NULL: not known */
const char *nfs_status_name(uint32_t status);
const char *rpc_status_name(uint32_t status);
const char *rpc_flavor_name(uint32_t flavor);

#endif
