/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/keys.c - the keys of the configuration that plugins read. */
#include <stdlib.h>

#include "base/array.h"
#include "base/text/text.h"
#include "plugins/load.h"
#include "plugins/private.h"

/* Dotted paths, borrowed from the plugins. */
static ARRAY_OF(const char *) paths;

int plugin_add_key(struct ids_engine *engine, const char *path)
{
    if (path == NULL || path[0] == '\0')
        return plugin_refuse(engine, "a key needs a path");
    ARRAY_PUSH(&paths, path);
    return 0;
}

/* A path as an outline, one line for each of its names: two blanks of indent per level. */
const char *const *plugins_settings_keys(struct arena *arena, const char *const *others)
{
    ARRAY_OF(const char *) lines = { 0 };
    const char *const *copy;

    while (*others != NULL)
        ARRAY_PUSH(&lines, *others++);
    for (size_t i = 0; i < paths.count; i++) {
        struct text rest = text_of(paths.at[i]), name;

        for (int indent = 0; text_split(&rest, '.', &name); indent += 2)
            ARRAY_PUSH(&lines, arena_printf(arena, "%*s%.*s", indent, "", TEXT(name)));
    }
    ARRAY_PUSH(&lines, NULL);
    copy = arena_copy(arena, lines.at, lines.count * sizeof(*lines.at));
    ARRAY_FREE(&lines);
    return copy;
}
