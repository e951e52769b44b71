/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "base/memory/pages.h"

#include "base/memory/traffic_memory.h"
#include "base/test.h"

#include <string.h>
#include <unistd.h>

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

/* Threads reserve memory in advance, so the sum is exact to a MB. */
static bool is_near(uint64_t found, uint64_t wanted)
{
    return found + MB > wanted && wanted + MB > found;
}

TEST(pages_are_dropped_behind_the_first)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), size = 16 * MB;
    unsigned char *a = pages_map(size, size), *b = a;
    uint64_t before = traffic_memory_used();

    CHECK(a != NULL);
    memset(a, 1, size);
    pages_drop(a, page);                    /* it has no other */
    CHECK_INT(a[page - 1], 1);
    CHECK(is_near(traffic_memory_used(), before));
    pages_drop(a, size);
    CHECK(is_near(traffic_memory_used() + size, before));
    for (; b < a + size && *b == (b < a + page ? 1 : 0); b++)
        continue;
    CHECK_INT(b - a, size);
    CHECK(pages_restore(size));
    CHECK(is_near(traffic_memory_used(), before));
    CHECK_INT(pages_behind_first(size), size - page);
    CHECK_INT(pages_behind_first(page / 2), 0);
    pages_unmap(a, size);
}
