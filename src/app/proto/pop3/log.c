/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/pop3/log.c - EVE: the `pop3` object.
 *
 * All text comes from the network and can be any bytes. */
#include "app/proto/pop3/pop3.h"

/* An empty list is an empty array. */
static void log_items(struct json *j, const char *key, const struct pop3_items *items)
{
    json_array(j, key);
    for (const struct pop3_item *item = items->first; item != NULL; item = item->next)
        json_slice(j, NULL, item->text);
    json_array_end(j);
}

/* A transaction without a keyword is a greeting, or a reply without a command. The mail of RETR has
 * no response here at all. */
static void log_members(struct json *j, const struct pop3_tx *tx)
{
    if (tx->keyword.len > 0) {
        json_object(j, "request");
        json_slice(j, "command", tx->keyword);
        log_items(j, "args", &tx->arguments);
        json_object_end(j);
    }
    if (!tx->has_response)
        return;
    json_object(j, "response");
    json_bool(j, "success", tx->success);
    json_string(j, "status", tx->success ? "OK" : "ERR");
    json_slice(j, "header", tx->header);
    log_items(j, "data", &tx->lines);
    json_object_end(j);
}

static bool pop3_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf UNUSED)
{
    log_members(j, CONTAINER_OF(tx, struct pop3_tx, tx));
    return true;
}

/* The same fields within an alert. */
void pop3_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "pop3");
    log_members(j, CONTAINER_OF(tx, struct pop3_tx, tx));
    json_object_end(j);
}

static const struct app_log log_pop3 = {
    .conf_name = "pop3",
    .event_type = "pop3",
    .key = "pop3",
    .progress = { 1, 1 },
    .log = pop3_log,
};

const struct app_log *const pop3_logs[] = { &log_pop3, NULL };
