/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/rule/program_limits.h - how much programs may do: each alone, and all on one packet. */
#ifndef DETECT_PROGRAM_LIMITS_H
#define DETECT_PROGRAM_LIMITS_H

#include <stdint.h>

/* The limit at which a program stopped; it has not matched then. */
enum program_limit {
    PROGRAM_PCRE_LIMIT = 1u << 0,       /* pcre.match-limit, match-limit-recursion, its stack */
    PROGRAM_STEP_LIMIT = 1u << 1,       /* inspection-recursion-limit, work-by-byte of `detect` */
};

/* Every program may take so many. */
#define PROGRAM_STEPS_FREE 10

/* The work of all programs on one packet, in steps. */
struct program_work {
    uint64_t used;              /* beyond PROGRAM_STEPS_FREE of each program */
    uint64_t estimated;         /* at most, of expressions that ran without counting */
    uint64_t own;               /* what the packet pays for; valid while `most` is not 0 */
    uint64_t most;              /* and what its flow has left, too; 0: not asked for yet */
    /* Sets own and most; NULL: there is no limit. */
    void (*pay)(void *arg, struct program_work *work);
    void *arg;
};

#endif
