/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/directories.h - creates directories: one, or those of a file's path. They belong to
 * the user that the process is going to run as. */
#ifndef BASE_DIRECTORIES_H
#define BASE_DIRECTORIES_H

#include <sys/types.h>

/* Sets the owner of all directories that are created from now on. Called once, before other threads
 * start. Without it they belong to the user of the process. */
void directories_set_owner(uid_t uid, gid_t gid);

/* Creates the directory `path`. One that exists is no error, and keeps its owner. Returns -1 with
 * errno set when it cannot be created. */
int directory_make(const char *path, mode_t mode);

/* Creates the missing directories of `path`, up to its last "/"; ignores what follows it. Returns
 * -1 with errno set when one cannot be created. */
int directories_make(const char *path, mode_t mode);

#endif
