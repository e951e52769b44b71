/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/run_mode_conf.c - the user's own run modes, from YAML:
 *
 *     runmodes:
 *       split:
 *         - modules: [receive, decode]
 *         - modules: [stream, detect, verdict, output]
 *           threads: 1.5x            # number, auto, or a ratio to the CPUs
 *           cpu-set: worker          # a set of threading.cpu-affinity, or a CPU list
 *           balance: ippair
 *
 * A map with `stages` and `description` may stand for the list. */
#include "base/array.h"
#include "base/memory/buf.h"
#include "base/report/log.h"
#include "engine/run_mode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Modes are allocated one by one, because plans and callers keep pointers to them. */
struct run_modes {
    ARRAY_OF(struct run_mode *) user;
};

/* A list, or text with spaces or commas, as text with single spaces. The caller owns it. */
static char *modules_text(const struct conf_node *node)
{
    struct buf b = { 0 };

    if (node->kind == CONF_SCALAR) {
        for (const char *p = node->value; *p != '\0'; p++)
            if (*p == ',' || *p == ' ' || *p == '\t') {
                if (b.len > 0 && b.data[b.len - 1] != ' ')
                    buf_add_u8(&b, ' ');
            } else {
                buf_add_u8(&b, (uint8_t)*p);
            }
    }
    CONF_EACH(item, node) {
        if (b.len > 0)
            buf_add_u8(&b, ' ');
        buf_add_string(&b, item->value != NULL ? item->value : "");
    }
    buf_add_u8(&b, '\0');
    return (char *)b.data;
}

/* Adds verdict after detect where the mode leaves it out. verdict does nothing where the capture
 * needs no answer, so a mode need not name it. Takes ownership of `modules`. */
static char *with_verdict(char *modules)
{
    const char *detect = strstr(modules, "detect");
    size_t head;
    size_t size;
    char *out;

    if (detect == NULL)
        return modules;
    head = (size_t)(detect - modules) + strlen("detect");
    size = strlen(modules) + sizeof(" verdict");
    out = xmalloc(size);
    snprintf(out, size, "%.*s verdict%s", (int)head, modules, modules + head);
    free(modules);
    return out;
}

/* "4", "auto", "1.5x" or "1.5". A number with a dot or an x is a ratio to the CPUs of the stage's
 * set. */
static int threads_read(struct run_stage *stage, const struct conf_node *node, struct err *err)
{
    struct text t = text_trim(text_of(node->value));
    bool is_ratio = t.n > 0 && t.p[t.n - 1] == 'x';
    uint64_t number;

    if (text_equal_nocase(t, "auto"))
        return 0;
    if (is_ratio)
        t.n--;
    else
        is_ratio = memchr(t.p, '.', t.n) != NULL;
    if (is_ratio && text_to_double(t, &stage->ratio) && stage->ratio > 0 && stage->ratio <= 64) {
        stage->threads = THREADS_RATIO;
        return 0;
    }
    if (!is_ratio && text_to_u64(t, THREADS_MAX, &number) && number > 0) {
        stage->threads = THREADS_NUMBER;
        stage->number = (unsigned)number;
        return 0;
    }
    return err_at(err, node->at,
                  "threads: expected a number from 1 to %u, auto, or a ratio to the CPUs "
                  "as in 0.5x, got \"%s\"", THREADS_MAX, node->value);
}

/* The default for `threads`, as the built-in modes have it for these modules. */
static void threads_default(struct run_stage *stage)
{
    if (stage_has(stage, "receive"))
        stage->threads = THREADS_CAPTURE;
    else if (stage_has(stage, "detect"))
        stage->threads = THREADS_WORKER;
    else
        stage->threads = THREADS_ONE;
}

/* Unknown keys are errors: with a typing error such as `thread` the default would be used
 * silently. */
static int stage_read(struct run_stage *stage, const struct conf_node *node, struct err *err)
{
    const struct conf_node *modules = conf_find(node, "modules"), *threads;

    stage->at = node->at;
    if (node->kind != CONF_MAP || modules == NULL)
        return err_at(err, node->at, "a stage of a run mode has `modules`, and perhaps threads, "
                      "cpu-set, balance");
    CONF_EACH(key, node)
        if (strcmp(key->name, "modules") != 0 && strcmp(key->name, "threads") != 0 &&
            strcmp(key->name, "cpu-set") != 0 && strcmp(key->name, "balance") != 0)
            return err_at(err, key->at, "a stage of a run mode has modules, threads, cpu-set and "
                          "balance, not \"%s\"", key->name);
    stage->modules = modules_text(modules);
    threads_default(stage);
    threads = conf_find(node, "threads");
    if (threads != NULL && threads_read(stage, threads, err) < 0)
        return -1;
    stage->cpu_node = conf_find(node, "cpu-set");
    if (stage->cpu_node != NULL && stage->cpu_node->kind == CONF_SCALAR)
        stage->cpu_set = stage->cpu_node->value;
    stage->scheduler = conf_string(node, "balance", NULL);
    return 0;
}

static int stages_read(struct run_mode *mode, const struct conf_node *list, struct err *err)
{
    unsigned count = 0;
    bool verdict = false;

    if (list == NULL || list->kind != CONF_LIST)
        return err_at(err, mode->at, "run mode %s: expected a list of stages", mode->name);
    CONF_EACH(node, list) {
        if (count == STAGES_MAX)
            return err_at(err, node->at, "run mode %s: at most %d stages", mode->name, STAGES_MAX);
        if (stage_read(&mode->stages[count++], node, err) < 0)
            return -1;
        verdict = verdict || stage_has(&mode->stages[count - 1], "verdict");
    }
    for (unsigned i = 0; i < count && !verdict; i++)
        mode->stages[i].modules = with_verdict((char *)mode->stages[i].modules);
    return 0;
}

static void mode_free(struct run_mode *mode)
{
    for (unsigned i = 0; i <= STAGES_MAX; i++)
        free((char *)mode->stages[i].modules);
    free(mode);
}

/* Names are compared without case, as everywhere in the configuration. */
static bool is_builtin(const char *name)
{
    for (unsigned i = 0; run_mode_table[i] != NULL; i++)
        if (strcasecmp(name, run_mode_table[i]->name) == 0 ||
            (run_mode_table[i]->alias != NULL && strcasecmp(name, run_mode_table[i]->alias) == 0))
            return true;
    return false;
}

/* `pieces` is the former name of `stages`; it still works, with a warning. */
static const struct conf_node *list_of_stages(const struct conf_node *node)
{
    const struct conf_node *former = conf_find(node, "pieces");

    if (former == NULL || conf_find(node, "stages") != NULL)
        return conf_find(node, "stages");
    log_warning("config", "%s:%d: run mode %s: `pieces` is now `stages`", former->at.file,
                former->at.line, node->name);
    return former;
}

/* The mode joins the list before it is read, so that run_modes_free() also frees half-read
 * modes. */
static int mode_read(struct run_modes *modes, const struct conf_node *node, struct err *err)
{
    struct run_mode *mode = xcalloc(1, sizeof(*mode));
    const struct conf_node *list = node->kind == CONF_MAP ? list_of_stages(node) : node;

    ARRAY_PUSH(&modes->user, mode);
    mode->name = node->name;
    mode->at = node->at;
    mode->is_user = true;
    mode->doc = node->kind == CONF_MAP ? conf_string(node, "description", "user-defined")
                                       : "user-defined";
    if (is_builtin(node->name))
        return err_at(err, node->at, "run mode %s is built in: choose another name", node->name);
    if (stages_read(mode, list, err) < 0)
        return -1;
    return run_mode_check(mode, err);
}

/* NULL after a mistake; the mistake of every mode has been logged. */
struct run_modes *run_modes_new(const struct conf_node *root, struct err *err)
{
    const struct conf_node *all = conf_find(root, "runmodes");
    struct run_modes *modes = xcalloc(1, sizeof(*modes));
    int status = 0;

    if (all != NULL && all->kind != CONF_MAP && (all->kind == CONF_LIST || all->value[0] != '\0'))
        status =
            err_at(err, all->at, "runmodes: expected names of run modes, each with its stages");
    CONF_EACH(node, status == 0 ? all : NULL) {
        struct err mine = { 0 };

        if (mode_read(modes, node, &mine) < 0)
            status = log_err_also("ids", err, &mine);
    }
    if (status == 0)
        return modes;
    run_modes_free(modes);
    return NULL;
}

void run_modes_free(struct run_modes *modes)
{
    if (modes == NULL)
        return;
    for (size_t i = 0; i < modes->user.count; i++)
        mode_free(modes->user.at[i]);
    ARRAY_FREE(&modes->user);
    free(modes);
}

static unsigned builtin_count(void)
{
    unsigned count = 0;

    while (run_mode_table[count] != NULL)
        count++;
    return count;
}

unsigned run_modes_count(const struct run_modes *modes)
{
    return builtin_count() + (unsigned)modes->user.count;
}

/* Numbers run over the built-in modes first, then the user's. */
const struct run_mode *run_modes_at(const struct run_modes *modes, unsigned i)
{
    unsigned builtin = builtin_count();

    return i < builtin ? run_mode_table[i] : modes->user.at[i - builtin];
}

const struct run_mode *run_modes_find(const struct run_modes *modes, const char *name)
{
    for (unsigned i = 0; i < run_modes_count(modes); i++) {
        const struct run_mode *mode = run_modes_at(modes, i);

        if (strcasecmp(name, mode->name) == 0 ||
            (mode->alias != NULL && strcasecmp(name, mode->alias) == 0))
            return mode;
    }
    return NULL;
}

const char *run_modes_names(const struct run_modes *modes, char *buf, size_t size)
{
    size_t at = 0;

    buf[0] = '\0';
    for (unsigned i = 0; i < run_modes_count(modes) && at < size; i++)
        at += (size_t)snprintf(buf + at, size - at, "%s%s", i > 0 ? ", " : "",
                               run_modes_at(modes, i)->name);
    return buf;
}
