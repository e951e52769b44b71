/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/hosts.c - the named bits that rules set on hosts. The engine knows a bit when a
 * rule names it. A command may change bits at any time, because the table has locks. */
#include <string.h>

#include "base/system/clock.h"
#include "control/private.h"
#include "detect/state/host_bits.h"
#include "flow/vars.h"

/* Numbers of names start at 1; 0: no rule names the bit. A linear search, because only commands
 * search by name. */
static uint32_t find_bit(const char *target)
{
    const char *name;

    for (uint32_t id = 1; (name = var_name(VAR_HOSTBIT, id)) != NULL; id++)
        if (strcmp(name, target) == 0)
            return id;
    return 0;
}

/* Reads address and bit; -1 with *status set when one is wrong. `id` NULL: only the
 * address. */
static int read_host(struct command *c, struct ip *ip, uint32_t *id, enum command_status *status)
{
    if (!ip_parse(text_of(request_string(c->request, "ipaddress")), ip)) {
        *status = command_nok(c, "invalid address string");
        return -1;
    }
    if (id == NULL)
        return 0;
    *id = find_bit(request_string(c->request, "hostbit"));
    if (*id != 0)
        return 0;
    *status = command_nok(c, "hostbit not found");
    return -1;
}

/* The texts and the limit of 32 bits are Suricata's. The bit is read back, because the
 * table may be at its memcap. */
static enum command_status add_run(struct command *c)
{
    enum command_status status;
    unsigned generation;
    struct ruleset *rules;
    uint64_t now_us = clock_wall_us();
    int64_t seconds;
    struct ip ip;
    uint32_t id;

    if (read_host(c, &ip, &id, &status) < 0)
        return status;
    (void)request_int(c->request, "expire", &seconds);
    if (seconds < 0 || seconds > UINT32_MAX)
        return command_nok(c, "expire is not a uint32");
    if ((uint64_t)seconds + now_us / 1000000 > UINT32_MAX)
        return command_nok(c, "couldn't set host expire");
    rules = run_context_rules(c->control->conf.context, &generation);
    host_bit_set(ruleset_host_bits(rules), (struct host_bit){ &ip, NULL, id }, now_us,
                 now_us + (uint64_t)seconds * 1000000);
    status = host_bit_is_set(ruleset_host_bits(rules), (struct host_bit){ &ip, NULL, id }, now_us)
                 ? command_ok(c, "hostbit added") : command_nok(c, "couldn't create host");
    ruleset_unref(rules);
    return status;
}

#define HOST_ARG { "ipaddress", ARG_STRING, false }
#define BIT_ARG { "hostbit", ARG_STRING, false }

const struct command_ops command_add_hostbit = {
    .name = "add-hostbit", .doc = "sets a bit on a host for so many seconds",
    .args = { HOST_ARG, BIT_ARG, { "expire", ARG_INT, false } }, .run = add_run,
};

static enum command_status remove_run(struct command *c)
{
    enum command_status status;
    unsigned generation;
    struct ruleset *rules;
    struct ip ip;
    uint32_t id;

    if (read_host(c, &ip, &id, &status) < 0)
        return status;
    rules = run_context_rules(c->control->conf.context, &generation);
    host_bit_unset(ruleset_host_bits(rules), (struct host_bit){ &ip, NULL, id }, 0);
    ruleset_unref(rules);
    return command_ok(c, "hostbit removed");
}

const struct command_ops command_remove_hostbit = {
    .name = "remove-hostbit", .doc = "takes a bit off a host",
    .args = { HOST_ARG, BIT_ARG }, .run = remove_run,
};

/* A live capture compares with the clock. Reading a file compares with 0, so the time of
 * the newest packet decides whether a bit has expired. */
static enum command_status list_run(struct command *c)
{
    enum command_status status;
    unsigned generation, count = 0;
    struct ruleset *rules;
    struct ip ip;
    bool live = command_is_there(c->control, &(struct command_ops){ .mode = COMMAND_LIVE });
    uint64_t now_us = live ? clock_wall_us() : 0;
    const char *name;

    if (read_host(c, &ip, NULL, &status) < 0)
        return status;
    rules = run_context_rules(c->control->conf.context, &generation);
    json_object(c->j, "message");
    json_array(c->j, "hostbits");
    for (uint32_t id = 1; (name = var_name(VAR_HOSTBIT, id)) != NULL; id++) {
        struct host_bit bit = { &ip, NULL, id };
        uint64_t ends_us = host_bit_ends_us(ruleset_host_bits(rules), bit, now_us);

        if (ends_us == 0)
            continue;
        json_object(c->j, NULL);
        json_string(c->j, "name", name);
        json_u64(c->j, "expire", ends_us > clock_wall_us() ? (ends_us - clock_wall_us()) / 1000000
                                                           : 0);
        json_object_end(c->j);
        count++;
    }
    json_array_end(c->j);
    json_u64(c->j, "count", count);
    json_object_end(c->j);
    ruleset_unref(rules);
    return COMMAND_OK;
}

const struct command_ops command_list_hostbit = {
    .name = "list-hostbit", .doc = "the bits set on a host, and for how many seconds",
    .args = { HOST_ARG }, .run = list_run,
};
