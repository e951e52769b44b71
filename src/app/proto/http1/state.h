/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/state.h - a flow with its parser of libhtp, and what its thread keeps. The parser
 * may be freed while nothing is under way, see suspend.c. */
#ifndef APP_HTTP1_STATE_H
#define APP_HTTP1_STATE_H

#include "app/parser.h"
#include "app/proto/http1/events.h"
#include "app/proto/http1/settings.h"
#include "base/memory/buf.h"

#include <htp/htp.h>

struct http_decoder;
struct http_inflate;
struct http_tx;

#define HTTP_FRAME_LIST(E)             \
    E(HTTP_FRAME_STREAM, "stream")     \
    E(HTTP_FRAME_REQUEST, "request")   \
    E(HTTP_FRAME_RESPONSE, "response")
enum http_frame { HTTP_FRAME_LIST(APP_ENUM_ID) };

struct http_state {
    struct app_flow *af;
    const struct http_config *config;
    struct http_thread *thread;         /* the flow's is another's once the protocol changes */
    htp_connp_t *connp;
    uint64_t offset;                    /* of the first of the bytes at work */
    struct slice input;                 /* what libhtp was given, during the call */
    uint64_t packed[2], unpacked[2];    /* bytes of coded bodies so far, by direction */
    uint32_t messages;                  /* of libhtp, so far */
    uint32_t responses;                 /* complete ones */
    uint32_t frame[2];                  /* of the message under way; 0: none */
    uint8_t direction;                  /* of the bytes at work */
    bool closed[2];
    bool requests_over;                 /* HTTP/0.9: a connection has one request */
    bool tunnel;                        /* libhtp lets everything pass */
    bool change;                        /* of protocol, asked for by what was just parsed */
    bool had_gap;                       /* libhtp remembers */
    bool refused;                       /* a request: too many are open, nothing more is parsed */
    bool replaying;                     /* libhtp is given `retained` once more: hooks keep still */
    bool is_lost;                       /* the parser: there was no memory to make it again */
    bool has_messages;                  /* libhtp holds some */
    bool closing;                       /* libhtp is told that nothing more comes */
    bool odd_fields;                    /* in the request at work */
    uint16_t pending_events;  /* what libhtp said of the header at work; see hooks.c */
    struct buf *block;                  /* its lines, when they came in pieces, or NULL */
    bool has_derived_buffers;                     /* a transaction has message[].derived */
    /* Ours is gone, libhtp still works on them: destroyed as soon as it has moved on. */
    htp_tx_t *orphan[2];
    uint32_t transactions;              /* that this connp has made */
    uint32_t bombs;                     /* bodies given up as such */
    uint8_t reframes;                   /* see framing.c */
    /* The request at work as the client has sent it so far, each part behind its size in two
     * bytes; NULL: not kept. See suspend.c. */
    uint8_t *retained;
    uint32_t retained_len;
};

#define HTTP_INFLATES_AT_REST 16

/* What a thread keeps to save allocations: buffers that have grown, streams of zlib. */
struct http_thread {
    struct buf spare[32];
    unsigned spares;
    struct http_inflate *inflate;
    unsigned inflates;
    struct http_decoder *decoder;       /* of one layer; NULL: none at rest */
    uint32_t active, active_max;          /* parsers of libhtp; beyond, those that wait sleep */
    struct slice block;                 /* of header lines, just read, of the packet at work */
};
struct buf http_buf_take(struct app_flow *af);
void http_buf_release(struct app_flow *af, struct buf *b);

void http_libhtp_free(void *block);     /* what libhtp has allocated and left to us */

/* suspend.c */
#define HTTP_ACTIVE_MAX 4096

bool http_parser_open(struct http_state *state);
void http_parser_close(struct http_state *state);
/* Before bytes of a request are parsed. */
void http_keep(struct http_state *state, const uint8_t *data, uint32_t len);
void http_keep_no_more(struct http_state *state);
void http_messages_release(struct http_state *state);
bool http_resume(struct http_state *state);      /* false: no memory; the parser is lost */
void http1_rest(struct app_flow *af);
void http1_prefetch(const struct app_flow *af);

/* hooks.c */
void http_hooks_register(htp_cfg_t *cfg);

/* http1.c: no transaction is under way. */
bool http_is_between(const struct http_state *state);

/* block.c */
bool http_block_hold(struct http_state *state, enum http_event event);  /* was it of a header? */
void http_block_add(struct http_state *state, struct slice part);
void http_block_done(struct http_state *state, struct http_tx *htx, bool trailer);
void http_block_clear(struct http_state *state);

/* host.c: what libhtp has made of the host, once the line is complete, and then the fields. */
void http_host_of_line(htp_tx_t *htp);
void http_host_of_fields(htp_tx_t *htp);

/* framing.c: before libhtp goes on to the body. */
void http_framing_mend(htp_tx_t *htp);
/* libhtp has given up a request at a chunk's length: a fresh one stands behind it. */
bool http_reframe(struct http_state *state, uint64_t now_us);

/* lead_in.c: how much to drop of what comes where a response should begin. */
enum http_lead_in { HTTP_LEAD_IN_DONE, HTTP_LEAD_IN_WAIT };
enum http_lead_in http_lead_in(const struct app_input *in, uint32_t *skip);

#endif
