/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/body.h - the content of a stream: decoders, files, DNS messages. */
#ifndef APP_HTTP2_BODY_H
#define APP_HTTP2_BODY_H

#include "app/core/decoder_memory.h"
#include "app/proto/http2/tx.h"

/* body.c: processes content of a stream. False: it expands too much, and the parser stops. */
bool h2_body_data(struct h2_tx *t, enum direction d, struct slice data);
/* END_STREAM. */
void h2_body_end(struct h2_tx *t, enum direction d);
void h2_body_free(struct h2_tx *t, enum direction d);

/* decode.c: creates a decoder for gzip, deflate or br; NULL: another coding. */
struct h2_decoder *h2_decoder_new(struct h2_tx *t, struct slice coding);
void h2_decoder_event(struct h2_tx *t, enum decoder_refusal why);
void h2_decoder_free(struct h2_decoder *dec);
/* After data of a stream: where memory is scarce, decoders that wait for more are closed. */
void h2_decoders_rest(struct h2_decoder *dec);
enum h2_decoded { H2_DECODED, H2_DECODED_ALL, H2_DECODE_FAILED, H2_DECODE_REFUSED };
/* Decodes *in into the next part of output. H2_DECODED: call again. */
enum h2_decoded h2_decode(struct h2_decoder *dec, struct slice *in, struct slice *out);
/* After H2_DECODE_REFUSED: the input before this call that has produced no output. */
struct slice h2_decoder_kept(const struct h2_decoder *dec);
enum decoder_refusal h2_decoder_refusal(const struct h2_decoder *dec);
uint64_t h2_decoder_in(const struct h2_decoder *dec);
uint64_t h2_decoder_out(const struct h2_decoder *dec);
struct h2_decoder *h2_decoder_next(const struct h2_decoder *dec);
void h2_decoder_pass(struct h2_decoder *dec);       /* from now on passes bytes through unchanged */
/* Ends its output. */
void h2_decoder_stop(struct h2_decoder *dec);
/* True if this decoder, or a later one in the chain, exceeds the allowed expansion. */
bool h2_decoder_is_bomb_at_end(const struct h2_decoder *dec);

/* doh2.c: DNS over HTTP/2 (RFC 8484): processes a complete message of one direction. */
void doh2_message(struct h2_tx *t, enum direction d, struct slice message);
/* Processes the message in the path of a request. */
void doh2_path(struct h2_tx *t, struct slice path);

#endif
