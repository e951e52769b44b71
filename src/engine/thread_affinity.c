/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/thread_affinity.c - name, CPUs and nice level of the calling thread.
 *
 * Memory needs no policy as a rule: by default the kernel allocates a page on the node of the CPU
 * that first writes it (numa(7), first touch), and a thread creates its pool, rings and tables
 * after it has moved to its CPUs. `autopin: force` sets one, which also holds where the process was
 * started with another (numactl --interleave). */
#include "engine/thread_affinity.h"

#include "base/report/log.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Failing is no reason to stop: the thread then runs on other CPUs, slower but correct. */
static void apply_cpus(const struct plan_thread *t)
{
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *mask = CPU_ALLOC(CPUS_MAX);
    char text[128];

    if (mask == NULL)
        return;
    CPU_ZERO_S(size, mask);
    CPU_SET_EACH(cpu, &t->cpus)
        CPU_SET_S((size_t)cpu, size, mask);
    if (sched_setaffinity(0, size, mask) < 0)
        log_warning("engine", "thread %s: cannot run on CPU %s: %s", t->name,
                    cpu_set_text(&t->cpus, text, sizeof(text)), strerror(errno));
    CPU_FREE(mask);
}

/* On Linux setpriority(PRIO_PROCESS) with a thread id changes that thread only (setpriority(2),
 * notes). */
void thread_apply_affinity(const struct plan *plan, const struct plan_thread *t)
{
    pid_t tid = (pid_t)syscall(SYS_gettid);

    pthread_setname_np(pthread_self(), t->name);
    if (t->pinned)
        apply_cpus(t);
    if (t->memory_node >= 0 && !topology_bind_memory(plan->topology, t->memory_node))
        log_warning("engine", "thread %s: cannot bind its memory to NUMA node %d: %s", t->name,
                    t->memory_node, strerror(errno));
    if (t->sets_nice && setpriority(PRIO_PROCESS, (id_t)tid, t->nice) < 0)
        log_warning("engine", "thread %s: cannot have nice level %d: %s", t->name, t->nice,
                    strerror(errno));
}
