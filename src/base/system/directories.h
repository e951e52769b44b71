/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/directories.h - the directories that a file stands in. */
#ifndef BASE_DIRECTORIES_H
#define BASE_DIRECTORIES_H

#include <sys/types.h>

/* Makes those of `path` that are not there yet, up to its last "/"; what stands behind that is not
 * touched. That one could not be made shows when the file is: -1, with errno. */
int directories_make(const char *path, mode_t mode);

#endif
