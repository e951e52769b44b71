/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/pages.c - counted mappings. */
#include "base/memory/pages.h"

#include "base/memory/traffic_memory.h"

#include <sys/mman.h>
#include <unistd.h>

/* libc has it from the kernel: no system call. */
static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static size_t in_pages(size_t size)
{
    return (size + page_bytes() - 1) & ~(page_bytes() - 1);
}

/* Maps more by the alignment and unmaps both ends. */
void *pages_map(size_t size, size_t align)
{
    size_t more = align > page_bytes() ? align : 0, before;
    unsigned char *all;

    if (size > SIZE_MAX / 4)
        size = SIZE_MAX / 4;        /* refused below */
    size = in_pages(size);
    if (!traffic_memory_take(size))
        return NULL;
    all = mmap(NULL, size + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all == MAP_FAILED) {
        traffic_memory_release(size);
        traffic_memory_out();
        return NULL;
    }
    if (more == 0)
        return all;
    before = -(uintptr_t)all & (align - 1);
    if (before > 0)
        munmap(all, before);
    munmap(all + before + size, more - before);
    return all + before;
}

void pages_unmap(void *start, size_t size)
{
    size = in_pages(size);
    munmap(start, size);
    traffic_memory_release(size);
}

/* The kernel copies them later, by a thread of its own. At once (MADV_COLLAPSE) it would cost this
 * thread a new huge page. */
void pages_join(void *start)
{
    (void)madvise(start, HUGE_PAGE_SIZE, MADV_HUGEPAGE);
}

size_t pages_behind_first(size_t size)
{
    return size > page_bytes() ? size - page_bytes() : 0;
}

void pages_drop(void *block, size_t size)
{
    size_t behind = pages_behind_first(size);

    if (behind > 0)
        (void)madvise((unsigned char *)block + size - behind, behind, MADV_DONTNEED);
    traffic_memory_release(behind);
}

bool pages_restore(size_t size)
{
    return traffic_memory_take(pages_behind_first(size));
}

void pages_add_dropped(size_t bytes)
{
    traffic_memory_add(bytes);
}
