/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/topology.h - the CPUs of this machine, or of a described one. Read-only once created.
 * hwloc provides it; the rest of the engine uses a flat table. */
#ifndef ENGINE_TOPOLOGY_H
#define ENGINE_TOPOLOGY_H

#include "base/err.h"
#include "engine/cpu_set.h"

struct topology_cpu {
    unsigned os;                    /* kernel number */
    int core, package, numa, l3, l2;    /* logical numbers within the machine; -1: not known */
    unsigned thread;                /* which hardware thread of its core, from 0 */
};

struct topology {
    unsigned count;
    struct topology_cpu *cpu;       /* ascending by os */
    struct cpu_set all, allowed;    /* allowed: those that taskset and cgroup permit */
    unsigned cores, packages, numas, l3s;
    unsigned quota;                 /* CPU time that a cgroup grants, in CPUs, rounded up; 0: all */
    bool is_this_machine;
    char text[128];                 /* the description that was parsed */
    void *hwloc;                    /* for interfaces in an XML file */
};

struct topology *topology_of_machine(struct err *err);
/* Reads again what may change while the process runs: `allowed` and `quota`. */
void topology_read_limits(struct topology *t);
/* A synthetic description ("pack:2 core:6 pu:2") or the path of an hwloc XML file. */
struct topology *topology_described(const char *text, struct err *err);
void topology_free(struct topology *t);

const struct topology_cpu *topology_find(const struct topology *t, unsigned os);     /* or NULL */
/* Returns the NUMA node of an interface; -1: unknown. */
int topology_interface_numa(const struct topology *t, const char *interface);

/* Binds what the calling thread allocates from now on to a NUMA node; the kernel takes another one
 * when that is full. false, with errno: it cannot. */
bool topology_bind_memory(const struct topology *t, int numa);

enum topology_part { TOPOLOGY_NUMA, TOPOLOGY_PACKAGE, TOPOLOGY_CORE, TOPOLOGY_L3 };
/* Returns the CPUs of part number `n`; false when there is none. */
bool topology_part_cpus(const struct topology *t, enum topology_part part, unsigned n,
                        struct cpu_set *out);
unsigned topology_part_count(const struct topology *t, enum topology_part part);
/* Reduces `s` to the first hardware thread of each core. */
void topology_one_per_core(const struct topology *t, struct cpu_set *s);

#endif
