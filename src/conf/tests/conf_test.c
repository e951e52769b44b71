/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of conf/conf, conf/read and conf/vars: looking up and reading. */
#include "base/report/log.h"
#include "base/test.h"
#include "conf/conf.h"
#include "conf/vars.h"

#include <string.h>

static const char sample[] =
    "%YAML 1.1\n"
    "---\n"
    "vars:\n"
    "  address-groups:\n"
    "    HOME_NET: \"[10.0.0.0/8]\"\n"
    "    LIST: [1.2.3.4, \"!$HOME_NET\", [a, b]]\n"
    "  port-groups:\n"
    "    HTTP_PORTS: 80\n"
    "stream:\n"
    "  memcap: 64 MiB\n"
    "  inline: auto\n"
    "  midstream: maybe\n"
    "  depth:\n"
    "outputs:\n"
    "  - fast\n"
    "  - eve-log:\n"
    "      enabled: yes\n"
    "      types:\n"
    "        - alert\n"
    "        - http:\n"
    "            extended: no\n"
    "af-packet:\n"
    "  - interface: default\n"
    "    threads: 1\n"
    "  - interface: eth1\n"
    "    threads: 4\n"
    "number: 1514\n"
    "float: 1.5\n"
    "quoted: \"80\"\n"
    "time: 5m\n";

static struct conf *load(struct test *t, const char *yaml)
{
    struct conf *conf = conf_new();
    struct err err;
    char buf[500];

    if (conf_load_string(conf, yaml, "test.yaml", &err) < 0)
        test_fail(t, __FILE__, __LINE__, "%s", err_text(&err, buf, sizeof(buf)));
    return conf;
}

TEST(conf_find_by_number_and_name)
{
    struct conf *conf = load(t, sample);
    const struct conf_node *root = conf_root(conf);

    CHECK_STRING(conf_string(root, "stream.memcap", ""), "64 MiB");
    CHECK_STRING(conf_string(root, "outputs.0", ""), "fast");
    CHECK_STRING(conf_string(root, "outputs.1.eve-log.enabled", ""), "yes");
    CHECK_STRING(conf_string(root, "outputs.eve-log.enabled", ""), "yes");
    CHECK_STRING(conf_string(root, "outputs.eve-log.types.http.extended", ""), "no");
    CHECK_STRING(conf_string(root, "outputs.eve-log.types.alert", ""), "alert");
    CHECK(conf_find(root, "outputs.syslog") == NULL);
    CHECK(conf_find(root, "outputs.7") == NULL);
    CHECK(conf_find(root, "") == root);
    CHECK(conf_find(root, NULL) == root);
    CHECK(conf_find(NULL, "stream") == NULL);
    CHECK(conf_find(root, "stream.depth") != NULL);
    CHECK_STRING(conf_string(root, "stream.depth", "none"), "none");
    conf_free(conf);
}

TEST(conf_nodes_know_their_location)
{
    struct conf *conf = load(t, sample);
    const struct conf_node *node = conf_find(conf_root(conf), "stream.memcap");
    char path[100];

    CHECK_STRING(node->at.file, "test.yaml");
    CHECK_INT(node->at.line, 10);
    CHECK_INT(node->at.column, 11);
    CHECK_INT(node->key_at.column, 3);
    node = conf_find(conf_root(conf), "outputs.eve-log.types.http.extended");
    CHECK_STRING(conf_path(node, path, sizeof(path)), "outputs.1.eve-log.types.1.http.extended");
    CHECK_STRING(conf_path(node, path, 12), "outputs.1.e");
    CHECK(conf_find(conf_root(conf), "quoted")->quoted);
    CHECK(!conf_find(conf_root(conf), "number")->quoted);
    conf_free(conf);
}

TEST(conf_typed_reads)
{
    static const char *const words[] = { "no", "yes", "auto", NULL };
    struct conf *conf = load(t, sample);
    const struct conf_node *root = conf_root(conf);

    CHECK_INT(conf_size(root, "stream.memcap", 0), 64 << 20);
    CHECK_INT(conf_size(root, "stream.reassembly.memcap", 7), 7);
    CHECK_INT(conf_size(root, "stream.depth", 7), 7);
    CHECK_INT(conf_choice(root, "stream.inline", words, -1), 2);
    CHECK_INT(conf_u64(root, "number", 0), 1514);
    CHECK_INT(conf_i64(root, "number", 0), 1514);
    CHECK_INT(conf_u64_range(root, "number", 5, 0, 2000), 1514);
    CHECK(conf_double(root, "float", 0) == 1.5);
    CHECK_INT(conf_duration_ms(root, "time", 0), 300000);
    CHECK_INT(conf_duration_ms(root, "number", 0), 1514000);
    CHECK(conf_bool(root, "outputs.eve-log.enabled", false));
    CHECK(!conf_bool(root, "outputs.eve-log.types.http.extended", true));
    conf_free(conf);
}

struct heard {
    char text[400];
    struct where at;
    enum log_level level;
    unsigned count;
};

static void hear(void *self, const struct log_message *m)
{
    struct heard *h = self;

    strncpy(h->text, m->text, sizeof(h->text) - 1);
    h->at = m->at;
    h->level = m->level;
    h->count++;
}

static const struct log_sink_ops hearing = { .write = hear };

TEST(conf_malformed_values_are_reported_and_defaults_hold)
{
    static const char *const words[] = { "no", "yes", NULL };
    struct heard heard = { 0 };
    struct conf *conf = load(t, sample);
    const struct conf_node *root = conf_root(conf);

    log_add_sink(&hearing, &heard, LOG_LEVEL_WARNING);
    CHECK(conf_bool(root, "stream.midstream", true));
    CHECK_STRING(heard.text, "stream.midstream: expected yes or no, got \"maybe\"");
    CHECK_INT(heard.at.line, 12);
    CHECK_INT(conf_u64_range(root, "number", 5, 1, 100), 5);
    CHECK_STRING(heard.text, "number: expected a number from 1 to 100, got \"1514\"; the default is "
                             "used: 5");
    CHECK_INT(heard.level, LOG_LEVEL_WARNING);
    CHECK_INT(conf_choice(root, "stream.inline", words, 1), 1);
    CHECK_STRING(heard.text, "stream.inline: expected one of no, yes, got \"auto\"");
    CHECK_INT(conf_u64(root, "outputs", 3), 3);
    CHECK_STRING(heard.text, "outputs: expected a number, found a list");
    CHECK_INT(conf_duration_ms(root, "float", 3), 3);
    CHECK_INT(conf_size_or_default(root, "stream.midstream", 3), 3);
    CHECK_INT(heard.level, LOG_LEVEL_WARNING);
    CHECK_INT(conf_size(root, "stream.midstream", 3), 3);
    CHECK_INT(heard.level, LOG_LEVEL_ERROR);
    CHECK_INT(conf_u64_or_end(root, "number", 5, 1, 100), 5);
    CHECK_INT(heard.level, LOG_LEVEL_ERROR);
    CHECK_INT(conf_u64_within(root, "number", 5, 1, 100), 5);
    CHECK_INT(heard.level, LOG_LEVEL_ERROR);
    CHECK_INT(conf_u64_within(root, "stream.midstream", 5, 1, 100), 5);
    CHECK_INT(heard.level, LOG_LEVEL_WARNING);
    CHECK_INT(heard.count, 10);
    log_close();
    conf_free(conf);
}

TEST(conf_items)
{
    struct conf *conf = load(t, sample);
    const struct conf_node *root = conf_root(conf);
    const struct conf_node *list = conf_find(root, "af-packet");
    const struct conf_node *fast = conf_find(root, "outputs.0");
    const struct conf_node *eve = conf_find(root, "outputs.1");

    CHECK_STRING(conf_string(conf_item(list, "interface", "eth1"), "threads", ""), "4");
    CHECK_STRING(conf_string(conf_item(list, "interface", "eth9"), "threads", ""), "1");
    CHECK(conf_item(NULL, "interface", "eth1") == NULL);
    CHECK_STRING(conf_item_name(fast), "fast");
    CHECK(conf_item_body(fast) == fast);
    CHECK_STRING(conf_item_name(eve), "eve-log");
    CHECK(conf_bool(conf_item_body(eve), "enabled", false));
    conf_free(conf);
}

TEST(conf_variables)
{
    struct conf *conf = load(t, sample);
    const struct conf_node *root = conf_root(conf);

    CHECK_STRING(conf_var(conf, "HOME_NET"), "[10.0.0.0/8]");
    CHECK_STRING(conf_var(conf, "HTTP_PORTS"), "80");
    CHECK_STRING(conf_var(conf, "LIST"), "[1.2.3.4,!$HOME_NET,[a,b]]");
    CHECK(conf_var(conf, "NONE") == NULL);
    CHECK(conf_var_node(root, CONF_VAR_PORT, "HOME_NET") == NULL);
    CHECK(conf_var_node(root, CONF_VAR_ADDRESS, "HOME_NET") != NULL);
    conf_free(conf);
}

static void add_line(const char *text, void *arg)
{
    char *all = arg;

    strncat(all, text, 999 - strlen(all));
    strncat(all, "\n", 999 - strlen(all));
}

TEST(conf_dump_format)
{
    struct conf *conf = load(t, "outputs:\n- fast\n- eve-log:\n    enabled: yes\n    x:\n    y: \"\"\n"
                                "stats:\n  a.b: 1\n");
    char all[1000] = "";

    conf_dump(conf, add_line, all);
    CHECK_STRING(all,
                 "outputs = (null)\n"
                 "outputs.0 = fast\n"
                 "outputs.1 = eve-log\n"
                 "outputs.1.eve-log = (null)\n"
                 "outputs.1.eve-log.enabled = yes\n"
                 "outputs.1.eve-log.x = (null)\n"
                 "outputs.1.eve-log.y = \n"
                 "stats = (null)\n"
                 "stats.a = (null)\n"
                 "stats.a.b = 1\n");
    conf_free(conf);
}

TEST(conf_default_speaks_where_an_interface_does_not)
{
    static const char yaml[] = "af-packet:\n"
                               "  - {interface: default, threads: 7, defrag: no}\n"
                               "  - {interface: eth0, defrag: yes}\n";
    struct conf *conf = conf_new();
    struct err err;
    const struct conf_node *list, *item;

    CHECK_INT(conf_load_string(conf, yaml, "test", &err), 0);
    list = conf_find(conf_root(conf), "af-packet");
    item = conf_item(list, "interface", "eth0");
    CHECK_INT(conf_u64(item, "threads", 1), 7);
    CHECK(conf_bool(item, "defrag", false));
    CHECK(conf_find(item, "ring-size") == NULL);
    CHECK_STRING(conf_string(item, "interface", ""), "eth0");
    CHECK(!conf_bool(conf_item(list, "interface", "eth1"), "defrag", true));
    conf_free(conf);
}

/* Errors of conf_check_values() for this file. */
static unsigned errors_of(struct test *t, const char *yaml, bool has_hs)
{
    struct conf *conf = load(t, yaml);
    unsigned before = log_fatal_count();

    conf_check_values(conf_root(conf), has_hs);
    conf_free(conf);
    return log_fatal_count() - before;
}

TEST(conf_check_values_asks_for_libhs)
{
    CHECK_INT(errors_of(t, "mpm-algo: auto\nspm-algo: bm\n", false), 0);
    CHECK_INT(errors_of(t, "mpm-algo: HS\nspm-algo: none\n", true), 2);
    CHECK_INT(errors_of(t, "mpm-algo: hs\nspm-algo: hs\n", true), 0);
    CHECK_INT(errors_of(t, "mpm-algo: hs\nspm-algo: auto\n", false), 1);
    CHECK_INT(errors_of(t, "mpm-algo: auto\nspm-algo: hs\n", false), 1);
}
