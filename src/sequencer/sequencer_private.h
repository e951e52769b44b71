/* SPDX-License-Identifier: GPL-2.0-or-later */
/* sequencer/sequencer_private.h - the structs behind sequencer.h, for this directory. */
#ifndef SEQUENCER_SEQUENCER_PRIVATE_H
#define SEQUENCER_SEQUENCER_PRIVATE_H

#include "base/array.h"
#include "base/containers/ring.h"
#include "sequencer/hosts.h"
#include "sequencer/setup.h"

#include <pthread.h>

/* A thread's entry: what the others see of it, and its wait for them. */
struct seq_worker {
    struct seq_handle seen;                      /* first: callers hold a pointer to it */
    struct sequencer *seq;
    struct seq_thread thread;
    unsigned number;                            /* number of its handle */
    struct watermark taken;                    /* the last position it waited for */

    CACHE_ALIGNED struct eventcount eventcount;
    uint32_t missing;                           /* workers that it waits for; atomic */
    bool waits;                                 /* under the lock, as all below */
    struct watermark required;                   /* the position that they must have passed */
    bool has_waited;                            /* once */
    unsigned spins, waited;                     /* most spins before it sleeps; waits so far */
    uint64_t *waits_for;                        /* a bit for each of them */
    size_t words;                               /* of it */
    const struct seq_hosts *hosts;              /* NULL: no scan notes hosts */
    unsigned hosts_thread;                      /* its number there */
};

struct sequencer {
    ARRAY_OF(struct seq_worker *) handles;        /* complete before packets are processed */
    struct seq_hosts *hosts;                    /* NULL: none yet */
    bool kicks;                                 /* some thread makes progress only when kicked */
    pthread_mutex_t lock;                       /* protects the waits */
};

static inline struct seq_worker *worker_of(struct seq_handle *handle)
{
    return CONTAINER_OF(handle, struct seq_worker, seen);
}

#endif
