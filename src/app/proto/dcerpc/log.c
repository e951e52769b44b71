/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dcerpc/log.c - EVE `dcerpc`, as in Suricata. */
#include "app/proto/dcerpc/dcerpc.h"

/* False: this direction was not seen, or a gap took it. */
static bool has_part(const struct dcerpc_tx *t, enum direction d)
{
    return t->tx.progress[d] > 0 && !t->ds[d].lost;
}

/* Fragments that the call had and the bytes of its stub data that were kept. */
static void log_sizes(struct json *j, const struct dcerpc_dir *ds)
{
    json_u64(j, "frag_cnt", ds->fragments);
    json_u64(j, "stub_data_size", ds->stub.kept.len);
}

/* The result exists only when the server has acknowledged the interface. */
static void log_interface(struct json *j, const struct dce_interface *one)
{
    char text[DCE_UUID_TEXT];

    json_object(j, NULL);
    json_string(j, "uuid", dce_uuid_text(one->uuid, text));
    json_printf(j, "version", "%u.%u", one->version, one->minor);
    if (one->acknowledged)
        json_u64(j, "ack_result", one->result);
    json_object_end(j);
}

/* The interfaces that a bind offered, or the one that a call uses. */
static void log_interfaces(struct json *j, const struct dcerpc_tx *t)
{
    const struct dcerpc_state *st = t->tx.flow->state;
    bool any = false;

    for (unsigned i = 0; i < st->interfaces.count; i++) {
        const struct dce_interface *one = &st->interfaces.at[i];

        if (t->ds[TO_SERVER].type == DCE_BIND ? one->call_id != t->call_id
                                                : one->context != t->context)
            continue;
        if (!any)
            json_array(j, "interfaces");
        any = true;
        log_interface(j, one);
    }
    if (any)
        json_array_end(j);
}

/* A call over UDP names its interface in each header, so there is no list of bound ones. */
static void log_request(struct json *j, const struct dcerpc_tx *t)
{
    const struct dcerpc_dir *ds = &t->ds[TO_SERVER];
    char text[DCE_TYPE_TEXT];

    if (!has_part(t, TO_SERVER)) {
        json_string(j, "request", "REQUEST_LOST");
        return;
    }
    json_string(j, "request", dce_type_text(ds->type, text));
    if (ds->type == DCE_REQUEST) {
        json_object(j, "req");
        json_u64(j, "opnum", t->opnum);
        log_sizes(j, ds);
        json_object_end(j);
    }
    if (!t->is_udp && (ds->type == DCE_REQUEST || ds->type == DCE_BIND))
        log_interfaces(j, t);
}

/* "UNREPLIED" also when a gap took the response. */
static void log_response(struct json *j, const struct dcerpc_tx *t)
{
    const struct dcerpc_dir *ds = &t->ds[TO_CLIENT];
    char text[DCE_TYPE_TEXT];

    if (!has_part(t, TO_CLIENT)) {
        json_string(j, "response", "UNREPLIED");
        return;
    }
    json_string(j, "response", dce_type_text(ds->type, text));
    if (ds->type == DCE_RESPONSE) {
        json_object(j, "res");
        log_sizes(j, ds);
        json_object_end(j);
    }
}

/* Versions 5.x have call identifiers, version 4 an activity UUID and a sequence number (C706
 * chapter 12). */
static bool dcerpc_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                       const void *conf UNUSED)
{
    const struct dcerpc_tx *t = dcerpc_tx_of(tx);
    char text[DCE_UUID_TEXT];

    log_request(j, t);
    log_response(j, t);
    if (t->is_udp) {
        json_string(j, "activityuuid", dce_uuid_text(t->activity, text));
        json_u64(j, "seqnum", t->sequence);
        json_string(j, "rpc_version", "4.0");
    } else {
        json_u64(j, "call_id", t->call_id);
        json_printf(j, "rpc_version", "5.%u", t->minor);
    }
    return true;
}

/* The same fields within an alert. */
void dcerpc_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "dcerpc");
    dcerpc_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve = {
    .conf_name = "dcerpc", .event_type = "dcerpc", .key = "dcerpc", .progress = { 1, 1 },
    .log = dcerpc_log,
};

const struct app_log *const dcerpc_logs[] = { &eve, NULL };
