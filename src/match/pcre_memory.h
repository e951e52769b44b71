/* SPDX-License-Identifier: GPL-2.0-or-later */
/* match/pcre_memory.h - match data of PCRE2 whose memory counts with what traffic makes grow.
 *
 * Expressions without JIT code keep their backtracking points in memory that PCRE2 allocates while
 * it matches and keeps in the match data. The traffic decides how much. */
#ifndef MATCH_PCRE_MEMORY_H
#define MATCH_PCRE_MEMORY_H

#include "base/base.h"

/* What one match may use for backtracking points, in KiB. PCRE2's default is 20 GB. Suricata's
 * limit on their depth, 1500, is reached below 1 MiB unless there are hundreds of groups. */
#define PCRE_HEAP_LIMIT_KIB (16u << 10)

/* Returns a pcre2_match_data; waits for memory, so that a reload may call it. */
void *pcre_match_data_new(uint32_t pairs);
/* For use while packets flow; NULL: no memory. */
void *pcre_match_data_try(uint32_t pairs);

#endif
