/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/matched.h - where the conditions of a rule have matched, in the alert's context
 * (`matched: yes` below the eve-log's alerts).
 *
 * Each packet thread has one. It works when a rule has matched, and a run without the setting does
 * not know of it. */
#ifndef DETECT_MATCHED_H
#define DETECT_MATCHED_H

#include "packet/inspection.h"

struct detect_thread;
struct matched;

struct matched *matched_new(void);
void matched_free(struct matched *m);           /* NULL is fine */
/* Drops its rulesets: the thread has taken others. */
void matched_clear(struct matched *m);
/* detect_inspect(), and the places of what has matched in the context of its alerts. */
void matched_inspect(struct matched *m, struct detect_thread *dt, const struct inspection *in);

#endif
