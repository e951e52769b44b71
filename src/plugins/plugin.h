/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ids/plugin.h - what a plugin of ids uses: a shared object that adds to the engine at its start.
 *
 * A plugin exports one symbol, `ids_plugin`, by IDS_PLUGIN(). Its load() registers what it adds
 * with the add_... functions, before rules and outputs are read. The engine's own structs are
 * opaque: a plugin reads them by the functions of struct ids_api. What it registers must stay
 * valid; the engine never unloads a plugin.
 *
 * IDS_PLUGIN_ABI grows with each change that an older plugin would notice. The engine refuses a
 * plugin of another number. doc/plugins.md is the guide. */
#ifndef IDS_PLUGIN_H
#define IDS_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define IDS_PLUGIN_ABI 1

struct ids_engine;              /* the engine, while plugins load */
struct ids_error;               /* an error at load time, see ids_api.fail */
struct ids_settings;            /* a section of the configuration; NULL has no values */

/* --- EVE file types: destinations of records ------------------------------------------------ */

struct ids_file_type {
    const char *name;           /* `filetype:` of an output */
    /* settings: of the output. path: its `filename`, below the log directory. NULL after fail(). */
    void *(*open)(const struct ids_settings *settings, const char *path, struct ids_error *error);
    /* Entire records, each with a line feed at its end. One call at a time, from any thread. In a
     * live capture the engine has a queue before it. Returns how many records are lost. */
    uint64_t (*write)(void *self, const void *records, size_t len);
    void (*rotate)(void *self);         /* logs are rotated; NULL: nothing to do */
    void (*close)(void *self);
};

/* --- the engine's functions ------------------------------------------------------------------ */

struct ids_api {
    /* In load(): 0, or -1 when the engine refuses it, which ends the start with the reason. */
    int (*add_file_type)(struct ids_engine *engine, const struct ids_file_type *type);

    /* A key that the plugin reads, such as "outputs.eve-log.mine.depth"; others are reported as
     * unknown. "*" as the last name: any key. */
    int (*add_key)(struct ids_engine *engine, const char *path);

    /* Sets the reason why load(), open() or parse() fails. Returns -1. */
    int (*fail)(struct ids_error *error, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
    struct ids_error *(*error)(struct ids_engine *engine);      /* of load() */

    /* The whole configuration, in load(); and values by dotted paths. */
    const struct ids_settings *(*settings)(const struct ids_engine *engine);
    const char *(*string)(const struct ids_settings *settings, const char *path,
                          const char *otherwise);
    uint64_t (*number)(const struct ids_settings *settings, const char *path, uint64_t otherwise);
    bool (*yes)(const struct ids_settings *settings, const char *path, bool otherwise);
};

/* --- the plugin -------------------------------------------------------------------------- */

struct ids_plugin {
    uint32_t abi;               /* IDS_PLUGIN_ABI; first in every version */
    const char *name, *version; /* for messages; no two plugins have one name */
    /* 0; or -1 after fail(error(engine), ...), which ends the start. api stays valid. */
    int (*load)(struct ids_engine *engine, const struct ids_api *api);
};

#define IDS_PLUGIN(name_, version_, load_)                                    \
    extern const struct ids_plugin ids_plugin;                                \
    __attribute__((visibility("default"))) const struct ids_plugin ids_plugin = { \
        .abi = IDS_PLUGIN_ABI, .name = (name_), .version = (version_), .load = (load_) }

#endif
