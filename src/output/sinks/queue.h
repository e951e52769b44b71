/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/queue.h - a bounded queue and a thread for a sink that may be slow.
 *
 * Writers copy records into a ring of bytes; one thread passes them to the sink. So a stalled disk
 * or broker does not stop packet threads, unless the user chooses that (`block`). */
#ifndef OUTPUT_SINKS_QUEUE_H
#define OUTPUT_SINKS_QUEUE_H

#include "output/output.h"
#include "output/sink.h"

enum queue_policy {             /* when the queue is full */
    QUEUE_DROP_NEWEST,          /* the new record is lost */
    QUEUE_DROP_OLDEST,          /* the oldest record is lost */
    QUEUE_BLOCK,                /* the writer waits: nothing is lost */
};

struct queue_conf {
    size_t size;                /* bytes */
    enum queue_policy policy;
    const int *stop;            /* atomic: set when writers must no longer wait; NULL: none */
};

/* From `queue: {size, when-full}` of an output. False: it has none, because it says `queue: no`, or
 * the run reads capture files. needed: the sink is slow by its nature and has one then, too. */
bool queue_conf_read(struct queue_conf *c, const struct output_request *request,
                     const struct conf_node *output, bool needed);

/* Creates the `self` of the operations below; takes ownership of `inner_self`. The thread starts
 * with the first record, after privileges have been dropped. */
void *queue_new(const struct queue_conf *c, const struct sink_ops *inner, void *inner_self);
extern const struct sink_ops sink_queue;

#endif
