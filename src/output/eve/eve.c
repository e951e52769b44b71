/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/eve.c - one `eve-log`: reads its settings and calls each of its record types
 * in turn. The settings are read-only while packets flow; every packet thread calls with
 * its own render. */
#include "output/eve/eve.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "app/conf.h"
#include "app/proto.h"
#include "base/array.h"
#include "base/report/log.h"
#include "output/eve/alert.h"
#include "output/list.h"
#include "output/output_private.h"

#define X(name) extern const struct eve_type eve_type_##name;
EVE_TYPE_LIST(X)
#undef X
#define X(name) &eve_type_##name,
static const struct eve_type *const eve_types[] = { EVE_TYPE_LIST(X) NULL };
#undef X

#define LOGS_PER_PROTO_MAX 4            /* of one eve-log */
#define TX_MARKS_MAX 16                 /* of all: two bits of output_tx.logged each */

static const struct eve_type *eve_type_find(const char *name)
{
    for (unsigned i = 0; eve_types[i] != NULL; i++)
        if (strcmp(eve_types[i]->name, name) == 0)
            return eve_types[i];
    return NULL;
}

/* A parser computes data that only logs show if a log requires it. */
static void required_features(const struct eve *eve, const struct app_log *log, unsigned id,
                          const void *settings)
{
    struct app_required_features required = { 0 };

    if (log->features == NULL)
        return;
    required.features[id] = log->features(settings);
    app_require(eve->request->app, &required);
}

/* Each output that writes records of transactions needs a bit there, to write each one
 * once. The number is limited by the width of that field. */
unsigned eve_mark(unsigned *used, unsigned max, const char *what, struct err *err)
{
    if (*used < max)
        return (*used)++;
    err_set(err, "at most %u outputs have records of %s", max, what);
    return 0;
}

/* Adds the logs of all protocols with this configuration name; false when no protocol has
 * one. */
static bool eve_add_app_logs(struct eve *eve, const char *name, const struct conf_node *node)
{
    bool known = false;

    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        const struct app_proto *proto = app_proto_by_id((enum app_proto_id)id);

        for (unsigned i = 0; proto != NULL && proto->logs != NULL && proto->logs[i]; i++) {
            const struct app_log *log = proto->logs[i];
            struct eve_app_log *use = &eve->log[id][eve->log_count[id]];
            struct err err = { 0 };

            if (strcmp(log->conf_name, name) != 0 || eve->log_count[id] == LOGS_PER_PROTO_MAX)
                continue;
            known = true;
            *use = (struct eve_app_log){ .log = log };
            use->bit = 2 * eve_mark(&eve->marks->tx[id], TX_MARKS_MAX, name, &err);
            if (err.text[0] == '\0' && log->configure != NULL)
                use->settings = log->configure(node, &err);
            if (err.text[0] != '\0') {
                conf_error(node, "%s", err.text);
                continue;
            }
            if (log->is_off != NULL && log->is_off(use->settings)) {
                free(use->settings);
                continue;
            }
            required_features(eve, log, id, use->settings);
            eve->log_count[id]++;
        }
    }
    return known;
}

/* Older or other names of record types that Suricata accepts. */
static const char *eve_type_name(const char *name)
{
    static const struct { const char *other, *name; } names[] = {
        { "vars", "metadata" }, { "ikev2", "ike" },
    };

    for (unsigned i = 0; i < ARRAY_LEN(names); i++)
        if (strcmp(name, names[i].other) == 0)
            return names[i].name;
    return name;
}

/* An unknown type is a warning, because a file for another version of Suricata may have
 * one. */
static void eve_add_type(struct eve *eve, const char *given, const struct conf_node *node)
{
    const char *name = eve_type_name(given);
    const struct eve_type *type = eve_type_find(name);
    struct err err = { 0 };
    struct eve_use use = { .type = type };

    if (!conf_bool(node, "enabled", true))
        return;
    if (eve_add_app_logs(eve, name, node))
        return;
    if (type == NULL) {
        conf_warning(node, "eve-log: there is no record type \"%s\"; it is left out", name);
        return;
    }
    if (eve->type_count == ARRAY_LEN(eve->type))
        return;
    if (type->configure != NULL)
        use.settings = type->configure(node, eve, &err);
    if (err.text[0] != '\0')
        conf_error(node, "%s: %s", name, err.text);
    else
        eve->type[eve->type_count++] = use;
}

/* A server that collects records of many machines must know their origin, so records for
 * Redis get the host's name by default. */
static void read_sensor(struct eve *eve, const struct conf_node *root,
                        const struct conf_node *node)
{
    const char *name = conf_string(root, "sensor-name", NULL), *own;
    char machine[256] = "";

    own = conf_string(node, "sensor-name", NULL);
    if (own != NULL)
        conf_warning(conf_find(node, "sensor-name"),
                     "write sensor-name at the top of the file: it is meant for all outputs");
    if (own == NULL && name == NULL && strcmp(conf_string(node, "filetype", ""), "redis") == 0 &&
        gethostname(machine, sizeof(machine) - 1) == 0)
        name = machine;
    if (own != NULL || name != NULL)
        eve->sensor_name = xstrdup(own != NULL ? own : name);
    eve->sensor_id = conf_find(node, "sensor-id") != NULL
                         ? (int64_t)conf_u64_range(node, "sensor-id", 0, 0, INT64_MAX) : -1;
}

/* What each record has, whatever its type, and what a flow may have written. */
static void read_record_settings(struct eve *eve, const struct conf_node *root,
                                 const struct conf_node *node)
{
    eve->prefix = conf_string(node, "prefix", "");
    read_sensor(eve, root, node);
    eve->ethernet = conf_bool(node, "ethernet", false);
    eve->pcap_file = conf_bool(node, "pcap-file", false);
    eve->community_id = conf_bool(node, "community-id", false);
    eve->community_seed = (uint16_t)conf_u64_or_end(node, "community-id-seed", 0, 0, 65535);
    eve->metadata = conf_bool(node, "metadata", true);
    eve->version = conf_bool(node, "suricata-version", false);
    eve->flow_expansion = (uint32_t)conf_u64_range(node, "max-flow-expansion", 10, 0, UINT32_MAX);
    eve->alert_expansion = (uint32_t)conf_u64_range(node, "max-alert-expansion", 64, 0,
                                                    UINT32_MAX);
    eve_read_xff(&eve->xff, node);
}

static void register_counters(struct eve *eve)
{
    eve->macs_max[TO_SERVER] = counter_register("decoder.max_mac_addrs_src", COUNTER_MAX);
    eve->macs_max[TO_CLIENT] = counter_register("decoder.max_mac_addrs_dst", COUNTER_MAX);
    eve->records_cut = counter_register_own("eve.records_cut", COUNTER_SUM);
    eve->contents_cut = counter_register_own("eve.contents_cut", COUNTER_SUM);
    eve->details_cut = counter_register_own("eve.details_cut", COUNTER_SUM);
}

/* A wrong setting of one record type leaves out that type; a sink that cannot be opened
 * fails the output. */
static void *eve_open(const struct output_request *request, struct output_conf *conf,
                      const struct conf_node *node, struct err *err)
{
    struct eve *eve = xcalloc(1, sizeof(*eve));

    eve->sink = sink_open_threaded(request, conf, node, "eve.json", err);
    if (eve->sink == NULL) {
        free(eve);
        return NULL;
    }
    for (unsigned i = 0; i < APP_PROTO_COUNT; i++)
        eve->log[i] = xcalloc(LOGS_PER_PROTO_MAX, sizeof(struct eve_app_log));
    eve->marks = &conf->marks;
    eve->request = &conf->request;
    read_record_settings(eve, request->conf, node);
    register_counters(eve);
    conf->eve_logs++;
    CONF_EACH (item, conf_find(node, "types")) {
        if (item->kind == CONF_MAP && item->child != NULL)
            eve_add_type(eve, item->child->name, item->child);
        else if (item->kind == CONF_SCALAR)
            eve_add_type(eve, item->value, item);
    }
    for (unsigned i = 0; i < eve->type_count; i++) {
        const struct eve_type *type = eve->type[i].type;

        eve->packet_types |= (uint32_t)(type->packet != NULL) << i;
        eve->tx_types |= (uint32_t)(type->tx != NULL) << i;
        conf->alert_contents |= type == &eve_type_alert &&
                                eve_alert_prints_contents(eve->type[i].settings);
    }
    return eve;
}

/* After all threads have ended. The sink belongs to the output configuration. */
static void eve_close(void *self)
{
    struct eve *eve = self;

    for (unsigned i = 0; i < eve->type_count; i++)
        if (eve->type[i].type->free != NULL)
            eve->type[i].type->free(eve->type[i].settings);
        else
            free(eve->type[i].settings);
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++) {
        for (unsigned i = 0; i < eve->log_count[id]; i++)
            free(eve->log[id][i].settings);
        free(eve->log[id]);
    }
    free(eve->sensor_name);
    free(eve);
}

/* --- addresses of the link layer ------------------------------------------------------------ */

/* FLOW_MACS_MAX bounds the list: an attacker may send each frame from another address. */
static void macs_add(struct flow_macs *m, enum direction d, const uint8_t *mac)
{
    for (unsigned i = 0; i < m->count[d]; i++)
        if (memcmp(m->at[d][i], mac, 6) == 0)
            return;
    if (m->count[d] < FLOW_MACS_MAX)
        memcpy(m->at[d][m->count[d]++], mac, 6);
}

/* The addresses are kept on the flow until its record is written. */
static void eve_note_macs(struct render *r, const struct eve *eve, struct packet *p)
{
    struct flow_macs *macs;
    enum direction d = packet_direction(p);

    if (p->flow == NULL || p->eth == NULL || (p->flags & PACKET_PSEUDO) ||
        (macs = flow_macs_make(p->flow)) == NULL)
        return;
    macs_add(macs, d, p->eth + 6);
    macs_add(macs, OTHER_DIRECTION(d), p->eth);
    for (d = TO_SERVER; d <= TO_CLIENT; d++)
        counter_max(r->counters, eve->macs_max[d], macs->count[d]);
}

/* --- records of each type ----------------------------------------------------------------- */

/* condition() is cheap and lets most packets skip a type. */
static void eve_packet(struct render *r, void *self, struct packet *p)
{
    const struct eve *eve = self;

    if (UNLIKELY(eve->ethernet))
        eve_note_macs(r, eve, p);
    for (uint32_t left = eve->packet_types; left != 0; left &= left - 1) {
        const struct eve_use *use = &eve->type[__builtin_ctz(left)];

        if (use->type->condition == NULL || use->type->condition(p))
            use->type->packet(r, eve, use->settings, p);
    }
}

/* A pseudo packet at the end of a flow covers both directions; its record has the direction of the
 * server's data, if there are any. */
static enum eve_order eve_packet_order(const struct inspection *in, const struct app_tx *tx)
{
    if ((in->packet->flags & PACKET_PSEUDO) == 0)
        return EVE_AS_PACKET;
    if (tx->unidirectional[TO_SERVER] == tx->unidirectional[TO_CLIENT])
        return in->last_sides & INSPECT_OTHER_SIDE ? EVE_TO_CLIENT : EVE_AS_PACKET;
    return tx->unidirectional[TO_SERVER] ? EVE_TO_CLIENT : EVE_TO_SERVER;
}

/* Most transactions are shown from the client to the server, whichever packet completes
 * them. */
static enum eve_order eve_app_order(const struct app_log *log, const struct inspection *in,
                                    const struct app_tx *tx, enum direction direction)
{
    if (log->as_packet)
        return eve_packet_order(in, tx);
    if (!log->each_direction)
        return EVE_AS_FLOW;
    return direction == TO_SERVER ? EVE_TO_SERVER : EVE_TO_CLIENT;
}

/* log_nth writes several records of one transaction, log a single one. False: there is
 * none. */
static bool eve_app_members(struct json *j, const struct eve_app_log *use, struct app_tx *tx,
                            enum direction direction, unsigned n)
{
    if (use->log->log_nth != NULL)
        return use->log->log_nth(j, tx, n, use->settings);
    return n == 0 && use->log->log(j, tx, direction, use->settings);
}

/* Arguments of eve_app_record(): one direction of a transaction, for one log of its protocol. */
struct app_record {
    const struct eve_app_log *use;
    struct app_tx *tx;
    enum direction direction;
};

/* Writes the n-th record of a transaction; false when there is none, or when the flow has
 * used up its space. */
static bool eve_app_record(struct render *r, const struct eve *eve, struct packet *p,
                           struct app_record record, unsigned n)
{
    const struct eve_app_log *use = record.use;
    enum direction direction = record.direction;
    struct app_tx *tx = record.tx;
    bool may_xff = eve->xff.mode != XFF_OFF;
    struct xff_use xff = { .found = false };
    struct json j;
    bool written;

    if (UNLIKELY(!eve_flow_has_space(r, eve, p->flow)))
        return false;
    if (UNLIKELY(may_xff))
        eve_xff_begin(r, &eve->xff, p, tx, &xff);
    r->record_us = use->log->time_us != NULL ? use->log->time_us(tx) : 0;
    eve_begin(r, eve, &j, p,
              (struct eve_head){ eve_app_order(use->log, r->inspection, tx, direction),
                                 use->log->event_type, use->log->has_tx_id ? tx->id : EVE_NO_TX });
    r->record_us = 0;
    if (use->log->key != NULL)
        json_object(&j, use->log->key);
    if (!eve_app_members(&j, use, tx, direction, n)) {
        eve_cancel(r);
        r->client = NULL;
        return false;
    }
    if (use->log->key != NULL)
        json_object_end(&j);
    eve_xff_end(r, &eve->xff, &j, &xff);
    written = eve_end_within(r, eve, &j, p);
    p->flow->tx_log_count += written;
    return written;
}

static void eve_app_records(struct render *r, const struct eve *eve, struct packet *p,
                            struct app_record record)
{
    for (unsigned n = 0; eve_app_record(r, eve, p, record, n); n++)
        if (record.use->log->log_nth == NULL)
            break;
}

/* The transaction has made the progress that the log waits for, or will make none any
 * more. */
static bool eve_log_due(const struct app_tx *tx, const struct app_log *log, enum direction d)
{
    return tx->progress[d] >= log->progress[d] || app_tx_done(tx, d, tx->flow->proto);
}

/* A log without each_direction waits for both directions and uses one of the two bits. */
static void eve_app_tx(struct render *r, const struct eve *eve, const struct eve_app_log *use,
                       struct packet *p, struct app_tx *tx)
{
    if (!use->log->each_direction) {
        if (!(output_tx(tx)->logged & 1u << use->bit) && eve_log_due(tx, use->log, TO_SERVER) &&
            eve_log_due(tx, use->log, TO_CLIENT)) {
            output_tx(tx)->logged |= 1u << use->bit;
            eve_app_records(r, eve, p, (struct app_record){ use, tx, TO_SERVER });
        }
        return;
    }
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        if (output_tx(tx)->logged & 1u << (use->bit + d) || tx->unidirectional[d] ||
            tx->progress[d] == 0 || !eve_log_due(tx, use->log, d))
            continue;
        output_tx(tx)->logged |= 1u << (use->bit + d);
        eve_app_records(r, eve, p, (struct app_record){ use, tx, d });
    }
}

static bool log_has_written(const struct eve_app_log *use, const struct app_tx *tx)
{
    unsigned marks = output_tx(tx)->logged >> use->bit & 3;

    if (!use->log->each_direction)
        return marks & 1;
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        if (!(marks & 1u << d) && !tx->unidirectional[d])
            return false;
    return true;
}

bool eve_has_written(const struct eve *eve, const struct app_tx *tx)
{
    unsigned id = tx->flow->proto->id;

    for (unsigned i = 0; i < eve->log_count[id]; i++)
        if (!log_has_written(&eve->log[id][i], tx))
            return false;
    return eve->log_count[id] > 0;
}

/* `no_log` (keyword config) stops the protocol's own records, but not anomalies or files. */
static void eve_tx(struct render *r, void *self, struct packet *p, struct app_tx *tx)
{
    const struct eve *eve = self;
    unsigned id = tx->flow->proto->id;

    for (uint32_t left = eve->tx_types; left != 0; left &= left - 1) {
        const struct eve_use *use = &eve->type[__builtin_ctz(left)];

        use->type->tx(r, eve, use->settings, p, tx);
    }
    if (tx->no_log)
        return;
    for (unsigned i = 0; i < eve->log_count[id]; i++)
        eve_app_tx(r, eve, &eve->log[id][i], p, tx);
}

static void eve_flow(struct render *r, void *self, struct packet *p, const struct flow *flow)
{
    const struct eve *eve = self;

    for (unsigned i = 0; i < eve->type_count; i++)
        if (eve->type[i].type->flow != NULL)
            eve->type[i].type->flow(r, eve, eve->type[i].settings, p, flow);
}

static void eve_stats(struct render *r, void *self, uint64_t now_us, uint64_t uptime_s)
{
    const struct eve *eve = self;

    for (unsigned i = 0; i < eve->type_count; i++)
        if (eve->type[i].type->stats != NULL)
            eve->type[i].type->stats(r, eve, eve->type[i].settings, now_us, uptime_s);
}

/* Only alerts, drops and the like are about packets. */
static enum packets_wanted eve_wants_packets(const void *self)
{
    const struct eve *eve = self;

    if (eve->ethernet)
        return PACKETS_ALL;
    for (uint32_t left = eve->packet_types; left != 0; left &= left - 1)
        if (!eve->type[__builtin_ctz(left)].type->only_notable)
            return PACKETS_ALL;
    return eve->packet_types != 0 ? PACKETS_NOTABLE : PACKETS_NONE;
}

const struct logger_ops logger_eve = {
    .name = "eve-log",
    .doc = "EVE JSON: alerts, flows, transactions, statistics, a record a line",
    .open = eve_open,
    .close = eve_close,
    .packet = eve_packet,
    .wants_packets = eve_wants_packets,
    .tx = eve_tx,
    .flow = eve_flow,
    .stats = eve_stats,
    .left_out = eve_left_out,
};
