/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/counted.c - stands between the objects, which announce their counters, and libFuzzer: see
 * counted.h. Each object announces the whole section; libFuzzer ignores all but the first call. */
#include "counted.h"

#include <stddef.h>

/* The linker's --wrap gives these names. */
void __real___sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
void __wrap___sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop);
void __real___sanitizer_cov_pcs_init(const struct counted_pc *start, const struct counted_pc *stop);
void __wrap___sanitizer_cov_pcs_init(const struct counted_pc *start, const struct counted_pc *stop);

void __wrap___sanitizer_cov_8bit_counters_init(uint8_t *start, uint8_t *stop)
{
    if (counted_begin != NULL && counted_end != NULL) {
        start = counted_begin + 1;
        stop = counted_end;
    }
    __real___sanitizer_cov_8bit_counters_init(start, stop);
}

void __wrap___sanitizer_cov_pcs_init(const struct counted_pc *start, const struct counted_pc *stop)
{
    if (counted_pc_begin != NULL && counted_pc_end != NULL) {
        start = counted_pc_begin + 1;
        stop = counted_pc_end;
    }
    __real___sanitizer_cov_pcs_init(start, stop);
}
