/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/alert.c - the record type `alert`: what a rule found, with its context. */
#include "output/eve/alert.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/core/file.h"
#include "app/parser.h"
#include "app/proto.h"
#include "base/array.h"
#include "detect/compile/firewall.h"
#include "detect/detect.h"
#include "output/eve/frame.h"
#include "output/output_private.h"
#include "output/pcap_files.h"
#include "packet/pseudo_headers.h"

#define FILES_MAX 64                    /* that an alert shows */
#define PAYLOAD_SIZE_DEBUG (64u << 10) /* bytes that alert-debug prints */

/* Made by alert_configure(), read-only afterwards, shared by all threads. */
struct alert_settings {
    bool payload, payload_printable, payload_length, packet, verdict;
    bool metadata_app, metadata_flow, metadata_rule, rule_text, references;
    bool tagged;
    bool prints_contents;           /* payload or bodies */
    uint32_t payload_size;
    uint8_t contents[APP_PROTO_COUNT];  /* APP_CONTENTS_*: of their transactions */
    struct xff xff;                 /* off: that of the eve-log */
};

/* KEY and KEY-printable are two settings of one protocol, such as http-body. */
static unsigned requested_contents(const struct conf_node *node, const char *key)
{
    char printable[64];

    if (key == NULL)
        return 0;
    snprintf(printable, sizeof(printable), "%s-printable", key);
    return (conf_bool(node, key, false) ? APP_CONTENTS_BASE64 : 0) |
           (conf_bool(node, printable, false) ? APP_CONTENTS_PRINTABLE : 0);
}

/* Parsers keep contents only if an alert shows them, so this requires them. */
static void read_contents(struct alert_settings *s, const struct conf_node *node,
                          const struct eve *eve)
{
    struct app_required_features required = { 0 };

    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        if (proto != NULL)
            s->contents[id] = (uint8_t)requested_contents(node, proto->alert_contents_key);
        s->prints_contents |= s->contents[id] != 0;
        if (s->contents[id] != 0)
            required.features[id] = proto->alert_contents_features;
    }
    app_require(eve->request->app, &required);
}

/* `metadata` may be a boolean or a map. Without it, or with true, everything but the
 * rule's text is shown, as in Suricata. */
static void *alert_configure(const struct conf_node *node, const struct eve *eve, struct err *err)
{
    struct alert_settings *s = xcalloc(1, sizeof(*s));
    const struct conf_node *metadata = conf_find(node, "metadata");
    bool all = metadata == NULL || metadata->kind == CONF_MAP || conf_bool(node, "metadata", true);

    (void)err;
    s->payload = conf_bool(node, "payload", false);
    s->payload_printable = conf_bool(node, "payload-printable", false);
    s->payload_length = conf_bool(node, "payload-length", false);
    s->payload_size = MAX(1, (uint32_t)conf_size(node, "payload-buffer-size", 4096));
    s->packet = conf_bool(node, "packet", false);
    s->prints_contents = s->payload || s->payload_printable;
    read_contents(s, node, eve);
    s->verdict = conf_bool(node, "verdict", false);
    eve_read_xff(&s->xff, node);
    s->tagged = conf_bool(node, "tagged-packets", false);
    if (metadata != NULL && metadata->kind == CONF_MAP) {
        s->metadata_app = conf_bool(metadata, "app-layer", true);
        s->metadata_flow = conf_bool(metadata, "flow", true);
        s->metadata_rule = conf_bool(metadata, "rule.metadata", true);
        s->rule_text = conf_bool(metadata, "rule.raw", false);
        s->references = conf_bool(metadata, "rule.reference", false);
    } else {
        s->metadata_app = s->metadata_flow = s->metadata_rule = all;
    }
    return s;
}

bool eve_alert_prints_contents(const void *settings)
{
    return ((const struct alert_settings *)settings)->prints_contents;
}

/* Returns the payload size of one `outputs:` entry. */
static uint32_t log_payload_size(const struct conf_node *log)
{
    uint32_t size = 0;

    if (strcmp(log->name, "alert-debug") == 0)
        return PAYLOAD_SIZE_DEBUG;
    if (strcmp(log->name, "eve-log") != 0)
        return 0;
    CONF_EACH (type, conf_find(log, "types")) {
        const struct conf_node *alert = type->child;

        if (alert == NULL || strcmp(alert->name, "alert") != 0 ||
            !(conf_bool(alert, "payload", false) || conf_bool(alert, "payload-printable", false) ||
              conf_bool(alert, "payload-length", false) || conf_bool(alert, "matched", false)))
            continue;
        size = MAX(size, (uint32_t)conf_size(alert, "payload-buffer-size", 4096));
    }
    return size;
}

/* The longest of all outputs: detection copies that much stream data for an alert, once. */
uint32_t output_payload_size(const struct conf_node *root)
{
    uint32_t size = 0;

    CONF_EACH (output, conf_find(root, "outputs")) {
        const struct conf_node *log = output->child;

        if (log != NULL && conf_bool(log, "enabled", false))
            size = MAX(size, log_payload_size(log));
    }
    return size;
}

/* Whether the alerts of any eve-log have the setting. */
static bool any_alert_has(const struct conf_node *root, const char *key)
{
    CONF_EACH (output, conf_find(root, "outputs")) {
        const struct conf_node *log = output->child;

        if (log == NULL || strcmp(log->name, "eve-log") != 0)
            continue;
        CONF_EACH (type, conf_find(log, "types")) {
            const struct conf_node *alert = type->child;

            if (alert != NULL && strcmp(alert->name, "alert") == 0 && conf_bool(alert, key, false))
                return true;
        }
    }
    return false;
}

/* When no eve-log shows rules as they are written, their texts are freed after loading. */
bool output_shows_rules(const struct conf_node *root)
{
    return any_alert_has(root, "metadata.rule.raw");
}

bool output_shows_places(const struct conf_node *root)
{
    return any_alert_has(root, "matched");
}

/* In IDS mode a drop blocks nothing, so the record says "allowed", as in Suricata. A rule whose
 * action rate_filter changed is recorded with the action applied to the packet. */
static const char *action_name(const struct packet *p, const struct packet_alert *a,
                               bool is_inline)
{
    bool by_rate = a->flags & ALERT_RATE_ACTION;
    uint8_t action = by_rate ? p->action : a->action;
    uint8_t blocks = is_inline || by_rate ? ACTION_DROP | ACTION_REJECT : ACTION_REJECT;

    return action & blocks ? "blocked" : "allowed";
}

/* One side of a rule with `target`. `client` of the render is the address from
 * X-Forwarded-For. */
static void alert_endpoint(const struct render *r, struct json *j, const char *key,
                           const struct packet *p, bool is_client)
{
    struct packet_ends ends = packet_ends(p, is_client ? TO_SERVER : TO_CLIENT);
    const struct ip *ip = is_client && r->client != NULL ? r->client : ends.src;
    char text[IP_TEXT_SIZE];
    size_t n = ip_format(ip, text);

    json_object(j, key);
    json_bytes(j, "ip", text, n);
    if (packet_is_tcp(p) || packet_is_udp(p) || p->ip_proto == 132)
        json_u64(j, "port", ends.src_port);
    json_object_end(j);
}

static void alert_references(struct json *j, const struct rule_info *info)
{
    json_array(j, "references");
    for (unsigned i = 0; i < info->reference_count; i++)
        json_printf(j, NULL, "%s%s", info->reference[i].prefix, info->reference[i].id);
    json_array_end(j);
}

/* The schema allows members of our own only in this object. */
static void alert_context(struct json *j, const struct eve_alert *shown)
{
    const struct packet_alert *a = shown->alert;
    bool has_context = !shown->reduced && a->extra != NULL && a->extra->context.len > 0;

    if (!has_context && !shown->cut && !shown->reduced && !shown->files_cut)
        return;
    json_object(j, "context");
    if (has_context)
        json_raw(j, NULL, (const char *)a->extra->context.data, a->extra->context.len);
    if (shown->files_cut)
        json_bool(j, "files_cut", true);
    if (shown->cut)
        json_bool(j, "contents_cut", true);
    if (shown->reduced)
        json_bool(j, "details_cut", true);
    json_object_end(j);
}

/* The object that alerts and drops share. Its keys and their order are Suricata's. */
void eve_alert_object(const struct render *r, struct json *j, const struct eve *eve,
                      const struct packet *p, const struct eve_alert *shown)
{
    const struct packet_alert *a = shown->alert;
    const struct rule *rule = a->rule;
    const struct rule_info *info = rule_info(rule);

    json_object(j, "alert");
    json_string(j, "action", action_name(p, a, eve->request->is_inline));
    if (a->flags & ALERT_FIREWALLED)
        json_string(j, "engine", rule->flags & RULE_FIREWALL ? "fw" : "td");
    json_u64(j, "gid", rule->gid);
    json_u64(j, "signature_id", rule->sid);
    json_u64(j, "rev", rule->rev);
    json_string(j, "signature", info->msg != NULL ? info->msg : "");
    json_string(j, "category", info->class_text != NULL ? info->class_text : "");
    json_i64(j, "severity", rule->priority);
    if (detect_slot(p)->tenant_id != 0)
        json_u64(j, "tenant_id", detect_slot(p)->tenant_id);
    if (!shown->reduced && (rule->flags & (RULE_TARGET_SRC | RULE_TARGET_DST))) {
        bool target_src = rule->flags & RULE_TARGET_SRC;
        bool target_is_client = target_src == (shown->side == TO_SERVER);

        alert_endpoint(r, j, "source", p, !target_is_client);
        alert_endpoint(r, j, "target", p, target_is_client);
    }
    if (shown->metadata && info->metadata_json != NULL)
        json_raw(j, "metadata", info->metadata_json, strlen(info->metadata_json));
    alert_context(j, shown);
    if (shown->references && info->reference_count > 0)
        alert_references(j, info);
    if (shown->text && rule->text != NULL)
        json_string(j, "rule", rule->text);
    if (shown->xff != NULL)
        json_string(j, "xff", shown->xff);
    json_object_end(j);
}

/* A reject without IPS mode answers the sender but does not stop the packet: "alert". */
void eve_verdict(struct json *j, const struct eve *eve, const struct packet *p)
{
    bool is_inline = eve->request->is_inline;
    uint8_t action = p->action;

    json_object(j, "verdict");
    if (action & ACTION_REJECT) {
        bool both = (action & ACTION_REJECT) == ACTION_REJECT;

        json_string(j, "action", is_inline ? "drop" : "alert");
        json_string(j, "reject-target", both ? "both"
                                        : action & ACTION_REJECT_SRC ? "to_client" : "to_server");
        json_array(j, "reject");
        json_string(j, NULL, packet_is_tcp(p) ? "tcp-reset" : "icmp-prohib");
        json_array_end(j);
    } else if ((action & ACTION_DROP) && is_inline) {
        json_string(j, "action", "drop");
    } else if (action & ACTION_ACCEPT) {
        json_string(j, "action", "accept");
    } else if (action & ACTION_PASS) {
        json_string(j, "action", "pass");
    } else {
        json_string(j, "action", "alert");
    }
    json_object_end(j);
}

/* The flow so far, with the client as the source. */
static void eve_flow_summary(struct render *r, struct json *j, const struct packet *p)
{
    const struct flow *f = p->flow;

    json_object(j, "flow");
    json_u64(j, "pkts_toserver", f->packets[TO_SERVER]);
    json_u64(j, "pkts_toclient", f->packets[TO_CLIENT]);
    json_u64(j, "bytes_toserver", f->bytes[TO_SERVER]);
    json_u64(j, "bytes_toclient", f->bytes[TO_CLIENT]);
    eve_time(r, j, JSON_LITERAL("start"), f->start_us);
    eve_flow_of_packet(r, j, p);
    json_object_end(j);
}

/* The payload that the alert is about: stream data where the rule matched in the stream,
 * else the packet's. */
static struct slice alert_payload(const struct packet *p, const struct packet_alert *a,
                                  const struct alert_settings *s)
{
    struct slice out = { .data = p->payload, .len = p->payload_len };

    if (a->extra == NULL || a->extra->payload.len == 0)
        return out;
    out = a->extra->payload;
    out.len = MIN(out.len, s->payload_size - 1);    /* Suricata keeps one byte for a NUL */
    return out;
}

/* "stream": 1 when the payload comes from the stream, 0 when it is the packet's. */
static void alert_payload_fields(struct json *j, const struct packet *p,
                                 const struct packet_alert *a, const struct alert_settings *s,
                                 bool cut)
{
    bool stream = packet_is_tcp(p) && (a->flags & (ALERT_STREAM | ALERT_APP_STATE)) != 0;
    struct slice payload;

    if (p->src.version == 0 || (!s->payload && !s->payload_printable && !s->payload_length))
        return;
    payload = alert_payload(p, a, s);
    if (s->payload && payload.len > 0 && !cut)
        json_base64(j, "payload", payload.data, payload.len);
    if (s->payload_printable && payload.len > 0 && !cut)
        json_printable(j, "payload_printable", payload.data, payload.len);
    if (s->payload_length && (payload.len > 0 || !stream))
        json_u64(j, "payload_length", payload.len);
    json_u64(j, "stream", stream);
}

/* NULL: the alert is about no transaction, or that has been freed. */
static struct app_tx *alert_tx(const struct packet *p, uint64_t tx_id)
{
    if (tx_id == ALERT_NO_TX || p->flow == NULL || p->flow->app == NULL)
        return NULL;
    return app_tx_find(p->flow->app, tx_id);
}

/* States without a name are those at the beginning or at the end. */
static const char *progress_name(const struct app_tx *tx, enum direction d)
{
    const struct app_proto *proto = tx->flow->proto;
    const struct app_name *n = proto->progress_names[d];
    bool done = tx->unidirectional[d] || tx->progress[d] >= proto->progress_done[d];

    for (; n != NULL && n->name != NULL; n++)
        if (n->value == tx->progress[d] && (proto->steps_of_nine >> n->value & 1) == 0)
            return n->name;
    if (d == TO_SERVER)
        return done ? "request_complete" : "request_started";
    return done ? "response_complete" : "response_started";
}

/* A message may have thousands, and many alerts. */
static void alert_files(struct json *j, const struct app_file *file)
{
    unsigned n = 0;

    json_array(j, "files");
    for (; file != NULL && n < FILES_MAX; file = file->next, n++) {
        json_object(j, NULL);
        eve_file(j, file, true);
        json_object_end(j);
    }
    json_array_end(j);
}

static bool has_more_files(const struct app_tx *tx, enum direction d)
{
    const struct app_file *file = tx != NULL ? tx->files[d] : NULL;

    for (unsigned n = 0; file != NULL && n < FILES_MAX; n++)
        file = file->next;
    return file != NULL;
}

/* Suricata 8 shows it where its states have names. */
static bool shows_progress(const struct app_proto *proto, enum direction d)
{
    for (const struct app_name *n = proto->progress_names[d]; n != NULL && n->name != NULL; n++)
        if ((proto->steps_of_nine >> n->value & 1) == 0)
            return true;
    return false;
}

/* Files: of the packet's direction. */
static void alert_tx_fields(struct json *j, struct app_tx *tx, enum direction d,
                            const struct eve_alert *shown, const struct alert_settings *s)
{
    if (shown->alert->flags & ALERT_TX_GUESSED)
        json_bool(j, "tx_guessed", true);
    if (!s->metadata_app)
        return;
    if (shows_progress(tx->flow->proto, TO_SERVER))
        json_string(j, "ts_progress", progress_name(tx, TO_SERVER));
    if (shows_progress(tx->flow->proto, TO_CLIENT))
        json_string(j, "tc_progress", progress_name(tx, TO_CLIENT));
    if (s->contents[tx->flow->proto->id] != 0 && !shown->cut)
        tx->flow->proto->alert_contents(j, tx, s->contents[tx->flow->proto->id]);
    else
        eve_tx_metadata(j, tx);
    if (tx->files[d] != NULL)
        alert_files(j, tx->files[d]);
}

/* The parser may have released the frame; the alert is then written without it. */
static void alert_frame(struct render *r, struct json *j, const struct packet *p,
                        const struct eve_alert *shown, uint32_t limit)
{
    uint32_t id = shown->alert->frame_id;
    const struct app_flow *af = p->flow->app;
    struct app_frame_view frame;

    if (id != 0 && af != NULL && af->proto != NULL &&
        app_frame_find(af, shown->side, id, &frame))
        eve_frame_object(r, j, p, &frame, limit);
}

/* Hook and policy in the words of the rule file. */
static void alert_firewall(struct json *j, const struct rule *rule)
{
    char text[96];

    json_object(j, "firewall");
    if (firewall_hook_text(rule, text, sizeof(text)))
        json_string(j, "hook", text);
    firewall_action_text(rule, text, sizeof(text));
    json_string(j, "policy", text);
    json_object_end(j);
}

/* The file of pcap-log that has the packet. */
static void capture_file(struct render *r, struct json *j, const struct packet *p)
{
    struct pcap_files *files = r->conf->pcap_files;

    if (LIKELY(files == NULL))
        return;
    buf_clear(&r->scratch);
    pcap_files_name(files, r->thread, p->time_us, &r->scratch);
    json_bytes(j, "capture_file", (const char *)r->scratch.data, r->scratch.len);
}

/* The order of the members is Suricata's, because people compare records by eye. */
static enum eve_order alert_order(const struct packet *p, enum direction side)
{
    if (side == packet_direction(p))
        return EVE_AS_PACKET;
    return side == TO_SERVER ? EVE_TO_SERVER : EVE_TO_CLIENT;
}

/* The last packet of a flow has its bytes from the client's side. An alert of the server's side
 * shows the addresses of the other, and so must its bytes. */
static void alert_packet_bytes(struct json *j, const struct packet *p, enum direction side)
{
    struct packet opposite;

    if (p->source != PACKET_STREAM_END || side == packet_direction(p)) {
        eve_packet_bytes(j, p, UINT32_MAX);
        return;
    }
    packet_make_opposite(p, &opposite);
    eve_packet_bytes(j, &opposite, UINT32_MAX);
}

/* More than the packet's own bytes: the stream's, or a body. */
static bool prints_more(const struct packet_alert *a, const struct app_tx *tx,
                        const struct alert_settings *s)
{
    return ((s->payload || s->payload_printable) && a->extra != NULL &&
            a->extra->payload.len > 0) ||
           (tx != NULL && s->contents[tx->flow->proto->id] != 0);
}

/* What a log must have of each alert, however many there are: the rule, the time, the addresses. */
static void alert_write_reduced(struct render *r, const struct eve *eve,
                              const struct alert_settings *s, const struct packet *p,
                              const struct eve_alert *shown)
{
    struct json j;

    r->is_reduced = true;
    eve_begin(r, eve, &j, p, (struct eve_head){ alert_order(p, shown->side), "alert",
                                                shown->alert->tx_id });
    r->is_reduced = false;
    record_is_alert(r, strlen(eve->prefix));
    eve_alert_object(r, &j, eve, p, shown);
    if (s->verdict)
        eve_verdict(&j, eve, p);
    eve_end(r, eve, &j, p);
    if (LIKELY(log_limit_allows(r, p, record_slice(r).len))) {
        eve_details_charge(r, p->flow);
        if (p->flow == NULL)
            r->packet_bytes += record_slice(r).len;
        return;
    }
    eve_cancel(r);
    log_limit_count(r, p, LEFT_OUT_ALERT, shown->alert->rule);
}

static bool alert_write(struct render *r, const struct eve *eve, const struct alert_settings *s,
                        struct packet *p, const struct eve_alert *shown);

/* Once more, without contents. */
static COLD bool alert_write_cut(struct render *r, const struct eve *eve,
                                 const struct alert_settings *s, struct packet *p,
                                 const struct eve_alert *shown)
{
    struct eve_alert without = *shown;

    eve_cancel(r);
    without.cut = true;
    return alert_write(r, eve, s, p, &without);
}

/* False: log-limit has no space for it. */
static bool alert_write(struct render *r, const struct eve *eve, const struct alert_settings *s,
                        struct packet *p, const struct eve_alert *shown)
{
    const struct packet_alert *a = shown->alert;
    struct app_tx *tx = alert_tx(p, a->tx_id);
    struct json j;

    eve_begin(r, eve, &j, p, (struct eve_head){ alert_order(p, shown->side), "alert", a->tx_id });
    record_is_alert(r, strlen(eve->prefix));
    eve_tunnel(&j, p);
    eve_alert_object(r, &j, eve, p, shown);
    if (a->rule->flags & RULE_FIREWALL)
        alert_firewall(&j, a->rule);
    if (tx != NULL)
        alert_tx_fields(&j, tx, shown->side, shown, s);
    if (p->flow != NULL) {
        eve_app_proto(&j, p->flow);
        json_string(&j, "direction", shown->side == TO_SERVER ? "to_server" : "to_client");
        alert_frame(r, &j, p, shown, s->payload_size);
        if (s->metadata_flow)
            eve_flow_summary(r, &j, p);
    }
    alert_payload_fields(&j, p, a, s, shown->cut);
    if (s->packet && p->data != NULL)
        alert_packet_bytes(&j, p, shown->side);
    capture_file(r, &j, p);
    if (s->verdict)
        eve_verdict(&j, eve, p);
    eve_end(r, eve, &j, p);
    if (UNLIKELY(!log_limit_allows(r, p, record_slice(r).len))) {
        eve_cancel(r);
        return false;
    }
    if (prints_more(a, tx, s) && !shown->cut && UNLIKELY(!eve_contents_fit(r, eve, p->flow)))
        return alert_write_cut(r, eve, s, p, shown);
    if (prints_more(a, tx, s) && !shown->cut)
        eve_contents_charge(r, p->flow);
    else
        eve_details_charge(r, p->flow);
    if (p->flow == NULL)
        r->packet_bytes += record_slice(r).len;
    return true;
}

/* No alert with details is shorter: base64 has four bytes for three. */
static size_t least_full(const struct alert_settings *s, const struct packet *p)
{
    return LOG_LIMIT_ALERT_LEAST + (s->packet && p->data != NULL ? p->len / 3 * 4 : 0);
}

/* r->client holds for one record, so it is cleared afterwards. */
static void alert_record(struct render *r, const struct eve *eve, const struct alert_settings *s,
                         struct packet *p, const struct packet_alert *a)
{
    bool full;
    const struct xff *xff = s->xff.mode != XFF_OFF ? &s->xff : &eve->xff;
    struct app_tx *tx = alert_tx(p, a->tx_id);
    struct xff_use use;

    if (log_limit_is_used(r, p, LOG_LIMIT_ALERT_LEAST)) {
        log_limit_count(r, p, LEFT_OUT_ALERT, a->rule);
        return;
    }
    eve_xff_begin(r, xff, p, tx, &use);
    full = LIKELY(eve_details_have_space(r, eve, p)) &&
           LIKELY(!log_limit_is_used(r, p, least_full(s, p))) &&
           alert_write(r, eve, s, p, &(struct eve_alert){
               .alert = a, .side = packet_alert_side(p, a), .metadata = s->metadata_rule,
               .references = s->references, .text = s->rule_text,
               .xff = use.found ? use.text : NULL,
               .files_cut = s->metadata_app && has_more_files(tx, packet_alert_side(p, a)),
               .cut = prints_more(a, tx, s) && !eve_contents_have_space(r, eve, p->flow) });
    if (UNLIKELY(!full))
        alert_write_reduced(r, eve, s, p, &(struct eve_alert){
            .alert = a, .side = packet_alert_side(p, a), .reduced = true });
    r->client = NULL;
}

static bool alert_condition(const struct packet *p)
{
    return detect_slot(p)->alert_count > 0 || (p->flags & PACKET_TAGGED);
}

/* A packet after a rule with `tag`; only with tagged-packets. */
static void tagged_record(struct render *r, const struct eve *eve, struct packet *p)
{
    struct json j;

    eve_begin(r, eve, &j, p, (struct eve_head){ EVE_AS_PACKET, "packet", EVE_NO_TX });
    eve_packet_bytes(&j, p, UINT32_MAX);
    eve_end_limited(r, eve, &j, p);
}

/* A match in data of the other direction is recorded as if the packet went that way. */
static void alert_packet(struct render *r, const struct eve *eve, void *settings,
                         struct packet *p)
{
    const struct alert_settings *s = settings;

    r->alert_bytes = 0;
    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++) {
        const struct packet_alert *a = &packet_alerts(p)[i];

        if (a->flags & ALERT_SUPPRESSED)
            continue;
        r->record_at = r->out->len;     /* no bytes, if there is no record */
        alert_record(r, eve, settings, p, a);
        r->alert_bytes += (uint32_t)record_slice(r).len;
    }
    if (s->tagged && (p->flags & PACKET_TAGGED) && p->data != NULL)
        tagged_record(r, eve, p);
}

const struct eve_type eve_type_alert = {
    .name = "alert",
    .configure = alert_configure,
    .condition = alert_condition,
    .only_notable = true,
    .packet = alert_packet,
};
