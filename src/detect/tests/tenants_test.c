/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Whose a packet is, and tables that follow one another. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/test.h"
#include "detect/compile/tenants.h"
#include "packet/packet.h"

struct tenants_fixture {
    struct conf *conf;
    struct ruleset_request request;
    char directory[32];
};

static void write_file(const struct tenants_fixture *w, const char *name, const char *text)
{
    char path[64];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", w->directory, name);
    f = fopen(path, "w");
    if (f == NULL)
        abort();
    fputs(text, f);
    fclose(f);
}

static void fixture_new(struct tenants_fixture *w, const char *yaml)
{
    struct err err = { 0 };

    *w = (struct tenants_fixture){ .directory = "/tmp/tenants-XXXXXX" };
    if (mkdtemp(w->directory) == NULL)
        abort();
    write_file(w, "one.yaml", "rule-files: [one.rules]\nvars: {address-groups: {A: 10.0.0.1}}\n");
    write_file(w, "one.rules", "alert ip $A any -> any any (sid:1;)\n");
    w->conf = conf_new();
    conf_load_string(w->conf, yaml, "test", &err);
    conf_set(w->conf, "multi-detect.config-path", w->directory);
    conf_set(w->conf, "multi-detect.1.default-rule-path", w->directory);
    w->request = (struct ruleset_request){ .conf = conf_root(w->conf), .config_dir = w->directory };
}

static void fixture_free(struct tenants_fixture *w)
{
    static const char *const names[] = { "one.yaml", "one.rules" };
    char path[64];

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        snprintf(path, sizeof(path), "%s/%s", w->directory, names[i]);
        unlink(path);
    }
    rmdir(w->directory);
    conf_free(w->conf);
}

TEST(tenants_by_vlan_come_and_go)
{
    struct tenants_fixture w;
    struct err err = { 0 };
    struct tenants *table, *next;
    struct packet p = { .vlan = { 7, 8 }, .vlan_count = 2 };

    fixture_new(&w, "multi-detect: {enabled: yes, selector: vlan, tenants: [{id: 1, yaml: one.yaml}],"
                  " mappings: [{vlan-id: 7, tenant-id: 1}]}");
    table = tenants_load(&w.request, &err);
    CHECK(table != NULL && table->list.count == 1);
    CHECK_INT(table->list.at[0]->report.loaded, 1);
    CHECK_INT(tenants_of(table, &p), 1);
    p.vlan[0] = 9;
    CHECK_INT(tenants_of(table, &p), 0);
    p.vlan_count = 0;
    CHECK_INT(tenants_of(table, &p), 0);
    p.vlan_count = 1;
    next = tenants_copy(table);
    CHECK(!tenants_map_vlan(next, 2, 7) && tenants_map_vlan(next, 1, 9));
    CHECK(tenants_reload(next, &w.request, &err) == 0);
    CHECK(next->list.at[0]->rules != table->list.at[0]->rules);
    CHECK(tenants_put(next, &w.request, 5, "/nowhere/five.yaml", &err) < 0);
    CHECK_INT(tenants_of(table, &p), 0);
    CHECK_INT(tenants_of(next, &p), 1);
    CHECK(tenants_unmap_vlan(next, 1, 9) && !tenants_unmap_vlan(next, 1, 9));
    CHECK(tenants_remove(next, 1) && !tenants_remove(next, 1));
    CHECK_INT(table->list.count, 1);
    tenants_unref(table);
    tenants_unref(next);
    fixture_free(&w);
}

/* The engine's setting holds for the rules of tenants, too. */
TEST(tenants_follow_the_same_suricata)
{
    static const char rule[] = "alert pkthdr any any -> any any (ttl:5; sid:1;)\n";
    static const struct { const char *yaml; size_t rules; } rows[] = {
        { "", 1 }, { "compatibility: suricata-9\n", 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct tenants_fixture w;
        struct err err = { 0 };
        struct tenants *table;
        char yaml[256];

        snprintf(yaml, sizeof(yaml), "%smulti-detect: {enabled: yes, selector: vlan, tenants: "
                 "[{id: 1, yaml: one.yaml}], mappings: [{vlan-id: 7, tenant-id: 1}]}",
                 rows[i].yaml);
        fixture_new(&w, yaml);
        write_file(&w, "one.rules", rule);
        table = tenants_load(&w.request, &err);
        CHECK(table != NULL && ruleset_rule_count(table->list.at[0]->rules) == rows[i].rules);
        tenants_unref(table);
        fixture_free(&w);
    }
}

TEST(tenants_settings_that_make_no_sense)
{
    static const char *const bad[] = {
        "multi-detect: {enabled: yes, selector: colour}",
        "vlan: {use-for-tracking: no}\nmulti-detect: {enabled: yes, selector: vlan}",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        struct tenants_fixture w;
        struct err err = { 0 };

        fixture_new(&w, bad[i]);
        CHECK(tenants_load(&w.request, &err) == NULL);
        CHECK(strstr(err.text, "multi-detect.selector") != NULL);
        fixture_free(&w);
    }
}

TEST(tenants_are_off_unless_asked_for)
{
    struct tenants_fixture w;
    struct err err = { 0 };

    fixture_new(&w, "multi-detect: {enabled: no, selector: vlan}");
    CHECK(tenants_load(&w.request, &err) == NULL);
    CHECK_INT(err.text[0], 0);
    fixture_free(&w);
}
