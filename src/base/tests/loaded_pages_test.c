/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/loaded_pages: on a file of the test's own, as the kernel may map pages of the program
 * again at once, with their neighbours. */
#include "base/system/loaded_pages.h"

#include "base/test.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGES 40u

struct mapped {
    FILE *file;
    size_t page;
    unsigned char *at;
    int pagemap;
};

/* False: the kernel does not tell which pages are mapped. */
static bool open_mapped(struct test *t, struct mapped *m)
{
    *m = (struct mapped){ .file = tmpfile(), .page = (size_t)sysconf(_SC_PAGESIZE),
                          .pagemap = loaded_pages_open() };
    t->skipped = m->pagemap < 0;
    if (t->skipped)
        return false;
    for (size_t i = 0; i < PAGES * m->page; i++)
        fputc((int)(i / m->page), m->file);
    fflush(m->file);
    m->at = mmap(NULL, PAGES * m->page, PROT_READ | PROT_WRITE, MAP_PRIVATE, fileno(m->file), 0);
    return m->at != MAP_FAILED;
}

static void close_mapped(struct mapped *m)
{
    munmap(m->at, PAGES * m->page);
    fclose(m->file);
    close(m->pagemap);
}

static bool is_mapped(const struct mapped *m, unsigned i)
{
    uintptr_t page = (uintptr_t)m->at / m->page + i;
    uint64_t entry = 0;

    return pread(m->pagemap, &entry, sizeof(entry), (off_t)(page * sizeof(entry))) ==
               (ssize_t)sizeof(entry) && entry >> 63 != 0;
}

static unsigned count_mapped(const struct mapped *m)
{
    unsigned n = 0;

    for (unsigned i = 0; i < PAGES; i++)
        n += is_mapped(m, i);
    return n;
}

static unsigned count_right(const struct mapped *m)
{
    const volatile unsigned char *at = m->at;
    unsigned n = 0;

    for (unsigned i = 0; i < PAGES; i++)
        n += at[i * m->page + 7] == i;
    return n;
}

TEST(loaded_pages_are_dropped_and_come_back)
{
    struct mapped m;

    if (!open_mapped(t, &m))
        return;
    CHECK_INT(count_right(&m), PAGES);
    CHECK_INT(count_mapped(&m), PAGES);
    loaded_pages_drop_range(m.pagemap, m.at, PAGES * m.page);
    CHECK_INT(count_mapped(&m), 0);
    CHECK_INT(count_right(&m), PAGES);
    CHECK_INT(count_mapped(&m), PAGES);
    close_mapped(&m);
}

/* As a debugger writes a breakpoint. */
TEST(loaded_pages_that_were_written_stay)
{
    struct mapped m;

    if (!open_mapped(t, &m))
        return;
    CHECK_INT(count_right(&m), PAGES);
    m.at[3 * m.page] = m.at[5 * m.page] = 99;
    loaded_pages_drop_range(m.pagemap, m.at, PAGES * m.page);
    CHECK(is_mapped(&m, 3) && is_mapped(&m, 5));
    CHECK_INT(count_mapped(&m), 2);
    CHECK_INT(m.at[3 * m.page] + m.at[5 * m.page], 198);
    CHECK_INT(count_right(&m), PAGES);
    close_mapped(&m);
}

/* Of the program and its libraries, in use: they work as before. */
TEST(loaded_pages_of_the_program)
{
    char text[32];

    loaded_pages_drop(loaded_pages_open());
    loaded_pages_drop(-1);
    CHECK_INT(snprintf(text, sizeof(text), "%.2f", 1.25), 4);
}
