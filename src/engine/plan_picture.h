/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/plan_picture.h - where each part of the picture of a plan stands. plan_layout.c computes
 * it, plan_svg.c draws it.
 *
 * From top to bottom: a head with the chain of stages and the legend, a panel for each NUMA node
 * (its interfaces at the left, its CPUs at the right, by cache and core), and a panel for what has
 * no place: threads that the kernel may run anywhere, files, interfaces of an unknown node. */
#ifndef ENGINE_PLAN_PICTURE_H
#define ENGINE_PLAN_PICTURE_H

#include "engine/plan.h"

/* Pixels. */
#define PIC_MARGIN 16u
#define PIC_PAD 8u
#define PIC_HEAD 196u               /* title, chain, legend */
#define PIC_LINE 18u                /* a line of text */
#define PIC_CHIP_W 150u             /* a thread */
#define PIC_CHIP_H 40u
#define PIC_CHIP_GAP 4u
#define PIC_STAGE_W 240u            /* a stage of the chain and the arrow to the next */
#define PIC_SOURCE_W 196u
#define PIC_QUEUE_W 42u
#define PIC_QUEUE_H 20u
#define PIC_QUEUES_PER_ROW 4u
#define PIC_CORES_PER_ROW 8u
/* Space between interfaces and CPUs, for arrows. */
#define PIC_ARROWS_W 70u

struct pic_box {
    unsigned x, y, w, h;
};

/* A node, or what has no place (numa -1 and no CPUs). */
struct pic_panel {
    int package, numa;
    unsigned first, count;          /* of picture.order */
    struct pic_box box, grid;       /* grid: its CPUs */
    unsigned floats_y;              /* threads that may run on several of its CPUs; 0: none */
};

/* Cores that share a cache. */
struct pic_group {
    int l3;
    unsigned panel;
    struct pic_box box;
};

/* CPUs that share an L2 cache; one that goes on in the next row has two boxes. */
struct pic_l2 {
    int number;
    struct pic_box box;
};

struct picture {
    const struct plan *plan;
    const struct plan_thread_now *now;      /* by number of the thread; NULL: as planned */
    unsigned *order;                /* indexes of topology.cpu: by node, package, cache, core */
    unsigned *threads_on;           /* by index of topology.cpu */
    struct pic_box *cpu;            /* by index of topology.cpu */
    struct pic_panel *panel;        /* the last one is for what has no place */
    unsigned panel_count;
    struct pic_group *group;
    unsigned group_count;
    struct pic_l2 *l2;
    unsigned l2_count;
    struct pic_box *chip;           /* by number of the thread */
    unsigned *chip_panel;           /* by number of the thread */
    struct pic_box *source;         /* by number of the source */
    unsigned *source_panel;         /* by number of the source */
    unsigned width, height;
};

void picture_lay_out(struct picture *p, const struct plan *plan,
                     const struct plan_thread_now *now);
void picture_free(struct picture *p);

/* Returns the index of the thread's CPU in topology.cpu; -1: it has none of its own. */
int picture_cpu_of(const struct picture *p, unsigned thread);
/* The queues that are drawn for a source: one for each thread that reads it, or for each that the
 * interface has. */
unsigned picture_queues(const struct plan *plan, unsigned source);

#endif
