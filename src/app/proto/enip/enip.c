/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/enip/enip.c - EtherNet/IP: detection, messages off the stream, requests and
 * responses. */
#include "app/proto/enip/enip.h"

#include "app/proto.h"
#include "app/reports.h"

/* Names in rules and records. */
const struct app_name enip_commands[] = { ENIP_COMMAND_LIST(APP_NUMBER_ROW) { NULL, 0 } };
const struct app_name enip_statuses[] = {
    { "success", 0 }, { "invalid_cmd", 1 }, { "no_resources", 2 }, { "incorrect_data", 3 },
    { "invalid_session", 0x64 }, { "invalid_length", 0x65 }, { "unsupported_prot_rev", 0x69 },
    { "encap_header_error", 0x6a }, { NULL, 0 },
};

/* --- recognition ------------------------------------------------------------------------------ */

static bool is_known(const struct app_name *names, int64_t value)
{
    for (; names->name != NULL; names++)
        if (names->value == value)
            return true;
    return false;
}

/* Could this be the encapsulation header? Known command and status, and a length that fits the
 * command. */
static bool looks_right(struct bytes in)
{
    struct enip_header h;

    if (!enip_read_header(in, &h) || !is_known(enip_statuses, h.status) ||
        !is_known(enip_commands, h.command))
        return false;
    take_skip(&in, ENIP_HEADER_LEN);
    switch (h.command) {
    case ENIP_NOP:
        return h.options == 0;
    case ENIP_REGISTER_SESSION:
        return h.len == 4;
    case ENIP_UNREGISTER_SESSION:
        return h.len == 4 || h.len == 0;
    case ENIP_LIST_INTERFACES:
        take_skip(&in, 2u * take_le16(&in));
        return !in.failed;
    default:
        return true;
    }
}

static enum app_probe_result enip_probe_tcp(struct bytes in, enum direction d UNUSED,
                                            const struct flow *flow UNUSED)
{
    if (bytes_left(&in) < ENIP_HEADER_LEN)
        return APP_PROBE_MORE;
    return looks_right(in) ? APP_PROBE_YES : APP_PROBE_NO;
}

static enum app_probe_result enip_probe_udp(struct bytes in, enum direction d UNUSED,
                                            const struct flow *flow UNUSED)
{
    return looks_right(in) ? APP_PROBE_YES : APP_PROBE_NO;
}

/* --- requests and answers --------------------------------------------------------------------- */

/* A response has the command and session of its request. Connected messages also have a sequence
 * number. */
static bool is_response_to(const struct enip_pdu *response, const struct enip_pdu *request)
{
    if (response->header.command != request->header.command)
        return false;
    if (response->header.session != request->header.session &&
        response->header.command != ENIP_REGISTER_SESSION)        /* requested with session 0 */
        return false;
    if (request->payload != ENIP_CIP || response->payload != ENIP_CIP)
        return request->payload != ENIP_CIP && response->payload != ENIP_CIP;
    if (request->second_connected && response->second_connected)
        return request->sequence == response->sequence;
    return true;
}

#define UNANSWERED 0                    /* the key of all open requests: a queue */

/* The request that this message answers. Older open requests count as done: no response to them is
 * expected any more, so that each request is passed once. */
static struct enip_tx *find_request(struct app_flow *af, const struct enip_pdu *response)
{
    struct app_tx *tx;

    while ((tx = app_tx_by_key(af, UNANSWERED)) != NULL) {
        struct enip_tx *t = enip_tx_of(tx);

        app_tx_key_drop(tx);
        if (t->request == NULL)
            continue;
        tx->progress[TO_SERVER] = tx->progress[TO_CLIENT] = 1;
        if (is_response_to(response, t->request))
            return t;
    }
    return NULL;
}

/* Copies the bytes, then reads them again, because all views point into them. */
static struct enip_pdu *keep(struct enip_tx *t, const struct enip_pdu *pdu)
{
    struct enip_pdu *retained = arena_zalloc(&t->tx.arena, sizeof(*retained));
    struct slice bytes = pdu->bytes;

    if (retained == NULL)
        return NULL;
    bytes = arena_slice(&t->tx.arena, bytes);
    enip_read_pdu(bytes, &pdu->header, retained);
    return retained;
}

/* A response without its request gets its own transaction. */
static struct enip_tx *add(struct app_flow *af, enum direction d, const struct enip_pdu *pdu)
{
    struct enip_tx *t = d == TO_CLIENT ? find_request(af, pdu) : NULL;

    if (t == NULL)
        t = enip_tx_of(app_tx_new(af));
    if (t == NULL)
        return NULL;
    if (d == TO_SERVER) {
        t->request = keep(t, pdu);
        app_tx_key(&t->tx, UNANSWERED);
    } else {
        t->response = keep(t, pdu);
    }
    t->tx.progress[d] = 1;
    if (pdu->invalid)
        app_tx_event(&t->tx, ENIP_INVALID_PDU);
    return t;
}

/* --- frames ----------------------------------------------------------------------------------- */

/* Type 0 is the framework's "stream". */
#define FRAME_LIST(E)          \
    E(FRAME_STREAM, "stream")  \
    E(FRAME_HEADER, "hdr")     \
    E(FRAME_DATA, "data")      \
    E(FRAME_PDU, "pdu")        \
    E(FRAME_CIP, "cip")        \
    E(FRAME_ITEM, "enip.item")
enum { FRAME_LIST(APP_ENUM_ID) };

/* Messages are read again only if a rule or log uses these frames. */
static void frame_message(struct app_flow *af, enum direction d, uint64_t pdu_at,
                          const struct enip_item *item, uint64_t tx_id)
{
    uint64_t at = pdu_at + item->message_at;
    struct cip cip, inner;
    uint32_t inner_at;

    if (app_frame(af, d, FRAME_CIP, at, item->len, tx_id) == 0 || !cip_read(item->message, &cip))
        return;
    for (unsigned i = 0; cip_nested(&cip, i, &inner, &inner_at); i++)
        app_frame(af, d, FRAME_CIP, at + inner_at, inner.size, tx_id);
}

static void make_frames(struct app_flow *af, enum direction d, uint64_t at,
                        const struct enip_pdu *pdu, uint64_t tx_id)
{
    struct bytes in = { NULL, NULL, false };
    struct enip_item item;

    app_frame(af, d, FRAME_HEADER, at, ENIP_HEADER_LEN, tx_id);
    app_frame(af, d, FRAME_DATA, at + ENIP_HEADER_LEN, pdu->header.len, tx_id);
    app_frame(af, d, FRAME_PDU, at, pdu->bytes.len, tx_id);
    if (pdu->payload == ENIP_UNPARSED || pdu->payload == ENIP_REGISTER)
        return;
    for (unsigned i = 0; i < pdu->item_count && enip_take_item(pdu, &in, &item); i++) {
        app_frame(af, d, FRAME_ITEM, at + item.at, 4 + (int64_t)item.len, tx_id);
        if (pdu->payload == ENIP_CIP && item.message.len > 0)
            frame_message(af, d, at, &item, tx_id);
    }
}

/* --- parsing ---------------------------------------------------------------------------------- */

/* After a gap, the next position at which a message may start. NOP is not accepted, because any run
 * of zeros looks like one. */
static bool find_message(struct app_input *in)
{
    struct bytes b = app_input_bytes(in);

    for (; bytes_have(&b, ENIP_HEADER_LEN); take_skip(&b, 1)) {
        if (b.next[0] != ENIP_NOP && looks_right(b))
            break;
    }
    in->consumed = (uint32_t)(b.next - in->data);
    return bytes_have(&b, ENIP_HEADER_LEN);
}

/* One message. A datagram that is cut off is no EtherNet/IP, and stops the parser. */
static enum parse_status enip_parse(struct app_flow *af, struct app_input *in)
{
    struct enip_state *st = af->state;
    struct bytes b = app_input_bytes(in);
    struct enip_pdu pdu;
    struct enip_header header;
    struct enip_tx *t;

    if (in->gap > 0) {
        st->lost[in->direction] = true;
        return PARSE_OK;
    }
    if (in->len == 0)
        return PARSE_OK;
    in->consumed = 0;
    in->need = ENIP_HEADER_LEN;
    if (st->lost[in->direction] && !find_message(in))
        return PARSE_MORE;
    st->lost[in->direction] = false;
    take_skip(&b, in->consumed);
    if (!enip_read_header(b, &header))
        return in->is_udp ? PARSE_STOP : PARSE_MORE;
    in->need = ENIP_HEADER_LEN + header.len;
    if (!bytes_have(&b, in->need))
        return in->is_udp ? PARSE_STOP : PARSE_MORE;
    enip_read_pdu((struct slice){ b.next, in->need }, &header, &pdu);
    t = add(af, in->direction, &pdu);
    make_frames(af, in->direction, in->offset + in->consumed, &pdu,
                t != NULL ? t->tx.id : APP_FRAME_NO_TX);
    in->consumed = in->is_udp ? in->len : in->consumed + in->need;
    return PARSE_OK;
}

/* --- declaration ------------------------------------------------------------------------------ */

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "cip_service", "cip", NULL }, { "enip_command", "enip.command", NULL },
        { NULL, NULL, NULL } },
};

const struct app_proto app_enip = {
    .id = APP_PROTO_enip,
    .raw_on_tx_end = true,
    .inspect_both_dirs = true,
    .name = "enip",
    .reports = &reports,
    .transports = APP_TCP | APP_UDP,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "44818",
          .source_ports = "44818", .max = ENIP_HEADER_LEN, .probe = enip_probe_tcp },
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "44818",
          .source_ports = "44818", .max = ENIP_HEADER_LEN, .probe = enip_probe_udp },
        { .probe = NULL } },
    .state_size = sizeof(struct enip_state),
    .tx_size = sizeof(struct enip_tx),
    .tx_limit = 1024,
    .too_many_tx_event = ENIP_TOO_MANY_TRANSACTIONS,
    .marks_tx = true,
    .parse = enip_parse,
    .handles_gaps = true,
    .progress_done = { 1, 1 },
    .events = (const struct app_name[]){ ENIP_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } },
    .frames = (const char *const[]){ FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = enip_buffers,
    .integers = enip_integers,
    .matches = enip_matches,
    .logs = enip_logs,
    .alert_metadata = enip_alert_metadata,
};
