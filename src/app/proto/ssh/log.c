/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ssh/log.c - EVE `ssh`: once both banners are there, or, when HASSH is required, once
 * both sides have changed keys. When the flow ends earlier, the record has what is known by then.
 *
 * Two logs do this, because a log has one fixed progress. Exactly one of them writes. */
#include "app/proto/ssh/ssh.h"

/* The banner can have been shortened to its limit without its end; the limit holds here, too. */
static void log_limited(struct json *j, const char *key, struct slice s)
{
    if (s.len > 0)
        json_bytes(j, key, s.data, MIN(s.len, SSH_BANNER_MAX));
}

/* Nothing for a side without a banner. */
static void log_direction(struct json *j, const char *key, const struct ssh_dir *ds)
{
    if (ds->proto.len == 0)
        return;
    json_object(j, key);
    log_limited(j, "proto_version", ds->proto);
    log_limited(j, "software_version", ds->software);
    if (ds->hassh_string.data != NULL) {
        json_object(j, "hassh");
        if (ds->hassh.len > 0)
            json_slice(j, "hash", ds->hassh);
        json_slice(j, "string", ds->hassh_string);
        json_object_end(j);
    }
    json_object_end(j);
}

/* Client data come from the direction to the server and the other way round. */
static void log_directions(struct json *j, const struct ssh_tx *tx)
{
    log_direction(j, "client", &tx->ds[TO_SERVER]);
    log_direction(j, "server", &tx->ds[TO_CLIENT]);
}

static bool without_hassh(const struct app_flow *af)
{
    return !ssh_requires_hassh(af);
}

/* Nothing for a transaction without any banner. */
static bool log_banners(struct json *j, struct app_tx *tx)
{
    const struct ssh_tx *t = ssh_tx_of(tx);

    if (t->ds[TO_SERVER].proto.len == 0 && t->ds[TO_CLIENT].proto.len == 0)
        return false;
    log_directions(j, t);
    return true;
}

static bool ssh_log_banners(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                            const void *conf UNUSED)
{
    return without_hassh(tx->flow) && log_banners(j, tx);
}

static bool ssh_log_hassh(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                          const void *conf UNUSED)
{
    return ssh_requires_hassh(tx->flow) && log_banners(j, tx);
}

/* Within an alert: what is known at that moment. No object before the first banner. */
void ssh_alert_metadata(struct json *j, struct app_tx *tx)
{
    const struct ssh_tx *t = ssh_tx_of(tx);

    if (t->ds[TO_SERVER].proto.len == 0 && t->ds[TO_CLIENT].proto.len == 0)
        return;
    json_object(j, "ssh");
    log_directions(j, t);
    json_object_end(j);
}

static const struct app_log eve_banners = {
    .conf_name = "ssh", .event_type = "ssh", .key = "ssh",
    .progress = { SSH_BANNER_DONE, SSH_BANNER_DONE }, .is_used = without_hassh,
    .log = ssh_log_banners,
};
static const struct app_log eve_hassh = {
    .conf_name = "ssh", .event_type = "ssh", .key = "ssh",
    .progress = { SSH_FINISHED, SSH_FINISHED }, .is_used = ssh_requires_hassh,
    .log = ssh_log_hassh,
};

const struct app_log *const ssh_logs[] = { &eve_banners, &eve_hassh, NULL };
