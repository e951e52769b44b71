/* SPDX-License-Identifier: GPL-2.0-or-later */
/* fuzz/replay_main.c - runs a fuzz target on files and directories of files, where libFuzzer is
 * not: the corpus then serves as a test, in any build and with any compiler.
 *
 * -runs=N runs N mutations of the files as well, -seed=S chooses them, and -artifact_prefix=P says
 * where the input that ends the program is kept: as libFuzzer's options. Nothing is learned from
 * coverage. */
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
/* Of targets that know their structure: mutate.c. */
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
    __attribute__((weak));
/* Of the sanitizers. */
void __sanitizer_set_death_callback(void (*callback)(void)) __attribute__((weak));

#define SEEDS_MAX 1024u
#define SIZE_MAX_MUTATED 4096u
#define SPARE 16u                       /* places where mutations go on from */

struct input { uint8_t *data; size_t size; };

static struct {
    struct input seed[SEEDS_MAX];
    unsigned seeds;
    unsigned long runs, number;
    const char *prefix;
    struct input now;
    uint32_t random;
} driver = { .prefix = "", .random = 1 };

/* --- findings --------------------------------------------------------------------------------- */

/* Only what may be called from a signal handler. */
static void keep_input(void)
{
    static char path[4096];
    size_t n = strlen(driver.prefix);
    int fd;

    if (driver.number == 0 || n + 32 > sizeof(path))
        return;     /* a file has a name already */
    memcpy(path, driver.prefix, n);
    memcpy(path + n, "crash-", 6);
    n += 6;
    for (unsigned long place = 1000000000; place > 0; place /= 10)
        path[n++] = (char)('0' + driver.number / place % 10);
    fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || write(fd, driver.now.data, driver.now.size) < 0)
        return;
    close(fd);
}

static void on_signal(int number)
{
    keep_input();
    signal(number, SIG_DFL);
    raise(number);
}

static void watch(void)
{
    if (__sanitizer_set_death_callback != NULL)
        __sanitizer_set_death_callback(keep_input);
    else
        signal(SIGSEGV, on_signal);
    signal(SIGABRT, on_signal);
}

/* --- mutations -------------------------------------------------------------------------------- */

static uint32_t random_below(uint32_t below)
{
    driver.random ^= driver.random << 13;
    driver.random ^= driver.random >> 17;
    driver.random ^= driver.random << 5;
    return driver.random % below;
}

static size_t remove_some(uint8_t *data, size_t size)
{
    size_t at = random_below((uint32_t)size), len = 1 + random_below(16);

    if (len > size - at)
        len = size - at;
    memmove(data + at, data + at + len, size - at - len);
    return size - len;
}

static size_t insert_some(uint8_t *data, size_t size, size_t max_size)
{
    size_t at = random_below((uint32_t)size + 1), len = 1 + random_below(16);

    if (len > max_size - size)
        return size;
    memmove(data + at + len, data + at, size - at);
    for (size_t i = 0; i < len; i++)
        data[at + i] = (uint8_t)random_below(256);
    return size + len;
}

/* What libFuzzer has of this name, in small. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size)
{
    static const uint8_t bounds[] = { 0, 1, 0x7f, 0x80, 0xff };

    switch (size > 0 ? random_below(6) : 5) {
    case 0: data[random_below((uint32_t)size)] ^= (uint8_t)(1u << random_below(8)); break;
    case 1: data[random_below((uint32_t)size)] = (uint8_t)random_below(256); break;
    case 2: data[random_below((uint32_t)size)] = bounds[random_below(sizeof(bounds))]; break;
    case 3: data[random_below((uint32_t)size)] += (uint8_t)(1 + random_below(4)); break;
    case 4: return size > 1 ? remove_some(data, size) : size;
    default: return insert_some(data, size, max_size);
    }
    return size;
}

static size_t mutate(uint8_t *data, size_t size)
{
    for (unsigned i = 1 + random_below(4); i > 0; i--)
        size = LLVMFuzzerCustomMutator != NULL && random_below(8) != 0
                   ? LLVMFuzzerCustomMutator(data, size, SIZE_MAX_MUTATED, driver.random)
                   : LLVMFuzzerMutate(data, size, SIZE_MAX_MUTATED);
    return size;
}

/* Each starts at a seed, or goes on from one of the last mutations. */
static void run_mutations(void)
{
    static uint8_t spare[SPARE][SIZE_MAX_MUTATED];
    static size_t spare_size[SPARE];

    for (driver.number = 1; driver.number <= driver.runs; driver.number++) {
        unsigned place = random_below(SPARE);
        uint8_t *copy;

        if (driver.seeds > 0 && random_below(8) != 0) {
            struct input from = driver.seed[random_below(driver.seeds)];

            spare_size[place] = from.size < SIZE_MAX_MUTATED ? from.size : SIZE_MAX_MUTATED;
            memcpy(spare[place], from.data, spare_size[place]);
        }
        spare_size[place] = mutate(spare[place], spare_size[place]);
        copy = malloc(spare_size[place] > 0 ? spare_size[place] : 1);
        if (copy == NULL)
            return;
        memcpy(copy, spare[place], spare_size[place]);
        driver.now = (struct input){ copy, spare_size[place] };
        LLVMFuzzerTestOneInput(copy, spare_size[place]);
        free(copy);
    }
}

/* --- files ------------------------------------------------------------------------------------ */

static void keep_seed(uint8_t *data, size_t size)
{
    if (driver.runs > 0 && driver.seeds < SEEDS_MAX)
        driver.seed[driver.seeds++] = (struct input){ data, size };
    else
        free(data);
}

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
    keep_seed(data, (size_t)size);
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

static void take_option(const char *text)
{
    if (strncmp(text, "-runs=", 6) == 0)
        driver.runs = strtoul(text + 6, NULL, 10);
    else if (strncmp(text, "-seed=", 6) == 0)
        driver.random = (uint32_t)strtoul(text + 6, NULL, 10) * 2654435761u | 1;
    else if (strncmp(text, "-artifact_prefix=", 17) == 0)
        driver.prefix = text + 17;
}

int main(int argc, char **argv)
{
    int count = 0;

    for (int i = 1; i < argc; i++)
        take_option(argv[i]);
    watch();

    if (LLVMFuzzerInitialize != NULL)
        LLVMFuzzerInitialize(&argc, &argv);
    for (int i = 1; i < argc; i++) {
        int n = argv[i][0] == '-' ? 0 : run_path(argv[i]);

        if (n < 0)
            return 1;
        count += n;
    }
    run_mutations();
    for (unsigned i = 0; i < driver.seeds; i++)
        free(driver.seed[i].data);
    printf("%d inputs\n", count);
    if (driver.runs > 0)
        printf("%lu runs\n", driver.runs);
    return 0;
}
