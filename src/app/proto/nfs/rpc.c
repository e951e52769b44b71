/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/rpc.c - RPC calls and replies (RFC 5531 section 9), with the caller's
 * credentials. */
#include "app/proto/nfs/rpc.h"

#define MACHINE_MAX 256         /* bytes; Linux allows 64 */
#define OPAQUE_MAX 4096         /* bytes; Linux allows 400 */

/* A length and its bytes. False: too few, or more than any RPC implementation accepts. */
static bool take_opaque(struct bytes *in, struct bytes *out, uint32_t *len)
{
    *len = take_be32(in);
    if (in->failed || *len >= OPAQUE_MAX)
        return false;
    *out = take_sub(in, *len);
    return !in->failed;
}

/* AUTH_SYS, RFC 5531 appendix A. */
static bool take_unix(struct bytes in, struct rpc_call *r)
{
    uint32_t len;

    take_skip(&in, 4);                  /* stamp */
    len = take_be32(&in);
    if (len >= MACHINE_MAX)
        return false;
    r->machine = take_slice(&in, len);
    r->uid = take_be32(&in);            /* includes the padding, if any: see README.md */
    r->gid = take_be32(&in);
    return !in.failed;
}

/* RPCSEC_GSS, RFC 2203 section 5. */
static bool take_gss(struct bytes in, struct rpc_call *r)
{
    take_skip(&in, 4);                  /* version */
    r->gss_procedure = take_be32(&in);
    take_skip(&in, 4);                  /* sequence number */
    r->gss_service = take_be32(&in);
    take_skip(&in, take_be32(&in));
    return !in.failed;
}

/* Credentials of other flavors are skipped. */
static bool take_credentials(struct bytes *in, struct rpc_call *r)
{
    struct bytes body = { 0 };

    r->flavor = take_be32(in);
    if (!take_opaque(in, &body, &r->credentials_len))
        return false;
    switch (r->flavor) {
    case RPC_AUTH_UNIX: return take_unix(body, r);
    case RPC_AUTH_GSS: return take_gss(body, r);
    default: return true;
    }
}

/* RFC 5531 section 9. False: no call. */
bool rpc_take_call(struct bytes *in, struct rpc_call *r)
{
    struct bytes verifier;
    uint32_t type, len;

    *r = (struct rpc_call){ .xid = take_be32(in) };
    type = take_be32(in);
    r->rpc_version = take_be32(in);
    r->program = take_be32(in);
    r->version = take_be32(in);
    r->procedure = take_be32(in);
    if (in->failed || type > RPC_REPLY || !take_credentials(in, r))
        return false;
    take_skip(in, 4);                   /* flavor of the verifier */
    if (!take_opaque(in, &verifier, &len))
        return false;
    r->arguments = take_rest(in);
    return true;
}

/* A denied reply (state 1) has no verifier; it is read as if it had, as Suricata does. */
bool rpc_take_reply(struct bytes *in, struct rpc_reply *r)
{
    struct bytes verifier;
    uint32_t type, len;

    *r = (struct rpc_reply){ .xid = take_be32(in) };
    type = take_be32(in);
    r->state = take_be32(in);
    if (in->failed || type > RPC_REPLY || r->state > 1)
        return false;
    take_skip(in, 4);
    if (!take_opaque(in, &verifier, &len))
        return false;
    r->accepted = take_be32(in);
    if (in->failed)
        return false;
    r->results = take_rest(in);
    return true;
}
