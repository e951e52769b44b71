/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/lint.h - ids --lint: what is wrong with rules, and what they cost needlessly, as far
 * as their text tells.
 *
 * Runs once, on one thread, after the rules are compiled; the ruleset is only read. */
#ifndef DETECT_LINT_H
#define DETECT_LINT_H

#include "base/err.h"

struct buf;
struct ruleset;

struct lint_request {
    const char *off;            /* classes that are not wanted: "missing-rev,deprecated"; NULL */
    bool json;
};

/* Appends the findings to out, and their number to *count. The set must have the texts of its
 * rules. -1 with *err: request->off has a name that no class has. */
int lint_write(const struct ruleset *set, const struct lint_request *request, struct buf *out,
               unsigned *count, struct err *err);

#endif
