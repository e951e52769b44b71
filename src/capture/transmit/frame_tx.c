/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/frame_tx.c - sends frames with sendmmsg(2) through a plain packet socket. The
 * frames are the caller's until the flush. */
#include "capture/transmit/frame_tx.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "packet/vector.h"

/* One thread. */
struct frame_tx {
    char interface[64];
    struct counters *counters;
    counter_id errors;
    struct late_close *late;
    int fd;
    unsigned count;
    struct mmsghdr message[VECTOR_FILL];
    struct iovec part[VECTOR_FILL];
};

/* A socket with protocol 0 receives nothing (packet(7)). */
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

struct frame_tx *frame_tx_new(const char *interface, struct counters *counters,
                              counter_id errors, struct late_close *late)
{
    struct frame_tx *tx = xcalloc(1, sizeof(*tx));

    snprintf(tx->interface, sizeof(tx->interface), "%s", interface);
    tx->counters = counters;
    tx->errors = errors;
    tx->late = late;
    for (unsigned i = 0; i < VECTOR_FILL; i++)
        tx->message[i].msg_hdr = (struct msghdr){ .msg_iov = &tx->part[i], .msg_iovlen = 1 };
    tx->fd = connect_out(interface);
    return tx;
}

void frame_tx_free(struct frame_tx *tx)
{
    if (tx == NULL)
        return;
    late_close(tx->late, tx->fd);
    free(tx);
}

/* An interface that was removed and has come back has another index for the kernel. */
static COLD void send_failed(struct frame_tx *tx)
{
    counter_inc(tx->counters, tx->errors);
    if (errno != ENXIO && errno != ENODEV && errno != EBADF)
        return;
    if (tx->fd >= 0)
        close(tx->fd);
    tx->fd = connect_out(tx->interface);
}

/* An error concerns the first message only, so sending goes on after it. */
void frame_tx_flush(struct frame_tx *tx)
{
    unsigned at = 0;

    while (at < tx->count) {
        int n = sendmmsg(tx->fd, tx->message + at, tx->count - at, 0);

        if (n > 0) {
            at += (unsigned)n;
            continue;
        }
        if (n < 0 && errno == EINTR)
            continue;
        send_failed(tx);
        at++;
    }
    tx->count = 0;
}

void frame_tx_send(struct frame_tx *tx, uint8_t *data, uint32_t len)
{
    if (tx->count == VECTOR_FILL)
        frame_tx_flush(tx);
    tx->part[tx->count++] = (struct iovec){ data, len };
}
