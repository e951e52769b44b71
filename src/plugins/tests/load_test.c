/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <pthread.h>
#include <stdio.h>

#include "base/memory/arena.h"
#include "base/test.h"
#include "plugins/load.h"
#include "plugins/private.h"

static int load_nothing(struct ids_engine *engine UNUSED, const struct ids_api *api UNUSED)
{
    return 0;
}

static int load_key(struct ids_engine *engine, const struct ids_api *api)
{
    return api->add_key(engine, "outputs.eve-log.load-test.depth");
}

static int load_refused(struct ids_engine *engine, const struct ids_api *api)
{
    api->add_file_type(engine, &(struct ids_file_type){ .name = "half" });
    return 0;
}

static struct {
    struct ids_engine *engine;
    const struct ids_api *api;
} kept;

static int load_and_keep(struct ids_engine *engine, const struct ids_api *api)
{
    kept.engine = engine;
    kept.api = api;
    return 0;
}

static void *add_on_a_thread(void *added)
{
    *(int *)added = kept.api->add_key(kept.engine, "outputs.eve-log.too-late");
    return NULL;
}

static int load_on_a_thread(struct ids_engine *engine, const struct ids_api *api)
{
    pthread_t thread;
    int added = 0;

    load_and_keep(engine, api);
    if (pthread_create(&thread, NULL, add_on_a_thread, &added) == 0)
        pthread_join(thread, NULL);
    return added == -1 ? 0 : -1;
}

static const struct where here = { "ids.yaml", 7, 3 };

static const char *start(const struct ids_plugin *plugin, struct err *err)
{
    *err = (struct err){ 0 };
    return plugin_start(plugin, "/x.so", here, NULL, err) == 0 ? "" : err->text;
}

TEST(plugin_of_another_abi_is_refused_with_both_numbers)
{
    static const struct ids_plugin old = { IDS_PLUGIN_ABI + 1, "old", "1", load_nothing };
    char expected[200];
    struct err err;

    snprintf(expected, sizeof(expected), "plugin /x.so: it was built for ABI %d of ids/plugin.h, "
             "and this is ABI %d: build it again with the header of this version",
             IDS_PLUGIN_ABI + 1, IDS_PLUGIN_ABI);
    CHECK_STRING(start(&old, &err), expected);
    CHECK_STRING(err.at.file, "ids.yaml");
    CHECK_INT(err.at.line, 7);
}

TEST(plugin_loads_once)
{
    static const struct ids_plugin once = { IDS_PLUGIN_ABI, "once", "1", load_nothing };
    struct err err;

    CHECK_STRING(start(&once, &err), "");
    CHECK_STRING(start(&once, &err),
                 "plugin /x.so: the plugin \"once\" is loaded already, from /x.so");
}

TEST(plugin_that_ignores_a_refusal_ends_the_start)
{
    static const struct ids_plugin plugin = { IDS_PLUGIN_ABI, "careless", "1", load_refused };
    struct err err;

    CHECK_STRING(start(&plugin, &err),
                 "plugin careless (/x.so): a file type needs a name, open and write");
}

TEST(plugin_keys_are_an_outline)
{
    static const struct ids_plugin plugin = { IDS_PLUGIN_ABI, "keys", "1", load_key };
    const char *const others[] = { "one", NULL }, *const *lines;
    struct arena arena;
    struct err err;
    unsigned at = 1;

    CHECK_STRING(start(&plugin, &err), "");
    arena_init(&arena, 1024, 0);
    lines = plugins_settings_keys(&arena, others);
    CHECK_STRING(lines[0], "one");
    while (lines[at + 4] != NULL)       /* those of other tests come first */
        at++;
    CHECK_STRING(lines[at], "outputs");
    CHECK_STRING(lines[at + 1], "  eve-log");
    CHECK_STRING(lines[at + 2], "    load-test");
    CHECK_STRING(lines[at + 3], "      depth");
    arena_fini(&arena);
}

/* The handle stays valid, so that the engine can refuse it. */
TEST(plugin_adds_nothing_outside_of_load)
{
    static const struct ids_plugin late = { IDS_PLUGIN_ABI, "late", "1", load_and_keep };
    static const struct ids_plugin aside = { IDS_PLUGIN_ABI, "aside", "1", load_on_a_thread };
    static const struct ids_keyword keyword = { .name = "too-late" };
    struct err err;

    CHECK_STRING(start(&late, &err), "");
    CHECK_INT(kept.api->add_key(kept.engine, "outputs.eve-log.too-late"), -1);
    CHECK_INT(kept.api->add_keyword(kept.engine, &keyword), -1);
    CHECK(kept.api->settings(kept.engine) == NULL);
    CHECK_INT(kept.api->fail(kept.api->error(kept.engine), "late"), -1);
    CHECK_STRING(start(&aside, &err), "");
}

/* What a plugin kept of a call that is over refuses, also on another thread and in another call. */
static void *fail_on_a_thread(void *error)
{
    kept.api->fail(error, "aside");
    return NULL;
}

TEST(plugin_error_is_of_its_call)
{
    static const struct ids_plugin plugin = { IDS_PLUGIN_ABI, "errors", "1", load_and_keep };
    struct ids_error *error, *again;
    struct err err;
    pthread_t thread;

    CHECK_STRING(start(&plugin, &err), "");
    error = plugin_error_begin();
    CHECK_INT(kept.api->fail(error, "no %d", 7), -1);
    if (pthread_create(&thread, NULL, fail_on_a_thread, error) == 0)
        pthread_join(thread, NULL);
    plugin_error_end(error, &err);
    CHECK_STRING(err.text, "no 7");
    CHECK_INT(kept.api->fail(error, "too late"), -1);
    err = (struct err){ 0 };
    again = plugin_error_begin();
    CHECK(again == error);
    plugin_error_end(again, &err);
    CHECK_STRING(err.text, "");
}
