/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/handover.h - the sockets of a capture on their way to another process.
 *
 * The other process gets the same sockets (SCM_RIGHTS), so the kernel goes on filling their rings
 * and queues while no process reads. The other process continues where this one has stopped. So no
 * packet is lost, seen twice, or passed without a verdict. */
#ifndef CAPTURE_HANDOVER_H
#define CAPTURE_HANDOVER_H

#include "base/base.h"

#define HANDOVER_SIDES 2        /* sockets of one thread at most: the ports of a bridge */
#define HANDOVER_NUMBERS 10
#define HANDOVER_MORE 2
#define HANDOVER_QUEUES_MAX 120

/* The method says what its numbers mean. Both processes may be of different versions, so the
 * layout only changes together with HANDOVER_VERSION (control/handover.h). */
struct capture_socket {
    char device[64];
    int32_t fd;                             /* -1: none */
    int32_t more[HANDOVER_MORE];            /* descriptors that go with it; 0: none */
    uint32_t reserved;
    uint64_t shape[HANDOVER_NUMBERS];       /* what stays: sizes, addresses */
    uint64_t place[HANDOVER_NUMBERS];       /* where reading goes on; known at the end */
};

/* LEAVING: the threads stop, and another process goes on with the sockets. */
enum handover_state { HANDOVER_NONE, HANDOVER_OFFERED, HANDOVER_LEAVING };

/* One per process. Threads write the places of their own sockets. */
struct capture_handover {
    unsigned queues;                        /* threads that receive */
    int state;                              /* atomic; enum handover_state; of who gives */
    int is_open;                            /* atomic; of who takes: the places are known */
    struct capture_socket at[HANDOVER_QUEUES_MAX * HANDOVER_SIDES];
};

static inline struct capture_socket *handover_socket(struct capture_handover *h, unsigned queue,
                                                     unsigned side)
{
    return &h->at[queue * HANDOVER_SIDES + side];
}

static inline enum handover_state handover_state(const struct capture_handover *h)
{
    return h == NULL ? HANDOVER_NONE
                     : (enum handover_state)__atomic_load_n(&h->state, __ATOMIC_ACQUIRE);
}

static inline bool handover_is_open(const struct capture_handover *h)
{
    return __atomic_load_n(&h->is_open, __ATOMIC_ACQUIRE) != 0;
}

/* handover.c: the descriptors of all sockets, in the same order in both processes. Each call goes
 * on from *at, which begins as 0. NULL: there are no more. */
int32_t *handover_next_fd(struct capture_handover *h, unsigned *at);
unsigned handover_count_fds(struct capture_handover *h);
/* Closes them. */
void handover_close(struct capture_handover *h);

#endif
