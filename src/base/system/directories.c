/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/directories.c - creates the directories of a path, from the outermost on. */
#include "base/system/directories.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

int directories_make(const char *path, mode_t mode)
{
    char directory[PATH_MAX];
    int status = 0;

    if (strlen(path) >= sizeof(directory)) {
        errno = ENAMETOOLONG;
        return -1;
    }
    for (size_t n = 1; path[0] != '\0' && path[n] != '\0'; n++)
        if (path[n] == '/') {
            snprintf(directory, sizeof(directory), "%.*s", (int)n, path);
            status = mkdir(directory, mode) < 0 && errno != EEXIST ? -1 : 0;
        }
    return status;
}
