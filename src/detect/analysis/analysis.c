/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/analysis.c - --engine-analysis: selects the reports and opens their files. Names
 * of files and settings are Suricata's. Runs once, on the main thread, without packets. */
#include "detect/analysis/analysis.h"

#include "base/report/log.h"
#include "conf/conf.h"
#include "detect/analysis/private.h"
#include "detect/rule/rule_block.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* The report is complete in memory before the file is opened, so a failed report leaves no
 * half of one. */
static int file_write(const char *log_dir, const char *name, const struct buf *text,
                      struct err *err)
{
    char path[4096];
    FILE *f;
    bool ok;

    snprintf(path, sizeof(path), "%s/%s", log_dir, name);
    f = fopen(path, "w");
    if (f == NULL)
        return err_set(err, "cannot write %s: %s", path, strerror(errno));
    ok = fwrite(text->data, 1, text->len, f) == text->len;
    if (fclose(f) != 0 || !ok)
        return err_set(err, "cannot write %s: %s", path, strerror(errno));
    return 0;
}

/* The heading of Suricata's reports. */
static void heading(struct buf *out)
{
    static const char line[] =
        "-------------------------------------------------------------------\n";
    time_t now = time(NULL);
    struct tm tm;
    char date[40];

    localtime_r(&now, &tm);
    strftime(date, sizeof(date), "Date: %d/%m/%Y -- %H:%M:%S\n", &tm);
    buf_add_string(out, line);
    buf_add_string(out, date);
    buf_add_string(out, line);
}

/* A report for people: a file with a part for each rule, and perhaps a summary at its end. */
struct text_report {
    const char *name;
    void (*rule)(struct buf *out, const struct rule *rule, const struct conf_node *root);
    void (*summary)(struct buf *out, const struct ruleset *set);
};

static const struct text_report fast_patterns = {
    "rules_fast_pattern.txt", analysis_fast_pattern_text, analysis_fast_pattern_summary,
};
static const struct text_report rules_for_people = {
    "rules_analysis.txt", analysis_rule_text, NULL,
};

static int write_text(const struct ruleset *set, const struct conf_node *root,
                      const char *log_dir, const struct text_report *report, struct err *err)
{
    struct buf out = { 0 };
    int r;

    heading(&out);
    for (size_t i = 0; i < set->rules.count; i++)
        if (!set->rules.at[i]->is_facts)
            report->rule(&out, set->rules.at[i], root);
    if (report->summary != NULL)
        report->summary(&out, set);
    r = file_write(log_dir, report->name, &out, err);
    buf_fini(&out);
    return r;
}

/* One object per line, so that tools can read it line by line. */
static int write_rules_json(const struct ruleset *set, const char *log_dir, struct err *err)
{
    struct buf out = { 0 };
    int r;

    for (size_t i = 0; i < set->rules.count; i++)
        if (!set->rules.at[i]->is_facts)
            analysis_rule_json(&out, set->rules.at[i]);
    r = file_write(log_dir, "rules.json", &out, err);
    buf_fini(&out);
    return r;
}

/* An empty report has no file. */
static int write_set_json(const struct ruleset *set, const char *log_dir, const char *name,
                          void (*report)(struct buf *out, const struct ruleset *set),
                          struct err *err)
{
    struct buf out = { 0 };
    int r;

    report(&out, set);
    r = out.len > 0 ? file_write(log_dir, name, &out, err) : 0;
    buf_fini(&out);
    return r;
}

/* Suricata's "warnings-only" counts as enabled. */
static bool is_enabled(const struct conf_node *root, const char *key)
{
    const char *value = conf_string(root, key, NULL);

    return value != NULL && (strcmp(value, "warnings-only") == 0 || conf_bool(root, key, false));
}

/* Always writes the JSON files; writes the texts only if the configuration enables them. */
int analysis_write(const struct ruleset *set, const struct conf_node *root, const char *log_dir,
                   struct err *err)
{
    bool rules = is_enabled(root, "engine-analysis.rules");
    bool patterns = is_enabled(root, "engine-analysis.rules-fast-pattern");

    rule_blocks_read_operations(set);
    if (patterns && write_text(set, root, log_dir, &fast_patterns, err) < 0)
        return -1;
    if (rules && write_text(set, root, log_dir, &rules_for_people, err) < 0)
        return -1;
    if (!rules && !patterns)
        log_info("detect", "engine-analysis: no report on rules is enabled");
    if (write_rules_json(set, log_dir, err) < 0 ||
        write_set_json(set, log_dir, "patterns.json", analysis_patterns_json, err) < 0 ||
        write_set_json(set, log_dir, "flowbits.json", analysis_flowbits_json, err) < 0)
        return -1;
    return 0;
}

/* Suricata writes this file when rules are loaded; here --engine-analysis does. */
int analysis_write_groups(const struct ruleset *set, const struct conf_node *root,
                          const char *log_dir, struct err *err)
{
    struct buf out = { 0 };
    int r;

    if (!conf_bool(root, "detect.profiling.grouping.dump-to-disk", false))
        return 0;
    rule_blocks_read_operations(set);
    analysis_groups_json(&out, set, root);
    r = file_write(log_dir, "rule_group.json", &out, err);
    buf_fini(&out);
    return r;
}
