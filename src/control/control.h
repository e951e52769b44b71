/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/control.h - the control socket: JSON commands over a local stream socket.
 *
 * A separate thread reads commands and replies; packet threads never wait for it. The protocol is
 * Suricata's, versions 0.1 and 0.2 (doc/control-socket.md). */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include "control/jobs.h"
#include "control/rule_costs.h"
#include "control/rule_profile.h"
#include "engine/engine.h"
#include "modules/context.h"

struct control;
struct predecessor;

/* Borrowed for the life of the control. */
struct control_conf {
    const struct conf_node *root;
    struct run_context *context;    /* of the current run; between runs, of the next one */
    const char *path;               /* --unix-socket=FILE; NULL: from the configuration */
    const char *user, *group;       /* owner of the socket; either may be NULL */
    const struct ruleset_request *rules_request;    /* for loading rules */
    struct stream_conf *stream;
    const struct rule_profile_conf *rule_profile;
    struct predecessor *predecessor;                /* whose sockets are used; NULL: none */
    bool takes_jobs;                /* commands add captures */
    bool has_listener;              /* web/ is on: a control exists without a socket, too */
    bool fixed_rules;               /* -s or -S: rules are not reloaded */
    bool merge_reloads;             /* a request during a reload is no error */
    unsigned parallel_jobs;         /* captures read at once, unless their command says it */
};

/* True if the configuration enables the socket. */
bool control_is_enabled(const struct conf_node *root, bool live);
/* Creates the socket. Returns 0 with *out NULL if the configuration has none; -1 with err set. */
int control_open(const struct control_conf *conf, struct control **out, struct err *err);
/* Starts the thread. From here on the main thread may call all functions; `c` may be NULL. */
int control_start(struct control *c, struct err *err);
/* Sets the current run; engine NULL: none. A command that ends a job sets *stop. */
void control_set_run(struct control *c, struct engine *engine, const struct plan *plan, int *stop);
/* Between these two calls no command runs, so the main thread can change what commands read.
 * `c` may be NULL. */
void control_hold(struct control *c);
void control_release(struct control *c);
/* Called before and after each load of the rules. failed: the reason, NULL on success. */
void control_reload_begins(struct control *c);
void control_reload_ends(struct control *c, const char *failed);
/* Returns the path of the socket; NULL: none. */
const char *control_path(const struct control *c);
/* Returns the captures that commands have added. */
struct jobs *control_jobs(struct control *c);
/* fork(2) while no command runs and no message is being logged. The new process has no control. */
pid_t control_fork(struct control *c);
/* Sends the replies that are ready; then removes the socket. */
void control_free(struct control *c);

#endif
