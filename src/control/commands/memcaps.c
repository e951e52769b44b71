/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/memcaps.c - shows and changes limits on memory (control/limits.c). */
#include <stdio.h>

#include "control/limits.h"
#include "control/private.h"

static bool find_limit(const struct command *c, struct memory_limit *out)
{
    return memory_limit_find(request_string(c->request, "config"), out);
}

/* Writes "64mb": the largest unit that divides the number. */
static void write_size(char out[40], uint64_t bytes)
{
    static const char *const units[] = { "b", "kb", "mb", "gb" };
    unsigned unit = 0;

    while (unit < 3 && bytes != 0 && bytes % 1024 == 0) {
        bytes /= 1024;
        unit++;
    }
    snprintf(out, 40, "%llu%s", (unsigned long long)bytes, units[unit]);
}

/* 0 means unlimited, as in Suricata. */
static void json_limit(struct command *c, const struct memory_limit *limit)
{
    uint64_t bytes = memory_limit_get(limit, c->control->conf.context);
    char text[40] = "unlimited";

    if (bytes != 0)
        write_size(text, bytes);
    json_string(c->j, "value", text);
}

static enum command_status unknown(struct command *c)
{
    return command_nok(c, "Memcap value not found. Use 'memcap-list' to show all");
}

static enum command_status list_run(struct command *c)
{
    struct memory_limit limit;

    json_array(c->j, "message");
    for (unsigned n = 0; memory_limit_at(n, &limit); n++) {
        json_object(c->j, NULL);
        json_string(c->j, "name", limit.name);
        json_limit(c, &limit);
        json_object_end(c->j);
    }
    json_array_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_memcap_list = {
    .name = "memcap-list", .doc = "all limits on memory", .run = list_run,
};

static enum command_status show_run(struct command *c)
{
    struct memory_limit limit;

    if (!find_limit(c, &limit))
        return unknown(c);
    json_object(c->j, "message");
    json_limit(c, &limit);
    json_object_end(c->j);
    return COMMAND_OK;
}

#define NAME_ARG { "config", ARG_STRING, false }

const struct command_ops command_memcap_show = {
    .name = "memcap-show", .doc = "one limit on memory", .args = { NAME_ARG }, .run = show_run,
};

/* Explains why limit->set() refused the value. */
static enum command_status refused(struct command *c, const struct memory_limit *limit,
                                   uint64_t bytes)
{
    uint64_t used = memory_limit_used(limit, c->control->conf.context);
    char text[40];

    if (bytes == 0)
        return command_nok(c, "Unlimited value is not allowed for '%s'", limit->name);
    write_size(text, used);
    if (bytes < used)
        return command_nok(c, "memcap value specified for '%s' is less than the memory in use: "
                           "%s", limit->name, text);
    return command_nok(c, "memcap of '%s' cannot be %llu while the engine runs", limit->name,
                       (unsigned long long)bytes);
}

/* A limit cannot go below the memory in use, which cannot be taken away. The new value applies
 * until the engine ends; the configuration does not change. */
static enum command_status set_run(struct command *c)
{
    struct memory_limit limit;
    uint64_t bytes;

    if (!text_to_size(text_of(request_string(c->request, "memcap")), &bytes))
        return command_nok(c, "error parsing memcap specified, value not changed");
    if (!find_limit(c, &limit))
        return unknown(c);
    if (!memory_limit_set(&limit, c->control->conf.context, bytes))
        return refused(c, &limit, bytes);
    return command_ok(c, "memcap value for '%s' updated: %llu %s", limit.name,
                      (unsigned long long)bytes, bytes == 0 ? "(unlimited)" : "");
}

const struct command_ops command_memcap_set = {
    .name = "memcap-set", .doc = "changes a limit on memory: \"64mb\"",
    .args = { NAME_ARG, { "memcap", ARG_STRING, false } }, .run = set_run,
};
