/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan_svg.c - a plan as a picture: a column for each stage, a box for each thread in the
 * colour of its NUMA node, lines for the rings. Needs no other program. */
#include "base/array.h"
#include "engine/plan.h"

#include <stdio.h>
#include <string.h>

/* Pixels. */
#define BOX_WIDTH 190
#define BOX_HEIGHT 56
#define COLUMN_WIDTH 270
#define ROW_HEIGHT 70
#define MARGIN 20
#define HEAD_HEIGHT 50

/* Names come from configurations and interfaces, so they may contain XML's special characters. */
static void add_escaped(struct buf *out, const char *text)
{
    for (; *text != '\0'; text++)
        switch (*text) {
        case '<': buf_add_string(out, "&lt;"); break;
        case '>': buf_add_string(out, "&gt;"); break;
        case '&': buf_add_string(out, "&amp;"); break;
        case '"': buf_add_string(out, "&quot;"); break;
        default: buf_add_u8(out, (uint8_t)*text);
        }
}

static void add_text(struct buf *out, unsigned x, unsigned y, const char *class_name,
                     const char *text)
{
    buf_printf(out, "<text x=\"%u\" y=\"%u\" class=\"%s\">", x, y, class_name);
    add_escaped(out, text);
    buf_add_string(out, "</text>\n");
}

/* Management threads have the column after the last stage. */
static unsigned column_of(const struct plan *plan, const struct plan_thread *t)
{
    return t->stage >= 0 ? (unsigned)t->stage : plan->stage_count;
}

static unsigned box_x(const struct plan *plan, const struct plan_thread *t)
{
    return MARGIN + column_of(plan, t) * COLUMN_WIDTH;
}

static unsigned box_y(const struct plan_thread *t)
{
    return HEAD_HEIGHT + MARGIN + t->index * ROW_HEIGHT;
}

/* Colours repeat after eight NUMA nodes; grey is an unknown node. */
static const char *colour_of(const struct plan_thread *t)
{
    static const char *const colours[] = { "#cfe2f3", "#d9ead3", "#fff2cc", "#f4cccc",
                                           "#d9d2e9", "#fce5cd", "#d0e0e3", "#ead1dc" };

    if (t->cpu_info == NULL || t->cpu_info->numa < 0)
        return "#eeeeee";
    return colours[(unsigned)t->cpu_info->numa % ARRAY_LEN(colours)];
}

static void location_text(const struct plan_thread *t, char *buf, size_t size)
{
    const struct topology_cpu *at = t->cpu_info;
    char cpus[120];

    if (!t->pinned) {
        snprintf(buf, size, "any CPU");
        return;
    }
    cpu_set_text(&t->cpus, cpus, sizeof(cpus));
    if (at == NULL)
        snprintf(buf, size, "CPU %s, nice %d", cpus, t->sets_nice ? t->nice : 0);
    else
        snprintf(buf, size, "CPU %s, core %d, NUMA %d, nice %d", cpus, at->core, at->numa,
                 t->sets_nice ? t->nice : 0);
}

static void draw_thread(const struct plan *plan, const struct plan_thread *t, struct buf *out)
{
    unsigned x = box_x(plan, t), y = box_y(t);
    char head[96], location[200];

    if (t->source != NULL && plan->live)
        snprintf(head, sizeof(head), "%s: queue %u", t->name, t->queue);
    else
        snprintf(head, sizeof(head), "%s", t->name);
    location_text(t, location, sizeof(location));
    buf_printf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"4\" fill=\"%s\"/>\n",
               x, y, BOX_WIDTH, BOX_HEIGHT, colour_of(t));
    add_text(out, x + 8, y + 17, "name", head);
    add_text(out, x + 8, y + 33, "small", t->modules);
    add_text(out, x + 8, y + 48, "small", location);
}

static void draw_rings(const struct plan *plan, const struct plan_thread *t, struct buf *out)
{
    const struct plan_stage *next;

    if (t->stage < 0 || t->stage + 1 >= (int)plan->stage_count)
        return;
    next = &plan->stages[t->stage + 1];
    for (unsigned i = 0; i < next->count; i++) {
        const struct plan_thread *to = &plan->threads[next->first + i];

        buf_printf(out, "<line x1=\"%u\" y1=\"%u\" x2=\"%u\" y2=\"%u\"/>\n",
                   box_x(plan, t) + BOX_WIDTH, box_y(t) + BOX_HEIGHT / 2, box_x(plan, to),
                   box_y(to) + BOX_HEIGHT / 2);
    }
    if (next->scheduler != NULL && t->index == 0)
        add_text(out, box_x(plan, t) + BOX_WIDTH + 8, box_y(t) + 10, "small", next->scheduler);
}

/* Rows of the longest column. */
static unsigned most_rows(const struct plan *plan)
{
    unsigned rows = 1;

    for (unsigned i = 0; i < plan->thread_count; i++)
        rows = MAX(rows, plan->threads[i].index + 1);
    return rows;
}

/* Rings first: boxes then cover the ends of their lines. */
void plan_print_svg(const struct plan *plan, struct buf *out)
{
    unsigned columns = plan->stage_count + (plan->thread_count > plan->packet_threads);
    unsigned width = 2 * MARGIN + columns * COLUMN_WIDTH;
    unsigned height = HEAD_HEIGHT + 2 * MARGIN + most_rows(plan) * ROW_HEIGHT;
    char head[256];

    buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%u\" height=\"%u\" "
               "font-family=\"sans-serif\">\n<style>.name{font-size:13px;font-weight:bold}"
               ".small{font-size:10px}rect{stroke:#444}line{stroke:#888}</style>\n", width,
               height);
    snprintf(head, sizeof(head), "run mode %s, capture %s, topology %s", plan->mode->name,
             plan->method, plan->topology->text);
    add_text(out, MARGIN, 30, "name", head);
    for (unsigned i = 0; i < plan->thread_count; i++)
        draw_rings(plan, &plan->threads[i], out);
    for (unsigned i = 0; i < plan->thread_count; i++)
        draw_thread(plan, &plan->threads[i], out);
    buf_add_string(out, "</svg>\n");
}
