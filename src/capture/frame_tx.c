/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/frame_tx.c - frames by sendmmsg(). */
#include "capture/frame_tx.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "packet/vector.h"

struct frame_port {
    char interface[64];
    struct counters *counters;
    counter_id errors;
    int fd;
    unsigned count;
    struct mmsghdr message[VECTOR_FILL];
    struct iovec part[VECTOR_FILL];
};

/* A socket that receives nothing. */
static int connect_out(const char *interface)
{
    struct sockaddr_ll at = { .sll_family = AF_PACKET,
                              .sll_ifindex = (int)if_nametoindex(interface) };
    int fd = at.sll_ifindex > 0 ? socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0) : -1;

    if (fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

struct frame_port *frame_port_new(const char *interface, struct counters *counters,
                                  counter_id errors)
{
    struct frame_port *port = xcalloc(1, sizeof(*port));

    snprintf(port->interface, sizeof(port->interface), "%s", interface);
    port->counters = counters;
    port->errors = errors;
    for (unsigned i = 0; i < VECTOR_FILL; i++)
        port->message[i].msg_hdr = (struct msghdr){ .msg_iov = &port->part[i], .msg_iovlen = 1 };
    port->fd = connect_out(interface);
    return port;
}

void frame_port_free(struct frame_port *port)
{
    if (port == NULL)
        return;
    if (port->fd >= 0)
        close(port->fd);
    free(port);
}

/* An interface that was taken away and has come back is another one for the kernel. */
static COLD void send_failed(struct frame_port *port)
{
    counter_inc(port->counters, port->errors);
    if (errno != ENXIO && errno != ENODEV && errno != EBADF)
        return;
    if (port->fd >= 0)
        close(port->fd);
    port->fd = connect_out(port->interface);
}

void frame_port_flush(struct frame_port *port)
{
    unsigned at = 0;

    while (at < port->count) {
        int n = sendmmsg(port->fd, port->message + at, port->count - at, 0);

        if (n > 0) {
            at += (unsigned)n;
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        send_failed(port);
        at++;
    }
    port->count = 0;
}

void frame_port_send(struct frame_port *port, uint8_t *data, uint32_t len)
{
    if (port->count == VECTOR_FILL)
        frame_port_flush(port);
    port->part[port->count++] = (struct iovec){ data, len };
}
