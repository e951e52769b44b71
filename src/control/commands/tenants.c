/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/tenants.c - adds, removes and reloads tenants while the engine runs.
 * Each command copies the table in force, changes the copy, and exchanges the two. Rules
 * are loaded on the control thread. */
#include "control/private.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/report/log.h"

/* Returns a copy of the current table. NULL: multi-detect is off or a reload is running, and the
 * reply has the reason. A reload would overwrite the change. */
static struct tenants *begin(struct command *c)
{
    struct control *control = c->control;
    struct tenants *now = run_context_tenants(control->conf.context), *copy;

    if (now == NULL) {
        command_nok(c, "multi-tenant support not enabled");
        return NULL;
    }
    if (control->reload != RELOAD_IDLE) {
        tenants_unref(now);
        command_nok(c, "Reload already in progress");
        return NULL;
    }
    copy = tenants_copy(now);
    tenants_unref(now);
    return copy;
}

/* Puts the changed table in force. The stream module keeps raw data as soon as rules of
 * any tenant inspect streams. */
static void commit(struct command *c, struct tenants *changed)
{
    const struct control_conf *conf = &c->control->conf;
    unsigned generation;
    struct ruleset *rules = run_context_rules(conf->context, &generation);

    stream_conf_set_lookback(conf->stream, ruleset_looks_at_streams(rules) ||
                                               tenants_look_at_streams(changed));
    stream_conf_set_compare(conf->stream, ruleset_looks_at_overlap(rules) ||
                                              tenants_look_at_overlap(changed));
    ruleset_unref(rules);
    run_context_change_tenants(conf->context, changed);
}

/* 0 is no tenant, so it is not a valid id. */
static bool take_id(struct command *c, uint32_t *id)
{
    int64_t number;

    if (request_int(c->request, "id", &number) && number > 0 && number <= UINT32_MAX) {
        *id = (uint32_t)number;
        return true;
    }
    command_nok(c, "tenant_id is not a uint32");
    return false;
}

/* --- tenants ------------------------------------------------------------------------------ */

/* The reply has Suricata's short text; the log has the reason. */
static enum command_status refused(struct command *c, struct tenants *t, const struct err *err,
                                   const char *what)
{
    tenants_unref(t);
    if (err != NULL && err->text[0] != '\0')
        log_err(LOG_LEVEL_ERROR, "detect", err);
    return command_nok(c, "%s", what);
}

/* Loads a tenant from its file. `is_new`: the id must be unused, otherwise it must exist. */
static enum command_status put(struct command *c, bool is_new, const char *good, const char *bad)
{
    const char *file = request_string(c->request, "filename");
    struct err err = { 0 };
    struct tenants *t;
    uint32_t id;

    if (!take_id(c, &id))
        return COMMAND_NOK;
    if ((t = begin(c)) == NULL)
        return COMMAND_NOK;
    if (file != NULL && access(file, R_OK) < 0)
        return refused(c, t, NULL, "file does not exist");
    if ((tenants_find(t, id) < 0) != is_new ||
        tenants_put(t, c->control->conf.rules_request, id, file, &err) < 0)
        return refused(c, t, &err, bad);
    commit(c, t);
    return command_ok(c, "%s", good);
}

static enum command_status register_run(struct command *c)
{
    return put(c, true, "adding tenant succeeded", "adding tenant failed");
}

static enum command_status reload_run(struct command *c)
{
    return put(c, false, "reloading tenant succeeded", "reload tenant failed");
}

static enum command_status reload_all_run(struct command *c)
{
    struct err err = { 0 };
    struct tenants *t = begin(c);

    if (t == NULL)
        return COMMAND_NOK;
    if (tenants_reload(t, c->control->conf.rules_request, &err) < 0)
        return refused(c, t, &err, "reload tenants failed");
    commit(c, t);
    return command_ok(c, "reloading tenants succeeded");
}

static enum command_status unregister_run(struct command *c)
{
    struct tenants *t;
    uint32_t id;

    if (!take_id(c, &id) || (t = begin(c)) == NULL)
        return COMMAND_NOK;
    if (!tenants_remove(t, id))
        return refused(c, t, NULL, "tenant detect engine not found");
    commit(c, t);
    return command_ok(c, "removing tenant succeeded");
}

/* --- the traffic of a tenant -------------------------------------------------------------- */

/* Reads "vlan N" or "pcap". A capture file gets its tenant from the command pcap-file; VLAN 0 means
 * that. */
static bool take_vlan(struct command *c, uint16_t *vlan)
{
    const char *type = request_string(c->request, "htype");
    int64_t number;

    *vlan = 0;
    if (strcmp(type, "pcap") == 0)
        return true;
    if (strcmp(type, "vlan") != 0) {
        command_nok(c, "handler setup failure");
        return false;
    }
    if (!request_int(c->request, "hargs", &number)) {
        command_nok(c, "vlan requires argument");
        return false;
    }
    if (number < 1 || number > 4094) {
        command_nok(c, "vlan argument out of range");
        return false;
    }
    *vlan = (uint16_t)number;
    return true;
}

/* A "handler" is Suricata's word for a mapping from traffic to a tenant. */
static enum command_status handler(struct command *c, bool add)
{
    struct tenants *t;
    uint16_t vlan;
    uint32_t id;

    if (!take_id(c, &id) || !take_vlan(c, &vlan) || (t = begin(c)) == NULL)
        return COMMAND_NOK;
    if (!(add ? tenants_map_vlan(t, id, vlan) : tenants_unmap_vlan(t, id, vlan)))
        return refused(c, t, NULL, add ? "handler setup failure" : "handler unregister failure");
    commit(c, t);
    return command_ok(c, add ? "handler added" : "handler removed");
}

static enum command_status register_handler_run(struct command *c)
{
    return handler(c, true);
}

static enum command_status unregister_handler_run(struct command *c)
{
    return handler(c, false);
}

#define TENANT_ID { "id", ARG_INT, false }
#define HANDLER_ARGS { TENANT_ID, { "htype", ARG_STRING, false }, { "hargs", ARG_INT, true } }

const struct command_ops command_register_tenant_handler = {
    .name = "register-tenant-handler", .doc = "which packets are a tenant's",
    .args = HANDLER_ARGS, .run = register_handler_run,
};

const struct command_ops command_unregister_tenant_handler = {
    .name = "unregister-tenant-handler", .doc = "which packets no longer are",
    .args = HANDLER_ARGS, .run = unregister_handler_run,
};

const struct command_ops command_register_tenant = {
    .name = "register-tenant", .doc = "loads a tenant's rules",
    .args = { TENANT_ID, { "filename", ARG_STRING, false } }, .run = register_run,
};

const struct command_ops command_reload_tenant = {
    .name = "reload-tenant", .doc = "loads a tenant's rules again",
    .args = { TENANT_ID, { "filename", ARG_STRING, true } }, .run = reload_run,
};

const struct command_ops command_reload_tenants = {
    .name = "reload-tenants", .doc = "loads the rules of all tenants again",
    .run = reload_all_run,
};

const struct command_ops command_unregister_tenant = {
    .name = "unregister-tenant", .doc = "forgets a tenant",
    .args = { TENANT_ID }, .run = unregister_run,
};
