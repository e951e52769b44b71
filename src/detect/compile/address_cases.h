/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/address_cases.h - divides rules by the addresses that they can match.
 *
 * Most rules name the same set of addresses, as $HOME_NET, on one side or the other. The sender of
 * some bytes is in it or not, and so is the receiver: four cases. In most cases most rules cannot
 * match, so each case has its own pattern sets, of the rules that can. Read-only once built. */
#ifndef DETECT_COMPILE_ADDRESS_CASES_H
#define DETECT_COMPILE_ADDRESS_CASES_H

#include "detect/rule/rule.h"

#define ADDRESS_CASES 4u                /* bit 0: the receiver is in the set; bit 1: the sender */
#define ADDRESS_CASES_ALL 0xfu

struct address_cases {
    const struct address_set *home;     /* that most rules name; NULL: they name none */
    struct rule sender, receiver;       /* headers of which only one side is named: `home` */
};

/* Needs all rules. Their headers need no number yet: those of these two are the last ones. */
void address_cases_init(struct address_cases *cases, struct rule *const *rule, unsigned count);
/* A bit for each case in which the rule's addresses can match. */
unsigned address_cases_of(const struct address_cases *cases, const struct rule *rule);

/* Cases that use the same list: of[i] is the first case that has the list of case i, mask[i] all of
 * them as bits. */
struct case_lists { uint8_t of[ADDRESS_CASES], mask[ADDRESS_CASES]; };

/* bits: for each rule of a list the cases in which it can match. Cases share a list if theirs would
 * hardly be shorter. */
void case_lists_choose(struct case_lists *lists, const uint8_t *bits, unsigned count);

#endif
