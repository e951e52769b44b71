/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/file_list.c - which capture files are read, and in which order.
 *
 * Directories are read by time of last change, then by name. With `continuous` they are checked
 * again for files that are newer than all before, or as new as the newest: file systems count time
 * in steps of some milliseconds, so a file that appears later may have the same one. */
#include "capture/pcap/file_list.h"

#include "base/array.h"
#include "base/memory/traffic_memory.h"
#include "base/system/clock.h"
#include "base/report/log.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Stops endless recursion; symbolic links are not followed (lstat). */
#define DEPTH_MAX 255

/* The lock protects all members below it, because queues of several threads take files. */
struct pcap_files {
    struct pcap_files_conf conf;
    pthread_mutex_t lock;
    ARRAY_OF(struct pcap_input *) list;
    unsigned taken;
    int64_t newest_ns;                  /* change time of the newest file so far */
    ARRAY_OF(struct pcap_input *) newest;   /* the files with it, sorted by path */
    uint64_t look_at_ns;                /* time of the next check */
};

static int64_t changed_ns(const struct stat *st)
{
    return (int64_t)st->st_mtim.tv_sec * 1000000000 + st->st_mtim.tv_nsec;
}

static int compare_inputs(const void *a, const void *b)
{
    const struct pcap_input *x = *(struct pcap_input *const *)a;
    const struct pcap_input *y = *(struct pcap_input *const *)b;

    if (x->changed_ns != y->changed_ns)
        return x->changed_ns < y->changed_ns ? -1 : 1;
    return strcmp(x->path, y->path);
}

static bool is_new(const struct pcap_files *files, char *path, int64_t changed)
{
    struct pcap_input key = { .path = path, .changed_ns = changed }, *at = &key;

    if (changed != files->newest_ns)
        return changed > files->newest_ns;
    return files->newest.count == 0 || bsearch(&at, files->newest.at, files->newest.count,
                                               sizeof(at), compare_inputs) == NULL;
}

static void add(struct pcap_files *files, const char *path, const struct stat *st, bool is_alone)
{
    struct pcap_input *input = calloc(1, sizeof(*input));
    char *copy = strdup(path);

    if (input == NULL || copy == NULL || !ARRAY_HAS_SPACE(&files->list, 1)) {
        log_warning("pcap", "%s: no memory to read it: left out", path);
        free(input);
        free(copy);
        return;
    }
    *input = (struct pcap_input){
        .path = copy, .file = { .path = copy },
        .size = (uint64_t)st->st_size, .changed_ns = changed_ns(st),
        .is_alone = is_alone, .is_regular = S_ISREG(st->st_mode),
    };
    files->list.at[files->list.count++] = input;
}

/* Adds new files that changed before `older`: a file that is still being written is left for later
 * (`delay`). */
static void scan(struct pcap_files *files, const char *path, int64_t older, unsigned depth)
{
    DIR *dir = opendir(path);
    struct dirent *entry;

    if (dir == NULL) {
        log_warning("pcap", "%s: %s", path, strerror(errno));
        return;
    }
    while ((entry = readdir(dir)) != NULL) {
        char inner[4096];
        struct stat st;

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0 ||
            snprintf(inner, sizeof(inner), "%s/%s", path, entry->d_name) >= (int)sizeof(inner) ||
            lstat(inner, &st) < 0)
            continue;
        if (S_ISDIR(st.st_mode) && files->conf.recursive && depth < DEPTH_MAX)
            scan(files, inner, older, depth + 1);
        if (S_ISREG(st.st_mode) && changed_ns(&st) < older &&
            is_new(files, inner, changed_ns(&st)))
            add(files, inner, &st, false);
    }
    closedir(dir);
}

/* Adds the files of one directory beyond those taken before, sorted. */
static void scan_sorted(struct pcap_files *files, const char *path)
{
    size_t before = files->list.count;
    int64_t older = INT64_MAX;

    if (files->conf.continuous)
        older = (int64_t)clock_wall_us() * 1000 - (int64_t)files->conf.delay_s * 1000000000;
    scan(files, path, older, 0);
    if (files->list.count > before)
        qsort(files->list.at + before, files->list.count - before, sizeof(files->list.at[0]),
              compare_inputs);
}

static bool is_directory(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Only directories can get more files. */
static bool has_directory(const char *const *paths)
{
    for (; *paths != NULL; paths++)
        if (is_directory(*paths))
            return true;
    return false;
}

/* Without memory a later file with the same time is left out. */
static void list_newest(struct pcap_files *files)
{
    files->newest.count = 0;
    for (size_t i = 0; i < files->list.count; i++) {
        if (files->list.at[i]->changed_ns != files->newest_ns)
            continue;
        if (!ARRAY_HAS_SPACE(&files->newest, 1)) {
            files->newest_ns++;
            return;
        }
        files->newest.at[files->newest.count++] = files->list.at[i];
    }
    if (files->newest.count > 1)
        qsort(files->newest.at, files->newest.count, sizeof(files->newest.at[0]), compare_inputs);
}

static void remember_newest(struct pcap_files *files)
{
    if (!files->conf.continuous)
        return;
    for (size_t i = 0; i < files->list.count; i++)
        files->newest_ns = MAX(files->newest_ns, files->list.at[i]->changed_ns);
    list_newest(files);
}

static void look(struct pcap_files *files)
{
    for (unsigned i = 0; files->conf.paths[i] != NULL; i++)
        if (is_directory(files->conf.paths[i]))
            scan_sorted(files, files->conf.paths[i]);
    remember_newest(files);
    files->look_at_ns = clock_ns() + (uint64_t)files->conf.poll_s * 1000000000;
}

/* A path that does not exist ends the start; errors below a directory do not. */
static int take_paths(struct pcap_files *files, struct err *err)
{
    for (unsigned i = 0; files->conf.paths[i] != NULL; i++) {
        const char *path = files->conf.paths[i];
        struct stat st = { 0 };

        if (strcmp(path, "-") != 0 && (stat(path, &st) < 0 || access(path, R_OK) < 0))
            return err_set(err, "pcap file '%s': %s", path, strerror(errno));
        if (S_ISDIR(st.st_mode))
            scan_sorted(files, path);
        else
            add(files, path, &st, true);
    }
    remember_newest(files);
    return 0;
}

struct pcap_files *pcap_files_new(const struct pcap_files_conf *conf, struct err *err)
{
    struct pcap_files *files = xcalloc(1, sizeof(*files));

    files->conf = *conf;
    files->conf.continuous = conf->continuous && has_directory(conf->paths);
    files->newest_ns = INT64_MIN;
    pthread_mutex_init(&files->lock, NULL);
    if (take_paths(files, err) < 0) {
        pcap_files_free(files);
        return NULL;
    }
    return files;
}

void pcap_files_free(struct pcap_files *files)
{
    if (files == NULL)
        return;
    for (size_t i = 0; i < files->list.count; i++) {
        free(files->list.at[i]->path);
        free(files->list.at[i]);
    }
    ARRAY_FREE(&files->list);
    ARRAY_FREE(&files->newest);
    pthread_mutex_destroy(&files->lock);
    free(files);
}

/* Called with the lock held. Inputs are never removed, so pointers to them stay valid. */
static struct pcap_input *input_at(struct pcap_files *files, unsigned i, bool *more)
{
    struct pcap_input *input = NULL;

    if (i >= files->list.count && files->conf.continuous && clock_ns() >= files->look_at_ns)
        look(files);
    if (i < files->list.count)
        input = files->list.at[i];
    *more = files->conf.continuous;
    return input;
}

bool pcap_files_first_is_regular(struct pcap_files *files)
{
    bool is_regular;

    pthread_mutex_lock(&files->lock);
    is_regular = files->list.count > 0 && files->list.at[0]->is_regular;
    pthread_mutex_unlock(&files->lock);
    return is_regular;
}

struct pcap_input *pcap_files_at(struct pcap_files *files, unsigned i, bool *more)
{
    struct pcap_input *input;

    pthread_mutex_lock(&files->lock);
    input = input_at(files, i, more);
    pthread_mutex_unlock(&files->lock);
    return input;
}

struct pcap_input *pcap_files_take(struct pcap_files *files, bool *more)
{
    struct pcap_input *input;

    pthread_mutex_lock(&files->lock);
    input = input_at(files, files->taken, more);
    files->taken += input != NULL;
    pthread_mutex_unlock(&files->lock);
    return input;
}

/* Deletes the file if `delete-when-done` says so. The process may lack the privileges by now. */
void pcap_files_done(struct pcap_files *files, struct pcap_input *input, uint64_t alerts)
{
    if (files->conf.delete_when == DELETE_NEVER || strcmp(input->path, "-") == 0)
        return;
    if (files->conf.delete_when == DELETE_WITHOUT_ALERTS && alerts > 0)
        return;
    if (unlink(input->path) < 0)
        log_warning("pcap", "cannot delete %s: %s", input->path, strerror(errno));
}

uint64_t pcap_files_total(struct pcap_files *files)
{
    uint64_t total = 0;

    pthread_mutex_lock(&files->lock);
    for (size_t i = 0; i < files->list.count; i++)
        total += files->list.at[i]->size;
    pthread_mutex_unlock(&files->lock);
    return total;
}
