/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/run_mode.h - a run mode is data: it divides the chain
 *
 * `receive -> decode -> stream -> detect -> verdict -> output`
 *
 * into stages, and sets for each stage the number of threads, the scheduler that assigns packets to
 * them, and the CPU set. The built-in ones are one table; users write their own under `runmodes:`.
 * Read-only once created. */
#ifndef ENGINE_RUN_MODE_H
#define ENGINE_RUN_MODE_H

#include "base/err.h"
#include "base/text/text.h"
#include "conf/conf.h"

enum stage_threads {
    THREADS_ONE,
    THREADS_CAPTURE,        /* one for each queue of the capture */
    THREADS_WORKER,         /* worker-cpu-set.threads, else detect-thread-ratio x CPUs */
    THREADS_NUMBER,         /* run_stage.number */
    THREADS_RATIO,          /* run_stage.ratio x CPUs of its set */
};

#define STAGES_MAX 8
#define STAGE_MODULES_MAX 8
#define THREADS_MAX 1024

/* The list ends with modules NULL. */
struct run_stage {
    const char *modules;            /* names in chain order, one blank between */
    enum stage_threads threads;
    unsigned number;
    double ratio;
    const char *cpu_set;            /* "worker", or a CPU list; NULL: chosen by its modules */
    const struct conf_node *cpu_node;   /* its place in the configuration; NULL for built-in */
    const char *scheduler;  /* a scheduler of engine/scheduler.h; NULL: autofp-scheduler */
    struct where at;
};

struct run_mode {
    const char *name;
    const char *alias;              /* NULL: none */
    const char *doc;
    struct run_stage stages[STAGES_MAX + 1];
    /* The run mode to use when the capture needs its verdicts on separate threads. */
    const struct run_mode *verdict_form;
    bool is_user;
    struct where at;
};

/* The chain, in order; NULL-ended. verdict and output may be exchanged. */
extern const char *const chain_modules[];
extern const struct run_mode *const run_mode_table[];      /* built-in, NULL-ended */

unsigned run_mode_stage_count(const struct run_mode *mode);
bool stage_has(const struct run_stage *stage, const char *module);
/* Rejects impossible stages; *err has the location and the reason. */
int run_mode_check(const struct run_mode *mode, struct err *err);

/* The built-in and the user-defined ones. NULL with *err when a user-defined one is wrong. */
struct run_modes;
struct run_modes *run_modes_new(const struct conf_node *root, struct err *err);
void run_modes_free(struct run_modes *modes);
unsigned run_modes_count(const struct run_modes *modes);
const struct run_mode *run_modes_at(const struct run_modes *modes, unsigned i);
/* Ignores case and finds aliases too; NULL: unknown. */
const struct run_mode *run_modes_find(const struct run_modes *modes, const char *name);
/* Writes "single, workers, autofp, pipeline", for messages. */
const char *run_modes_names(const struct run_modes *modes, char *buf, size_t size);

#endif
