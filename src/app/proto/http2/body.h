/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/body.h - the content of a stream: decoders, files, DNS messages. */
#ifndef APP_HTTP2_BODY_H
#define APP_HTTP2_BODY_H

#include "app/core/decoder_memory.h"
#include "app/proto/http2/tx.h"

/* body.c: content of a stream. False: too much came out of too little, the parser stops. */
bool h2_body_data(struct h2_tx *t, enum direction d, struct slice data);
/* END_STREAM. */
void h2_body_end(struct h2_tx *t, enum direction d);
void h2_body_free(struct h2_tx *t, enum direction d);

/* decode.c: gzip, deflate, br; NULL: none of them. */
struct h2_decoder *h2_decoder_new(struct h2_tx *t, struct slice coding);
void h2_decoder_event(struct h2_tx *t, enum decoder_refusal why);
void h2_decoder_free(struct h2_decoder *dec);
enum h2_decoded { H2_DECODED, H2_DECODED_ALL, H2_DECODE_FAILED, H2_DECODE_REFUSED };
/* The next part of output for what is left of *in. H2_DECODED: call again. */
enum h2_decoded h2_decode(struct h2_decoder *dec, struct slice *in, struct slice *out);
/* After H2_DECODE_REFUSED: what had been taken before this call and gave nothing. */
struct slice h2_decoder_kept(const struct h2_decoder *dec);
enum decoder_refusal h2_decoder_refusal(const struct h2_decoder *dec);
uint64_t h2_decoder_in(const struct h2_decoder *dec);
uint64_t h2_decoder_out(const struct h2_decoder *dec);
struct h2_decoder *h2_decoder_next(const struct h2_decoder *dec);
void h2_decoder_pass(struct h2_decoder *dec);       /* from now on bytes go through as they are */
/* Nothing more comes out of it. */
void h2_decoder_stop(struct h2_decoder *dec);
/* It, or one behind it, has begun to give more than its input may. */
bool h2_decoder_is_bomb_at_end(const struct h2_decoder *dec);

/* doh2.c: DNS over HTTP/2 (RFC 8484): one whole message of one side. */
void doh2_message(struct h2_tx *t, enum direction d, struct slice message);
/* A request that brings it in its path. */
void doh2_path(struct h2_tx *t, struct slice path);

#endif
