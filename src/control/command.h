/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/command.h - a command of the control socket. A new command is a `const struct command_ops
 * command_NAME` in a file of control/commands/, and a line in control/commands/list.h.
 *
 * Commands run one at a time on the control thread. They may take locks that packet threads hold
 * only for a moment. They query packet threads by rounds (modules/context.h). */
#ifndef CONTROL_COMMAND_H
#define CONTROL_COMMAND_H

#include "base/report/json.h"
#include "control/request.h"

struct control;

enum command_mode { COMMAND_ALWAYS, COMMAND_LIVE, COMMAND_JOBS };

/* COMMAND_LATER: the reply is sent when the rules have been loaded. */
enum command_status { COMMAND_OK, COMMAND_NOK, COMMAND_LATER };

enum command_arg_type { ARG_STRING = 1, ARG_INT, ARG_BOOL };
struct command_arg {
    const char *name;
    enum command_arg_type type;     /* has been checked before the command runs */
    bool optional;
};
#define COMMAND_ARGS_MAX 10

struct command {
    struct control *control;
    const struct request *request;
    struct json *j;                 /* the open object of the reply: the command writes "message" */
};

struct command_ops {
    const char *name;
    const char *doc;
    enum command_mode mode;
    struct command_arg args[COMMAND_ARGS_MAX];      /* the list ends with a NULL name */
    enum command_status (*run)(struct command *c);
};

/* Return the status and set the text of "message". */
enum command_status command_ok(struct command *c, const char *fmt, ...) PRINTF(2, 3);
enum command_status command_nok(struct command *c, const char *fmt, ...) PRINTF(2, 3);

extern const struct command_ops *const command_table[];     /* NULL-ended; commands/list.c */
bool command_is_there(const struct control *control, const struct command_ops *ops);
/* Finds and runs the command of the request. */
enum command_status command_run(struct command *c);

#endif
