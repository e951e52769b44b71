/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/report_json.c - the answer as JSON, a line for each rule. doc/explain.md has the
 * schema. */
#include "base/report/json.h"
#include "detect/explain/report.h"

static const char *const outcomes[] = { "not-asked", "pass", "fail" };

const char *part_key(const struct condition *c)
{
    static const char *const parts[] = {
        [PART_INSPECTED] = "inspected", [PART_PROTO] = "protocol", [PART_SRC] = "source",
        [PART_SRC_PORT] = "source-port", [PART_DST] = "destination",
        [PART_DST_PORT] = "destination-port", [PART_DIRECTION] = "direction",
        [PART_FLOW] = "flow", [PART_APP] = "app-protocol", [PART_TEST] = "test",
        [PART_STEP] = "buffer", [PART_TX_TEST] = "transaction", [PART_LATE_TEST] = "script" };

    return parts[c->part];
}

static void add_condition(struct json *j, const struct condition *c, const struct note *n)
{
    json_object(j, NULL);
    json_string(j, "part", part_key(c));
    if (c->text[0] != '\0')
        json_string(j, "condition", c->text);
    if (c->part == PART_STEP)
        json_string(j, "buffer", c->trace->list->buffer != NULL ? c->trace->list->buffer->name
                                                                 : "payload");
    if (c->is_fast)
        json_bool(j, "fast_pattern", true);
    json_string(j, "outcome", outcomes[n->outcome]);
    if (n->earlier)
        json_bool(j, "earlier_packet", true);
    if (n->at >= 0) {
        json_u64(j, "offset", (uint64_t)n->at);
        json_u64(j, "length", n->len);
    }
    if (n->text != NULL)
        json_string(j, "why", n->text);
    if (n->excerpt != NULL)
        json_string(j, "bytes", n->excerpt);
    json_object_end(j);
}

static void add_attempt(struct json *j, const struct attempt *a)
{
    json_object(j, NULL);
    if (a->title != NULL)
        json_string(j, "subject", a->title);
    json_string(j, "direction", a->direction == TO_SERVER ? "to_server" : "to_client");
    if (a->packet != 0)
        json_u64(j, "packet", a->packet);
    if (a->seen->flow != 0)
        json_u64(j, "flow_id", a->seen->flow);
    if (a->seen->flow != 0 && a->seen->item != UINT64_MAX)
        json_u64(j, "tx_id", a->seen->item);
    json_u64(j, "fired", a->seen->fired);
    json_u64(j, "distance", a->seen->fired > 0 ? 0 : a->seen->distance);
    if (a->seen->fired == 0 && a->seen->distance == 0 && a->held_back != NULL)
        json_string(j, "held_back", a->held_back);
    json_array(j, "conditions");
    for (unsigned i = 0; i < a->rule->count; i++)
        add_condition(j, &a->rule->condition[i], &a->note[i]);
    json_array_end(j);
    json_object_end(j);
}

static void add_group(const struct explain *e, const struct group *g, struct buf *out)
{
    struct buf verdict = { 0 };
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    json_u64(&j, "sid", g->sid);
    if (e->tenant != 0)
        json_u64(&j, "tenant_id", e->tenant);
    verdict_add(e, g, &verdict);
    json_slice(&j, "verdict", buf_slice(&verdict));
    buf_fini(&verdict);
    json_bool(&j, "loaded", g->rule_count > 0);
    if (g->failure != NULL)
        json_string(&j, "error", g->failure->error);
    if (g->rule_count > 0 && g->rule[0]->text != NULL)
        json_string(&j, "rule", g->rule[0]->text);
    json_u64(&j, "fired", g->fired);
    json_u64(&j, "subjects", g->seen_count);
    json_u64(&j, "left_out", g->lost);
    json_array(&j, "nearest");
    for (unsigned i = 0; i < g->nearest_count; i++)
        add_attempt(&j, g->nearest[i]);
    json_array_end(&j);
    json_object_end(&j);
    buf_add_u8(out, '\n');
}

void report_write_json(struct explain *e, struct buf *out)
{
    for (unsigned i = 0; i < e->group_count; i++)
        if (group_is_shown(e, &e->group[i]))
            add_group(e, &e->group[i], out);
}
