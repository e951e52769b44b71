/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Directories on the way: those that are there, those that are not, those that cannot be. */
#include "base/system/directories.h"
#include "base/test.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

TEST(directories_on_the_way_are_created)
{
    char dir[] = "/tmp/ids-directories-XXXXXX", path[200], file[PATH_MAX + 2];

    CHECK(mkdtemp(dir) != NULL);
    snprintf(path, sizeof(path), "%s/a/b/c", dir);
    CHECK_INT(directories_make(path, 0750), 0);
    CHECK_INT(directories_make(path, 0750), 0);         /* they are there */
    CHECK(!is_directory(path));
    snprintf(path, sizeof(path), "%s/a/b", dir);
    CHECK(is_directory(path));
    CHECK(rmdir(path) == 0);
    snprintf(path, sizeof(path), "%s/a", dir);
    CHECK(rmdir(path) == 0 && rmdir(dir) == 0);
    CHECK_INT(directories_make("", 0750), 0);
    CHECK_INT(directories_make("name", 0750), 0);
    CHECK_INT(directories_make("/", 0750), 0);
    CHECK(directories_make("/proc/no/such", 0750) < 0);
    CHECK_INT(directory_make("/proc", 0750), 0);        /* it is there */
    CHECK(directory_make("/proc/no/such", 0750) < 0 && errno == ENOENT);
    memset(file, '/', sizeof(file) - 1);
    file[sizeof(file) - 1] = '\0';
    CHECK(directories_make(file, 0750) < 0 && errno == ENAMETOOLONG);
}
