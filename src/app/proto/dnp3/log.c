/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dnp3/log.c - EVE dnp3: one record per message. Keys are Suricata's. */
#include "app/proto/dnp3/dnp3.h"

#include <stdio.h>

/* Link control byte (IEEE 1815): direction, primary, frame count bit and its validity, then the
 * function code. */
static void log_link_control(struct json *j, uint8_t control)
{
    json_object(j, "control");
    json_bool(j, "dir", control & 0x80);
    json_bool(j, "pri", control & 0x40);
    json_bool(j, "fcb", control & 0x20);
    json_bool(j, "fcv", control & 0x10);
    json_u64(j, "function_code", control & 0x0f);
    json_object_end(j);
}

/* Application control byte (IEEE 1815): first and final fragment, confirmation requested,
 * unsolicited, then the sequence number. */
static void log_application_control(struct json *j, uint8_t control)
{
    json_object(j, "control");
    json_bool(j, "fir", control & 0x80);
    json_bool(j, "fin", control & 0x40);
    json_bool(j, "con", control & 0x20);
    json_bool(j, "uns", control & 0x10);
    json_u64(j, "sequence", control & 0x0f);
    json_object_end(j);
}

/* Suricata writes "data->" before the keys of bytes and vendor codes: users of EVE know them so. */
static void log_value(struct json *j, const struct dnp3_value *v)
{
    char key[DNP3_NAME_MAX + 8];

    snprintf(key, sizeof(key), "data->%s", v->name);
    switch (v->kind) {
    case DNP3_NUMBER:
        json_u64(j, v->name, v->number);
        break;
    case DNP3_REAL:
        json_double(j, v->name, v->real);
        break;
    case DNP3_TEXT:
        json_slice(j, v->name, v->bytes);
        break;
    case DNP3_BYTES:
        if (v->bytes.len > 0)
            json_base64(j, key, v->bytes.data, v->bytes.len);
        break;
    case DNP3_VENDOR:
        /* Up to its zero byte. */
        json_bytes(j, key, v->bytes.data, strnlen((const char *)v->bytes.data, v->bytes.len));
        break;
    }
}

/* Reads the points again: they were only counted and checked before. */
static void log_points(struct json *j, const struct dnp3_object *o)
{
    struct dnp3_points points = dnp3_points_of(o);
    struct dnp3_point point;

    json_array(j, "points");
    while (dnp3_next_point(&points, &point)) {
        json_object(j, NULL);
        json_u64(j, "prefix", point.prefix);
        json_u64(j, "index", point.index);
        if (dnp3_prefix_is_size(o->prefix_code))
            json_u64(j, "size", point.size);
        for (unsigned i = 0; i < point.count; i++)
            log_value(j, &point.value[i]);
        json_object_end(j);
    }
    json_array_end(j);
}

/* One entry for each object header of the message. */
static void log_objects(struct json *j, const struct dnp3_object *o)
{
    if (o == NULL)
        return;
    json_array(j, "objects");
    for (; o != NULL; o = o->next) {
        json_object(j, NULL);
        json_u64(j, "group", o->group);
        json_u64(j, "variation", o->variation);
        json_u64(j, "qualifier", o->qualifier);
        json_u64(j, "prefix_code", o->prefix_code);
        json_u64(j, "range_code", o->range_code);
        json_u64(j, "start", o->start);
        json_u64(j, "stop", o->stop);
        json_u64(j, "count", o->count);
        if (o->point_count > 0)
            log_points(j, o);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Bits of the internal indications; an empty object when none is set. */
static void log_indications(struct json *j, uint16_t indications)
{
    json_object(j, "iin");
    if (indications != 0) {
        json_array(j, "indicators");
        for (const struct app_name *n = dnp3_indications; n->name != NULL; n++)
            if (indications & n->value)
                json_string(j, NULL, n->name);
        json_array_end(j);
    }
    json_object_end(j);
}

/* Unsolicited responses have a function code of their own. */
static const char *type_of(const struct dnp3_tx *t)
{
    if (t->is_request)
        return "request";
    return t->function == DNP3_UNSOLICITED ? "unsolicited_response" : "response";
}

/* Only a complete message has a record. */
static bool dnp3_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf UNUSED)
{
    const struct dnp3_tx *t = dnp3_tx_of(tx);

    if (!t->is_message || !t->done)
        return false;
    json_string(j, "type", type_of(t));
    log_link_control(j, t->link.control);
    json_u64(j, "src", t->link.source);
    json_u64(j, "dst", t->link.destination);
    json_object(j, "application");
    log_application_control(j, t->control);
    json_u64(j, "function_code", t->function);
    log_objects(j, t->objects);
    json_bool(j, "complete", t->complete);
    json_object_end(j);
    if (!t->is_request)
        log_indications(j, t->indications);
    return true;
}

/* Before the message is complete the object is empty. */
void dnp3_alert_metadata(struct json *j, struct app_tx *tx)
{
    const struct dnp3_tx *t = dnp3_tx_of(tx);

    json_object(j, "dnp3");
    if (t->is_message && t->done) {
        json_object(j, t->is_request ? "request" : "response");
        dnp3_log(j, tx, TO_SERVER, NULL);
        json_object_end(j);
    }
    json_object_end(j);
}

static const struct app_log eve = {
    .conf_name = "dnp3", .event_type = "dnp3", .key = "dnp3", .progress = { 1, 1 },
    .log = dnp3_log,
};

const struct app_log *const dnp3_logs[] = { &eve, NULL };
