/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/post.c - what the page may start: a question about rules (control/explain.h), and its
 * end. Nothing else changes the engine through the listener.
 *
 * Who may read may ask. A page of a stranger must not ask through its reader's browser. So a
 * request has to bear a header that a browser sends to another origin only after that origin
 * agreed, which the listener never does; and what a browser says of the sender must be right. */
#include "control/web/web_private.h"

#include <string.h>
#include <strings.h>

#include "base/report/json.h"
#include "control/explain.h"
#include "control/private.h"
#include "control/request.h"

/* "https://192.0.2.10:9917" names this host. */
static bool origin_is_host(const char *origin, const char *host)
{
    const char *name = strstr(origin, "://");

    return name != NULL && host != NULL && strcasecmp(name + 3, host) == 0;
}

const char *web_post_forbidden(const struct web_sender *sender)
{
    if (sender->marker == NULL)
        return "a request that changes something needs the header " WEB_POST_HEADER "\n";
    if (sender->site != NULL)
        return strcmp(sender->site, "same-origin") == 0 ? NULL : "not for pages of others\n";
    if (sender->origin != NULL && !origin_is_host(sender->origin, sender->host))
        return "not for pages of others\n";
    return NULL;
}

bool web_may_ask(const struct control *control)
{
    return conf_bool(control->conf.root, "metrics.explain", true);
}

/* --- the body --------------------------------------------------------------------------------- */

/* The arguments of the command on the control socket, as its parser takes them. NULL: it is not one
 * JSON object. */
static struct request *read_body(struct slice body)
{
    struct request *request = NULL;
    struct buf in = { 0 };

    BUF_LITERAL(&in, "{\"arguments\":");
    buf_add(&in, body.data, body.len);
    BUF_LITERAL(&in, "}");
    if (request_take(&in, &request) == 0 && request != NULL &&
        (in.len > 0 || !request_has_arguments(request))) {
        request_free(request);
        request = NULL;
    }
    buf_fini(&in);
    return request;
}

/* --- actions ---------------------------------------------------------------------------------- */

static void state_object(struct run_context *ctx, struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    explain_state_members(ctx, &j);
    json_object_end(&j);
}

static int ask(struct control *c, const struct request *request, struct err *err)
{
    struct explain_question q = { .rules = request_string(request, "sid"),
                                  .seconds = EXPLAIN_SECONDS,
                                  .takes_captures = control_jobs(c) != NULL };

    if (!web_may_ask(c))
        return err_set(err, "metrics.explain is no: ask on the control socket");
    if (q.rules == NULL)
        return err_set(err, "sid: expected a text such as \"2012887,2012888\"");
    if (request_has(request, "seconds") && !request_int(request, "seconds", &q.seconds))
        return err_set(err, "seconds: expected 1 to %d", EXPLAIN_SECONDS_MAX);
    return explain_start(c->conf.context, &q, err);
}

static bool explain_post(struct control *c, struct slice body, struct buf *out)
{
    struct request *request = read_body(body);
    struct err err = { 0 };
    int status;

    if (request == NULL) {
        BUF_LITERAL(out, "the body: expected {\"sid\": \"2012887\", \"seconds\": 60}\n");
        return false;
    }
    pthread_mutex_lock(&c->lock);
    status = ask(c, request, &err);
    if (status == 0)
        state_object(c->conf.context, out);
    pthread_mutex_unlock(&c->lock);
    if (status < 0)
        buf_printf(out, "%s\n", err.text);
    request_free(request);
    return status == 0;
}

static bool explain_stop_post(struct control *c, struct slice body, struct buf *out)
{
    bool may;

    (void)body;
    pthread_mutex_lock(&c->lock);
    may = web_may_ask(c);
    if (may) {
        explain_stop(c->conf.context);
        state_object(c->conf.context, out);
    } else
        buf_add_string(out, "metrics.explain is no: use the control socket\n");
    pthread_mutex_unlock(&c->lock);
    return may;
}

const struct web_action web_actions[] = {
    { "/api/explain", explain_post },
    { "/api/explain-stop", explain_stop_post },
    { NULL, NULL },
};
