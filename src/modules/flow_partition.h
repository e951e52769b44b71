/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/flow_partition.h - the flows of one file, divided among the threads that inspect it.
 *
 * The file is read once (sequencer/batches.h). The scan finds for each frame the thread that owns
 * its flow, and adds the frame to that thread's list. A bucket of flows gets its owner with its
 * first frame: the thread with the least work then. The owner never changes, so all packets of a
 * flow are on one thread.
 *
 * A plain frame (packet/decode/peek.h) is only peeked at; its own thread decodes it. The scan
 * decodes all others (tunnels, fragments) in the order of the file, with the one decoder that sees
 * all of them. Packets of one frame may belong to several threads. */
#ifndef MODULES_FLOW_PARTITION_H
#define MODULES_FLOW_PARTITION_H

#include "engine/module.h"
#include "modules/context.h"

struct flow_partition;
struct partition_reader;

/* By each receive module, as it opens; *queue is the thread's own queue of the capture. NULL: this
 * run shares no file, or *err is set. */
struct partition_reader *partition_join(const struct module_env *env, void *queue,
                                        struct err *err);
/* As it closes. The last one waits until the packets of the scan have returned to the pool. NULL is
 * fine. */
void partition_leave(struct partition_reader *r);

/* The next packets of this thread. */
enum capture_status partition_receive(struct partition_reader *r, struct packet_vector *v);
void partition_interrupt(struct partition_reader *r);       /* by any thread */

/* Whether the scan decoded this packet. */
bool partition_decoded(const struct flow_partition *part, const struct packet *p);

#endif
