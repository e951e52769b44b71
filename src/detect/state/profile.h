/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/profile.h - the cost of each rule: evaluations, matches and time. Off until a
 * command starts it. Each packet thread then counts in its own memory, once it has seen the start
 * (detect_thread_follow_profile()).
 *
 * Any thread may start, stop and sum while packets move. Only the thread that counts may join and
 * leave. */
#ifndef DETECT_PROFILE_H
#define DETECT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

struct ruleset;
struct profile;

struct rule_profile {
    uint64_t checks;            /* evaluations, also if only the header was tested */
    uint64_t matches;           /* thresholds are applied later and do not count */
    uint64_t ticks;             /* base/system/clock.h: clock_ticks() */
    uint64_t match_ticks;       /* part of `ticks`: checks that matched */
    uint64_t max_ticks;         /* of the longest check */
    uint64_t limits;            /* checks that reached a limit on work, and so did not match */
};

struct profile *profile_new(unsigned rule_count);
void profile_free(struct profile *p);           /* after all threads have left */

/* Each ruleset has a profile; a new ruleset starts at zero. */
void ruleset_profile_start(struct ruleset *set);
void ruleset_profile_stop(struct ruleset *set);     /* keeps the counts */
bool ruleset_profile_is_on(const struct ruleset *set);
/* Returns an array in the order of ruleset_rule(); the caller frees it. NULL: nothing was ever
 * counted. */
struct rule_profile *ruleset_profile_sum(const struct ruleset *set);
/* Clears the counts of threads that have left. */
void ruleset_profile_clear(struct ruleset *set);

/* --- the threads that evaluate rules --------------------------------------------------------- */

struct rule_profile *profile_join(struct profile *p);              /* one entry per rule */
void profile_leave(struct profile *p, struct rule_profile *profile);  /* frees it; NULL is fine */
void rule_profile_add(struct rule_profile *c, uint64_t ticks, bool matched, bool limited);

#endif
