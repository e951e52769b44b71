/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/profile.h - what each rule costs: how often it is evaluated, how often it matches,
 * and the time that takes. Off until a command starts it; then each packet thread counts in memory
 * of its own, once it knows (detect_thread_follow_profile), and no other thread writes there.
 *
 * Start, stop and sums may come from any thread while packets move; join and leave from the one
 * that counts. */
#ifndef DETECT_PROFILE_H
#define DETECT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

struct ruleset;
struct profile;

struct rule_profile {
    uint64_t checks;            /* evaluations, also if only the header was tested */
    uint64_t matches;           /* thresholds come later and change nothing here */
    uint64_t ticks;             /* base/system/clock.h: clock_ticks() */
    uint64_t match_ticks;       /* of these, in checks that matched */
    uint64_t max_ticks;         /* in one check */
    uint64_t limits;            /* checks that met a limit on work and so did not match */
};

struct profile *profile_new(unsigned rule_count);
void profile_free(struct profile *p);           /* all have left */

/* A set of rules has one; another set that takes its place begins at nothing. */
void ruleset_profile_start(struct ruleset *set);
void ruleset_profile_stop(struct ruleset *set);     /* what has been counted stays */
bool ruleset_profile_is_on(const struct ruleset *set);
/* By ruleset_rule(); for the caller to free. NULL: nothing has ever been counted. */
struct rule_profile *ruleset_profile_sum(const struct ruleset *set);
/* Forgets what threads that have left had counted. */
void ruleset_profile_clear(struct ruleset *set);

/* --- the threads that ask rules ------------------------------------------------------------- */

struct rule_profile *profile_join(struct profile *p);              /* one a rule */
void profile_leave(struct profile *p, struct rule_profile *profile);  /* frees it; NULL is fine */
void rule_profile_add(struct rule_profile *c, uint64_t ticks, bool matched, bool limited);

#endif
