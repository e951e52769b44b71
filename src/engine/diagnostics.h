/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/diagnostics.h - warnings about a plan: where, why, and the line of YAML that mends it. */
#ifndef ENGINE_NOTES_H
#define ENGINE_NOTES_H

#include "base/array.h"
#include "base/err.h"

struct note {
    struct where at;            /* file NULL: not about one line */
    char *text;
    char *mend;                 /* a line of YAML; NULL: none */
};

struct notes {
    ARRAY_OF(struct note) list;
};

/* mend may be NULL. The same text twice is kept once. */
void notes_add(struct notes *notes, struct where at, const char *mend, const char *fmt, ...)
    PRINTF(4, 5);
void notes_fini(struct notes *notes);

#endif
