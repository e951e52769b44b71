/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/directories.c - creates the directories of a path, from the outermost on.
 *
 * Outputs create directories before the process drops its privileges, and files in them afterwards.
 * So a new directory gets its later owner at once. */
#include "base/system/directories.h"

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct {
    bool set;
    uid_t uid;
    gid_t gid;
} owner;

void directories_set_owner(uid_t uid, gid_t gid)
{
    owner.uid = uid;
    owner.gid = gid;
    owner.set = true;
}

/* lchown(): another process may have put a symbolic link in place of the directory. Once the
 * privileges are dropped the owner is right without it, and a failure is none. */
int directory_make(const char *path, mode_t mode)
{
    if (mkdir(path, mode) < 0)
        return errno == EEXIST ? 0 : -1;
    if (owner.set && geteuid() == 0)
        return lchown(path, owner.uid, owner.gid);
    return 0;
}

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
            status = directory_make(directory, mode);
        }
    return status;
}
