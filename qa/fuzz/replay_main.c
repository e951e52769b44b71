/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz/replay_main.c - runs a fuzz target on files and directories of files, where libFuzzer is
 * not: the corpus then serves as a test, in any build and with any compiler. */
#include <dirent.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static int run_file(const char *path)
{
    FILE *f = fopen(path, "rb");
    uint8_t *data;
    long size;

    if (f == NULL || fseek(f, 0, SEEK_END) != 0 || (size = ftell(f)) < 0) {
        perror(path);
        return -1;
    }
    rewind(f);
    /* Exactly as long as the input, so that a sanitizer sees a read behind its end. */
    data = malloc(size > 0 ? (size_t)size : 1);
    if (data == NULL || fread(data, 1, (size_t)size, f) != (size_t)size) {
        perror(path);
        return -1;
    }
    fclose(f);
    LLVMFuzzerTestOneInput(data, (size_t)size);
    free(data);
    return 1;
}

/* Files run, or -1. */
static int run_path(const char *path)
{
    struct stat st;
    struct dirent *entry;
    int count = 0;
    DIR *dir;

    if (stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
        return run_file(path);
    dir = opendir(path);
    if (dir == NULL) {
        perror(path);
        return -1;
    }
    while ((entry = readdir(dir)) != NULL) {
        char name[4096];
        int n;

        if (entry->d_name[0] == '.')
            continue;
        snprintf(name, sizeof(name), "%s/%s", path, entry->d_name);
        n = run_file(name);
        if (n < 0) {
            closedir(dir);
            return -1;
        }
        count += n;
    }
    closedir(dir);
    return count;
}

/* Of targets that have something to set up; libFuzzer calls it first too. */
int LLVMFuzzerInitialize(int *argc, char ***argv) __attribute__((weak));

int main(int argc, char **argv)
{
    int count = 0;

    if (LLVMFuzzerInitialize != NULL)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        int n = argv[i][0] == '-' ? 0 : run_path(argv[i]);

        if (n < 0)
            return 1;
        count += n;
    }
    printf("%d inputs\n", count);
    return 0;
}
