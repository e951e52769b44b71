/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/body.h - the body of a message, from libhtp's chunks through decoders to the
 * window for rules and to files. */
#ifndef APP_HTTP1_BODY_H
#define APP_HTTP1_BODY_H

#include "app/proto/http1/tx.h"

/* body.c: a part of a body as libhtp decoded it; data NULL: so many bytes are missing. */
void http_body_data(struct http_tx *htx, enum direction d, const uint8_t *data, size_t len);
/* The message's, made when there is none. */
struct http_content *http_content_make(struct http_tx *htx, enum direction d);
void http_body_end(struct http_tx *htx, enum direction d);
void http_body_free(struct http_tx *htx, enum direction d);
/* What rules have to look at now. */
bool http_body_inspect(struct http_tx *htx, enum direction d, struct slice *out,
                       uint64_t *position);
/* Bytes decoded, cut to the body limit, to files and window. */
void http_body_store(struct http_tx *htx, enum direction d, const uint8_t *data, size_t len);
/* The body has reached its limit: no rule and no output sees what follows. */
bool http_body_is_full(const struct http_tx *htx, enum direction d);

/* decoder.c: codings are read once the header is complete; NULL: the body comes as it is. Output
 * goes to http_body_store(). */
void http_codings_read(struct http_tx *htx, enum direction d);
struct http_decoder *http_decoder_new(struct http_tx *htx, enum direction d);
void http_decoder_free(struct http_decoder *dec);
void http_decoder_data(struct http_decoder *dec, const uint8_t *data, size_t len);
void http_decoder_end(struct http_decoder *dec);        /* also at a gap: that is all */

/* coding.c, decoder.c: what a thread keeps of them. */
void http_inflates_free(struct http_thread *ht);
void http_decoders_free(struct http_thread *ht);

/* chunks.c: begins behind the header, then gets what libhtp has taken since. */
void http_chunks_begin(struct http_tx *htx, enum direction d, size_t at);
/* True if bytes of a chunk come next. */
bool http_chunks_are_inside(const struct http_tx *htx, enum direction d);
void http_chunks_look(struct http_tx *htx, enum direction d, struct slice input, size_t end);
/* The length of a request's chunk just read that libhtp does not take; -1: another error. What
 * is looked at next are the chunk's bytes. */
int64_t http_chunks_wide(struct http_tx *htx);

/* multipart.c: NULL when the content type is not multipart/form-data with a boundary. */
struct http_multipart *http_multipart_new(struct slice content_type);
void http_multipart_free(struct http_multipart *m);
void http_multipart_data(struct http_multipart *m, struct http_tx *htx, const uint8_t *data,
                         size_t len);

/* swf.c: what rules see in place of a packed Flash file's beginning. */
void http_swf_derive(struct http_tx *htx, struct app_file *file, struct slice *data);

/* parameter.c: "attachment; filename=x.exe" as browsers read it. */
bool http_disposition_name(struct slice header, struct slice *out);
/* Opens message[d].file with the section's limits. */
void http_file_open(struct http_tx *htx, enum direction d, struct slice name);

#endif
