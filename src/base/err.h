/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/err.h - errors at load time are values: a location and one sentence. */
#ifndef BASE_ERR_H
#define BASE_ERR_H

#include "base/base.h"

/* A location in a file of the user. `file` is borrowed and lives as long as the configuration or
 * the ruleset; NULL means no file. line and column count from 1; 0 is unknown. */
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

/* Formats "file:line:column: text" into buf, without the parts that are unknown; returns buf. */
const char *err_text(const struct err *err, char *buf, size_t size);

#endif
