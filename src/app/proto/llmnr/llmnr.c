/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/llmnr/llmnr.c - link-local multicast name resolution (RFC 4795): DNS messages on port
 * 5355, over UDP and TCP. app/proto/dns finds and parses them; the flags and what rules and EVE
 * show differ. */
#include "app/proto/dns/dns.h"

#include "app/log.h"
#include "app/proto.h"
#include "app/rules.h"

/* RFC 4795 section 2.1.1: conflict, truncated, tentative. DNS has AA and RD in their places. */
#define FLAG_C  0x0400
#define FLAG_TC 0x0200
#define FLAG_T  0x0100

/* No opcode but 0 exists here (RFC 4795 section 2.1.1), and those above 6 have their event from
 * DNS. */
static enum parse_status llmnr_parse(struct app_flow *af, struct app_input *in)
{
    uint64_t next = af->next_tx_id;
    enum parse_status status = dns_parse(af, in);
    struct app_tx *tx = af->last;

    if (tx != NULL && tx->id >= next && !dns_is_response(tx) &&
        dns_opcode(dns_message_of(tx)) > 0 && dns_opcode(dns_message_of(tx)) < 7)
        app_tx_event(tx, DNS_INVALID_OPCODE);
    return status;
}

/* --- what rules see --------------------------------------------------------------------------- */

#define NAMES(symbol, name, directions, which, doc)                                            \
    DNS_NAMES(symbol, name, directions, 1, DNS_##which##_NAMES, dns_find_name, doc)
NAMES(query, "llmnr.queries.rrname", APP_BOTH, QUESTION, "name in the question section");
NAMES(answer, "llmnr.answers.rrname", APP_BOTH, ANSWER, "owner name in the answer section");
NAMES(authority, "llmnr.authorities.rrname", APP_BOTH, AUTHORITY,
      "owner name in the authority section");
NAMES(additional, "llmnr.additionals.rrname", APP_BOTH, ADDITIONAL,
      "owner name in the additional section");
NAMES(response, "llmnr.response.rrname", APP_TC, ALL, "any name in a response");

/* --- EVE -------------------------------------------------------------------------------------- */

/* One record for each message. */
static bool llmnr_log(struct json *j, struct app_tx *tx, enum direction direction UNUSED,
                      const void *conf UNUSED)
{
    static const struct dns_flag flags[] = {
        { FLAG_C, "c" }, { FLAG_TC, "tc" }, { FLAG_T, "t" }, { 0, NULL } };

    dns_log_by_type(j, tx, flags, false);
    return true;
}

static void llmnr_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "llmnr");
    llmnr_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log llmnr_eve = {
    .as_packet = true,
    .conf_name = "llmnr", .event_type = "llmnr", .key = "llmnr", .progress = { 1, 1 },
    .log = llmnr_log,
};

/* Suricata 8.0 does not know it, so a configuration of 8.0 does not switch it on. */
const struct app_proto app_llmnr = {
    .id = APP_PROTO_llmnr,
    .name = "llmnr",
    .since_suricata_9 = true,
    .frames_count_from_one = true,
    .raw_on_tx_end = true,
    .transports = APP_TCP | APP_UDP,
    .probes = (const struct app_probe[]){
        /* 5355: RFC 4795 section 2. */
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "5355",
          .max = DNS_HEADER_SIZE + 2, .probe = dns_probe_tcp },
        /* An answer to a group's query comes from its port, in a flow of its own. */
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "5355", .source_ports = "5355",
          .max = DNS_HEADER_SIZE, .probe = dns_probe_udp },
        { .probe = NULL } },
    .state_size = sizeof(struct dns_state),
    .tx_size = sizeof(struct dns_tx),
    .parse = llmnr_parse,
    .handles_gaps = true,
    .tx_close = dns_tx_close, .close = dns_close,
    .progress_done = { 1, 1 },
    .events = dns_events,
    .frames = (const char *const[]){ "stream", "pdu", NULL },
    .buffers = (const struct app_buffer *const[]){ &query, &answer, &authority, &additional,
                                                   &response, NULL },
    .logs = (const struct app_log *const[]){ &llmnr_eve, NULL },
    .alert_metadata = llmnr_alert_metadata,
};
