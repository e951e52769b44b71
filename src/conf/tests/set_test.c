/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of conf/set: what --set does to lists, sections and values, before and after loading. */
#include "base/report/log.h"
#include "base/test.h"
#include "conf/conf.h"

#include <string.h>

static const char sample[] =
    "outputs:\n"
    "  - fast\n"
    "  - eve-log:\n"
    "      types:\n"
    "        - alert\n"
    "        - anomaly:\n"
    "            types:\n"
    "              # all commented\n"
    "reputation-files:\n"
    "  - a.list\n"
    "  - b.list\n"
    "app-layer:\n"
    "  protocols:\n"
    "    sip:\n"
    "    tls: no\n";

struct setting {
    const char *argument, *path, *value;
};

static const struct setting settings[] = {
    { "outputs.1.eve-log.types.0.alert.packet=yes", "outputs.eve-log.types.alert.packet", "yes" },
    { "outputs.1.eve-log.types.1.anomaly.types.stream=yes",
      "outputs.eve-log.types.anomaly.types.stream", "yes" },
    { "outputs.eve-log.filename=x.json", "outputs.1.eve-log.filename", "x.json" },
    { "outputs.0.fast.enabled=no", "outputs.fast.enabled", "no" },
    { "outputs.syslog.enabled=yes", "outputs.2.syslog.enabled", "yes" },
    { "outputs.5.lua.enabled=yes", "outputs.lua.enabled", "yes" },
    { "reputation-files.0=z.list", "reputation-files.0", "z.list" },
    { "reputation-files.2=c.list", "reputation-files.2", "c.list" },
    { "reputation-files=one.list", "reputation-files", "one.list" },
    { "app-layer.protocols.sip.enabled=yes", "app-layer.protocols.sip.enabled", "yes" },
    { "app-layer.protocols.tls.ja3-fingerprints=yes", "app-layer.protocols.tls.ja3-fingerprints",
      "yes" },
    { "datasets.0=x", "datasets.0", "x" },
    { "stream.inline = yes", "stream.inline", "yes" },
    { "stream.midstream=", "stream.midstream", "" },
    { "vars.address-groups.HOME_NET=[1.2.3.4,5.6.7.8]", "vars.address-groups.HOME_NET",
      "[1.2.3.4,5.6.7.8]" },
    { "a=b=c", "a", "b=c" },
};

static void check_setting(struct test *t, const struct setting *s, bool set_first)
{
    struct conf *conf = conf_new();
    struct err err;

    if (set_first)
        CHECK_INT(conf_set_argument(conf, s->argument, &err), 0);
    CHECK_INT(conf_load_string(conf, sample, "test.yaml", &err), 0);
    if (!set_first)
        CHECK_INT(conf_set_argument(conf, s->argument, &err), 0);
    if (strcmp(conf_string(conf_root(conf), s->path, "(absent)"), s->value) != 0)
        test_fail(t, __FILE__, __LINE__, "%s, set %s loading: %s is %s", s->argument,
                  set_first ? "before" : "after", s->path,
                  conf_string(conf_root(conf), s->path, "(absent)"));
    conf_free(conf);
}

TEST(conf_set_makes_and_replaces)
{
    for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
        check_setting(t, &settings[i], false);
        check_setting(t, &settings[i], true);
    }
}

TEST(conf_set_keeps_the_rest)
{
    struct conf *conf = conf_new();
    struct err err;

    CHECK_INT(conf_load_string(conf, sample, "test.yaml", &err), 0);
    CHECK_INT(conf_set(conf, "outputs.1.eve-log.types.0.alert.packet", "yes"), 0);
    CHECK_INT(conf_set(conf, "reputation-files.0", "z.list"), 0);
    CHECK_STRING(conf_string(conf_root(conf), "outputs.0", ""), "fast");
    CHECK_STRING(conf_string(conf_root(conf), "reputation-files.1", ""), "b.list");
    CHECK(conf_find(conf_root(conf), "outputs.eve-log.types.anomaly") != NULL);
    conf_free(conf);
}

TEST(conf_set_wins_over_later_files)
{
    struct conf *conf = conf_new();
    struct err err;

    CHECK_INT(conf_load_string(conf, "stream:\n  inline: no\n", "a.yaml", &err), 0);
    CHECK_INT(conf_set(conf, "stream.inline", "yes"), 0);
    CHECK_INT(conf_load_string(conf, "stream:\n  inline: auto\n  bypass: yes\n", "b.yaml", &err), 0);
    CHECK_STRING(conf_string(conf_root(conf), "stream.inline", ""), "yes");
    CHECK_STRING(conf_string(conf_root(conf), "stream.bypass", ""), "yes");
    CHECK(conf_find(conf_root(conf), "stream.inline")->is_final);
    conf_free(conf);
}

TEST(conf_set_refuses_nonsense)
{
    struct conf *conf = conf_new();
    struct err err;
    char buf[500];

    CHECK_INT(conf_set_argument(conf, "stream.inline", &err), -1);
    CHECK_STRING(err_text(&err, buf, sizeof(buf)), "--set: expected key=value, got \"stream.inline\"");
    CHECK_INT(conf_set_argument(conf, "=x", &err), -1);
    CHECK_STRING(err_text(&err, buf, sizeof(buf)),
                 "--set: expected a key such as stream.memcap before the =, got \"=x\"");
    CHECK_INT(conf_set_argument(conf, "a..b=x", &err), -1);
    CHECK_INT(conf_set_argument(conf, "a.=x", &err), -1);
    CHECK_INT(conf_set(conf, "", "x"), -1);
    conf_free(conf);
}

static void count(void *self, const struct log_message *m UNUSED)
{
    (*(unsigned *)self)++;
}

TEST(conf_set_spells_with_dashes)
{
    static const struct log_sink_ops counting = { .write = count };
    struct conf *conf = conf_new();
    unsigned warnings = 0;
    struct err err;

    log_add_sink(&counting, &warnings, LOG_LEVEL_WARNING);
    CHECK_INT(conf_set(conf, "threading.set_cpu_affinity", "yes"), 0);
    CHECK_INT(conf_set(conf, "vars.address-groups.HOME_NET", "any"), 0);
    CHECK_INT(conf_load_string(conf, "a: b\n", "a.yaml", &err), 0);
    CHECK_STRING(conf_string(conf_root(conf), "threading.set-cpu-affinity", ""), "yes");
    CHECK_STRING(conf_string(conf_root(conf), "vars.address-groups.HOME_NET", ""), "any");
    CHECK_INT(warnings, 1);
    log_close();
    conf_free(conf);
}
