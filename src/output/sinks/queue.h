/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/queue.h - a bounded queue and a thread in front of a sink that may be slow.
 *
 * Writers copy records into a ring of bytes; one thread takes them out and gives them to the sink.
 * So a stalled disk or broker holds no packet thread, unless the user wants that (`block`). */
#ifndef OUTPUT_SINKS_QUEUE_H
#define OUTPUT_SINKS_QUEUE_H

#include "output/output.h"
#include "output/sink.h"

enum queue_policy {             /* when the queue is full */
    QUEUE_DROP_NEWEST,          /* what comes is lost */
    QUEUE_DROP_OLDEST,          /* what has waited longest is lost */
    QUEUE_BLOCK,                /* the writer waits: nothing is lost */
};

struct queue_conf {
    size_t size;                /* bytes */
    enum queue_policy policy;
    const int *stop;            /* atomic: writers no longer wait; NULL: none */
};

/* From `queue: {size, when-full}` of an output. False: it has none, because it says `queue: no`, or
 * the run reads capture files. needed: the sink is slow by its nature and has one then, too. */
bool queue_conf_read(struct queue_conf *c, const struct output_request *request,
                     const struct conf_node *output, bool needed);

/* self of the operations below; takes `inner_self` over. The thread begins with the first record,
 * when privileges have been dropped. */
void *queue_new(const struct queue_conf *c, const struct sink_ops *inner, void *inner_self);
extern const struct sink_ops sink_queue;

#endif
