/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dnp3/keywords.c - what rules inspect of a message. */
#include "app/proto/dnp3/dnp3.h"

/* Internal indications of a response: both bytes as one number, big endian. */
const struct app_name dnp3_indications[] = {
    { "device_restart", 0x8000 }, { "device_trouble", 0x4000 }, { "local_control", 0x2000 },
    { "need_time", 0x1000 }, { "class_3_events", 0x0800 }, { "class_2_events", 0x0400 },
    { "class_1_events", 0x0200 }, { "all_stations", 0x0100 }, { "reserved_1", 0x0080 },
    { "reserved_2", 0x0040 }, { "config_corrupt", 0x0020 }, { "already_executing", 0x0010 },
    { "event_buffer_overflow", 0x0008 }, { "parameter_error", 0x0004 },
    { "object_unknown", 0x0002 }, { "no_func_code_support", 0x0001 }, { NULL, 0 },
};

/* Names of function codes: requests from 0, responses from 129. */
static const char *const requests[] = {
    "confirm", "read", "write", "select", "operate", "direct_operate", "direct_operate_nr",
    "immed_freeze", "immed_freeze_nr", "freeze_clear", "freeze_clear_nr", "freeze_at_time",
    "freeze_at_time_nr", "cold_restart", "warm_restart", "initialize_data", "initialize_appl",
    "start_appl", "stop_appl", "save_config", "enable_unsolicited", "disable_unsolicited",
    "assign_class", "delay_measure", "record_current_time", "open_file", "close_file",
    "delete_file", "get_file_info", "authenticate_file", "abort_file", "activate_config",
    "authenticate_req", "authenticate_err" };
static const char *const responses[] = { "response", "unsolicited_response", "authenticate_resp" };
#define FIRST_RESPONSE 129

/* Events of the link have transactions that are no messages: nothing matches them. */
static bool goes(const struct app_tx *tx, enum direction d)
{
    const struct dnp3_tx *t = dnp3_tx_of(tx);

    return t->is_message && t->is_request == (d == TO_SERVER);
}

static bool function_by_name(struct text name, uint8_t *out)
{
    for (unsigned i = 0; i < ARRAY_LEN(requests); i++)
        if (text_equal_nocase(name, requests[i]))
            return *out = (uint8_t)i, true;
    for (unsigned i = 0; i < ARRAY_LEN(responses); i++)
        if (text_equal_nocase(name, responses[i]))
            return *out = (uint8_t)(FIRST_RESPONSE + i), true;
    return false;
}

static int func_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    uint64_t code;

    if (text_to_decimal(in, UINT8_MAX, &code))
        *(uint8_t *)arg = (uint8_t)code;
    else if (!function_by_name(in, arg))
        return err_set(err, "dnp3_func: expected a function code up to 255 or its name, found "
                       "\"%.*s\"", TEXT(in));
    return 0;
}

static bool func_match(struct app_tx *tx, enum direction d, const void *arg)
{
    return goes(tx, d) && dnp3_tx_of(tx)->function == *(const uint8_t *)arg;
}

static bool add_indication(struct text name, uint16_t *bits)
{
    for (const struct app_name *n = dnp3_indications; n->name != NULL; n++)
        if (text_equal_nocase(name, n->name))
            return *bits |= (uint16_t)n->value, true;
    return false;
}

static int ind_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    struct text rest = in, part;
    uint16_t *bits = arg;
    uint64_t value;

    if (text_to_u64(in, UINT16_MAX, &value)) {
        *bits = (uint16_t)value;
        return 0;
    }
    while (text_split(&rest, ',', &part))
        if (!add_indication(part, bits))
            return err_set(err,
                           "dnp3_ind: expected a number or names of internal indications, found "
                           "\"%.*s\"",
                           TEXT(part));
    return *bits != 0 ? 0 : err_set(err, "dnp3_ind: expected at least one internal indication");
}

static bool ind_match(struct app_tx *tx, enum direction d, const void *arg)
{
    return goes(tx, d) && (dnp3_tx_of(tx)->indications & *(const uint16_t *)arg) != 0;
}

struct object_arg { uint8_t group, variation; };

/* Any text is accepted here. One that is not GROUP,VARIATION tests nothing, as in Suricata. */
static int obj_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err UNUSED)
{
    struct text rest = in, group, variation;
    struct object_arg *a = arg;
    uint64_t g = 0, v = 0;

    if (!text_split(&rest, ',', &group) || !text_split(&rest, ',', &variation) || rest.n > 0 ||
        !text_to_u64(group, UINT8_MAX, &g) || !text_to_u64(variation, UINT8_MAX, &v))
        return APP_MATCH_NO_TEST;
    a->group = (uint8_t)g;
    a->variation = (uint8_t)v;
    return 0;
}

static bool obj_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct object_arg *a = arg;

    if (!goes(tx, d))
        return false;
    for (const struct dnp3_object *o = dnp3_tx_of(tx)->objects; o != NULL; o = o->next)
        if (o->group == a->group && o->variation == a->variation)
            return true;
    return false;
}

static bool tell_func(struct app_tx *tx, enum direction d, struct buf *out)
{
    buf_printf(out, "the function is %u", dnp3_tx_of(tx)->function);
    return goes(tx, d);
}

static bool tell_ind(struct app_tx *tx, enum direction d, struct buf *out)
{
    buf_printf(out, "the indications are 0x%04x", dnp3_tx_of(tx)->indications);
    return goes(tx, d);
}

#define OBJECTS_SHOWN 8

static bool tell_obj(struct app_tx *tx, enum direction d, struct buf *out)
{
    unsigned count = 0;

    for (const struct dnp3_object *o = dnp3_tx_of(tx)->objects; o != NULL && count < OBJECTS_SHOWN;
         o = o->next)
        buf_printf(out, "%s%u,%u", count++ > 0 ? "; " : "the objects are ", o->group,
                   o->variation);
    if (count == 0)
        buf_add_string(out, "there are no objects");
    return goes(tx, d);
}

static bool get_data(struct app_tx *tx, enum direction d, unsigned i UNUSED, struct slice *out)
{
    const struct dnp3_tx *t = dnp3_tx_of(tx);

    *out = (struct slice){ t->data, t->len };
    return goes(tx, d) && t->len > 0;
}

static const struct app_buffer data_buffer = {
    .name = "dnp3.data", .alias = "dnp3_data", .doc = "message, from its application header on",
    .directions = APP_BOTH, .get = get_data,
};
static const struct app_match match_func = {
    .name = "dnp3_func", .alias = "dnp3.func", .doc = "function code or its name",
    .syntax = "<0-255 or name>",
    .directions = APP_BOTH, .arg_size = sizeof(uint8_t), .parse = func_parse,
    .match = func_match, .tell = tell_func,
};
static const struct app_match match_ind = {
    .name = "dnp3_ind", .alias = "dnp3.ind", .doc = "one of these internal indications",
    .syntax = "<number>\n"
              "<name>[,<name>]...",
    .directions = APP_BOTH, .arg_size = sizeof(uint16_t), .parse = ind_parse, .match = ind_match,
    .tell = tell_ind,
};
static const struct app_match match_obj = {
    .name = "dnp3_obj", .alias = "dnp3.obj", .doc = "has an object of this group and variation",
    .syntax = "<group>,<variation>",
    .directions = APP_BOTH, .progress = { 1, 1 }, .arg_size = sizeof(struct object_arg),
    .parse = obj_parse, .match = obj_match, .tell = tell_obj,
};

const struct app_buffer *const dnp3_buffers[] = { &data_buffer, NULL };
const struct app_match *const dnp3_matches[] = { &match_func, &match_ind, &match_obj, NULL };
