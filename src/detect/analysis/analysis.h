/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/analysis.h - --engine-analysis: reports on what became of each rule.
 *
 * Runs once, on one thread, after the rules are compiled; the ruleset is only read. Names and
 * formats are those of Suricata's reports, so that tools for them go on working. */
#ifndef DETECT_ANALYSIS_H
#define DETECT_ANALYSIS_H

#include "base/err.h"

struct conf_node;
struct ruleset;

/* rules.json, patterns.json, flowbits.json and, as engine-analysis.rules and
 * .rules-fast-pattern ask for them, rules_analysis.txt and rules_fast_pattern.txt, in log_dir.
 * -1: a file could not be written, *err says which. */
int analysis_write(const struct ruleset *set, const struct conf_node *root, const char *log_dir,
                   struct err *err);

/* rule_group.json, if detect.profiling.grouping.dump-to-disk asks for it. */
int analysis_write_groups(const struct ruleset *set, const struct conf_node *root,
                          const char *log_dir, struct err *err);

#endif
