/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sctp.hdr - the common header of SCTP with all chunks. sctp.chunk_data - the user data of each
 * DATA chunk, of which a packet may have several. */
#include "detect/keywords/buffers/list.h"
#include "packet/sctp.h"

#define PROTO_SCTP 132

/* A packet whose chunks are cut off has none of these, as in Suricata. */
static bool is_sctp(const struct packet *p)
{
    return p->l4 != NULL && p->ip_proto == PROTO_SCTP && !p->sctp.malformed;
}

static bool sctp_hdr_get(const struct packet *p, enum direction side, struct slice *out)
{
    (void)side;
    if (!is_sctp(p))
        return false;
    *out = (struct slice){ p->l4, p->l4_len };
    return true;
}

static bool chunk_data_get(const struct packet *p, unsigned index, struct slice *out)
{
    struct sctp_chunk chunk;
    struct bytes in;

    if (!is_sctp(p) || index >= p->sctp.data)
        return false;
    in = bytes_of(p->l4, p->l4_len);
    (void)take_slice(&in, p->sctp_data[index]);
    if (!sctp_take_chunk(&in, &chunk))
        return false;
    *out = (struct slice){ chunk.all.data + SCTP_DATA_HEADER, chunk.all.len - SCTP_DATA_HEADER };
    return true;
}

const struct packet_buffer buffer_sctp_hdr = {
    .name = "sctp.hdr",
    .doc = "the header of SCTP with all chunks",
    .get = sctp_hdr_get,
    .ip_proto = PROTO_SCTP,
};

const struct packet_buffer buffer_sctp_chunk_data = {
    .name = "sctp.chunk_data",
    .doc = "user data of the DATA chunks of SCTP, one by one",
    .get_nth = chunk_data_get,
    .ip_proto = PROTO_SCTP,
};
