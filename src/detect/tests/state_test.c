/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules remember stays when others take their place. */
#include "base/array.h"
#include "base/text/ip.h"
#include "base/test.h"
#include "detect/state/dataset.h"
#include "detect/state/host_bits.h"
#include "detect/rule/ruleset_private.h"
#include "detect/state/threshold.h"
#include "detect/tests/rules_reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct reload {
    struct conf *conf;
    char rules[32], values[32];
    struct ruleset *set;
};

static void reload_to(struct test *t, struct reload *r, const char *rules)
{
    struct ruleset_request request = { .conf = conf_root(r->conf), .exclusive_file = r->rules,
                                       .previous = r->set };

    rules_write_file(t, r->rules, rules);
    rules_reload(t, &request);
    r->set = request.previous;
}

static void reload_open(struct test *t, struct reload *r)
{
    static const char *const quiet[] = { "classification-file", "reference-config-file",
                                         "threshold-file" };
    int fds[2];

    *r = (struct reload){ .rules = "/tmp/ids-state-XXXXXX", .values = "/tmp/ids-values-XXXXXX",
                          .conf = conf_new() };
    fds[0] = mkstemp(r->rules);
    fds[1] = mkstemp(r->values);
    CHECK(fds[0] >= 0 && fds[1] >= 0);
    close(fds[0]);
    close(fds[1]);
    for (unsigned i = 0; i < ARRAY_LEN(quiet); i++)
        conf_set(r->conf, quiet[i], "/dev/null");
    conf_set(r->conf, "datasets.rules.allow-absolute-filenames", "yes");
}

static void reload_close(struct reload *r)
{
    ruleset_unref(r->set);
    conf_free(r->conf);
    unlink(r->rules);
    unlink(r->values);
}

TEST(bits_of_hosts_and_pairs_outlive_a_reload)
{
    struct ip a = { .version = 4, .b = { 10, 0, 0, 1 } }, b = { .version = 4, .b = { 10, 0, 0, 2 } };
    struct reload r;

    reload_open(t, &r);
    reload_to(t, &r, "alert ip any any -> any any (hostbits:set,x; sid:1;)\n");
    host_bit_set(r.set->host_bits, (struct host_bit){ &a, NULL, 7 }, 100, 1000);
    host_bit_set(r.set->host_bits, (struct host_bit){ &a, &b, 8 }, 100, 1000);
    reload_to(t, &r, "alert ip any any -> any any (hostbits:isset,x; sid:2;)\n");
    reload_to(t, &r, "alert ip any any -> any any (msg:\"none\"; sid:3;)\n");
    CHECK(host_bit_is_set(r.set->host_bits, (struct host_bit){ &a, NULL, 7 }, 500));
    CHECK(host_bit_is_set(r.set->host_bits, (struct host_bit){ &b, &a, 8 }, 500));
    CHECK(!host_bit_is_set(r.set->host_bits, (struct host_bit){ &a, NULL, 7 }, 1500));
    reload_close(&r);
}

TEST(thresholds_outlive_a_reload)
{
    static const char rule[] = "alert ip any any -> any any (threshold:type limit, track by_src, "
                               "count 1, seconds 60; sid:1;)\n";
    struct packet p = { .src = { .version = 4, .b = { 10, 0, 0, 1 } }, .time_us = 5000000 };
    struct reload r;

    reload_open(t, &r);
    reload_to(t, &r, rule);
    CHECK_INT(threshold_apply(r.set->threshold_state, r.set->rules.at[0], &p, TO_SERVER), THRESHOLD_ALERT);
    reload_to(t, &r, rule);
    CHECK_INT(threshold_apply(r.set->threshold_state, r.set->rules.at[0], &p, TO_SERVER), THRESHOLD_SILENT);
    reload_close(&r);
}

static bool has(const struct reload *r, const char *set, const char *value)
{
    struct slice v = { .data = (const uint8_t *)value, .len = (uint32_t)strlen(value) };

    return dataset_has(dataset_find(r->set->datasets, set), v, NULL);
}

TEST(dataset_list_counts_but_for_its_broken_lines)
{
    char rules[512];
    struct reload r;

    reload_open(t, &r);
    snprintf(rules, sizeof(rules),
             "alert http any any -> any any (http.uri; dataset:isset,listed,type string,load %s; "
             "sid:2;)\n", r.values);
    rules_write_file(t, r.values, "!!!\nb25l\nb25l,1,2\n?\ndHdv\n");
    reload_to(t, &r, rules);
    CHECK(has(&r, "listed", "one") && has(&r, "listed", "two"));
    reload_close(&r);
}

TEST(datasets_outlive_a_reload_but_files_are_read_anew)
{
    struct slice added = { .data = (const uint8_t *)"new", .len = 3 };
    char rules[512];
    struct reload r;

    reload_open(t, &r);
    snprintf(rules, sizeof(rules),
             "alert http any any -> any any (http.uri; dataset:set,kept,type string; sid:1;)\n"
             "alert http any any -> any any (http.uri; dataset:isset,listed,type string,load %s; "
             "sid:2;)\n", r.values);
    rules_write_file(t, r.values, "b25l\n");
    reload_to(t, &r, rules);
    CHECK(has(&r, "listed", "one") && !has(&r, "listed", "two"));
    CHECK(dataset_add(dataset_find(r.set->datasets, "kept"), added));
    rules_write_file(t, r.values, "dHdv\n");
    reload_to(t, &r, rules);
    CHECK(has(&r, "kept", "new"));
    CHECK(has(&r, "listed", "two") && !has(&r, "listed", "one"));
    reload_close(&r);
}
