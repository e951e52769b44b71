/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/anomaly.c - the record type `anomaly`: what decoders, the stream module and
 * parsers found odd. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "app/proto.h"
#include "app/rules.h"
#include "base/array.h"
#include "conf/compatibility.h"
#include "output/eve/eve.h"
#include "output/output_private.h"

struct anomaly_settings {
    bool decode, stream, applayer, detect, packet_header;
    bool of_9;                          /* also the decoder events of Suricata 9 */
    bool without_record;
    uint8_t mark;                       /* in output_tx.events_logged */
};

/* Each output with anomalies has a counter in the transaction. */
#define ANOMALY_MARKS_MAX sizeof((struct output_tx){ 0 }.events_logged)

/* Without `types` only anomalies of parsers are written: those of packets can be as many
 * as packets. */
static void *anomaly_configure(const struct conf_node *node, const struct eve *eve,
                               struct err *err)
{
    struct anomaly_settings *s = xcalloc(1, sizeof(*s));
    const struct conf_node *types = conf_find(node, "types");
    bool own = types != NULL && types->child != NULL;

    s->decode = own && conf_bool(types, "decode", false);
    s->stream = own && conf_bool(types, "stream", false);
    s->applayer = !own || conf_bool(types, "applayer", true);
    if (s->applayer)
        s->mark = (uint8_t)eve_mark(&eve->marks->events, ANOMALY_MARKS_MAX, "anomalies", err);
    /* Suricata has none of these, so they are written only where they are asked for. */
    s->detect = own && conf_bool(types, "detect", false);
    s->of_9 = s->decode && conf_is_suricata_9(eve->request->conf);
    s->packet_header = s->decode && conf_bool(node, "packethdr", false);
    s->without_record = conf_bool(node, "without-record", false);
    return s;
}

static bool anomaly_condition(const struct packet *p)
{
    return p->event_count > 0 || (p->flow != NULL && p->flow->app != NULL);
}

#define PACKET_HEADER_LEN 32            /* bytes that `packethdr` shows */

/* Bytes that the events of a packet may write, by the bytes of its frame. An event costs a sender
 * few bytes, and a flow of its own is as cheap. Packet k of a tunnel gets 1/((k + 1) (k + 2)) of
 * it: the sum over all packets of a frame is less than 1. */
static uint64_t packet_limit(const struct eve *eve, const struct packet *p)
{
    const struct packet *root = p->root != NULL ? p->root : p;
    uint64_t limit = (uint64_t)root->wire_len * eve->flow_expansion;

    if (eve->flow_expansion == 0)
        return UINT64_MAX;
    if (root->flags & PACKET_HAS_TUNNEL)
        limit /= (p->recursion + 1u) * (p->recursion + 2u);
    return limit;
}

/* The first record of an outermost packet does not count to the packet's limit. Beyond it the burst
 * of log-limit pays: packets with several events that are not many. */
static bool packet_has_space(struct render *r, const struct eve *eve, const struct packet *p,
                             size_t written, size_t len)
{
    if ((written == 0 && p->recursion == 0) || written + len <= packet_limit(eve, p))
        return log_limit_take(r, p, len);
    return log_limit_take_of_burst(r, p, len);
}

/* A gap that only the client has, told at the end of the flow, belongs to the server's data. */
static enum eve_order gap_order(const struct packet *p, enum packet_event event)
{
    return event == EVENT_STREAM_REASSEMBLY_SEQ_GAP && (p->flags & PACKET_PSEUDO) &&
                   p->flow != NULL && p->flow->parser_gaps == 1u << TO_CLIENT
               ? EVE_TO_CLIENT : EVE_AS_PACKET;
}

/* Returns the bytes of the record. */
static size_t anomaly_packet_event(struct render *r, const struct eve *eve,
                                   const struct anomaly_settings *s, const struct packet *p,
                                   enum packet_event event)
{
    struct json j;

    eve_begin(r, eve, &j, p, (struct eve_head){ gap_order(p, event), "anomaly", EVE_NO_TX });
    json_object(&j, "anomaly");
    json_string(&j, "type", packet_event_is_typed_stream(event) ? "stream" : "decode");
    json_string(&j, "event", packet_event_name(event));
    json_object_end(&j);
    if (s->packet_header && p->data != NULL)
        eve_packet_bytes(&j, p, PACKET_HEADER_LEN);
    eve_end(r, eve, &j, p);
    return record_slice(r).len;
}

/* Detection's own events are no protocol's; Suricata has none of these types. */
static bool is_wanted(const struct anomaly_settings *s, enum packet_event event)
{
    if (packet_event_is_detect(event))
        return s->detect;
    if (packet_event_is_of_9(event))
        return s->of_9;
    return packet_event_is_typed_stream(event) ? s->stream : s->decode;
}

static void anomaly_packet_events(struct render *r, const struct eve *eve,
                                  const struct anomaly_settings *s, const struct packet *p)
{
    size_t written = 0;

    for (unsigned i = 0; i < p->event_count; i++) {
        enum packet_event event = (enum packet_event)p->event[i];
        size_t len;

        if (!is_wanted(s, event))
            continue;
        len = anomaly_packet_event(r, eve, s, p, event);
        if (LIKELY(packet_has_space(r, eve, p, written, len))) {
            written += len;
            continue;
        }
        eve_cancel(r);
        counter_add(r->counters, eve->records_cut, 1);
    }
}

/* A value without a name cannot be raised; "unknown" keeps the record valid. */
static const char *event_name(const struct app_name *names, unsigned event)
{
    for (; names != NULL && names->name != NULL; names++)
        if ((unsigned)names->value == event)
            return names->name;
    return "unknown";
}

/* Suricata writes the events of some protocols in capitals. */
static void event_string(struct json *j, const char *event, bool capitals)
{
    char text[80];
    size_t n = 0;

    for (; event[n] != '\0' && n < sizeof(text); n++)
        text[n] = (char)(capitals ? toupper((unsigned char)event[n]) : event[n]);
    json_bytes(j, "event", text, n);
}

/* The last pseudo packet of a flow counts as one of the server when only the server had
 * data left. */
static enum eve_order last_order(const struct inspection *in)
{
    return in->last_sides == INSPECT_OTHER_SIDE ? EVE_TO_CLIENT : EVE_AS_PACKET;
}

/* Arguments of anomaly_app_record(), on the caller's stack. */
struct app_anomaly {
    const struct app_proto *proto;  /* NULL: none was detected */
    const char *event, *layer;
    uint64_t tx_id;                 /* EVE_NO_TX: about the flow */
};

static void anomaly_app_record(struct render *r, const struct eve *eve, struct packet *p,
                               const struct app_anomaly *a)
{
    bool capitals = a->tx_id == EVE_NO_TX || a->proto->events_in_capitals;
    struct json j;

    if (UNLIKELY(!eve_flow_has_space(r, eve, p->flow)))
        return;
    eve_begin(r, eve, &j, p, (struct eve_head){ last_order(r->inspection), "anomaly", a->tx_id });
    json_object(&j, "anomaly");
    if (a->proto != NULL || p->flow->app_proto != APP_PROTO_FAILED)
        json_string(&j, "app_proto",
                    a->proto != NULL ? a->proto->name : app_proto_name(p->flow->app_proto));
    json_string(&j, "type", "applayer");
    event_string(&j, a->event, capitals);
    json_string(&j, "layer", a->layer);
    json_object_end(&j);
    (void)eve_end_within(r, eve, &j, p);
}

/* Events of protocol detection belong to the flow; the packet that raises them writes
 * them. */
static void anomaly_packet(struct render *r, const struct eve *eve, void *settings,
                           struct packet *p)
{
    const struct anomaly_settings *s = settings;

    if (s->decode || s->stream || s->detect)
        anomaly_packet_events(r, eve, s, p);
    if (!s->applayer || p->flow == NULL || p->flow->app == NULL ||
        LIKELY(!app_flow_has_events(p->flow->app)))
        return;
    for (unsigned event = 1; event <= APP_LAYER_EVENT_MAX; event++)
        if (app_flow_has_event(p->flow->app, event))
            anomaly_app_record(r, eve, p, &(struct app_anomaly){
                p->flow->app->proto, app_layer_event_name(event), "proto_detect", EVE_NO_TX });
}

/* An output writes something of this protocol's transactions. */
static bool has_records(const struct output_conf *conf, const struct app_proto *proto)
{
    return conf->marks.tx[proto->id] > 0 || conf->line_logs > 0 ||
           (conf->marks.files > 0 && (proto->file_directions != 0 || proto->files_by != 0));
}

/* Suricata visits a transaction for its logs until the last has written it, and has nothing to
 * visit of a protocol without a log. Rules see such events all the same. */
static bool record_is_due(const struct eve *eve, const struct output_conf *conf,
                          const struct app_tx *tx)
{
    return tx->no_log || (has_records(conf, tx->flow->proto) && !eve_has_written(eve, tx));
}

/* Writes the events since the last call, so each one is written once. */
static void anomaly_tx(struct render *r, const struct eve *eve, void *settings, struct packet *p,
                       struct app_tx *tx)
{
    const struct anomaly_settings *s = settings;
    uint8_t *done = &output_tx(tx)->events_logged[s->mark];

    if (!s->applayer || *done == tx->event_count)
        return;
    if (!s->without_record && !record_is_due(eve, r->conf, tx)) {
        *done = tx->event_count;
        return;
    }
    for (; *done < tx->event_count; (*done)++)
        anomaly_app_record(r, eve, p, &(struct app_anomaly){
            tx->flow->proto, event_name(tx->flow->proto->events, app_tx_event_at(tx, *done)),
            "proto_parser", tx->id });
}

const struct eve_type eve_type_anomaly = {
    .name = "anomaly",
    .configure = anomaly_configure,
    .condition = anomaly_condition,
    .packet = anomaly_packet,
    .tx = anomaly_tx,
};
