/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/conf.h - the settings of all protocols, and the features that rules and outputs require of
 * them. */
#ifndef APP_CONF_H
#define APP_CONF_H

#include "app/list.h"
#include "conf/conf.h"

/* Settings of all protocols and the detection tables; read-only but for app_require(). */
struct app_conf;
struct arena;
struct app_conf *app_conf_new(const struct conf_node *root, bool is_inline, struct err *err);
/* True if flows of this protocol are bypassed once they are encrypted. proto may be NULL. */
bool app_bypasses(const struct app_conf *conf);
void app_conf_free(struct app_conf *conf);
/* Another process may take over: parsers' input is kept as long as an exchange is not over. */
void app_conf_hand_over(struct app_conf *conf);

bool app_proto_enabled(const struct app_conf *conf, enum app_proto_id id);  /* with its parser */
bool app_proto_is_detected(const struct app_conf *conf, enum app_proto_id id);   /* at least */
/* True when at least one protocol that a rule for `rule_proto` covers is detected. */
bool app_proto_any_is_detected(const struct app_conf *conf, enum app_proto_id rule_proto);

/* Shared by threads. All members are relaxed atomics except `counted`, which is set at start and
 * decides whether `used` is counted. */
struct app_memory {
    uint64_t used, limit;       /* limit 0: none */
    bool counted;
};
/* Returns the memory that the protocol uses for all flows together. NULL: not counted. */
struct app_memory *app_proto_memory(const struct app_conf *conf, enum app_proto_id id);
struct app_memory *app_ranges_limit(const struct app_conf *conf);  /* files that come in ranges */
struct app_memory *app_decoders_limit(const struct app_conf *conf);    /* of bodies, unpacked */
const void *app_proto_settings(const struct app_conf *conf, enum app_proto_id id);

/* Returns the keys of the protocols and their logs, for conf_check_keys(); valid as long as the
 * arena. */
const char *const *app_settings_keys(struct arena *arena);

/* Features that rules and outputs require of the protocols. Each ruleset and each output collects
 * its own requirements and adds them before threads see it; requirements are never withdrawn. */
enum app_file_feature {
    APP_FILE_TRACK  = 1u << 0,
    APP_FILE_MD5    = 1u << 1,
    APP_FILE_SHA1   = 1u << 2,
    APP_FILE_SHA256 = 1u << 3,
    APP_FILE_MAGIC  = 1u << 4,
    APP_FILE_STORE  = 1u << 5,          /* content is kept until it is written, see app_file */
    APP_FILE_STORE_ALL = 1u << 6,  /* with STORE: each file has store_requested from the start */
    APP_FILE_CONTENT = 1u << 7,         /* rules inspect the content */
};
struct app_required_features {
    uint32_t frames[APP_PROTO_COUNT];   /* bit per frame type */
    uint32_t features[APP_PROTO_COUNT];
    uint32_t files;                     /* enum app_file_feature */
    /* Directions of files whose content the rules of this protocol inspect. In other directions the
     * content need not outlive its packet. */
    uint8_t file_content[APP_PROTO_COUNT];
};
void app_require(const struct app_conf *conf, const struct app_required_features *more);
void app_required_add(struct app_required_features *all, const struct app_required_features *more);
void app_require_files(const struct app_conf *conf, uint32_t what);
/* All that buffers of rules need, of all protocols: for explanations, which look into any. */
void app_require_buffers(const struct app_conf *conf);
/* hash: "md5", "sha1", "sha256". False: unknown hash. */
bool app_require_file_hash(const struct app_conf *conf, const char *name);

#endif
