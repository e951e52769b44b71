/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/pages.h"

#include "base/memory/traffic_memory.h"
#include "base/test.h"

#define MB ((size_t)1 << 20)

TEST(pages_are_aligned_counted_and_refused)
{
    uint64_t before = traffic_memory_used();
    unsigned char *a = pages_map(3 * MB, 2 * MB), *b = pages_map(MB + 1, 64);

    CHECK(a != NULL && b != NULL);
    CHECK_INT((uintptr_t)a % (2 * MB), 0);
    CHECK_INT(a[3 * MB - 1] | b[MB], 0);
    a[0] = a[3 * MB - 1] = b[MB] = 1;
    CHECK(traffic_memory_used() >= before + 3 * MB);
    pages_unmap(a, 3 * MB);
    pages_unmap(b, MB + 1);
    CHECK(traffic_memory_used() < before + MB);
    alloc_failures_set((struct alloc_failures){ .every = 1 });
    CHECK(pages_map(4096, 64) == NULL);
    alloc_failures_set((struct alloc_failures){ 0 });
    CHECK(pages_map(SIZE_MAX, 64) == NULL);
}
