/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/explain.c - why rules fire on the traffic at hand, and why they do not. */
#include "control/explain.h"

#include "control/private.h"

/* `sid` is a number or, for several, a text. */
static enum command_status explain_run(struct command *c)
{
    struct explain_question question = { .rules = request_string(c->request, "sid"),
                                         .seconds = EXPLAIN_SECONDS };
    struct err err = { 0 };

    if (request_has(c->request, "seconds") &&
        !request_int(c->request, "seconds", &question.seconds))
        return command_nok(c, "seconds: expected 1 to %d", EXPLAIN_SECONDS_MAX);
    question.takes_captures = control_jobs(c->control) != NULL;
    if (explain_start(c->control->conf.context, &question, &err) < 0)
        return command_nok(c, "%s", err.text);
    return command_ok(c, "asked for %u s; explain-result has the answer then",
                      (unsigned)question.seconds);
}

const struct command_ops command_explain = {
    .name = "explain",
    .doc = "asks packet threads for some seconds why these rules fire, or do not",
    .args = { { "sid", ARG_STRING, false }, { "seconds", ARG_INT, true } }, .run = explain_run,
};

/* Text is the message itself, so that idsc prints it as it is. */
static enum command_status result_run(struct command *c)
{
    struct run_context *ctx = c->control->conf.context;
    struct buf text = { 0 };

    if (request_is_true(c->request, "json")) {
        json_object(c->j, "message");
        explain_members(ctx, c->j);
        json_object_end(c->j);
        return COMMAND_OK;
    }
    explain_text(ctx, &text);
    json_slice(c->j, "message", buf_slice(&text));
    buf_fini(&text);
    return COMMAND_OK;
}

const struct command_ops command_explain_result = {
    .name = "explain-result", .doc = "the answer to the last explain, as text or as JSON",
    .args = { { "json", ARG_BOOL, true } }, .run = result_run,
};

static enum command_status stop_run(struct command *c)
{
    explain_stop(c->control->conf.context);
    return command_ok(c, "OK");
}

const struct command_ops command_explain_stop = {
    .name = "explain-stop", .doc = "ends the question; explain-result has what is known by then",
    .run = stop_run,
};
