/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/flow_partition.h - the flows of one file, divided among the threads that inspect it.
 *
 * The file is read once (sequencer/batches.h). The scan finds the thread that owns each frame's
 * flow, and adds the frame to that thread's list. With its first frame, a bucket of flows gets its
 * owner: the thread with the least work at that time, or one that has a host of it alone, and not
 * much more work. The owner never changes, so all packets of a flow are on one thread.
 *
 * The scan only peeks at a plain frame (packet/decode/peek.h); the owner decodes it. The scan
 * decodes all others (tunnels, fragments) in the order of the file, with the one decoder that
 * sees all of them. Packets of one frame may belong to several threads. */
#ifndef MODULES_FLOW_PARTITION_H
#define MODULES_FLOW_PARTITION_H

#include "engine/module.h"
#include "modules/context.h"

struct flow_partition;
struct partition_reader;

/* Each receive module calls this when it opens; *queue is the thread's own queue of the capture.
 * NULL: this run shares no file, or *err is set. */
struct partition_reader *partition_join(const struct module_env *env, void *queue,
                                        struct err *err);
/* Each receive module calls this when it closes. The last one waits until the packets of the
 * scan have returned to the pool. NULL is fine. */
void partition_leave(struct partition_reader *r);

/* Each detect module calls this when it opens; part is NULL if the run shares no file. */
void partition_tell_hosts(const struct flow_partition *part, struct seq_handle *handle,
                          unsigned thread);

/* Adds the next packets of this thread to the vector. */
enum capture_status partition_receive(struct partition_reader *r, struct packet_vector *v);
void partition_interrupt(struct partition_reader *r);       /* called by any thread */

/* True if the scan decoded this packet. */
bool partition_decoded(const struct flow_partition *part, const struct packet *p);

#endif
