/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/command.c - finds a command, checks its arguments, and runs it. All of this runs
 * on the control thread, with the lock of struct control held. */
#include "control/command.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "control/private.h"

/* Arguments may hold bytes that are not UTF-8, such as names of files; json_lossy()
 * replaces them. */
static void message(struct command *c, const char *fmt, va_list args)
{
    char text[1024];

    vsnprintf(text, sizeof(text), fmt, args);
    json_lossy(c->j, "message",
               (struct slice){ .data = (const uint8_t *)text, .len = (uint32_t)strlen(text) });
}

/* Writes "message" and returns COMMAND_OK, so that a command can end with `return
 * command_ok(...)`. */
enum command_status command_ok(struct command *c, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    message(c, fmt, args);
    va_end(args);
    return COMMAND_OK;
}

enum command_status command_nok(struct command *c, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    message(c, fmt, args);
    va_end(args);
    return COMMAND_NOK;
}

/* Commands about interfaces exist in live captures only, and those about files only with
 * --unix-socket, as in Suricata. */
bool command_is_there(const struct control *control, const struct command_ops *ops)
{
    switch (ops->mode) {
    case COMMAND_LIVE: return control->conf.context->capture != NULL &&
                              control->conf.context->capture->live;
    case COMMAND_JOBS: return control->conf.takes_jobs;
    case COMMAND_ALWAYS: break;
    }
    return true;
}

/* A command that the mode does not have is unknown, as if it were not in the table. */
static const struct command_ops *command_find(const struct control *control, const char *name)
{
    for (unsigned i = 0; command_table[i] != NULL; i++)
        if (strcmp(command_table[i]->name, name) == 0)
            return command_is_there(control, command_table[i]) ? command_table[i] : NULL;
    return NULL;
}

static const char *const type_names[] = { [ARG_STRING] = "a string", [ARG_INT] = "an integer",
                                          [ARG_BOOL] = "true or false" };

/* A missing argument fits no type but bool. */
static bool arg_fits(const struct request *r, const struct command_arg *arg)
{
    int64_t n;

    switch (arg->type) {
    case ARG_STRING: return request_string(r, arg->name) != NULL;
    case ARG_INT: return request_int(r, arg->name, &n);
    case ARG_BOOL: break;
    }
    return true;                /* anything but `true` counts as false */
}

/* The texts of errors are Suricata's, because clients compare them. */
enum command_status command_run(struct command *c)
{
    const char *name = request_member(c->request, "command");
    const struct command_ops *ops = name != NULL ? command_find(c->control, name) : NULL;

    if (ops == NULL)
        return command_nok(c, "Unknown command");
    for (const struct command_arg *arg = ops->args; arg->name != NULL; arg++) {
        if (arg->optional && !request_has(c->request, arg->name))
            continue;
        if (!arg_fits(c->request, arg))
            return command_nok(c, "%s is not %s", arg->name, type_names[arg->type]);
    }
    return ops->run(c);
}
