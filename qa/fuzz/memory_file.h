/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/memory_file.h - an input as a file, for code that takes a path. The file is in memory and
 * has no name in a directory. */
#ifndef QA_FUZZ_MEMORY_FILE_H
#define QA_FUZZ_MEMORY_FILE_H

#include <stddef.h>
#include <stdint.h>

#define MEMORY_FILES 2

/* Fills file `number` with these bytes. The path stays the same, and valid. */
const char *memory_file(unsigned number, const uint8_t *data, size_t size);

#endif
