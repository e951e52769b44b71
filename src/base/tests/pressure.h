/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/tests/pressure.h - brings the process near its memory limit. */
#ifndef BASE_TESTS_PRESSURE_H
#define BASE_TESTS_PRESSURE_H

#include "base/memory/traffic_memory.h"

/* Large against what a thread reserves, so that a small test keeps its share. */
#define PRESSURE_BLOCK (64u << 20)

/* `percent` of the limit are used from now on. Returns the block for pressure_ends(). */
static inline void *pressure_begins(unsigned percent)
{
    void *block = traffic_malloc(PRESSURE_BLOCK);

    traffic_memory_set_limit(traffic_memory_used() / percent * 100);
    return block;
}

static inline void pressure_ends(void *block)
{
    traffic_memory_set_limit(0);
    traffic_free(block);
}

#endif
