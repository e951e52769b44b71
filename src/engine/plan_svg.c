/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan_svg.c - a plan as a picture, for --plan and for the page of the running engine: the
 * chain of stages, and the machine with each thread on its CPU and each interface beside its node.
 *
 * All threads of a stage feed all threads of the next, so an arrow between two stages says as much
 * as one for each ring, and stays readable with 128 threads. Needs no other program. */
#include "engine/plan_picture.h"

#include "base/array.h"

#include <stdio.h>
#include <string.h>

/* Threads of an interface that have an arrow each; more have one together. */
#define ARROWS_MAX 16
#define STAGE_BOX_W (PIC_STAGE_W - 70)
#define STAGE_BOX_H 62
#define CHAIN_Y 44
#define LEGEND_Y 126
#define COLOURS 8

/* Light and dark; a program that knows no media queries draws the light one. */
static const char style[] =
    "<style>"
    ".plan{font-family:sans-serif;font-size:12px}"
    ".plan text{fill:#1c2430}.plan .head{font-size:15px;font-weight:bold}"
    ".plan .name{font-weight:bold}.plan .small{font-size:10.5px;fill:#4b5768}"
    ".plan .paper{fill:#fff}"
    ".plan .panel{fill:#f6f7f9;stroke:#7d8a9a}.plan .group{fill:#fff;stroke:#7d8a9a}"
    ".plan .l2{fill:#eef1f5;stroke:#7d8a9a;stroke-dasharray:3 2}"
    ".plan .pu{fill:#fff;stroke:#7d8a9a}.plan .denied{fill:#d7dce3}"
    ".plan .source{fill:#e8eefc;stroke:#5472b8}.plan .queue{fill:#fff;stroke:#5472b8}"
    ".plan .unread{fill:#d7dce3}"
    ".plan .thread{stroke:#5c6877}.plan .moves{stroke-dasharray:4 2}"
    ".plan .c0{fill:#cfe2f3}.plan .c1{fill:#d9ead3}.plan .c2{fill:#fff2cc}.plan .c3{fill:#f4cccc}"
    ".plan .c4{fill:#d9d2e9}.plan .c5{fill:#fce5cd}.plan .c6{fill:#d0e0e3}.plan .c7{fill:#ead1dc}"
    ".plan .other{fill:#eee}"
    ".plan .busy{fill:#2b6cb0}.plan .wait{fill:#fff;stroke:#5c6877}.plan .blocked{fill:#c2410c}"
    ".plan .arrow{fill:none;stroke:#5c6877;stroke-width:1.3}.plan .tip{fill:#5c6877}"
    ".plan .far{stroke:#c2410c;stroke-dasharray:6 3}"
    "@media (prefers-color-scheme:dark){"
    ".plan text{fill:#e6eaf0}.plan .small{fill:#b4bfcc}.plan .paper{fill:#1a2029}"
    ".plan .panel{fill:#12161c;stroke:#75839a}.plan .group{fill:#1a2029;stroke:#75839a}"
    ".plan .l2{fill:#222a35;stroke:#75839a}.plan .pu{fill:#1a2029;stroke:#75839a}"
    ".plan .source{fill:#1f2b47;stroke:#7d9be0}.plan .queue{fill:#12161c;stroke:#7d9be0}"
    ".plan .denied,.plan .unread{fill:#3a4656}"
    ".plan .c0{fill:#1d3a57}.plan .c1{fill:#22402a}.plan .c2{fill:#4a3f16}.plan .c3{fill:#512a2a}"
    ".plan .c4{fill:#382f55}.plan .c5{fill:#533619}.plan .c6{fill:#1c444b}.plan .c7{fill:#4d2a3e}"
    ".plan .other{fill:#2d3643}"
    ".plan .busy{fill:#63a4ec}.plan .wait{fill:#12161c;stroke:#98a4b3}.plan .blocked{fill:#f08a4b}"
    ".plan .arrow{stroke:#98a4b3}.plan .tip{fill:#98a4b3}.plan .far{stroke:#f08a4b}"
    "}</style>\n"
    "<defs><marker id=\"plan-tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" "
    "markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker>"
    "</defs>\n";

/* Names come from configurations and interfaces, so they may contain XML's special characters.
 * XML has no control characters at all. */
static void add_escaped(struct buf *out, const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++)
        switch (text[i]) {
        case '<': BUF_LITERAL(out, "&lt;"); break;
        case '>': BUF_LITERAL(out, "&gt;"); break;
        case '&': BUF_LITERAL(out, "&amp;"); break;
        case '"': BUF_LITERAL(out, "&quot;"); break;
        default: buf_add_u8(out, (uint8_t)text[i] < ' ' ? '?' : (uint8_t)text[i]);
        }
}

static void add_text(struct buf *out, unsigned x, unsigned y, const char *class_name,
                     const char *text)
{
    buf_printf(out, "<text x=\"%u\" y=\"%u\" class=\"%s\">", x, y, class_name);
    add_escaped(out, text, strlen(text));
    BUF_LITERAL(out, "</text>\n");
}

/* At most `max` characters, the last of which then are dots. */
static void add_clipped(struct buf *out, struct pic_box at, const char *class_name,
                        const char *text, size_t max)
{
    char clipped[64];

    snprintf(clipped, sizeof(clipped), "%s", text);
    if (strlen(text) > max)
        snprintf(clipped, sizeof(clipped), "%.*s..", (int)max - 2, text);
    add_text(out, at.x, at.y, class_name, clipped);
}

static void add_box(struct buf *out, struct pic_box b, const char *class_name)
{
    buf_printf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"%u\" rx=\"4\" class=\"%s\"/>\n",
               b.x, b.y, b.w, b.h, class_name);
}

static void add_arrow(struct buf *out, struct pic_box from, struct pic_box to,
                      const char *class_name)
{
    unsigned bend = (from.x + to.x) / 2;

    buf_printf(out, "<path class=\"%s\" marker-end=\"url(#plan-tip)\" "
               "d=\"M%u %uC%u %u %u %u %u %u\"/>\n", class_name, from.x, from.y, bend, from.y, bend,
               to.y, to.x, to.y);
}

/* --- the chain and the legend ----------------------------------------------------------------- */

static const char *colour_of(const struct plan_thread *t)
{
    static const char *const colours[COLOURS] = { "c0", "c1", "c2", "c3", "c4", "c5", "c6", "c7" };

    return t->stage >= 0 ? colours[(unsigned)t->stage % COLOURS] : "other";
}

/* "W x 8": the name up to its number. */
static void stage_head(const struct plan *plan, const struct plan_stage *stage, char *buf,
                       size_t size)
{
    const char *name = plan->threads[stage->first].name;

    snprintf(buf, size, "%.*s \xc3\x97 %u", (int)strcspn(name, "#"), name, stage->count);
}

/* The modules take two lines: three words, then the others. */
static void draw_modules(struct buf *out, unsigned x, unsigned y, const char *modules)
{
    const char *rest = modules;
    char first[64];

    for (unsigned words = 0; words < 3 && *rest != '\0'; words++)
        rest += strcspn(rest, " ") + (rest[strcspn(rest, " ")] == ' ');
    snprintf(first, sizeof(first), "%.*s", (int)(rest - modules), modules);
    add_text(out, x, y, "small", first);
    if (*rest != '\0')
        add_text(out, x, y + 14, "small", rest);
}

static void draw_chain_box(struct buf *out, struct pic_box b, const char *class_name,
                           const char *head, const char *modules)
{
    add_box(out, b, class_name);
    add_clipped(out, (struct pic_box){ .x = b.x + 8, .y = b.y + 18 }, "name", head, 24);
    draw_modules(out, b.x + 8, b.y + 36, modules);
}

static unsigned chain_x(unsigned column)
{
    return PIC_MARGIN + column * PIC_STAGE_W;
}

/* The arrow into a column, with how packets are distributed. */
static void draw_link(struct buf *out, unsigned column, const char *above, const char *below)
{
    struct pic_box from = { .x = chain_x(column) - 68, .y = CHAIN_Y + STAGE_BOX_H / 2 };
    struct pic_box to = { .x = chain_x(column) - 3, .y = from.y };

    add_arrow(out, from, to, "arrow");
    add_clipped(out, (struct pic_box){ .x = from.x + 2, .y = from.y - 6 }, "small", above, 12);
    add_clipped(out, (struct pic_box){ .x = from.x + 2, .y = from.y + 15 }, "small", below, 12);
}

static void draw_input(const struct plan *plan, struct buf *out)
{
    char head[96], below[32] = "";
    unsigned queues = 0;

    for (unsigned i = 0; i < plan->source_count; i++)
        queues += picture_queues(plan, i);
    if (plan->source_count == 1)
        snprintf(head, sizeof(head), "%.90s", plan->sources[0].name);
    else
        snprintf(head, sizeof(head), "%u %s", plan->source_count,
                 plan->live ? "interfaces" : "files");
    draw_chain_box(out, (struct pic_box){ chain_x(0), CHAIN_Y, STAGE_BOX_W, STAGE_BOX_H },
                   "source", head, plan->method);
    if (queues > 0)
        snprintf(below, sizeof(below), "%u queue%s", queues, queues == 1 ? "" : "s");
    draw_link(out, 1, "", below);
}

static void draw_chain(const struct plan *plan, struct buf *out)
{
    unsigned others = plan->thread_count - plan->packet_threads;
    char head[32], rings[32];

    draw_input(plan, out);
    for (unsigned i = 0; i < plan->stage_count; i++) {
        const struct plan_stage *stage = &plan->stages[i];
        char class_name[32];

        snprintf(class_name, sizeof(class_name), "thread %s",
                 colour_of(&plan->threads[stage->first]));
        stage_head(plan, stage, head, sizeof(head));
        draw_chain_box(out, (struct pic_box){ chain_x(i + 1), CHAIN_Y, STAGE_BOX_W, STAGE_BOX_H },
                       class_name, head, plan->threads[stage->first].modules);
        if (i == 0)
            continue;
        snprintf(rings, sizeof(rings), "%u ring%s", plan->stages[i - 1].count * stage->count,
                 plan->stages[i - 1].count * stage->count == 1 ? "" : "s");
        draw_link(out, i + 1, stage->scheduler != NULL ? stage->scheduler : "", rings);
    }
    if (others == 0)
        return;
    snprintf(head, sizeof(head), "others \xc3\x97 %u", others);
    draw_chain_box(out, (struct pic_box){ chain_x(plan->stage_count + 1), CHAIN_Y, STAGE_BOX_W,
                                          STAGE_BOX_H }, "thread other", head,
                   "no packets");
}

static unsigned legend_box(struct buf *out, unsigned x, unsigned y, const char *class_name,
                           const char *text)
{
    add_box(out, (struct pic_box){ x, y - 11, 22, 13 }, class_name);
    add_text(out, x + 28, y, "small", text);
    return x + 44 + (unsigned)strlen(text) * 11 / 2;
}

static unsigned legend_arrow(struct buf *out, unsigned x, unsigned y, const char *class_name,
                             const char *text)
{
    add_arrow(out, (struct pic_box){ .x = x, .y = y - 4 }, (struct pic_box){ .x = x + 26,
                                                                          .y = y - 4 }, class_name);
    add_text(out, x + 32, y, "small", text);
    return x + 48 + (unsigned)strlen(text) * 11 / 2;
}

static void draw_legend(const struct picture *p, struct buf *out)
{
    unsigned x = PIC_MARGIN, y = LEGEND_Y + 14;

    x = legend_box(out, x, y, "thread other", "thread, bound to its CPU");
    x = legend_box(out, x, y, "thread other moves", "thread that the kernel may move");
    x = legend_box(out, x, y, "pu", "CPU");
    if (p->l2_count > 0)
        x = legend_box(out, x, y, "l2", "L2 cache");
    (void)legend_box(out, x, y, "denied", "CPU that this process may not use");
    x = PIC_MARGIN;
    y += 22;
    if (p->plan->live) {
        x = legend_arrow(out, x, y, "arrow", "packets of a queue");
        x = legend_arrow(out, x, y, "arrow far", "packets that cross between nodes");
        x = legend_box(out, x, y, "queue", "queue");
        x = legend_box(out, x, y, "queue unread", "queue that no thread reads by its number");
    }
    if (p->now == NULL)
        return;
    x = legend_box(out, x, y, "busy", "busy");
    x = legend_box(out, x, y, "blocked", "blocked by a full ring");
    (void)legend_box(out, x, y, "wait", "waiting for input");
}

/* --- threads ---------------------------------------------------------------------------------- */

/* What the pointer shows: all of it in words. */
static void add_title(const struct picture *p, unsigned number, struct buf *out)
{
    const struct plan_thread *t = &p->plan->threads[number];
    const struct topology_cpu *at = t->cpu_info;
    struct buf reason = { 0 };
    char cpus[160];

    BUF_LITERAL(out, "<title>");
    add_escaped(out, t->name, strlen(t->name));
    buf_printf(out, ": %s", t->doc != NULL ? t->doc : t->modules);
    buf_printf(out, "\nmay run on CPU %s", cpu_set_text(&t->cpus, cpus, sizeof(cpus)));
    if (at != NULL)
        buf_printf(out, ", core %d, node %d", at->core, at->numa);
    buf_printf(out, ", nice %d\n", t->sets_nice ? t->nice : 0);
    plan_reason(p->plan, t, &reason);
    add_escaped(out, (const char *)reason.data, reason.len);
    buf_fini(&reason);
    if (p->now != NULL && p->now[number].has_load)
        buf_printf(out, "\nbusy %u.%u %%, waiting %u.%u %%, blocked %u.%u %%",
                   p->now[number].busy / 10, p->now[number].busy % 10, p->now[number].wait / 10,
                   p->now[number].wait % 10, p->now[number].blocked / 10,
                   p->now[number].blocked % 10);
    BUF_LITERAL(out, "</title>\n");
}

static void draw_load(const struct plan_thread_now *now, struct pic_box chip, struct buf *out)
{
    const struct { const char *class_name; unsigned share; } parts[] = {
        { "busy", now->busy }, { "blocked", now->blocked }, { "wait", now->wait },
    };
    unsigned x = chip.x + 5, width = chip.w - 10;

    for (unsigned i = 0; i < ARRAY_LEN(parts); i++) {
        unsigned w = MIN(parts[i].share * width / 1000, chip.x + 5 + width - x);

        buf_printf(out, "<rect x=\"%u\" y=\"%u\" width=\"%u\" height=\"5\" class=\"%s\"/>\n", x,
                   chip.y + chip.h - 8, w, parts[i].class_name);
        x += w;
    }
}

/* The second line: the queue it reads, else its modules. */
static void chip_detail(const struct plan *plan, const struct plan_thread *t, char *buf,
                        size_t size)
{
    if (t->source != NULL && plan->live)
        snprintf(buf, size, "%.16s queue %u", t->source, t->queue);
    else if (t->stage >= 0)
        snprintf(buf, size, "%.60s", t->modules);
    else
        snprintf(buf, size, "%.60s", t->doc != NULL ? t->doc : t->modules);
}

static void draw_thread(const struct picture *p, unsigned number, struct buf *out)
{
    const struct plan_thread *t = &p->plan->threads[number];
    struct pic_box chip = p->chip[number];
    char class_name[48], detail[64];
    bool has_load = p->now != NULL && p->now[number].has_load;

    snprintf(class_name, sizeof(class_name), "thread %s%s", colour_of(t),
             t->pinned && t->cpu >= 0 ? "" : " moves");
    chip_detail(p->plan, t, detail, sizeof(detail));
    BUF_LITERAL(out, "<g data-thread=\"");
    add_escaped(out, t->name, strlen(t->name));
    BUF_LITERAL(out, "\">");
    add_title(p, number, out);
    add_box(out, chip, class_name);
    add_text(out, chip.x + 6, chip.y + 14, "name", t->name);
    add_clipped(out, (struct pic_box){ .x = chip.x + 6, .y = chip.y + 27 }, "small", detail, 24);
    if (has_load)
        draw_load(&p->now[number], chip, out);
    BUF_LITERAL(out, "</g>\n");
}

/* --- interfaces ------------------------------------------------------------------------------- */

static unsigned readers_of(const struct plan *plan, unsigned source)
{
    unsigned readers = 0;

    for (unsigned i = 0; i < plan->packet_threads; i++)
        readers += plan->threads[i].source != NULL && plan->threads[i].source_number == source;
    return readers;
}

static bool is_read(const struct plan *plan, unsigned source, unsigned queue)
{
    for (unsigned i = 0; i < plan->packet_threads; i++)
        if (plan->threads[i].source != NULL && plan->threads[i].source_number == source &&
            plan->threads[i].queue == queue)
            return true;
    return false;
}

static struct pic_box queue_box(const struct picture *p, unsigned source, unsigned queue)
{
    return (struct pic_box){ p->source[source].x + 6 +
                                 queue % PIC_QUEUES_PER_ROW * (PIC_QUEUE_W + 4),
                             p->source[source].y + 2 * PIC_LINE + 4 +
                                 queue / PIC_QUEUES_PER_ROW * PIC_QUEUE_H,
                             PIC_QUEUE_W, PIC_QUEUE_H - 4 };
}

static void draw_source(const struct picture *p, unsigned number, struct buf *out)
{
    const struct plan_source *s = &p->plan->sources[number];
    unsigned queues = picture_queues(p->plan, number);
    struct pic_box b = p->source[number];
    char detail[64];

    BUF_LITERAL(out, "<g data-source=\"");
    add_escaped(out, s->name, strlen(s->name));
    BUF_LITERAL(out, "\"><title>");
    add_escaped(out, s->name, strlen(s->name));
    BUF_LITERAL(out, "</title>");
    add_box(out, b, "source");
    add_clipped(out, (struct pic_box){ .x = b.x + 8, .y = b.y + 16 }, "name", s->name, 25);
    if (!p->plan->live)
        snprintf(detail, sizeof(detail), "%s", p->plan->shares_file ? "read by all threads"
                                                                    : "file");
    else if (s->peer != NULL)
        snprintf(detail, sizeof(detail), "%u queue%s, out by %.20s", queues,
                 queues == 1 ? "" : "s", s->peer);
    else
        snprintf(detail, sizeof(detail), "%u queue%s", queues, queues == 1 ? "" : "s");
    add_text(out, b.x + 8, b.y + 31, "small", detail);
    for (unsigned q = 0; q < queues; q++) {
        struct pic_box at = queue_box(p, number, q);
        char name[16];

        snprintf(name, sizeof(name), "%u", q);
        add_box(out, at, is_read(p->plan, number, q) ? "queue" : "queue unread");
        add_text(out, at.x + 6, at.y + 12, "small", name);
    }
    BUF_LITERAL(out, "</g>\n");
}

/* Packets cross between nodes if the thread is bound to a CPU of another. */
static const char *arrow_class(const struct picture *p, unsigned panel, unsigned source)
{
    int here = p->panel[p->source_panel[source]].numa, there = p->panel[panel].numa;

    return here >= 0 && there >= 0 && here != there ? "arrow far" : "arrow";
}

/* Into a thread. Where others stand before it the arrow keeps to the gap above them: behind them it
 * would seem to be an arrow of theirs. */
static void add_thread_arrow(struct buf *out, struct pic_box from, struct pic_box chip,
                             struct pic_box grid, const char *class_name)
{
    unsigned above = chip.y - PIC_CHIP_GAP / 2, middle = chip.y + chip.h / 2;
    unsigned bend = (from.x + grid.x) / 2;

    if (chip.x < grid.x + PIC_CHIP_W) {
        chip.y = middle;
        add_arrow(out, from, chip, class_name);
        return;
    }
    buf_printf(out, "<path class=\"%s\" marker-end=\"url(#plan-tip)\" "
               "d=\"M%u %uC%u %u %u %u %u %uH%u", class_name, from.x, from.y, bend, from.y, bend,
               above, grid.x, above, chip.x - 2 * PIC_PAD);
    buf_printf(out, "C%u %u %u %u %u %u\"/>\n", chip.x - PIC_PAD, above, chip.x - 2 * PIC_PAD,
               middle, chip.x, middle);
}

static void draw_queue_arrows(const struct picture *p, unsigned source, struct buf *out)
{
    for (unsigned i = 0; i < p->plan->packet_threads; i++) {
        const struct plan_thread *t = &p->plan->threads[i];
        struct pic_box from = p->source[source], chip = p->chip[i];

        if (t->source == NULL || t->source_number != source)
            continue;
        if (p->plan->live)
            from = queue_box(p, source, t->queue);
        from.x += from.w;
        from.y += from.h / 2;
        add_thread_arrow(out, from, chip, p->panel[p->chip_panel[i]].grid,
                         arrow_class(p, p->chip_panel[i], source));
    }
}

/* One arrow into each panel where threads read the source, and their number. */
static void draw_panel_arrows(const struct picture *p, unsigned source, struct buf *out)
{
    for (unsigned n = 0; n < p->panel_count; n++) {
        struct pic_box from = p->source[source], to = p->panel[n].grid;
        unsigned readers = 0;
        char label[32];

        for (unsigned i = 0; i < p->plan->packet_threads; i++)
            readers += p->chip_panel[i] == n && p->plan->threads[i].source != NULL &&
                       p->plan->threads[i].source_number == source;
        if (readers == 0)
            continue;
        from.x += from.w;
        from.y += from.h / 2;
        to.y += MIN(to.h / 2, 60u);
        add_arrow(out, from, to, arrow_class(p, n, source));
        snprintf(label, sizeof(label), "%u threads", readers);
        add_text(out, to.x - 62, to.y - 6, "small", label);
    }
}

/* --- the machine ------------------------------------------------------------------------------ */

static void draw_cpus(const struct picture *p, struct buf *out)
{
    const struct topology *t = p->plan->topology;

    for (unsigned i = 0; i < t->count; i++) {
        const struct topology_cpu *cpu = &t->cpu[i];
        char text[64], core[24], l2[24];

        add_box(out, p->cpu[i], cpu_set_has(&t->allowed, cpu->os) ? "pu" : "pu denied");
        snprintf(core, sizeof(core), cpu->core >= 0 ? ", core %d" : "", cpu->core);
        snprintf(l2, sizeof(l2), cpu->l2 >= 0 && cpu->thread == 0 ? ", L2 %d" : "", cpu->l2);
        snprintf(text, sizeof(text), "CPU %u%s%s", cpu->os, core, l2);
        add_text(out, p->cpu[i].x + 6, p->cpu[i].y + 14, "small", text);
    }
}

static void draw_panel(const struct picture *p, unsigned number, struct buf *out)
{
    const struct pic_panel *panel = &p->panel[number];
    char head[64] = "Any node";

    if (panel->box.h == 0)
        return;
    if (panel->count > 0 && panel->numa >= 0)
        snprintf(head, sizeof(head), "NUMA node %d, package %d", panel->numa, panel->package);
    else if (panel->count > 0)
        snprintf(head, sizeof(head), "Package %d", MAX(panel->package, 0));
    add_box(out, panel->box, "panel");
    add_text(out, panel->box.x + PIC_PAD, panel->box.y + 16, "name", head);
    if (panel->floats_y > 0)
        add_text(out, panel->grid.x + PIC_PAD, panel->floats_y + 14, "small",
                 panel->count > 0 ? "on any of several CPUs here" : "on any CPU that is allowed");
}

static void draw_groups(const struct picture *p, struct buf *out)
{
    for (unsigned i = 0; i < p->group_count; i++) {
        char text[32];

        snprintf(text, sizeof(text), p->group[i].l3 >= 0 ? "L3 cache %d" : "CPUs",
                 p->group[i].l3);
        add_box(out, p->group[i].box, "group");
        add_text(out, p->group[i].box.x + PIC_PAD, p->group[i].box.y + 13, "small", text);
    }
}

static void draw_l2s(const struct picture *p, struct buf *out)
{
    for (unsigned i = 0; i < p->l2_count; i++) {
        BUF_LITERAL(out, "<g><title>");
        buf_printf(out, "L2 cache %d</title>", p->l2[i].number);
        add_box(out, p->l2[i].box, "l2");
        BUF_LITERAL(out, "</g>\n");
    }
}

static void draw_head(const struct picture *p, struct buf *out)
{
    char head[256];

    buf_printf(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"plan\" role=\"img\" "
               "aria-label=\"threads on the CPUs of the machine\" width=\"%u\" height=\"%u\" "
               "viewBox=\"0 0 %u %u\">\n", p->width, p->height, p->width, p->height);
    BUF_LITERAL(out, style);
    add_box(out, (struct pic_box){ 0, 0, p->width, p->height }, "paper");
    snprintf(head, sizeof(head), "run mode %s, capture %s, topology %s", p->plan->mode->name,
             p->plan->method, p->plan->topology->text);
    add_text(out, PIC_MARGIN, 28, "head", head);
}

/* Arrows come before threads, so that a box is never crossed out. */
static void draw(const struct plan *plan, const struct plan_thread_now *now, struct buf *out)
{
    struct picture p;

    picture_lay_out(&p, plan, now);
    draw_head(&p, out);
    draw_chain(plan, out);
    draw_legend(&p, out);
    for (unsigned i = 0; i < p.panel_count; i++)
        draw_panel(&p, i, out);
    draw_groups(&p, out);
    draw_l2s(&p, out);
    draw_cpus(&p, out);
    for (unsigned i = 0; i < plan->source_count; i++) {
        if (readers_of(plan, i) <= ARROWS_MAX)
            draw_queue_arrows(&p, i, out);
        else
            draw_panel_arrows(&p, i, out);
        draw_source(&p, i, out);
    }
    for (unsigned i = 0; i < plan->thread_count; i++)
        draw_thread(&p, i, out);
    BUF_LITERAL(out, "</svg>\n");
    picture_free(&p);
}

void plan_print_svg(const struct plan *plan, struct buf *out)
{
    draw(plan, NULL, out);
}

void plan_print_svg_now(const struct plan *plan, const struct plan_thread_now *now,
                        struct buf *out)
{
    draw(plan, now, out);
}
