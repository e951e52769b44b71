/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/affinity.h - reads `threading:` into CPU sets, in each form that the key has had:
 *
 * the map of 8.x: `cpu-affinity: { worker-cpu-set: { cpu: [2-5] } }`
 *
 * the list before: `cpu-affinity: [ worker-cpu-set: { cpu: ["2-5"] } ]`
 *
 * the first, underscored: `cpu_affinity: [ detect_cpu_set: { cpu: [2, 3] } ]`
 *
 * CPU lists take numbers, ranges, `all`, `auto`, `numa:0`, `package:1`, `core:0-5`, `l3:0`,
 * `no-smt`, `nic` (CPUs local to the interface), and `!` before any of them or before the name of
 * another set. Read-only once created. */
#ifndef ENGINE_AFFINITY_H
#define ENGINE_AFFINITY_H

#include "base/array.h"
#include "conf/conf.h"
#include "engine/cpu_set.h"
#include "engine/diagnostics.h"
#include "engine/topology.h"

enum cpu_role {
    CPU_MANAGEMENT, CPU_RECEIVE, CPU_DECODE, CPU_STREAM, CPU_WORKER, CPU_VERDICT, CPU_REJECT,
    CPU_OUTPUT, CPU_ROLES
};
const char *cpu_role_name(enum cpu_role role);              /* "worker" */
/* Parses "worker", "worker-cpu-set", "detect_cpu_set"; false for an unknown role. */
bool cpu_role_find(struct text name, enum cpu_role *out);

enum prio { PRIO_LOW, PRIO_MEDIUM, PRIO_HIGH, PRIO_COUNT };

struct affinity_set {
    bool given;                     /* the user configured it */
    struct where at;
    struct cpu_set cpus;            /* CPUs that exist and that this process may use */
    bool is_auto;                   /* the engine chooses among cpus */
    bool exclusive;
    unsigned threads;               /* 0: not configured */
    struct cpu_set prio[PRIO_COUNT];
    enum prio prio_default;
    enum cpu_role role;
    const char *interface;          /* of an interface-specific set; else NULL */
};

/* threading.autopin. yes: first the CPUs of the set near the interface. force: only these, with
 * memory of their NUMA node. */
enum autopin { AUTOPIN_NO, AUTOPIN_YES, AUTOPIN_FORCE };

/* Bytes of stack that every thread needs. */
#define AFFINITY_STACK_LEAST (512u << 10)

struct affinity {
    bool enabled;                   /* threading.set-cpu-affinity */
    enum autopin autopin;
    struct where autopin_at;
    double ratio;                   /* detect-thread-ratio */
    uint64_t stack_size;            /* at least AFFINITY_STACK_LEAST; 0: the libc's choice */
    struct affinity_set set[CPU_ROLES];
    ARRAY_OF(struct affinity_set) specific;
};

/* interfaces: the captured ones, NULL-ended; for `nic`. */
struct affinity *affinity_new(const struct conf_node *root, const struct topology *topology,
                              const char *const *interfaces, struct diagnostics *diagnostics,
                              struct err *err);
void affinity_free(struct affinity *a);
/* Returns the set of this interface, or the role's own set. */
const struct affinity_set *affinity_get(const struct affinity *a, enum cpu_role role,
                                        const char *interface);
/* A CPU list outside `threading`: cpu-set of a run mode's stage. As cpu_list_parse(), but the list
 * may name the sets. */
struct cpu_list;
int affinity_list(const struct affinity *a, struct cpu_list *list, const struct conf_node *node,
                  struct err *err);

/* Returns the nice value of a level: +2, 0, -2. */
int prio_nice(enum prio prio);
const char *prio_name(enum prio prio);
/* Returns the level of a thread on `cpu`; cpu -1: of a thread anywhere in the set. */
enum prio affinity_prio(const struct affinity_set *set, int cpu);

#endif
