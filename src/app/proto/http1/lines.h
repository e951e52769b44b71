/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/lines.h - characters of names; heads that plain_head.c reads; and functions of
 * libhtp that lines.c and host.c replace if libhtp's archive is linked, which its installed headers
 * do not declare. */
#ifndef APP_HTTP1_LINES_H
#define APP_HTTP1_LINES_H

#include "app/proto/http1/state.h"
#include "app/proto/http1/table.h"

/* 1 for characters of a token: RFC 9110 section 5.6.2, which has the separators of RFC 2616. */
extern const uint8_t http_token_char[256];

#define PLAIN_FIELDS_MAX 40

/* The head of a message that is complete and has nothing unusual. Slices borrow from the input,
 * and values are without blanks around them. */
struct plain_head {
    uint32_t line_len;                  /* of the first line, with its end */
    uint32_t fields_len;                /* of the fields, without the empty line */
    struct slice method, target;        /* of a request */
    uint64_t marks;                     /* name_mark() of each name */
    bool odd;                           /* libhtp has to read the lines: not all are in `field` */
    unsigned count;
    struct http_field field[PLAIN_FIELDS_MAX];
};

/* True if the input begins with such a head in direction d. */
bool http_plain_head_find(struct slice in, enum direction d, struct plain_head *head);
/* True for a path that normalisation leaves as it is, whatever libhtp's settings but lower case,
 * and perhaps a query. *path: the length of the path. */
bool http_target_is_plain(struct slice target, uint32_t *path);
/* Sets the line without its end, and what it has but for the target itself: libhtp
 * would take that apart. http_request_line_add_target() adds it. Before libhtp frees the
 * transaction, http_request_line_release() takes the strings out. The target is one that
 * http_target_is_plain() accepts. False: no memory. */
bool http_request_line_set(htp_tx_t *htp, struct slice line, const struct plain_head *head,
                           uint32_t path_len);
void http_request_line_add_target(htp_tx_t *htp);
void http_request_line_release(htp_tx_t *htp);
/* Puts the fields into libhtp's table. False: no memory. */
bool http_plain_head_add(const struct plain_head *head, htp_table_t *headers);
/* For a head that is odd: has libhtp read each line of the fields. */
bool http_plain_head_process(htp_connp_t *connp, struct slice fields, enum direction d);

int htp_is_token(int c);
htp_status_t htp_parse_header_hostport(bstr *hostport, bstr **hostname, bstr **port,
                                       int *port_number, uint64_t *flags);
htp_status_t htp_parse_request_header_generic(htp_connp_t *connp, htp_header_t *h,
                                              unsigned char *data, size_t len);
htp_status_t htp_parse_response_header_generic(htp_connp_t *connp, htp_header_t *h,
                                               unsigned char *data, size_t len);
htp_status_t htp_parse_response_line_generic(htp_connp_t *connp);
int64_t htp_parse_content_length(bstr *b, htp_connp_t *connp);
/* libhtp's own, which it does not declare either. */
int htp_parse_protocol(bstr *protocol);
int htp_parse_status(bstr *status);
htp_status_t htp_process_request_header_generic(htp_connp_t *connp, unsigned char *data,
                                                size_t len);
htp_status_t htp_process_response_header_generic(htp_connp_t *connp, unsigned char *data,
                                                 size_t len);

#endif
