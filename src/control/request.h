/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/request.h - parses a message of a client: JSON, which may arrive in parts. */
#ifndef CONTROL_REQUEST_H
#define CONTROL_REQUEST_H

#include "base/memory/buf.h"
#include "base/text/text.h"

struct request;

#define REQUEST_MAX (64u << 10)     /* bytes of a message */

/* Takes the first message out of the received bytes. *out NULL: it is incomplete. -1: it is invalid
 * or too long, so nothing after it can be parsed. */
int request_take(struct buf *in, struct request **out);
void request_free(struct request *r);       /* NULL is allowed */

/* Returns a text member of the message; NULL: there is none. */
const char *request_member(const struct request *r, const char *name);
/* Arguments; the texts are valid as long as the request. */
bool request_has_arguments(const struct request *r);  /* the arguments are an object, as required */
bool request_has(const struct request *r, const char *name);
const char *request_string(const struct request *r, const char *name);  /* NULL: no such text */
bool request_int(const struct request *r, const char *name, int64_t *out);
bool request_is_true(const struct request *r, const char *name);

bool request_is_json(struct text in);       /* the text is one complete JSON value */

#endif
