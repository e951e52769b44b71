/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/lines.h - characters of names, and functions of libhtp that lines.c replaces if
 * libhtp's archive is linked. The installed headers of libhtp do not declare them. */
#ifndef APP_HTTP1_LINES_H
#define APP_HTTP1_LINES_H

#include "app/proto/http1/state.h"

/* 1 for characters of a token: RFC 9110 section 5.6.2, which has the separators of RFC 2616. */
extern const uint8_t http_token_char[256];

int htp_is_token(int c);
htp_status_t htp_parse_request_header_generic(htp_connp_t *connp, htp_header_t *h,
                                              unsigned char *data, size_t len);
htp_status_t htp_parse_response_header_generic(htp_connp_t *connp, htp_header_t *h,
                                               unsigned char *data, size_t len);

#endif
