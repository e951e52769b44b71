/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/lint/lint.c - runs the checks that are wanted, and writes what they found. */
#include "detect/lint/private.h"

#include "base/report/json.h"
#include "detect/lint/list.h"
#include "detect/rule/rule_block.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define K(name) extern const struct lint_check lint_##name;
LINT_CHECK_LIST(K)
#undef K
#define K(name) &lint_##name,
static const struct lint_check *const checks[] = { LINT_CHECK_LIST(K) };
#undef K

static const char *const level_names[] = {
    [LINT_ERROR] = "error", [LINT_WARNING] = "warning", [LINT_NOTE] = "note",
};

/* --- findings ----------------------------------------------------------------------------- */

/* A rule on one line needs nothing but its beginning. */
static struct where place_of(struct lint *l, const struct rule *rule, const char *at)
{
    struct where where = rule->at;
    char key[4200];
    const struct rule_text *text;

    if (at == NULL)
        return where;
    snprintf(key, sizeof(key), "%s:%u", rule->at.file, rule->at.line);
    text = map_get_string(&l->parts, key);
    if (text != NULL && strlen(rule->text) == text->text.n)
        return rule_text_at(text, text->text.p + (at - rule->text));
    where.column += (unsigned)(at - rule->text);
    return where;
}

void lint_find_at(struct lint *l, const struct lint_finding *finding)
{
    ARRAY_PUSH(&l->finding, *finding);
}

void lint_find(const struct lint_rule *r, const char *at, const char *mend, const char *fmt, ...)
{
    struct lint *l = r->lint;
    char reason[1000];
    va_list args;

    va_start(args, fmt);
    vsnprintf(reason, sizeof(reason), fmt, args);
    va_end(args);
    lint_find_at(l, &(struct lint_finding){
        .check = l->check, .at = place_of(l, r->rule, at), .sid = r->rule->sid,
        .gid = r->rule->gid, .reason = arena_text(&l->arena, text_of(reason)), .mend = mend });
}

/* --- which checks ------------------------------------------------------------------------- */

static const struct lint_check *check_named(struct text name)
{
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (text_equal(name, checks[i]->name))
            return checks[i];
    return NULL;
}

static int check_names(const char *off, struct err *err)
{
    struct text rest = text_of(off), word;
    char shown[60];

    while (text_split(&rest, ',', &word)) {
        if (check_named(word) != NULL)
            continue;
        snprintf(shown, sizeof(shown), "%.*s", TEXT(word));
        return err_set(err, "--lint-off: there is no class \"%s\"; doc/lint.md lists them", shown);
    }
    return 0;
}

static bool is_off(const char *off, const struct lint_check *check)
{
    struct text rest = text_of(off), word;

    while (text_split(&rest, ',', &word))
        if (text_equal(word, check->name))
            return true;
    return false;
}

/* The class of a rule that the engine refuses: by what the message says. */
static const struct lint_check *check_of_refusal(const char *message)
{
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        for (const char *const *part = checks[i]->refusals; part != NULL && *part != NULL; part++)
            if (strstr(message, *part) != NULL)
                return checks[i];
    return &lint_refused;
}

static uint32_t sid_of(const char *rule)
{
    const char *p = strstr(rule, "sid:");
    uint64_t sid = 0;

    return p != NULL && text_to_u64(text_trim((struct text){ p + 4, strcspn(p + 4, ";") }),
                                    UINT32_MAX, &sid) ? (uint32_t)sid : 0;
}

/* Rules that were not loaded have failed before any check ran. */
static void add_refused(struct lint *l, const char *off)
{
    for (size_t i = 0; i < l->set->failures.count; i++) {
        const struct ruleset_failure *f = &l->set->failures.at[i];
        const struct lint_check *check = check_of_refusal(f->error);

        if (is_off(off, check))
            continue;
        lint_find_at(l, &(struct lint_finding){
            .check = check, .at = f->at.line != 0 ? f->at : (struct where){ f->file, f->line, 1 },
            .sid = sid_of(f->rule), .gid = 1, .reason = f->error, .mend = check->mend });
    }
}

static void run(struct lint *l, const char *off)
{
    add_refused(l, off);
    for (size_t i = 0; i < ARRAY_LEN(checks); i++) {
        l->check = checks[i];
        if (is_off(off, l->check))
            continue;
        if (l->check->all != NULL)
            l->check->all(l);
        for (unsigned k = 0; l->check->rule != NULL && k < l->rule_count; k++)
            l->check->rule(l, &l->rule[k]);
    }
}

/* --- the report --------------------------------------------------------------------------- */

static int compare_findings(const void *a, const void *b)
{
    const struct lint_finding *x = a, *y = b;
    int files = strcmp(x->at.file, y->at.file);

    if (files != 0)
        return files;
    if (x->at.line != y->at.line)
        return x->at.line < y->at.line ? -1 : 1;
    if (x->at.column != y->at.column)
        return x->at.column < y->at.column ? -1 : 1;
    return strcmp(x->check->name, y->check->name);
}

static unsigned count_of(const struct lint *l, const struct lint_check *check)
{
    unsigned count = 0;

    for (size_t i = 0; i < l->finding.count; i++)
        count += l->finding.at[i].check == check;
    return count;
}

/* The form of compilers, which editors understand. */
static void write_text(const struct lint *l, struct buf *out)
{
    size_t rules = l->rule_count + l->set->failures.count;

    for (size_t i = 0; i < l->finding.count; i++) {
        const struct lint_finding *f = &l->finding.at[i];

        buf_printf(out, "%s:%u:%u: %s: ", f->at.file, f->at.line, f->at.column,
                   level_names[f->check->level]);
        if (f->sid != 0)
            buf_printf(out, "sid %u: ", f->sid);
        buf_add_string(out, f->reason);
        buf_printf(out, " [%s]\n    mend: %s\n", f->check->name, f->mend);
    }
    buf_printf(out, "%zu finding%s in %zu rule%s", l->finding.count,
               l->finding.count == 1 ? "" : "s", rules, rules == 1 ? "" : "s");
    for (size_t i = 0, shown = 0; i < ARRAY_LEN(checks); i++) {
        unsigned count = count_of(l, checks[i]);

        if (count > 0)
            buf_printf(out, "%s%u %s", shown++ == 0 ? ": " : ", ", count, checks[i]->name);
    }
    BUF_LITERAL(out, "\n");
}

static void write_json(const struct lint *l, struct buf *out)
{
    struct json j;

    for (size_t i = 0; i < l->finding.count; i++) {
        const struct lint_finding *f = &l->finding.at[i];

        json_init(&j, out);
        json_object(&j, NULL);
        json_string(&j, "file", f->at.file);
        json_u64(&j, "line", f->at.line);
        json_u64(&j, "column", f->at.column);
        json_u64(&j, "gid", f->gid);
        json_u64(&j, "sid", f->sid);
        json_string(&j, "class", f->check->name);
        json_string(&j, "level", level_names[f->check->level]);
        json_string(&j, "reason", f->reason);
        json_string(&j, "mend", f->mend);
        json_object_end(&j);
        BUF_LITERAL(out, "\n");
    }
    json_init(&j, out);
    json_object(&j, NULL);
    json_object(&j, "summary");
    json_u64(&j, "rules", l->rule_count);
    json_u64(&j, "refused", l->set->failures.count);
    json_u64(&j, "findings", l->finding.count);
    json_object(&j, "classes");
    for (size_t i = 0; i < ARRAY_LEN(checks); i++)
        if (count_of(l, checks[i]) > 0)
            json_u64(&j, checks[i]->name, count_of(l, checks[i]));
    json_object_end(&j);
    json_object_end(&j);
    json_object_end(&j);
    BUF_LITERAL(out, "\n");
}

int lint_write(const struct ruleset *set, const struct lint_request *request, struct buf *out,
               unsigned *count, struct err *err)
{
    struct lint l = { .set = set };

    if (check_names(request->off, err) < 0)
        return -1;
    arena_init(&l.arena, 4 << 20, 0);
    rule_blocks_read_operations(set);
    lint_read_rules(&l);
    run(&l, request->off);
    if (l.finding.count > 0)
        qsort(l.finding.at, l.finding.count, sizeof(l.finding.at[0]), compare_findings);
    if (request->json)
        write_json(&l, out);
    else
        write_text(&l, out);
    *count += (unsigned)l.finding.count;
    ARRAY_FREE(&l.finding);
    map_fini(&l.parts);
    arena_fini(&l.arena);
    return 0;
}
