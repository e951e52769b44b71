/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/unix_socket.c - records to a unix socket, stream or datagram.
 *
 * A peer that is away costs records, never time: the socket does not block, and a new attempt to
 * connect is made at most once a second. */
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/report/log.h"
#include "output/sink.h"

struct unix_sink {
    pthread_mutex_t lock;       /* writers share the one connection */
    int fd;                     /* -1: not connected */
    int type;
    time_t tried;
    struct sockaddr_un address;
};

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

static void *unix_open(const char *path, int type, struct err *err)
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
    u->address.sun_family = AF_UNIX;
    memcpy(u->address.sun_path, path, strlen(path) + 1);
    unix_connect(u);
    if (u->fd < 0)
        log_warning("output", "nobody listens on %s yet: %s", path, strerror(errno));
    return u;
}

static void *unix_open_stream(const struct output_request *request, const struct conf_node *node,
                              const char *path, struct err *err)
{
    (void)request;
    (void)node;
    return unix_open(path, SOCK_STREAM, err);
}

static void *unix_open_dgram(const struct output_request *request, const struct conf_node *node,
                             const char *path, struct err *err)
{
    (void)request;
    (void)node;
    return unix_open(path, SOCK_DGRAM, err);
}

static bool unix_send(struct unix_sink *u, const uint8_t *data, size_t len)
{
    while (len > 0) {
        ssize_t n = send(u->fd, data, len, MSG_NOSIGNAL);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            /* Half a line must not be followed by another: start over. */
            close(u->fd);
            u->fd = -1;
            return false;
        }
        data += n;
        len -= (size_t)n;
    }
    return true;
}

/* A datagram holds one line. */
static bool unix_send_lines(struct unix_sink *u, const uint8_t *data, size_t len)
{
    struct bytes in = bytes_of(data, len);
    struct slice line;
    bool sent = true;

    while (sent && take_until(&in, '\n', &line))
        sent = unix_send(u, line.data, line.len + 1);
    return sent;
}

static bool unix_write(void *self, const uint8_t *data, size_t len)
{
    struct unix_sink *u = self;
    bool sent = false;

    pthread_mutex_lock(&u->lock);
    if (u->fd < 0)
        unix_connect(u);
    if (u->fd >= 0)
        sent = u->type == SOCK_DGRAM ? unix_send_lines(u, data, len) : unix_send(u, data, len);
    pthread_mutex_unlock(&u->lock);
    return sent;
}

static void unix_close(void *self)
{
    struct unix_sink *u = self;

    if (u->fd >= 0)
        close(u->fd);
    pthread_mutex_destroy(&u->lock);
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
