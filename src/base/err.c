/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/err.c - failure at load time is a value. */
#include "base/err.h"

#include <stdarg.h>
#include <stdio.h>

static void fill(struct err *err, struct where at, const char *fmt, va_list args)
{
    if (err == NULL)
        return;
    /* Through a copy, because callers add context by passing err->text as an argument. */
    char text[sizeof(err->text)];

    vsnprintf(text, sizeof(text), fmt, args);
    snprintf(err->text, sizeof(err->text), "%s", text);
    err->at = at;
}

int err_at(struct err *err, struct where at, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fill(err, at, fmt, args);
    va_end(args);
    return -1;
}

int err_set(struct err *err, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fill(err, (struct where){ 0 }, fmt, args);
    va_end(args);
    return -1;
}

const char *err_text(const struct err *err, char *buf, size_t size)
{
    const struct where *at = &err->at;

    if (at->file == NULL)
        snprintf(buf, size, "%s", err->text);
    else if (at->line == 0)
        snprintf(buf, size, "%s: %s", at->file, err->text);
    else if (at->column == 0)
        snprintf(buf, size, "%s:%u: %s", at->file, at->line, err->text);
    else
        snprintf(buf, size, "%s:%u:%u: %s", at->file, at->line, at->column, err->text);
    return buf;
}
