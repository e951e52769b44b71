/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/handover.c - descriptors of sockets that change their process. */
#include "capture/handover.h"

#include <unistd.h>

int32_t *handover_next_fd(struct capture_handover *h, unsigned *at)
{
    const unsigned each = 1 + HANDOVER_MORE;

    while (*at < h->queues * HANDOVER_SIDES * each) {
        struct capture_socket *s = &h->at[*at / each];
        unsigned i = (*at)++ % each;

        if (i == 0 && s->fd >= 0)
            return &s->fd;
        if (i > 0 && s->more[i - 1] > 0)
            return &s->more[i - 1];
    }
    return NULL;
}

unsigned handover_count_fds(struct capture_handover *h)
{
    unsigned at = 0, n = 0;

    while (handover_next_fd(h, &at) != NULL)
        n++;
    return n;
}

void handover_close(struct capture_handover *h)
{
    unsigned at = 0;

    for (int32_t *fd; (fd = handover_next_fd(h, &at)) != NULL;)
        close(*fd);
    for (unsigned i = 0; i < h->queues * HANDOVER_SIDES; i++)
        h->at[i] = (struct capture_socket){ .fd = -1 };
    h->queues = 0;
}
