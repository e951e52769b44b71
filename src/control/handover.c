/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/handover.c - the engine that runs passes its capture to another process. Commands and
 * their answers are the control thread's; the main thread adds what is known at the end. */
#include "control/handover.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/report/log.h"
#include "control/private.h"
#include "control/systemd.h"

/* The other process has all of it in memory already, so seconds are plenty. A process that hangs is
 * no better than one that has crashed. */
#define DONE_S 30

/* ---- blobs ---- */

int handover_blob(const struct buf *content, struct err *err)
{
    int fd = memfd_create("handover", MFD_CLOEXEC);
    size_t at = 0;

    while (fd >= 0 && at < content->len) {
        ssize_t n = pwrite(fd, content->data + at, content->len - at, (off_t)at);

        if (n <= 0) {
            close(fd);
            return err_set(err, "hand-over: %s", strerror(errno));
        }
        at += (size_t)n;
    }
    return fd >= 0 ? fd : err_set(err, "hand-over: %s", strerror(errno));
}

/* By position: the offset is shared with the process that wrote it. Only a file has an end that is
 * known before: a device or a pipe may have none. */
int handover_blob_read(int fd, struct buf *out, struct err *err)
{
    struct stat st;
    off_t at = 0;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return err_set(err, "hand-over: what comes with the answer is no file");
    if (st.st_size > HANDOVER_BLOB_MAX)
        return err_set(err, "hand-over: %lld bytes are too many", (long long)st.st_size);
    if (!buf_reserve(out, (size_t)st.st_size))
        return err_set(err, "hand-over: no memory");
    while (at < st.st_size) {
        ssize_t n = pread(fd, out->data + out->len, (size_t)(st.st_size - at), at);

        if (n <= 0)
            return err_set(err, "hand-over: %s", n < 0 ? strerror(errno) : "the file was cut");
        out->len += (size_t)n;
        at += n;
    }
    return 0;
}

/* ---- messages ---- */

static void add_head(const struct control *c, bool is_last, struct buf *out)
{
    const struct run_context *ctx = c->conf.context;
    struct handover_head head = {
        .version = HANDOVER_VERSION, .socket_size = sizeof(struct capture_socket),
        .flow_size = sizeof(struct flow_export), .queues = ctx->handover->queues,
        .pid = getpid(), .watchdog_ms = systemd_watchdog_ms(), .is_last = is_last,
    };

    snprintf(head.method, sizeof(head.method), "%s", ctx->capture->name);
    snprintf(head.path, sizeof(head.path), "%s", c->path);
    snprintf(head.notify, sizeof(head.notify), "%s", systemd_socket());
    if (c->web_fd >= 0)
        snprintf(head.web, sizeof(head.web), "%s", c->web_address);
    buf_add(out, &head, sizeof(head));
    buf_add(out, ctx->handover->at, head.queues * HANDOVER_SIDES * sizeof(ctx->handover->at[0]));
}

/* Kept until the process ends: threads of the engine know the address. NULL: no memory. */
static struct capture_handover *fresh_handover(struct run_context *ctx, unsigned queues)
{
    struct capture_handover *h = ctx->handover;

    if (h == NULL)
        h = ctx->handover = calloc(1, sizeof(*h));
    if (h == NULL)
        return NULL;
    handover_close(h);
    for (unsigned i = 0; i < queues * HANDOVER_SIDES; i++)
        h->at[i] = (struct capture_socket){ .fd = -1 };
    h->queues = queues;
    return h;
}

/* The descriptors are the other process's copies once they are sent; these here stay open. */
static unsigned list_fds(const struct control *c, int blob, int *fds)
{
    unsigned n = 0, at = 0;

    fds[n++] = blob;
    fds[n++] = c->fd;
    if (c->web_fd >= 0)
        fds[n++] = c->web_fd;
    for (int32_t *fd; (fd = handover_next_fd(c->conf.context->handover, &at)) != NULL;)
        fds[n++] = *fd;
    return n;
}

static int offer(struct control *c, struct err *err)
{
    struct capture_handover *h;
    struct buf content = { 0 };

    if (c->plan->stages[0].count > HANDOVER_QUEUES_MAX)
        return err_set(err, "more than %d threads capture: that needs a restart",
                       HANDOVER_QUEUES_MAX);
    h = fresh_handover(c->conf.context, c->plan->stages[0].count);
    if (h == NULL)
        return err_set(err, "no memory for the sockets");
    if (engine_hand_over(c->engine, h, err) < 0) {
        handover_close(h);
        return -1;
    }
    if (handover_count_fds(h) + 3 > HANDOVER_FDS_MAX) {
        handover_close(h);
        return err_set(err, "the sockets are too many for a hand-over: that needs a restart");
    }
    add_head(c, false, &content);
    c->answer_blob = handover_blob(&content, err);
    buf_fini(&content);
    if (c->answer_blob < 0)
        return -1;
    c->answer_fds = list_fds(c, c->answer_blob, c->answer_fd);
    __atomic_store_n(&h->state, HANDOVER_OFFERED, __ATOMIC_RELEASE);
    return 0;
}

/* ---- commands, on the control thread with the lock ---- */

/* The process as the kernel saw it at connect(). The socket's group may send commands, but these
 * descriptors read all traffic: only root and the engine's own user get them. */
static bool peer_may(int fd, pid_t *pid)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);

    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
        return false;
    *pid = peer.pid;
    return peer.uid == 0 || peer.uid == geteuid();
}

static enum command_status take_over_run(struct command *cmd)
{
    struct control *c = cmd->control;
    struct err err = { 0 };
    pid_t pid = 0;

    if (!peer_may(c->sender_fd, &pid))
        return command_nok(cmd, "Only root and the user of the engine may take over");
    if (c->engine == NULL || c->successor != NULL || c->reload == RELOAD_RUNNING)
        return command_nok(cmd, c->successor != NULL ? "Another process is taking over"
                                                : "Not while rules are loaded, or at the end");
    if (offer(c, &err) < 0)
        return command_nok(cmd, "%s", err.text);
    c->successor = c->sender;
    c->successor_pid = pid;
    c->handover = PHASE_OFFERED;
    return command_ok(cmd, "the sockets");
}

const struct command_ops command_take_over = {
    .name = "take-over", .doc = "for ids --take-over: gives it the sockets of the capture",
    .mode = COMMAND_LIVE, .run = take_over_run,
};

/* Flows from now on go to the other process. False: no memory, and nothing has changed. */
static bool leave(struct control *c)
{
    struct run_context *ctx = c->conf.context;
    struct run_exports *exports = calloc(1, sizeof(*exports));

    if (exports == NULL)
        return false;
    pthread_mutex_init(&exports->lock, NULL);
    __atomic_store_n(&ctx->exports, exports, __ATOMIC_RELEASE);
    __atomic_store_n(&ctx->handover->state, HANDOVER_LEAVING, __ATOMIC_RELEASE);
    engine_drain(c->engine);
    return true;
}

/* The answer follows when the main thread has seen the last thread end. */
static enum command_status commit_run(struct command *cmd)
{
    struct control *c = cmd->control;

    if (c->successor != cmd->control->sender || c->handover != PHASE_OFFERED || c->engine == NULL)
        return command_nok(cmd, "There is no take-over to commit");
    if (!leave(c))
        return command_nok(cmd, "no memory to export flows");
    log_notice("unix-manager", "another process takes over: stopping");
    c->handover = PHASE_LEAVING;
    return COMMAND_LATER;
}

const struct command_ops command_take_over_commit = {
    .name = "take-over-commit", .doc = "for ids --take-over: ends the capture here",
    .mode = COMMAND_LIVE, .run = commit_run,
};

static enum command_status done_run(struct command *cmd)
{
    struct control *c = cmd->control;

    if (c->successor != c->sender || c->handover != PHASE_GIVEN)
        return command_nok(cmd, "There is no take-over to end");
    c->handover = PHASE_DONE;
    c->socket_is_given = request_is_true(cmd->request, "socket");
    c->web_is_given = request_is_true(cmd->request, "web");
    pthread_cond_broadcast(&c->handover_changed);
    return command_ok(cmd, "done");
}

const struct command_ops command_take_over_done = {
    .name = "take-over-done", .doc = "for ids --take-over: ends this process",
    .mode = COMMAND_LIVE, .args = { { "socket", ARG_BOOL, true }, { "web", ARG_BOOL, true } },
    .run = done_run,
};

/* ---- the connection, on the control thread ---- */

static void drop_answer(struct control *c)
{
    if (c->answer_blob >= 0)
        close(c->answer_blob);
    c->answer_blob = -1;
    c->answer_fds = 0;
}

/* With the lock. The other process has ended, or has been dropped. */
void handover_client_closed(struct control *c, const struct client *client)
{
    if (c->successor != client)
        return;
    c->successor = NULL;
    if (c->handover == PHASE_OFFERED) {
        c->handover = PHASE_NONE;
        __atomic_store_n(&c->conf.context->handover->state, HANDOVER_NONE, __ATOMIC_RELEASE);
        handover_close(c->conf.context->handover);
        drop_answer(c);
    } else if (c->handover == PHASE_LEAVING || c->handover == PHASE_GIVEN) {
        c->handover = PHASE_FAILED;
        drop_answer(c);
        pthread_cond_broadcast(&c->handover_changed);
    }
}

/* True if the other process accepts new clients. */
bool handover_listens_elsewhere(struct control *c)
{
    bool elsewhere;

    pthread_mutex_lock(&c->lock);
    elsewhere = c->handover >= PHASE_LEAVING && c->handover <= PHASE_DONE;
    pthread_mutex_unlock(&c->lock);
    return elsewhere;
}

/* True if the last answer is ready. */
bool handover_can_answer(struct control *c)
{
    bool can;

    pthread_mutex_lock(&c->lock);
    can = c->handover == PHASE_GIVEN && c->answer_fds > 0;
    pthread_mutex_unlock(&c->lock);
    return can;
}

/* Sends the first bytes of an answer with descriptors. */
ssize_t handover_send(struct control *c, int fd, const void *data, size_t len)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(HANDOVER_FDS_MAX * sizeof(int))];
    } control = { .space = { 0 } };
    struct iovec part = { (void *)(uintptr_t)data, len };
    struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space };
    struct cmsghdr *head;
    size_t size = c->answer_fds * sizeof(int);
    ssize_t n;

    m.msg_controllen = CMSG_SPACE(size);
    head = CMSG_FIRSTHDR(&m);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(size);
    memcpy(CMSG_DATA(head), c->answer_fd, size);
    n = sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0)
        drop_answer(c);
    return n;
}

/* ---- the main thread ---- */

bool control_hands_over(struct control *c)
{
    bool hands_over;

    if (c == NULL)
        return false;
    pthread_mutex_lock(&c->lock);
    hands_over = c->handover >= PHASE_LEAVING;
    pthread_mutex_unlock(&c->lock);
    return hands_over;
}

void control_own_sockets(struct control *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    c->socket_is_given = c->web_is_given = false;
    pthread_mutex_unlock(&c->lock);
}

/* With the lock. */
static int prepare_last(struct control *c, const struct run_exports *exports, struct err *err)
{
    struct buf content = { 0 };

    add_head(c, true, &content);
    buf_add(&content, exports->records.data, exports->records.len);
    if (content.failed) {
        buf_fini(&content);
        return err_set(err, "hand-over: no memory for %u flows", exports->count);
    }
    c->answer_blob = handover_blob(&content, err);
    buf_fini(&content);
    if (c->answer_blob < 0)
        return -1;
    c->answer_fd[0] = c->answer_blob;
    c->answer_fds = 1;
    return 0;
}

static struct timespec after_s(time_t seconds)
{
    struct timespec at;

    clock_gettime(CLOCK_REALTIME, &at);
    at.tv_sec += seconds;
    return at;
}

/* With the lock. What hangs could wake up later and read the same sockets. */
static void end_successor(struct control *c)
{
    struct timespec end = after_s(DONE_S);

    if (c->successor == NULL || c->successor_pid <= 1)
        return;
    log_error("unix-manager", "process %ld takes over, but does not answer: it is ended",
              (long)c->successor_pid);
    (void)kill(c->successor_pid, SIGKILL);
    while (c->successor != NULL &&
           pthread_cond_timedwait(&c->handover_changed, &c->lock, &end) == 0)
        ;
}

/* With the lock. */
static void go_on(struct control *c)
{
    end_successor(c);
    c->handover = PHASE_NONE;
    __atomic_store_n(&c->conf.context->handover->state, HANDOVER_NONE, __ATOMIC_RELEASE);
    eventfd_write(c->wake_fd, 1);
}

long control_successor_pid(const struct control *c)
{
    return (long)c->successor_pid;
}

bool control_finish_handover(struct control *c, const struct run_exports *exports)
{
    struct timespec end = after_s(DONE_S);
    struct err err = { 0 };
    bool done;

    pthread_mutex_lock(&c->lock);
    if (c->handover == PHASE_LEAVING && prepare_last(c, exports, &err) == 0)
        c->handover = PHASE_GIVEN;
    else if (c->handover == PHASE_LEAVING)
        log_err(LOG_LEVEL_ERROR, "unix-manager", &err);
    eventfd_write(c->wake_fd, 1);
    while (c->handover == PHASE_GIVEN &&
           pthread_cond_timedwait(&c->handover_changed, &c->lock, &end) == 0)
        ;
    done = c->handover == PHASE_DONE;
    if (!done)
        go_on(c);
    pthread_mutex_unlock(&c->lock);
    return done;
}
