/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/commands/flows.c - finds a flow by the flow_id of EVE. Only the thread that owns a flow
 * may read it, so the command queries all packet threads. */
#include <stdlib.h>

#include "control/private.h"

#define ROUND_MS 2000 /* a thread that takes longer is stuck */

/* Written by packet threads, so it belongs to struct control and outlives the command. */
struct flow_result {
    uint64_t id;
    bool found;                         /* by one thread at most */
    uint64_t packets[2], bytes[2], age_s;
};

/* The inspection thread may be another than the owner and counts meanwhile. */
static uint64_t load_value(const uint64_t *at)
{
    return __atomic_load_n(at, __ATOMIC_RELAXED);   /* the inspecting thread counts */
}

/* Runs on each thread that owns flows, between two vectors. */
static void look(struct stream_thread *st, void *arg)
{
    struct flow_result *result = arg;
    const struct flow *f = stream_find_flow(st, result->id);

    if (f == NULL)
        return;
    for (unsigned d = 0; d < 2; d++) {
        result->packets[d] = load_value(&f->packets[d]);
        result->bytes[d] = load_value(&f->bytes[d]);
    }
    result->age_s = (f->last_us - f->start_us) / 1000000;
    result->found = true;
}

/* command_run() has checked that flow_id is an integer. */
static enum command_status flow_stats_run(struct command *c)
{
    struct control *control = c->control;
    struct flow_result *result = control->flow_result;
    int64_t id;

    (void)request_int(c->request, "flow_id", &id);
    if (control->engine == NULL)
        return command_nok(c, "Not found");
    /* After a timeout a late thread may still write to the old result: that one is used again. */
    if (result == NULL || !qsbr_is_synchronizing(control->conf.context)) {
        free(result);
        result = control->flow_result = xcalloc(1, sizeof(*result));
        result->id = (uint64_t)id;
    }
    if (!qsbr_synchronize(control->conf.context, look, result, ROUND_MS))
        return command_nok(c, "The packet threads do not answer, try again");
    if (!result->found)
        return command_nok(c, "Not found");
    json_object(c->j, "message");
    json_u64(c->j, "pkts_toclient", result->packets[TO_CLIENT]);
    json_u64(c->j, "pkts_toserver", result->packets[TO_SERVER]);
    json_u64(c->j, "bytes_toclient", result->bytes[TO_CLIENT]);
    json_u64(c->j, "bytes_toserver", result->bytes[TO_SERVER]);
    json_u64(c->j, "age", result->age_s);
    json_object_end(c->j);
    return COMMAND_OK;
}

const struct command_ops command_get_flow_stats_by_id = {
    .name = "get-flow-stats-by-id", .doc = "packets, bytes and age of a flow",
    .args = { { "flow_id", ARG_INT, false } }, .run = flow_stats_run,
};
