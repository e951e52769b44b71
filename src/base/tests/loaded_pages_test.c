/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/loaded_pages. */
#include "base/system/loaded_pages.h"

#include "base/test.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE ((size_t)256 << 10)

/* Part of the program's file. */
static const unsigned char constants[SIZE] = { [0] = 1, [SIZE / 2] = 7, [SIZE - 1] = 9 };
/* So that the compiler does not know what is read. */
static const volatile unsigned char *volatile reader = constants;

static size_t page_bytes(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The page of the constants in the middle, which has nothing else. */
static unsigned char *middle(void)
{
    return (unsigned char *)(((uintptr_t)constants + SIZE / 2) & ~(uintptr_t)(page_bytes() - 1));
}

/* -1: the kernel does not tell. */
static int is_mapped(const void *page)
{
    uint64_t entry = 0;
    int file = open("/proc/self/pagemap", O_RDONLY);
    bool read = file >= 0 && pread(file, &entry, sizeof(entry), (off_t)((uintptr_t)page /
                                   page_bytes() * sizeof(entry))) == (ssize_t)sizeof(entry);

    if (file >= 0)
        close(file);
    return read ? (int)(entry >> 63) : -1;
}

TEST(loaded_pages_are_dropped_and_come_back)
{
    CHECK_INT(reader[SIZE / 2], 7);
    t->skipped = is_mapped(middle()) != 1;
    if (t->skipped)
        return;
    loaded_pages_drop(loaded_pages_open());
    CHECK_INT(is_mapped(middle()), 0);
    CHECK_INT(reader[0] + reader[SIZE / 2] + reader[SIZE - 1], 1 + 7 + 9);
    CHECK_INT(is_mapped(middle()), 1);
}

/* As a debugger writes a breakpoint. */
TEST(loaded_pages_that_were_written_stay)
{
    volatile unsigned char *written = middle();
    unsigned char was = written[1];

    t->skipped = page_bytes() > SIZE / 8 || is_mapped(middle()) != 1 ||
                 mprotect(middle(), page_bytes(), PROT_READ | PROT_WRITE) != 0;
    if (t->skipped)
        return;
    written[1] = 3;
    CHECK_INT(mprotect(middle(), page_bytes(), PROT_READ), 0);
    loaded_pages_drop(loaded_pages_open());
    CHECK_INT(written[1], 3);
    CHECK_INT(mprotect(middle(), page_bytes(), PROT_READ | PROT_WRITE), 0);
    written[1] = was;
    CHECK_INT(mprotect(middle(), page_bytes(), PROT_READ), 0);
}
