/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/live.h - ids --explain while packets flow: for some seconds each packet thread
 * asks the wanted rules about a sample of its flows.
 *
 * The thread of the control socket makes a struct explain_live, shows it to the packet threads, and
 * writes the answer when none of them uses it any more. A packet thread has one part of it, which
 * no other touches meanwhile. */
#ifndef DETECT_EXPLAIN_LIVE_H
#define DETECT_EXPLAIN_LIVE_H

#include "detect/rule/ruleset.h"
#include "packet/inspection.h"

struct buf;
struct conf_node;
struct detect_thread;
struct explain_live;
struct explain_part;
struct matched;
struct tenants;

#define EXPLAIN_LIVE_RULES 10   /* of one question */

struct explain_live_request {
    const char *rules;          /* "2012887,2012888" */
    unsigned seconds, threads;  /* for so long; packet threads */
    const struct tenants *tenants;      /* NULL: none */
};

/* NULL with *err: a wrong list, or a rule that is not loaded. */
struct explain_live *explain_live_new(const struct explain_live_request *request,
                                      struct ruleset *set, const struct conf_node *conf,
                                      struct err *err);
void explain_live_free(struct explain_live *live);      /* NULL is fine; no thread uses it */
void explain_live_stop(struct explain_live *live);      /* before its time */
/* 0: over. */
unsigned explain_live_seconds_left(const struct explain_live *live);
/* The rules of the question; returns how many. The list lives as long as the question. */
unsigned explain_live_sids(const struct explain_live *live, const uint32_t **sids);
/* Whether a packet thread has a part of it. */
bool explain_live_is_used(const struct explain_live *live);
/* When it is over and not used. False: memory ran out. */
bool explain_live_write(struct explain_live *live, bool json, struct buf *out);
/* The packets that came meanwhile, and those that the rules were asked about. */
void explain_live_counts(const struct explain_live *live, uint64_t *packets, uint64_t *asked);

/* --- packet threads ------------------------------------------------------------------------- */

/* Between two vectors. NULL: it is over, or has no part for one more thread. */
struct explain_part *explain_live_join(struct explain_live *live);
void explain_part_leave(struct explain_part *part);
bool explain_part_is_over(const struct explain_part *part);
/* detect_inspect(), or that of `matched`; and perhaps what the wanted rules make of it. False: it
 * is over. */
bool explain_part_inspect(struct explain_part *part, struct matched *matched,
                          struct detect_thread *dt, const struct inspection *in);

#endif
