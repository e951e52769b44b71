/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/diagnostics.c - warnings about a plan. */
#include "engine/diagnostics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same text is kept once: several threads may lead to one warning. Copies text and fixit. */
void diagnostics_add(struct diagnostics *diagnostics, struct where at, const char *fixit,
                     const char *fmt, ...)
{
    char text[600];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    for (size_t i = 0; i < diagnostics->list.count; i++)
        if (strcmp(diagnostics->list.at[i].text, text) == 0)
            return;
    ARRAY_PUSH(&diagnostics->list, (struct diagnostic){
        .at = at, .text = xstrdup(text), .fixit = fixit != NULL ? xstrdup(fixit) : NULL });
}

void diagnostics_fini(struct diagnostics *diagnostics)
{
    for (size_t i = 0; i < diagnostics->list.count; i++) {
        free(diagnostics->list.at[i].text);
        free(diagnostics->list.at[i].fixit);
    }
    ARRAY_FREE(&diagnostics->list);
}
