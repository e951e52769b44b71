/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/when.h - points in time as rules write them. */
#ifndef APP_TLS_WHEN_H
#define APP_TLS_WHEN_H

#include "base/err.h"
#include "base/text/text.h"

struct when {
    int64_t from, to;           /* seconds since 1970, both included */
};

/* "DATE", "<DATE", ">DATE", "DATE<>DATE"; a DATE is 2015-10[-22[ 23[:59[:59]]]], with a T for the
 * blank if liked, or a number of seconds. */
int when_parse(struct text in, struct when *out, struct err *err);
static inline bool when_has(const struct when *w, int64_t time)
{
    return w->from <= time && time <= w->to;
}

#endif
