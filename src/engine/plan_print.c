/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan_print.c - a plan as text and as a graph (dot) for people, as JSON for programs. */
#include "engine/plan.h"

#include "base/report/json.h"

#include <stdio.h>
#include <string.h>

static void count_words(struct buf *out, unsigned count, const char *one, const char *many)
{
    buf_printf(out, ", %u %s", count, count == 1 ? one : many);
}

static void print_detail(struct buf *out, const char *name, const char *detail)
{
    if (detail[0] != '\0')
        buf_printf(out, "\n%s: %s", name, detail);
}

static void print_head(const struct plan *plan, struct buf *out)
{
    const struct topology *t = plan->topology;

    buf_printf(out, "run mode %s, capture %s", plan->mode->name, plan->method);
    for (unsigned i = 0; i < plan->source_count; i++)
        buf_printf(out, "%s%s%s%s", i > 0 ? ", " : " ", plan->sources[i].name,
                   plan->sources[i].peer != NULL ? " and " : "",
                   plan->sources[i].peer != NULL ? plan->sources[i].peer : "");
    buf_printf(out, "\ntopology %s: %u CPU%s", t->text, t->count, t->count == 1 ? "" : "s");
    count_words(out, t->cores, "core", "cores");
    count_words(out, t->packages, "package", "packages");
    count_words(out, t->numas, "NUMA node", "NUMA nodes");
    if (t->l3s > 0)
        count_words(out, t->l3s, "L3 cache", "L3 caches");
    for (unsigned i = 0; i < plan->source_count; i++) {
        print_detail(out, plan->sources[i].name, plan->sources[i].detail);
        print_detail(out, plan->sources[i].peer, plan->sources[i].peer_detail);
    }
    buf_printf(out, "\n\n");
}

static const char *number_or_dash(int n, char *buf, size_t size)
{
    if (n < 0)
        snprintf(buf, size, "-");
    else
        snprintf(buf, size, "%d", n);
    return buf;
}

/* The number that all CPUs of the thread have in common, such as their NUMA node; -1 if they
 * differ. */
static int common(const struct plan *plan, const struct plan_thread *t,
                  int (*part)(const struct topology_cpu *cpu))
{
    int value = -2;

    CPU_SET_EACH(os, &t->cpus) {
        const struct topology_cpu *cpu = topology_find(plan->topology, (unsigned)os);
        int mine = cpu != NULL ? part(cpu) : -1;

        if (value != -2 && mine != value)
            return -1;
        value = mine;
    }
    return value == -2 ? -1 : value;
}

static int part_core(const struct topology_cpu *cpu) { return cpu->core; }
static int part_package(const struct topology_cpu *cpu) { return cpu->package; }
static int part_numa(const struct topology_cpu *cpu) { return cpu->numa; }
static int part_l3(const struct topology_cpu *cpu) { return cpu->l3; }

static int (*const parts[])(const struct topology_cpu *) = {
    part_core, part_package, part_numa, part_l3
};
static const char *const part_names[] = { "core", "package", "numa", "l3" };

/* NULL for the last stage and for threads without packets. */
static const struct plan_stage *next_stage(const struct plan *plan, const struct plan_thread *t)
{
    if (t->stage < 0 || t->stage + 1 >= (int)plan->stage_count)
        return NULL;
    return &plan->stages[t->stage + 1];
}

static void rings_text(const struct plan *plan, const struct plan_thread *t, char *buf,
                       size_t size)
{
    const struct plan_stage *next = next_stage(plan, t);

    buf[0] = '\0';
    if (next == NULL)
        return;
    if (next->count == 1)
        snprintf(buf, size, "%u -> %s", plan->ring_depth, plan->threads[next->first].name);
    else
        snprintf(buf, size, "%ux%u -> %s .. %s by %s", next->count, plan->ring_depth,
                 plan->threads[next->first].name,
                 plan->threads[next->first + next->count - 1].name, next->scheduler);
}

/* Rounds to full KiB or MiB; a dash for a thread without memory. */
static const char *memory_text(uint64_t bytes, char *buf, size_t size)
{
    if (bytes == 0)
        snprintf(buf, size, "-");
    else if (bytes < (uint64_t)1 << 20)
        snprintf(buf, size, "%lluK", (unsigned long long)(bytes + 1023) >> 10);
    else
        snprintf(buf, size, "%lluM", (unsigned long long)(bytes + (1 << 19)) >> 20);
    return buf;
}

static void print_source(const struct plan *plan, const struct plan_thread *t, struct buf *out)
{
    buf_printf(out, "  %s", t->source);
    if (plan->live)
        buf_printf(out, " queue %u", t->queue);
    else if (plan->file_per_queue)
        buf_printf(out, " the next file");
    else if (plan->shares_file)
        buf_printf(out, " share %u of %u", t->index + 1, plan->stages[0].count);
}

/* One row. A thread that is not pinned has no location: the kernel may move it at any time. */
static void print_thread(const struct plan *plan, const struct plan_thread *t, struct buf *out)
{
    char cpus[160], memory[24], rings[96], number[16], modules[64];

    cpu_set_text(&t->cpus, cpus, sizeof(cpus));
    snprintf(modules, sizeof(modules), "%s%s%s", t->modules, t->doc != NULL ? ": " : "",
             t->doc != NULL ? t->doc : "");
    buf_printf(out, "%-15s %-42s %7s", t->name, modules, t->pinned ? cpus : "any");
    for (unsigned i = 0; i < ARRAY_LEN(parts); i++)
        buf_printf(out, " %4s", t->pinned ? number_or_dash(common(plan, t, parts[i]), number,
                                                           sizeof(number)) : "-");
    buf_printf(out, " %4d %7s", t->sets_nice ? t->nice : 0,
               memory_text(t->memory, memory, sizeof(memory)));
    rings_text(plan, t, rings, sizeof(rings));
    if (t->source != NULL)
        print_source(plan, t, out);
    if (t->sender > 0)
        buf_printf(out, ", sends by %s", plan->threads[t->sender].name);
    if (rings[0] != '\0')
        buf_printf(out, "%s  %s", t->source != NULL ? "," : "", rings);
    buf_printf(out, "\n");
}

/* The suggestion is a line of YAML that removes the warning. */
static void print_diagnostics(const struct plan *plan, struct buf *out)
{
    if (plan->diagnostics.list.count > 0)
        buf_printf(out, "\n");
    for (size_t i = 0; i < plan->diagnostics.list.count; i++) {
        const struct diagnostic *n = &plan->diagnostics.list.at[i];

        buf_printf(out, "warning: ");
        if (n->at.file != NULL)
            buf_printf(out, "%s:%u: ", n->at.file, n->at.line);
        buf_printf(out, "%s\n", n->text);
        if (n->fixit != NULL)
            buf_printf(out, "    mend: %s\n", n->fixit);
    }
}

void plan_print(const struct plan *plan, struct buf *out)
{
    print_head(plan, out);
    buf_printf(out, "%-15s %-42s %7s %4s %4s %4s %4s %4s %7s  %s\n", "thread", "modules", "cpu",
               "core", "pack", "numa", "l3", "nice", "memory", "from and to");
    for (unsigned i = 0; i < plan->thread_count; i++)
        print_thread(plan, &plan->threads[i], out);
    print_diagnostics(plan, out);
}

/* "W#01 .. W#08: detect", a line for each stage and one for all other threads. */
void plan_print_names(const struct plan *plan, struct buf *out)
{
    for (unsigned i = 0; i < plan->stage_count; i++) {
        const struct plan_stage *stage = &plan->stages[i];
        const struct plan_thread *first = &plan->threads[stage->first];

        buf_add_string(out, first->name);
        if (stage->count > 1)
            buf_printf(out, " .. %s", plan->threads[stage->first + stage->count - 1].name);
        buf_printf(out, ": %s\n", first->modules);
    }
    for (unsigned i = plan->packet_threads; i < plan->thread_count; i++) {
        const struct plan_thread *t = &plan->threads[i];

        buf_printf(out, "%s%s: %s", i > plan->packet_threads ? "; " : "", t->name,
                   t->doc != NULL ? t->doc : t->modules);
    }
    if (plan->packet_threads < plan->thread_count)
        buf_add_u8(out, '\n');
}

static void json_cpus(struct json *j, const struct cpu_set *cpus)
{
    json_array(j, "cpus");
    CPU_SET_EACH(cpu, cpus)
        json_u64(j, NULL, (uint64_t)cpu);
    json_array_end(j);
}

/* Keys of this JSON are an interface for tools: "deal" keeps its name. */
static void json_feeds(struct json *j, const struct plan *plan, const struct plan_thread *t)
{
    const struct plan_stage *next = next_stage(plan, t);

    if (next == NULL)
        return;
    json_object(j, "rings");
    json_u64(j, "count", next->count);
    json_u64(j, "depth", plan->ring_depth);
    if (next->scheduler != NULL)
        json_string(j, "deal", next->scheduler);
    json_array(j, "to");
    for (unsigned i = 0; i < next->count; i++)
        json_string(j, NULL, plan->threads[next->first + i].name);
    json_array_end(j);
    json_object_end(j);
}

static void json_reason(struct json *j, const struct plan *plan, const struct plan_thread *t)
{
    struct buf reason = { 0 };

    plan_reason(plan, t, &reason);
    json_bytes(j, "reason", reason.data, reason.len);
    buf_fini(&reason);
}

/* Numbers of core, NUMA node and so on are absent where the CPUs of the thread differ. */
static void json_thread(struct json *j, const struct plan *plan, const struct plan_thread *t)
{
    json_object(j, NULL);
    json_string(j, "name", t->name);
    json_array(j, "modules");
    for (struct text rest = text_of(t->modules), name; text_split(&rest, ' ', &name);)
        json_bytes(j, NULL, name.p, name.n);
    json_array_end(j);
    if (t->doc != NULL)
        json_string(j, "does", t->doc);
    json_string(j, "cpu_set", cpu_role_name(t->role));
    json_bool(j, "pinned", t->pinned);
    if (t->cpu >= 0)
        json_i64(j, "cpu", t->cpu);
    json_cpus(j, &t->cpus);
    for (unsigned i = 0; i < ARRAY_LEN(parts) && t->pinned; i++)
        if (common(plan, t, parts[i]) >= 0)
            json_i64(j, part_names[i], common(plan, t, parts[i]));
    if (t->memory_node >= 0)
        json_i64(j, "memory_node", t->memory_node);
    json_i64(j, "nice", t->sets_nice ? t->nice : 0);
    json_u64(j, "memory", t->memory);
    if (t->source != NULL) {
        json_string(j, "interface", t->source);
        json_u64(j, "queue", t->queue);
    }
    if (t->sender > 0)
        json_string(j, "sender", plan->threads[t->sender].name);
    json_feeds(j, plan, t);
    json_reason(j, plan, t);
    json_object_end(j);
}

static void json_diagnostic(struct json *j, const struct diagnostic *n)
{
    json_object(j, NULL);
    if (n->at.file != NULL) {
        json_string(j, "file", n->at.file);
        json_u64(j, "line", n->at.line);
    }
    json_string(j, "text", n->text);
    if (n->fixit != NULL)
        json_string(j, "mend", n->fixit);
    json_object_end(j);
}

/* Only of captures that have something to say of their sources. */
static void json_source(struct json *j, const char *name, const char *detail)
{
    if (detail[0] == '\0')
        return;
    json_object(j, NULL);
    json_string(j, "name", name);
    json_string(j, "detail", detail);
    json_object_end(j);
}

static void json_sources(struct json *j, const struct plan *plan)
{
    json_array(j, "sources");
    for (unsigned i = 0; i < plan->source_count; i++) {
        const struct plan_source *s = &plan->sources[i];

        json_source(j, s->name, s->detail);
        json_source(j, s->peer, s->peer_detail);
    }
    json_array_end(j);
}

void plan_print_json(const struct plan *plan, struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    json_string(&j, "run_mode", plan->mode->name);
    json_string(&j, "capture", plan->method);
    json_string(&j, "topology", plan->topology->text);
    json_u64(&j, "cpus", plan->topology->count);
    json_u64(&j, "packet_pool", plan->stages[0].pool_size);
    json_sources(&j, plan);
    json_array(&j, "threads");
    for (unsigned i = 0; i < plan->thread_count; i++)
        json_thread(&j, plan, &plan->threads[i]);
    json_array_end(&j);
    json_array(&j, "warnings");
    for (size_t i = 0; i < plan->diagnostics.list.count; i++)
        json_diagnostic(&j, &plan->diagnostics.list.at[i]);
    json_array_end(&j);
    json_object_end(&j);
    buf_add_u8(out, '\n');
}

/* Dashed boxes are threads outside the chain: management and senders. */
static void dot_thread(const struct plan *plan, const struct plan_thread *t, struct buf *out)
{
    char cpus[160];

    buf_printf(out, "  \"%s\" [label=\"%s\\n%s\\n", t->name, t->name, t->modules);
    if (t->pinned)
        buf_printf(out, "CPU %s", cpu_set_text(&t->cpus, cpus, sizeof(cpus)));
    else
        buf_printf(out, "any CPU");
    if (t->pinned && common(plan, t, part_numa) >= 0)
        buf_printf(out, ", NUMA %d", common(plan, t, part_numa));
    buf_printf(out, "\"%s];\n", t->stage < 0 ? ", style=dashed" : "");
}

/* Only the first edge of each thread has the scheduler's name, or the graph is unreadable. */
static void dot_edges(const struct plan *plan, const struct plan_thread *t, struct buf *out)
{
    const struct plan_stage *next = next_stage(plan, t);

    if (t->source != NULL)
        buf_printf(out, "  \"%s\" -> \"%s\" [label=\"queue %u\"];\n", t->source, t->name,
                   t->queue);
    if (t->sender > 0)
        buf_printf(out, "  \"%s\" -> \"%s\" [style=dashed];\n", t->name,
                   plan->threads[t->sender].name);
    for (unsigned i = 0; next != NULL && i < next->count; i++) {
        buf_printf(out, "  \"%s\" -> \"%s\"", t->name, plan->threads[next->first + i].name);
        if (next->scheduler != NULL && i == 0)
            buf_printf(out, " [label=\"%s\"]", next->scheduler);
        buf_printf(out, ";\n");
    }
}

/* One box for each package; -1 is for threads without a package, which stay outside of boxes. */
static void dot_package(const struct plan *plan, int package, struct buf *out)
{
    bool any = false;

    for (unsigned i = 0; i < plan->thread_count; i++) {
        const struct plan_thread *t = &plan->threads[i];

        if ((t->pinned ? common(plan, t, part_package) : -1) != package)
            continue;
        if (!any && package >= 0)
            buf_printf(out, "  subgraph cluster_%d { label=\"package %d\";\n", package, package);
        any = true;
        dot_thread(plan, t, out);
    }
    if (any && package >= 0)
        buf_printf(out, "  }\n");
}

void plan_print_dot(const struct plan *plan, struct buf *out)
{
    buf_printf(out, "digraph plan {\n  rankdir=LR;\n  node [shape=box];\n");
    for (int package = -1; package < (int)plan->topology->packages; package++)
        dot_package(plan, package, out);
    for (unsigned i = 0; i < plan->thread_count; i++)
        dot_edges(plan, &plan->threads[i], out);
    buf_printf(out, "}\n");
}
