/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tests/settings_keys_test.c - keys of suricata.yaml that follow from the protocols' list. */
#include "app/conf.h"
#include "base/array.h"
#include "base/memory/arena.h"
#include "base/test.h"

#include <unistd.h>

static unsigned unknown_keys(struct test *t, const char *path, const char *text)
{
    struct conf *conf = conf_new();
    struct arena arena;
    struct err err;
    unsigned unknown;
    char buf[500];
    int status = path != NULL ? conf_load(conf, path, &err)
                              : conf_load_string(conf, text, "test.yaml", &err);

    if (status < 0)
        test_fail(t, __FILE__, __LINE__, "%s", err_text(&err, buf, sizeof(buf)));
    arena_init(&arena, 16 * 1024, 0);
    unknown = conf_check_keys(conf, app_settings_keys(&arena));
    arena_fini(&arena);
    conf_free(conf);
    return unknown;
}

/* The configuration that we ship, as built in the tree or beside it. */
TEST(settings_keys_and_schema_know_all_of_suricata_yaml)
{
    static const char *const paths[] = { "suricata.yaml", "../suricata.yaml" };
    const char *path = NULL;

    for (size_t i = 0; i < ARRAY_LEN(paths) && path == NULL; i++)
        if (access(paths[i], R_OK) == 0)
            path = paths[i];
    if (path == NULL)
        t->skipped = true;
    else
        CHECK_INT(unknown_keys(t, path, NULL), 0);
}

/* conf/schema_keys.c has no line about either. */
TEST(settings_keys_follow_from_the_list_of_protocols)
{
    CHECK_INT(unknown_keys(t, NULL, "app-layer:\n  protocols:\n"
                                    "    telnet: {enabled: yes, tcp: {enabled: yes}}\n"
                                    "outputs:\n  - eve-log:\n      types:\n"
                                    "        - pop3: {enabled: yes}\n"), 0);
    CHECK_INT(unknown_keys(t, NULL, "app-layer:\n  protocols:\n"
                                    "    telnot: {enabled: yes}\n"
                                    "    tftp: {enabled: yes, tcp: {enabled: yes}}\n"), 2);
}
