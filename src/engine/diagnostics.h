/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/diagnostics.h - warnings about a plan: the location, the reason, and the YAML line that
 * fixes it. */
#ifndef ENGINE_DIAGNOSTICS_H
#define ENGINE_DIAGNOSTICS_H

#include "base/array.h"
#include "base/err.h"

struct diagnostic {
    struct where at;            /* file NULL: not about one line */
    char *text;
    char *fixit;                 /* a line of YAML; NULL: none */
    bool overrides;              /* the plan is other than a setting asks for */
};

struct diagnostics {
    ARRAY_OF(struct diagnostic) list;
};

/* fixit may be NULL. A repeated text is stored once. */
void diagnostics_add(struct diagnostics *diagnostics, struct where at, const char *fixit,
                     const char *fmt, ...) PRINTF(4, 5);
/* The same, for a setting that the plan does not follow: a warning at the start. */
void diagnostics_add_override(struct diagnostics *diagnostics, struct where at, const char *fixit,
                              const char *fmt, ...) PRINTF(4, 5);
/* Logs them: overrides as warnings, the others with -v. */
void diagnostics_log(const struct diagnostics *diagnostics);
void diagnostics_fini(struct diagnostics *diagnostics);

#endif
