/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/diagnostics.c - warnings about a plan. */
#include "engine/diagnostics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void notes_add(struct notes *notes, struct where at, const char *mend, const char *fmt, ...)
{
    char text[600];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    for (size_t i = 0; i < notes->list.count; i++)
        if (strcmp(notes->list.at[i].text, text) == 0)
            return;
    ARRAY_PUSH(&notes->list, (struct note){
        .at = at, .text = xstrdup(text), .mend = mend != NULL ? xstrdup(mend) : NULL });
}

void notes_fini(struct notes *notes)
{
    for (size_t i = 0; i < notes->list.count; i++) {
        free(notes->list.at[i].text);
        free(notes->list.at[i].mend);
    }
    ARRAY_FREE(&notes->list);
}
