/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan_warn.c - warnings about a plan: the problem, the reason, and a YAML line that fixes
 * it.
 *
 * Warnings never stop the engine. Each is printed once for all its threads, so that a plan for 128
 * CPUs does not print hundreds of lines. */
#include "engine/plan_private.h"

#include <stdio.h>
#include <string.h>

/* Bytes of a suggestion. A CPU list that does not fit is truncated, never the message around it. */
#define FIXIT_MAX 1024

static const char *set_key(const struct plan_thread *t)
{
    return cpu_role_name(t->role);
}

static struct where set_at(const struct plan *plan, const struct plan_thread *t)
{
    return plan->affinity->set[t->role].at;
}

/* All hardware threads of the cores on which threads of other roles run. Two hardware threads share
 * a core's execution units, so a busy sibling costs about half the speed. */
static void taken_by_others(const struct plan *plan, const struct plan_thread *t,
                            struct cpu_set *taken)
{
    for (unsigned i = 0; i < plan->thread_count; i++) {
        const struct plan_thread *other = &plan->threads[i];

        if (other->role == t->role || !other->pinned)
            continue;
        CPU_SET_EACH(os, &other->cpus) {
            const struct topology_cpu *cpu = topology_find(plan->topology, (unsigned)os);
            struct cpu_set core;

            cpu_set_add(taken, (unsigned)os);
            if (cpu != NULL && cpu->core >= 0 &&
                topology_part_cpus(plan->topology, TOPOLOGY_CORE, (unsigned)cpu->core, &core))
                cpu_set_or(taken, &core);
        }
    }
}

/* The set as items of a YAML list: "2-5", "7". */
static void list_items(const struct cpu_set *cpus, char *buf, size_t size)
{
    char text[FIXIT_MAX];
    struct text rest, part;
    size_t at = 0;

    cpu_set_text(cpus, text, sizeof(text));
    rest = text_of(text);
    buf[0] = '\0';
    while (text_split(&rest, ',', &part) && at < size)
        at += (size_t)snprintf(buf + at, size - at, "%s\"%.*s\"", at > 0 ? ", " : "",
                               TEXT(part));
}

/* Whether the set decides the number of threads. Other numbers are configured with the interface or
 * the stage, so a suggestion for the set would not change them. */
static bool set_counts_threads(const struct plan *plan, const struct plan_thread *t)
{
    const struct plan_stage *pp = &plan->stages[t->stage];

    return t->role == CPU_WORKER && pp->stage->threads != THREADS_NUMBER;
}

/* Suggests the first hardware thread of a free core for each thread of the stage, or fewer threads
 * if there are too few free cores. Returns false if no line of the set can help. */
static bool suggest_cpus(const struct plan *plan, const struct plan_thread *t, char *buf,
                         size_t size)
{
    struct cpu_set free_cpus = plan->topology->allowed, taken = { 0 };
    char items[FIXIT_MAX - 64];
    unsigned want = plan->stages[t->stage].count, have = 0;

    taken_by_others(plan, t, &taken);
    cpu_set_minus(&free_cpus, &taken);
    topology_one_per_core(plan->topology, &free_cpus);
    CPU_SET_EACH(cpu, &free_cpus)
        if (++have > want)
            cpu_set_remove(&free_cpus, (unsigned)cpu);
    list_items(&free_cpus, items, sizeof(items));
    if (have >= want)
        snprintf(buf, size, "%s-cpu-set: { cpu: [ %s ] }", set_key(t), items);
    else
        snprintf(buf, size, "%s-cpu-set: { cpu: [ %s ], threads: %u }", set_key(t), items, have);
    return have >= want || (have > 0 && set_counts_threads(plan, t));
}

/* Pairs of threads with the same problem. The warning names the first pair and the number of
 * others. */
struct pair {
    const struct plan_thread *a, *b;
    unsigned count;
};

static void pair_found(struct pair *pair, const struct plan_thread *a, const struct plan_thread *b)
{
    if (pair->count++ == 0) {
        pair->a = a;
        pair->b = b;
    }
}

static const char *and_others(const struct pair *pair, char *buf, size_t size)
{
    buf[0] = '\0';
    if (pair->count > 1)
        snprintf(buf, size, " (and %u more like that)", pair->count - 1);
    return buf;
}

static void warn_siblings(struct plan *plan, const struct pair *pair)
{
    const struct plan_thread *a = pair->a, *b = pair->b;
    char fixit[FIXIT_MAX], more[48];

    diagnostics_add(&plan->diagnostics, set_at(plan, b),
                    suggest_cpus(plan, b, fixit, sizeof(fixit)) ? fixit : NULL,
                    "%s on CPU %d and %s on CPU %d share core %d: "
                    "each gets about half of it%s",
                    a->name, a->cpu, b->name, b->cpu, a->cpu_info->core,
                    and_others(pair, more, sizeof(more)));
}

static bool has_other_cpus(const struct plan *plan, const struct cpu_set *theirs)
{
    struct cpu_set left = plan->topology->allowed;

    cpu_set_minus(&left, theirs);
    return cpu_set_count(&left) > 0;
}

/* The line that gives a set all CPUs except those of another. */
static const char *suggest_apart(const char *set, const char *other, char *buf, size_t size)
{
    snprintf(buf, size, "%s-cpu-set: { cpu: [ \"all\", \"!%s\" ] }", set, other);
    return buf;
}

/* Overlapping exclusive sets are a contradiction in the configuration, so the message names the
 * sets. */
static void warn_same_cpu(struct plan *plan, const struct pair *pair)
{
    const struct plan_thread *a = pair->a, *b = pair->b;
    const struct affinity_set *mine = &plan->affinity->set[a->role];
    const struct affinity_set *its = &plan->affinity->set[b->role];
    char line[256], more[48];
    const char *fixit = has_other_cpus(plan, &mine->cpus)
                            ? suggest_apart(set_key(b), set_key(a), line, sizeof(line)) : NULL;

    and_others(pair, more, sizeof(more));
    if (mine->exclusive && its->exclusive)
        diagnostics_add(&plan->diagnostics, set_at(plan, b), fixit,
                        "exclusive sets %s and %s overlap: %s and "
                        "%s both run on CPU %d%s",
                        set_key(a), set_key(b), a->name, b->name, a->cpu, more);
    else
        diagnostics_add(&plan->diagnostics, set_at(plan, b), fixit,
                        "%s and %s both run on CPU %d%s", a->name, b->name, a->cpu, more);
}

/* Compares threads of two roles. More threads than CPUs within one role is warn_few_cpus()'s. */
static void warn_roles(struct plan *plan, enum cpu_role one, enum cpu_role other)
{
    struct pair same = { 0 }, siblings = { 0 };

    for (unsigned i = 0; i < plan->packet_threads; i++)
        for (unsigned j = i + 1; j < plan->packet_threads; j++) {
            const struct plan_thread *a = &plan->threads[i], *b = &plan->threads[j];

            if (a->cpu_info == NULL || b->cpu_info == NULL || a->role != one || b->role != other)
                continue;
            if (a->cpu == b->cpu && one != other)
                pair_found(&same, a, b);
            else if (a->cpu != b->cpu && a->cpu_info->core >= 0 &&
                     a->cpu_info->core == b->cpu_info->core)
                pair_found(&siblings, a, b);
        }
    if (same.count > 0)
        warn_same_cpu(plan, &same);
    if (siblings.count > 0)
        warn_siblings(plan, &siblings);
}

/* Every ordered pair of roles: warn_roles() only looks at later threads of `other`. */
static void warn_pairs(struct plan *plan)
{
    for (unsigned i = 0; i < CPU_ROLES; i++)
        for (unsigned j = 0; j < CPU_ROLES; j++)
            warn_roles(plan, (enum cpu_role)i, (enum cpu_role)j);
}

static unsigned threads_of(const struct plan *plan, unsigned source)
{
    unsigned threads = 0;

    for (unsigned i = 0; i < plan->stages[0].count; i++)
        threads += plan->threads[i].source_number == source;
    return threads;
}

/* If the set has enough CPUs near the interface, autopin is enough, because it uses these first.
 * Otherwise the interface needs its own set. */
static const char *fixit_far(const struct plan *plan, const struct plan_thread *t, int numa,
                            char *buf, size_t size)
{
    struct cpu_set near;

    topology_part_cpus(plan->topology, TOPOLOGY_NUMA, (unsigned)numa, &near);
    cpu_set_and(&near, &affinity_get(plan->affinity, t->role, t->source)->cpus);
    if (plan->affinity->autopin == AUTOPIN_NO &&
        cpu_set_count(&near) >= threads_of(plan, t->source_number))
        return "autopin: yes";
    snprintf(buf, size, "%s-cpu-set: { interface-specific-cpu-set: [ { interface: %s, "
             "cpu: [ \"numa:%d\" ] } ] }", set_key(t), t->source, numa);
    return buf;
}

/* Frames that a NIC writes to one node and a thread reads on another cross the interconnect: each
 * miss costs more, and the link has a limited bandwidth. */
static void warn_far_from(struct plan *plan, unsigned source)
{
    int numa = plan_source_numa(plan, plan->sources[source].name);
    struct pair far = { 0 };
    char fixit[256], more[48];

    for (unsigned i = 0; i < plan->packet_threads && numa >= 0; i++) {
        const struct plan_thread *t = &plan->threads[i];

        if (t->source != NULL && t->source_number == source && t->cpu_info != NULL &&
            t->cpu_info->numa != numa)
            pair_found(&far, t, t);
    }
    if (far.count == 0)
        return;
    diagnostics_add(
        &plan->diagnostics, set_at(plan, far.a), fixit_far(plan, far.a, numa, fixit, sizeof(fixit)),
        "%s runs on NUMA node %d, its interface %s is on node %d: packets cross the link "
        "between the nodes%s",
        far.a->name, far.a->cpu_info->numa, far.a->source, numa,
        and_others(&far, more, sizeof(more)));
}

static void warn_far(struct plan *plan)
{
    for (unsigned i = 0; i < plan->source_count && plan->live; i++)
        warn_far_from(plan, i);
}

/* An interface that asks for more threads than are configured for workers gets fewer, as in
 * Suricata, which says nothing. */
static void warn_capped(struct plan *plan)
{
    const struct affinity_set *set = &plan->affinity->set[CPU_WORKER];
    unsigned limit = plan_worker_limit(plan);
    char fixit[64];

    for (unsigned i = 0; i < plan->source_count && plan->live; i++) {
        const struct plan_source *s = &plan->sources[i];
        const struct affinity_set *own = affinity_get(plan->affinity, CPU_WORKER, s->name);

        if (s->threads <= limit || plan->stage_count > 1 ||
            (own->interface != NULL && own->threads > 0))
            continue;
        if (set->threads > 0)
            snprintf(fixit, sizeof(fixit), "worker-cpu-set: { threads: %u }", s->threads);
        else
            snprintf(fixit, sizeof(fixit), "detect-thread-ratio: %.2f",
                     plan->affinity->ratio * s->threads / limit + 0.005);
        diagnostics_add_override(
            &plan->diagnostics, s->threads_at, fixit,
            "threads: %s gets %u thread%s, not %u: %s", s->name, limit, limit == 1 ? "" : "s",
            s->threads, set->threads > 0 ? "worker-cpu-set has no more"
                                         : "detect-thread-ratio allows no more on these CPUs");
    }
}

/* With fewer hardware queues than threads, RSS fills only as many rings as there are queues. */
static void warn_queues(struct plan *plan)
{
    for (unsigned i = 0; i < plan->source_count; i++) {
        const struct plan_source *s = &plan->sources[i];
        unsigned threads = threads_of(plan, i);
        char fixit[160];

        if (s->queues == 0 || threads <= s->queues || !plan->live)
            continue;
        snprintf(fixit, sizeof(fixit), "%s: [ { interface: %s, threads: %u } ]", plan->method,
                 s->name, s->queues);
        diagnostics_add(&plan->diagnostics, s->at, fixit, "%u threads read %s, which has %u "
                  "queue%s: some will get no packets", threads, s->name, s->queues,
                  s->queues == 1 ? "" : "s");
    }
}

static void fixit_source(const struct plan *plan, unsigned source, unsigned threads, char *buf,
                        size_t size)
{
    snprintf(buf, size, "%s: [ { interface: %s, threads: %u } ]", plan->method,
             plan->sources[source].name, threads);
}

/* A user who writes more threads than a balanced set has CPUs lets the kernel move them. That
 * spreads a load that changes (doc/run-modes.md). A number from queues or from a ratio does not
 * count. */
static bool is_oversubscribed(const struct plan *plan, const struct plan_thread *first,
                              unsigned cpus)
{
    const struct affinity_set *set = affinity_get(plan->affinity, first->role, first->source);
    unsigned written = set->threads;

    if (plan->stages[first->stage].stage->threads == THREADS_NUMBER)
        written = plan->stages[first->stage].stage->number;
    else if (first->stage == 0 && plan->source_count > 0)
        written = MAX(written, plan->sources[first->source_number].threads);
    return plan->affinity->enabled && set->given && !set->exclusive && written > cpus;
}

/* Several threads that read one interface share CPUs. Returns whether it warned, so that the set is
 * not blamed a second time. */
static bool warn_few_for_source(struct plan *plan, unsigned source)
{
    const struct plan_thread *first = NULL;
    unsigned threads = threads_of(plan, source), cpus;
    struct cpu_set used = { 0 };
    char fixit[160];

    for (unsigned i = 0; i < plan->stages[0].count; i++)
        if (plan->threads[i].source_number == source) {
            first = first == NULL ? &plan->threads[i] : first;
            cpu_set_or(&used, &plan->threads[i].cpus);
        }
    cpus = cpu_set_count(&used);
    if (first == NULL || first->cpu_info == NULL || cpus >= threads ||
        is_oversubscribed(plan, first, cpus))
        return false;
    fixit_source(plan, source, cpus, fixit, sizeof(fixit));
    diagnostics_add(&plan->diagnostics, set_at(plan, first), fixit,
                    "%u %s threads of %s share %u CPU%s of the "
                    "set",
                    threads, set_key(first), first->source, cpus, cpus == 1 ? "" : "s");
    return true;
}

/* Suggests the number of CPUs as the number of threads, in the key that decides that number. */
static const char *fixit_few(const struct plan *plan, const struct plan_thread *first,
                            unsigned cpus, char *buf, size_t size)
{
    if (plan->stages[first->stage].stage->threads == THREADS_NUMBER)
        snprintf(buf, size, "threads: %u", cpus);
    else if (set_counts_threads(plan, first))
        snprintf(buf, size, "%s-cpu-set: { threads: %u }", set_key(first), cpus);
    else if (!suggest_cpus(plan, first, buf, size))
        return NULL;
    return buf;
}

static void warn_few_in_set(struct plan *plan, const struct plan_stage *pp)
{
    const struct plan_thread *first = &plan->threads[pp->first];
    struct where at = pp->stage->threads == THREADS_NUMBER ? pp->stage->at : set_at(plan, first);
    struct cpu_set used = { 0 };
    char fixit[FIXIT_MAX];
    bool warned = false;

    if (first->cpu_info == NULL)
        return;
    for (unsigned i = 0; i < plan->source_count && plan->live && pp->first == 0; i++)
        warned = warn_few_for_source(plan, i) || warned;
    for (unsigned i = 0; i < pp->count; i++)
        cpu_set_or(&used, &plan->threads[pp->first + i].cpus);
    if (warned || cpu_set_count(&used) >= pp->count ||
        is_oversubscribed(plan, first, cpu_set_count(&used)))
        return;
    diagnostics_add(&plan->diagnostics, at,
                    fixit_few(plan, first, cpu_set_count(&used), fixit, sizeof(fixit)),
                    "%u %s threads share %u CPU%s of the set", pp->count, set_key(first),
                    cpu_set_count(&used), cpu_set_count(&used) == 1 ? "" : "s");
}

/* Threads that can run at once. The CPUs of an oversubscribed set count, not its threads. */
static unsigned runnable(const struct plan *plan)
{
    unsigned n = 0;

    for (unsigned i = 0; i < plan->stage_count; i++) {
        const struct plan_stage *pp = &plan->stages[i];
        struct cpu_set used = { 0 };

        for (unsigned j = 0; j < pp->count; j++)
            cpu_set_or(&used, &plan->threads[pp->first + j].cpus);
        n += is_oversubscribed(plan, &plan->threads[pp->first], cpu_set_count(&used))
                 ? MIN(pp->count, cpu_set_count(&used)) : pp->count;
    }
    return n;
}

/* Over all stages: threads that outnumber the CPUs (or the cgroup's quota) preempt each other. */
static void warn_few_cpus(struct plan *plan)
{
    unsigned cpus = cpu_set_count(&plan->topology->allowed);

    for (unsigned i = 0; i < plan->stage_count; i++)
        warn_few_in_set(plan, &plan->stages[i]);
    if (plan->topology->quota > 0)
        cpus = MIN(cpus, plan->topology->quota);
    if (runnable(plan) > cpus)
        diagnostics_add(&plan->diagnostics, (struct where){ 0 },
                  plan->stage_count > 1 ? "runmode: workers"
                                        : "detect-thread-ratio: 1.0",
                  "%u threads on %u CPU%s: they will take turns", plan->packet_threads, cpus,
                  cpus == 1 ? "" : "s");
}

static void warn_management(struct plan *plan)
{
    const struct affinity_set *management = &plan->affinity->set[CPU_MANAGEMENT];
    struct pair both = { 0 };
    char fixit[256], more[48];

    /* With one CPU there is no alternative. */
    if (!plan->affinity->enabled || cpu_set_count(&management->cpus) == 0 ||
        cpu_set_count(&plan->topology->allowed) == 1)
        return;
    for (unsigned i = 0; i < plan->packet_threads; i++) {
        const struct plan_thread *t = &plan->threads[i];

        if (t->role == CPU_WORKER && t->cpu_info != NULL &&
            cpu_set_has(&management->cpus, (unsigned)t->cpu))
            pair_found(&both, t, t);
    }
    if (both.count == 0)
        return;
    if (has_other_cpus(plan, &management->cpus))
        suggest_apart("worker", "management", fixit, sizeof(fixit));
    else
        snprintf(fixit, sizeof(fixit), "management-cpu-set: { cpu: [ \"%d\" ] }",
                 cpu_set_next(&plan->topology->allowed, 0));
    diagnostics_add(&plan->diagnostics, set_at(plan, both.a), fixit,
                    "management threads may run on CPU %d, "
                    "which is %s's%s",
                    both.a->cpu, both.a->name, and_others(&both, more, sizeof(more)));
}

/* Users easily forget limits of taskset(1) or a container, which explain a plan that is too
 * small. */
static void warn_limits(struct plan *plan)
{
    const struct topology *t = plan->topology;
    char text[160];

    if (!cpu_set_equal(&t->allowed, &t->all))
        diagnostics_add(&plan->diagnostics, (struct where){ 0 }, NULL,
                        "taskset or cgroup leave us CPU %s of "
                        "%u",
                        cpu_set_text(&t->allowed, text, sizeof(text)), t->count);
    if (t->quota > 0 && t->quota < cpu_set_count(&t->allowed))
        diagnostics_add(&plan->diagnostics, (struct where){ 0 }, NULL,
                        "the cgroup grants the time of %u of "
                        "%u CPUs: threads are counted by that",
                        t->quota, cpu_set_count(&t->allowed));
}

static void warn_missing(struct plan *plan, const char *interfaces)
{
    for (unsigned i = 0; i < plan->source_count; i++) {
        const struct plan_source *s = &plan->sources[i];

        if (s->missing)
            diagnostics_add(&plan->diagnostics, s->at, NULL,
                            "there is no interface \"%s\" here; there are %s", s->name,
                            interfaces != NULL ? interfaces : "none");
    }
}

/* `interfaces` is the text of all interfaces of the machine, for the message about a missing
 * one. */
void plan_warn(struct plan *plan, const char *interfaces)
{
    warn_missing(plan, interfaces);
    warn_limits(plan);
    warn_pairs(plan);
    warn_far(plan);
    warn_capped(plan);
    warn_queues(plan);
    warn_few_cpus(plan);
    warn_management(plan);
}
