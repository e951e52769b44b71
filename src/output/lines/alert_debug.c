/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/alert_debug.c - `alert-debug`: all that the engine knows about a packet
 * with alerts, for authors of rules. The labels and their columns are Suricata's. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "detect/detect.h"
#include "flow/vars.h"
#include "output/log_limit.h"
#include "output/logger.h"
#include "output/text.h"
#include "packet/decode.h"

struct alert_debug {
    struct sink *sink;
    counter_id dumps_cut;
};

static const char *truth(bool b)
{
    return b ? "TRUE" : "FALSE";
}

/* --- the packet and its flow --------------------------------------------------------------- */

/* Packets of a live capture have no number. */
static void add_head(struct buf *out, const struct packet *p)
{
    BUF_LITERAL(out, "+================\nTIME:              ");
    text_time(out, p->time_us);
    if (p->number > 0)
        buf_printf(out, "\nPCAP PKT NUM:      %llu", (unsigned long long)p->number);
    buf_printf(out, "\nPKT SRC:           %s\n", packet_source_name(p->source));
}

static void add_tuple(struct buf *out, const struct packet *p)
{
    BUF_LITERAL(out, "SRC IP:            ");
    text_address(out, &p->src);
    BUF_LITERAL(out, "\nDST IP:            ");
    text_address(out, &p->dst);
    buf_printf(out, "\nPROTO:             %u\n", p->ip_proto);
    if (packet_is_tcp(p) || packet_is_udp(p))
        buf_printf(out, "SRC PORT:          %u\nDST PORT:          %u\n", p->src_port,
                   p->dst_port);
    if (packet_is_tcp(p))
        buf_printf(out, "TCP SEQ:           %u\nTCP ACK:           %u\n", p->tcp.seq, p->tcp.ack);
}

/* Called for each variable of the flow; true: continue. A variable has no name if a reload has
 * removed its rule. */
static bool add_flow_var(const struct flow_var_view *v, void *arg)
{
    struct buf *out = arg;
    const char *name = var_name(v->kind, v->id);

    if (name == NULL)
        return true;
    if (v->kind == VAR_FLOWBIT) {
        buf_printf(out, "FLOWBIT:           %s\n", name);
    } else if (v->kind == VAR_FLOWINT) {
        buf_printf(out, "FLOWINT:           \"%s\" => %u\n", name, v->number);
    } else if (v->kind == VAR_FLOWVAR) {
        buf_printf(out, "FLOWVAR:           \"%s\" => \"", name);
        for (uint32_t i = 0; i < v->value.len; i++) {
            uint8_t c = v->value.data[i];

            buf_printf(out, c >= 0x20 && c < 0x7f ? "%c" : "\\%02X", c);
        }
        BUF_LITERAL(out, "\"\n");
    }
    return true;
}

/* "TODST" is towards the server. PAYLOAD TRUE means that the payload of the flow is not
 * inspected, as the label in Suricata does. */
static void add_flow(struct buf *out, const struct packet *p)
{
    const struct flow *f = p->flow;
    bool to_server = f != NULL && packet_direction(p) == TO_SERVER;

    buf_printf(out, "FLOW:              to_server: %s, to_client: %s\n", truth(to_server),
               truth(f != NULL && !to_server));
    if (f == NULL)
        return;
    BUF_LITERAL(out, "FLOW Start TS:     ");
    text_time(out, f->start_us);
    buf_printf(out, "\nFLOW PKTS TODST:   %llu\nFLOW PKTS TOSRC:   %llu\n",
               (unsigned long long)f->packets[TO_SERVER],
               (unsigned long long)f->packets[TO_CLIENT]);
    buf_printf(out, "FLOW Total Bytes:  %llu\n",
               (unsigned long long)(f->bytes[TO_SERVER] + f->bytes[TO_CLIENT]));
    buf_printf(out, "FLOW ACTION:       DROP: %s\n", truth((f->action & ACTION_DROP) != 0));
    buf_printf(out, "FLOW PAYLOAD: %s, APP_LAYER: %s\n",
               truth((flow_requests(f) & FLOW_REQ_NO_PAYLOAD) != 0),
               truth(f->app != NULL && f->app->stopped));
    buf_printf(out, "FLOW APP_LAYER:    DETECTED: %s, PROTO %u\n",
               truth(f->app_proto != APP_PROTO_UNKNOWN), f->app_proto);
    flow_vars_each(f, add_flow_var, out);
}

/* Writes the variables that rules have set on this packet, for instance by pcre with a name. */
static void add_packet_vars(struct buf *out, const struct packet *p)
{
    for (const struct packet_var *v = detect_slot(p)->vars; v != NULL; v = v->next) {
        const char *name = var_name(VAR_PKTVAR, v->id);

        buf_printf(out, "PKTVAR:            %s\n", name != NULL ? name : "");
        text_dump(out, v->value.data, v->value.len);
    }
}

/* All of the packet from the link layer on. A pseudo packet has no bytes. */
static void add_bytes(struct buf *out, const struct packet *p)
{
    buf_printf(out, "PACKET LEN:        %u\nPACKET:\n", p->data != NULL ? p->len : 0);
    text_dump(out, p->data, p->data != NULL ? p->len : 0);
}

/* --- dumps ------------------------------------------------------------------------------------ */

/* Each alert shows what waits in the stream, which may be 64 KiB again for a packet of some bytes.
 * The text about a flow may be so many times as large as its packets; after that alerts come
 * without these dumps. */
#define EXPANSION_MAX 4
#define DUMPS_FREE (64u << 10)          /* bytes of text that even the shortest flow may have */
#define BYTES_OF_DUMP 5                 /* text for each byte */

struct dumps {
    uint64_t left;                      /* bytes of text */
    bool cut;
};

/* Alerts on packets without a flow show the packet only. */
static struct dumps dumps_of(const struct flow *f)
{
    uint64_t most, used;

    if (f == NULL)
        return (struct dumps){ .left = UINT64_MAX };
    most = (f->bytes[TO_SERVER] + f->bytes[TO_CLIENT]) * EXPANSION_MAX + DUMPS_FREE;
    used = f->ext != NULL ? f->ext->debug_bytes : 0;
    return (struct dumps){ .left = most - MIN(most, used) };
}

static void add_dump(struct buf *out, const char *label, struct slice data, struct dumps *dumps)
{
    uint64_t size = (uint64_t)data.len * BYTES_OF_DUMP;

    if (size > dumps->left) {
        dumps->cut = true;
        buf_printf(out, "%s: not shown, the text about the flow has reached its limit\n", label);
        return;
    }
    dumps->left -= size;
    buf_printf(out, "%s:\n", label);
    text_dump(out, data.data, data.len);
}

static void charge(struct render *r, const struct alert_debug *log, struct flow *f, bool cut)
{
    if (cut)
        counter_add(r->counters, log->dumps_cut, 1);
    if (f != NULL && flow_ext_make(f) != NULL)
        f->ext->debug_bytes += r->out->len - r->record_at;
}

/* --- its alerts ---------------------------------------------------------------------------- */

/* pad: blanks between the label and the value; there are more of them in a record with
 * addresses. */
static void add_rule(struct buf *out, const struct packet_alert *a, unsigned n, int pad)
{
    const struct rule *rule = a->rule;
    const struct rule_info *info = rule_info(rule);
    const char *class = info->class_text != NULL ? info->class_text : "<none>";

    buf_printf(out, "ALERT MSG [%02u]:%*s%s\n", n, pad, "",
               info->msg != NULL ? info->msg : "");
    buf_printf(out, "ALERT GID [%02u]:%*s%u\n", n, pad, "", rule->gid);
    buf_printf(out, "ALERT SID [%02u]:%*s%u\n", n, pad, "", rule->sid);
    buf_printf(out, "ALERT REV [%02u]:%*s%u\n", n, pad, "", rule->rev);
    buf_printf(out, "ALERT CLASS [%02u]:%*s%s\n", n, pad - 2, "", class);
    buf_printf(out, "ALERT PRIO [%02u]:%*s%d\n", n, pad - 1, "", rule->priority);
}

/* FOUND IN: what the rule has matched on, in this order of precedence. The payload of the
 * packet and the stream data kept for the alert are both shown, as they may differ. */
static void add_alert(struct buf *out, const struct packet *p, const struct packet_alert *a,
                      unsigned n, struct dumps *dumps)
{
    add_rule(out, a, n, 6);
    buf_printf(out, "ALERT FOUND IN [%02u]: %s\n", n,
               a->flags & ALERT_STREAM ? "STREAM" : a->flags & ALERT_APP_STATE ? "STATE"
                                                                               : "PACKET");
    if (a->tx_id != ALERT_NO_TX)
        buf_printf(out, "ALERT IN TX [%02u]:    %llu\n", n, (unsigned long long)a->tx_id);
    else
        buf_printf(out, "ALERT IN TX [%02u]:    N/A\n", n);
    if (p->payload_len > 0) {
        buf_printf(out, "PAYLOAD LEN:         %u\n", p->payload_len);
        add_dump(out, "PAYLOAD", (struct slice){ p->payload, p->payload_len }, dumps);
    }
    if (packet_is_tcp(p) && a->extra != NULL && a->extra->payload.len > 0) {
        buf_printf(out, "STREAM DATA LEN:     %u\n", a->extra->payload.len);
        add_dump(out, "STREAM DATA", a->extra->payload, dumps);
    }
}

/* Threshold suppresses some alerts: they are in the packet, but no output shows them. */
static unsigned alerts_shown(const struct packet *p)
{
    unsigned n = 0;

    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++)
        n += (packet_alerts(p)[i].flags & ALERT_SUPPRESSED) == 0;
    return n;
}

static void add_alerts(struct buf *out, const struct packet *p, struct dumps *dumps)
{
    unsigned n = 0;

    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++)
        if ((packet_alerts(p)[i].flags & ALERT_SUPPRESSED) == 0)
            add_alert(out, p, &packet_alerts(p)[i], n++, dumps);
}

static void with_addresses(struct buf *out, const struct packet *p, unsigned count,
                           struct dumps *dumps)
{
    add_tuple(out, p);
    add_flow(out, p);
    add_packet_vars(out, p);
    add_bytes(out, p);
    buf_printf(out, "ALERT CNT:           %u\n", count);
    add_alerts(out, p, dumps);
}

/* The decoder stopped before the addresses, so there is no flow either. */
static void without_addresses(struct buf *out, const struct packet *p, unsigned count)
{
    unsigned n = 0;

    buf_printf(out, "ALERT CNT:         %u\n", count);
    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++)
        if ((packet_alerts(p)[i].flags & ALERT_SUPPRESSED) == 0)
            add_rule(out, &packet_alerts(p)[i], n++, 4);
    add_bytes(out, p);
}

/* Runs on the inspecting thread, for each packet; nearly none has alerts. */
static void debug_packet(struct render *r, void *self, struct packet *p)
{
    const struct alert_debug *log = self;
    struct dumps dumps;
    unsigned count;

    if (LIKELY(detect_slot(p)->alert_count == 0))
        return;
    count = alerts_shown(p);
    if (count == 0)
        return;
    dumps = dumps_of(p->flow);
    record_begin(r, log->sink);
    add_head(r->out, p);
    if (p->src.version != 0)
        with_addresses(r->out, p, count, &dumps);
    else
        without_addresses(r->out, p, count);
    charge(r, log, p->flow, dumps.cut);
    record_end_line(r, p);
}

/* --- settings ------------------------------------------------------------------------------- */

static void *debug_open(const struct output_request *request, struct output_conf *conf,
                        const struct conf_node *node, struct err *err)
{
    struct sink *sink = sink_open(request, conf, node, "alert-debug.log", err);
    struct alert_debug *log;

    if (sink == NULL)
        return NULL;
    log = xcalloc(1, sizeof(*log));
    log->sink = sink;
    log->dumps_cut = counter_register_own("alert_debug.dumps_cut", COUNTER_SUM);
    return log;
}

static void debug_close(void *self)
{
    free(self);
}

const struct logger_ops logger_alert_debug = {
    .name = "alert-debug",
    .doc = "all that is known of packets with alerts",
    .open = debug_open,
    .close = debug_close,
    .packet = debug_packet,
};
