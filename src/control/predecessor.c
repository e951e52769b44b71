/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/predecessor.c - the engine that comes: asks the one that runs for its capture. All of it
 * runs on the main thread, which waits for each answer. */
#include "control/handover.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/array.h"
#include "control/request.h"

/* To write the ends of many flows takes seconds. The other engine is alive as long as the
 * connection is, but a user who waits wants an answer. */
#define ANSWER_MS 60000

struct predecessor {
    int fd;
    int listener, web;                  /* its listening sockets; -1 once they are taken */
    bool has_socket, has_web;           /* this process uses them */
    struct buf in;
    int fds[HANDOVER_FDS_MAX];
    unsigned fd_count;
    struct handover_head head;
};

static void close_fds(struct predecessor *p, unsigned from)
{
    for (unsigned i = from; i < p->fd_count; i++)
        close(p->fds[i]);
    p->fd_count = 0;
}

void predecessor_free(struct predecessor *p)
{
    if (p == NULL)
        return;
    close_fds(p, 0);
    if (p->fd >= 0)
        close(p->fd);
    if (p->listener >= 0)
        close(p->listener);
    if (p->web >= 0)
        close(p->web);
    buf_fini(&p->in);
    free(p);
}

/* ---- messages ---- */

static void keep_fds(struct predecessor *p, struct msghdr *m)
{
    for (struct cmsghdr *c = CMSG_FIRSTHDR(m); c != NULL; c = CMSG_NXTHDR(m, c)) {
        size_t count = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t i = 0; i < count; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof(int), sizeof(fd));
            if (p->fd_count < ARRAY_LEN(p->fds))
                p->fds[p->fd_count++] = fd;
            else
                close(fd);
        }
    }
}

static int receive(struct predecessor *p, struct err *err)
{
    union {
        struct cmsghdr align;
        char space[CMSG_SPACE(HANDOVER_FDS_MAX * sizeof(int))];
    } control;
    char data[4096];
    struct iovec part = { data, sizeof(data) };
    struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1, .msg_control = control.space,
                        .msg_controllen = sizeof(control.space) };
    struct pollfd at = { .fd = p->fd, .events = POLLIN };
    ssize_t n;

    if (poll(&at, 1, ANSWER_MS) <= 0)
        return err_set(err, "take-over: the engine that runs does not answer");
    n = recvmsg(p->fd, &m, MSG_CMSG_CLOEXEC);
    if (n >= 0)
        keep_fds(p, &m);                /* a message without text may bring some */
    if (n <= 0)
        return err_set(err, "take-over: the engine that runs has closed the connection");
    buf_add(&p->in, data, (size_t)n);
    return 0;
}

/* The text of `message`, when it is a refusal. */
static int read_answer(struct predecessor *p, struct err *err)
{
    struct request *answer = NULL;
    const char *result, *message;
    int status = 0;

    while (answer == NULL) {
        if (receive(p, err) < 0)
            return -1;
        if (request_take(&p->in, &answer) < 0)
            return err_set(err, "take-over: the answer at the control socket is no JSON");
    }
    result = request_member(answer, "return");
    message = request_member(answer, "message");
    if (result == NULL || strcmp(result, "OK") != 0)
        status = err_set(err, "take-over: the engine that runs says: %s",
                         message != NULL ? message : "no");
    request_free(answer);
    return status;
}

static int send_command(struct predecessor *p, const char *text, struct err *err)
{
    size_t len = strlen(text);

    if (send(p->fd, text, len, MSG_NOSIGNAL) != (ssize_t)len)
        return err_set(err, "take-over: the engine that runs has gone: %s", strerror(errno));
    return read_answer(p, err);
}

/* ---- blobs ---- */

/* The text comes from another process. */
static void end_strings(struct handover_head *head)
{
    head->method[sizeof(head->method) - 1] = '\0';
    head->path[sizeof(head->path) - 1] = '\0';
    head->web[sizeof(head->web) - 1] = '\0';
    head->notify[sizeof(head->notify) - 1] = '\0';
}

/* What comes after the sockets stays in *rest. */
static int read_blob(struct predecessor *p, struct capture_handover *from, struct buf *rest,
                     struct err *err)
{
    struct handover_head head;
    size_t size;

    if (p->fd_count == 0 || handover_blob_read(p->fds[0], rest, err) < 0)
        return p->fd_count == 0 ? err_set(err, "take-over: the answer brings nothing") : -1;
    if (rest->len < sizeof(head))
        return err_set(err, "take-over: what the engine that runs gives is too short");
    memcpy(&head, rest->data, sizeof(head));
    if (head.version != HANDOVER_VERSION || head.socket_size != sizeof(struct capture_socket) ||
        head.flow_size != sizeof(struct flow_export) || head.queues > HANDOVER_QUEUES_MAX)
        return err_set(err, "take-over: the engine that runs is of another version (%u, here %d): "
                       "that needs a restart", head.version, HANDOVER_VERSION);
    size = (size_t)head.queues * HANDOVER_SIDES * sizeof(from->at[0]);
    if (rest->len < sizeof(head) + size)
        return err_set(err, "take-over: what the engine that runs gives is too short");
    p->head = head;
    from->queues = head.queues;
    end_strings(&p->head);
    memcpy(from->at, rest->data + sizeof(head), size);
    for (unsigned i = 0; i < from->queues * HANDOVER_SIDES; i++)
        from->at[i].device[sizeof(from->at[i].device) - 1] = '\0';
    buf_drop_front(rest, sizeof(head) + size);
    return 0;
}

/* The numbers in the blob are those of the other process. In order: the blob, the control socket,
 * the HTTP listener if there is one, the sockets of the capture. */
static int assign_fds(struct predecessor *p, struct capture_handover *from, struct err *err)
{
    unsigned next = p->head.web[0] != '\0' ? 3 : 2, expected = next + handover_count_fds(from);
    unsigned at = 0;

    if (expected != p->fd_count) {
        from->queues = 0;
        return err_set(err, "take-over: %u descriptors have come, not %u", p->fd_count, expected);
    }
    for (int32_t *fd; (fd = handover_next_fd(from, &at)) != NULL;)
        *fd = p->fds[next++];
    close(p->fds[0]);
    p->listener = p->fds[1];
    if (p->head.web[0] != '\0')
        p->web = p->fds[2];
    p->fd_count = 0;
    return 0;
}

/* ---- the exchange ---- */

static int connect_to(const char *path, struct err *err)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd;

    if (strlen(path) >= sizeof(to.sun_path))
        return err_set(err, "--take-over: the path is too long: %s", path);
    memcpy(to.sun_path, path, strlen(path));
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd >= 0 && connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0)
        return fd;
    (void)err_set(err, "--take-over: no engine answers at %s: %s", path, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

struct predecessor *predecessor_new(const char *path, struct capture_handover *from,
                                    struct err *err)
{
    int fd = connect_to(path, err);

    return fd >= 0 ? predecessor_at(fd, from, err) : NULL;
}

struct predecessor *predecessor_at(int fd, struct capture_handover *from, struct err *err)
{
    struct predecessor *p = xcalloc(1, sizeof(*p));
    struct buf rest = { 0 };
    int status;

    p->fd = fd;
    p->listener = p->web = -1;
    status = send_command(p, "{\"version\":\"0.2\"}", err);
    if (status == 0)
        status = send_command(p, "{\"command\":\"take-over\"}", err);
    if (status == 0)
        status = read_blob(p, from, &rest, err);
    if (status == 0)
        status = assign_fds(p, from, err);
    buf_fini(&rest);
    if (status == 0)
        return p;
    predecessor_free(p);
    return NULL;
}

const struct handover_head *predecessor_head(const struct predecessor *p)
{
    return &p->head;
}

static int take_fd(int *from, bool *is_taken)
{
    int fd = *from;

    *from = -1;
    *is_taken = fd >= 0;
    return fd;
}

int predecessor_take_socket(struct predecessor *p, const char *path)
{
    return strcmp(p->head.path, path) == 0 ? take_fd(&p->listener, &p->has_socket) : -1;
}

int predecessor_take_web(struct predecessor *p, const char *address)
{
    return strcmp(p->head.web, address) == 0 ? take_fd(&p->web, &p->has_web) : -1;
}

/* Descriptors of `from` stay: only the places are new. */
int predecessor_commit(struct predecessor *p, struct capture_handover *from, struct buf *flows,
                       struct err *err)
{
    struct capture_handover *now = xcalloc(1, sizeof(*now));
    int status = send_command(p, "{\"command\":\"take-over-commit\"}", err);

    if (status == 0)
        status = read_blob(p, now, flows, err);
    if (status == 0 && (now->queues != from->queues || p->head.is_last == 0))
        status = err_set(err, "take-over: the engine that runs gives no places");
    for (unsigned i = 0; status == 0 && i < from->queues * HANDOVER_SIDES; i++)
        memcpy(from->at[i].place, now->at[i].place, sizeof(now->at[i].place));
    free(now);
    return status;
}

int predecessor_done(struct predecessor *p, struct err *err)
{
    char text[128];

    snprintf(text, sizeof(text), "{\"command\":\"take-over-done\",\"arguments\":"
             "{\"socket\":%s,\"web\":%s}}", p->has_socket ? "true" : "false",
             p->has_web ? "true" : "false");
    return send_command(p, text, err);
}
