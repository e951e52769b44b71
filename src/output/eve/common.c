/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/common.c - the members that EVE records share. Packet threads call it with
 * their own `struct render`; it takes no lock. */
#include <stdio.h>
#include <string.h>

#include "app/core/file.h"
#include "app/proto.h"
#include "base/system/digest.h"
#include "base/version.h"
#include "detect/rule/file_slot.h"
#include "flow/vars.h"
#include "output/eve/eve.h"
#include "output/output_private.h"
#include "packet/capture_file.h"
#include "packet/decode.h"

uint8_t *eve_put_time(struct render *r, uint8_t *p, uint64_t time_us)
{
    *p++ = '"';
    p += render_time(r, time_us, (char *)p);
    *p++ = '"';
    return p;
}

void eve_time(struct render *r, struct json *j, struct text member, uint64_t time_us)
{
    uint8_t *p = json_reserve(j, member.n + EVE_TIME_SIZE + 2);

    if (LIKELY(p != NULL))
        json_written(j, eve_put_time(r, json_put_text(p, member.p, member.n), time_us));
}

/* A protocol without a name is written as its number. */
void eve_proto(struct json *j, uint8_t proto)
{
    const char *name;

    if (LIKELY(proto == 6 || proto == 17)) {
        JSON_CLEAN(j, "proto", proto == 6 ? "TCP" : "UDP", 3);
        return;
    }
    name = ip_proto_name(proto);
    if (name != NULL)
        JSON_NAME(j, "proto", name);
    else
        json_printf(j, "proto", "%u", proto);
}

/* TCP, UDP and SCTP. */
static bool has_ports(uint8_t proto)
{
    return proto == 6 || proto == 17 || proto == 132;
}

static void eve_ip(struct json *j, struct text member, const struct ip *ip)
{
    uint8_t *p = json_reserve(j, member.n + IP_TEXT_SIZE + 2);

    if (UNLIKELY(p == NULL))
        return;
    memcpy(p, member.p, member.n);
    p += member.n;
    *p++ = '"';
    p += ip_format(ip, (char *)p);
    *p++ = '"';
    json_written(j, p);
}

/* Endpoints of the packet around another one; ports are always there, 0 without one. */
static void eve_outer_endpoints(struct json *j, const struct packet *p)
{
    bool ports = has_ports(p->ip_proto);

    eve_ip(j, JSON_LITERAL("src_ip"), &p->src);
    JSON_U64(j, "src_port", ports ? p->src_port : 0);
    eve_ip(j, JSON_LITERAL("dest_ip"), &p->dst);
    JSON_U64(j, "dest_port", ports ? p->dst_port : 0);
}

struct endpoint {
    const struct ip *address;
    uint16_t port;
};

static void eve_endpoints(struct json *j, struct endpoint src, struct endpoint dst, uint8_t proto)
{
    uint8_t *p = json_reserve(j, 2 * (IP_TEXT_SIZE + 48));

    if (UNLIKELY(p == NULL))
        return;
    p = JSON_PUT(p, "\"src_ip\":\"");
    p += ip_format(src.address, (char *)p);
    if (LIKELY(has_ports(proto)))
        p = JSON_PUT_U64(p, "\",\"src_port\":", src.port);
    else
        *p++ = '"';
    p = JSON_PUT(p, ",\"dest_ip\":\"");
    p += ip_format(dst.address, (char *)p);
    if (LIKELY(has_ports(proto)))
        p = JSON_PUT_U64(p, "\",\"dest_port\":", dst.port);
    else
        *p++ = '"';
    json_written(j, p);
}

/* `reversed`: from the server to the client. A flow that was swapped after its first
 * packet is swapped back here. `client` replaces the client's address (X-Forwarded-For). */
static void eve_flow_endpoints(struct json *j, const struct flow *f, bool reversed, uint8_t proto,
                               const struct ip *client)
{
    const struct flow_key *k = &f->key;
    bool swapped = reversed != flow_is_swapped(f);
    const struct ip *src = swapped ? &k->dst : &k->src, *dst = swapped ? &k->src : &k->dst;

    if (UNLIKELY(client != NULL) && reversed)
        dst = client;
    else if (UNLIKELY(client != NULL))
        src = client;
    eve_endpoints(j, (struct endpoint){ src, swapped ? k->dst_port : k->src_port },
                  (struct endpoint){ dst, swapped ? k->src_port : k->dst_port }, proto);
}

void eve_flow_addresses(struct json *j, const struct flow *f, bool reversed,
                        const struct ip *client)
{
    eve_flow_endpoints(j, f, reversed, f->key.proto, client);
}

/* An ICMP error belongs to the flow that it is about, but it has no ports. */
static uint8_t proto_shown(const struct packet *p)
{
    return p->ip_proto == 1 || p->ip_proto == 58 ? p->ip_proto : p->flow->key.proto;
}

void eve_flow_of_packet(const struct render *r, struct json *j, const struct packet *p)
{
    /* As in Suricata, no ports where the packet comes from port 0. */
    uint8_t proto = p->src_port != 0 ? proto_shown(p) : 0;

    eve_flow_endpoints(j, p->flow, false, proto, r->client);
}

/* A pseudo packet has no header, so its addresses come from the flow. */
static void eve_addresses(const struct render *r, struct json *j, const struct packet *p,
                          enum eve_order order)
{
    const struct ip *src = &p->src, *dst = &p->dst;

    if (order != EVE_AS_PACKET && p->flow != NULL) {
        eve_flow_endpoints(j, p->flow, order == EVE_TO_CLIENT, proto_shown(p), r->client);
        return;
    }
    if ((p->flags & PACKET_PSEUDO) && p->flow != NULL) {
        eve_flow_addresses(j, p->flow, p->flags & PACKET_TO_CLIENT, r->client);
        return;
    }
    if (UNLIKELY(r->client != NULL) && packet_direction(p) == TO_CLIENT)
        dst = r->client;
    else if (UNLIKELY(r->client != NULL))
        src = r->client;
    eve_endpoints(j, (struct endpoint){ src, p->src_port }, (struct endpoint){ dst, p->dst_port },
                  p->ip_proto);
}

void eve_mac(struct json *j, const char *key, const uint8_t m[6])
{
    json_printf(j, key, "%02x:%02x:%02x:%02x:%02x:%02x", m[0], m[1], m[2], m[3], m[4], m[5]);
}

/* `flip`: the record is about the other direction than the packet. */
static void eve_ethernet(struct json *j, const struct packet *p, enum eve_order order)
{
    bool flip = p->flow != NULL && (p->flags & PACKET_TO_CLIENT)
                    ? order == EVE_AS_FLOW || order == EVE_TO_SERVER : order == EVE_TO_CLIENT;

    json_object(j, "ether");
    json_u64(j, "ether_type", (unsigned)p->eth[12] << 8 | p->eth[13]);
    eve_mac(j, "src_mac", p->eth + (flip ? 0 : 6));
    eve_mac(j, "dest_mac", p->eth + (flip ? 6 : 0));
    json_object_end(j);
}

/* For a pseudo packet: the addresses of the flow's first packet. */
static void eve_flow_ethernet(struct json *j, const struct flow_macs *m)
{
    if (m->count[TO_SERVER] == 0 || m->count[TO_CLIENT] == 0)
        return;
    json_object(j, "ether");
    eve_mac(j, "src_mac", m->at[TO_SERVER][0]);
    eve_mac(j, "dest_mac", m->at[TO_CLIENT][0]);
    json_object_end(j);
}

void eve_vlans(struct json *j, const uint16_t *vlan, unsigned count)
{
    uint8_t *p;

    if (count == 0)
        return;
    p = json_reserve(j, 16 + count * sizeof("65535,"));
    if (UNLIKELY(p == NULL))
        return;
    p = JSON_PUT(p, "\"vlan\":[");
    for (unsigned i = 0; i < count; i++) {
        if (i > 0)
            *p++ = ',';
        p = json_write_u64(p, vlan[i]);
    }
    *p++ = ']';
    json_written(j, p);
}

/* The packet that another one came out of: the outer packet of a tunnel, or the last
 * fragment. */
void eve_tunnel(struct json *j, const struct packet *p)
{
    const struct packet *root = p->root;

    if (!(p->flags & (PACKET_TUNNEL | PACKET_REASSEMBLED)) || root == NULL)
        return;
    json_object(j, "tunnel");
    eve_outer_endpoints(j, root);
    eve_proto(j, root->ip_proto);
    json_u64(j, "depth", p->recursion);
    if (root->number != 0)
        JSON_U64(j, "pcap_cnt", root->number);
    json_string(j, "pkt_src", packet_source_name(root->source));
    json_object_end(j);
}

/* Writes type and code instead of ports. */
static void eve_icmp(struct json *j, const struct packet *p)
{
    if (p->ip_proto != 1 && p->ip_proto != 58)
        return;
    if (p->l4 == NULL)
        return;
    json_u64(j, "icmp_type", p->icmp.type);
    json_u64(j, "icmp_code", p->icmp.code);
}

void eve_community_id(struct json *j, const struct eve *eve, const struct flow *f)
{
    char id[64];
    size_t n = eve->community_id
                   ? flow_community_id(&f->key, eve->community_seed, id, sizeof(id)) : 0;

    if (n > 0)
        json_bytes(j, "community_id", id, n);
}

void eve_start(struct render *r, const struct eve *eve, struct json *j, uint64_t time_us)
{
    uint8_t *p;

    record_begin(r, eve->sink);
    if (UNLIKELY(eve->prefix[0] != '\0'))
        buf_add_string(r->out, eve->prefix);
    json_init(j, r->out);
    p = json_reserve(j, EVE_TIME_SIZE + 24);
    if (LIKELY(p != NULL))
        json_written(j, eve_put_time(r, JSON_PUT(p, "{\"timestamp\":"), time_us));
    j->depth = 1;
    j->more = 1u << 1;
}

void eve_event_type(struct json *j, const char *name)
{
    JSON_NAME(j, "event_type", name);
}

/* Begins a record and writes what all records have. Each call needs eve_end() or
 * eve_cancel(). */
void eve_begin(struct render *r, const struct eve *eve, struct json *j, const struct packet *p,
               struct eve_head head)
{
    const struct flow *f = p->flow;
    uint8_t proto = p->ip_proto != 0 || f == NULL ? p->ip_proto : f->key.proto;
    bool ip = p->src.version != 0 || f != NULL;

    eve_start(r, eve, j, r->record_us != 0 ? r->record_us : p->time_us);
    if (f != NULL) {
        JSON_U64(j, "flow_id", f->id);
        if (f->parent_id != 0)
            JSON_U64(j, "parent_id", f->parent_id);
    }
    if (UNLIKELY(eve->sensor_id >= 0))
        json_u64(j, "sensor_id", (uint64_t)eve->sensor_id);
    if (p->device_name != NULL)
        json_string(j, "in_iface", p->device_name);
    if (p->number != 0)
        JSON_U64(j, "pcap_cnt", p->number);
    eve_event_type(j, head.event_type);
    eve_vlans(j, p->vlan, p->vlan_count);
    if (ip) {
        eve_addresses(r, j, p, head.order);
        eve_proto(j, proto);
        JSON_U64(j, "ip_v", p->src.version != 0 ? p->src.version : f->key.src.version);
    }
    eve_icmp(j, p);
    JSON_NAME(j, "pkt_src", packet_source_name(p->source));
    if (eve->ethernet && p->eth != NULL)
        eve_ethernet(j, p, head.order);
    else if (eve->ethernet && f != NULL && flow_macs(f) != NULL)
        eve_flow_ethernet(j, flow_macs(f));
    if (f != NULL) {
        eve_community_id(j, eve, f);
        if (f->tenant_id != 0)
            json_u64(j, "tenant_id", f->tenant_id);
    }
    if (eve->metadata && !r->is_reduced && f != NULL &&
        (flow_remembers(f) || detect_slot(p)->vars != NULL))
        eve_vars(j, f, p);
    if (head.tx_id != EVE_NO_TX)
        JSON_U64(j, "tx_id", head.tx_id);
}

/* Set while plugins load; then only read. NULL: there is nothing to add. */
static void (*flow_members)(struct json *j, const struct flow *f);

void eve_set_flow_members(void (*write)(struct json *j, const struct flow *f))
{
    flow_members = write;
}

/* Ends the record and its line; the sink takes it from here. */
void eve_end(struct render *r, const struct eve *eve, struct json *j, const struct packet *p)
{
    if (UNLIKELY(flow_members != NULL) && p != NULL && p->flow != NULL)
        flow_members(j, p->flow);
    if (eve->sensor_name != NULL)
        json_string(j, "host", eve->sensor_name);
    if (eve->pcap_file && p != NULL && p->file != NULL)
        json_string(j, "pcap_filename", p->file->path);
    if (eve->version)
        json_string(j, "suricata_version", IDS_COMPATIBLE_VERSION);
    json_object_end(j);
    buf_add_u8(r->out, '\n');
    record_end(r);
}

/* --- the limit of records per flow --------------------------------------------------------- */

#define FLOW_LOG_FREE 512               /* bytes of records that even the shortest flow may have */
#define FLOW_CONTENTS_FREE (16 * 1024)  /* the same for contents of alerts */
#define LOG_UNITS_MAX 0x7fffffffu       /* 31 bits: flow.log_units */

/* Records of a flow may be max-flow-expansion times as large as its traffic. Otherwise a
 * client could fill the disk with small requests. All eve-logs share the limit, and each
 * writes the same. The limit is the flow's own: a limit that flows share would depend on which
 * thread has which flows, and so would the records. */
static uint64_t flow_log_limit(const struct render *r, const struct eve *eve,
                               const struct flow *f)
{
    uint64_t bytes = f->bytes[TO_SERVER] + f->bytes[TO_CLIENT];

    return (bytes * eve->flow_expansion + FLOW_LOG_FREE) * r->conf->eve_logs;
}

/* The limit that includes contents of alerts. */
static uint64_t flow_log_limit_all(const struct render *r, const struct eve *eve,
                                   const struct flow *f)
{
    uint64_t limit = flow_log_limit(r, eve, f);

    return r->conf->alert_contents ? 2 * limit + FLOW_CONTENTS_FREE : limit;
}

static uint64_t flow_log_used(const struct flow *f)
{
    return (uint64_t)f->log_units * 64;
}

/* Rounds up, so that many small records count too. */
static void flow_log_charge(struct flow *f, size_t len)
{
    uint64_t units = f->log_units + (len + 63) / 64;

    f->log_units = MIN(units, LOG_UNITS_MAX) & LOG_UNITS_MAX;
}

/* The flow's record shows records_cut, so that readers do not take the log for complete. */
static void count_cut(struct render *r, const struct eve *eve, struct flow *f)
{
    f->log_cut = 1;
    counter_add(r->counters, eve->records_cut, 1);
}

/* Checked before a record is rendered: past the limit rendering would cost as much as
 * writing. */
bool eve_flow_has_space(struct render *r, const struct eve *eve, struct flow *f)
{
    if (eve->flow_expansion == 0 || flow_log_used(f) < flow_log_limit_all(r, eve, f))
        return true;
    count_cut(r, eve, f);
    return false;
}

/* Ends the record and takes it back when it exceeds the limit. A record that is taken back
 * is charged too, because it cost as much to render. */
bool eve_end_within(struct render *r, const struct eve *eve, struct json *j, struct packet *p)
{
    size_t len;

    eve_end(r, eve, j, p);
    len = record_slice(r).len;
    flow_log_charge(p->flow, len);
    if (eve->flow_expansion != 0 &&
        flow_log_used(p->flow) > flow_log_limit_all(r, eve, p->flow)) {
        eve_cancel(r);
        count_cut(r, eve, p->flow);
        return false;
    }
    if (LIKELY(log_limit_allows(r, p, 0)))
        return true;
    eve_cancel(r);
    p->flow->log_cut = 1;
    log_limit_count(r, p, LEFT_OUT_OTHER, NULL);
    return false;
}

bool eve_is_left_out(struct render *r, const struct packet *p)
{
    if (LIKELY(!log_limit_is_used(r, p, LOG_LIMIT_EVE_LEAST)))
        return false;
    log_limit_count(r, p, LEFT_OUT_OTHER, NULL);
    return true;
}

void eve_end_limited(struct render *r, const struct eve *eve, struct json *j,
                     const struct packet *p)
{
    eve_end(r, eve, j, p);
    if (LIKELY(log_limit_take(r, p, record_slice(r).len)))
        return;
    eve_cancel(r);
    log_limit_count(r, p, LEFT_OUT_OTHER, NULL);
}

bool eve_contents_have_space(struct render *r, const struct eve *eve, const struct flow *f)
{
    if (f == NULL || eve->flow_expansion == 0 ||
        flow_log_used(f) < flow_log_limit(r, eve, f) + FLOW_CONTENTS_FREE)
        return true;
    counter_add(r->counters, eve->contents_cut, 1);
    return false;
}

/* The first record may be larger: a body often is. One that is taken back is charged, too. */
bool eve_contents_fit(struct render *r, const struct eve *eve, struct flow *f)
{
    const size_t len = record_slice(r).len;

    if (f == NULL || eve->flow_expansion == 0 || flow_log_used(f) == 0 ||
        flow_log_used(f) + len <= flow_log_limit(r, eve, f) + FLOW_CONTENTS_FREE)
        return true;
    flow_log_charge(f, len);
    counter_add(r->counters, eve->contents_cut, 1);
    return false;
}

void eve_contents_charge(struct render *r, struct flow *f)
{
    if (f != NULL)
        flow_log_charge(f, record_slice(r).len);
}

/* Bytes of alerts that even the shortest flow may have: 256 KiB with the default of 64, and less
 * where less is asked for. */
#define ALERTS_FREE_MOST (256 * 1024)
#define ALERTS_FREE_EACH (4 * 1024)

static uint64_t alerts_limit(const struct eve *eve, uint64_t bytes)
{
    return bytes * eve->alert_expansion +
           MIN((uint64_t)eve->alert_expansion * ALERTS_FREE_EACH, (uint64_t)ALERTS_FREE_MOST);
}

bool eve_details_have_space(struct render *r, const struct eve *eve, const struct packet *p)
{
    const struct flow *f = p->flow;
    uint64_t bytes = f != NULL ? f->bytes[TO_SERVER] + f->bytes[TO_CLIENT] : p->wire_len;
    uint64_t used = f != NULL ? (uint64_t)f->alert_units * 64 : r->alert_bytes;
    unsigned logs = f != NULL ? r->conf->eve_logs : 1;

    if (eve->alert_expansion == 0 || used < alerts_limit(eve, bytes) * logs)
        return true;
    counter_add(r->counters, eve->details_cut, 1);
    return false;
}

void eve_details_charge(struct render *r, struct flow *f)
{
    if (f != NULL)
        f->alert_units = (uint32_t)MIN(f->alert_units + (record_slice(r).len + 63) / 64,
                                       UINT32_MAX);
}

void eve_cancel(struct render *r)
{
    record_cancel(r);
}

/* The other members appear only where they differ from app_proto. */
void eve_app_proto(struct json *j, const struct flow *f)
{
    if (f->app_proto == APP_PROTO_UNKNOWN && f->app_proto_dir[TO_SERVER] == APP_PROTO_UNKNOWN &&
        f->app_proto_dir[TO_CLIENT] == APP_PROTO_UNKNOWN)
        return;
    if (f->app_proto != APP_PROTO_UNKNOWN)
        JSON_NAME(j, "app_proto", app_proto_name(f->app_proto));
    if (f->app_proto_dir[TO_SERVER] != f->app_proto &&
        f->app_proto_dir[TO_SERVER] != APP_PROTO_UNKNOWN)
        JSON_NAME(j, "app_proto_ts", app_proto_name(f->app_proto_dir[TO_SERVER]));
    if (f->app_proto_dir[TO_CLIENT] != f->app_proto &&
        f->app_proto_dir[TO_CLIENT] != APP_PROTO_UNKNOWN)
        JSON_NAME(j, "app_proto_tc", app_proto_name(f->app_proto_dir[TO_CLIENT]));
    if (f->app_proto_orig != APP_PROTO_UNKNOWN && f->app_proto_orig != f->app_proto)
        json_string(j, "app_proto_orig", app_proto_name(f->app_proto_orig));
    if (f->app_proto_expected != APP_PROTO_UNKNOWN && f->app_proto_expected != f->app_proto)
        json_string(j, "app_proto_expected", app_proto_name(f->app_proto_expected));
}

/* Flags that are not set are left out. */
void eve_tcp_flags(struct json *j, uint8_t flags)
{
    static const struct { uint8_t bit; const char *name; } names[] = {
        { TCP_SYN, "syn" }, { TCP_FIN, "fin" }, { TCP_RST, "rst" }, { TCP_PSH, "psh" },
        { TCP_ACK, "ack" }, { TCP_URG, "urg" }, { TCP_ECE, "ecn" }, { TCP_CWR, "cwr" },
    };

    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (flags & names[i].bit)
            json_bool(j, names[i].name, true);
}

/* The values of libpcap's DLT_*; the names are Suricata's. */
static const struct { int linktype; const char *name; } link_types[] = {
    [DATALINK_NONE] = { 12, "RAW" },          /* a pseudo packet */
    [DATALINK_ETHERNET] = { 1, "EN10MB" },
    [DATALINK_RAW] = { 12, "RAW" },
    [DATALINK_NULL] = { 0, "NULL" },
    [DATALINK_PPP] = { 9, "PPP" },
    [DATALINK_CHDLC] = { 104, "C_HDLC" },
    [DATALINK_SLL] = { 113, "LINUX_SLL" },
    [DATALINK_SLL2] = { 276, "LINUX_SLL2" },
    [DATALINK_GRE_OVER_IP] = { 778, "GRE_OVER_IP" },
    [DATALINK_RAW2] = { 12, "RAW" },          /* 101 in files; libpcap maps it to 12 */
    [DATALINK_IPV4] = { 228, "IPv4" },
    [DATALINK_IPV6] = { 229, "IPv6" },
};

int eve_linktype(const struct packet *p)
{
    return link_types[p->datalink].linktype;
}

/* `most`: the number of bytes to show. */
void eve_packet_bytes(struct json *j, const struct packet *p, uint32_t most)
{
    if (p->len > 0)
        json_base64(j, "packet", p->data, MIN(p->len, most));
    json_object(j, "packet_info");
    json_i64(j, "linktype", eve_linktype(p));
    json_string(j, "linktype_name", link_types[p->datalink].name);
    json_object_end(j);
}

/* --- variables of the flow ------------------------------------------------------------------ */

/* Rules set flowbits traffic/id/NAME and traffic/label/NAME to classify a flow, as in Suricata. */
#define TRAFFIC_ID "traffic/id/"
#define TRAFFIC_LABEL "traffic/label/"

static bool is_traffic_label(const char *name)
{
    return strncmp(name, TRAFFIC_ID, strlen(TRAFFIC_ID)) == 0 ||
           strncmp(name, TRAFFIC_LABEL, strlen(TRAFFIC_LABEL)) == 0;
}

/* What a visitor of the flow's variables writes to. `any`: something was written. */
struct var_writer {
    struct json *j;
    const char *prefix;             /* of traffic labels; else NULL */
    bool any;
};

/* One walk over the flow's variables for each kind: they are few, and stored unsorted. An array
 * without members is taken back. */
static bool write_array(struct json *j, const struct flow *f, const char *key, const char *prefix,
                        bool (*visit)(const struct flow_var_view *v, void *arg))
{
    struct var_writer w = { .j = j, .prefix = prefix };
    struct json_mark mark = json_mark(j);

    json_array(j, key);
    flow_vars_each(f, visit, &w);
    if (w.any)
        json_array_end(j);
    else
        json_rewind(j, mark);
    return w.any;
}

/* The same for kinds whose names are the keys. */
static bool write_object(struct json *j, const struct flow *f, const char *key,
                         bool (*visit)(const struct flow_var_view *v, void *arg))
{
    struct var_writer w = { .j = j };
    struct json_mark mark = json_mark(j);

    json_object(j, key);
    flow_vars_each(f, visit, &w);
    if (w.any)
        json_object_end(j);
    else
        json_rewind(j, mark);
    return w.any;
}

static bool visit_traffic(const struct flow_var_view *v, void *arg)
{
    struct var_writer *w = arg;
    const char *name = v->kind == VAR_FLOWBIT ? var_name(v->kind, v->id) : NULL;
    size_t len = strlen(w->prefix);

    if (name == NULL || strncmp(name, w->prefix, len) != 0)
        return true;
    json_string(w->j, NULL, name + len);
    return w->any = true;
}

/* An object that stays empty is taken back. */
static bool eve_traffic(struct json *j, const struct flow *f)
{
    struct json_mark mark = json_mark(j);
    bool any;

    json_object(j, "traffic");
    any = write_array(j, f, "id", TRAFFIC_ID, visit_traffic);
    any |= write_array(j, f, "label", TRAFFIC_LABEL, visit_traffic);
    if (any)
        json_object_end(j);
    else
        json_rewind(j, mark);
    return any;
}

static bool visit_flowbit(const struct flow_var_view *v, void *arg)
{
    struct var_writer *w = arg;
    const char *name = v->kind == VAR_FLOWBIT ? var_name(v->kind, v->id) : NULL;

    if (name == NULL || is_traffic_label(name))
        return true;
    json_string(w->j, NULL, name);
    return w->any = true;
}

static bool visit_flowvar(const struct flow_var_view *v, void *arg)
{
    struct var_writer *w = arg;
    const char *name = v->kind == VAR_FLOWVAR ? var_name(v->kind, v->id) : NULL;

    if (name == NULL)
        return true;
    json_object(w->j, NULL);
    if (v->key.len > 0) {
        json_slice(w->j, "key", v->key);
        json_slice(w->j, "value", v->value);
    } else {
        json_slice(w->j, name, v->value);
    }
    json_object_end(w->j);
    return w->any = true;
}

static bool visit_flowint(const struct flow_var_view *v, void *arg)
{
    struct var_writer *w = arg;
    const char *name = v->kind == VAR_FLOWINT ? var_name(v->kind, v->id) : NULL;

    if (name == NULL)
        return true;
    json_u64(w->j, name, v->number);
    return w->any = true;
}

static bool visit_entropy(const struct flow_var_view *v, void *arg)
{
    struct var_writer *w = arg;
    const char *name = v->kind == VAR_ENTROPY ? var_name(v->kind, v->id) : NULL;

    if (name == NULL)
        return true;
    json_double(w->j, name, v->entropy);
    return w->any = true;
}

/* Variables of the packet come first: {"name": "value"}, or key and value. */
static bool write_packet_vars(struct json *j, const struct packet_var *v)
{
    if (v == NULL)
        return false;
    json_array(j, "pktvars");
    for (; v != NULL; v = v->next) {
        const char *name = var_name(VAR_PKTVAR, v->id);

        json_object(j, NULL);
        if (v->key.len > 0) {
            json_slice(j, "key", v->key);
            json_slice(j, "value", v->value);
        } else if (name != NULL) {
            json_slice(j, name, v->value);
        }
        json_object_end(j);
    }
    json_array_end(j);
    return true;
}

/* A flow that has counted matches gets the object even when it is empty, as in Suricata. */
void eve_vars(struct json *j, const struct flow *f, const struct packet *p)
{
    bool any = eve_traffic(j, f) || flow_counts_matches(f);
    struct json_mark mark = json_mark(j);

    json_object(j, "metadata");
    any |= p != NULL && write_packet_vars(j, detect_slot(p)->vars);
    any |= write_array(j, f, "flowbits", NULL, visit_flowbit);
    any |= write_array(j, f, "flowvars", NULL, visit_flowvar);
    any |= write_object(j, f, "flowints", visit_flowint);
    any |= write_object(j, f, "entropy", visit_entropy);
    if (any)
        json_object_end(j);
    else
        json_rewind(j, mark);
}

/* --- transactions and files ----------------------------------------------------------------- */

void eve_tx_metadata(struct json *j, struct app_tx *tx)
{
    if (tx->flow->proto->alert_metadata != NULL)
        tx->flow->proto->alert_metadata(j, tx);
}

/* Suricata's words; an open file is "UNKNOWN" there. */
static const char *file_state_name(enum file_state state)
{
    switch (state) {
    case FILE_CLOSED: return "CLOSED";
    case FILE_TRUNCATED: return "TRUNCATED";
    case FILE_ERROR: return "ERROR";
    case FILE_OPEN: break;
    }
    return "UNKNOWN";
}

/* The members of fileinfo records and of alerts. `stored_sids`: the rules that had it
 * stored. */
void eve_file(struct json *j, const struct app_file *file, bool stored_sids)
{
    const struct detect_file *by = detect_file(file);

    if (file->name.len > 0)
        json_slice(j, "filename", file->name);
    if (stored_sids && by->sid_count > 0) {
        json_array(j, "sid");
        for (unsigned i = 0; i < by->sid_count; i++)
            json_u64(j, NULL, by->sids[i]);
        json_array_end(j);
    }
    if (file->magic != NULL)
        json_string(j, "magic", file->magic);
    json_bool(j, "gaps", file->has_gaps);
    json_string(j, "state", file_state_name(file->state));
    if (file->md5 != NULL)
        json_hex(j, "md5", file->md5, DIGEST_MD5_BYTES);
    if (file->sha1 != NULL)
        json_hex(j, "sha1", file->sha1, DIGEST_SHA1_BYTES);
    if (file->sha256 != NULL)
        json_hex(j, "sha256", file->sha256, DIGEST_SHA256_BYTES);
    json_bool(j, "stored", file->stored);
    if (file->stored)
        json_u64(j, "file_id", file->id);
    else if (file->store_requested)
        json_bool(j, "storing", true);
    json_u64(j, "size", file->size);
    if (file->is_range) {
        json_u64(j, "start", file->start);
        json_u64(j, "end", file->end);
    }
    JSON_U64(j, "tx_id", file->tx->id);
}

/* --- headers --------------------------------------------------------------------------------- */

/* The length of the IP header; 0 means BIG TCP, whose length is that of the data. */
static uint64_t ip_length(const struct packet *p, uint32_t at, uint32_t header)
{
    uint16_t written = get_be16(p->l3 + at);

    if (written != 0 || p->l4 == NULL)
        return written;
    return (uint64_t)(p->l4 - p->l3) + p->l4_len - header;
}

void eve_ip_header(struct json *j, const struct packet *p)
{
    if (p->src.version == 4 && p->l3 != NULL) {
        json_u64(j, "len", ip_length(p, 2, 0));
        json_u64(j, "tos", p->l3[1]);
        json_u64(j, "ttl", p->l3[8]);
        json_u64(j, "ipid", get_be16(p->l3 + 4));
    } else if (p->src.version == 6 && p->l3 != NULL) {
        json_u64(j, "len", ip_length(p, 4, 40));
        json_u64(j, "tc", packet_tos(p));
        json_u64(j, "hoplimit", packet_hop_limit(p));
        json_u64(j, "flowlbl", get_be32(p->l3) & 0xfffff);
    }
}

/* The caller has checked that it is TCP. */
void eve_tcp_header(struct json *j, const struct packet *p, uint32_t seq)
{
    json_u64(j, "tcpseq", seq);
    json_u64(j, "tcpack", p->tcp.ack);
    json_u64(j, "tcpwin", p->tcp.window);
    json_bool(j, "syn", p->tcp.flags & TCP_SYN);
    json_bool(j, "ack", p->tcp.flags & TCP_ACK);
    json_bool(j, "psh", p->tcp.flags & TCP_PSH);
    json_bool(j, "rst", p->tcp.flags & TCP_RST);
    json_bool(j, "urg", p->tcp.flags & TCP_URG);
    json_bool(j, "fin", p->tcp.flags & TCP_FIN);
    json_u64(j, "tcpres", p->tcp.reserved);
    json_u64(j, "tcpurgp", get_be16(p->l4 + 18));
}
