/* SPDX-License-Identifier: GPL-2.0-or-later */
/* On the machine itself: what the kernel says of each thread is what the plan said. */
#include "base/array.h"
#include "base/test.h"
#include "engine/engine.h"

#include <dirent.h>
#include <errno.h>
#include <linux/mempolicy.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

static int gate;        /* atomic: 1 lets the capture end */

static void *stub_open(const struct module_env *env, struct err *err)
{
    (void)env;
    (void)err;
    return NULL;
}

static enum module_status stub_pass(void *self, struct packet_vector *v)
{
    (void)self;
    (void)v;
    return MODULE_OK;
}

static enum module_status stub_receive(void *self, struct packet_vector *v)
{
    (void)self;
    (void)v;
    usleep(1000);
    return __atomic_load_n(&gate, __ATOMIC_RELAXED) ? MODULE_END : MODULE_IDLE;
}

#define STUB(n, p) { .name = n, .open = stub_open, .process = p }
static const struct thread_module stubs[] = {
    STUB("receive", stub_receive), STUB("decode", stub_pass), STUB("stream", stub_pass),
    STUB("detect", stub_pass), STUB("verdict", stub_pass), STUB("output", stub_pass),
};
static const struct thread_module *const table[] = { &stubs[0], &stubs[1], &stubs[2],
                                                     &stubs[3], &stubs[4], &stubs[5], NULL };

static bool read_line(const char *path, const char *key, char *buf, size_t size)
{
    FILE *f = fopen(path, "r");
    char line[512];
    bool found = false;

    if (f == NULL)
        return false;
    while (!found && fgets(line, sizeof(line), f) != NULL) {
        size_t n = strlen(key);

        if (strncmp(line, key, n) != 0)
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(buf, size, "%s", line + n + strspn(line + n, " \t:"));
        found = true;
    }
    fclose(f);
    return found;
}

/* Finds the task of that name and compares. */
static bool check_task(struct test *t, const struct plan_thread *thread, bool may_renice)
{
    DIR *dir = opendir("/proc/self/task");
    struct dirent *entry;
    bool found = false;

    while (dir != NULL && !found && (entry = readdir(dir)) != NULL) {
        char path[300], name[64], cpus[256], expected[256];

        if (entry->d_name[0] == '.')
            continue;
        snprintf(path, sizeof(path), "/proc/self/task/%s/status", entry->d_name);
        if (!read_line(path, "Name", name, sizeof(name)) || strcmp(name, thread->name) != 0)
            continue;
        found = true;
        CHECK(read_line(path, "Cpus_allowed_list", cpus, sizeof(cpus)));
        CHECK_STRING(cpus, cpu_set_text(&thread->cpus, expected, sizeof(expected)));
        errno = 0;
        if (may_renice || thread->nice >= 0)
            CHECK_INT(getpriority(PRIO_PROCESS, (id_t)atoi(entry->d_name)),
                      thread->sets_nice ? thread->nice : getpriority(PRIO_PROCESS, 0));
        CHECK_INT(errno, 0);
    }
    if (dir != NULL)
        closedir(dir);
    return found;
}

static void apply_affinity_in(struct test *t, const char *mode, const struct topology *topology,
                      struct conf *conf, struct run_modes *modes)
{
    struct plan_source source = { .name = "straw", .threads = 2 };
    struct engine_conf engine_conf = { 0 };
    struct err err = { 0 };
    struct plan *plan = plan_new(&(struct plan_request){
        .root = conf_root(conf), .mode = run_modes_find(modes, mode), .topology = topology,
        .method = "straw", .live = true, .sources = &source, .source_count = 1 }, &err);
    struct engine *engine;

    CHECK_STRING(err.text, "");
    if (plan == NULL)
        return;
    __atomic_store_n(&gate, 0, __ATOMIC_RELAXED);
    engine = engine_new(&engine_conf, plan, table, NULL, &err);
    CHECK_INT(engine_start(engine, &err), 0);
    for (unsigned i = 0; i < plan->packet_threads; i++)
        CHECK(check_task(t, &plan->threads[i], geteuid() == 0));
    __atomic_store_n(&gate, 1, __ATOMIC_RELAXED);
    CHECK_INT(engine_wait(engine), 0);
    engine_free(engine);
    plan_free(plan);
}

TEST(thread_affinity_as_planned)
{
    static const char *const names[] = { "single", "workers", "autofp", "pipeline" };
    struct err err = { 0 };
    struct topology *topology = topology_of_machine(&err);
    struct conf *conf = conf_new();
    struct run_modes *modes;

    CHECK(topology != NULL);
    CHECK_INT(conf_load_string(conf,
        "%YAML 1.1\n---\nthreading:\n  set-cpu-affinity: yes\n  cpu-affinity:\n"
        "    - receive-cpu-set: { cpu: [ all ], mode: exclusive, prio: { default: low } }\n"
        "    - stream-cpu-set: { cpu: [ all ], mode: balanced }\n"
        "    - worker-cpu-set: { cpu: [ all ], mode: exclusive, prio: { low: [ 1 ], "
        "default: medium } }\n", "t.yaml", &err), 0);
    modes = run_modes_new(conf_root(conf), &err);
    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        apply_affinity_in(t, names[i], topology, conf, modes);
    run_modes_free(modes);
    topology_free(topology);
    conf_free(conf);
}

/* In a thread of its own: the policy is the thread's, and other tests keep theirs. */
static void *bind_and_report(void *arg)
{
    struct test *t = arg;
    struct err err = { 0 };
    struct topology *topology = topology_of_machine(&err);
    int policy = -1;

    CHECK(topology != NULL);
    CHECK(!topology_bind_memory(topology, 1000));
    if (syscall(SYS_get_mempolicy, &policy, NULL, 0, NULL, 0) != 0 && errno == ENOSYS) {
        t->skipped = true;                              /* qemu-user; kernels without NUMA */
        topology_free(topology);
        return NULL;
    }
    CHECK_INT(syscall(SYS_get_mempolicy, &policy, NULL, 0, NULL, 0), 0);
    CHECK_INT(policy, MPOL_DEFAULT);
    if (topology_bind_memory(topology, 0)) {
        CHECK_INT(syscall(SYS_get_mempolicy, &policy, NULL, 0, NULL, 0), 0);
        CHECK(policy == MPOL_PREFERRED || policy == MPOL_PREFERRED_MANY);
    } else {
        CHECK(errno == ENOSYS || errno == EPERM);       /* a kernel or container without it */
    }
    topology_free(topology);
    return NULL;
}

/* In a thread of its own, whose affinity mask changes while the topology stays. */
static void *change_limits(void *arg)
{
    struct test *t = arg;
    struct err err = { 0 };
    struct topology *topology = topology_of_machine(&err);
    struct cpu_set allowed;
    cpu_set_t one;

    CHECK(topology != NULL);
    allowed = topology->allowed;
    CPU_ZERO(&one);
    CPU_SET(topology->cpu[topology->count - 1].os, &one);
    if (topology->cpu[topology->count - 1].os >= CPU_SETSIZE || cpu_set_count(&allowed) < 2 ||
        pthread_setaffinity_np(pthread_self(), sizeof(one), &one) != 0) {
        t->skipped = true;                  /* this process has one CPU, or not the last */
        topology_free(topology);
        return NULL;
    }
    topology_read_limits(topology);
    CHECK_INT(cpu_set_count(&topology->allowed), 1);
    CPU_ZERO(&one);
    for (unsigned i = 0; i < topology->count; i++)
        CPU_SET(topology->cpu[i].os, &one);
    CHECK_INT(pthread_setaffinity_np(pthread_self(), sizeof(one), &one), 0);
    topology_read_limits(topology);
    CHECK_INT(cpu_set_count(&topology->allowed), cpu_set_count(&allowed));
    topology_free(topology);
    return NULL;
}

TEST(thread_affinity_limits_are_read_again)
{
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, change_limits, t), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
}

TEST(thread_affinity_memory_of_a_node)
{
    struct err err = { 0 };
    struct topology *other = topology_described("pack:2 numa:1 core:2 pu:1", &err);
    pthread_t thread;

    CHECK(!topology_bind_memory(other, 0));             /* not this machine's */
    topology_free(other);
    CHECK_INT(pthread_create(&thread, NULL, bind_and_report, t), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
}
