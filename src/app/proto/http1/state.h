/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/state.h - a flow with its libhtp parser, and objects that its thread keeps for
 * reuse. The parser may be freed while no message is in progress, see suspend.c. */
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
    struct http_thread *thread;         /* the flow's own pointer changes when the protocol
                                         * changes */
    htp_connp_t *connp;
    uint64_t offset;                    /* of the first byte of the current input */
    struct slice input;                 /* input of the current call of libhtp */
    uint64_t packed[2], unpacked[2];    /* bytes of coded bodies so far, by direction */
    uint64_t drawn[2];                  /* of their allowance, see decoder_memory.h */
    uint64_t swf_in, swf_out;           /* bytes of Flash files unpacked so far: swf.c */
    struct http_tx *unpacking[2];       /* has the direction's latest coded body; NULL: none */
    uint32_t messages;                  /* of libhtp, so far */
    uint32_t responses;                 /* complete ones */
    uint32_t frame[2];                  /* of the message in progress; 0: none */
    uint8_t direction;                  /* of the current input */
    bool closed[2];
    bool requests_over;                 /* after HTTP/0.9, or in a tunnel */
    bool connects;                      /* the header of a CONNECT is complete */
    bool answer_lost;                   /* to CONNECT: whether a tunnel follows is open */
    bool lost_tunnel;                   /* it does */
    bool tunnel;                        /* libhtp no longer parses */
    bool change;                        /* the bytes just parsed request another protocol */
    bool had_gap;                       /* libhtp has been told of a gap */
    bool refused;                       /* too many requests are open; parsing has stopped */
    bool replaying;                     /* libhtp parses `retained` again; hooks do nothing */
    bool is_lost;                       /* there was no memory to create the parser again */
    bool has_messages;                  /* libhtp holds some */
    bool closing;                       /* libhtp is processing the end of the connection */
    bool odd_fields;                    /* in the request in progress */
    bool status_line_due;               /* a part that ends with the status line comes first */
    bool head_is_plain;                 /* http1.c reads the fields of the head in progress, and
                                         * libhtp reports its last line only: plain_head.c */
    struct slice plain_target;          /* of the request whose line libhtp gets next, if
                                         * normalisation leaves it as it is; else empty */
    uint32_t plain_path;                /* the length of its path */
    bool starts_plain;                  /* http1.c starts a request in place of libhtp, which has
                                         * had nothing of it */
    bool has_derived_buffers;           /* a transaction has message[].derived */
    uint8_t reframes;                   /* see framing.c */
    uint8_t resumes;                    /* what suspensions have cost, see suspend.c */
    bool retains_answer;                /* some of `retained` is the server's */
    uint16_t unmatched_count;
    uint16_t pending_events;  /* events of libhtp about the header in progress; see hooks.c */
    struct http_tx *unmatched;          /* last response of this input without a request */
    struct buf *block;                  /* its lines if they came in several packets, or NULL */
    /* Messages whose http_tx is freed while libhtp still works on them. They are destroyed as
     * soon as libhtp has left them. */
    htp_tx_t *orphan[2];
    htp_tx_t *unlisted;                 /* freed with the parser; libhtp does not know it */
    uint32_t transactions;              /* created by this connp */
    uint32_t bombs;                     /* bodies whose decompression was stopped */
    /* The bytes of both sides since no message was in progress. Each segment follows its size in
     * two bytes. NULL: not retained. See suspend.c. */
    uint8_t *retained;
    uint32_t retained_len;
    uint32_t retained_head;             /* position of the response's header if its body is not
                                         * retained; 0: it is */
    uint32_t retained_tx;               /* lower bits of the id of the first transaction of them */
    /* While the parser is suspended within a body of known length: its bytes so far, and to come.
     * body_left 0: it is not. */
    uint32_t body_seen, body_left;
};

#define HTTP_INFLATES_AT_REST 16

/* Objects that a thread keeps to save allocations: buffers that have grown, streams of zlib. */
struct http_thread {
    struct buf spare[32];
    unsigned spares;
    struct http_inflate *inflate;
    unsigned inflates;
    struct http_decoder *decoder;       /* a decoder with one layer; NULL: none is spare */
    uint8_t *output[6];                 /* of decoders while they run, by layer; NULL: not yet */
    uint32_t active, active_max;          /* number of libhtp parsers; above the maximum, idle
                                           * ones are suspended */
    struct slice block;                 /* header lines just read from the current packet */
};
struct buf http_buf_take(struct app_flow *af);
void http_buf_release(struct app_flow *af, struct buf *b);

/* Memory that libhtp takes over, and that it has handed over. */
void *http_libhtp_calloc(size_t size);
void http_libhtp_free(void *block);

/* suspend.c */
#define HTTP_ACTIVE_MAX 1024

bool http_parser_open(struct http_state *state);
void http_parser_close(struct http_state *state);
/* Before a transaction of libhtp is destroyed: takes out what lies in one block. */
void http_headers_release(htp_tx_t *htp);
/* Called before bytes of a request are parsed. */
void http_keep(struct http_state *state, const uint8_t *data, uint32_t len);
void http_keep_no_more(struct http_state *state);
/* Called after bytes of a response were parsed. */
void http_keep_answer(struct http_state *state, const uint8_t *data, uint32_t len);
/* Passes bytes of a body on without the parser. False: they are for the parser. */
bool http_body_passes(struct http_state *state, const struct app_input *in);
void http_messages_release(struct http_state *state);
/* For a reader. False: no memory; the parser is lost. */
bool http_resume(struct http_state *state);
bool http_resume_for_data(struct http_state *state);
/* For a transaction that is about to end. */
bool http_resume_for(struct http_state *state, struct http_tx *htx);
/* The transaction ends: what is retained of it is of no use if hooks have changed it. */
void http_keep_without(struct http_state *state, const struct http_tx *htx);
void http1_rest(struct app_flow *af);
void http1_prefetch(const struct app_flow *af);

/* hooks.c */
void http_hooks_register(htp_cfg_t *cfg);

/* http1.c: true if no transaction is in progress. */
bool http_is_between(const struct http_state *state);

/* hooks.c: raises the events of responses without a request, once the input is parsed. */
void http_unmatched_told(struct http_state *state);

/* hooks.c: the fields of a head as sent, up to its empty line, which libhtp did not get. */
int http_plain_fields_data(struct http_state *state, const htp_tx_t *htp, struct slice fields,
                           enum direction d);

/* block.c */
bool http_block_hold(struct http_state *state, enum http_event event);  /* true if it is about a
                                                                         * header */
void http_block_add(struct http_state *state, struct slice part);
void http_block_done(struct http_state *state, struct http_tx *htx, bool trailer);
void http_block_clear(struct http_state *state);

/* host.c: what libhtp has made of the host, once the line is complete, and then the fields. */
void http_host_of_line(htp_tx_t *htp);
void http_host_of_fields(htp_tx_t *htp);

/* framing.c: corrects the framing before libhtp continues with the body. */
void http_framing_correct(htp_tx_t *htp);
/* Replaces a request that libhtp gave up because of a chunk's length by a new one, which
 * continues with the chunk. */
bool http_reframe(struct http_state *state, uint64_t now_us);

/* lead_in.c: returns in *skip the number of bytes to drop before the start of a response. */
enum http_lead_in { HTTP_LEAD_IN_DONE, HTTP_LEAD_IN_WAIT };
enum http_lead_in http_lead_in(const struct app_input *in, bool await_status_line,
                               uint32_t *skip);

#endif
