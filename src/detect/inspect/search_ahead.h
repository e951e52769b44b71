/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/search_ahead.h - a helper thread that searches payloads of elephant flows before
 * the packet thread inspects them (flow.elephant.action: spread).
 *
 * The packet thread posts the payloads of a vector as one round of jobs. Both threads then search:
 * the helper from the first job on, the packet thread where the helper is not.
 * A search only reads the payload and the ruleset, and finds the same candidates on either thread.
 * Everything else stays on the packet thread, in the order of packets. */
#ifndef DETECT_SEARCH_AHEAD_H
#define DETECT_SEARCH_AHEAD_H

#include "detect/prefilter/payload_sets.h"

struct search_ahead;

/* NULL: the helper could not be started. */
struct search_ahead *search_ahead_new(void);
void search_ahead_free(struct search_ahead *sa);        /* NULL is fine; between rounds */

/* Makes memory for the rules to come, between rounds. Borrows the packet thread's own scratch and
 * takes the helper's over; NULL for sets that need none. */
void search_ahead_set_rules(struct search_ahead *sa, unsigned rules, struct hs_scratch *own,
                            struct hs_scratch *helper);

/* Only the packet thread calls these. A round: add jobs of the packets of a vector, with rising
 * positions, start, reach each packet, end. */
void search_ahead_add(struct search_ahead *sa, unsigned at, const struct payload_sets *sets,
                      const struct sent_payload *payload);
void search_ahead_start(struct search_ahead *sa);
/* The packet thread comes to the packet at this position. On return the helper uses no packet
 * before it: while the thread waits in the sequencer, these may go back to their pool. */
void search_ahead_reach(struct search_ahead *sa, unsigned at);
/* True: the helper has searched these bytes of the packet that was reached, and the candidates are
 * in `out`. False: the caller must search. must_wait: the caller may change the bytes, so the
 * helper must not be reading them on return. */
bool search_ahead_take(struct search_ahead *sa, const struct payload_sets *sets, struct slice data,
                       bool must_wait, struct candidates *out);
void search_ahead_end(struct search_ahead *sa);

/* Searches of the helper that search_ahead_take() has answered with. */
uint64_t search_ahead_answers(const struct search_ahead *sa);

#endif
