/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of conf/yaml, conf/load and conf/yaml_problem: files to trees, and mistakes in them. */
#include "base/report/log.h"
#include "base/test.h"
#include "conf/conf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A directory of files for one test. */
struct directory {
    char path[64];
};

static void directory_make(struct directory *dir)
{
    snprintf(dir->path, sizeof(dir->path), "/tmp/ids-conf-test-XXXXXX");
    if (mkdtemp(dir->path) == NULL)
        abort();
}

static const char *directory_path(const struct directory *dir, const char *name, char *buf, size_t size)
{
    snprintf(buf, size, "%s/%s", dir->path, name);
    return buf;
}

static void directory_write(const struct directory *dir, const char *name, const char *text)
{
    char path[200];
    FILE *file = fopen(directory_path(dir, name, path, sizeof(path)), "w");

    if (file == NULL)
        abort();
    fputs(text, file);
    fclose(file);
}

static void directory_remove(const struct directory *dir, const char *const *names)
{
    char path[200];

    for (; *names != NULL; names++)
        unlink(directory_path(dir, *names, path, sizeof(path)));
    rmdir(dir->path);
}

static struct conf *load(struct test *t, const char *yaml)
{
    struct conf *conf = conf_new();
    struct err err;
    char buf[500];

    if (conf_load_string(conf, yaml, "test.yaml", &err) < 0)
        test_fail(t, __FILE__, __LINE__, "%s", err_text(&err, buf, sizeof(buf)));
    return conf;
}

static void check_value(struct test *t, const struct conf *conf, const char *path,
                        const char *expected)
{
    const char *found = conf_string(conf_root(conf), path, "(absent)");

    if (strcmp(found, expected) != 0)
        test_fail(t, __FILE__, __LINE__, "%s is %s, expected %s", path, found, expected);
}

TEST(yaml_kinds)
{
    struct conf *conf = load(t, "a: x\nb:\nc: ~\nd: \"~\"\ne: []\nf: {}\ng: null\nh: ''\n"
                                "i: |\n  two\n  lines\nj.k: 1\n");
    const struct conf_node *root = conf_root(conf);

    CHECK_INT(conf_find(root, "a")->kind, CONF_SCALAR);
    CHECK_INT(conf_find(root, "b")->kind, CONF_NULL);
    CHECK_INT(conf_find(root, "c")->kind, CONF_NULL);
    CHECK_INT(conf_find(root, "d")->kind, CONF_SCALAR);
    CHECK_INT(conf_find(root, "e")->kind, CONF_LIST);
    CHECK_INT(conf_find(root, "f")->kind, CONF_MAP);
    CHECK_INT(conf_find(root, "g")->kind, CONF_NULL);
    CHECK_INT(conf_find(root, "h")->kind, CONF_SCALAR);
    CHECK_STRING(conf_find(root, "b")->value, "");
    check_value(t, conf, "i", "two\nlines\n");
    check_value(t, conf, "j.k", "1");
    conf_free(conf);
}

TEST(yaml_needs_no_header_and_no_content)
{
    conf_free(load(t, ""));
    conf_free(load(t, "# nothing\n"));
    conf_free(load(t, "%YAML 1.1\n---\n"));
    conf_free(load(t, "%YAML 1.1\n---\na: 1\n...\n---\nb: 2\n"));
}

TEST(yaml_aliases_and_merge_keys)
{
    struct conf *conf = load(t,
        "base: &base\n  one: 1\n  two: 2\n  deep: {x: y}\n"
        "other: &other {three: 3, one: 9}\n"
        "same: *base\n"
        "more:\n  two: own\n  <<: *base\n"
        "both:\n  <<: [*base, *other]\n"
        "word: &word hello\nagain: *word\n"
        "list: &list [a, b]\nlists: [*list, *word]\n");

    check_value(t, conf, "same.two", "2");
    check_value(t, conf, "same.deep.x", "y");
    check_value(t, conf, "more.one", "1");
    check_value(t, conf, "more.two", "own");
    check_value(t, conf, "both.one", "1");
    check_value(t, conf, "both.three", "3");
    check_value(t, conf, "again", "hello");
    check_value(t, conf, "lists.0.1", "b");
    check_value(t, conf, "lists.1", "hello");
    conf_free(conf);
}

TEST(yaml_later_sections_replace)
{
    struct conf *conf = load(t, "stream:\n  inline: no\n  bypass: no\n");
    struct err err;

    CHECK_INT(conf_load_string(conf, "stream:\n  inline: yes\n", "b.yaml", &err), 0);
    check_value(t, conf, "stream.inline", "yes");
    CHECK(conf_find(conf_root(conf), "stream.bypass") == NULL);
    conf_free(conf);
}

TEST(yaml_includes)
{
    static const char *const names[] = { "main.yaml", "one.yaml", "two.yaml", "list.yaml", NULL };
    struct conf *conf = conf_new();
    struct directory dir;
    struct err err;
    char path[200], buf[500];

    directory_make(&dir);
    directory_write(&dir, "main.yaml",
                 "a: main\nb: main\ninclude: [one.yaml, ./two.yaml]\nb: last\n"
                 "section:\n  own: yes\n  include: two.yaml\n"
                 "tagged: !include two.yaml\n"
                 "types: !include list.yaml\n");
    directory_write(&dir, "one.yaml", "%YAML 1.1\n---\na: one\nb: one\n");
    directory_write(&dir, "two.yaml", "c: two\n");
    directory_write(&dir, "list.yaml", "- alert\n- http\n");
    if (conf_load(conf, directory_path(&dir, "main.yaml", path, sizeof(path)), &err) < 0)
        test_fail(t, __FILE__, __LINE__, "%s", err_text(&err, buf, sizeof(buf)));
    check_value(t, conf, "a", "one");
    check_value(t, conf, "b", "last");
    check_value(t, conf, "c", "two");
    check_value(t, conf, "section.own", "yes");
    check_value(t, conf, "section.c", "two");
    check_value(t, conf, "tagged.c", "two");
    check_value(t, conf, "types.1", "http");
    CHECK_STRING(strrchr(conf_find(conf_root(conf), "tagged.c")->at.file, '/'), "/two.yaml");
    directory_remove(&dir, names);
    conf_free(conf);
}

TEST(yaml_load_at_section)
{
    static const char *const names[] = { "tenant.yaml", NULL };
    struct conf *conf = load(t, "multi-detect:\n  enabled: yes\n");
    struct directory dir;
    struct err err;
    char path[200];

    directory_make(&dir);
    directory_write(&dir, "tenant.yaml", "default-rule-path: tenant\nrule-files: [a.rules]\n");
    directory_path(&dir, "tenant.yaml", path, sizeof(path));
    CHECK_INT(conf_set(conf, "multi-detect.1.default-rule-path", "set"), 0);
    CHECK_INT(conf_load_at(conf, "multi-detect.1", path, &err), 0);
    CHECK_INT(conf_load_at(conf, "multi-detect.2", path, &err), 0);
    check_value(t, conf, "multi-detect.1.default-rule-path", "set");
    check_value(t, conf, "multi-detect.2.default-rule-path", "tenant");
    check_value(t, conf, "multi-detect.2.rule-files.0", "a.rules");
    check_value(t, conf, "multi-detect.enabled", "yes");
    directory_remove(&dir, names);
    conf_free(conf);
}

TEST(yaml_include_mistakes)
{
    static const char *const names[] = { "a.yaml", "b.yaml", NULL };
    struct conf *conf = conf_new();
    struct directory dir;
    struct err err;
    char path[200], buf[600], expected[600];

    directory_make(&dir);
    directory_path(&dir, "a.yaml", path, sizeof(path));
    directory_write(&dir, "a.yaml", "x: 1\ninclude: missing.yaml\n");
    CHECK_INT(conf_load(conf, path, &err), -1);
    snprintf(expected, sizeof(expected),
             "%s:2:10: cannot open %s/missing.yaml: No such file or directory", path, dir.path);
    CHECK_STRING(err_text(&err, buf, sizeof(buf)), expected);

    directory_write(&dir, "a.yaml", "include:\n  - b.yaml\n");
    directory_write(&dir, "b.yaml", "section:\n  include: a.yaml\n");
    CHECK_INT(conf_load(conf, path, &err), -1);
    snprintf(expected, sizeof(expected),
             "%s/b.yaml:2:12: a file cannot include itself: %s/a.yaml, included by %s/b.yaml, "
             "included by %s/a.yaml", dir.path, dir.path, dir.path, dir.path);
    CHECK_STRING(err_text(&err, buf, sizeof(buf)), expected);

    CHECK_INT(conf_load(conf, dir.path, &err), -1);
    snprintf(expected, sizeof(expected), "cannot read %s: it is a directory, expected a YAML file", dir.path);
    CHECK_STRING(err_text(&err, buf, sizeof(buf)), expected);
    directory_remove(&dir, names);
    conf_free(conf);
}

static const struct { const char *yaml, *message; } mistakes[] = {
    { "stats:\n\tinterval: 8\n",
      "t.yaml:2:1: indented with a tab: YAML allows spaces only, replace it" },
    { "stats:\n  enabled: yes\n \tinterval: 8\n",
      "t.yaml:3:2: indented with a tab: YAML allows spaces only, replace it" },
    { "stats:\n    enabled: yes\n  interval: 8\n",
      "t.yaml:3:3: indentation differs from that of the section begun in line 1: its keys must "
      "all start in one column" },
    { "stats:\n  enabled: yes\n    interval: 8\n",
      "t.yaml:3:13: a \":\" where no key can stand: check the indentation of this line, the \":\" "
      "of the line above, or put the value in quotes" },
    { "a: \"abc\nb: 1\n", "t.yaml:3:1: the quotation begun in line 1 is never closed" },
    { "a: [1, 2\nb: 1\n", "t.yaml:2:2: the list begun in line 1 lacks a \",\" or its \"]\"" },
    { "a: {b: 1\nc: 1\n",
      "t.yaml:2:2: the section begun with \"{\" in line 1 lacks a \",\" or its \"}\"" },
    { "a: - b\n",
      "t.yaml:1:4: a list cannot start behind its key: put each \"- item\" on a line of its own" },
    { "a: @b\n", "t.yaml:1:4: a value cannot start with this character: put it in quotes" },
    { "a: *x\n", "t.yaml:1:4: *x: no value above is marked with &x" },
    { "a: &x 5\na.b: *x\n", "t.yaml:2:6: *x is within the section that it repeats" },
    { "a: &x {b: *x}\n", "t.yaml:1:11: *x: no value above is marked with &x" },
    { "<<: 5\n", "t.yaml:1:5: <<: expected a section or a list of sections to merge" },
    { "include: {a: b}\n", "t.yaml:1:10: include: expected a file or a list of files" },
    { "hello\n", "t.yaml:1:1: expected lines like \"key: value\", found only \"hello\"" },
    { "- a\n", "t.yaml:1:1: expected lines like \"key: value\", found a list" },
    { "[a, b]: c\n", "t.yaml:1:1: a key must be a word, found a list or a section" },
    { "\"\": c\n", "t.yaml:1:1: a key must not be empty" },
    { "a..b: c\n",
      "t.yaml:1:1: \"a..b\" is no path of keys: it has an empty part or too many" },
    { "a: \"x\\0y\"\n", "t.yaml:1:4: a value cannot hold a NUL character" },
    { "a: b\nc: \xff\n", "t.yaml:2:4: invalid leading UTF-8 octet: expected text in UTF-8" },
    { "%YAML 2.0\n---\na: b\n", "t.yaml:1:1: expected %YAML 1.1 in the first line" },
};

TEST(yaml_mistakes_are_explained)
{
    for (size_t i = 0; i < ARRAY_LEN(mistakes); i++) {
        struct conf *conf = conf_new();
        struct err err = { 0 };
        char buf[600];

        CHECK_INT(conf_load_string(conf, mistakes[i].yaml, "t.yaml", &err), -1);
        CHECK_STRING(err_text(&err, buf, sizeof(buf)), mistakes[i].message);
        conf_free(conf);
    }
}

TEST(yaml_depth_and_size_are_bounded)
{
    char deep[512] = "a: ", bomb[4096] = "a0: &a0 [x,x,x,x,x,x,x,x]\n";
    struct conf *conf = conf_new();
    struct err err;

    memset(deep + 3, '[', 200);
    CHECK_INT(conf_load_string(conf, deep, "t.yaml", &err), -1);
    CHECK_STRING(err.text, "nested deeper than 128 sections and lists");
    CHECK_INT(err.at.column, 131);
    for (int i = 1; i < 12; i++) {
        size_t used = strlen(bomb);

        used += (size_t)snprintf(bomb + used, sizeof(bomb) - used, "a%d: &a%d [", i, i);
        for (int k = 0; k < 8; k++)
            used += (size_t)snprintf(bomb + used, sizeof(bomb) - used, "*a%d,", i - 1);
        snprintf(bomb + used, sizeof(bomb) - used, "]\n");
    }
    CHECK_INT(conf_load_string(conf, bomb, "t.yaml", &err), -1);
    CHECK_STRING(err.text, "aliases blow the configuration up to more than 1000000 values");
    conf_free(conf);
}

struct heard {
    char text[4][300];
    unsigned count;
};

static void hear(void *self, const struct log_message *m)
{
    struct heard *h = self;
    struct err err = { .at = m->at };

    snprintf(err.text, sizeof(err.text), "%s", m->text);
    if (h->count < ARRAY_LEN(h->text))
        err_text(&err, h->text[h->count], sizeof(h->text[0]));
    h->count++;
}

static const struct log_sink_ops hearing = { .write = hear };

TEST(yaml_warnings)
{
    struct heard heard = { 0 };
    struct conf *conf;

    log_add_sink(&hearing, &heard, LOG_LEVEL_WARNING);
    conf = load(t, "threading:\n  set_cpu_affinity: yes\n"
                   "vars:\n  address-groups:\n    HOME_NET: any\n    EXTERNAL_NET: !$HOME_NET\n"
                   "stats:\n  interval: 8\n  interval: 9\n");
    CHECK_INT(heard.count, 3);
    CHECK_STRING(heard.text[0],
                 "test.yaml:2:3: set_cpu_affinity is deprecated. Please use set-cpu-affinity");
    CHECK_STRING(heard.text[1],
                 "test.yaml:6:19: vars.address-groups.EXTERNAL_NET: !$HOME_NET without quotes is a "
                 "tag to YAML, and the value is empty: write \"!$HOME_NET\"");
    CHECK_STRING(heard.text[2],
                 "test.yaml:9:3: interval is in line 8 already: only this one counts");
    check_value(t, conf, "threading.set-cpu-affinity", "yes");
    check_value(t, conf, "stats.interval", "9");
    log_close();
    conf_free(conf);
}

TEST(schema_names_the_nearest_key)
{
    struct heard heard = { 0 };
    struct conf *conf;

    log_add_sink(&hearing, &heard, LOG_LEVEL_WARNING);
    conf = load(t, "stream:\n  reasembly:\n    depth: 1\n  midstreem: yes\n"
                   "outputs:\n  - eve-log:\n      types:\n        - alert:\n            deltas: 1\n"
                   "wombat: 1\n"
                   "x-mine: {anything: 1}\n"
                   "vars:\n  address-groups: {ANY_NAME: any}\n"
                   "runmodes:\n  mine:\n    pieces:\n      - modules: receive\n");
    CHECK_INT(conf_check_keys(conf, NULL), 4);
    CHECK_INT(heard.count, 4);
    CHECK_STRING(heard.text[0],
                 "test.yaml:2:3: unknown key stream.reasembly: did you mean \"reassembly\"?");
    CHECK_STRING(heard.text[1],
                 "test.yaml:4:3: unknown key stream.midstreem: did you mean \"midstream\"?");
    CHECK_STRING(heard.text[2],
                 "test.yaml:9:13: unknown key outputs.0.eve-log.types.0.alert.deltas: nothing reads "
                 "it here; did you mean outputs.eve-log.types.stats.deltas?");
    CHECK_STRING(heard.text[3], "test.yaml:10:1: unknown key wombat: nothing reads it");
    log_close();
    conf_free(conf);
}

TEST(schema_reports_what_has_no_effect)
{
    struct heard heard = { 0 };
    struct conf *conf;

    log_set_level(LOG_LEVEL_INFO);
    log_add_sink(&hearing, &heard, LOG_LEVEL_INFO);
    conf = load(t, "flow:\n  managers: 3\n"
                   "plugins:\n"
                   "netmap:\n  - interface: eth0\n"
                   "outputs:\n  - eve-log:\n      buffer-size: 4096\n"
                   "  - fast:\n      ipv6-compress: yes\n"
                   "af-packet:\n  - interface: eth0\n    enable-hwtimestamp: no\n");
    CHECK_INT(conf_check_keys(conf, NULL), 0);
    CHECK_INT(heard.count, 4);
    CHECK_STRING(heard.text[0],
                 "test.yaml:2:3: flow.managers has no effect: each thread keeps its own flows");
    CHECK_STRING(heard.text[1],
                 "test.yaml:4:1: netmap has no effect: this way of capture is not built in");
    CHECK_STRING(heard.text[2],
                 "test.yaml:8:7: outputs.0.eve-log.buffer-size has no effect: records are written "
                 "as packets are done, in pieces of many");
    CHECK_STRING(heard.text[3],
                 "test.yaml:10:7: outputs.1.fast.ipv6-compress has no effect: a key of a later "
                 "Suricata");
    log_set_level(LOG_LEVEL_NOTICE);
    log_close();
    conf_free(conf);
}

/* A walk over all keys for each of them took more than a minute. The second file replaces the
 * section, and few keys follow many. */
TEST(yaml_sections_of_many_keys)
{
    const unsigned count = 100000;
    struct conf *conf = conf_new();
    struct err err = { 0 };
    char *yaml = malloc(count * 24), path[32];
    size_t n = (size_t)snprintf(yaml, 24, "s:\n");
    unsigned bad = 0;

    for (unsigned i = 0; i < count; i++)
        n += (size_t)snprintf(yaml + n, 24, "  key%u: %u\n", i, i);
    CHECK_INT(conf_load_string(conf, yaml, "many", &err), 0);
    for (unsigned i = 0; i < count; i++) {
        snprintf(path, sizeof(path), "s.key%u", i);
        bad += conf_u64(conf_root(conf), path, 0) != i;
    }
    CHECK_INT(bad, 0);
    CHECK_INT(conf_load_string(conf, "s: {key7: 8, other: 9}\n", "few", &err), 0);
    CHECK_INT(conf_u64(conf_root(conf), "s.key7", 0), 8);
    CHECK_INT(conf_u64(conf_root(conf), "s.other", 0), 9);
    CHECK(conf_find(conf_root(conf), "s.key8") == NULL);
    CHECK_INT(conf_load_string(conf, yaml, "many", &err), 0);
    CHECK_INT(conf_u64(conf_root(conf), "s.key99999", 0), 99999);
    CHECK(conf_find(conf_root(conf), "s.other") == NULL);
    free(yaml);
    conf_free(conf);
}
