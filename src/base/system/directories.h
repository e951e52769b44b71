/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/directories.h - creates the directories of a file's path. */
#ifndef BASE_DIRECTORIES_H
#define BASE_DIRECTORIES_H

#include <sys/types.h>

/* Creates the missing directories of `path`, up to its last "/"; ignores what follows it. Returns
 * -1 with errno set when one cannot be created. */
int directories_make(const char *path, mode_t mode);

#endif
