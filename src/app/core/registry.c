/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/registry.c - the protocols by number and by name. app/list.h numbers them, so every
 * binary has the same ids; app/list.c puts them here. Plugins add theirs behind them. */
#include "app/core/session.h"
#include "app/rules.h"

#include <string.h>

static const struct app_proto *proto_table[APP_PROTO_COUNT];

static enum app_proto_id proto_end = APP_PROTO_PLUGIN_FIRST;

enum app_proto_id app_proto_end(void)
{
    return proto_end;
}

/* The names for rules' app-layer-event keyword, as in Suricata; the ids are ours (session.h). */
static const char *const group_name[] = {
#define X(symbol) [APP_PROTO_ANY_##symbol] = #symbol,
    APP_GROUP_LIST(X)
#undef X
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
const char *app_proto_rule_name(const struct app_proto *proto)
{
    return proto->rule_name != NULL ? proto->rule_name : proto->name;
}

static bool rule_name_is(const struct app_proto *proto, struct text name)
{
    return text_equal_nocase(name, app_proto_rule_name(proto)) ||
           (proto->rule_alias != NULL && text_equal_nocase(name, proto->rule_alias));
}

/* "http" in a rule means any version of HTTP, as in Suricata. */
bool app_proto_by_rule_name(struct text name, enum app_proto_id *out)
{
    for (unsigned i = 0; i < ARRAY_LEN(group_name); i++) {
        if (group_name[i] != NULL && text_equal_nocase(name, group_name[i])) {
            *out = (enum app_proto_id)i;
            return true;
        }
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

/* A table that is complete is not written again: threads may read it. */
void app_proto_put(enum app_proto_id id, const struct app_proto *proto)
{
    if (proto_table[id] != proto)
        proto_table[id] = proto;
}

int app_proto_register(struct app_proto *proto, struct err *err)
{
    enum app_proto_id taken;

    if (app_proto_by_name(proto->name) != NULL ||
        app_proto_by_rule_name(text_of(proto->name), &taken))
        return err_set(err, "there is a protocol \"%s\" already", proto->name);
    if (proto_end == APP_PROTO_COUNT)
        return err_set(err, "at most %d protocols can be added", APP_PROTO_PLUGINS_MAX);
    proto->id = proto_end;
    proto_table[proto_end++] = proto;
    return 0;
}

const char *app_proto_name(enum app_proto_id id)
{
    static const char *const others[APP_PROTO_FIRST] = {
        [APP_PROTO_FAILED] = "failed",
#define X(symbol) [APP_PROTO_ANY_##symbol] = #symbol "_any",
        APP_GROUP_LIST(X)
#undef X
    };
    const struct app_proto *proto = app_proto_by_id(id);

    if (proto != NULL)
        return proto->name;
    return (unsigned)id < ARRAY_LEN(others) && others[id] != NULL ? others[id] : "unknown";
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

bool app_proto_has_files(enum app_proto_id rule_proto)
{
    for (unsigned id = APP_PROTO_FIRST; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = proto_table[id];

        if (proto != NULL && proto->file_directions != 0 &&
            (id == rule_proto || (app_proto_is_group(rule_proto) &&
                                  app_proto_matches(rule_proto, (enum app_proto_id)id))))
            return true;
    }
    return false;
}

/* --- events of flows ---------------------------------------------------------------------- */

/* Numbered as the protocols are listed. */
unsigned app_absent_event(const struct app_proto *of)
{
    unsigned event = APPLAYER_ABSENT_FIRST;

    if (of->absent_event == NULL)
        return 0;
    for (unsigned i = 0; i < APP_PROTO_COUNT && proto_table[i] != of; i++)
        event += proto_table[i] != NULL && proto_table[i]->absent_event != NULL;
    return event <= APPLAYER_ABSENT_LAST ? event : 0;
}

const char *app_layer_event_name(unsigned event)
{
    static const char *const names[APP_LAYER_EVENT_MAX + 1] = {
        [APPLAYER_MISMATCH] = "applayer_mismatch_protocol_both_directions",
        [APPLAYER_WRONG_DIRECTION] = "applayer_wrong_direction_first_data",
        [APPLAYER_ONE_DIRECTION] = "applayer_detect_protocol_only_one_direction",
        [APPLAYER_SKIPPED] = "applayer_proto_detection_skipped",
        [APPLAYER_UNEXPECTED] = "applayer_unexpected_protocol",
    };

    if (event > APP_LAYER_EVENT_MAX || names[event] != NULL)
        return event <= APP_LAYER_EVENT_MAX ? names[event] : NULL;
    for (unsigned i = 0; i < APP_PROTO_COUNT; i++)
        if (proto_table[i] != NULL && proto_table[i]->absent_event != NULL &&
            app_absent_event(proto_table[i]) == event)
            return proto_table[i]->absent_event;
    return NULL;
}
