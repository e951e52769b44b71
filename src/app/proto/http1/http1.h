/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/http1.h - functions for outputs on HTTP/1 transactions, in addition to the
 * declarations. Call them on the flow's inspecting thread. */
#ifndef APP_HTTP1_HTTP1_H
#define APP_HTTP1_HTTP1_H

#include "app/tx.h"

/* Features that make the parser keep data; app_required_features.features of APP_PROTO_http1. */
#define HTTP1_KEEP_REQUEST_BODY  0x1u
#define HTTP1_KEEP_RESPONSE_BODY 0x2u
#define HTTP1_KEEP_RAW_HEADERS   0x4u

/* Writes the client's address from the request's header: the first of its list, or (not `first`)
 * the last. NUL-terminated. */
bool http1_forwarded_for(struct app_tx *tx, const char *header, bool first,
                         char out[IP_TEXT_SIZE]);

/* Reads a Content-Range; -1: a value is absent. False: invalid. */
struct http_range { int64_t start, end, size; };
bool http_range_parse(struct slice value, struct http_range *out);
/* True if the header gives the position of this part and the total, and the part is not all. */
static inline bool http_range_is_part(const struct http_range *r)
{
    return r->end > 0 && r->size > 0 && !(r->start == 0 && r->end == r->size - 1);
}

/* Returns the request, for the protocol that it changes to; false when there is none. Borrowed from
 * the transaction; uri may be empty. */
bool http1_request_target(const struct app_tx *tx, struct slice *method, struct slice *uri);
bool http1_request_header(const struct app_tx *tx, unsigned index, struct slice *name,
                          struct slice *value);

/* The data of a line about a transaction; borrowed from it. data NULL: none. */
struct http1_exchange {
    struct slice hostname, method, uri, protocol, status;
    int status_number;
    uint64_t request_len, response_len;         /* of bodies, as sent */
};
struct http1_exchange http1_exchange_of(const struct app_tx *tx);
/* Any case. data NULL: not there. */
struct slice http1_header(const struct app_tx *tx, enum direction d, const char *name);

#endif
