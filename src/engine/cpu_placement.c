/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/cpu_placement.c - gives each thread its CPU.
 *
 * exclusive: the next CPU of the set for each new thread, starting over after the last; autopin
 * takes those of the interface's NUMA node first. auto: the best free CPU, by a comparison of two
 * CPUs. balanced: anywhere in the set. `autopin: force` reduces the set of a thread to the CPUs on
 * the node of its interface. */
#include "engine/cpu_list.h"
#include "engine/plan_private.h"

#include <stdlib.h>
#include <string.h>

/* State of one plan's placement; lives for one plan_place(). */
struct cpu_placement {
    struct plan *plan;
    struct cpu_set taken;               /* by a thread pinned to it alone */
    struct cpu_set avoid;               /* management and receive: for auto */
    struct cpu_set *used;               /* by set number: CPUs used in this round */
    int home_package;                   /* for auto without a known interface */
};

/* Numbers for `used`: first the roles, then interface-specific sets, then the stages' own lists. */
static unsigned set_number(const struct affinity *a, const struct affinity_set *set, int stage)
{
    if (set >= a->set && set < a->set + CPU_ROLES)
        return (unsigned)(set - a->set);
    if (set >= a->specific.at && set < a->specific.at + a->specific.count)
        return CPU_ROLES + (unsigned)(set - a->specific.at);
    return CPU_ROLES + (unsigned)a->specific.count + (unsigned)stage;
}

/* Only threads that touch packets right after the NIC gain from being on its NUMA node. */
bool plan_follows_interface(const struct plan_thread *t)
{
    return t->role == CPU_WORKER || t->role == CPU_RECEIVE;
}

struct cpu_preference {
    const struct cpu_placement *pl;
    int numa, package;                  /* preferred; -1: any */
    const struct cpu_set *used;
};

/* Lower is better. Each bit outweighs all lower ones together: a used CPU, a CPU with another
 * thread, a core with management or receive, a core with another thread, the wrong NUMA node, the
 * wrong package, a second hardware thread. Ties go to the lower L3, core and number, which fills
 * one cache before the next. */
static unsigned cpu_penalty(const struct cpu_preference *preference, const struct topology_cpu *cpu)
{
    const struct topology *t = preference->pl->plan->topology;
    struct cpu_set core;
    unsigned points = 0;

    if (cpu_set_has(preference->used, cpu->os))
        points += 64;
    if (cpu_set_has(&preference->pl->taken, cpu->os))
        points += 32;
    if (cpu->core >= 0 && topology_part_cpus(t, TOPOLOGY_CORE, (unsigned)cpu->core, &core)) {
        if (cpu_set_overlaps(&core, &preference->pl->taken))
            points += 8;
        if (cpu_set_overlaps(&core, &preference->pl->avoid))
            points += 16;
    }
    if (preference->numa >= 0 && cpu->numa != preference->numa)
        points += 4;
    if (preference->package >= 0 && cpu->package != preference->package)
        points += 2;
    if (cpu->thread > 0)
        points += 1;
    return points;
}

/* A strict order, so that the same machine always gives the same plan. */
static bool is_better(const struct cpu_preference *preference, const struct topology_cpu *a,
                      const struct topology_cpu *b)
{
    unsigned x = cpu_penalty(preference, a), y = cpu_penalty(preference, b);

    if (x != y)
        return x < y;
    if (a->package != b->package)
        return a->package < b->package;
    if (a->l3 != b->l3)
        return a->l3 < b->l3;
    return a->core != b->core ? a->core < b->core : a->os < b->os;
}

static int choose_auto(const struct cpu_placement *pl, const struct cpu_set *cpus,
                       const struct plan_thread *t, const struct cpu_set *used)
{
    struct cpu_preference preference = {
        .pl = pl, .used = used, .numa = -1, .package = pl->home_package
    };
    const struct topology_cpu *best = NULL;
    int numa = plan_follows_interface(t) ? plan_source_numa(pl->plan, t->source) : -1;

    /* Threads fed by rings follow the first interface whose node is known. */
    for (unsigned i = 0; i < pl->plan->source_count && numa < 0 && pl->plan->live; i++)
        numa = plan_source_numa(pl->plan, pl->plan->sources[i].name);
    preference.numa = numa;
    for (unsigned i = 0; i < pl->plan->topology->count; i++) {
        const struct topology_cpu *cpu = &pl->plan->topology->cpu[i];

        if (!cpu_set_has(cpus, cpu->os))
            continue;
        if (numa >= 0 && cpu->numa == numa && preference.package != cpu->package &&
            preference.package == pl->home_package)
            preference.package = cpu->package;
        if (best == NULL || is_better(&preference, cpu, best))
            best = cpu;
    }
    return best != NULL ? (int)best->os : -1;
}

/* -1 when every CPU of the set is used. */
static int choose_next(const struct cpu_set *cpus, const struct cpu_set *used)
{
    CPU_SET_EACH(cpu, cpus)
        if (!cpu_set_has(used, (unsigned)cpu))
            return cpu;
    return -1;
}

/* autopin: first CPUs on the NUMA node of the thread's interface, then any of the set. */
static int choose_exclusive(const struct cpu_placement *pl, const struct cpu_set *cpus,
                            const struct plan_thread *t, const struct cpu_set *used)
{
    int numa = pl->plan->affinity->autopin != AUTOPIN_NO && plan_follows_interface(t)
             ? plan_source_numa(pl->plan, t->source) : -1;
    struct cpu_set near;

    if (numa >= 0 &&
        topology_part_cpus(pl->plan->topology, TOPOLOGY_NUMA, (unsigned)numa, &near)) {
        int cpu;

        cpu_set_and(&near, cpus);
        cpu = choose_next(&near, used);
        if (cpu >= 0)
            return cpu;
    }
    return choose_next(cpus, used);
}

/* One CPU of `cpus`, which is the set or a part of it, and not empty: one is always found. */
static void pin(struct cpu_placement *pl, struct plan_thread *t, const struct affinity_set *set,
                const struct cpu_set *cpus)
{
    struct cpu_set *used = &pl->used[set_number(pl->plan->affinity, set, t->stage)];

    if (choose_next(cpus, used) < 0)
        CPU_SET_EACH(cpu, cpus)                 /* the next round */
            cpu_set_remove(used, (unsigned)cpu);
    t->cpu = set->is_auto ? choose_auto(pl, cpus, t, used) : choose_exclusive(pl, cpus, t, used);
    memset(&t->cpus, 0, sizeof(t->cpus));
    cpu_set_add(&t->cpus, (unsigned)t->cpu);
    cpu_set_add(used, (unsigned)t->cpu);
    cpu_set_add(&pl->taken, (unsigned)t->cpu);
    t->cpu_info = topology_find(pl->plan->topology, (unsigned)t->cpu);
    if (t->role == CPU_RECEIVE)
        cpu_set_add(&pl->avoid, (unsigned)t->cpu);
}

/* The node to which `autopin: force` binds the thread: that of its interface, or, if rings feed the
 * thread, the one of all interfaces. -1: none is known, or they sit on several. */
static int forced_node(const struct plan *plan, const struct plan_thread *t)
{
    int numa = -1;

    if (plan->affinity->autopin != AUTOPIN_FORCE || !plan_follows_interface(t) || !plan->live)
        return -1;
    if (t->source != NULL)
        return plan_source_numa(plan, t->source);
    for (unsigned i = 0; i < plan->source_count; i++) {
        int its = plan_source_numa(plan, plan->sources[i].name);

        if (its < 0 || (numa >= 0 && its != numa))
            return -1;
        numa = its;
    }
    return numa;
}

/* Leaves those of the set's CPUs on which the thread may run. -1: none, which is a mistake of the
 * configuration, and the place of the set is its. */
static int restrict_cpus(const struct plan *plan, struct plan_thread *t,
                         const struct affinity_set *set, struct cpu_set *cpus, struct err *err)
{
    struct cpu_set near;
    int numa = forced_node(plan, t);

    *cpus = set->cpus;
    if (numa < 0 || !topology_part_cpus(plan->topology, TOPOLOGY_NUMA, (unsigned)numa, &near))
        return 0;
    cpu_set_and(cpus, &near);
    if (cpu_set_count(cpus) == 0)
        return err_at(err, set->given ? set->at : plan->affinity->autopin_at,
                      "autopin: force: thread %s must run on NUMA node %d, where its "
                      "interface is, and the set has no CPU there", t->name, numa);
    t->memory_node = numa;
    return 0;
}

/* Sets the thread's CPUs, priority and nice level. A balanced set with one CPU also has a location,
 * so that the warnings see it. */
static int place_thread(struct cpu_placement *pl, struct plan_thread *t,
                        const struct affinity_set *set, struct err *err)
{
    struct cpu_set cpus;

    if (cpu_set_count(&set->cpus) > 0 && restrict_cpus(pl->plan, t, set, &cpus, err) < 0)
        return -1;
    if (cpu_set_count(&set->cpus) == 0) {
        t->cpus = pl->plan->topology->allowed;
    } else if (set->exclusive || set->is_auto) {
        t->pinned = true;
        pin(pl, t, set, &cpus);
    } else {
        t->pinned = true;
        t->cpus = cpus;
        if (cpu_set_count(&t->cpus) == 1) {
            t->cpu = cpu_set_next(&t->cpus, 0);
            t->cpu_info = topology_find(pl->plan->topology, (unsigned)t->cpu);
        }
    }
    t->prio = affinity_prio(set, t->cpu);
    t->nice = prio_nice(t->prio);
    t->sets_nice = set->given;
    return 0;
}

/* A cpu-set that names one of the sets is no list of its own. */
bool plan_has_own_cpus(const struct plan_stage *pp)
{
    enum cpu_role role;

    return pp->stage->cpu_node != NULL &&
           !(pp->stage->cpu_set != NULL && cpu_role_find(text_of(pp->stage->cpu_set), &role));
}

/* The stage's own list of CPUs, if it has one. Such a list is exclusive. */
static int own_list(const struct plan *plan, const struct plan_stage *pp,
                    struct affinity_set *set, bool *own, struct err *err)
{
    struct cpu_list list = { .topology = plan->topology, .what = "cpu-set",
                             .diagnostics = (struct diagnostics *)&plan->diagnostics };
    const struct conf_node *node = pp->stage->cpu_node;

    *own = plan_has_own_cpus(pp);
    if (!*own)
        return 0;
    *set = (struct affinity_set){ .given = true, .at = node->at, .exclusive = true,
                                  .prio_default = PRIO_MEDIUM };
    if (affinity_list(plan->affinity, &list, node, err) < 0)
        return -1;
    set->cpus = list.cpus;
    set->is_auto = list.is_auto;
    return 0;
}

static int place_stage(struct cpu_placement *pl, const struct plan_stage *pp, struct err *err)
{
    struct plan *plan = pl->plan;
    struct affinity_set own;
    bool has_own;

    if (own_list(plan, pp, &own, &has_own, err) < 0)
        return -1;
    for (unsigned i = 0; i < pp->count; i++) {
        struct plan_thread *t = &plan->threads[pp->first + i];
        int status = 0;

        if (has_own)
            status = place_thread(pl, t, &own, err);
        else if (plan->affinity->enabled)
            status = place_thread(
                pl, t, affinity_get(plan->affinity, t->role,
                                    plan_follows_interface(t) ? t->source : NULL), err);
        else
            t->cpus = plan->topology->allowed;
        if (status < 0)
            return -1;
    }
    return 0;
}

/* The package with the most usable cores; the first one of equals. */
static int roomiest_package(const struct cpu_placement *pl)
{
    const struct topology *t = pl->plan->topology;
    int best = -1;
    unsigned best_cores = 0;

    for (unsigned i = 0; i < t->packages; i++) {
        struct cpu_set cpus;

        topology_part_cpus(t, TOPOLOGY_PACKAGE, i, &cpus);
        cpu_set_and(&cpus, &t->allowed);
        topology_one_per_core(t, &cpus);
        if (cpu_set_count(&cpus) > best_cores) {
            best_cores = cpu_set_count(&cpus);
            best = (int)i;
        }
    }
    return best;
}

/* Stages are placed in chain order, so that receive comes before workers and `auto` keeps away from
 * it. Management threads come last; by default all of them share the complete set. */
int plan_place(struct plan *plan, struct err *err)
{
    const struct affinity *a = plan->affinity;
    const struct affinity_set *management = &a->set[CPU_MANAGEMENT];
    struct cpu_placement pl = { .plan = plan };
    int status = 0;

    pl.used = xcalloc(CPU_ROLES + a->specific.count + STAGES_MAX + 1, sizeof(pl.used[0]));
    pl.home_package = roomiest_package(&pl);
    /* Workers can only avoid a management set that leaves at least half of the machine. */
    if (a->enabled && cpu_set_count(&management->cpus) * 2 <= plan->topology->count)
        pl.avoid = management->cpus;
    for (unsigned i = 0; i < plan->stage_count && status == 0; i++)
        status = place_stage(&pl, &plan->stages[i], err);
    for (unsigned i = plan->packet_threads; i < plan->thread_count && status == 0; i++) {
        if (a->enabled)
            status = place_thread(&pl, &plan->threads[i], management, err);
        else
            plan->threads[i].cpus = plan->topology->allowed;
    }
    free(pl.used);
    return status;
}
