/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/sctp.h - the chunks of an SCTP packet, RFC 9260 section 3.2. */
#ifndef PACKET_SCTP_H
#define PACKET_SCTP_H

#include "base/text/bytes.h"

#define SCTP_HEADER       12u   /* ports, verification tag, checksum */
#define SCTP_CHUNK_HEADER  4u
#define SCTP_DATA_HEADER  16u   /* of a DATA chunk, with its numbers */
#define SCTP_DATA          0    /* types */
#define SCTP_INIT          1
#define SCTP_INIT_ACK      2

struct sctp_chunk {
    uint8_t type;
    struct slice all;           /* with its header, without padding */
};

/* Takes the next chunk. False: there is none; or it is truncated, and in->failed is set. The
 * padding at the end may be missing. */
static inline bool sctp_take_chunk(struct bytes *in, struct sctp_chunk *out)
{
    struct bytes at = *in;
    uint32_t len;

    if (bytes_left(in) == 0)
        return false;
    out->type = take_u8(&at);
    (void)take_u8(&at);
    len = take_be16(&at);
    if (at.failed || len < SCTP_CHUNK_HEADER) {
        in->failed = true;
        return false;
    }
    out->all = take_slice(in, len);
    if (in->failed)
        return false;
    (void)take_slice(in, MIN((size_t)(-len & 3u), bytes_left(in)));
    return true;
}

#endif
