/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/loaded_pages.h - the pages of the program's file and of its libraries' files.
 *
 * Starting reads most of them: symbols to bind, code that parses rules and configuration. Of what
 * one process has mapped, packets need a part only. */
#ifndef BASE_LOADED_PAGES_H
#define BASE_LOADED_PAGES_H

#include <stddef.h>

/* Before the process gives up the right to open its own files in /proc. -1: it has none. */
int loaded_pages_open(void);

/* Unmaps what can be read from the files again. It stays in the page cache of the system, from
 * which the kernel maps 16 pages at a time when one of them is needed. Pages that a debugger or the
 * loader has written to stay. Any thread, while others run. Closes `pages`; -1 is fine. */
void loaded_pages_drop(int pages);
/* The same for one mapping of a file, and `pages` stays open. */
void loaded_pages_drop_range(int pages, const void *start, size_t size);

#endif
