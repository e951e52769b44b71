/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/request.h - one message of a client: JSON as it comes, in any pieces. */
#ifndef CONTROL_REQUEST_H
#define CONTROL_REQUEST_H

#include "base/memory/buf.h"
#include "base/text/text.h"

struct request;

#define REQUEST_MAX (64u << 10)     /* bytes of one */

/* Takes the first message out of what has come. *out NULL: it is not all there yet. -1: it is
 * none, or too long; nothing that follows can be understood. */
int request_take(struct buf *in, struct request **out);
void request_free(struct request *r);       /* NULL is fine */

/* Members of the message itself; NULL: there is no such text. */
const char *request_member(const struct request *r, const char *name);
/* Arguments. Lent as long as the request. */
bool request_has_arguments(const struct request *r);    /* an object, as it must be */
bool request_has(const struct request *r, const char *name);
const char *request_string(const struct request *r, const char *name);  /* NULL: is none */
bool request_int(const struct request *r, const char *name, int64_t *out);
bool request_is_true(const struct request *r, const char *name);

bool request_is_json(struct text in);       /* a whole value */

#endif
