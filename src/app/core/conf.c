/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/conf.c - the app-layer section of the configuration, read once.
 *
 *     app-layer:
 *       error-policy: ignore
 *       protocols:
 *         dns:
 *           enabled: yes            # no, detection-only
 *           max-tx: 256
 *           tcp:                    # a value here wins over the one above it
 *             enabled: yes
 *             stream-depth: 1 MiB   # 0: none
 *             detection-ports:
 *               dp: 53
 */
#include "app/core/ranges.h"

#include "app/core/detect_proto.h"
#include "app/core/expectations.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "base/report/log.h"
#include "conf/compatibility.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const transport_names[TRANSPORT_COUNT] = { "tcp", "udp" };

enum { PROTO_OFF, PROTO_ON, PROTO_DETECTION_ONLY };

/* The value for one transport, NAME.tcp.KEY, else the protocol's own, NAME.KEY. */
static const struct conf_node *proto_setting(const struct conf_node *node, unsigned transport,
                                             const char *key)
{
    const struct conf_node *under = conf_find(node, transport_names[transport]);
    const struct conf_node *found = conf_find(under, key);

    return found != NULL ? found : conf_find(node, key);
}

/* "detection-only" recognises the protocol for rules and counters but never opens its parser. A
 * word that is none of the three stops the start: conf_fatal() records it. */
static int read_enabled(const struct conf_node *node, unsigned transport, bool otherwise)
{
    const struct conf_node *found = proto_setting(node, transport, "enabled");
    bool on = otherwise;

    if (found == NULL)
        return otherwise ? PROTO_ON : PROTO_OFF;
    if (text_equal_nocase(text_of(found->value), "detection-only"))
        return PROTO_DETECTION_ONLY;
    if (!text_to_bool(text_of(found->value), &on))
        conf_fatal(found, "expected yes, no or detection-only, got \"%s\"", found->value);
    return on ? PROTO_ON : PROTO_OFF;
}

/* How many bytes of a direction the parser gets. A protocol may bring its own depth (below zero:
 * all bytes), and the setting wins over that; 0 in the file means no limit. Without either,
 * stream.reassembly.depth applies, so own_depth stays false. */
static void read_depth(struct app_proto_conf *pc, const struct conf_node *node)
{
    const struct conf_node *found = proto_setting(node, TRANSPORT_TCP, "stream-depth");
    uint64_t depth = 0;

    if (pc->proto->stream_depth != 0) {
        pc->own_depth = true;
        pc->stream_depth = pc->proto->stream_depth < 0 ? UINT64_MAX
                                                       : (uint64_t)pc->proto->stream_depth;
    }
    if (found == NULL)
        return;
    if (!text_to_size(text_of(found->value), &depth)) {
        conf_warning(found, "expected a size, got \"%s\"; the default is used", found->value);
        return;
    }
    pc->own_depth = true;
    pc->stream_depth = depth == 0 ? UINT64_MAX : depth;
}

/* The settings block belongs to the conf; configure() fills it once, before any worker thread runs.
 * Workers only read it. */
static int read_settings(struct app_proto_conf *pc, const struct conf_node *node,
                         const struct conf_node *root, struct err *err)
{
    const struct app_proto *proto = pc->proto;

    if (proto->settings_size > 0)
        pc->settings = xcalloc(1, proto->settings_size);
    if (proto->configure == NULL)
        return 0;
    return proto->configure(node, root, pc->settings, err);
}

/* As in Suricata, a bad value gives a warning and the default, not an error at start. */
static uint32_t read_tx_limit(const struct app_proto *proto, const struct conf_node *node)
{
    uint32_t otherwise = proto->tx_limit != 0 ? proto->tx_limit : 256;
    const struct conf_node *found = conf_find(node, "max-tx");
    uint64_t value;

    if (found == NULL || found->kind == CONF_NULL)
        return otherwise;
    if (text_to_u64(text_of(found->value), UINT32_MAX, &value) && value > 0)
        return (uint32_t)value;
    conf_warning(found, "%s: Invalid value \"%s\" for %s.max-tx, taking %u", proto->name,
                 found->value, proto->name, otherwise);
    return otherwise;
}

/* Reads one protocol for both transports. A transport that the protocol does not use stays off
 * whatever the file says; `parses` implies `enabled`, never the other way round. */
static const struct conf_node *proto_node(const struct app_proto *proto,
                                          const struct conf_node *root)
{
    char path[96];

    snprintf(path, sizeof(path), "app-layer.protocols.%s", proto->name);
    return conf_find(root, path);
}

static bool bypasses(const struct app_proto *proto, const struct conf_node *node)
{
    const char *handling = conf_string(node, "encryption-handling", "");

    return proto->encrypts && text_equal_nocase(text_of(handling), "bypass");
}

/* Whether the protocol is on where the file does not say. */
static bool is_default(const struct app_proto *proto, const struct conf_node *root)
{
    return proto->since_suricata_9 ? conf_is_suricata_9(root) : !proto->off_by_default;
}

static int read_proto(struct app_conf *conf, const struct app_proto *proto,
                      const struct conf_node *root, struct err *err)
{
    struct app_proto_conf *pc = &conf->proto[proto->id];
    const struct conf_node *node = proto_node(proto, root);

    pc->proto = proto;
    conf->bypasses |= bypasses(proto, node);
    for (unsigned t = 0; t < TRANSPORT_COUNT; t++) {
        int enabled = read_enabled(node, t, is_default(proto, root));
        bool carried = (proto->transports & TRANSPORT_BIT(t)) != 0;

        pc->enabled[t] = carried && enabled != PROTO_OFF;
        pc->parses[t] = carried && enabled == PROTO_ON && !proto->detection_only;
    }
    pc->tx_limit = read_tx_limit(proto, node);
    pc->has_stream_frame = proto->frames != NULL && proto->frames[0] != NULL &&
                           strcmp(proto->frames[0], "stream") == 0;
    read_depth(pc, node);
    return read_settings(pc, node, root, err);
}

/* Protocols of the list come first, then those that tests add. The tables for detection come last,
 * because they contain only enabled protocols. */
static int read_all(struct app_conf *conf, const struct conf_node *root,
                    const struct app_proto *const *extra, struct err *err)
{
    for (unsigned i = 0; i < APP_PROTO_COUNT; i++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)i);

        if (proto != NULL && read_proto(conf, proto, root, err) < 0)
            return -1;
    }
    for (; extra != NULL && *extra != NULL; extra++)
        if (read_proto(conf, *extra, root, err) < 0)
            return -1;
    return app_detect_tables_build(conf, root, err);
}

/* The settings of one protocol contain limits for the bodies of all protocols. */
static void read_shared_limits(struct app_conf *conf, const struct conf_node *root)
{
    const struct conf_node *node = NULL;
    const struct app_proto *proto = NULL;

    for (unsigned i = APP_PROTO_FIRST; i < app_proto_end() && proto == NULL; i++)
        if (app_proto_by_id((enum app_proto_id)i)->shares_limits)
            proto = app_proto_by_id((enum app_proto_id)i);
    if (proto != NULL)
        node = proto_node(proto, root);
    conf->ranges = app_ranges_new(conf_find(node, "byterange"));
    app_decoders_read(&conf->decoders, proto, node);
}

bool app_bypasses(const struct app_conf *conf)
{
    return conf != NULL && conf->bypasses;
}

/* Builds the state that the worker threads share. On an error frees what was built and returns
 * NULL; app_conf_free() accepts a conf that is only partly filled. */
struct app_conf *app_conf_new_extra(const struct conf_node *root, bool is_inline,
                                    const struct app_proto *const *extra, struct err *err)
{
    struct app_conf *conf = xcalloc(1, sizeof(*conf));

    conf->suricata_9 = conf_is_suricata_9(root);
    conf->is_inline = is_inline;
    conf->errors_by_proto = conf_bool(root, "stats.exception-policy.per-app-proto-errors", false);
    conf->error_policy = exception_policy_read(root, "app-layer.error-policy", true, is_inline,
                                               false);
    conf->magic_file = conf_string(root, "magic-file", NULL);
    conf->parents = expectation_parents_new();
    conf->expectations = app_expectations_new(conf->parents);
    read_shared_limits(conf, root);
    if (read_all(conf, root, extra, err) < 0) {
        app_conf_free(conf);
        return NULL;
    }
    app_counters_register(conf);
    return conf;
}

struct app_conf *app_conf_new(const struct conf_node *root, bool is_inline, struct err *err)
{
    return app_conf_new_extra(root, is_inline, NULL, err);
}

void app_conf_free(struct app_conf *conf)
{
    if (conf == NULL)
        return;
    for (unsigned i = 0; i < APP_PROTO_MAX; i++) {
        struct app_proto_conf *pc = &conf->proto[i];

        if (pc->settings != NULL && pc->proto->settings_free != NULL)
            pc->proto->settings_free(pc->settings);
        free(pc->settings);
    }
    app_detect_tables_free(&conf->detect);
    app_expectations_free(conf->expectations);
    expectation_parents_free(conf->parents);
    app_ranges_free(conf->ranges);
    free(conf);
}

/* Whether a parser may run at all, over either transport. */
bool app_proto_enabled(const struct app_conf *conf, enum app_proto_id id)
{
    return (unsigned)id < APP_PROTO_MAX &&
           (conf->proto[id].parses[TRANSPORT_TCP] || conf->proto[id].parses[TRANSPORT_UDP]);
}

/* Whether recognition looks for it; true with "detection-only" as well. */
bool app_proto_is_detected(const struct app_conf *conf, enum app_proto_id id)
{
    return (unsigned)id < APP_PROTO_MAX &&
           (conf->proto[id].enabled[TRANSPORT_TCP] || conf->proto[id].enabled[TRANSPORT_UDP]);
}

/* For a rule that names a family of protocols ("http"): one recognised member is enough. */
bool app_proto_any_is_detected(const struct app_conf *conf, enum app_proto_id rule_proto)
{
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        if (app_proto_matches(rule_proto, (enum app_proto_id)id) &&
            app_proto_is_detected(conf, (enum app_proto_id)id))
            return true;
    return false;
}

/* Returns the protocol's own memory account, for statistics and for setting memcaps at run time;
 * NULL if it has none. */
struct app_memory *app_proto_memory(const struct app_conf *conf, enum app_proto_id id)
{
    const struct app_proto_conf *pc = &conf->proto[id];

    return pc->proto != NULL && pc->proto->memory != NULL ? pc->proto->memory(pc->settings) : NULL;
}

struct app_memory *app_ranges_limit(const struct app_conf *conf)
{
    return app_ranges_memory(conf->ranges);
}

/* The cast drops const: the callers hold a const conf, but the limit and the sum in it are atomics
 * that the control thread and the workers change. */
struct app_memory *app_decoders_limit(const struct app_conf *conf)
{
    return (struct app_memory *)(uintptr_t)&conf->decoders.memory;
}

const void *app_proto_settings(const struct app_conf *conf, enum app_proto_id id)
{
    return (unsigned)id < APP_PROTO_MAX ? conf->proto[id].settings : NULL;
}

/* Sets bits, never clears them: a worker that sees a bit late only misses data of the packets
 * before. So relaxed order is enough, also when rules are reloaded under traffic. */
static void require(uint32_t *bits, uint32_t more)
{
    if (more != 0)
        __atomic_fetch_or(bits, more, __ATOMIC_RELAXED);
}

/* Takes a const conf because all callers hold one. The requirement bits are the one part of it that
 * changes after the start. */
void app_require(const struct app_conf *conf, const struct app_required_features *more)
{
    struct app_conf *c = (struct app_conf *)(uintptr_t)conf;

    for (unsigned i = 0; i < APP_PROTO_COUNT; i++) {
        require(&c->any_frames, more->frames[i]);
        require(&c->required_frames[i], more->frames[i]);
        require(&c->required_features[i], more->features[i]);
        require(&c->required_content[i], more->file_content[i]);
    }
    require(&c->required_files, more->files);
}

void app_required_add(struct app_required_features *all, const struct app_required_features *more)
{
    for (unsigned i = 0; i < APP_PROTO_COUNT; i++) {
        all->frames[i] |= more->frames[i];
        all->features[i] |= more->features[i];
        all->file_content[i] |= more->file_content[i];
    }
    all->files |= more->files;
}

/* For outputs and scripts, which do not name protocols: requires content of all of them. */
void app_require_files(const struct app_conf *conf, uint32_t what)
{
    struct app_conf *c = (struct app_conf *)(uintptr_t)conf;

    for (unsigned i = 0; i < APP_PROTO_MAX && (what & APP_FILE_CONTENT); i++)
        require(&c->required_content[i], APP_BOTH);
    require(&c->required_files, what);
}

void app_require_buffers(const struct app_conf *conf)
{
    struct app_required_features all = { .files = APP_FILE_TRACK | APP_FILE_CONTENT };

    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        for (const struct app_buffer *const *b = proto != NULL ? proto->buffers : NULL;
             b != NULL && *b != NULL; b++) {
            all.features[id] |= (*b)->feature;
            if ((*b)->files & APP_FILE_CONTENT)
                all.file_content[id] |= (*b)->directions;
        }
    }
    app_require(conf, &all);
}

/* For names in the configuration, such as force-hash: [md5]. False: no such hash. */
bool app_require_file_hash(const struct app_conf *conf, const char *name)
{
    static const struct app_name hashes[] = { { "md5", APP_FILE_MD5 }, { "sha1", APP_FILE_SHA1 },
                                              { "sha256", APP_FILE_SHA256 } };

    for (unsigned i = 0; i < ARRAY_LEN(hashes); i++) {
        if (text_equal_nocase(text_of(name), hashes[i].name)) {
            app_require_files(conf, (uint32_t)hashes[i].value);
            return true;
        }
    }
    return false;
}

void app_conf_hand_over(struct app_conf *conf)
{
    conf->hands_over = true;
}

bool app_is_inline(const struct app_flow *af)
{
    return af->thread->conf->is_inline;
}

/* Rules on this protocol, or outputs, require the feature; parsers skip work that none requires.
 * Each protocol defines its own bits. */
bool app_feature(const struct app_flow *af, uint32_t bit)
{
    return (required_get(&af->thread->conf->required_features[af->proto->id]) & bit) != 0;
}
