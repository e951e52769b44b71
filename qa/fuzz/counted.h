/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/counted.h - the part of a program whose coverage guides the fuzzer.
 *
 * libFuzzer reads all counters after each input. A target has one parser to look at and is linked
 * with the whole engine: 30,000 counters, of which it moves a thousand. In the fast build the
 * objects that matter are linked between counted_begin.o and counted_end.o, and libFuzzer learns
 * only of the counters between those (see qa/fuzz/sources.am). */
#ifndef QA_FUZZ_COUNTED_H
#define QA_FUZZ_COUNTED_H

#include <stdint.h>

/* As clang lays its table of program counters out. */
struct counted_pc { uintptr_t pc, flags; };

/* The linker keeps the order of the objects within these sections. */
#define COUNTED_COUNTER __attribute__((section("__sancov_cntrs"), used, aligned(1)))
#define COUNTED_PC __attribute__((section("__sancov_pcs"), used, aligned(8)))

/* Weak: programs that count everything have neither. */
extern uint8_t counted_begin[1] __attribute__((weak)), counted_end[1] __attribute__((weak));
extern struct counted_pc counted_pc_begin[1] __attribute__((weak));
extern struct counted_pc counted_pc_end[1] __attribute__((weak));

#endif
