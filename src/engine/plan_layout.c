/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan_layout.c - computes where each node, CPU, thread and interface of a plan's picture
 * stands. All of a machine is shown, so that free CPUs are seen as well. */
#include "engine/plan_picture.h"
#include "engine/plan_private.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define CORE_W (PIC_CHIP_W + 2 * PIC_PAD)

static int compare_numbers(int a, int b)
{
    return (a > b) - (a < b);
}

/* Order of drawing. The number of the hardware thread comes last: siblings stand together. */
static int compare_cpus(const void *left, const void *right, void *topology)
{
    const struct topology_cpu *a = &((struct topology *)topology)->cpu[*(const unsigned *)left];
    const struct topology_cpu *b = &((struct topology *)topology)->cpu[*(const unsigned *)right];
    const int order[] = {
        compare_numbers(a->numa, b->numa), compare_numbers(a->package, b->package),
        compare_numbers(a->l3, b->l3), compare_numbers(a->l2, b->l2),
        compare_numbers(a->core, b->core),
        compare_numbers((int)a->os, (int)b->os),
    };

    for (unsigned i = 0; i < ARRAY_LEN(order); i++)
        if (order[i] != 0)
            return order[i];
    return 0;
}

static int index_of_cpu(const struct topology *t, int os)
{
    const struct topology_cpu *cpu = os >= 0 ? topology_find(t, (unsigned)os) : NULL;

    return cpu != NULL ? (int)(cpu - t->cpu) : -1;
}

int picture_cpu_of(const struct picture *p, unsigned thread)
{
    const struct plan_thread *t = &p->plan->threads[thread];
    int now = p->now != NULL ? index_of_cpu(p->plan->topology, p->now[thread].cpu) : -1;

    if (now >= 0)
        return now;
    return t->pinned ? index_of_cpu(p->plan->topology, t->cpu) : -1;
}

unsigned picture_queues(const struct plan *plan, unsigned source)
{
    unsigned readers = 0;

    for (unsigned i = 0; i < plan->packet_threads; i++)
        if (plan->threads[i].source != NULL && plan->threads[i].source_number == source)
            readers = MAX(readers, plan->threads[i].queue + 1);
    return plan->live ? MAX(readers, plan->sources[source].queues) : 0;
}

static const struct topology_cpu *cpu_at(const struct picture *p, unsigned at)
{
    return &p->plan->topology->cpu[p->order[at]];
}

static void find_panels(struct picture *p)
{
    unsigned cpus = p->plan->topology->count;

    p->panel = xcalloc(cpus + 1, sizeof(*p->panel));
    for (unsigned i = 0; i < cpus; i++) {
        const struct topology_cpu *cpu = cpu_at(p, i);
        struct pic_panel *last = p->panel_count > 0 ? &p->panel[p->panel_count - 1] : NULL;

        if (last == NULL || last->numa != cpu->numa || last->package != cpu->package) {
            last = &p->panel[p->panel_count++];
            *last = (struct pic_panel){ .package = cpu->package, .numa = cpu->numa, .first = i };
        }
        last->count++;
    }
    p->panel[p->panel_count++] = (struct pic_panel){ .package = -1, .numa = -1 };
}

/* The panel that has all of these CPUs; else the last one. */
static unsigned panel_of_cpus(const struct picture *p, const struct cpu_set *cpus)
{
    for (unsigned n = 0; n + 1 < p->panel_count; n++) {
        struct cpu_set left = *cpus;

        for (unsigned i = 0; i < p->panel[n].count; i++)
            cpu_set_remove(&left, cpu_at(p, p->panel[n].first + i)->os);
        if (cpu_set_count(&left) == 0)
            return n;
    }
    return p->panel_count - 1;
}

/* A machine with one node has its interfaces there, even if the kernel does not say so. */
static unsigned panel_of_source(const struct picture *p, unsigned source)
{
    int numa = plan_source_numa(p->plan, p->plan->sources[source].name);

    for (unsigned n = 0; n + 1 < p->panel_count && p->plan->live; n++)
        if (p->panel_count == 2 || (numa >= 0 && p->panel[n].numa == numa))
            return n;
    return p->panel_count - 1;
}

/* On a machine with one node each thread is there, even if the kernel chooses its CPU. */
static unsigned panel_of_thread(const struct picture *p, unsigned thread)
{
    const struct plan_thread *t = &p->plan->threads[thread];
    int cpu = picture_cpu_of(p, thread);

    for (unsigned n = 0; cpu >= 0 && n < p->panel_count; n++)
        for (unsigned i = 0; i < p->panel[n].count; i++)
            if (p->order[p->panel[n].first + i] == (unsigned)cpu)
                return n;
    return t->pinned || p->panel_count == 2 ? panel_of_cpus(p, &t->cpus) : p->panel_count - 1;
}

static void assign(struct picture *p)
{
    const struct plan *plan = p->plan;

    for (unsigned i = 0; i < plan->thread_count; i++) {
        int cpu = picture_cpu_of(p, i);

        p->chip_panel[i] = panel_of_thread(p, i);
        if (cpu >= 0)
            p->threads_on[cpu]++;
    }
    for (unsigned i = 0; i < plan->source_count; i++)
        p->source_panel[i] = panel_of_source(p, i);
}

/* --- CPUs ------------------------------------------------------------------------------------- */

static unsigned cpu_height(const struct picture *p, unsigned at)
{
    return PIC_LINE + 4 + p->threads_on[p->order[at]] * (PIC_CHIP_H + PIC_CHIP_GAP);
}

static bool same_core(const struct topology_cpu *a, const struct topology_cpu *b)
{
    return a->core >= 0 && a->core == b->core && a->l3 == b->l3;
}

/* Cores from `first` to `end`, in rows. Returns the height that they take. */
static unsigned place_cores(struct picture *p, unsigned first, unsigned end, unsigned x,
                            unsigned y)
{
    unsigned column = 0, row_y = y, tallest = 0;

    for (unsigned i = first, height = 0; i < end; i++) {
        bool begins = i == first || !same_core(cpu_at(p, i), cpu_at(p, i - 1));

        if (begins && i > first && ++column == PIC_CORES_PER_ROW) {
            column = 0;
            row_y += tallest + PIC_PAD;
            tallest = 0;
        }
        height = begins ? 0 : height;
        p->cpu[p->order[i]] = (struct pic_box){ x + column * (CORE_W + PIC_PAD), row_y + height,
                                                CORE_W, cpu_height(p, i) };
        height += cpu_height(p, i);
        tallest = MAX(tallest, height);
    }
    return row_y + tallest - y;
}

static struct pic_box united(struct pic_box a, struct pic_box b)
{
    unsigned x = MIN(a.x, b.x), y = MIN(a.y, b.y);

    return (struct pic_box){ x, y, MAX(a.x + a.w, b.x + b.w) - x, MAX(a.y + a.h, b.y + b.h) - y };
}

/* Around the CPUs of each L2 cache, and a little further. A row begins at the left again. */
static void place_l2s(struct picture *p)
{
    const struct topology_cpu *last = NULL;
    unsigned last_x = 0;

    for (unsigned i = 0; i < p->plan->topology->count; i++) {
        const struct topology_cpu *cpu = cpu_at(p, i);
        struct pic_box box = p->cpu[p->order[i]];
        bool goes_on = last != NULL && last->l2 == cpu->l2 && last->l3 == cpu->l3 &&
                       last->numa == cpu->numa && box.x >= last_x;

        last = cpu;
        last_x = box.x;
        box = (struct pic_box){ box.x - 3, box.y - 3, box.w + 6, box.h + 6 };
        if (cpu->l2 < 0)
            continue;
        if (goes_on)
            box = united(p->l2[--p->l2_count].box, box);
        p->l2[p->l2_count++] = (struct pic_l2){ cpu->l2, box };
    }
}

static unsigned cores_between(const struct picture *p, unsigned first, unsigned end)
{
    unsigned cores = 0;

    for (unsigned i = first; i < end; i++)
        cores += i == first || !same_core(cpu_at(p, i), cpu_at(p, i - 1));
    return cores;
}

/* Groups stand side by side while there is room for eight cores. Returns the y below them. */
static unsigned place_groups(struct picture *p, unsigned number, unsigned left, unsigned top)
{
    const struct pic_panel *panel = &p->panel[number];
    unsigned end = panel->first + panel->count, x = left, y = top, tallest = 0;

    for (unsigned first = panel->first, next; first < end; first = next) {
        struct pic_group *g = &p->group[p->group_count++];
        unsigned cores;

        for (next = first; next < end && cpu_at(p, next)->l3 == cpu_at(p, first)->l3;)
            next++;
        cores = MIN(cores_between(p, first, next), PIC_CORES_PER_ROW);
        *g = (struct pic_group){ .l3 = cpu_at(p, first)->l3, .panel = number };
        g->box.w = cores * (CORE_W + PIC_PAD) + PIC_PAD;
        if (x > left && x + g->box.w > left + (PIC_CORES_PER_ROW + 1) * (CORE_W + PIC_PAD)) {
            x = left;
            y += tallest + PIC_PAD;
            tallest = 0;
        }
        g->box.x = x;
        g->box.y = y;
        g->box.h = PIC_LINE + PIC_PAD + place_cores(p, first, next, x + PIC_PAD, y + PIC_LINE);
        x += g->box.w + PIC_PAD;
        p->width = MAX(p->width, x + PIC_PAD + PIC_MARGIN);
        tallest = MAX(tallest, g->box.h);
    }
    return y + tallest + PIC_PAD;
}

/* --- threads and interfaces ------------------------------------------------------------------- */

static void place_chips(struct picture *p)
{
    unsigned *used = xcalloc(p->plan->topology->count + 1, sizeof(*used));

    for (unsigned i = 0; i < p->plan->thread_count; i++) {
        int cpu = picture_cpu_of(p, i);

        if (cpu >= 0)
            p->chip[i] = (struct pic_box){ p->cpu[cpu].x + PIC_PAD,
                                           p->cpu[cpu].y + PIC_LINE + 2 +
                                               used[cpu]++ * (PIC_CHIP_H + PIC_CHIP_GAP),
                                           PIC_CHIP_W, PIC_CHIP_H };
    }
    free(used);
}

/* Threads without a CPU of their own, in rows. Returns the y below them. */
static unsigned place_floats(struct picture *p, unsigned number, unsigned left, unsigned y)
{
    struct pic_panel *panel = &p->panel[number];
    unsigned column = 0;

    for (unsigned i = 0; i < p->plan->thread_count; i++) {
        if (p->chip_panel[i] != number || picture_cpu_of(p, i) >= 0)
            continue;
        if (panel->floats_y == 0) {
            panel->floats_y = y;
            y += PIC_LINE + PIC_PAD;
        } else if (++column == PIC_CORES_PER_ROW) {
            column = 0;
            y += PIC_CHIP_H + PIC_PAD;
        }
        p->chip[i] = (struct pic_box){ left + PIC_PAD + column * (CORE_W + PIC_PAD), y,
                                       PIC_CHIP_W, PIC_CHIP_H };
        p->width = MAX(p->width, p->chip[i].x + CORE_W + PIC_PAD + PIC_MARGIN);
    }
    return panel->floats_y > 0 ? y + PIC_CHIP_H + PIC_PAD : y;
}

/* Returns the y below them. */
static unsigned place_sources(struct picture *p, unsigned number, unsigned y)
{
    for (unsigned i = 0; i < p->plan->source_count; i++) {
        unsigned rows = (picture_queues(p->plan, i) + PIC_QUEUES_PER_ROW - 1) / PIC_QUEUES_PER_ROW;

        if (p->source_panel[i] != number)
            continue;
        p->source[i] = (struct pic_box){ PIC_MARGIN + PIC_PAD, y, PIC_SOURCE_W,
                                         2 * PIC_LINE + PIC_PAD + rows * PIC_QUEUE_H };
        y += p->source[i].h + PIC_PAD;
    }
    return y;
}

/* An empty panel takes no room. */
static bool is_empty(const struct picture *p, unsigned number)
{
    unsigned parts = p->panel[number].count;

    for (unsigned i = 0; i < p->plan->thread_count; i++)
        parts += p->chip_panel[i] == number;
    for (unsigned i = 0; i < p->plan->source_count; i++)
        parts += p->source_panel[i] == number;
    return parts == 0;
}

static unsigned place_panel(struct picture *p, unsigned number, unsigned y)
{
    struct pic_panel *panel = &p->panel[number];
    unsigned left = PIC_MARGIN + PIC_PAD, top = y + PIC_LINE + PIC_PAD, bottom;

    if (is_empty(p, number))
        return y;
    if (p->plan->source_count > 0)
        left += PIC_SOURCE_W + PIC_ARROWS_W;
    bottom = place_groups(p, number, left, top);
    panel->grid = (struct pic_box){ left, top, 0, bottom - top };
    bottom = place_floats(p, number, left, panel->count > 0 ? bottom : top);
    bottom = MAX(bottom, place_sources(p, number, top));
    panel->box = (struct pic_box){ PIC_MARGIN, y, 0, bottom + PIC_PAD - y };
    return bottom + 2 * PIC_PAD;
}

void picture_lay_out(struct picture *p, const struct plan *plan, const struct plan_thread_now *now)
{
    unsigned cpus = plan->topology->count, y = PIC_HEAD;

    *p = (struct picture){ .plan = plan, .now = now };
    p->order = xcalloc(cpus + 1, sizeof(*p->order));
    p->threads_on = xcalloc(cpus + 1, sizeof(*p->threads_on));
    p->cpu = xcalloc(cpus + 1, sizeof(*p->cpu));
    p->group = xcalloc(cpus + 1, sizeof(*p->group));
    p->l2 = xcalloc(cpus + 1, sizeof(*p->l2));
    p->chip = xcalloc(plan->thread_count + 1, sizeof(*p->chip));
    p->chip_panel = xcalloc(plan->thread_count + 1, sizeof(*p->chip_panel));
    p->source = xcalloc(plan->source_count + 1, sizeof(*p->source));
    p->source_panel = xcalloc(plan->source_count + 1, sizeof(*p->source_panel));
    for (unsigned i = 0; i < cpus; i++)
        p->order[i] = i;
    qsort_r(p->order, cpus, sizeof(*p->order), compare_cpus, (void *)(uintptr_t)plan->topology);
    find_panels(p);
    assign(p);
    p->width = 2 * PIC_MARGIN + MAX(plan->stage_count + 2, 5u) * PIC_STAGE_W;
    for (unsigned i = 0; i < p->panel_count; i++)
        y = place_panel(p, i, y);
    place_l2s(p);
    place_chips(p);
    p->height = y + PIC_MARGIN;
    for (unsigned i = 0; i < p->panel_count; i++)
        p->panel[i].box.w = p->width - 2 * PIC_MARGIN;
}

void picture_free(struct picture *p)
{
    free(p->order);
    free(p->threads_on);
    free(p->cpu);
    free(p->panel);
    free(p->group);
    free(p->l2);
    free(p->chip);
    free(p->chip_panel);
    free(p->source);
    free(p->source_panel);
}
