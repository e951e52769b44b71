/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/load.h - loads plugins: `plugins:` of the configuration, and --plugin. */
#ifndef PLUGINS_LOAD_H
#define PLUGINS_LOAD_H

#include "conf/conf.h"

struct ids_plugin;

/* Loads those of the command line, then those of the configuration (NULL: none), in
 * their order. Call it once, before keywords, rules and outputs are read. -1: *err names the plugin
 * and where it is listed. */
int plugins_load(const char *const *paths, size_t count, const struct conf_node *root,
                 struct err *err);

/* The plugin that runs code at this moment, and where it is listed; NULL: none. For handlers of
 * signals and exit(): the text is complete before it is there. */
const char *plugins_loading(void);

/* Registers what a plugin adds. `path` and `at` say where it came from. For plugins that are in
 * memory already, such as those of tests. */
int plugin_start(const struct ids_plugin *plugin, const char *path, struct where at,
                 const struct conf_node *root, struct err *err);

/* Returns the keys that plugins declare, after `others`, for conf_check_keys(); valid as long as
 * the arena. */
struct arena;
const char *const *plugins_settings_keys(struct arena *arena, const char *const *others);

/* Passes the name, version and file of each loaded plugin. */
void plugins_each(void (*visit)(const char *name, const char *version, const char *path,
                                void *arg), void *arg);

#endif
