/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/dpdk/args.c - `dpdk.eal-params` as the command line that EAL expects. */
#include "capture/dpdk/dpdk.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text/text.h"

/* Options without an argument. For these yes and no mean what they say. */
static const char *const flags[] = {
    "create-uio-dev", "in-memory", "legacy-mem", "match-allocations", "no-hpet", "no-huge",
    "no-pci", "no-shconf", "no-telemetry", "single-file-segments", "telemetry", "vmware-tsc-map",
};
/* Any of them assigns lcores. */
static const char *const lcore_options[] = { "lcores", "l", "c" };

static int add(struct dpdk_args *args, const struct conf_node *node, const char *text,
               struct err *err)
{
    if (args->count == DPDK_ARGS_MAX)
        return err_at(err, node->at, "eal-params: more than %d arguments", DPDK_ARGS_MAX);
    args->at[args->count++] = xstrdup(text);
    return 0;
}

static int add_option(struct dpdk_args *args, const struct conf_node *param, const char *value,
                      struct err *err)
{
    char option[80];

    snprintf(option, sizeof(option), "%s%s", param->name[1] == '\0' ? "-" : "--", param->name);
    if (add(args, param, option, err) < 0)
        return -1;
    return value != NULL && value[0] != '\0' ? add(args, param, value, err) : 0;
}

static bool is_one_of(const char *name, const char *const *list, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        if (strcmp(name, list[i]) == 0)
            return true;
    return false;
}

/* A list gives the option once for each of its items: `vdev: [net_tap0, net_tap1]`. */
static int add_param(struct dpdk_args *args, const struct conf_node *param, struct err *err)
{
    bool on;

    if (param->kind == CONF_MAP)
        return err_at(err, param->at, "eal-params: %s: expected a value or a list", param->name);
    if (param->kind == CONF_LIST) {
        CONF_EACH(item, param)
            if (add_option(args, param, item->value, err) < 0)
                return -1;
        return 0;
    }
    if (param->value == NULL || !is_one_of(param->name, flags, ARRAY_LEN(flags)) ||
        !text_to_bool(text_of(param->value), &on))
        return add_option(args, param, param->value, err);
    return on ? add_option(args, param, NULL, err) : 0;
}

int dpdk_args_read(const struct conf_node *root, const char *cpus, struct dpdk_args *out,
                   struct err *err)
{
    const struct conf_node *params = conf_find(root, "dpdk.eal-params");
    bool has_lcores = false;
    char lcores[600];

    *out = (struct dpdk_args){ .count = 1 };
    out->at[0] = xstrdup("ids");
    CONF_EACH(param, params) {
        has_lcores |= is_one_of(param->name, lcore_options, ARRAY_LEN(lcore_options));
        if (add_param(out, param, err) < 0)
            return -1;
    }
    if (has_lcores)
        return 0;
    snprintf(lcores, sizeof(lcores), "--lcores=0@(%s)", cpus);
    return add(out, params, lcores, err);
}

void dpdk_args_free(struct dpdk_args *args)
{
    for (int i = 0; i < args->count; i++)
        free(args->at[i]);
    *args = (struct dpdk_args){ 0 };
}
