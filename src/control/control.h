/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/control.h - the control socket: JSON commands over a local stream socket.
 *
 * A thread of its own reads commands and answers them; packet threads never wait for it. The
 * protocol is Suricata's, versions 0.1 and 0.2 (doc/control-socket.md). */
#ifndef CONTROL_CONTROL_H
#define CONTROL_CONTROL_H

#include "control/jobs.h"
#include "control/rule_profile.h"
#include "engine/engine.h"
#include "modules/context.h"

struct control;

/* Borrowed as long as the control lives. */
struct control_conf {
    const struct conf_node *root;
    struct run_context *context;    /* of the run at hand; when there is none, of the next one */
    const char *path;               /* --unix-socket=FILE; NULL: as configured */
    const char *user, *group;       /* whose the socket will be; either may be NULL */
    const struct ruleset_request *rules_request;    /* how rules are read */
    struct stream_conf *stream;
    const struct rule_profile_conf *rule_profile;
    bool takes_jobs;                /* captures come by command */
    bool has_listener;              /* web/: a control is made without a socket, too */
    bool fixed_rules;               /* -s or -S: rules are not loaded again */
};

/* Does the configuration ask for a socket? */
bool control_is_enabled(const struct conf_node *root, bool live);
/* Makes the socket. 0 with *out NULL if the configuration wants none; -1 with err set. */
int control_open(const struct control_conf *conf, struct control **out, struct err *err);
/* Begins to answer. From here on all may be called by the main thread; NULL is fine. */
int control_start(struct control *c, struct err *err);
/* What runs now; engine NULL: nothing. *stop is set when a command ends a job. */
void control_set_run(struct control *c, struct engine *engine, const struct plan *plan, int *stop);
/* What commands look at changes in between: none runs. */
void control_hold(struct control *c);
void control_release(struct control *c);
/* Around each loading of the rules; failed: why, NULL when they are in force. */
void control_reload_begins(struct control *c);
void control_reload_ends(struct control *c, const char *failed);
/* Where the socket is; NULL: there is none. */
const char *control_path(const struct control *c);
/* The captures that commands have asked for. */
struct jobs *control_jobs(struct control *c);
/* Clients get the replies that are ready; then the socket is removed. */
void control_free(struct control *c);

#endif
