/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/tx_engines.h - the steps in which a rule inspects transactions, as Suricata counts
 * them ("inspection engines"): one for each buffer or group of tests, protocol and direction.
 *
 * The check whether a rule can match at its hook uses it, and detect/analysis/. Load time only:
 * inspection uses programs and tests directly. */
#ifndef DETECT_TX_ENGINES_H
#define DETECT_TX_ENGINES_H

#include "app/reports.h"
#include "base/array.h"
#include "detect/rule/program.h"

struct tx_engine {
    const struct rule_list *list;       /* NULL: tests[] alone, or the stream */
    const char *position;               /* of tests; NULL: list */
    bool stream, pattern;               /* `pattern`: has the rule's fast pattern */
    bool hook;                          /* created for the rule's hook; inspects nothing else */
    uint8_t direction, progress;
    uint8_t step, kind;                 /* of the hook: its step of progress, rule.hook_kind */
    enum app_proto_id proto;
};
typedef ARRAY_OF(struct tx_engine) tx_engines;

/* Returns the engines in order of inspection. `pattern` is the content by which the rule is found,
 * or NULL. Free the result with ARRAY_FREE. */
void tx_engines_of(const struct rule *rule, const struct rule_op *pattern, tx_engines *out);

/* True when everything that the rule inspects exists at the rule's hook, and for rules without a
 * hook. */
bool tx_engines_fit_hook(const struct rule *rule);

/* --- names and progress, as Suricata reports them --------------------------------------------- */

#define ENGINE_NAME_SIZE 96

/* The name of a buffer; NULL: the payload. A composed name is written into `out`. */
const char *engine_buffer_name(const struct buffer *buffer, char out[ENGINE_NAME_SIZE]);
/* The name of the list that holds a test on transactions. */
const char *engine_test_position(const struct rule_test *test);
/* The name of a test with this keyword in the rule's list. */
const char *engine_listed_name(const struct keyword_ops *keyword);
/* The ranks of a buffer or position in this protocol; NULL: none. */
const struct app_report_order *engine_order(const char *name, enum app_proto_id proto);
/* The progress to report for a step whose progress in this engine is `own`. */
uint8_t engine_progress(const char *name, enum app_proto_id proto, unsigned direction,
                        uint8_t own);

#endif
