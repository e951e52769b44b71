/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ntp/ntp.c - NTP versions 3 and 4 (RFC 1305, RFC 5905): each datagram is a
 * transaction. */
#include "app/proto/ntp/ntp.h"

#include "app/log.h"
#include "app/proto.h"
#include "app/reports.h"
#include "app/rules.h"

#include <string.h>

#define HEADER_LEN 48   /* bytes; extensions and authentication can follow (RFC 5905 section 7.3) */

/* No code sets UNSOLICITED_RESPONSE: requests and responses are not paired. Rules with this name
 * still load. */
#define NTP_EVENT_LIST(E)                             \
    E(UNSOLICITED_RESPONSE, "unsolicited_response") \
    E(MALFORMED_DATA, "malformed_data")

enum { NTP_EVENT_NONE, NTP_EVENT_LIST(APP_EVENT_ID) };

/* Control and private messages (modes 6 and 7) that are shorter than the header are not
 * accepted. */
static bool is_ntp(struct slice in)
{
    unsigned version = in.len > 0 ? in.data[0] >> 3 & 7 : 0;

    return in.len >= HEADER_LEN && (version == 3 || version == 4);
}

static enum app_probe_result ntp_probe(struct bytes in, enum direction d UNUSED,
                                       const struct flow *flow UNUSED)
{
    return is_ntp(take_rest(&in)) ? APP_PROBE_YES : APP_PROBE_NO;
}

/* A datagram that is not NTP ends the parser, with an event on the transaction before it. */
static enum parse_status ntp_parse(struct app_flow *af, struct app_input *in)
{
    struct ntp_tx *t;

    if (in->len == 0)
        return PARSE_OK;
    if (!is_ntp((struct slice){ in->data, in->len })) {
        if (af->last != NULL)
            app_tx_event(af->last, MALFORMED_DATA);
        return PARSE_STOP;
    }
    t = ntp_tx_of(app_tx_new(af));
    if (t == NULL)
        return PARSE_STOP;
    t->direction = in->direction;
    /* The first byte: 2 bits leap indicator, 3 bits version, 3 bits mode. */
    t->version = in->data[0] >> 3 & 7;
    t->mode = in->data[0] & 7;
    t->stratum = in->data[1];
    /* Behind root delay and root dispersion. */
    memcpy(t->reference, in->data + 12, sizeof(t->reference));
    t->tx.unidirectional[OTHER_DIRECTION(in->direction)] = true;
    t->tx.progress[TO_SERVER] = t->tx.progress[TO_CLIENT] = 1;
    return PARSE_OK;
}

/* --- rules ---------------------------------------------------------------------------------- */

/* RFC 5905 section 7.3. */
static const struct app_name modes[] = {
    { "reserved", 0 }, { "symmetric_active", 1 }, { "symmetric_passive", 2 }, { "client", 3 },
    { "server", 4 }, { "broadcast", 5 }, { "control", 6 }, { "private", 7 }, { NULL, 0 },
};

static const struct app_integer version = {
    .name = "ntp.version", .doc = "version", .bits = 8, .directions = APP_BOTH,
    .field = APP_FIELD_FROM(ntp_tx, version, ALWAYS, direction),
    .firewall = true,
};
static const struct app_integer mode = {
    .name = "ntp.mode", .doc = "mode, by name or number", .bits = 8, .directions = APP_BOTH,
    .names = modes, .field = APP_FIELD_FROM(ntp_tx, mode, ALWAYS, direction),
    .firewall = true,
};
static const struct app_integer stratum = {
    .name = "ntp.stratum", .doc = "stratum", .bits = 8, .directions = APP_BOTH,
    .field = APP_FIELD_FROM(ntp_tx, stratum, ALWAYS, direction),
    .firewall = true,
};
/* For stratum 0 a kiss code, for stratum 1 the name of a source, otherwise an address or a hash
 * (RFC 5905 section 7.3): bytes, not text. */
static const struct app_buffer reference_id = {
    .name = "ntp.reference_id", .doc = "the four bytes of the reference id",
    .directions = APP_BOTH, .field = APP_FIELD_FROM(ntp_tx, reference, ALWAYS, direction),
};

/* --- log ------------------------------------------------------------------------------------ */

/* One record for each datagram. */
static bool ntp_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                    const void *conf UNUSED)
{
    const struct ntp_tx *t = ntp_tx_of(tx);

    json_u64(j, "version", t->version);
    json_u64(j, "mode", t->mode);
    json_u64(j, "stratum", t->stratum);
    json_printf(j, "reference_id", "%02x:%02x:%02x:%02x", t->reference[0], t->reference[1],
                t->reference[2], t->reference[3]);
    return true;
}

static void ntp_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "ntp");
    ntp_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve = {
    .as_packet = true,
    .conf_name = "ntp", .event_type = "ntp", .key = "ntp", .progress = { 1, 1 }, .log = ntp_log,
};

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "ntp.mode", "ntp.generic", NULL }, { "ntp.stratum", "ntp.generic", NULL },
        { "ntp.version", "ntp.generic", NULL }, { NULL, NULL, NULL } },
    .progress = (const struct app_report_progress[]){
        { "ntp.*", APP_BOTH, 1 }, { NULL, 0, 0 } },
};

const struct app_proto app_ntp = {
    .id = APP_PROTO_ntp,
    .name = "ntp",
    .reports = &reports,
    .transports = APP_UDP,
    .probes = (const struct app_probe[]){
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "123", .probe = ntp_probe },
        { .probe = NULL } },
    .tx_size = sizeof(struct ntp_tx),
    .parse = ntp_parse,
    .progress_done = { 1, 1 },
    .events = (const struct app_name[]){ NTP_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } },
    .buffers = (const struct app_buffer *const[]){ &reference_id, NULL },
    .integers = (const struct app_integer *const[]){ &version, &mode, &stratum, NULL },
    .logs = (const struct app_log *const[]){ &eve, NULL },
    .alert_metadata = ntp_alert_metadata,
};
