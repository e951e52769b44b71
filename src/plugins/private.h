/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/private.h - what the files of this directory share.
 *
 * plugin.h is the only header that a plugin sees. Its handles are pointers to the engine's structs
 * under other names; the functions below convert them. */
#ifndef PLUGINS_PRIVATE_H
#define PLUGINS_PRIVATE_H

#include <pthread.h>

#include "base/err.h"
#include "base/memory/arena.h"
#include "base/report/json.h"
#include "conf/conf.h"
#include "flow/flow.h"
#include "plugins/ids/plugin.h"

/* error.c: a reason, which only the thread that began it can set, and until its end. */
struct ids_error {
    struct err err;                     /* text "" while there is none */
    pthread_mutex_t lock;
    pthread_t caller;
    bool is_open;
    struct ids_error *next;             /* of those at rest */
};

struct ids_error *plugin_error_begin(void);
void plugin_error_end(struct ids_error *e, struct err *err);    /* err as it was without a reason */
void plugin_error_set(struct ids_error *e, const char *text);
void plugin_error_open(struct ids_error *e);
void plugin_error_close(struct ids_error *e);

/* One for each plugin, and never freed: a plugin may keep it, and use it when it must not. */
struct ids_engine {
    const char *name;
    const struct conf_node *root;       /* NULL after load() */
    struct ids_error error;     /* the first refusal */
    pthread_t loader;           /* the thread that runs load() */
    int loading;                /* atomic: 1 in load() */
    int warned;                 /* atomic: 1 after the warning of plugin_is_loading() */
};

static inline const struct conf_node *plugin_node(const struct ids_settings *settings)
{
    return (const struct conf_node *)(const void *)settings;
}
static inline const struct ids_settings *plugin_settings(const struct conf_node *node)
{
    return (const struct ids_settings *)(const void *)node;
}

static inline const struct packet *plugin_packet(const struct ids_packet *packet)
{
    return (const struct packet *)(const void *)packet;
}
static inline const struct ids_packet *plugin_packet_handle(const struct packet *p)
{
    return (const struct ids_packet *)(const void *)p;
}
static inline const struct flow *plugin_flow(const struct ids_flow *flow)
{
    return (const struct flow *)(const void *)flow;
}
static inline const struct ids_flow *plugin_flow_handle(const struct flow *f)
{
    return (const struct ids_flow *)(const void *)f;
}

/* An object that a plugin writes: lives on the stack as long as the call. */
#define PLUGIN_JSON_DEPTH 16
struct ids_json {
    struct json *to;
    unsigned depth;             /* levels that the plugin has opened */
    unsigned too_deep;          /* and those beyond the limit, which are left out */
    bool is_array[PLUGIN_JSON_DEPTH];
};
void plugin_json_close(struct ids_json *json);
bool plugin_json_members(struct ids_json *json, struct ids_slice text);

extern const struct ids_api plugin_api;

/* Memory for what plugins add; never freed, as the engine's tables point to it. Zeroed. */
void *plugin_alloc(size_t size);

/* False, and a warning the first time, for a plugin that adds something after load() or from
 * another thread: the engine reads its tables without a lock. */
bool plugin_is_loading(struct ids_engine *engine);

/* Keeps the first reason why the engine refuses what a plugin adds; it ends the start even when the
 * plugin does not look. Returns -1. */
int plugin_refuse(struct ids_engine *engine, const char *fmt, ...) PRINTF(2, 3);

/* The functions of the API that are not in api.c: one file for each kind. */
int plugin_add_file_type(struct ids_engine *engine, const struct ids_file_type *type);
int plugin_add_keyword(struct ids_engine *engine, const struct ids_keyword *keyword);
int plugin_add_packet_buffer(struct ids_engine *engine, const struct ids_packet_buffer *buffer);
int plugin_add_protocol(struct ids_engine *engine, const struct ids_protocol *protocol);
int plugin_add_watcher(struct ids_engine *engine, const struct ids_watcher *watcher);
const void *plugin_watched(const struct ids_flow *flow, const struct ids_watcher *watcher);
int plugin_add_capture(struct ids_engine *engine, const struct ids_capture *capture);
int plugin_add_decoder(struct ids_engine *engine, const struct ids_decoder *decoder);
bool plugin_decode_ethertype(struct ids_decoding *decoding, uint16_t type,
                             struct ids_bytes rest);
bool plugin_decode_tunnel(struct ids_decoding *decoding, struct ids_bytes rest);
int plugin_add_logger(struct ids_engine *engine, const struct ids_logger *logger);
/* Refuse a name that a rule cannot have; and one that a keyword has already. */
int plugin_check_name(struct ids_engine *engine, const char *name);
int plugin_check_keyword(struct ids_engine *engine, const char *name);
int plugin_add_key(struct ids_engine *engine, const char *path);
void *plugin_tx_new(struct ids_app *app);
void plugin_tx_done(void *tx, enum ids_direction direction);
void plugin_tx_event(void *tx, unsigned event);
void plugin_tx_set_key(void *tx, uint64_t key);
void *plugin_tx_by_key(struct ids_app *app, uint64_t key);
void plugin_tx_drop_key(void *tx);
struct ids_slice plugin_tx_copy(void *tx, struct ids_slice bytes);
void *plugin_tx_alloc(void *tx, size_t size);
void plugin_print(struct ids_line *line, const char *fmt, ...) PRINTF(2, 3);

#endif
