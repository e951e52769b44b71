/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/state/profile.h - the cost of each rule: evaluations, matches and time. There are two
 * counts.
 *
 * The costs are always counted, from a sample of the packets (detect/inspect/packet_sample.h).
 * The profile counts all packets, each thread in its own memory. It is off until a command starts
 * it; threads count once they have seen the start (detect_thread_follow_profile()).
 *
 * Any thread may start, stop and sum while packets move. Only the thread that counts may join and
 * leave. */
#ifndef DETECT_PROFILE_H
#define DETECT_PROFILE_H

#include <stdbool.h>
#include <stdint.h>

struct ruleset;
struct profile;

/* In the costs what has a * is an estimate for all packets. */
struct rule_profile {
    uint64_t checks;            /* * evaluations, also if only the header was tested */
    uint64_t matches;           /* thresholds are applied later and do not count */
    uint64_t ticks;             /* * base/system/clock.h: clock_ticks() */
    uint64_t match_ticks;       /* * part of `ticks`: checks that matched */
    uint64_t max_ticks;         /* of the longest check */
    uint64_t limits;            /* checks that reached a limit on work, and so did not match */
    uint64_t timed;             /* costs: evaluations that the estimates come from */
};

struct profile *profile_new(unsigned rule_count);
struct profile *costs_new(unsigned rule_count);
void profile_free(struct profile *p);           /* after all threads have left */

/* Each ruleset has a profile; a new ruleset starts at zero. */
void ruleset_profile_start(struct ruleset *set);
void ruleset_profile_stop(struct ruleset *set);     /* keeps the counts */
bool ruleset_profile_is_on(const struct ruleset *set);
/* Returns an array in the order of ruleset_rule(); the caller frees it. NULL: nothing was ever
 * counted. */
struct rule_profile *ruleset_profile_sum(const struct ruleset *set);
/* The same for the costs; a tick takes *tick_ns. */
struct rule_profile *ruleset_costs_sum(const struct ruleset *set, double *tick_ns);
/* Nanoseconds of a tick. */
double ruleset_costs_tick(const struct ruleset *set);
struct part_costs;
struct part_costs *ruleset_part_costs(const struct ruleset *set);
/* Clears the counts of threads that have left, both the profile's and the costs. */
void ruleset_profile_clear(struct ruleset *set);

/* --- the threads that evaluate rules --------------------------------------------------------- */

struct rule_profile *profile_join(struct profile *p);              /* one entry per rule */
void profile_leave(struct profile *p, struct rule_profile *profile);  /* frees it; NULL is fine */
void rule_profile_add(struct rule_profile *c, uint64_t ticks, bool matched, bool limited);
/* The costs. What comes from the sample is rare, so all threads count it in one place: an
 * evaluation on a timed packet, which stands for `weight` packets. What is counted on all packets
 * has a place for each thread. */
struct rule_hits {
    uint64_t matches, limits;
};
struct rule_profile *costs_shared(struct profile *p);   /* one entry per rule; NULL: no memory */
struct rule_hits *costs_join(struct profile *p);        /* one entry per rule; NULL: no memory */
void costs_leave(struct profile *p, struct rule_hits *hits);    /* frees it; NULL is fine */
void rule_cost_add(struct rule_profile *c, uint64_t ticks, uint32_t weight, bool matched);
void rule_hits_add(struct rule_hits *h, bool matched, bool limited);

#endif
