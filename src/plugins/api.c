/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/api.c - the table of functions that plugins call. */
#include "plugins/private.h"

#include <stdarg.h>
#include <stdio.h>

/* NULL: of the engine's own check, which has nowhere to put it. */
static int api_fail(struct ids_error *error, const char *fmt, ...)
{
    char text[300];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return err_set(plugin_err(error), "%s", text);
}

static struct ids_error *api_error(struct ids_engine *engine)
{
    return plugin_error(&engine->err);
}

static const struct ids_settings *api_settings(const struct ids_engine *engine)
{
    return plugin_settings(engine->root);
}

static const char *api_string(const struct ids_settings *settings, const char *path,
                              const char *otherwise)
{
    return conf_string(plugin_node(settings), path, otherwise);
}

static uint64_t api_number(const struct ids_settings *settings, const char *path,
                           uint64_t otherwise)
{
    return conf_u64(plugin_node(settings), path, otherwise);
}

static bool api_yes(const struct ids_settings *settings, const char *path, bool otherwise)
{
    return conf_bool(plugin_node(settings), path, otherwise);
}

const struct ids_api plugin_api = {
    .add_file_type = plugin_add_file_type,
    .add_key = plugin_add_key,
    .fail = api_fail,
    .error = api_error,
    .settings = api_settings,
    .string = api_string,
    .number = api_number,
    .yes = api_yes,
};
