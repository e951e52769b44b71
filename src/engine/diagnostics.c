/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/diagnostics.c - warnings about a plan. */
#include "engine/diagnostics.h"
#include "base/report/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The same text is kept once: several threads may lead to one warning. Copies text and fixit. */
static void add(struct diagnostics *diagnostics, struct diagnostic one, const char *fmt,
                va_list args)
{
    char text[600];

    vsnprintf(text, sizeof(text), fmt, args);
    for (size_t i = 0; i < diagnostics->list.count; i++)
        if (strcmp(diagnostics->list.at[i].text, text) == 0)
            return;
    one.text = xstrdup(text);
    one.fixit = one.fixit != NULL ? xstrdup(one.fixit) : NULL;
    ARRAY_PUSH(&diagnostics->list, one);
}

void diagnostics_add(struct diagnostics *diagnostics, struct where at, const char *fixit,
                     const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add(diagnostics, (struct diagnostic){ .at = at, .fixit = (char *)fixit }, fmt, args);
    va_end(args);
}

void diagnostics_add_override(struct diagnostics *diagnostics, struct where at, const char *fixit,
                              const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    add(diagnostics,
        (struct diagnostic){ .at = at, .fixit = (char *)fixit, .overrides = true }, fmt, args);
    va_end(args);
}

void diagnostics_log(const struct diagnostics *diagnostics)
{
    for (size_t i = 0; i < diagnostics->list.count; i++) {
        const struct diagnostic *d = &diagnostics->list.at[i];

        log_at(d->overrides ? LOG_LEVEL_WARNING : LOG_LEVEL_INFO, "plan", d->at, "%s%s%s", d->text,
               d->fixit != NULL ? "; this would help: " : "", d->fixit != NULL ? d->fixit : "");
    }
}

void diagnostics_fini(struct diagnostics *diagnostics)
{
    for (size_t i = 0; i < diagnostics->list.count; i++) {
        free(diagnostics->list.at[i].text);
        free(diagnostics->list.at[i].fixit);
    }
    ARRAY_FREE(&diagnostics->list);
}
