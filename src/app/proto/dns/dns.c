/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dns/dns.c - DNS over UDP and TCP: protocol detection, framing, one transaction per
 * message. */
#include "app/proto/dns/dns.h"

#include "app/reports.h"
#include "base/memory/lib_memory.h"

#define FRAME_LIST(E)         \
    E(FRAME_STREAM, "stream") \
    E(FRAME_PDU, "pdu")
enum { FRAME_LIST(APP_ENUM_ID) };

/* --- recognition ------------------------------------------------------------------------------ */

struct dns_guess {
    bool is_dns, request, incomplete;
};

/* `len`: of the message, of which `in` may hold only the beginning. A complete message is parsed
 * without keeping anything; otherwise only the header decides. */
static struct dns_guess guess(struct bytes in, size_t len)
{
    struct dns_guess g = { 0 };
    struct dns_message message;
    struct slice complete;
    enum dns_parse parsed;

    if (bytes_left(&in) < len) {
        g.is_dns = dns_header_fits(in, len, &g.request);
        return g;
    }
    complete = take_slice(&in, len);
    if (len < DNS_HEADER_SIZE || !dns_header_fits(bytes_of_slice(complete), len, &g.request))
        return g;
    parsed = dns_message_parse(complete, NULL, &message);
    g.is_dns = parsed == DNS_PARSED;
    g.incomplete = parsed == DNS_INCOMPLETE;
    return g;
}

/* A length of 2 bytes comes before the message (RFC 1035 section 4.2.2). */
static struct dns_guess guess_tcp(struct bytes in)
{
    uint16_t len = take_be16(&in);

    if (in.failed)
        return (struct dns_guess){ .incomplete = true };
    return guess(in, len);
}

static enum app_probe_result answer(struct dns_guess g, enum direction direction)
{
    if (!g.is_dns)
        return APP_PROBE_MORE;          /* the probe's limit of bytes turns this into "no" */
    /* A response that a client seems to send: the sides are swapped. */
    return g.request == (direction == TO_SERVER) ? APP_PROBE_YES : APP_PROBE_YES_REVERSED;
}

enum app_probe_result dns_probe_udp(struct bytes in, enum direction direction,
                                    const struct flow *flow)
{
    (void)flow;
    if (bytes_left(&in) < DNS_HEADER_SIZE)
        return APP_PROBE_MORE;
    return answer(guess(in, bytes_left(&in)), direction);
}

enum app_probe_result dns_probe_tcp(struct bytes in, enum direction direction,
                                    const struct flow *flow)
{
    (void)flow;
    if (bytes_left(&in) < DNS_HEADER_SIZE + 2)
        return APP_PROBE_MORE;
    return answer(guess_tcp(in), direction);
}

/* --- messages --------------------------------------------------------------------------------- */

/* Malformed data raise their event on the message before, if it still exists: they have no
 * transaction of their own. */
static void event_on_last(struct app_flow *af, unsigned event)
{
    if (af->last != NULL)
        app_tx_event(af->last, event);
}

/* A request's transaction ends before its response comes, so that the flow keeps its id. Without
 * memory the response is logged. */
void dns_tx_close(struct app_tx *tx)
{
    struct dns_state *st = tx->flow->state;
    struct dns_nolog *nolog;

    if (!tx->no_log || ((struct dns_tx *)tx)->is_response)
        return;
    if (st->nolog == NULL)
        st->nolog = lib_calloc(1, sizeof(*st->nolog));
    nolog = st->nolog;
    if (nolog == NULL)
        return;
    nolog->ids[nolog->next] = dns_message_of(tx)->id;
    nolog->next = (uint8_t)((nolog->next + 1) % DNS_NOLOG_IDS_MAX);
    nolog->count = (uint8_t)MIN(nolog->count + 1, DNS_NOLOG_IDS_MAX);
}

void dns_close(struct app_flow *af)
{
    struct dns_state *st = af->state;

    if (st != NULL)
        lib_free(st->nolog);
}

static void dns_rest(struct app_flow *af)
{
    struct dns_state *st = af->state;

    st->inspected = af->next_tx_id;
}

/* Looks also at transactions that are still open. Rules have not seen those of the current packet,
 * whose number the peer chooses; of the others there are at most max-tx. */
static bool is_nolog(const struct app_flow *af, const struct dns_tx *answer)
{
    const struct dns_state *st = af->state;
    uint16_t id = answer->message.id;

    for (const struct app_tx *tx = af->first; tx != &answer->tx && tx->id < st->inspected;
         tx = tx->next)
        if (tx->no_log && dns_message_of(tx)->id == id)
            return true;
    for (unsigned i = 0; st->nolog != NULL && i < st->nolog->count; i++)
        if (st->nolog->ids[i] == id)
            return true;
    return false;
}

/* The QR flag contradicts the direction. */
static bool wrong_way(const struct dns_tx *t)
{
    return ((t->message.flags & DNS_FLAG_QR) != 0) != t->is_response;
}

/* False: not DNS, or malformed. A response from the client is dropped with an event; a request from
 * the server is kept, with an event. */
static bool add_message(struct app_flow *af, enum direction direction, struct slice in,
                        uint32_t frame)
{
    struct dns_tx *t;
    bool request;

    if (!dns_header_fits(bytes_of_slice(in), in.len, &request))
        return false;
    t = (struct dns_tx *)app_tx_new(af);
    if (t == NULL)
        return false;
    t->is_response = direction == TO_CLIENT;
    if (dns_message_parse(in, &t->tx.arena, &t->message) != DNS_PARSED) {
        app_tx_discard(&t->tx);
        event_on_last(af, DNS_MALFORMED_DATA);
        return false;
    }
    if (wrong_way(t) && direction == TO_SERVER) {
        app_tx_discard(&t->tx);
        event_on_last(af, DNS_NOT_REQUEST);
        return false;
    }
    if (t->is_response)
        t->tx.no_log = is_nolog(af, t);
    if (wrong_way(t))
        app_tx_event(&t->tx, DNS_NOT_RESPONSE);
    dns_message_events(&t->tx);
    t->tx.progress[direction] = 1;
    /* Requests and responses are not paired, see README.md. */
    t->tx.unidirectional[OTHER_DIRECTION(direction)] = true;
    app_frame_set_tx(af, direction, frame, t->tx.id);
    return true;
}

static enum parse_status parse_udp(struct app_flow *af, struct app_input *in)
{
    struct slice message = { in->data, in->len };
    uint32_t frame = app_frame(af, in->direction, FRAME_PDU, in->offset, in->len,
                               APP_FRAME_NO_TX);

    if (in->len > 0)
        add_message(af, in->direction, message, frame);
    return PARSE_OK;
}

/* A length of 2 bytes, then the message (RFC 1035 section 4.2.2). A length of 0 is skipped. */
static enum parse_status parse_tcp(struct app_flow *af, struct app_input *in)
{
    struct bytes b = app_input_bytes(in);
    uint16_t len = take_be16(&b);
    struct slice message = take_slice(&b, len);
    uint32_t frame;

    in->consumed = 0;
    if (in->len == 0)
        return PARSE_OK;
    if (b.failed) {
        in->need = in->len < 2 ? 2 : 2u + len;
        return PARSE_MORE;
    }
    in->consumed = 2u + len;
    if (len == 0)
        return PARSE_OK;
    frame = app_frame(af, in->direction, FRAME_PDU, in->offset + 2, len, APP_FRAME_NO_TX);
    return add_message(af, in->direction, message, frame) ? PARSE_OK : PARSE_STOP;
}

/* After a gap the next bytes may be the middle of a message. From the server, bytes are skipped
 * until they look like a message; the client's are read anyway. */
static bool still_lost(struct dns_state *st, const struct app_input *in)
{
    struct dns_guess g = guess_tcp(app_input_bytes(in));

    if (g.is_dns || g.incomplete)
        st->gap = false;
    return st->gap && in->direction == TO_CLIENT;
}

/* A gap loses no more than the messages in it: each has a length. */
enum parse_status dns_parse(struct app_flow *af, struct app_input *in)
{
    struct dns_state *st = af->state;

    if (in->gap > 0) {
        st->gap = true;
        return PARSE_OK;
    }
    if (in->is_udp)
        return parse_udp(af, in);
    if (st->gap && in->len > 0 && still_lost(st, in))
        return PARSE_OK;
    return parse_tcp(af, in);
}

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "dns.query", "dns_query", NULL }, { NULL, NULL, NULL } },
    .order = (const struct app_report_order[]){
        { "dns*", { 2, 4 } }, { NULL, { 0, 0 } } },
    .progress = (const struct app_report_progress[]){
        { "dns.opcode", APP_BOTH, 0 }, { "dns.rcode", APP_BOTH, 0 },
        { "dns.rrtype", APP_BOTH, 0 }, { "dns*", APP_BOTH, 1 }, { NULL, 0, 0 } },
};

const struct app_proto app_dns = {
    .id = APP_PROTO_dns,
    .name = "dns",
    .frames_count_from_one = true,
    .reports = &reports,
    .raw_on_tx_end = true,
    .transports = APP_TCP | APP_UDP,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "53", .max = DNS_HEADER_SIZE + 2,
          .probe = dns_probe_tcp },
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "53", .max = DNS_HEADER_SIZE,
          .probe = dns_probe_udp },
        { .probe = NULL } },
    .state_size = sizeof(struct dns_state),
    .tx_size = sizeof(struct dns_tx),
    .parse = dns_parse,
    .handles_gaps = true,
    .tx_close = dns_tx_close, .rest = dns_rest, .close = dns_close,
    .progress_done = { 1, 1 },
    .events = dns_events,
    .frames = (const char *const[]){ FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = dns_buffers,
    .integers = dns_integers,
    .logs = dns_logs,
    .alert_metadata = dns_alert_metadata,
};
