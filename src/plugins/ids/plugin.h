/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ids/plugin.h - what a plugin of ids uses: a shared object that adds to the engine at its start.
 *
 * A plugin exports one symbol, `ids_plugin`, by IDS_PLUGIN(). Its load() registers what it adds
 * with the add_... functions, before rules and outputs are read. The engine's own structs are
 * opaque: a plugin reads them by the functions of struct ids_api. What it registers must stay
 * valid; the engine never unloads a plugin.
 *
 * IDS_PLUGIN_ABI grows with each change that an older plugin would notice. The engine refuses a
 * plugin of another number. doc/plugins.md is the guide. */
#ifndef IDS_PLUGIN_H
#define IDS_PLUGIN_H

#include <ids/kinds.h>

#define IDS_PLUGIN_ABI 2
#define IDS_PRINTF(f, a) __attribute__((format(printf, f, a)))

struct ids_api {
    /* In load(): 0, or -1 when the engine refuses it, which ends the start with the reason. Later,
     * or from another thread: -1, and nothing is added. */
    int (*add_file_type)(struct ids_engine *engine, const struct ids_file_type *type);
    int (*add_keyword)(struct ids_engine *engine, const struct ids_keyword *keyword);
    int (*add_packet_buffer)(struct ids_engine *engine, const struct ids_packet_buffer *buffer);
    int (*add_protocol)(struct ids_engine *engine, const struct ids_protocol *protocol);
    int (*add_logger)(struct ids_engine *engine, const struct ids_logger *logger);
    int (*add_watcher)(struct ids_engine *engine, const struct ids_watcher *watcher);
    int (*add_capture)(struct ids_engine *engine, const struct ids_capture *capture);
    int (*add_decoder)(struct ids_engine *engine, const struct ids_decoder *decoder);
    /* A key that the plugin reads, such as "outputs.eve-log.mine.depth"; others are reported as
     * unknown. "*" as the last name: any key. */
    int (*add_key)(struct ids_engine *engine, const char *path);

    /* Sets the reason why load(), open() or parse() fails. Returns -1. */
    int (*fail)(struct ids_error *error, const char *fmt, ...) IDS_PRINTF(2, 3);
    struct ids_error *(*error)(struct ids_engine *engine);      /* of load() */

    /* The whole configuration, in load(); and values by dotted paths. */
    const struct ids_settings *(*settings)(const struct ids_engine *engine);
    const char *(*string)(const struct ids_settings *settings, const char *path,
                          const char *otherwise);
    uint64_t (*number)(const struct ids_settings *settings, const char *path, uint64_t otherwise);
    bool (*yes)(const struct ids_settings *settings, const char *path, bool otherwise);

    /* Packets. A part that a packet lacks is empty. */
    struct ids_slice (*frame)(const struct ids_packet *packet);
    struct ids_slice (*network)(const struct ids_packet *packet);       /* from the IP header on */
    struct ids_slice (*payload)(const struct ids_packet *packet);
    uint64_t (*time_us)(const struct ids_packet *packet);               /* since 1970 */
    void (*packet_ends)(const struct ids_packet *packet, struct ids_ends *out);
    enum ids_direction (*direction)(const struct ids_packet *packet);
    /* Flows. NULL: the packet has none. */
    const struct ids_flow *(*flow)(const struct ids_packet *packet);
    void (*flow_ends)(const struct ids_flow *flow, struct ids_ends *out);       /* client: src */
    void (*flow_counts)(const struct ids_flow *flow, struct ids_flow_counts *out);
    const void *(*watched)(const struct ids_flow *flow, const struct ids_watcher *watcher);
    const char *(*app_proto)(const struct ids_flow *flow);              /* "http", "unknown" */

    /* Decoders: what follows the header. False: it could not be decoded. */
    bool (*decode_ethertype)(struct ids_decoding *decoding, uint16_t type,
                             struct ids_bytes rest);
    bool (*decode_tunnel)(struct ids_decoding *decoding, struct ids_bytes rest);

    /* Parsers. tx: what tx_new() and tx_by_key() returned, in this call of parse(): the engine
     * frees a transaction when it is done, inspected and logged. NULL: there is none, or no
     * space. */
    void *(*tx_new)(struct ids_app *app);
    void (*tx_done)(void *tx, enum ids_direction direction);    /* complete in this direction */
    void (*tx_event)(void *tx, unsigned event);
    /* An answer finds its request by a number; the oldest of that number. Drop it when done. */
    void (*tx_set_key)(void *tx, uint64_t key);
    void *(*tx_by_key)(struct ids_app *app, uint64_t key);
    void (*tx_drop_key)(void *tx);
    /* Memory that lives as long as the transaction. */
    struct ids_slice (*tx_copy)(void *tx, struct ids_slice bytes);
    void *(*tx_alloc)(void *tx, size_t size);

    /* Records. key NULL: an item of an array. */
    void (*json_text)(struct ids_json *json, const char *key, struct ids_slice text);
    void (*json_number)(struct ids_json *json, const char *key, uint64_t number);
    void (*json_yes)(struct ids_json *json, const char *key, bool yes);
    void (*json_object)(struct ids_json *json, const char *key);
    void (*json_array)(struct ids_json *json, const char *key);
    void (*json_end)(struct ids_json *json);    /* of the innermost object or array */
    /* Members that a library has written: `"a":1,"b":{"c":[]}` in one line. False: it is no JSON,
     * no UTF-8 or too deep, or an array is open; nothing is added. */
    bool (*json_members)(struct ids_json *json, struct ids_slice text);

    /* Loggers: appends to the line. Line feeds in it become blanks: a line is one record. */
    void (*print)(struct ids_line *line, const char *fmt, ...) IDS_PRINTF(2, 3);
    /* Writes an address of struct ids_ends as text. */
    void (*address)(uint8_t ip_version, const uint8_t *address, char out[46]);
};

/* --- the plugin -------------------------------------------------------------------------- */

struct ids_plugin {
    uint32_t abi;               /* IDS_PLUGIN_ABI; first in every version */
    const char *name, *version; /* for messages; no two plugins have one name */
    /* 0; or -1 after fail(error(engine), ...), which ends the start. api stays valid. */
    int (*load)(struct ids_engine *engine, const struct ids_api *api);
};

#define IDS_PLUGIN(name_, version_, load_)                                    \
    extern const struct ids_plugin ids_plugin;                                \
    __attribute__((visibility("default"))) const struct ids_plugin ids_plugin = { \
        .abi = IDS_PLUGIN_ABI, .name = (name_), .version = (version_), .load = (load_) }

#endif
