/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/load.c - opens shared objects, checks their ABI number and lets them register.
 *
 * Any mistake of a plugin ends the start: without it rules would not load, and records would not
 * be written. All of this runs on the main thread before any other. */
#include "config.h"

#include "plugins/load.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/array.h"
#include "base/report/log.h"
#include "plugins/private.h"

/* A loaded plugin stays until the process ends: tables of the engine point into it. */
struct loaded {
    const struct ids_plugin *plugin;
    char *path;
};

static struct {
    ARRAY_OF(struct loaded) list;
    struct arena memory;
    char loading[4500];         /* "file:line:column: plugin PATH" */
    const char *now_loading;    /* loading, or NULL; atomic: handlers of signals read it */
} plugins;

const char *plugins_loading(void)
{
    return __atomic_load_n(&plugins.now_loading, __ATOMIC_ACQUIRE);
}

static void begin_loading(const char *path, struct where at)
{
    struct err err = { .at = at };
    char place[300];

    snprintf(plugins.loading, sizeof(plugins.loading), "%splugin %s",
             at.file != NULL ? err_text(&err, place, sizeof(place)) : "", path);
    __atomic_store_n(&plugins.now_loading, plugins.loading, __ATOMIC_RELEASE);
}

static void end_loading(void)
{
    __atomic_store_n(&plugins.now_loading, NULL, __ATOMIC_RELEASE);
}

void *plugin_alloc(size_t size)
{
    if (plugins.memory.block_size == 0)
        arena_init(&plugins.memory, 4096, 0);
    return arena_zalloc(&plugins.memory, size);
}

int plugin_refuse(struct ids_engine *engine, const char *fmt, ...)
{
    char text[300];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (engine->error.err.text[0] == '\0')
        err_set(&engine->error.err, "%s", text);
    return -1;
}

bool plugin_is_loading(struct ids_engine *engine)
{
    if (__atomic_load_n(&engine->loading, __ATOMIC_ACQUIRE) &&
        pthread_equal(engine->loader, pthread_self()))
        return true;
    if (!__atomic_exchange_n(&engine->warned, 1, __ATOMIC_RELAXED))
        log_warning("plugins", "plugin %s: it adds something outside of load(), which is refused",
                    engine->name);
    return false;
}

static int run_load(struct ids_engine *engine, const struct ids_plugin *plugin)
{
    int status;

    __atomic_store_n(&engine->loading, 1, __ATOMIC_RELEASE);
    status = plugin->load(engine, &plugin_api);
    __atomic_store_n(&engine->loading, 0, __ATOMIC_RELEASE);
    engine->root = NULL;
    return status;
}

static int check_plugin(const struct ids_plugin *plugin, const char *path, struct where at,
                        struct err *err)
{
    if (plugin->abi != IDS_PLUGIN_ABI)
        return err_at(err, at, "plugin %s: it was built for ABI %u of ids/plugin.h, and this is "
                      "ABI %u: build it again with the header of this version", path,
                      (unsigned)plugin->abi, (unsigned)IDS_PLUGIN_ABI);
    if (plugin->name == NULL || plugin->name[0] == '\0' || plugin->load == NULL)
        return err_at(err, at, "plugin %s: expected a name and a load function in ids_plugin",
                      path);
    for (size_t i = 0; i < plugins.list.count; i++)
        if (strcmp(plugins.list.at[i].plugin->name, plugin->name) == 0)
            return err_at(err, at, "plugin %s: the plugin \"%s\" is loaded already, from %s", path,
                          plugin->name, plugins.list.at[i].path);
    return 0;
}

/* A plugin that says no without a reason still ends the start, and so does one that ignores that
 * the engine refused what it adds. */
int plugin_start(const struct ids_plugin *plugin, const char *path, struct where at,
                 const struct conf_node *root, struct err *err)
{
    struct ids_engine *engine;
    int status;

    if (check_plugin(plugin, path, at, err) < 0)
        return -1;
    engine = plugin_alloc(sizeof(*engine));
    engine->name = plugin->name;
    engine->root = root;
    engine->loader = pthread_self();
    pthread_mutex_init(&engine->error.lock, NULL);
    plugin_error_open(&engine->error);
    log_config("plugins", "loading %s %s from %s", plugin->name,
               plugin->version != NULL ? plugin->version : "", path);
    status = run_load(engine, plugin);
    plugin_error_close(&engine->error);
    if (status != 0 || engine->error.err.text[0] != '\0')
        return err_at(err, at, "plugin %s (%s): %s", plugin->name, path,
                      engine->error.err.text[0] != '\0' ? engine->error.err.text
                                                        : "it failed to load");
    ARRAY_PUSH(&plugins.list, (struct loaded){ plugin, xstrdup(path) });
    return 0;
}

/* RTLD_NOW: a symbol that is missing is missing now, and not when a packet comes. */
static int load_object(const char *path, struct where at, const struct conf_node *root,
                       struct err *err)
{
    void *object = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    const struct ids_plugin *plugin;
    int status;

    if (object == NULL)
        return err_at(err, at, "plugin %s: %s", path, dlerror());
    plugin = dlsym(object, "ids_plugin");
    if (plugin == NULL) {
        status = err_at(err, at, "plugin %s: it has no symbol ids_plugin: expected IDS_PLUGIN() "
                        "of ids/plugin.h", path);
        dlclose(object);
        return status;
    }
    return plugin_start(plugin, path, at, root, err);
}

static int load_file(const char *path, struct where at, const struct conf_node *root,
                     struct err *err)
{
    int status;

    begin_loading(path, at);
    status = load_object(path, at, root, err);
    end_loading();
    return status;
}

static int is_shared_object(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);

    return len > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + len - 3, ".so") == 0;
}

/* All *.so of a directory, in the order of their names, so that each start does the same. */
static int load_directory(const char *path, struct where at, const struct conf_node *root,
                          struct err *err)
{
    struct dirent **entries;
    int count = scandir(path, &entries, is_shared_object, alphasort), status = 0;
    char file[4096];

    if (count < 0)
        return err_at(err, at, "plugins of %s: %s", path, strerror(errno));
    for (int i = 0; i < count; i++) {
        snprintf(file, sizeof(file), "%s/%s", path, entries[i]->d_name);
        if (status == 0)
            status = load_file(file, at, root, err);
        free(entries[i]);
    }
    free(entries);
    return status;
}

/* A name without a slash is that of an installed plugin: dlopen() would look for it in the
 * directories of libraries. */
static int load_path(const char *given, struct where at, const struct conf_node *root,
                     struct err *err)
{
    char path[4096];
    struct stat st;

    snprintf(path, sizeof(path), "%s%s", strchr(given, '/') != NULL ? "" : IDS_PLUGINDIR "/",
             given);
    if (stat(path, &st) < 0)
        return err_at(err, at, "plugin %s: %s", path, strerror(errno));
    return (S_ISDIR(st.st_mode) ? load_directory : load_file)(path, at, root, err);
}

int plugins_load(const char *const *paths, size_t count, const struct conf_node *root,
                 struct err *err)
{
    const struct conf_node *list = conf_find(root, "plugins");

    for (size_t i = 0; i < count; i++)
        if (load_path(paths[i], NO_LOCATION, root, err) < 0)
            return -1;
    if (list != NULL && list->kind != CONF_LIST && list->kind != CONF_NULL)
        return err_at(err, list->at, "plugins: expected a list of files");
    CONF_EACH (item, list) {
        if (item->kind != CONF_SCALAR || item->value[0] == '\0')
            return err_at(err, item->at, "plugins: expected the path of a file");
        if (load_path(item->value, item->at, root, err) < 0)
            return -1;
    }
    return 0;
}

void plugins_each(void (*visit)(const char *name, const char *version, const char *path,
                                void *arg), void *arg)
{
    for (size_t i = 0; i < plugins.list.count; i++) {
        const struct ids_plugin *plugin = plugins.list.at[i].plugin;

        visit(plugin->name, plugin->version != NULL ? plugin->version : "",
              plugins.list.at[i].path, arg);
    }
}
