/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/no-alloc/count.c - counts calls of the allocator and of locks, for qa/no-alloc/run.
 *
 * Preloaded into the engine, which reads its capture from standard input: what has been read says
 * where in the capture it stands. Between the bytes STEADY_FROM and STEADY_TO every call counts,
 * with who made it: on exit STEADY_OUT gets a line for each site, its kind, thread, count, and
 * the return addresses as offsets into their files. STEADY_LAST names the threads that fall behind
 * before the window opens.
 *
 * The engine's own code is not known here: whatever library a packet thread calls is seen. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <execinfo.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#define DEPTH 16
#define SITES 4096
#define RESTS 60                /* of each of the last threads, before the window */
#define REST 40000              /* us, at least: a loaded machine takes that long to go round */
#define OWN_FRAMES 2            /* note() and the wrapper */

/* --- what was seen --------------------------------------------------------------------------- */

struct site {
    const char *kind;
    char thread[16];
    void *stack[DEPTH];
    int depth;
    unsigned long count;
};

static struct site sites[SITES];
static size_t site_count;
static unsigned long not_retained, before_window, window_bytes;
static atomic_flag table_lock = ATOMIC_FLAG_INIT;
static atomic_bool in_window;
static size_t window_from, window_to = SIZE_MAX;
static atomic_size_t input_read;
static const char *last_threads;        /* what their names begin with */
static __thread bool inside __attribute__((tls_model("initial-exec")));

static bool is_same(const struct site *p, const struct site *q)
{
    return p->kind == q->kind && p->depth == q->depth && strcmp(p->thread, q->thread) == 0 &&
           memcmp(p->stack, q->stack, (size_t)p->depth * sizeof(p->stack[0])) == 0;
}

static void keep(const struct site *seen)
{
    size_t i = 0;

    while (atomic_flag_test_and_set(&table_lock))
        ;
    while (i < site_count && !is_same(&sites[i], seen))
        i++;
    if (i == SITES) {
        not_retained++;
    } else {
        if (i == site_count)
            sites[site_count++] = *seen;
        sites[i].count++;
    }
    atomic_flag_clear(&table_lock);
}

static __attribute__((noinline)) void note(const char *kind)
{
    struct site seen = { .kind = kind };
    int saved = errno;

    if (inside)
        return;
    if (!atomic_load_explicit(&in_window, memory_order_relaxed)) {
        before_window++;        /* about: only that it is not 0 is of interest */
        return;
    }
    inside = true;
    prctl(PR_GET_NAME, seen.thread);
    seen.depth = backtrace(seen.stack, DEPTH);
    keep(&seen);
    inside = false;
    errno = saved;
}

/* --- the functions that stand behind ours ---------------------------------------------------- */

/* dlsym() itself allocates before the real allocator is known; that much comes from here. */
static _Alignas(16) char early[65536];
static size_t early_used;

static void *early_alloc(size_t size)
{
    void *p = early + early_used;

    early_used += (size + 15) & ~(size_t)15;
    return early_used <= sizeof(early) ? p : NULL;
}

static bool is_early(const void *p)
{
    return (const char *)p >= early && (const char *)p < early + sizeof(early);
}

#define NEXT(name)                                                                               \
    static __typeof__(name) *next;                                                               \
    if (next == NULL)                                                                            \
        next = (__typeof__(name) *)dlsym(RTLD_NEXT, #name)

static void *(*next_malloc)(size_t);
static void *(*next_calloc)(size_t, size_t);
static void *(*next_realloc)(void *, size_t);
static void (*next_free)(void *);
static bool resolving;

static bool resolve(void)
{
    if (next_free != NULL)
        return true;
    if (resolving)
        return false;
    resolving = true;
    next_malloc = (void *(*)(size_t))dlsym(RTLD_NEXT, "malloc");
    next_calloc = (void *(*)(size_t, size_t))dlsym(RTLD_NEXT, "calloc");
    next_realloc = (void *(*)(void *, size_t))dlsym(RTLD_NEXT, "realloc");
    next_free = (void (*)(void *))dlsym(RTLD_NEXT, "free");
    resolving = false;
    return next_free != NULL;
}

/* --- the allocator --------------------------------------------------------------------------- */

void *malloc(size_t size)
{
    if (!resolve())
        return early_alloc(size);
    note("malloc");
    return next_malloc(size);
}

void *calloc(size_t n, size_t size)
{
    if (!resolve())
        return early_alloc(n * size);
    note("calloc");
    return next_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
    if (!resolve() || is_early(p)) {
        void *moved = malloc(size);

        return p != NULL && moved != NULL ? memcpy(moved, p, size) : moved;
    }
    note("realloc");
    return next_realloc(p, size);
}

void free(void *p)
{
    if (p == NULL || is_early(p) || !resolve())
        return;
    note("free");
    next_free(p);
}

#define WRAP(result, name, parameters, arguments)                                                \
    result name parameters                                                                       \
    {                                                                                            \
        NEXT(name);                                                                              \
        note(#name);                                                                             \
        return next arguments;                                                                   \
    }

WRAP(int, posix_memalign, (void **p, size_t align, size_t size), (p, align, size))
WRAP(void *, aligned_alloc, (size_t align, size_t size), (align, size))
WRAP(void *, mmap, (void *at, size_t n, int prot, int flags, int fd, off_t from),
     (at, n, prot, flags, fd, from))
WRAP(int, munmap, (void *at, size_t n), (at, n))

/* --- locks ----------------------------------------------------------------------------------- */

WRAP(int, pthread_mutex_lock, (pthread_mutex_t *m), (m))
WRAP(int, pthread_mutex_trylock, (pthread_mutex_t *m), (m))
WRAP(int, pthread_rwlock_rdlock, (pthread_rwlock_t *l), (l))
WRAP(int, pthread_rwlock_wrlock, (pthread_rwlock_t *l), (l))
WRAP(int, pthread_spin_lock, (pthread_spinlock_t *l), (l))
WRAP(int, pthread_cond_wait, (pthread_cond_t *c, pthread_mutex_t *m), (c, m))
WRAP(int, sem_wait, (sem_t *s), (s))

/* How many packets are under way at once depends on how the machine schedules threads, and each
 * packet keeps buffers that grow with what it carries. So before the window the last threads rest
 * now and then, until the first one has used all its packets and reads no further: then each packet
 * has its buffers when the window opens. */
static void fall_behind(void)
{
    static __thread size_t rests __attribute__((tls_model("initial-exec")));
    size_t due = input_read / (window_from / RESTS + 1), seen;
    char name[16];

    if (last_threads == NULL || input_read >= window_from || rests == due)
        return;
    rests = due;
    prctl(PR_GET_NAME, name);
    if (strncmp(name, last_threads, strlen(last_threads)) != 0)
        return;
    do {
        seen = input_read;
        usleep(REST);
    } while (seen != input_read);
}

/* A packet thread with nothing to do sleeps on a futex: that is no lock, and has its own name. */
long syscall(long number, ...)
{
    long a[6];
    va_list args;

    NEXT(syscall);
    va_start(args, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(args, long);
    va_end(args);
    if (number == SYS_futex)
        note("futex");
    number = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    fall_behind();
    return number;
}

/* --- where in the capture -------------------------------------------------------------------- */

/* The engine reads a duplicate of descriptor 0. */
static bool is_input(int fd)
{
    struct stat a, b;

    return fstat(fd, &a) == 0 && S_ISFIFO(a.st_mode) && fstat(0, &b) == 0 &&
           a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/* A pipe gives what its writer has written so far, and how many packets are under way at once would
 * depend on that. So each call fills its buffer: in `single` every run is the same. */
static ssize_t read_all(ssize_t (*next)(int, void *, size_t), int fd, void *into, size_t size)
{
    size_t n = 0;
    ssize_t got;

    while (n < size && (got = next(fd, (char *)into + n, size - n)) > 0)
        n += (size_t)got;
    return n > 0 || size == 0 ? (ssize_t)n : got;
}

ssize_t read(int fd, void *into, size_t size)
{
    ssize_t n;

    NEXT(read);
    if (!is_input(fd))
        return next(fd, into, size);
    n = read_all(next, fd, into, size);
    if (n > 0)
        input_read += (size_t)n;
    if (atomic_load(&in_window) && n > 0)
        window_bytes += (size_t)n;
    atomic_store(&in_window, n > 0 && input_read >= window_from && input_read < window_to);
    return n;
}

/* --- begin and end --------------------------------------------------------------------------- */

static size_t number(const char *name, size_t otherwise)
{
    const char *value = getenv(name);

    return value != NULL ? strtoull(value, NULL, 10) : otherwise;
}

__attribute__((constructor)) static void begin(void)
{
    void *frame[DEPTH];

    resolve();
    backtrace(frame, DEPTH);            /* loads the unwinder, which allocates */
    window_from = number("STEADY_FROM", 0);
    window_to = number("STEADY_TO", SIZE_MAX);
    last_threads = getenv("STEADY_LAST");
}

static void print_site(FILE *out, const struct site *p)
{
    fprintf(out, "%s\t%s\t%lu", p->kind, p->thread, p->count);
    for (int i = OWN_FRAMES; i < p->depth; i++) {
        Dl_info info;

        if (dladdr(p->stack[i], &info) != 0)
            fprintf(out, "\t%s+%zx", info.dli_fname,
                    (size_t)((char *)p->stack[i] - (char *)info.dli_fbase));
    }
    fputc('\n', out);
}

__attribute__((destructor)) static void finish(void)
{
    const char *name = getenv("STEADY_OUT");
    FILE *out;

    atomic_store(&in_window, false);
    inside = true;
    out = name != NULL ? fopen(name, "w") : NULL;
    if (out == NULL)
        return;
    fprintf(out, "window\t%lu\nbefore\t%lu\nlost\t%lu\n", window_bytes, before_window,
            not_retained);
    for (size_t i = 0; i < site_count; i++)
        print_site(out, &sites[i]);
    fclose(out);
}
