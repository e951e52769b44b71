/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/state.h - a connection: settings, state between frames, its streams by number. */
#ifndef APP_HTTP2_STATE_H
#define APP_HTTP2_STATE_H

#include "app/proto/http2/tx.h"
#include "base/memory/buf.h"

#include <nghttp2/nghttp2.h>

struct h2_settings {
    uint32_t max_streams;               /* transactions of a flow at a time */
    uint32_t max_table_size;            /* of an HPACK table, even if the peers agree on more */
    uint32_t max_reassembly;            /* bytes of a header block over several frames */
    uint32_t max_frames;                /* of one transaction and direction */
    uint64_t bomb_limit;                /* decoder output above which the expansion is checked */
    uint32_t body_expansion;            /* limit of output for each byte of bodies; 0: no limit */
    uint64_t max_header_list;           /* bytes of the headers of one message */
    uint32_t header_expansion;          /* bytes of headers kept for each byte of the connection */
    uint32_t header_log;                /* the same for headers in records */
};

#define H2_HASH_SIZE 64

/* A DATA frame in progress: its content is passed on as it arrives. */
struct h2_data {
    uint32_t stream, content, padding;  /* bytes still to come */
    bool active, padded, over;
};

/* A header block over several frames. */
struct h2_block {
    struct buf data;
    uint32_t stream;                    /* of the frames */
    uint32_t owner;                     /* of the headers: the promised stream, or the same */
    bool active, over;
};

struct h2_state {
    bool magic_done;
    nghttp2_hd_inflater *inflater[2];
    struct h2_block block[2];
    struct h2_data data[2];
    uint32_t skip[2];                   /* bytes of the current frame to skip */
    uint64_t in, out;                   /* of decoders that have ended: for the ratio */
    uint64_t drawn;                     /* of their allowance, see decoder_memory.h */
    uint64_t bytes;                     /* of the connection so far, both directions */
    uint64_t headers_kept, headers_logged;      /* bytes of the long ones */
    struct h2_tx *few[H2_HASH_SIZE];    /* by stream, at first */
    struct h2_tx **many;                /* NULL: they are in `few` */
    uint32_t hash_size, hashed;         /* buckets, streams; size 0: H2_HASH_SIZE */
    uint32_t newest;                    /* stream, by number */
    uint32_t logged_to;                 /* streams up to here are another process's */
};

static inline const struct h2_settings *h2_settings_of(const struct app_flow *af)
{
    return af->settings;
}

/* headers.c */
bool h2_inflaters_open(struct app_flow *af);
void h2_inflaters_close(struct h2_state *st);
/* A fresh, empty table. */
void h2_inflater_renew(struct app_flow *af, enum direction d);

/* handover.c: see app_handover_ops. */
void h2_prelude(const struct app_flow *af, struct buf *out);
void h2_adopt(struct app_flow *af, struct bytes state);

/* upgrade.c: makes the request that asked for the upgrade stream 1. */
void h2_upgrade(struct app_flow *af);

#endif
