/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/api.c - the table of functions that plugins call. */
#include "app/proto.h"
#include "plugins/private.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* NULL: of the engine's own check, which has nowhere to put it. */
static int api_fail(struct ids_error *error, const char *fmt, ...)
{
    char text[300];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (error != NULL)
        plugin_error_set(error, text);
    return -1;
}

static struct ids_error *api_error(struct ids_engine *engine)
{
    return &engine->error;
}

static const struct ids_settings *api_settings(const struct ids_engine *engine)
{
    return plugin_settings(engine->root);
}

static const char *api_string(const struct ids_settings *settings, const char *path,
                              const char *otherwise)
{
    return conf_string(plugin_node(settings), path, otherwise);
}

static uint64_t api_number(const struct ids_settings *settings, const char *path,
                           uint64_t otherwise)
{
    return conf_u64(plugin_node(settings), path, otherwise);
}

static bool api_yes(const struct ids_settings *settings, const char *path, bool otherwise)
{
    return conf_bool(plugin_node(settings), path, otherwise);
}

/* --- packets and flows ------------------------------------------------------------------------ */

static struct ids_slice api_frame(const struct ids_packet *packet)
{
    const struct packet *p = plugin_packet(packet);

    return (struct ids_slice){ p->data, p->data != NULL ? p->len : 0 };
}

/* The headers of a pseudo packet and of a reassembled one lie elsewhere than its frame. */
static struct ids_slice api_network(const struct ids_packet *packet)
{
    const struct packet *p = plugin_packet(packet);
    const uint8_t *end = p->data != NULL ? p->data + p->len : NULL;

    if (p->l3 == NULL || p->l3 < p->data || p->l3 > end)
        return (struct ids_slice){ NULL, 0 };
    return (struct ids_slice){ p->l3, (uint32_t)(end - p->l3) };
}

static struct ids_slice api_payload(const struct ids_packet *packet)
{
    const struct packet *p = plugin_packet(packet);

    return (struct ids_slice){ p->payload, p->payload != NULL ? p->payload_len : 0 };
}

static uint64_t api_time_us(const struct ids_packet *packet)
{
    return plugin_packet(packet)->time_us;
}

static void api_packet_ends(const struct ids_packet *packet, struct ids_ends *out)
{
    const struct packet *p = plugin_packet(packet);

    *out = (struct ids_ends){ .ip_version = p->src.version, .proto = p->ip_proto,
                              .src_port = p->src_port, .dst_port = p->dst_port };
    memcpy(out->src, p->src.b, sizeof(out->src));
    memcpy(out->dst, p->dst.b, sizeof(out->dst));
}

static enum ids_direction api_direction(const struct ids_packet *packet)
{
    return (enum ids_direction)packet_direction(plugin_packet(packet));
}

static const struct ids_flow *api_flow(const struct ids_packet *packet)
{
    return plugin_flow_handle(plugin_packet(packet)->flow);
}

/* From the client to the server, whichever side sent the first packet. */
static void api_flow_ends(const struct ids_flow *flow, struct ids_ends *out)
{
    const struct flow_key *key = &plugin_flow(flow)->key;
    bool swapped = flow_is_swapped(plugin_flow(flow));

    *out = (struct ids_ends){ .ip_version = key->src.version, .proto = key->proto,
                              .src_port = swapped ? key->dst_port : key->src_port,
                              .dst_port = swapped ? key->src_port : key->dst_port };
    memcpy(out->src, swapped ? key->dst.b : key->src.b, sizeof(out->src));
    memcpy(out->dst, swapped ? key->src.b : key->dst.b, sizeof(out->dst));
}

static void api_flow_counts(const struct ids_flow *flow, struct ids_flow_counts *out)
{
    const struct flow *f = plugin_flow(flow);

    *out = (struct ids_flow_counts){ .start_us = f->start_us, .last_us = f->inspect_last_us,
                                     .id = f->id };
    memcpy(out->packets, f->packets, sizeof(out->packets));
    memcpy(out->bytes, f->bytes, sizeof(out->bytes));
}

static const char *api_app_proto(const struct ids_flow *flow)
{
    return app_proto_name((enum app_proto_id)plugin_flow(flow)->app_proto);
}

static void api_address(uint8_t ip_version, const uint8_t *address, char out[46])
{
    struct ip ip = { .version = ip_version };

    out[0] = '\0';
    memcpy(ip.b, address, sizeof(ip.b));
    if (ip_version != 0)
        ip_format(&ip, out);
}

/* --- records ---------------------------------------------------------------------------------- */

/* Members have keys and items of arrays have none, whatever the plugin says. A key that would need
 * escaping could forge members. */
static const char *key_of(const struct ids_json *json, const char *key)
{
    if (json->depth > 0 && json->is_array[json->depth - 1])
        return NULL;
    if (key == NULL)
        return "";
    for (const char *at = key; *at != '\0'; at++)
        if (*at == '"' || *at == '\\' || (unsigned char)*at < ' ' || (unsigned char)*at > '~')
            return "";
    return key;
}

/* Without bytes it is empty, whatever its length is. */
static void api_json_text(struct ids_json *json, const char *key, struct ids_slice text)
{
    if (json->too_deep == 0)
        json_bytes(json->to, key_of(json, key), text.data, text.data != NULL ? text.len : 0);
}

static void api_json_number(struct ids_json *json, const char *key, uint64_t number)
{
    if (json->too_deep == 0)
        json_u64(json->to, key_of(json, key), number);
}

static void api_json_yes(struct ids_json *json, const char *key, bool yes)
{
    if (json->too_deep == 0)
        json_bool(json->to, key_of(json, key), yes);
}

/* Levels that are too deep are left out, with what is in them. */
static void json_open(struct ids_json *json, const char *key, bool is_array)
{
    if (json->too_deep > 0 || json->depth == PLUGIN_JSON_DEPTH) {
        json->too_deep++;
        return;
    }
    (is_array ? json_array : json_object)(json->to, key_of(json, key));
    json->is_array[json->depth++] = is_array;
}

static void api_json_object(struct ids_json *json, const char *key)
{
    json_open(json, key, false);
}

static void api_json_array(struct ids_json *json, const char *key)
{
    json_open(json, key, true);
}

/* An end too many would close an object of the engine's. */
static void api_json_end(struct ids_json *json)
{
    if (json->too_deep > 0) {
        json->too_deep--;
        return;
    }
    if (json->depth == 0)
        return;
    if (json->is_array[--json->depth])
        json_array_end(json->to);
    else
        json_object_end(json->to);
}

/* What the plugin has left open would spoil the record. */
void plugin_json_close(struct ids_json *json)
{
    json->too_deep = 0;
    while (json->depth > 0)
        api_json_end(json);
}

/* --- what load() adds ------------------------------------------------------------------------- */

#define ADD(kind, type)                                                       \
    static int api_add_##kind(struct ids_engine *engine, const type *added)   \
    {                                                                         \
        return plugin_is_loading(engine) ? plugin_add_##kind(engine, added) : -1; \
    }
ADD(file_type, struct ids_file_type)
ADD(keyword, struct ids_keyword)
ADD(packet_buffer, struct ids_packet_buffer)
ADD(protocol, struct ids_protocol)
ADD(logger, struct ids_logger)
ADD(watcher, struct ids_watcher)
ADD(capture, struct ids_capture)
ADD(decoder, struct ids_decoder)
ADD(key, char)
#undef ADD

/* A change of the table is a change of the ABI: raise IDS_PLUGIN_ABI with this number. */
#define API_FUNCTIONS 45
_Static_assert(IDS_PLUGIN_ABI == 2 && sizeof(struct ids_api) == API_FUNCTIONS * sizeof(void *),
               "IDS_PLUGIN_ABI and the number of functions change together");

const struct ids_api plugin_api = {
    .add_file_type = api_add_file_type,
    .add_keyword = api_add_keyword,
    .add_packet_buffer = api_add_packet_buffer,
    .add_protocol = api_add_protocol,
    .add_logger = api_add_logger,
    .add_watcher = api_add_watcher,
    .add_capture = api_add_capture,
    .add_decoder = api_add_decoder,
    .add_key = api_add_key,
    .fail = api_fail,
    .error = api_error,
    .settings = api_settings,
    .string = api_string,
    .number = api_number,
    .yes = api_yes,
    .frame = api_frame,
    .network = api_network,
    .payload = api_payload,
    .time_us = api_time_us,
    .packet_ends = api_packet_ends,
    .direction = api_direction,
    .flow = api_flow,
    .flow_ends = api_flow_ends,
    .flow_counts = api_flow_counts,
    .watched = plugin_watched,
    .app_proto = api_app_proto,
    .decode_ethertype = plugin_decode_ethertype,
    .decode_tunnel = plugin_decode_tunnel,
    .tx_new = plugin_tx_new,
    .tx_done = plugin_tx_done,
    .tx_event = plugin_tx_event,
    .tx_set_key = plugin_tx_set_key,
    .tx_by_key = plugin_tx_by_key,
    .tx_drop_key = plugin_tx_drop_key,
    .tx_copy = plugin_tx_copy,
    .tx_alloc = plugin_tx_alloc,
    .json_text = api_json_text,
    .json_number = api_json_number,
    .json_yes = api_json_yes,
    .json_object = api_json_object,
    .json_array = api_json_array,
    .json_end = api_json_end,
    .json_members = plugin_json_members,
    .print = plugin_print,
    .address = api_address,
};
