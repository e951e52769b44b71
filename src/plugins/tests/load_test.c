/* SPDX-License-Identifier: GPL-2.0-or-later */
#include <stdio.h>

#include "base/memory/arena.h"
#include "base/test.h"
#include "plugins/load.h"
#include "plugins/ids/plugin.h"

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
