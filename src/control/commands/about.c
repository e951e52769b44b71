/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/about.c - commands about the engine itself: version, uptime, modes,
 * settings, and shutdown. Also those that list the commands. */
#include <string.h>

#include "base/report/log.h"
#include "base/version.h"
#include "control/private.h"
#include "control/signals.h"

/* Raises the signal instead of stopping by itself: there is one way to end, in the main
 * loop. */
static enum command_status shutdown_run(struct command *c)
{
    signals_raise(SIGNAL_STOP);
    return command_ok(c, "Closing ids");
}

const struct command_ops command_shutdown = {
    .name = "shutdown", .doc = "ends the engine", .run = shutdown_run,
};

/* Only the commands of the current mode. */
static enum command_status list_run(struct command *c)
{
    unsigned count = 0;

    json_object(c->j, "message");
    json_array(c->j, "commands");
    for (unsigned i = 0; command_table[i] != NULL; i++) {
        if (!command_is_there(c->control, command_table[i]))
            continue;
        json_string(c->j, NULL, command_table[i]->name);
        count++;
    }
    json_array_end(c->j);
    json_u64(c->j, "count", count);
    json_object_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_command_list = {
    .name = "command-list", .doc = "the commands there are", .run = list_run,
};

const struct command_ops command_help = {
    .name = "help", .doc = "the commands there are", .run = list_run,
};

/* Names for programs; command.c has those of error texts. */
static const char *const type_names[] = { [ARG_STRING] = "string", [ARG_INT] = "int",
                                          [ARG_BOOL] = "bool" };

/* Not one of Suricata's commands: a client can build its own help from it. */
static enum command_status command_help_run(struct command *c)
{
    json_array(c->j, "message");
    for (unsigned i = 0; command_table[i] != NULL; i++) {
        if (!command_is_there(c->control, command_table[i]))
            continue;
        json_object(c->j, NULL);
        json_string(c->j, "name", command_table[i]->name);
        json_string(c->j, "doc", command_table[i]->doc);
        json_array(c->j, "args");
        for (const struct command_arg *arg = command_table[i]->args; arg->name != NULL; arg++) {
            json_object(c->j, NULL);
            json_string(c->j, "name", arg->name);
            json_string(c->j, "type", type_names[arg->type]);
            json_bool(c->j, "optional", arg->optional);
            json_object_end(c->j);
        }
        json_array_end(c->j);
        json_object_end(c->j);
    }
    json_array_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_command_help = {
    .name = "command-help", .doc = "the commands with their arguments", .run = command_help_run,
};

/* The message is the version of Suricata whose interface ids implements; the member "ids" has our
 * own. */
static enum command_status version_run(struct command *c)
{
    json_string(c->j, "ids", IDS_VERSION);
    return command_ok(c, "%s", IDS_COMPATIBLE_RELEASE);
}

const struct command_ops command_version = {
    .name = "version", .doc = "of the interface, and (ids) of the engine", .run = version_run,
};

static enum command_status uptime_run(struct command *c)
{
    json_u64(c->j, "message", control_uptime_s(c->control));
    return COMMAND_OK;
}

const struct command_ops command_uptime = {
    .name = "uptime", .doc = "in seconds", .run = uptime_run,
};

/* Before the first capture there is no plan, so the configuration answers. */
static enum command_status running_mode_run(struct command *c)
{
    const struct plan *plan = c->control->plan;

    if (plan != NULL)
        return command_ok(c, "%s", plan->mode->name);
    return command_ok(c, "%s", conf_string(c->control->conf.root, "runmode", "autofp"));
}

const struct command_ops command_running_mode = {
    .name = "running-mode", .doc = "the run mode", .run = running_mode_run,
};

/* "UNIX_SOCKET" is Suricata's name while files come by command. */
static enum command_status capture_mode_run(struct command *c)
{
    const struct capture_ops *capture = c->control->conf.context->capture;

    return command_ok(c, "%s", c->control->conf.takes_jobs || capture == NULL ? "UNIX_SOCKET"
                                                                              : capture->label);
}

const struct command_ops command_capture_mode = {
    .name = "capture-mode", .doc = "where packets come from", .run = capture_mode_run,
};

/* Lists and mappings have no text of their own. The configuration includes what --set
 * changed. */
static enum command_status conf_get_run(struct command *c)
{
    const char *path = request_string(c->request, "variable");
    const struct conf_node *node = conf_find(c->control->conf.root, path);

    if (node == NULL || path[0] == '\0' || node->kind != CONF_SCALAR)
        return command_nok(c, "Unable to get value");
    json_lossy(c->j, "message", (struct slice){ .data = (const uint8_t *)node->value,
                                                .len = (uint32_t)strlen(node->value) });
    return COMMAND_OK;
}

const struct command_ops command_conf_get = {
    .name = "conf-get", .doc = "a value of the configuration",
    .args = { { "variable", ARG_STRING, false } }, .run = conf_get_run,
};

/* The same as SIGHUP, for log rotation. */
static enum command_status reopen_log_files_run(struct command *c)
{
    log_reopen();
    if (c->control->engine != NULL)
        output_rotate(c->control->conf.context->output);
    return command_ok(c, "done");
}

const struct command_ops command_reopen_log_files = {
    .name = "reopen-log-files", .doc = "opens log files again after they have been moved",
    .run = reopen_log_files_run,
};
