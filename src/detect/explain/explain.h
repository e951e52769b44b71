/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/explain.h - why rules fired, and why they did not: ids --explain.
 *
 * One packet thread uses it; it evaluates the wanted rules a second time beside the inspection, and
 * keeps of each rule what came nearest. Rules are not changed by it, and a run without it does not
 * know of it. */
#ifndef DETECT_EXPLAIN_H
#define DETECT_EXPLAIN_H

#include "detect/rule/ruleset.h"
#include "packet/inspection.h"

struct buf;
struct counters;
struct conf_node;
struct detect_thread;
struct explain;
struct tenants;

struct explain_request {
    const char *rules;          /* "2012887,2012888", or "all" */
    const struct tenants *tenants;      /* their rules are asked, too; NULL: none */
    const char *flow;           /* only this one: "10.0.0.1:1024-10.0.0.2:80"; NULL: all */
    const char *nearest;        /* how many of each rule are shown; NULL: 10 */
    bool json, summary;
    /* The text of a rule that has lost it, in the arena; NULL: there is none. */
    const char *(*text_of)(const struct rule *r, struct arena *arena);
};

/* The set must have the texts of its rules. NULL with *err: a wrong list or flow. */
struct explain *explain_new(const struct explain_request *request, struct ruleset *set,
                            struct err *err);
void explain_free(struct explain *e);           /* NULL is fine */

/* By the packet thread, before its first packet. */
int explain_begin(struct explain *e, const struct conf_node *conf, struct counters *counters,
                  struct err *err);
void explain_end(struct explain *e);
/* detect_inspect(), and what the wanted rules made of it. */
void explain_inspect(struct explain *e, struct detect_thread *dt, const struct inspection *in);

/* When all packets have gone. False: memory ran out. */
bool explain_write(struct explain *e, struct buf *out);
/* False: a rule that is asked about is not among those that were loaded or refused. */
bool explain_found(const struct explain *e);
/* Writes "rule 99 is not among the rules that were loaded; the nearest are 98, 7" about the first
 * such rule. False: there is none, and nothing is written. */
bool explain_add_unknown(const struct explain *e, struct buf *out);

#endif
