/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/private.h - state that the socket and its commands share. */
#ifndef CONTROL_PRIVATE_H
#define CONTROL_PRIVATE_H

#include "control/control.h"

#include <pthread.h>
#include <sys/types.h>

#include "base/array.h"
#include "base/system/clock.h"
#include "control/command.h"
#include "control/handover.h"

struct client;

/* State of a reload, between the main thread, which loads rules, and clients that wait for the
 * result. */
enum reload_state { RELOAD_IDLE, RELOAD_ASKED, RELOAD_RUNNING };

/* OFFERED: another process has the sockets. LEAVING: the threads stop. GIVEN: it has all that it
 * needs. */
enum handover_phase {
    PHASE_NONE, PHASE_OFFERED, PHASE_LEAVING, PHASE_GIVEN, PHASE_DONE, PHASE_FAILED
};
/* handover.c, on the control thread */
void handover_client_closed(struct control *c, const struct client *client);
ssize_t handover_send(struct control *c, int fd, const void *data, size_t len);
bool handover_listens_elsewhere(struct control *c);
bool handover_can_answer(struct control *c);

struct flow_result;

struct control {
    struct control_conf conf;
    struct jobs *jobs;                  /* NULL unless conf.takes_jobs */
    struct flow_result *flow_result;    /* commands/flows.c: must outlive a round */
    uint64_t started_ns;

    pthread_mutex_t serving;            /* the control thread holds it unless it waits in poll() */
    pthread_mutex_t lock;               /* held while a command runs; protects the members below */
    struct engine *engine;              /* NULL: no run */
    const struct plan *plan;
    int *stop;
    enum reload_state reload;
    bool reload_again;                  /* asked for while the rules were being loaded */
    uint64_t reload_awaited;            /* `reloads` before the end that answers the request */
    char reload_failed[256];            /* the reason; empty: the last reload succeeded */
    uint64_t reloads;                   /* number of finished reloads */

    enum handover_phase handover;
    struct client *successor;           /* the process that takes over; NULL: none */
    pid_t successor_pid;
    struct client *sender;              /* of the command that runs; the control thread's */
    int sender_fd;
    pthread_cond_t handover_changed;
    int answer_blob, answer_fd[HANDOVER_FDS_MAX];   /* go with the next answer to the successor */
    unsigned answer_fds;
    bool socket_is_given, web_is_given; /* another process listens there, too */
    int web_fd;                         /* of the HTTP listener; -1: none */
    const char *web_address;            /* metrics.listen; borrowed */

    char path[108];                     /* of the socket */
    int fd, wake_fd;
    bool ending;                        /* atomic */
    bool has_thread;
    pthread_t thread;
    ARRAY_OF(struct client *) clients;  /* only the control thread uses them */
};

static inline uint64_t control_uptime_s(const struct control *c)
{
    return (clock_ns() - c->started_ns) / 1000000000u;
}

#endif
