/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/global_memcap.c - reads and applies the common limit of memory. */
#include "config.h"

#include "main/global_memcap.h"

#include "base/base.h"
#include "base/memory/traffic_memory.h"
#include "base/report/log.h"
#include "engine/cgroup.h"

#ifdef HAVE_MIMALLOC
#include <mimalloc.h>
#if MI_MALLOC_VERSION < 210
#define mi_option_purge_delay mi_option_decommit_delay      /* its name before */
#endif
#endif
#include <string.h>
#include <unistd.h>

/* Rules, packet rings and the kernel's buffers need the rest. */
#define AUTO_PERCENT 50

/* The least limit. Each thread reserves memory in advance, so with less no flow would get any. */
#define LEAST ((uint64_t)16 << 20)

static uint64_t machine_memory(void)
{
    uint64_t all = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    uint64_t granted = cgroup_memory("/proc/self/cgroup", "/sys/fs/cgroup");

    return granted > 0 ? MIN(granted, all) : all;
}

static bool read_percent(const char *value, uint64_t have, uint64_t *out)
{
    struct text t = text_trim(text_of(value));
    uint64_t percent;

    if (t.n == 0 || t.p[t.n - 1] != '%' ||
        !text_to_u64(text_trim((struct text){ t.p, t.n - 1 }), 100, &percent) || percent == 0)
        return false;
    *out = have / 100 * percent;
    return true;
}

uint64_t global_memcap_read(const struct conf_node *root, uint64_t have)
{
    const char *value = conf_string(root, "global-memcap", "auto");
    uint64_t bytes;

    if (strcmp(value, "auto") == 0)
        return MAX(have / 100 * AUTO_PERCENT, LEAST);
    if (!read_percent(value, have, &bytes) && !text_to_size(text_of(value), &bytes)) {
        conf_fatal(conf_find(root, "global-memcap"),
                   "expected a size, a percentage or auto, got \"%s\"", value);
        return 0;
    }
    if (bytes > 0 && bytes < LEAST) {
        conf_warning(conf_find(root, "global-memcap"), "%s is too little to work with: taken as "
                     "16mb", value);
        return LEAST;
    }
    return bytes;
}

#ifdef HAVE_MIMALLOC

/* mimalloc keeps free pages for some milliseconds, in each thread and beyond the limit. That saves
 * time while memory is plenty, so it only ends with the first pressure. */
static void return_pages_at_once(void)
{
    mi_option_set(mi_option_purge_delay, 0);
}

#else

static void return_pages_at_once(void)
{
}

#endif

static void on_first_release(enum memory_pressure step)
{
    static const char *const what[PRESSURE_STEPS] = {
        [PRESSURE_IDLE] = "idle flows end early",
        [PRESSURE_BODIES] = "bodies and files are not kept",
        [PRESSURE_LARGEST] = "flows that hold much go on without payload",
    };

    return_pages_at_once();
    log_warning("memory", "%llu of %llu bytes of global-memcap are used: %s",
                (unsigned long long)traffic_memory_used(),
                (unsigned long long)traffic_memory_limit(), what[step]);
}

#ifdef IDS_THREAD_HEAPS

/* Slabs of the threads' heaps count as a whole, used or free. */
static void name_allocator(void)
{
}

#else

/* 15 to 30 MB of 64 in the catalogue of attacks, with one arena as with several. malloc_trim()
 * returns them, but it walks all free blocks: a hostile capture took 36 s of CPU in place of 2. */
static void name_allocator(void)
{
    log_info("memory", "libraries of this build use malloc(): its free blocks do not count below "
             "global-memcap");
}

#endif

void global_memcap_begin(const struct conf_node *root)
{
    name_allocator();
    traffic_memory_on_first_release(on_first_release);
    traffic_memory_set_limit(global_memcap_read(root, machine_memory()));
}
