/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/elephant.c - the limits of flow.elephant, and the parts of a sampled flow. */
#include "flow/elephant.h"

#include "base/memory/lib_memory.h"

#define SECOND UINT64_C(1000000)

static const char *const action_names[] = {
    [ELEPHANT_INSPECT] = "inspect",
    [ELEPHANT_SPREAD] = "spread",
    [ELEPHANT_BYPASS] = "bypass",
    [ELEPHANT_SAMPLE] = "sample",
    NULL,
};

const char *elephant_action_name(enum elephant_action action)
{
    return action_names[action];
}

/* Without any limit every flow would be an elephant from its first packet on. */
int elephant_conf_read(struct elephant_conf *conf, const struct conf_node *root, struct err *err)
{
    const struct conf_node *node = conf_find(root, "flow.elephant");

    *conf = (struct elephant_conf){
        .action = (enum elephant_action)conf_choice_or_end(node, "action", action_names,
                                                           ELEPHANT_INSPECT),
        .bytes = conf_size(node, "bytes", 0),
        .age_us = conf_duration_ms(node, "age", 10000) * 1000,
        .rate = conf_size(node, "rate", UINT64_C(10) << 20),
        .part = conf_size(node, "sample-size", UINT64_C(256) << 10),
        .one_in = (uint32_t)conf_u64_range(node, "sample-one-in", 8, 1, UINT32_MAX),
    };
    if (conf->action == ELEPHANT_INSPECT)
        return 0;
    if (conf->bytes == 0 && conf->age_us == 0 && conf->rate == 0)
        return err_at(err, node->at, "flow.elephant: expected a limit above 0: bytes, age or rate");
    if (conf->part == 0)
        return err_at(err, node->at, "flow.elephant.sample-size: expected a size above 0");
    return 0;
}

static uint64_t flow_bytes(const struct flow *f)
{
    return f->bytes[TO_SERVER] + f->bytes[TO_CLIENT];
}

static struct flow_elephant *state_of(struct flow *f)
{
    struct flow_ext *ext = flow_ext_make(f);

    if (ext != NULL && ext->elephant == NULL)
        ext->elephant = lib_calloc(1, sizeof(*ext->elephant));
    return ext != NULL ? ext->elephant : NULL;
}

/* Packets that are older than the newest second count for that one. */
static bool reaches_rate(const struct elephant_conf *conf, struct flow_elephant *e,
                         uint64_t time_us, uint32_t bytes)
{
    if (time_us / SECOND > e->second) {
        e->second = time_us / SECOND;
        e->second_bytes = 0;
    }
    e->second_bytes += bytes;
    return e->second_bytes >= conf->rate;
}

/* Most flows never reach the first limits, and so need no memory. Without memory a flow is
 * inspected like any other. */
bool elephant_count(const struct elephant_conf *conf, struct flow *f, uint64_t time_us,
                    uint32_t bytes)
{
    struct flow_elephant *e;

    if (flow_bytes(f) < conf->bytes || time_us < f->start_us + conf->age_us)
        return false;
    e = state_of(f);
    if (e == NULL || e->action != ELEPHANT_INSPECT || !reaches_rate(conf, e, time_us, bytes))
        return false;
    e->action = (uint8_t)conf->action;
    e->from = flow_bytes(f);
    return true;
}

bool elephant_skips(const struct elephant_conf *conf, const struct flow *f)
{
    const struct flow_elephant *e = flow_elephant(f);

    return e != NULL && e->action == ELEPHANT_SAMPLE &&
           (flow_bytes(f) - e->from) / conf->part % conf->one_in != 0;
}
