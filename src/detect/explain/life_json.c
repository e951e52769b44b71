/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/life_json.c - the life of a flow as JSON, a line for each flow. doc/explain.md has
 * the schema. */
#include "base/report/json.h"
#include "detect/explain/life_private.h"

#include <stdio.h>
#include <time.h>

static void add_time(struct json *j, const char *key, uint64_t time_us)
{
    time_t seconds = (time_t)(time_us / 1000000);
    struct tm tm;
    char text[40];

    gmtime_r(&seconds, &tm);
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    json_printf(j, key, "%s.%06u+0000", text, (unsigned)(time_us % 1000000));
}

static void add_record(struct json *j, const struct life_record *r)
{
    json_object(j, NULL);
    json_string(j, "kind", life_kind_name((enum life_kind)r->kind));
    if (r->packet != 0)
        json_u64(j, "packet", r->packet);
    add_time(j, "timestamp", r->time_us);
    json_string(j, "direction", r->direction == TO_SERVER ? "to_server" : "to_client");
    json_string(j, "text", r->text != NULL ? r->text : "");
    for (unsigned i = 0; i < r->member_count; i++) {
        if (r->member[i].text != NULL)
            json_lossy(j, r->member[i].key,
                       (struct slice){ (const uint8_t *)r->member[i].text,
                                       (uint32_t)strlen(r->member[i].text) });
        else
            json_u64(j, r->member[i].key, r->member[i].number);
    }
    json_object_end(j);
}

static void add_rule(struct json *j, const struct life_rule *r)
{
    json_object(j, NULL);
    json_u64(j, "sid", r->rule->sid);
    json_u64(j, "asked", r->asked);
    json_u64(j, "matched", r->matched);
    json_u64(j, "alerts", r->alerts);
    json_object_end(j);
}

static void add_counts(struct json *j, const struct life *l, const struct life_flow *f)
{
    json_u64(j, "packets_to_server", f->packets[TO_SERVER]);
    json_u64(j, "packets_to_client", f->packets[TO_CLIENT]);
    json_u64(j, "payload_to_server", f->bytes[TO_SERVER]);
    json_u64(j, "payload_to_client", f->bytes[TO_CLIENT]);
    json_u64(j, "transactions", f->transactions);
    json_u64(j, "files", f->files);
    json_u64(j, "alerts", f->alerts);
    json_u64(j, "dropped", f->dropped);
    json_u64(j, "rules_loaded", l->set->plan->rule_count);
}

static void add_flow(const struct life *l, const struct life_flow *f, struct buf *out)
{
    struct json j;

    json_init(&j, out);
    json_object(&j, NULL);
    json_string(&j, "flow", f->title);
    if (f->id != 0)
        json_u64(&j, "flow_id", f->id);
    add_time(&j, "start", f->start_us);
    add_time(&j, "last", f->last_us);
    json_string(&j, "app_proto", app_proto_name((enum app_proto_id)f->app_proto));
    if (f->end != NULL)
        json_string(&j, "end", f->end);
    add_counts(&j, l, f);
    json_array(&j, "events");
    for (size_t i = 0; i < f->record.count; i++)
        add_record(&j, &f->record.at[i]);
    json_array_end(&j);
    json_array(&j, "rules");
    for (size_t i = 0; i < f->rule.count; i++)
        add_rule(&j, &f->rule.at[i]);
    json_array_end(&j);
    json_u64(&j, "left_out", l->left_out);
    json_object_end(&j);
    buf_add_u8(out, '\n');
}

void life_write_json(const struct life *l, struct buf *out)
{
    for (unsigned i = 0; i < l->flow_count; i++)
        add_flow(l, l->flow[i], out);
}
