/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What a ruleset has in common with the one before it. */
#include "base/array.h"
#include "base/memory/buf.h"
#include "base/test.h"
#include "detect/rule/rule_block.h"
#include "detect/rule/ruleset_private.h"
#include "detect/tests/rules_reload.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define RULES 2000              /* several blocks full */
#define FILES 2

struct reload {
    struct conf *conf;
    char file[FILES][32];       /* rules, classes */
    unsigned rev[RULES];        /* 0: left out */
    const char *options;        /* more of them, of all rules */
    struct ruleset *set;
};

static void write_rules(struct test *t, const struct reload *r)
{
    struct buf text = { 0 };

    for (unsigned i = 0; i < RULES; i++)
        if (r->rev[i] > 0)
            buf_printf(&text, "alert http any any -> any any (msg:\"%u\"; http.uri; to_lowercase; "
                       "content:\"uri %u %u\"; classtype:one; %s sid:%u; rev:%u;)\n", i, i,
                       r->rev[i], r->options, i + 1, r->rev[i]);
    buf_add(&text, "", 1);
    rules_write_file(t, r->file[0], (const char *)text.data);
    buf_fini(&text);
}

static void load(struct test *t, struct reload *r)
{
    struct ruleset_request request = { .conf = conf_root(r->conf), .exclusive_file = r->file[0],
                                       .previous = r->set, .drop_texts = true };

    write_rules(t, r);
    rules_reload(t, &request);
    r->set = request.previous;
}

static void reload_open(struct test *t, struct reload *r)
{
    static const char *const keys[FILES] = { NULL, "classification-file" };

    *r = (struct reload){ .conf = conf_new(), .options = "" };
    for (unsigned i = 0; i < FILES; i++) {
        int fd;

        snprintf(r->file[i], sizeof(r->file[i]), "/tmp/ids-reload-XXXXXX");
        fd = mkstemp(r->file[i]);
        CHECK(fd >= 0);
        close(fd);
        if (keys[i] != NULL)
            conf_set(r->conf, keys[i], r->file[i]);
    }
    conf_set(r->conf, "reference-config-file", "/dev/null");
    conf_set(r->conf, "threshold-file", "/dev/null");
    for (unsigned i = 0; i < RULES; i++)
        r->rev[i] = 1;
    rules_write_file(t, r->file[1], "config classification: one,The first,4\n");
    load(t, r);
    CHECK_INT(r->set->rules.count, RULES);
}

static void reload_close(struct reload *r)
{
    ruleset_unref(r->set);
    conf_free(r->conf);
    for (unsigned i = 0; i < FILES; i++)
        unlink(r->file[i]);
}

static const struct rule *rule_of(const struct reload *r, uint32_t sid)
{
    for (size_t i = 0; i < r->set->rules.count; i++)
        if (r->set->rules.at[i]->sid == sid)
            return r->set->rules.at[i];
    return NULL;
}

/* The number of rules that point to the same memory as in `before`. A set is loaded before the one
 * before it is freed, so other memory has other addresses. */
static unsigned shared(const struct reload *r, const struct rule_source *const *before)
{
    unsigned count = 0;

    for (uint32_t i = 0; i < RULES; i++) {
        const struct rule *rule = rule_of(r, i + 1);

        count += rule != NULL && rule->source != NULL && rule->source == before[i];
    }
    return count;
}

static void sources(const struct reload *r, const struct rule_source **out)
{
    for (uint32_t i = 0; i < RULES; i++) {
        const struct rule *rule = rule_of(r, i + 1);

        out[i] = rule != NULL ? rule->source : NULL;
    }
}

/* The last block is not full, so its rules are parsed again. */
TEST(reload_shares_rules_that_stay)
{
    const struct rule_source *before[RULES];
    const struct rule *rule;
    struct reload r;

    reload_open(t, &r);
    sources(&r, before);
    r.rev[7] = 2;
    r.rev[9] = 0;
    load(t, &r);
    CHECK(shared(&r, before) > RULES / 2 && shared(&r, before) < RULES - 1);
    CHECK(rule_of(&r, 9)->source == before[8]);
    CHECK(rule_of(&r, 8)->source != before[7] && rule_of(&r, 10) == NULL);
    CHECK_INT(rule_of(&r, 8)->rev, 2);
    rule = rule_of(&r, 12);
    CHECK_STRING(rule_info(rule)->msg, "11");
    CHECK_STRING(rule_info(rule)->class_text, "The first");
    CHECK_INT(rule->at.line, 11);
    CHECK(rule->list->buffer == rule_of(&r, 8)->list->buffer);
    CHECK_INT(buffer_count(r.set), 2);
    reload_close(&r);
}

TEST(reload_parses_all_rules_with_other_classes)
{
    const struct rule_source *before[RULES];
    struct reload r;

    reload_open(t, &r);
    sources(&r, before);
    rules_write_file(t, r.file[1], "config classification: one,The first,7\n");
    load(t, &r);
    CHECK_INT(shared(&r, before), 0);
    CHECK_INT(rule_of(&r, 1)->priority, 7);
    reload_close(&r);
}

/* What a keyword reads besides its text may have changed. */
TEST(reload_parses_rules_that_read_files)
{
    struct reload r;

    reload_open(t, &r);
    r.options = "filemd5:/dev/null;";
    load(t, &r);
    CHECK(rule_of(&r, 1)->source == NULL);
    CHECK(r.set->required.files & APP_FILE_MD5);
    reload_close(&r);
}

/* A rule that stays requires of the parsers what it required before. */
TEST(reload_requires_the_same_features)
{
    struct app_required_features before;
    struct reload r;

    reload_open(t, &r);
    r.options = "filesize:>10;";
    load(t, &r);
    before = r.set->required;
    load(t, &r);
    CHECK(before.files & APP_FILE_TRACK);
    CHECK(memcmp(&before, &r.set->required, sizeof(before)) == 0);
    reload_close(&r);
}

/* Neither blocks nor what rules have in common grow with the number of reloads. */
TEST(reload_keeps_no_memory_of_removed_rules)
{
    size_t blocks, most = 0, common = 0;
    struct reload r;

    reload_open(t, &r);
    blocks = r.set->blocks.count;
    for (unsigned i = 0; i < 100; i++) {
        r.rev[i * 7 % RULES]++;
        load(t, &r);
        most = MAX(most, r.set->blocks.count);
        common = MAX(common, r.set->common->arena.used);
    }
    CHECK(blocks >= 3);
    CHECK(most <= blocks * 2);
    CHECK(common < 2 * RULE_BLOCK_SIZE);
    CHECK_INT(rule_of(&r, 8)->rev, 2);
    reload_close(&r);
}
