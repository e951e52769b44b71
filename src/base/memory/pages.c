/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/pages.c - counted mappings. */
#include "base/memory/pages.h"

#include "base/memory/traffic_memory.h"

#include <sys/mman.h>

static size_t in_pages(size_t size)
{
    return (size + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1);
}

/* Maps more by the alignment and unmaps both ends. */
void *pages_map(size_t size, size_t align)
{
    size_t more = align > PAGE_BYTES ? align : 0, before;
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

void pages_drop(void *start, size_t size)
{
    (void)madvise(start, size, MADV_DONTNEED);
    traffic_memory_release(size);
}

bool pages_restore(size_t size)
{
    return traffic_memory_take(size);
}

void pages_add_dropped(size_t size)
{
    traffic_memory_add(size);
}
