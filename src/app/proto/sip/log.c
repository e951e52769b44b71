/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/sip/log.c - EVE sip: one record per message, as in Suricata. */
#include "app/proto/sip/sip.h"

/* No data: the message or description does not have the field. */
static void log_text(struct json *j, const char *key, struct slice s)
{
    if (s.data != NULL)
        json_slice(j, key, s);
}

/* No array for an empty list. */
static void log_list(struct json *j, const char *key, const struct sdp_text *list)
{
    if (list == NULL)
        return;
    json_array(j, key);
    for (; list != NULL; list = list->next)
        json_slice(j, NULL, list->text);
    json_array_end(j);
}

/* t= lines with their r= line (RFC 4566 sections 5.9 and 5.10). */
static void log_times(struct json *j, const struct sdp_time *time)
{
    json_array(j, "time_descriptions");
    for (; time != NULL; time = time->next) {
        json_object(j, NULL);
        json_slice(j, "time", time->time);
        log_text(j, "repeat_time", time->repeat);
        json_object_end(j);
    }
    json_array_end(j);
}

/* m= lines with the lines that belong to each (RFC 4566 section 5.14). */
static void log_media(struct json *j, const struct sdp_media *m)
{
    if (m == NULL)
        return;
    json_array(j, "media_descriptions");
    for (; m != NULL; m = m->next) {
        json_object(j, NULL);
        json_slice(j, "media", m->media);
        log_text(j, "media_info", m->info);
        log_list(j, "bandwidths", m->bandwidths);
        log_text(j, "connection_data", m->connection);
        log_text(j, "encryption_key", m->key);
        log_list(j, "attributes", m->attributes);
        json_object_end(j);
    }
    json_array_end(j);
}

/* The description in the order of RFC 4566 section 5. The letters of the lines have long names
 * here. */
static void log_sdp(struct json *j, const struct sdp *sdp)
{
    if (sdp == NULL)
        return;
    json_object(j, "sdp");
    json_slice(j, "origin", sdp->origin);
    json_slice(j, "session_name", sdp->name);
    log_text(j, "session_info", sdp->info);
    log_text(j, "uri", sdp->uri);
    log_text(j, "email", sdp->email);
    log_text(j, "phone_number", sdp->phone);
    log_text(j, "connection_data", sdp->connection);
    log_list(j, "bandwidths", sdp->bandwidths);
    log_times(j, sdp->times);
    log_text(j, "timezone", sdp->zone);
    log_text(j, "encryption_key", sdp->key);
    log_list(j, "attributes", sdp->attributes);
    log_media(j, sdp->media);
    json_object_end(j);
}

/* The direction of the message, which its first line decided, tells requests from responses. */
static bool sip_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                    const void *conf UNUSED)
{
    const struct sip_tx *t = sip_tx_of(tx);
    bool request = t->direction == TO_SERVER;

    if (request) {
        json_slice(j, "method", t->method);
        json_slice(j, "uri", t->uri);
    }
    json_slice(j, "version", t->version);
    if (!request) {
        json_slice(j, "code", t->code);
        json_slice(j, "reason", t->reason);
    }
    log_sdp(j, t->sdp);
    log_text(j, request ? "request_line" : "response_line", t->line);
    return true;
}

/* The same fields within an alert. */
void sip_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "sip");
    sip_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve_sip = {
    .as_packet = true,
    .conf_name = "sip", .event_type = "sip", .key = "sip", .progress = { 1, 1 },
    .each_direction = true, .log = sip_log,
};
const struct app_log *const sip_logs[] = { &eve_sip, NULL };
