/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/handover.c - descriptors of sockets that change their process. */
#include "capture/handover.h"

#include <unistd.h>

void handover_close(struct capture_handover *h)
{
    for (unsigned i = 0; i < h->queues * HANDOVER_SIDES; i++) {
        if (h->at[i].fd >= 0)
            close(h->at[i].fd);
        h->at[i].fd = -1;
    }
    h->queues = 0;
}
