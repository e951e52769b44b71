/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan_warn.c - what is unwise about a plan, why, and the line of YAML that mends it. */
#include "engine/plan_private.h"

#include <stdio.h>
#include <string.h>

/* A thread that works all the time: it runs stations of the chain. */
static bool is_busy(const struct plan_thread *t)
{
    return t->piece >= 0;
}

static const char *set_key(const struct plan_thread *t)
{
    return cpu_role_name(t->role);
}

static struct where set_at(const struct plan *plan, const struct plan_thread *t)
{
    return plan->affinity->set[t->role].at;
}

/* Free first hardware threads, on the package of `near` if it has any, as a YAML list of n. */
static bool suggest_cpus(const struct plan *plan, const struct plan_thread *t, char *buf,
                         size_t size)
{
    struct cpu_set free_cpus = plan->topology->allowed, taken = { 0 };
    char text[160];
    unsigned want = plan->pieces[t->piece].count, have = 0;

    for (unsigned i = 0; i < plan->thread_count; i++)
        if (plan->threads[i].role != t->role && plan->threads[i].pinned)
            cpu_set_or(&taken, &plan->threads[i].cpus);
    cpu_set_minus(&free_cpus, &taken);
    topology_one_per_core(plan->topology, &free_cpus);
    CPU_SET_EACH(cpu, &free_cpus)
        if (++have > want)
            cpu_set_remove(&free_cpus, (unsigned)cpu);
    if (have < want)
        return false;
    cpu_set_text(&free_cpus, text, sizeof(text));
    snprintf(buf, size, "threading.cpu-affinity.%s-cpu-set.cpu: [ \"%s\" ]", set_key(t), text);
    return true;
}

static void warn_siblings(struct plan *plan, const struct plan_thread *a,
                          const struct plan_thread *b)
{
    char mend[256];
    bool can = suggest_cpus(plan, b, mend, sizeof(mend));

    if (!can)
        snprintf(mend, sizeof(mend), "threading.cpu-affinity.%s-cpu-set.threads: %u", set_key(b),
                 MAX(plan->pieces[b->piece].count / 2, 1u));
    notes_add(&plan->notes, set_at(plan, b), mend, "%s on CPU %d and %s on CPU %d share core %d: "
              "each gets about half of it", a->name, a->cpu, b->name, b->cpu, a->place->core);
}

static void warn_same_cpu(struct plan *plan, const struct plan_thread *a,
                          const struct plan_thread *b)
{
    char mend[256];
    const struct affinity_set *mine = &plan->affinity->set[a->role];
    const struct affinity_set *its = &plan->affinity->set[b->role];

    snprintf(mend, sizeof(mend), "threading.cpu-affinity.%s-cpu-set.cpu: [ \"all\", \"!%s\" ]",
             set_key(b), set_key(a));
    if (a->role == b->role)
        return;         /* more threads than CPUs: said once for the set */
    if (mine->exclusive && its->exclusive)
        notes_add(&plan->notes, set_at(plan, b), mend, "exclusive sets %s and %s overlap: %s and "
                  "%s both run on CPU %d", set_key(a), set_key(b), a->name, b->name, a->cpu);
    else
        notes_add(&plan->notes, set_at(plan, b), mend, "%s and %s both run on CPU %d", a->name,
                  b->name, a->cpu);
}

static void warn_pairs(struct plan *plan)
{
    for (unsigned i = 0; i < plan->packet_threads; i++)
        for (unsigned j = i + 1; j < plan->packet_threads; j++) {
            const struct plan_thread *a = &plan->threads[i], *b = &plan->threads[j];

            if (!is_busy(a) || !is_busy(b) || a->place == NULL || b->place == NULL)
                continue;
            if (a->cpu == b->cpu)
                warn_same_cpu(plan, a, b);
            else if (a->place->core >= 0 && a->place->core == b->place->core)
                warn_siblings(plan, a, b);
        }
}

static void warn_far(struct plan *plan)
{
    for (unsigned i = 0; i < plan->packet_threads && plan->live; i++) {
        const struct plan_thread *t = &plan->threads[i];
        int numa = plan_source_numa(plan, t->source);

        if (t->place == NULL || numa < 0 || t->place->numa == numa)
            continue;
        notes_add(&plan->notes, set_at(plan, t), plan->affinity->autopin
                  ? "threading.cpu-affinity.worker-cpu-set.cpu: [ \"nic\" ]"
                  : "threading.autopin: yes",
                  "%s runs on NUMA node %d, its interface %s is on node %d: packets cross the "
                  "link between the nodes", t->name, t->place->numa, t->source, numa);
    }
}

static void warn_queues(struct plan *plan)
{
    for (unsigned i = 0; i < plan->source_count; i++) {
        const struct plan_source *s = &plan->sources[i];
        unsigned threads = 0;
        char mend[160];

        for (unsigned j = 0; j < plan->pieces[0].count; j++)
            threads += plan->threads[j].source_number == i;
        if (s->queues == 0 || threads <= s->queues || !plan->live)
            continue;
        snprintf(mend, sizeof(mend), "%s: - interface: %s, threads: %u", plan->method, s->name,
                 s->queues);
        notes_add(&plan->notes, (struct where){ 0 }, mend, "%u threads read %s, which has %u "
                  "queue%s: some will get no packets", threads, s->name, s->queues,
                  s->queues == 1 ? "" : "s");
    }
}

static void warn_few_in_set(struct plan *plan, const struct plan_piece *pp)
{
    const struct plan_thread *first = &plan->threads[pp->first];
    struct cpu_set used = { 0 };
    char mend[160];

    if (first->place == NULL)
        return;
    for (unsigned i = 0; i < pp->count; i++)
        cpu_set_or(&used, &plan->threads[pp->first + i].cpus);
    if (cpu_set_count(&used) >= pp->count)
        return;
    snprintf(mend, sizeof(mend), "threading.cpu-affinity.%s-cpu-set.threads: %u", set_key(first),
             cpu_set_count(&used));
    notes_add(&plan->notes, set_at(plan, first), mend, "%u %s threads share %u CPU%s of the set",
              pp->count, set_key(first), cpu_set_count(&used),
              cpu_set_count(&used) == 1 ? "" : "s");
}

static void warn_few_cpus(struct plan *plan)
{
    unsigned cpus = cpu_set_count(&plan->topology->allowed);

    for (unsigned i = 0; i < plan->piece_count; i++)
        warn_few_in_set(plan, &plan->pieces[i]);
    if (plan->topology->quota > 0)
        cpus = MIN(cpus, plan->topology->quota);
    if (plan->packet_threads > cpus)
        notes_add(&plan->notes, (struct where){ 0 },
                  plan->piece_count > 1 ? "runmode: workers"
                                        : "threading.detect-thread-ratio: 1.0",
                  "%u threads on %u CPU%s: they will take turns", plan->packet_threads, cpus,
                  cpus == 1 ? "" : "s");
}

static void warn_management(struct plan *plan)
{
    const struct affinity_set *management = &plan->affinity->set[CPU_MANAGEMENT];

    if (!plan->affinity->enabled || cpu_set_count(&management->cpus) == 0)
        return;
    for (unsigned i = 0; i < plan->packet_threads; i++) {
        const struct plan_thread *t = &plan->threads[i];
        char mend[128];

        if (t->role != CPU_WORKER || t->place == NULL ||
            !cpu_set_has(&management->cpus, (unsigned)t->cpu))
            continue;
        snprintf(mend, sizeof(mend), "threading.cpu-affinity.worker-cpu-set.cpu: "
                 "[ \"all\", \"!management\" ]");
        notes_add(&plan->notes, set_at(plan, t), mend, "management threads may run on CPU %d, "
                  "which is %s's", t->cpu, t->name);
    }
}

static void say_limits(struct plan *plan)
{
    const struct topology *t = plan->topology;
    char text[160];

    if (!cpu_set_equal(&t->allowed, &t->all))
        notes_add(&plan->notes, (struct where){ 0 }, NULL, "taskset or cgroup leave us CPU %s of "
                  "%u", cpu_set_text(&t->allowed, text, sizeof(text)), t->count);
    if (t->quota > 0 && t->quota < cpu_set_count(&t->allowed))
        notes_add(&plan->notes, (struct where){ 0 }, NULL, "the cgroup grants the time of %u of "
                  "%u CPUs: threads are counted by that", t->quota, cpu_set_count(&t->allowed));
}

void plan_warn(struct plan *plan)
{
    say_limits(plan);
    warn_pairs(plan);
    warn_far(plan);
    warn_queues(plan);
    warn_few_cpus(plan);
    warn_management(plan);
}
