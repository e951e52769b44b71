/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/directories.h - the folders that a file stands in. */
#ifndef BASE_FOLDERS_H
#define BASE_FOLDERS_H

#include <sys/types.h>

/* Makes those of `path` that are not there yet, up to its last "/"; what stands behind that is not
 * touched. That one could not be made shows when the file is: -1, with errno. */
int folders_make(const char *path, mode_t mode);

#endif
