/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/loaded_pages.c - unmaps pages of segments that are not writable. */
#include "base/system/loaded_pages.h"

#include "base/base.h"

#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

/* Entries of /proc/self/pagemap: the page is in memory, it is in swap, it is one of a file. A page
 * of a file that has been written to is the process's own: breakpoints of debuggers, probes, and
 * relocations of code. */
#define PAGE_PRESENT (UINT64_C(1) << 63)
#define PAGE_SWAPPED (UINT64_C(1) << 62)
#define PAGE_OF_FILE (UINT64_C(1) << 61)
#define ENTRIES 512

struct dropper { int pagemap; size_t page; };

static bool is_own(uint64_t entry)
{
    return (entry & PAGE_SWAPPED) != 0 || (entry & (PAGE_PRESENT | PAGE_OF_FILE)) == PAGE_PRESENT;
}

/* `at` is the first page that the entries tell of. */
static void drop_pages(const struct dropper *d, uintptr_t at, const uint64_t *entry, size_t count)
{
    for (size_t i = 0, to; i < count; i = to + 1) {
        for (to = i; to < count && !is_own(entry[to]); to++)
            continue;
        if (to > i)
            (void)madvise((void *)(at + i * d->page), (to - i) * d->page, MADV_DONTNEED);
    }
}

static void drop_range(const struct dropper *d, uintptr_t start, uintptr_t end)
{
    uint64_t entry[ENTRIES];

    for (uintptr_t at = start & ~(d->page - 1); at < end; at += ENTRIES * d->page) {
        size_t count = MIN((end - at + d->page - 1) / d->page, (size_t)ENTRIES);
        off_t offset = (off_t)(at / d->page * sizeof(entry[0]));

        if (pread(d->pagemap, entry, count * sizeof(entry[0]), offset) !=
            (ssize_t)(count * sizeof(entry[0])))
            return;
        drop_pages(d, at, entry, count);
    }
}

/* What the loader has relocated is in writable segments, even where it is read only later. */
static int drop_object(struct dl_phdr_info *object, size_t size UNUSED, void *arg)
{
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *p = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + p->p_vaddr;

        if (p->p_type == PT_LOAD && (p->p_flags & PF_W) == 0)
            drop_range(arg, start, start + p->p_filesz);
    }
    return 0;
}

void loaded_pages_drop_range(int pages, const void *start, size_t size)
{
    struct dropper d = { pages, (size_t)sysconf(_SC_PAGESIZE) };

    drop_range(&d, (uintptr_t)start, (uintptr_t)start + size);
}

int loaded_pages_open(void)
{
    return open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
}

void loaded_pages_drop(int pages)
{
    struct dropper d = { pages, (size_t)sysconf(_SC_PAGESIZE) };

    if (pages < 0)
        return;
    dl_iterate_phdr(drop_object, &d);
    close(pages);
}
