/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/overlap.c - decides which copy of a byte counts when two segments have it.
 *
 * Hosts differ. A table has, for each system, in which of the nine possible positions of two
 * segments the newer one wins. See README, "Overlap". */
#include "stream/reassembly.h"
#include "stream/tcp_seq.h"

/* Position of the new segment relative to the old one: its start, then its end. */
enum overlap_case {
    STARTS_BEFORE_ENDS_BEFORE, STARTS_BEFORE_ENDS_SAME, STARTS_BEFORE_ENDS_AFTER,
    STARTS_SAME_ENDS_BEFORE, STARTS_SAME_ENDS_SAME, STARTS_SAME_ENDS_AFTER,
    STARTS_AFTER_ENDS_BEFORE, STARTS_AFTER_ENDS_SAME, STARTS_AFTER_ENDS_AFTER,
};

#define CASE(c) (1u << (c))
#define NEW_IF_STARTS_BEFORE                                                               \
    (CASE(STARTS_BEFORE_ENDS_BEFORE) | CASE(STARTS_BEFORE_ENDS_SAME) |                     \
     CASE(STARTS_BEFORE_ENDS_AFTER))
#define NEW_IF_COVERS_TO_END                                                               \
    (CASE(STARTS_BEFORE_ENDS_SAME) | CASE(STARTS_BEFORE_ENDS_AFTER) |                      \
     CASE(STARTS_SAME_ENDS_SAME) | CASE(STARTS_SAME_ENDS_AFTER) |                          \
     CASE(STARTS_AFTER_ENDS_AFTER))

/* A bit for each overlap_case in which the new segment wins. */
static const uint16_t new_wins[OS_POLICY_COUNT] = {
    [OS_BSD] = NEW_IF_STARTS_BEFORE,
    [OS_BSD_RIGHT] = NEW_IF_STARTS_BEFORE,
    [OS_HPUX10] = NEW_IF_STARTS_BEFORE,
    [OS_IRIX] = NEW_IF_STARTS_BEFORE,
    [OS_WINDOWS] = NEW_IF_STARTS_BEFORE,
    [OS_WINDOWS2K3] = NEW_IF_STARTS_BEFORE,
    [OS_MACOS] = NEW_IF_STARTS_BEFORE,
    [OS_LINUX] = NEW_IF_STARTS_BEFORE | CASE(STARTS_SAME_ENDS_AFTER),
    [OS_OLD_LINUX] = NEW_IF_STARTS_BEFORE | CASE(STARTS_SAME_ENDS_SAME) |
                     CASE(STARTS_SAME_ENDS_AFTER),
    [OS_SOLARIS] = NEW_IF_COVERS_TO_END,
    [OS_OLD_SOLARIS] = NEW_IF_COVERS_TO_END,
    [OS_HPUX11] = NEW_IF_COVERS_TO_END,
    [OS_VISTA] = 0,
    [OS_FIRST] = 0,
    [OS_LAST] = 0x1ff,
};

static unsigned compare(uint32_t a, uint32_t b)
{
    return seq_lt(a, b) ? 0 : a == b ? 1 : 2;
}

bool overlap_takes_new(enum os_policy os, uint32_t new_seq, uint32_t new_end, uint32_t old_seq,
                       uint32_t old_end)
{
    unsigned how = compare(new_seq, old_seq) * 3 + compare(new_end, old_end);

    return (new_wins[os] >> how & 1) != 0;
}
