/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/tenants.c - one set of rules is in force for all: these commands say so. */
#include "control/private.h"

static enum command_status refuse(struct command *c)
{
    return command_nok(c, "multi-tenant support not enabled: the engine has one set of rules");
}

#define TENANT_ID { "id", ARG_INT, false }
#define HANDLER_ARGS { TENANT_ID, { "htype", ARG_STRING, false }, { "hargs", ARG_INT, true } }

const struct command_ops command_register_tenant_handler = {
    .name = "register-tenant-handler", .doc = "which packets are a tenant's",
    .args = HANDLER_ARGS, .run = refuse,
};

const struct command_ops command_unregister_tenant_handler = {
    .name = "unregister-tenant-handler", .doc = "which packets no longer are",
    .args = HANDLER_ARGS, .run = refuse,
};

const struct command_ops command_register_tenant = {
    .name = "register-tenant", .doc = "loads a tenant's rules",
    .args = { TENANT_ID, { "filename", ARG_STRING, false } }, .run = refuse,
};

const struct command_ops command_reload_tenant = {
    .name = "reload-tenant", .doc = "loads a tenant's rules again",
    .args = { TENANT_ID, { "filename", ARG_STRING, true } }, .run = refuse,
};

const struct command_ops command_reload_tenants = {
    .name = "reload-tenants", .doc = "loads the rules of all tenants again", .run = refuse,
};

const struct command_ops command_unregister_tenant = {
    .name = "unregister-tenant", .doc = "forgets a tenant",
    .args = { TENANT_ID }, .run = refuse,
};
