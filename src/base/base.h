/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/base.h - macros that every directory uses. Knows nothing of networks. */
#ifndef BASE_BASE_H
#define BASE_BASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A word that has this byte eight times. */
#define EACH_BYTE(c) (UINT64_C(0x0101010101010101) * (c))

#define LIKELY(x)   __builtin_expect(!!(x), 1)
#define UNLIKELY(x) __builtin_expect(!!(x), 0)
/* GCC takes a function that only prefetches for pure, and drops calls to it. The asm prevents
 * that. */
#define PREFETCH(p)              \
    do {                         \
        __builtin_prefetch((p)); \
        __asm__ volatile("");    \
    } while (0)
/* Every cache line of a struct; p may be NULL. */
#define PREFETCH_ALL(p, size)                                                             \
    do {                                                                                  \
        const char *fetch_ = (const char *)(p);                                           \
        for (size_t i_ = 0; fetch_ != NULL && i_ < (size) + CACHE_LINE - 16; i_ += CACHE_LINE) \
            PREFETCH(fetch_ + i_);                                                        \
    } while (0)

#define COLD      __attribute__((cold, noinline))
#define PRINTF(f, a) __attribute__((format(printf, f, a)))
#define UNUSED    __attribute__((unused))
/* A test's own work, which a fuzzer should not take for progress, nor spend time to follow. */
#ifdef IDS_FUZZ
#define UNCOVERED __attribute__((no_sanitize("coverage")))
#else
#define UNCOVERED
#endif
#define NODISCARD __attribute__((warn_unused_result))

#define CACHE_LINE 64
#define CACHE_ALIGNED _Alignas(CACHE_LINE)

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))

/* From a member's address to the struct that holds it. */
#define CONTAINER_OF(ptr, type, member) ((type *)((char *)(ptr)-offsetof(type, member)))

/* Directions of a flow, as array indices. */
enum direction { TO_SERVER = 0, TO_CLIENT = 1 };
#define OTHER_DIRECTION(d) ((enum direction)(1 - (d)))

#endif
