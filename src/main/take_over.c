/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/take_over.c - the order of a hand-over, on both sides. control/handover.h has the
 * messages. */
#include "main/take_over.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/session.h"
#include "base/report/log.h"
#include "base/system/clock.h"
#include "control/handover.h"
#include "control/process.h"
#include "control/systemd.h"

/* Threads that are ready pass a quiescent state at least every 100 ms. */
#define THREADS_MS 20000
/* The main loop waits for less, because it also has signals to answer. */
#define EXPIRE_MS 2000

struct take_over {
    struct predecessor *predecessor;
    struct capture_handover from;
    int pid_fd;                         /* the pid file; -1: none */
};

/* --- the process that comes --------------------------------------------------------------- */

/* `append: no` empties a log at the start, which the other engine is still writing. */
void take_over_configure(const struct options *o, struct conf *conf)
{
    const struct conf_node *outputs = conf_find(conf_root(conf), "outputs");

    if (o->take_over == NULL || outputs == NULL)
        return;
    for (const struct conf_node *item = outputs->child; item != NULL; item = item->next) {
        char path[256];

        if (item->child == NULL || conf_bool(item->child, "append", true))
            continue;
        snprintf(path, sizeof(path), "outputs.%s.%s.append", item->name, item->child->name);
        conf_set(conf, path, "yes");
    }
}

int take_over_begin(struct setup *s, struct err *err)
{
    const struct capture_ops *capture = s->context.capture;
    const struct handover_head *head;
    struct take_over *t;

    if (s->options->take_over == NULL)
        return 0;
    if (capture == NULL || capture->adopt == NULL)
        return err_set(err, "--take-over: %s is not handed over: af-packet, af-xdp and nfq are",
                       capture != NULL ? capture->name : "a capture without a method");
    t = s->take_over = xcalloc(1, sizeof(*t));
    t->pid_fd = -1;
    t->predecessor = predecessor_new(s->options->take_over, &t->from, err);
    if (t->predecessor == NULL)
        return -1;
    head = predecessor_head(t->predecessor);
    if (strcmp(head->method, capture->name) != 0)
        return err_set(err, "--take-over: the engine that runs captures by %s, this one by %s",
                       head->method, capture->name);
    systemd_inherit(head->notify, head->watchdog_ms);
    flow_conf_expect_imports(s->flow);
    return 0;
}

int take_over_adopt(struct setup *s, struct err *err)
{
    if (s->take_over == NULL)
        return 0;
    return s->context.capture->adopt(s->context.capture_handle, &s->take_over->from, err);
}

struct predecessor *take_over_predecessor(const struct setup *s)
{
    return s->take_over != NULL ? s->take_over->predecessor : NULL;
}

/* It is only written when the other process has stopped. */
int take_over_pid_file(struct setup *s, const char *path, struct err *err)
{
    struct take_over *t = s->take_over;

    if (t == NULL)
        return process_pid_file(path, err);
    t->pid_fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
    return t->pid_fd >= 0 ? 0 : err_set(err, "pid file %s: %s", path, strerror(errno));
}

/* In this order a reader sees the one number or the other: the file is never empty. */
static void write_pid(const struct take_over *t)
{
    char text[32];
    int n = snprintf(text, sizeof(text), "%ld\n", (long)getpid());

    if (t->pid_fd >= 0 && (pwrite(t->pid_fd, text, (size_t)n, 0) != n ||
                           ftruncate(t->pid_fd, n) < 0))
        log_warning("ids", "the pid file cannot be written: %s", strerror(errno));
}

static int import_flows(struct setup *s, const struct buf *records, struct err *err)
{
    s->imports = flow_imports_new(s->flow, records, app_exported_proto, err);
    if (s->imports == NULL)
        return -1;
    flow_conf_set_imports(s->flow, s->imports);
    return 0;
}

static void open_capture(struct capture_handover *from)
{
    __atomic_store_n(&from->is_open, 1, __ATOMIC_RELEASE);
}

static int go_on(struct setup *s, const struct engine *engine, const struct buf *flows,
                 struct err *err)
{
    struct take_over *t = s->take_over;

    if (import_flows(s, flows, err) < 0)
        return -1;
    open_capture(&t->from);
    if (!qsbr_synchronize(&s->context, NULL, NULL, THREADS_MS))
        return err_set(err, "take-over: the threads do not go on");
    if (!engine_is_complete(engine))
        return err_set(err, "take-over: a thread has ended");
    return 0;
}

int take_over_finish(struct setup *s, const struct engine *engine, struct err *err)
{
    struct take_over *t = s->take_over;
    uint64_t begin_ns = clock_ns();
    struct buf flows = { 0 };
    int status;

    if (t == NULL)
        return 0;
    status = predecessor_commit(t->predecessor, &t->from, &flows, err);
    if (status == 0)
        status = go_on(s, engine, &flows, err);
    buf_fini(&flows);
    if (status == 0)
        log_notice("ids", "taken over from process %ld: %u flows; no thread read for %llu ms",
                   (long)predecessor_head(t->predecessor)->pid, flow_imports_count(s->imports),
                   (unsigned long long)((clock_ns() - begin_ns) / 1000000));
    return status;
}

/* The pid file first: a program that sees the other process end reads it. */
int take_over_done(struct setup *s, struct err *err)
{
    struct take_over *t = s->take_over;

    if (t == NULL)
        return 0;
    write_pid(t);
    if (predecessor_done(t->predecessor, err) < 0)
        return -1;
    control_own_sockets(s->control);
    return 0;
}

/* While there are such flows, each new flow of a thread costs a look for them. A thread may have
 * begun one, so the memory goes after a quiescent state of all. */
void take_over_expire(struct setup *s)
{
    if (LIKELY(s->imports == NULL) || !flow_imports_are_over(s->imports, clock_wall_us()))
        return;
    flow_conf_set_imports(s->flow, NULL);
    if (!qsbr_synchronize(&s->context, NULL, NULL, EXPIRE_MS))
        return;                         /* the next call tries again */
    log_notice("ids", "of %u flows taken over, %u have continued; no thread looks for more",
               flow_imports_count(s->imports),
               flow_imports_count(s->imports) - flow_imports_left(s->imports));
    flow_imports_free(s->imports);
    s->imports = NULL;
}

/* A thread may look for a flow as long as it runs, so the flows go last. */
void take_over_free(struct setup *s)
{
    struct take_over *t = s->take_over;

    if (t != NULL) {
        predecessor_free(t->predecessor);
        handover_close(&t->from);
        if (t->pid_fd >= 0)
            close(t->pid_fd);
        free(t);
    }
    s->take_over = NULL;
    flow_imports_free(s->imports);
    s->imports = NULL;
    if (s->context.handover != NULL)
        handover_close(s->context.handover);
    free(s->context.handover);
    s->context.handover = NULL;
}

/* --- the process that leaves -------------------------------------------------------------- */

static void exports_free(struct run_context *ctx)
{
    struct run_exports *exports = ctx->exports;

    ctx->exports = NULL;
    buf_fini(&exports->records);
    pthread_mutex_destroy(&exports->lock);
    free(exports);
}

/* As if this process took over from itself: the kernel has filled the rings meanwhile. */
static void take_back(struct setup *s)
{
    struct run_context *ctx = &s->context;
    struct err err = { 0 };

    log_error("ids", "the process that took over has failed: this one goes on");
    flow_imports_free(s->imports);
    s->imports = NULL;
    flow_conf_set_imports(s->flow, NULL);
    flow_conf_expect_imports(s->flow);
    if (import_flows(s, &ctx->exports->records, &err) < 0)
        log_err(LOG_LEVEL_ERROR, "ids", &err);
    open_capture(ctx->handover);
    if (ctx->capture->adopt(ctx->capture_handle, ctx->handover, &err) < 0)
        log_err(LOG_LEVEL_ERROR, "ids", &err);
}

/* Flows that were silent since this process took over go on in the next one all the same. */
static void pass_on(const struct setup *s)
{
    struct run_exports *exports = s->context.exports;

    if (s->imports != NULL)
        exports->count += flow_imports_pass_on(s->imports, clock_wall_us(), &exports->records,
                                               &exports->lost);
}

bool take_over_leave(struct setup *s)
{
    struct run_context *ctx = &s->context;
    bool given;

    pass_on(s);
    given = control_finish_handover(s->control, ctx->exports);
    if (ctx->exports->lost > 0)
        log_warning("ids", "%u flows are not handed over: there was no memory",
                    ctx->exports->lost);
    if (given) {
        log_notice("ids", "process %ld has taken over, with %u flows",
                   control_successor_pid(s->control), ctx->exports->count);
        systemd_main_pid(control_successor_pid(s->control));
        if (ctx->capture->leave != NULL)
            ctx->capture->leave(ctx->capture_handle);
    } else {
        take_back(s);
    }
    exports_free(ctx);
    return given;
}
