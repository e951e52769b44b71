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
};

struct diagnostics {
    ARRAY_OF(struct diagnostic) list;
};

/* fixit may be NULL. A repeated text is stored once. */
void diagnostics_add(struct diagnostics *diagnostics, struct where at, const char *fixit,
                     const char *fmt, ...) PRINTF(4, 5);
void diagnostics_fini(struct diagnostics *diagnostics);

#endif
