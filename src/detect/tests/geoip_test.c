/* SPDX-License-Identifier: GPL-2.0-or-later */
/* geoip against a database with one entry: 128.0.0.0/1 is in DE, the other half nowhere. */
#include "config.h"

#include "base/test.h"
#include "detect/keywords/registry.h"
#include "detect/tests/rules_fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef HAVE_MAXMINDDB
/* One node of the search tree, its value, and what describes the file. */
static const char database[] =
    "\0\0\1\0\0\x11" "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0" "\xe1Gcountry\xe1Hiso_code" "BDE"
    "\xab\xcd\xefMaxMind.com" "\xe9Jnode_count\xc4\0\0\0\1" "Krecord_size\xa2\0\x18"
    "Jip_version\xa2\0\4" "Mdatabase_type" "DTest" "Ilanguages\0\4"
    "[binary_format_major_version\xa2\0\2" "[binary_format_minor_version\xa2\0\0"
    "Kbuild_epoch\x08\2\0\0\0\0\0\0\0\1" "Kdescription\xe0";

static bool write_database(const char *path)
{
    FILE *f = fopen(path, "wb");
    bool good = f != NULL && fwrite(database, sizeof(database) - 1, 1, f) == 1;

    return f != NULL && fclose(f) == 0 && good;
}

static bool matches(struct test *t, struct rules_fixture *f, const char *argument,
                    const char *src, const char *dst)
{
    const struct keyword_ops *k = keyword_find(TEXT_LITERAL("geoip"));
    struct rule_parser p = { .arena = &f->set->arena, .ruleset = f->set, .err = &f->err,
                             .request = &f->request, .keyword = k };
    struct packet *packet = calloc(1, sizeof(*packet));
    struct match_input in = { .packet = packet };
    void *arg = calloc(1, k->arg_size);
    bool found;

    CHECK(ip_parse(text_of(src), &packet->src) && ip_parse(text_of(dst), &packet->dst));
    CHECK_INT(k->parse(&p, text_of(argument), arg), 0);
    found = k->match(&in, arg);
    k->free_arg(arg);
    free(arg);
    free(packet);
    return found;
}

static void check_countries(struct test *t)
{
    char path[] = "/tmp/ids-geoip-XXXXXX", yaml[128];
    struct rules_fixture f;
    struct conf *conf = conf_new();
    int fd = mkstemp(path);

    CHECK(fd >= 0 && write_database(path));
    rules_fixture_open(&f);
    snprintf(yaml, sizeof(yaml), "geoip-database: %s\n", path);
    CHECK_INT(conf_load_string(conf, yaml, "test.yaml", &f.err), 0);
    f.request.conf = conf_root(conf);

    CHECK(matches(t, &f, "DE", "200.0.0.1", "1.0.0.1"));
    CHECK(matches(t, &f, "FR,DE", "1.0.0.1", "200.0.0.1"));
    CHECK(!matches(t, &f, "FR", "200.0.0.1", "200.0.0.1"));
    CHECK(matches(t, &f, "src,DE", "200.0.0.1", "1.0.0.1"));
    CHECK(!matches(t, &f, "dst,DE", "200.0.0.1", "1.0.0.1"));
    CHECK(!matches(t, &f, "both,DE", "200.0.0.1", "1.0.0.1"));
    CHECK(matches(t, &f, "both,DE", "200.0.0.1", "201.0.0.1"));
    CHECK(matches(t, &f, "!FR", "200.0.0.1", "1.0.0.1"));
    CHECK(!matches(t, &f, "!FR", "1.0.0.1", "1.0.0.1"));
    CHECK(!matches(t, &f, "!DE", "200.0.0.1", "200.0.0.1"));
    CHECK(!matches(t, &f, "DE", "2001:db8::1", "2001:db8::2"));
    CHECK(rules_fixture_options(&f, "requires:feature geoip;") != NULL);

    rules_fixture_close(&f);
    conf_free(conf);
    close(fd);
    unlink(path);
}
#else
static void check_countries(struct test *t)
{
    t->skipped = true;
}
#endif

TEST(geoip_countries)
{
    check_countries(t);
}

TEST(geoip_without_a_database)
{
    struct rules_fixture f;

    rules_fixture_open(&f);
    CHECK(rules_fixture_options(&f, "geoip:DE;") == NULL);
    CHECK(strstr(f.err.text, "geoip: ") != NULL);
    rules_fixture_close(&f);
}
