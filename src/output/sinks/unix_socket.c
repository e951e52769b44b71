/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/unix_socket.c - records to a unix socket, stream or datagram.
 *
 * Live, a peer that is slow or away costs records, never time. Offline the sink waits for a slow
 * peer, and no record is lost. It tries to connect at most once a second. */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory/buf.h"
#include "base/report/log.h"
#include "output/output.h"
#include "output/sink.h"

enum { WAIT_STEP_MS = 100 };    /* between checks whether the user wants an end */

struct unix_sink {
    pthread_mutex_t lock;       /* writers share the one connection */
    int fd;                     /* -1: not connected */
    int type;
    time_t tried;
    const int *stop;            /* offline: a slow peer is waited for until this; NULL: never */
    struct buf rest;            /* stream: of a record that was sent in part */
    struct sockaddr_un address;
};

/* connect() to a unix socket never blocks: it succeeds or fails at once. `tried` has seconds, which
 * limits the attempts. */
static void unix_connect(struct unix_sink *u)
{
    time_t now = time(NULL);

    if (now == u->tried)
        return;
    u->tried = now;
    u->fd = socket(AF_UNIX, u->type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (u->fd < 0)
        return;
    if (connect(u->fd, (struct sockaddr *)&u->address, sizeof(u->address)) < 0) {
        close(u->fd);
        u->fd = -1;
    }
}

/* A peer that does not listen yet is a warning only: it may start later than the engine. */
static void *unix_open(const struct output_request *request, const char *path, int type,
                       struct err *err)
{
    struct unix_sink *u;

    if (strlen(path) >= sizeof(u->address.sun_path)) {
        err_set(err, "socket path %s is too long", path);
        return NULL;
    }
    u = xcalloc(1, sizeof(*u));
    pthread_mutex_init(&u->lock, NULL);
    u->fd = -1;
    u->type = type;
    u->stop = request->offline ? request->stop : NULL;
    u->address.sun_family = AF_UNIX;
    memcpy(u->address.sun_path, path, strlen(path) + 1);
    unix_connect(u);
    if (u->fd < 0)
        log_warning("output", "no program listens on %s yet: %s", path, strerror(errno));
    return u;
}

static void *unix_open_stream(const struct output_request *request, const struct conf_node *node,
                              const char *path, struct err *err)
{
    (void)node;
    return unix_open(request, path, SOCK_STREAM, err);
}

static void *unix_open_dgram(const struct output_request *request, const struct conf_node *node,
                             const char *path, struct err *err)
{
    (void)node;
    return unix_open(request, path, SOCK_DGRAM, err);
}

/* After half a record no other may follow on the same connection: the next goes to a new
 * one. */
static COLD void unix_hang_up(struct unix_sink *u)
{
    close(u->fd);
    u->fd = -1;
    buf_clear(&u->rest);
}

/* Waits, offline, until the peer may take more. False: live, or the user stops the run. */
static COLD bool unix_wait(const struct unix_sink *u)
{
    struct pollfd ready = { .fd = u->fd, .events = POLLOUT };

    while (u->stop != NULL && !__atomic_load_n(u->stop, __ATOMIC_RELAXED))
        if (poll(&ready, 1, WAIT_STEP_MS) > 0)
            return true;
    return false;
}

/* Returns how much the peer took: a datagram wholly or not at all. A datagram that is too
 * long for the socket (EMSGSIZE) is lost, and the connection stays. */
static size_t unix_send(struct unix_sink *u, const uint8_t *data, size_t len)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = send(u->fd, data + done, len - done, MSG_NOSIGNAL);

        if (n > 0) {
            done += (size_t)n;
        } else if (n < 0 && (errno == EAGAIN || errno == ENOBUFS)) {
            if (!unix_wait(u))
                break;
        } else if (n == 0 || errno != EINTR) {
            if (errno != EMSGSIZE)
                unix_hang_up(u);
            break;
        }
    }
    return done;
}

/* Sends the rest of an earlier record first. False: no space for another record yet. */
static bool unix_send_rest(struct unix_sink *u)
{
    size_t done;

    if (LIKELY(u->rest.len == 0))
        return true;
    done = unix_send(u, u->rest.data, u->rest.len);
    if (u->fd < 0)
        return false;
    memmove(u->rest.data, u->rest.data + done, u->rest.len - done);
    u->rest.len -= done;
    return u->rest.len == 0;
}

/* Returns the number of records that the peer did not get. If it takes a part of a record the rest
 * is kept and counts as sent; entire records that do not fit are lost. */
static uint64_t unix_send_stream(struct unix_sink *u, const uint8_t *data, size_t len)
{
    const uint8_t *end;
    size_t done;

    if (!unix_send_rest(u))
        return sink_records(data, len) + (u->fd < 0);
    done = unix_send(u, data, len);
    if (u->fd < 0 || done == len || done == 0 || data[done - 1] == '\n')
        return sink_records(data + done, len - done);
    end = memchr(data + done, '\n', len - done);
    end = end != NULL ? end + 1 : data + len;
    buf_add(&u->rest, data + done, (size_t)(end - data) - done);
    return sink_records(end, (size_t)(data + len - end));
}

/* A datagram is one line with its line feed, so that a reader needs no parsing to split
 * records. */
static uint64_t unix_send_lines(struct unix_sink *u, const uint8_t *data, size_t len)
{
    struct bytes in = bytes_of(data, len);
    struct slice line;
    uint64_t lost = 0;

    while (take_until(&in, '\n', &line))
        lost += u->fd < 0 || unix_send(u, line.data, line.len + 1) == 0;
    return lost;
}

/* Any writing thread; the lock makes them take turns. */
static uint64_t unix_write(void *self, const uint8_t *data, size_t len)
{
    struct unix_sink *u = self;
    uint64_t lost;

    pthread_mutex_lock(&u->lock);
    if (u->fd < 0)
        unix_connect(u);
    if (u->fd < 0)
        lost = sink_records(data, len);
    else
        lost = u->type == SOCK_DGRAM ? unix_send_lines(u, data, len)
                                     : unix_send_stream(u, data, len);
    pthread_mutex_unlock(&u->lock);
    return lost;
}

static void unix_close(void *self)
{
    struct unix_sink *u = self;

    if (u->fd >= 0)
        close(u->fd);
    pthread_mutex_destroy(&u->lock);
    buf_fini(&u->rest);
    free(u);
}

const struct sink_ops sink_unix_stream = {
    .name = "unix_stream",
    .open = unix_open_stream,
    .write = unix_write,
    .close = unix_close,
};

const struct sink_ops sink_unix_dgram = {
    .name = "unix_dgram",
    .open = unix_open_dgram,
    .write = unix_write,
    .close = unix_close,
};
