/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/flow.c - the record types `flow` and `netflow`: one record per flow, or one
 * per direction, when the flow has ended. */
#include "output/eve/eve.h"
#include "output/log_limit.h"

#include "app/proto.h"
#include "flow/elephant.h"
#include "flow/exception.h"
#include "stream/stream.h"

/* Seconds between the two times without their fractions, as Suricata computes it: not the
 * rounded difference. */
static uint64_t flow_age(const struct flow *f)
{
    uint64_t last = f->inspect_last_us / 1000000, start = f->start_us / 1000000;

    return last > start ? last - start : 0;
}

/* The members before those of the type. The timestamp is the flow's start, not the time of
 * the record. */
static void flow_head(struct render *r, const struct eve *eve, struct json *j,
                      const struct flow *f, struct eve_head head)
{
    eve_start(r, eve, j, f->start_us);
    JSON_U64(j, "flow_id", f->id);
    if (f->parent_id != 0)
        json_u64(j, "parent_id", f->parent_id);
    if (UNLIKELY(eve->sensor_id >= 0))
        json_u64(j, "sensor_id", (uint64_t)eve->sensor_id);
    eve_event_type(j, head.event_type);
    eve_vlans(j, f->key.vlan, f->vlan_count);
    eve_flow_addresses(j, f, head.order == EVE_TO_CLIENT, NULL);
    eve_proto(j, f->key.proto);
    if (f->key.proto == 50)
        json_u64(j, "spi", flow_esp_spi(&f->key));
    eve_community_id(j, eve, f);
    if (f->tenant_id != 0)
        json_u64(j, "tenant_id", f->tenant_id);
}

static bool is_icmp(const struct flow *f) { return f->key.proto == 1 || f->key.proto == 58; }

/* The flow's key has the ICMP type instead of the source port (for ICMPv6 with the code above it),
 * and the type of the reply instead of the destination port. */
static unsigned icmp_type(const struct flow *f, enum direction d)
{
    return (d == TO_CLIENT ? f->key.dst_port : f->key.src_port) & 0xff;
}

/* The answer's code is not kept; Suricata writes 0 as well. */
static void flow_icmp(struct json *j, const struct flow *f)
{
    json_u64(j, "icmp_type", icmp_type(f, TO_SERVER));
    json_u64(j, "icmp_code", f->icmp_code);
    if (f->packets[TO_CLIENT] == 0)
        return;
    json_u64(j, "response_icmp_type", icmp_type(f, TO_CLIENT));
    json_u64(j, "response_icmp_code", 0);
}

static void flow_mac_list(struct json *j, const char *key, const struct flow_macs *m,
                          enum direction d)
{
    if (m->count[d] == 0)
        return;
    json_array(j, key);
    for (unsigned i = 0; i < m->count[d]; i++)
        eve_mac(j, NULL, m->at[d][i]);
    json_array_end(j);
}

/* All addresses that were seen, because a flow may change its path. */
static void flow_ethernet(const struct eve *eve, struct json *j, const struct flow *f,
                      enum direction d)
{
    const struct flow_macs *macs = flow_macs(f);

    if (!eve->ethernet || macs == NULL)
        return;
    json_object(j, "ether");
    flow_mac_list(j, "dest_macs", macs, OTHER_DIRECTION(d));
    flow_mac_list(j, "src_macs", macs, d);
    json_object_end(j);
}

static uint8_t *put_hex(uint8_t *p, uint8_t value)
{
    *p++ = (uint8_t)"0123456789abcdef"[value >> 4];
    *p++ = (uint8_t)"0123456789abcdef"[value & 15];
    *p++ = '"';
    return p;
}

static void flow_tcp_flags(struct json *j, const struct tcp_summary *tcp)
{
    uint8_t *p = json_reserve(j, 3 * 24);

    if (UNLIKELY(p == NULL))
        return;
    p = put_hex(JSON_PUT(p, "\"tcp_flags\":\""), tcp->flags);
    p = put_hex(JSON_PUT(p, ",\"tcp_flags_ts\":\""), tcp->flags_ts);
    json_written(j, put_hex(JSON_PUT(p, ",\"tcp_flags_tc\":\""), tcp->flags_tc));
}

/* A flow that the stream module did not track has flags of 00, as in Suricata. */
static void flow_tcp(struct json *j, const struct flow *f)
{
    struct tcp_summary tcp;

    if (f->key.proto != 6)
        return;
    JSON_OBJECT(j, "tcp");
    if (stream_tcp_summary(f, &tcp)) {
        flow_tcp_flags(j, &tcp);
        eve_tcp_flags(j, tcp.flags);
        JSON_NAME(j, "state", tcp.state);
        if (f->parser_gaps & 1u << TO_SERVER)
            json_bool(j, "ts_gap", true);
        if (f->parser_gaps & 1u << TO_CLIENT)
            json_bool(j, "tc_gap", true);
        JSON_U64(j, "ts_max_regions", tcp.ts_max_regions);
        JSON_U64(j, "tc_max_regions", tcp.tc_max_regions);
        if (tcp.ts_urgent_oob > 0)
            json_u64(j, "ts_urgent_oob_data", tcp.ts_urgent_oob);
        if (tcp.tc_urgent_oob > 0)
            json_u64(j, "tc_urgent_oob_data", tcp.tc_urgent_oob);
    } else {
        json_string(j, "tcp_flags", "00");
        json_string(j, "tcp_flags_ts", "00");
        json_string(j, "tcp_flags_tc", "00");
    }
    json_object_end(j);
}

/* The kernel counts bypassed packets of all flows together, not of one. */
static void flow_bypass(struct json *j, const struct flow *f)
{
    enum flow_state state = flow_final_state(f);

    if (state < FLOW_LOCAL_BYPASSED)
        return;
    json_string(j, "bypass", state == FLOW_LOCAL_BYPASSED ? "local" : "capture");
    json_object(j, "bypassed");
    JSON_U64(j, "pkts_toserver", 0);
    JSON_U64(j, "pkts_toclient", 0);
    JSON_U64(j, "bytes_toserver", 0);
    JSON_U64(j, "bytes_toclient", 0);
    json_object_end(j);
}

/* What flow.elephant did with the flow. */
static void flow_policy(struct json *j, const struct flow_elephant *e)
{
    if (LIKELY(e == NULL))
        return;
    json_string(j, "elephant_action", elephant_action_name((enum elephant_action)e->action));
    if (e->action != ELEPHANT_SAMPLE)
        return;
    json_u64(j, "skipped_pkts", e->skipped_packets);
    json_u64(j, "skipped_bytes", e->skipped_bytes);
}

/* NULL: no rule and no policy has decided. */
static const char *flow_action(const struct flow *f)
{
    if ((f->action & ACTION_DROP) || (flow_requests(f) & FLOW_REQ_DROP))
        return "drop";
    if (f->action & ACTION_ACCEPT)
        return "accept";
    return (f->action & ACTION_PASS) || (flow_requests(f) & FLOW_REQ_PASS) ? "pass" : NULL;
}

/* The exception policies that were applied to the flow. */
static void flow_exceptions(struct json *j, const struct flow *f)
{
    if (f->exception_target == 0)
        return;
    json_array(j, "exception_policy");
    for (uint8_t target = 1; target <= EXCEPTION_TARGET_APP_ERROR; target <<= 1) {
        if (!(f->exception_target & target))
            continue;
        json_object(j, NULL);
        json_string(j, "target", exception_target_name(target));
        json_string(j, "policy", exception_policy_name(exception_policy_of_flow(f, target)));
        json_object_end(j);
    }
    json_array_end(j);
}

static void flow_counts(struct render *r, struct json *j, const struct flow *f)
{
    uint8_t *p = json_reserve(j, 5 * 40 + 2 * (EVE_TIME_SIZE + 16));

    if (UNLIKELY(p == NULL))
        return;
    p = JSON_PUT_U64(p, "\"pkts_toserver\":", f->packets[TO_SERVER]);
    p = JSON_PUT_U64(p, ",\"pkts_toclient\":", f->packets[TO_CLIENT]);
    p = JSON_PUT_U64(p, ",\"bytes_toserver\":", f->bytes[TO_SERVER]);
    p = JSON_PUT_U64(p, ",\"bytes_toclient\":", f->bytes[TO_CLIENT]);
    p = eve_put_time(r, JSON_PUT(p, ",\"start\":"), f->start_us);
    p = eve_put_time(r, JSON_PUT(p, ",\"end\":"), f->inspect_last_us);
    json_written(j, JSON_PUT_U64(p, ",\"age\":", flow_age(f)));
}

/* The end of a bypassed flow is when the engine, or the kernel, saw it last. */
static void flow_body(struct render *r, struct json *j, const struct flow *f)
{
    const char *action = flow_action(f);

    JSON_OBJECT(j, "flow");
    flow_counts(r, j, f);
    if (f->emergency)
        json_bool(j, "emergency", true);
    flow_bypass(j, f);
    JSON_NAME(j, "state", flow_state_name(flow_final_state(f)));
    JSON_NAME(j, "reason", flow_end_reason_name(f->end_reason));
    JSON_BOOL(j, "alerted", f->inspect_flags & FLOW_INSPECT_ALERTED);
    if ((f->inspect_flags & FLOW_INSPECT_ELEPHANT) || flow_elephant(f) != NULL)
        json_bool(j, "elephant", true);
    flow_policy(j, flow_elephant(f));
    if (action != NULL)
        json_string(j, "action", action);
    flow_exceptions(j, f);
    if (f->app != NULL && f->app->next_tx_id > 0)
        JSON_U64(j, "tx_cnt", f->app->next_tx_id);
    if (UNLIKELY(f->log_cut))
        json_bool(j, "records_cut", true);
    json_object_end(j);
}

/* A flow that cannot pay for its record is counted. */
static void flow_end_record(struct render *r, const struct eve *eve, struct json *j,
                            const struct packet *p)
{
    eve_end(r, eve, j, p);
    if (LIKELY(log_limit_take_last(r, p, record_slice(r).len)))
        return;
    eve_cancel(r);
    log_limit_count(r, p, LEFT_OUT_FLOW, NULL);
}

static bool flow_is_left_out(struct render *r, const struct packet *p)
{
    if (LIKELY(!log_limit_is_used(r, p, LOG_LIMIT_EVE_LEAST)))
        return false;
    log_limit_count(r, p, LEFT_OUT_FLOW, NULL);
    return true;
}

static void flow_record(struct render *r, const struct eve *eve, void *settings,
                        struct packet *p, const struct flow *f)
{
    struct json j;

    (void)settings;
    if (flow_is_left_out(r, p))
        return;
    flow_head(r, eve, &j, f, (struct eve_head){ EVE_AS_FLOW, "flow", EVE_NO_TX });
    JSON_U64(&j, "ip_v", f->key.src.version);
    if (is_icmp(f))
        flow_icmp(&j, f);
    eve_app_proto(&j, f);
    flow_body(r, &j, f);
    flow_ethernet(eve, &j, f, TO_SERVER);
    if (eve->metadata && flow_remembers(f))
        eve_vars(&j, f, NULL);
    flow_tcp(&j, f);
    flow_end_record(r, eve, &j, p);
}

/* Writes one direction as a separate record, with the sender as the source. */
static void netflow_direction(struct render *r, const struct eve *eve, struct packet *p,
                              const struct flow *f, enum direction d)
{
    enum app_proto_id proto = (enum app_proto_id)f->app_proto_dir[d];
    struct tcp_summary tcp = { 0 };
    struct json j;

    if (flow_is_left_out(r, p))
        return;
    flow_head(r, eve, &j, f,
              (struct eve_head){ d == TO_CLIENT ? EVE_TO_CLIENT : EVE_TO_SERVER, "netflow",
                                 EVE_NO_TX });
    if (is_icmp(f)) {
        json_u64(&j, "icmp_type", icmp_type(f, d));
        json_u64(&j, "icmp_code", d == TO_CLIENT ? 0 : f->icmp_code);
    }
    json_string(&j, "app_proto",
                app_proto_name(proto != APP_PROTO_UNKNOWN ? proto : f->app_proto));
    json_object(&j, "netflow");
    json_u64(&j, "pkts", f->packets[d]);
    json_u64(&j, "bytes", f->bytes[d]);
    eve_time(r, &j, JSON_LITERAL("start"), f->start_us);
    eve_time(r, &j, JSON_LITERAL("end"), f->inspect_last_us);
    json_u64(&j, "age", flow_age(f));
    json_u64(&j, "min_ttl", f->min_ttl[d]);
    json_u64(&j, "max_ttl", f->max_ttl[d]);
    if (f->app != NULL && f->app->next_tx_id > 0)
        json_u64(&j, "tx_cnt", f->app->next_tx_id);
    json_object_end(&j);
    if (f->key.proto == 6) {
        uint8_t flags;

        (void)stream_tcp_summary(f, &tcp);
        flags = d == TO_SERVER ? tcp.flags_ts : tcp.flags_tc;
        json_object(&j, "tcp");
        json_printf(&j, "tcp_flags", "%02x", flags);
        eve_tcp_flags(&j, flags);
        json_object_end(&j);
    }
    flow_ethernet(eve, &j, f, d);
    if (eve->metadata && flow_remembers(f))
        eve_vars(&j, f, NULL);
    flow_end_record(r, eve, &j, p);
}

/* A direction without packets has no record. */
static void netflow_record(struct render *r, const struct eve *eve, void *settings,
                           struct packet *p, const struct flow *f)
{
    (void)settings;
    netflow_direction(r, eve, p, f, TO_SERVER);
    if (f->packets[TO_CLIENT] > 0)
        netflow_direction(r, eve, p, f, TO_CLIENT);
}

const struct eve_type eve_type_flow = { .name = "flow", .flow = flow_record };
const struct eve_type eve_type_netflow = { .name = "netflow", .flow = netflow_record };
