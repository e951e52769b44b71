/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/err.h - failure at load time is a value: where, and one sentence. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/base.h"

/* A place in a file the user wrote. file: borrowed, lives as long as the configuration or the
 * ruleset; NULL when there is none. line and column count from 1; 0: unknown. */
struct where {
    const char *file;
    unsigned line, column;
};

struct err {
    struct where at;
    char text[400];
};

/* Fills *err and returns -1: callers write `return err_at(...)`. err may be NULL. */
int err_at(struct err *err, struct where at, const char *fmt, ...) PRINTF(3, 4);
int err_set(struct err *err, const char *fmt, ...) PRINTF(2, 3);

/* "file:line:column: text" as far as known, into buf; returns buf. */
const char *err_text(const struct err *err, char *buf, size_t size);

#endif
