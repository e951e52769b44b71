/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/cpu_list.c - the language of CPU lists.
 *
 * Items add to the set, in any order. What `!` names is removed at the end, so that the order does
 * not matter. A list with exclusions only starts from all CPUs, and so does one with only `auto` or
 * `no-smt`. */
#include "engine/cpu_list.h"

#include <stdio.h>
#include <string.h>

/* State of one list; `at` is the item at work, for messages. */
struct list_walk {
    struct cpu_list *l;
    struct where at;
    struct cpu_set added, removed;
    bool any_added, any_removed, no_smt;
};

static int bad_item(const struct list_walk *w, struct text item, struct err *err)
{
    return err_at(err, w->at,
                  "%s: \"%.*s\": expected a CPU number, a range as 2-5, all, auto, numa:N, "
                  "package:N, core:A-B, l3:N, no-smt, nic, or one of these behind \"!\"",
                  w->l->what, TEXT(item));
}

/* "4" or "0-5"; -1 when it is neither. The caller rejects a range that falls. */
static int range_parse(struct text t, unsigned *low, unsigned *high)
{
    uint64_t a, b;
    const char *dash = memchr(t.p, '-', t.n);
    size_t head = dash != NULL ? (size_t)(dash - t.p) : t.n;

    if (!text_to_u64(text_trim((struct text){ t.p, head }), 1000000, &a))
        return -1;
    b = a;
    if (dash != NULL && !text_to_u64(text_trim(text_from(t, head + 1)), 1000000, &b))
        return -1;
    *low = (unsigned)a;
    *high = (unsigned)b;
    return 0;
}

/* An error for a set's own CPUs; only a warning for `prio:`, since shipped files name CPUs that
 * small machines lack. */
static int cpus_exceed(struct list_walk *w, struct text item, struct err *err)
{
    char have[128];
    struct cpu_list *l = w->l;

    cpu_set_text(&l->topology->all, have, sizeof(have));
    if (!l->may_exceed)
        return err_at(err, w->at, "%s: CPU %.*s: there are CPUs %s", l->what, TEXT(item), have);
    diagnostics_add(l->diagnostics, w->at, NULL,
                    "%s: CPU %.*s: there are CPUs %s; the others are left out", l->what, TEXT(item),
                    have);
    return 0;
}

static int add_numbers(struct list_walk *w, struct text item, struct cpu_set *to, struct err *err)
{
    unsigned low, high;
    bool exceeds = false;

    if (range_parse(item, &low, &high) < 0)
        return bad_item(w, item, err);
    if (high < low)
        return err_at(err, w->at,
                      "%s: range \"%.*s\" goes down: expected the smaller number first, "
                      "%u-%u",
                      w->l->what, TEXT(item), high, low);
    for (unsigned cpu = low; cpu <= high; cpu++)
        if (cpu_set_has(&w->l->topology->all, cpu))
            cpu_set_add(to, cpu);
        else
            exceeds = true;
    return exceeds ? cpus_exceed(w, item, err) : 0;
}

/* A part of the machine: how items name it, and how messages do. */
static const struct part_word {
    const char *prefix, *name;
    enum topology_part part;
} part_words[] = {
    { "numa:", "NUMA node", TOPOLOGY_NUMA }, { "package:", "package", TOPOLOGY_PACKAGE },
    { "core:", "core", TOPOLOGY_CORE }, { "l3:", "L3 cache", TOPOLOGY_L3 },
};

/* `numa:1`, `l3:0-3` and the like. Numbers are hwloc's logical ones, as lstopo shows with -l. */
static int add_part(struct list_walk *w, struct text item, const struct part_word *word,
                    struct cpu_set *to, struct err *err)
{
    unsigned low, high, have = topology_part_count(w->l->topology, word->part);

    if (range_parse(text_from(item, strlen(word->prefix)), &low, &high) < 0 || high < low)
        return bad_item(w, item, err);
    for (unsigned n = low; n <= high; n++) {
        struct cpu_set cpus;

        if (!topology_part_cpus(w->l->topology, word->part, n, &cpus)) {
            if (have == 0)
                return err_at(err, w->at, "%s: \"%.*s\": the topology knows no %s", w->l->what,
                              TEXT(item), word->name);
            return err_at(err, w->at, "%s: \"%.*s\": there is no %s %u; they are 0-%u",
                          w->l->what, TEXT(item), word->name, n, have - 1);
        }
        cpu_set_or(to, &cpus);
    }
    return 0;
}

/* All CPUs of the NUMA nodes of the interfaces. An unknown node (virtual interfaces, machines with
 * one node) gives all CPUs and a warning. */
static void add_nic(struct list_walk *w, struct cpu_set *to)
{
    const struct cpu_list *l = w->l;
    bool found = false;

    for (unsigned i = 0; l->interfaces != NULL && l->interfaces[i] != NULL; i++) {
        int numa = topology_interface_numa(l->topology, l->interfaces[i]);
        struct cpu_set cpus;

        if (numa >= 0 && topology_part_cpus(l->topology, TOPOLOGY_NUMA, (unsigned)numa, &cpus)) {
            cpu_set_or(to, &cpus);
            found = true;
        }
    }
    if (found)
        return;
    diagnostics_add(l->diagnostics, w->at, NULL,
                    "%s: nic: the NUMA node of the interface is not known, all "
                    "CPUs are taken",
                    l->what);
    cpu_set_or(to, &l->topology->all);
}

/* One name or number. Only exclusions may name other sets: a set that adds another one's CPUs would
 * share them. */
static int add_item(struct list_walk *w, struct text item, struct cpu_set *to, bool excluded,
                    struct err *err)
{
    struct cpu_set named;
    enum cpu_role role;

    if (text_equal_nocase(item, "all")) {
        cpu_set_or(to, &w->l->topology->all);
        return 0;
    }
    if (text_equal_nocase(item, "nic")) {
        add_nic(w, to);
        return 0;
    }
    for (unsigned i = 0; i < ARRAY_LEN(part_words); i++)
        if (text_starts_nocase(item, part_words[i].prefix))
            return add_part(w, item, &part_words[i], to, err);
    if (excluded && w->l->named != NULL && cpu_role_find(item, &role)) {
        if (w->l->named(w->l->named_arg, role, &named, err) < 0)
            return -1;
        cpu_set_or(to, &named);
        return 0;
    }
    return add_numbers(w, item, to, err);
}

/* `auto` and `no-smt` describe the set, they add nothing. */
static int walk_item(struct list_walk *w, struct text item, struct err *err)
{
    if (item.n > 0 && item.p[0] == '!') {
        w->any_removed = true;
        return add_item(w, text_trim(text_from(item, 1)), &w->removed, true, err);
    }
    if (text_equal_nocase(item, "auto")) {
        w->l->is_auto = true;
        return 0;
    }
    if (text_equal_nocase(item, "no-smt")) {
        w->no_smt = true;
        return 0;
    }
    w->any_added = true;
    return add_item(w, item, &w->added, false, err);
}

static int walk_scalar(struct list_walk *w, const struct conf_node *node, struct err *err)
{
    struct text rest, item;

    w->at = node->at;
    if (node->kind != CONF_SCALAR)
        return err_at(err, node->at, "%s: expected a list of CPUs", w->l->what);
    rest = text_of(node->value);
    while (text_split(&rest, ',', &item))
        if (walk_item(w, item, err) < 0)
            return -1;
    return 0;
}

/* Removes CPUs that the affinity mask or cpuset of this process forbids. sched_setaffinity(2) would
 * remove them silently, and the plan would show CPUs that are not used. */
static void leave_forbidden(struct list_walk *w, const struct conf_node *node)
{
    struct cpu_set out = w->l->cpus;
    char text[128];

    cpu_set_minus(&out, &w->l->topology->allowed);
    if (cpu_set_count(&out) == 0)
        return;
    /* `all` and similar items mean all available CPUs, so they need no warning. A CPU by number
     * does. */
    if (w->any_added && !cpu_set_equal(&w->added, &w->l->topology->all))
        diagnostics_add(w->l->diagnostics, node->at, NULL,
                        "%s: CPU %s is not ours to use (taskset or cgroup)", w->l->what,
                        cpu_set_text(&out, text, sizeof(text)));
    cpu_set_and(&w->l->cpus, &w->l->topology->allowed);
}

/* Lists come as one scalar with commas ("2-5,7") or as a YAML list; both may be mixed. */
int cpu_list_parse(struct cpu_list *l, const struct conf_node *node, struct err *err)
{
    struct list_walk w = { .l = l };

    if (node->kind == CONF_SCALAR) {
        if (walk_scalar(&w, node, err) < 0)
            return -1;
    }
    CONF_EACH(item, node)
        if (walk_scalar(&w, item, err) < 0)
            return -1;
    l->cpus = w.added;
    if (!w.any_added && (l->is_auto || w.no_smt || w.any_removed))
        l->cpus = l->topology->all;
    cpu_set_minus(&l->cpus, &w.removed);
    if (w.no_smt)
        topology_one_per_core(l->topology, &l->cpus);
    leave_forbidden(&w, node);
    return 0;
}
