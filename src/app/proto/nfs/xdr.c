/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/xdr.c - values in the external data representation (RFC 4506). */
#include "app/proto/nfs/nfs.h"

/* RFC 4506 sections 4.10 and 4.11: padded to 4 bytes. */
struct slice nfs_take_string(struct bytes *in)
{
    uint32_t len = take_be32(in);
    struct slice s = take_slice(in, len);

    take_skip(in, -len & 3);
    return s;
}

/* RFC 4506 section 4.4: other values than 0 and 1 are invalid. */
bool nfs_take_bool(struct bytes *in)
{
    uint32_t value = take_be32(in);

    if (value > 1)
        in->failed = true;
    return value == 1;
}
