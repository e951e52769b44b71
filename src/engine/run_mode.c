/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/run_mode.c - the built-in run modes and what makes a run mode sound. */
#include "engine/run_mode.h"

#include "engine/scheduler.h"

#include <string.h>

/* In the order of the chain; a module's index here is its position in run_mode_check(). */
const char *const chain_modules[] = {
    "receive", "decode", "stream", "detect", "verdict", "output", NULL
};

static const struct run_mode run_mode_single = {
    .name = "single",
    .doc = "one thread does all, from receive to output",
    .stages = {
        { .modules = "receive decode stream detect verdict output", .threads = THREADS_ONE },
    },
};

static const struct run_mode run_mode_workers = {
    .name = "workers",
    .doc = "each thread does all for its share of the flows, distributed by the capture",
    .stages = {
        { .modules = "receive decode stream detect verdict output", .threads = THREADS_CAPTURE },
    },
};

/* autofp with a verdict thread for each queue. NFQ and divert sockets are queues that only one
 * thread should answer: its verdicts then leave in order, without a lock. */
static const struct run_mode run_mode_autofp_verdict = {
    .name = "autofp",
    .doc = "capture threads distribute packets to workers by flow hash, verdict threads answer",
    .stages = {
        { .modules = "receive decode", .threads = THREADS_CAPTURE },
        { .modules = "stream detect output", .threads = THREADS_WORKER },
        { .modules = "verdict", .threads = THREADS_CAPTURE, .scheduler = "capture" },
    },
};

static const struct run_mode run_mode_autofp = {
    .name = "autofp",
    .doc = "capture threads distribute packets to workers by flow hash",
    .stages = {
        { .modules = "receive decode", .threads = THREADS_CAPTURE },
        { .modules = "stream detect verdict output", .threads = THREADS_WORKER },
    },
    .verdict_form = &run_mode_autofp_verdict,
};

/* The default number of threads for decode and stream is one, because each keeps tables that all
 * packets need: the defragmenter's, and the flow table. */
static const struct run_mode run_mode_pipeline = {
    .name = "pipeline",
    .alias = "auto",
    .doc = "one thread a module, several for detect",
    .stages = {
        { .modules = "receive", .threads = THREADS_CAPTURE },
        { .modules = "decode", .threads = THREADS_ONE },
        { .modules = "stream", .threads = THREADS_ONE },
        { .modules = "detect", .threads = THREADS_WORKER },
        { .modules = "verdict", .threads = THREADS_ONE },
        { .modules = "output", .threads = THREADS_ONE },
    },
};

/* All built-in modes; the order is that of --list-runmodes. */
const struct run_mode *const run_mode_table[] = {
    &run_mode_single, &run_mode_workers, &run_mode_autofp, &run_mode_pipeline, NULL
};

unsigned run_mode_stage_count(const struct run_mode *mode)
{
    unsigned count = 0;

    while (mode->stages[count].modules != NULL)
        count++;
    return count;
}

/* `modules` is a list of names with single spaces. */
bool stage_has(const struct run_stage *stage, const char *module)
{
    struct text rest = text_of(stage->modules), name;

    while (text_split(&rest, ' ', &name))
        if (text_equal(name, module))
            return true;
    return false;
}

static int chain_position(struct text name)
{
    for (int i = 0; chain_modules[i] != NULL; i++)
        if (text_equal(name, chain_modules[i]))
            return i;
    return -1;
}

/* Events may be written before or after the verdict (positions 5 and 4): detect has already decided
 * the action. */
static bool may_follow(int position, int before)
{
    return position > before || (position == 4 && before == 5);
}

/* Progress of run_mode_check() along the chain. */
struct chain_walk {
    const struct run_mode *mode;
    unsigned seen;                  /* bit per position in the chain */
    int before;
};

/* Rejects what cannot work: an unknown module, a module twice, a chain that does not begin with
 * receive, or the wrong order. */
static int walk_module(struct chain_walk *walk, const struct run_stage *stage, unsigned number,
                       struct text name, struct err *err)
{
    int position = chain_position(name);

    if (position < 0)
        return err_at(err, stage->at, "run mode %s: no module \"%.*s\"; there are receive, decode, "
                      "stream, detect, verdict, output", walk->mode->name, TEXT(name));
    if (position == 0 && number > 0 && (walk->seen & 1) != 0)
        return err_at(err, stage->at, "run mode %s: two receive stages; one stage receives, with "
                      "as many threads as it likes", walk->mode->name);
    if ((walk->seen & 1u << position) != 0)
        return err_at(err, stage->at, "run mode %s: %.*s occurs twice in the chain",
                      walk->mode->name, TEXT(name));
    if (walk->before < 0 && position != 0)
        return err_at(err, stage->at, "run mode %s: the chain begins with receive, not %.*s",
                      walk->mode->name, TEXT(name));
    if (walk->before >= 0 && !may_follow(position, walk->before))
        return err_at(err, stage->at, "run mode %s: %.*s is behind %s; the order is receive, "
                      "decode, stream, detect, verdict, output", walk->mode->name, TEXT(name),
                      chain_modules[walk->before]);
    walk->seen |= 1u << position;
    walk->before = position;
    return 0;
}

/* Checks a stage and its scheduler. Several decode threads would need packets distributed by flow,
 * but the flow hash is only known after decode. So decode must be in receive's stage or on one
 * thread. */
static int walk_stage(struct chain_walk *walk, const struct run_stage *stage, unsigned number,
                      struct err *err)
{
    struct text rest = text_of(stage->modules), name;
    const char *schedulers = "hash, ippair, ftp-hash, round-robin, xor-251, least-loaded, capture";

    if (rest.n == 0)
        return err_at(err, stage->at, "run mode %s: stage %u has no modules", walk->mode->name,
                      number + 1);
    while (text_split(&rest, ' ', &name))
        if (walk_module(walk, stage, number, name, err) < 0)
            return -1;
    if (stage->scheduler != NULL && number == 0)
        return err_at(err, stage->at, "run mode %s: the first stage has no balance: the capture "
                      "distributes to it", walk->mode->name);
    if (stage->scheduler != NULL && !scheduler_known(stage->scheduler))
        return err_at(err, stage->at, "run mode %s: balance \"%s\": expected one of %s",
                      walk->mode->name, stage->scheduler, schedulers);
    if (stage_has(stage, "decode") && number > 0 && stage->threads != THREADS_ONE &&
        !(stage->threads == THREADS_NUMBER && stage->number == 1))
        return err_at(err, stage->at, "run mode %s: packets have no flow before decode, so decode "
                      "runs on one thread or in the stage of receive", walk->mode->name);
    return 0;
}

/* A valid mode has each module once. Built-in modes pass; tests check that. */
int run_mode_check(const struct run_mode *mode, struct err *err)
{
    struct chain_walk walk = { .mode = mode, .before = -1 };

    for (unsigned i = 0; mode->stages[i].modules != NULL; i++)
        if (walk_stage(&walk, &mode->stages[i], i, err) < 0)
            return -1;
    if (walk.before < 0)
        return err_at(err, mode->at, "run mode %s has no stages", mode->name);
    for (unsigned position = 0; chain_modules[position] != NULL; position++)
        if ((walk.seen & 1u << position) == 0)
            return err_at(err, mode->at, "run mode %s: module %s is missing", mode->name,
                          chain_modules[position]);
    return 0;
}
