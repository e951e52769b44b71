/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/mdns/mdns.c - multicast DNS (RFC 6762): DNS messages to a multicast group.
 *
 * There is no server, so all messages count as sent to one, also responses. Only the QR bit
 * distinguishes them (RFC 6762 section 18.2). app/proto/dns parses the messages. */
#include "app/proto/dns/dns.h"

#include "app/log.h"
#include "app/proto.h"
#include "app/rules.h"

#define HEADER_SIZE 12  /* bytes (RFC 1035 section 4.1.1) */
#define FRAME_LIST(E)   \
    E(FRAME_PDU, "pdu")
enum { FRAME_LIST(APP_ENUM_ID) };

/* --- messages --------------------------------------------------------------------------------- */

/* Accepts only a complete, valid message. A message in the other direction reverses the flow, so
 * that all messages go to the server. */
static enum app_probe_result mdns_probe(struct bytes in, enum direction direction,
                                        const struct flow *flow)
{
    struct slice complete = { in.next, (uint32_t)bytes_left(&in) };
    struct dns_message message;
    bool request;

    (void)flow;
    if (complete.len < HEADER_SIZE || !dns_header_fits(in, complete.len, &request) ||
        dns_message_parse(complete, NULL, &message) != DNS_PARSED)
        return APP_PROBE_MORE;
    return direction == TO_SERVER ? APP_PROBE_YES : APP_PROBE_YES_REVERSED;
}

/* The event goes to the transaction before, because the malformed message has none. */
static void malformed(struct app_flow *af, struct app_tx *tx)
{
    app_tx_discard(tx);
    if (af->last != NULL)
        app_tx_event(af->last, DNS_MALFORMED_DATA);
}

/* One datagram, one message. A datagram that does not begin like DNS is ignored; one with a
 * malformed rest is an event. Neither ends the parser. */
static enum parse_status mdns_parse(struct app_flow *af, struct app_input *in)
{
    struct slice complete = { in->data, in->len };
    uint32_t frame = app_frame(af, in->direction, FRAME_PDU, in->offset, in->len,
                               APP_FRAME_NO_TX);
    struct dns_tx *t;
    bool request;

    if (in->len == 0 || !dns_header_fits(app_input_bytes(in), in->len, &request))
        return PARSE_OK;
    t = (struct dns_tx *)app_tx_new(af);
    if (t == NULL)
        return PARSE_OK;
    if (dns_message_parse(complete, &t->tx.arena, &t->message) != DNS_PARSED) {
        malformed(af, &t->tx);
        return PARSE_OK;
    }
    t->is_response = !request;
    dns_message_events(&t->tx);
    t->tx.progress[TO_SERVER] = 1;
    t->tx.unidirectional[TO_CLIENT] = true;     /* nothing answers within this transaction */
    app_frame_set_tx(af, in->direction, frame, t->tx.id);
    return PARSE_OK;
}

/* --- what rules see --------------------------------------------------------------------------- */

/* A response may repeat questions, which do not count. Queries have answers, too: those that the
 * sender already knows (RFC 6762 section 7.1). */
static bool find_name(struct app_tx *tx, enum direction direction UNUSED,
                      const struct app_key *key, unsigned index, struct slice *out)
{
    const enum dns_names which = (enum dns_names)key->number;

    if (which != DNS_ANSWER_NAMES && dns_is_response(tx) == (which == DNS_QUESTION_NAMES))
        return false;
    return dns_name_at(tx, dns_message_of(tx), which, index, out);
}

#define NAMES(symbol, name, directions, which, doc)                                            \
    DNS_NAMES(symbol, name, directions, 1, DNS_##which##_NAMES, find_name, doc)
NAMES(query, "mdns.queries.rrname", APP_BOTH, QUESTION, "name in the question section");
NAMES(answer, "mdns.answers.rrname", APP_BOTH, ANSWER, "owner name in the answer section");
NAMES(authority, "mdns.authorities.rrname", APP_BOTH, AUTHORITY,
      "owner name in the authority section");
NAMES(additional, "mdns.additionals.rrname", APP_BOTH, ADDITIONAL,
      "owner name in the additional section");
NAMES(response, "mdns.response.rrname", APP_TS, ALL, "any name in a response");

/* --- EVE -------------------------------------------------------------------------------------- */

/* One record for each message. */
static bool mdns_log(struct json *j, struct app_tx *tx, enum direction direction UNUSED,
                     const void *conf UNUSED)
{
    static const struct dns_flag flags[] = {
        { DNS_FLAG_AA, "aa" }, { DNS_FLAG_TC, "tc" }, { DNS_FLAG_RD, "rd" },
        { DNS_FLAG_RA, "ra" }, { DNS_FLAG_Z, "z" }, { DNS_FLAG_AD, "ad" },
        { DNS_FLAG_CD, "cd" }, { 0, NULL } };

    dns_log_by_type(j, tx, flags, true);
    return true;
}

static void mdns_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "mdns");
    mdns_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log mdns_eve = {
    .as_packet = true,
    .conf_name = "mdns", .event_type = "mdns", .key = "mdns", .progress = { 1, 1 },
    .log = mdns_log,
};

const struct app_proto app_mdns = {
    .id = APP_PROTO_mdns,
    .name = "mdns",
    .frames_count_from_one = true,
    .transports = APP_UDP,
    .probes = (const struct app_probe[]){
        /* 5353: the port of multicast DNS. */
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "5353", .max = HEADER_SIZE,
          .probe = mdns_probe },
        { .probe = NULL } },
    .tx_size = sizeof(struct dns_tx),
    .parse = mdns_parse,
    .progress_done = { 1, 1 },
    .events = dns_events,
    .frames = (const char *const[]){ FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = (const struct app_buffer *const[]){ &query, &answer, &authority, &additional,
                                                   &response, NULL },
    .logs = (const struct app_log *const[]){ &mdns_eve, NULL },
    .alert_metadata = mdns_alert_metadata,
};
