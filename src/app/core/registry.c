/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/registry.c - the protocols by number and by name, made from app/list.h at compile time:
 * every binary has the same ids. */
#include "app/proto.h"
#include "app/rules.h"

#include <string.h>

#define X(symbol) extern const struct app_proto app_##symbol;
APP_PROTO_LIST(X)
#undef X

static const struct app_proto *const proto_table[APP_PROTO_COUNT] = {
#define X(symbol) [APP_PROTO_##symbol] = &app_##symbol,
    APP_PROTO_LIST(X)
#undef X
    [APP_PROTO_UNKNOWN] = NULL,
};

/* The names for rules' app-layer-event keyword, as in Suricata; the ids are ours (private.h). */
const struct app_name app_layer_events[] = {
    { "applayer_mismatch_protocol_both_directions", 1 },
    { "applayer_wrong_direction_first_data", 2 },
    { "applayer_detect_protocol_only_one_direction", 3 },
    { "applayer_proto_detection_skipped", 4 },
    { "applayer_no_tls_after_starttls", 5 },
    { "applayer_unexpected_protocol", 6 },
    { NULL, 0 },
};

const struct app_proto *app_proto_by_id(enum app_proto_id id)
{
    return (unsigned)id < APP_PROTO_COUNT ? proto_table[id] : NULL;
}

const struct app_proto *app_proto_by_name(const char *name)
{
    for (unsigned i = 0; i < APP_PROTO_COUNT; i++)
        if (proto_table[i] != NULL && strcmp(proto_table[i]->name, name) == 0)
            return proto_table[i];
    return NULL;
}

/* Rules may use another name than the configuration does, and an alias for it. */
static bool rule_name_is(const struct app_proto *proto, struct text name)
{
    const char *own = proto->rule_name != NULL ? proto->rule_name : proto->name;

    return text_equal_nocase(name, own) ||
           (proto->rule_alias != NULL && text_equal_nocase(name, proto->rule_alias));
}

/* "http" in a rule means any version of HTTP, as in Suricata. */
bool app_proto_by_rule_name(struct text name, enum app_proto_id *out)
{
    if (text_equal_nocase(name, "http")) {
        *out = APP_PROTO_HTTP_ANY;
        return true;
    }
    for (unsigned i = 0; i < APP_PROTO_COUNT; i++) {
        if (proto_table[i] != NULL && rule_name_is(proto_table[i], name)) {
            *out = (enum app_proto_id)i;
            return true;
        }
    }
    return false;
}

/* The protocol whose keywords and steps a rule on a family is read with: the family's first. */
const struct app_proto *app_proto_of_rule(enum app_proto_id rule_proto)
{
    if (app_proto_by_id(rule_proto) != NULL)
        return app_proto_by_id(rule_proto);
    for (unsigned i = 0; i < APP_PROTO_COUNT; i++)
        if (proto_table[i] != NULL && app_proto_matches(rule_proto, (enum app_proto_id)i))
            return proto_table[i];
    return NULL;
}

const char *app_proto_name(enum app_proto_id id)
{
    const struct app_proto *proto = app_proto_by_id(id);

    if (proto != NULL)
        return proto->name;
    switch (id) {
    case APP_PROTO_FAILED:
        return "failed";
    case APP_PROTO_HTTP_ANY:
        return "http_any";
    default:
        return "unknown";
    }
}

/* `also` lists the families a protocol belongs to. */
bool app_proto_matches(enum app_proto_id rule_proto, enum app_proto_id found)
{
    const struct app_proto *proto;

    if (rule_proto == found)
        return true;
    proto = app_proto_by_id(found);
    if (proto == NULL || rule_proto == APP_PROTO_UNKNOWN)
        return false;
    for (unsigned i = 0; i < ARRAY_LEN(proto->also); i++)
        if (proto->also[i] == rule_proto)
            return true;
    return false;
}
