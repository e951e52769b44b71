/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/rpc.h - remote procedure calls, RFC 5531: the messages without their record
 * marks. */
#ifndef APP_NFS_RPC_H
#define APP_NFS_RPC_H

#include "base/text/bytes.h"

#define RPC_MARK_LEN 4          /* before each record of a stream */
#define RPC_HEADER_LEN 8        /* xid and type of message */
#define RPC_RECORD_MIN 24
#define RPC_CREDENTIALS_AT 24   /* in a call */

enum { RPC_CALL = 0, RPC_REPLY = 1 };
enum { RPC_AUTH_NULL = 0, RPC_AUTH_UNIX = 1, RPC_AUTH_GSS = 6 };

struct rpc_call {
    uint32_t xid, rpc_version, program, version, procedure;
    uint32_t flavor, credentials_len;
    uint32_t uid, gid;              /* RPC_AUTH_UNIX */
    struct slice machine;
    uint32_t gss_procedure, gss_service;        /* RPC_AUTH_GSS */
    struct slice arguments;
};

struct rpc_reply {
    uint32_t xid, state, accepted;
    struct slice results;
};

/* Parses from the xid to the end of the input. False: invalid, or, with in->failed, the part before
 * the arguments or results is incomplete. */
bool rpc_take_call(struct bytes *in, struct rpc_call *r);
bool rpc_take_reply(struct bytes *in, struct rpc_reply *r);

#endif
