/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/analysis/analysis.h - --engine-analysis: reports on how each rule was compiled.
 *
 * Runs once, on one thread, after the rules are compiled; the ruleset is only read. Names and
 * formats are those of Suricata's reports, so that tools for them work. */
#ifndef DETECT_ANALYSIS_H
#define DETECT_ANALYSIS_H

#include "base/err.h"

struct conf_node;
struct ruleset;

/* Writes rules.json, patterns.json, flowbits.json and, if engine-analysis.rules and
 * .rules-fast-pattern are set, rules_analysis.txt and rules_fast_pattern.txt, to log_dir. Returns
 * -1 with err set when a file cannot be written. */
int analysis_write(const struct ruleset *set, const struct conf_node *root, const char *log_dir,
                   struct err *err);

/* Writes rule_group.json, if detect.profiling.grouping.dump-to-disk is set. */
int analysis_write_groups(const struct ruleset *set, const struct conf_node *root,
                          const char *log_dir, struct err *err);

#endif
