/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/handover.h - another process takes over: the messages between the two processes.
 *
 * They use the control socket of the engine that runs:
 *
 *     take-over           the new process has read everything. The answer brings the sockets
 *     take-over-commit    its threads are ready. The old ones stop, and the answer brings the
 *                         places in the sockets, and the flows
 *     take-over-done      its threads run. The old process ends
 *
 * Until the last of these the old process goes on by itself when the connection ends. Descriptors
 * come with the first byte of an answer. Blobs are files in memory, because they may be large. */
#ifndef CONTROL_HANDOVER_H
#define CONTROL_HANDOVER_H

#include "base/memory/buf.h"
#include "control/control.h"

/* Grows with any change of what the blobs hold: struct capture_socket, struct flow_export. */
#define HANDOVER_VERSION 5
#define HANDOVER_FDS_MAX 253    /* the kernel passes no more at once */

struct handover_head {
    uint32_t version, socket_size, flow_size, queues;
    int64_t pid;
    uint32_t watchdog_ms;               /* of the service manager; 0: none */
    uint32_t is_last;                   /* places and flows follow, not shapes */
    char method[16];                    /* of capture */
    char path[108], web[128];           /* of the control socket; metrics.listen, "": none */
    char notify[108];                   /* socket of the service manager; "": none */
};

/* Bytes of a blob: more than a million flows with all that they keep. */
#define HANDOVER_BLOB_MAX ((off_t)2 << 30)

/* A file in memory with these bytes; -1 with *err. */
int handover_blob(const struct buf *content, struct err *err);
/* Appends them; -1 with *err if {fd} is no file, or a larger one. */
int handover_blob_read(int fd, struct buf *out, struct err *err);

/* ---- the engine that runs: handover.c ---- */

/* For the main thread, when all threads of the engine have ended: true if another process waits. */
bool control_hands_over(struct control *c);
/* Gives it places and flows, and waits. True: the other process runs. False: this one must go
 * on. */
bool control_finish_handover(struct control *c, const struct run_exports *exports);
long control_successor_pid(const struct control *c);

/* ---- the engine that comes: predecessor.c ---- */

/* The other engine ends: this one removes control socket and HTTP listener at its own end. */
void control_own_sockets(struct control *c);

struct predecessor;
/* Connects and gets the sockets, which are the caller's. NULL with *err. */
struct predecessor *predecessor_new(const char *path, struct capture_handover *from,
                                    struct err *err);
/* The same at a socket that is connected; it is closed in the end. */
struct predecessor *predecessor_at(int fd, struct capture_handover *from, struct err *err);
/* The other engine then goes on, unless predecessor_done() came before. NULL is fine. */
void predecessor_free(struct predecessor *p);
const struct handover_head *predecessor_head(const struct predecessor *p);
/* The listening control socket, if the other engine has it at this path; else -1. */
int predecessor_take_socket(struct predecessor *p, const char *path);
/* The same for the HTTP listener and `metrics.listen`. */
int predecessor_take_web(struct predecessor *p, const char *address);
/* Makes the other engine stop. Fills the places of `from`; flows: its records. */
int predecessor_commit(struct predecessor *p, struct capture_handover *from, struct buf *flows,
                       struct err *err);
/* Makes the other engine end. */
int predecessor_done(struct predecessor *p, struct err *err);

#endif
