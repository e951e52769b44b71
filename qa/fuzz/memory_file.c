/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "memory_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char *memory_file(unsigned number, const uint8_t *data, size_t size)
{
    static struct { int fd; char path[32]; } files[MEMORY_FILES];

    if (files[number].path[0] == '\0') {
        files[number].fd = memfd_create("input", 0);
        snprintf(files[number].path, sizeof(files[number].path), "/proc/self/fd/%d",
                 files[number].fd);
    }
    if (files[number].fd < 0 || ftruncate(files[number].fd, 0) < 0 ||
        pwrite(files[number].fd, data, size, 0) != (ssize_t)size)
        abort();
    return files[number].path;
}
