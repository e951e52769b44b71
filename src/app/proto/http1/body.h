/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/body.h - the body of a message, from libhtp's chunks through decoders to the
 * window for rules and to files. */
#ifndef APP_HTTP1_BODY_H
#define APP_HTTP1_BODY_H

#include "app/proto/http1/tx.h"

/* body.c: receives a part of a body as libhtp passes it on. data NULL: this many bytes are
 * missing. */
void http_body_data(struct http_tx *htx, enum direction d, const uint8_t *data, size_t len);
/* Returns the message's content, which it creates on the first call. */
struct http_content *http_content_make(struct http_tx *htx, enum direction d);
void http_body_end(struct http_tx *htx, enum direction d);
void http_body_free(struct http_tx *htx, enum direction d);
/* Returns the part of the body that rules have to inspect now. */
bool http_body_inspect(struct http_tx *htx, enum direction d, struct slice *out,
                       uint64_t *position);
/* Passes decoded bytes, cut at the body limit, to files and to the window for rules. */
void http_body_store(struct http_tx *htx, enum direction d, const uint8_t *data, size_t len);
/* The retained part of a body. */
struct slice http_body_retained(struct http_tx *htx, enum direction d);
/* The packet has been inspected: frees what decompressed content need not keep. */
void http_body_rest(struct http_tx *htx, enum direction d);
/* The body has reached its limit: no rule and no output sees what follows. */
bool http_body_is_full(const struct http_tx *htx, enum direction d);

/* decoder.c: the header is complete, so its codings are known. http_decoder_new() returns NULL
 * if there is none. Output goes to http_body_store(). */
void http_codings_read(struct http_tx *htx, enum direction d);
struct http_decoder *http_decoder_new(struct http_tx *htx, enum direction d);
void http_decoder_free(struct http_decoder *dec);
void http_decoder_data(struct http_decoder *dec, const uint8_t *data, size_t len);
void http_decoder_rest(struct http_decoder *dec);       /* after each packet with data */
void http_decoder_end(struct http_decoder *dec);        /* at the end of the body, or at a gap */
bool http_decoder_is_over(const struct http_decoder *dec);      /* ignores what comes */

/* coding.c, decoder.c: frees the decoders that a thread keeps for reuse. */
void http_inflates_free(struct http_thread *ht);
void http_decoders_free(struct http_thread *ht);

/* chunks.c: starts after the header at position `at`, then receives the bytes that libhtp has
 * consumed. */
void http_chunks_begin(struct http_tx *htx, enum direction d, size_t at);
/* True if bytes of a chunk come next. */
bool http_chunks_are_inside(const struct http_tx *htx, enum direction d);
void http_chunks_look(struct http_tx *htx, enum direction d, struct slice input, size_t end);
/* Returns the length of the chunk of a request that was just read and that libhtp rejects as too
 * long. -1: libhtp had another error. The next bytes are then those of the chunk. */
int64_t http_chunks_wide(struct http_tx *htx);

/* multipart.c: NULL when the content type is not multipart/form-data with a boundary. */
struct http_multipart *http_multipart_new(struct slice content_type);
void http_multipart_free(struct http_multipart *m);
void http_multipart_data(struct http_multipart *m, struct http_tx *htx, const uint8_t *data,
                         size_t len);

/* swf.c: replaces the start of a compressed Flash file by its decompressed form for rules. */
void http_swf_derive(struct http_tx *htx, struct app_file *file, struct slice *data);

/* parameter.c: reads the file name in "attachment; filename=x.exe" as browsers do. */
bool http_disposition_name(struct slice header, struct slice *out);
/* Opens message[d].file with the section's limits. */
void http_file_open(struct http_tx *htx, enum direction d, struct slice name);

#endif
