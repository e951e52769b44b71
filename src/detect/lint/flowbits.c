/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/flowbits.c - flowbits that one rule waits for and none sets, or that one sets and
 * none reads. Scripts may use flowbits by name, so a set with scripts has no such findings. */
#include "detect/lint/private.h"

#include "detect/rule/flowbits.h"
#include "flow/vars.h"

#include <string.h>

struct bits { bool *set, *read; uint32_t count; };

static void bits_reserve(struct lint *l, struct bits *bits, uint32_t id)
{
    uint32_t count = id + 1024;
    bool *set, *read;

    if (id < bits->count)
        return;
    set = arena_zalloc(&l->arena, count);
    read = arena_zalloc(&l->arena, count);
    if (bits->count > 0) {
        memcpy(set, bits->set, bits->count);
        memcpy(read, bits->read, bits->count);
    }
    *bits = (struct bits){ set, read, count };
}

static bool is_test(const struct flowbits_use *use)
{
    return strcmp(use->command, "isset") == 0 || strcmp(use->command, "isnotset") == 0;
}

static bool is_set(const struct flowbits_use *use)
{
    return strcmp(use->command, "set") == 0 || strcmp(use->command, "toggle") == 0;
}

static void count_use(struct lint *l, struct bits *bits, const struct rule_test *test)
{
    struct flowbits_use use;

    if (!flowbits_use_of(test, &use))
        return;
    for (unsigned i = 0; i < use.count; i++) {
        bits_reserve(l, bits, use.id[i]);
        if (is_set(&use))
            bits->set[use.id[i]] = true;
        if (is_test(&use))
            bits->read[use.id[i]] = true;
    }
}

static struct bits count_all(struct lint *l)
{
    struct bits bits = { 0 };

    for (size_t i = 0; i < l->set->rules.count; i++) {
        const struct rule *rule = l->set->rules.at[i];

        for (unsigned k = 0; k < rule->test_count; k++)
            count_use(l, &bits, &rule->test[k]);
        for (unsigned k = 0; k < rule->post_count; k++)
            count_use(l, &bits, &rule->post[k]);
    }
    return bits;
}

/* Several bits joined by "|": one that is set is enough. */
static bool any_set(const struct bits *bits, const struct flowbits_use *use)
{
    for (unsigned i = 0; i < use->count; i++)
        if (bits->set[use->id[i]])
            return true;
    return false;
}

/* The option with this command and bit. */
static const struct lint_option *option_with(const struct lint_rule *r, const char *command,
                                             const char *name)
{
    for (unsigned i = 0; i < r->option_count; i++) {
        struct text rest = r->option[i].value, word;

        if (text_equal(r->option[i].name, "flowbits") && text_split(&rest, ',', &word) &&
            text_equal(word, command) && text_split(&rest, '|', &word) && text_equal(word, name))
            return &r->option[i];
    }
    return NULL;
}

static void never_set_of(struct lint *l UNUSED, const struct lint_rule *r, const struct bits *bits)
{
    for (unsigned i = 0; i < r->rule->test_count; i++) {
        struct flowbits_use use;
        const char *name;

        if (!flowbits_use_of(&r->rule->test[i], &use) || strcmp(use.command, "isset") != 0 ||
            any_set(bits, &use))
            continue;
        name = var_name(VAR_FLOWBIT, use.id[0]);
        lint_find(r, lint_place(option_with(r, "isset", name)),
                  "load the rule that sets it, or correct the name",
                  "the rule never matches: it waits for flowbit %s%s, which no rule sets", name,
                  use.count > 1 ? " or others" : "");
    }
}

static void never_set_all(struct lint *l)
{
    struct bits bits = count_all(l);

    for (unsigned i = 0; i < l->rule_count && l->set->scripts.count == 0; i++)
        never_set_of(l, &l->rule[i], &bits);
}

const struct lint_check lint_flowbit_never_set = {
    .name = "flowbit-never-set", .level = LINT_ERROR, .all = never_set_all,
};

/* A rule that alerts has done its work, whether or not its bit is read. */
static void never_read_of(struct lint *l UNUSED, const struct lint_rule *r, const struct bits *bits)
{
    for (unsigned i = 0; i < r->rule->post_count; i++) {
        struct flowbits_use use;
        const char *name;

        if (!(r->rule->flags & RULE_NOALERT) || !flowbits_use_of(&r->rule->post[i], &use) ||
            strcmp(use.command, "set") != 0 || bits->read[use.id[0]])
            continue;
        name = var_name(VAR_FLOWBIT, use.id[0]);
        lint_find(r, lint_place(option_with(r, "set", name)),
                  "load the rules that read it, or leave this rule out",
                  "the rule only sets flowbit %s, and no rule reads it", name);
    }
}

static void never_read_all(struct lint *l)
{
    struct bits bits = count_all(l);

    for (unsigned i = 0; i < l->rule_count && l->set->scripts.count == 0; i++)
        never_read_of(l, &l->rule[i], &bits);
}

const struct lint_check lint_flowbit_never_read = {
    .name = "flowbit-never-read", .level = LINT_WARNING, .all = never_read_all,
};
