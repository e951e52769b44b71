/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/pgsql/pgsql.c - which message belongs to which transaction.
 *
 * The protocol has no identifiers, so a phase for the flow decides. Requests that are sent before
 * the response to the last one (pipelining) share that phase. */
#include "app/proto/pgsql/pgsql.h"

#include "app/lib/log_text.h"
#include "app/proto.h"
#include "app/reports.h"
#include "app/rules.h"

/* The last message that matters for the meaning of the next one.
 *
 * IDLE: nothing yet. REQUESTED: a request without a phase of its own. SSL_REQUESTED: the next byte
 * of the server is 'S' or 'N' instead of a message.
 *
 * WAIT_PASSWORD, WAIT_SASL_INITIAL, SASL_GOING_ON: the server asked for a password, for a SASL
 * mechanism, for the next SASL message; 'p' of the client is that. SASL_RESPONDED: the client sent
 * one.
 *
 * COPY_IN: the server is ready for data. COPYING_FIRST, COPYING: the client has sent one CopyData
 * message, or more. ANSWERING: the server answers, or the client ended its COPY. */
enum phase {
    IDLE, REQUESTED, SSL_REQUESTED, WAIT_PASSWORD, WAIT_SASL_INITIAL, SASL_GOING_ON, SASL_RESPONDED,
    COPY_IN, COPYING_FIRST, COPYING, ANSWERING,
};

/* Owned by the flow. */
struct pgsql_state {
    enum phase phase;
    bool gap[2];    /* bytes were lost; look for a message at the next segment */
};

static const struct app_name events[] = { PGSQL_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* --- protocol detection ---------------------------------------------------------------------- */

/* Every defect of a message is a No for detection. */
static enum app_probe_result probe_result(enum pgsql_result result)
{
    return result == PGSQL_OK ? APP_PROBE_YES : result == PGSQL_MORE ? APP_PROBE_MORE :
           APP_PROBE_NO;
}

/* The first eight bytes of a startup message are enough for detection while the rest is to come.
 * 10000 bytes is the limit of PostgreSQL's server (MAX_STARTUP_PACKET_LENGTH). */
static bool is_startup(struct bytes in)
{
    uint32_t length = take_be32(&in);
    uint16_t major = take_be16(&in);

    take_skip(&in, 2);
    return !in.failed && length > 8 && length < 10000 && major >= 1 && major <= 3;
}

/* Any valid message is enough: detection may begin in the middle of a session. The engine asks only
 * for the configured ports. */
static enum app_probe_result pgsql_probe(struct bytes in, enum direction direction,
                                         const struct flow *flow UNUSED)
{
    struct pgsql_message m;
    uint8_t first = peek_u8(&in);
    enum pgsql_result result;
    uint32_t size;

    if (direction == TO_SERVER) {
        result = pgsql_request(in, PGSQL_NOTHING, &m, &size);
        return result == PGSQL_MORE && is_startup(in) ? APP_PROBE_YES : probe_result(result);
    }
    if (bytes_left(&in) > 0 && (first == 'N' || first == 'S'))
        return APP_PROBE_YES;           /* the response to an SSL request */
    return probe_result(pgsql_response(in, &m, &size));
}

/* --- transactions ----------------------------------------------------------------------------- */

/* Phases, after the message, in which that message belongs to a new transaction. */
static bool opens_tx(enum phase phase)
{
    return phase == IDLE || phase == REQUESTED || phase == SSL_REQUESTED ||
           phase == COPYING_FIRST || phase == SASL_RESPONDED;
}

/* NULL: no transaction yet, or too many of them. */
static struct pgsql_tx *current_tx(struct app_flow *af)
{
    const struct pgsql_state *st = af->state;

    if (opens_tx(st->phase))
        return (struct pgsql_tx *)app_tx_new(af);
    if (af->last != NULL)
        app_tx_mark(af->last);
    return pgsql_tx_of(af->last);
}

/* Copies the message and its text to the transaction's arena. */
static void append(struct pgsql_tx *t, struct pgsql_list *list, const struct pgsql_message *m)
{
    struct pgsql_message *copy = arena_copy(&t->tx.arena, m, sizeof(*m));

    if (copy == NULL)
        return;
    copy->next = NULL;
    copy->text = app_text_copy(&t->tx.arena, m->text);
    if (list->last != NULL)
        list->last->next = copy;
    else
        list->first = copy;
    list->last = copy;
}

/* Adds one message with the number of rows instead of all the rows, which could be millions. */
static void append_rows(struct pgsql_tx *t, struct pgsql_list *list, enum pgsql_kind kind)
{
    const struct pgsql_message rows = { .kind = kind, .rows = t->rows, .size = t->size };

    if (t->rows > 0)
        append(t, list, &rows);
}

/* Progress never goes back, so the order of the two sides does not matter. */
static void reach(struct pgsql_tx *t, enum direction d, uint8_t progress)
{
    t->tx.progress[d] = MAX(t->tx.progress[d], progress);
}

/* The phase after a request. NOTHING is a message that is skipped and changes nothing. CopyData
 * outside a COPY leaves the phase, too. */
static enum phase phase_of_request(enum phase now, enum pgsql_kind kind)
{
    switch (kind) {
    case PGSQL_NOTHING:
        return now;
    case PGSQL_SSL_REQUEST:
        return SSL_REQUESTED;
    case PGSQL_SASL_INITIAL:
    case PGSQL_SASL_RESPONSE:
        return SASL_RESPONDED;
    case PGSQL_COPY_DATA:
        return now == COPY_IN ? COPYING_FIRST :
               now == COPYING_FIRST || now == COPYING ? COPYING : now;
    case PGSQL_COPY_DONE:
    case PGSQL_COPY_FAIL:
        return ANSWERING;
    default:
        return REQUESTED;
    }
}

/* The phase comes first: it decides whether the request opens a transaction. CopyData is counted
 * and not kept; CopyDone or CopyFail then adds the count as one message. */
static void handle_request(struct app_flow *af, const struct pgsql_message *m)
{
    struct pgsql_state *st = af->state;
    struct pgsql_tx *t;

    st->phase = phase_of_request(st->phase, m->kind);
    t = current_tx(af);
    if (t == NULL || m->kind == PGSQL_NOTHING)
        return;
    if (m->kind == PGSQL_COPY_DATA) {
        if (st->phase == COPYING_FIRST || st->phase == COPYING) {
            t->rows++;
            t->size += m->size;
        }
        return;
    }
    if (m->kind == PGSQL_COPY_DONE || m->kind == PGSQL_COPY_FAIL)
        append_rows(t, &t->requests, PGSQL_COPY_DATA);
    append(t, &t->requests, m);
    reach(t, TO_SERVER, PGSQL_DONE);
    if (m->kind == PGSQL_TERMINATE || m->kind == PGSQL_CANCEL)
        reach(t, TO_CLIENT, PGSQL_DONE);        /* these have no response */
}

/* The phase after a response: the authentication methods that expect something from the client, and
 * COPY FROM STDIN. SSPI data are binary and not followed. */
static enum phase phase_of_response(enum phase now, enum pgsql_kind kind)
{
    switch (kind) {
    case PGSQL_NOTHING:
    case PGSQL_AUTH_SSPI:            return now;
    case PGSQL_AUTH_SASL:            return WAIT_SASL_INITIAL;
    case PGSQL_AUTH_SASL_CONTINUE:   return SASL_GOING_ON;
    case PGSQL_AUTH_MD5:
    case PGSQL_AUTH_CLEARTEXT:       return WAIT_PASSWORD;
    case PGSQL_COPY_IN:              return COPY_IN;
    default:                         return ANSWERING;
    }
}

/* Messages after which the server waits for the client. Each authentication step is therefore a
 * transaction of its own. */
static bool ends_response(enum pgsql_kind kind)
{
    switch (kind) {
    case PGSQL_READY: case PGSQL_SSL_ACCEPTED: case PGSQL_SSL_REJECTED: case PGSQL_AUTH_MD5:
    case PGSQL_AUTH_CLEARTEXT: case PGSQL_AUTH_SASL: case PGSQL_AUTH_SASL_CONTINUE:
    case PGSQL_AUTH_SASL_FINAL: case PGSQL_COPY_IN:
        return true;
    default:
        return false;
    }
}

/* Counts rows. The end of a result or of a COPY adds the count as one message before itself and
 * starts again from 0, because one query can have several results. */
static void count_or_append(struct pgsql_tx *t, const struct pgsql_message *m)
{
    bool sums_up = (m->kind == PGSQL_COMPLETE || m->kind == PGSQL_COPY_DONE) && t->rows > 0;

    if (m->kind == PGSQL_DATA_ROW || m->kind == PGSQL_COPY_DATA) {
        t->rows++;
        t->size += m->size;
        return;
    }
    if (sums_up) {
        append_rows(t, &t->responses,
                    m->kind == PGSQL_COMPLETE ? PGSQL_DATA_ROW : PGSQL_COPY_DATA);
        t->rows = t->size = 0;
    }
    append(t, &t->responses, m);
}

/* A response without any request has no transaction unless the phase opens one. */
static void handle_response(struct app_flow *af, const struct pgsql_message *m)
{
    struct pgsql_state *st = af->state;
    struct pgsql_tx *t;

    st->phase = phase_of_response(st->phase, m->kind);
    t = current_tx(af);
    if (t == NULL)
        return;
    reach(t, TO_CLIENT, PGSQL_RECEIVED);    /* the response has begun */
    if (m->kind == PGSQL_NOTHING || m->kind == PGSQL_AUTH_SSPI)
        return;
    count_or_append(t, m);
    if (ends_response(m->kind)) {
        reach(t, TO_SERVER, PGSQL_DONE);
        reach(t, TO_CLIENT, PGSQL_DONE);
    }
    if (m->kind == PGSQL_SSL_ACCEPTED)
        app_change_protocol(af, APP_PROTO_tls, 0); /* the client's next bytes are a TLS handshake */
}

/* --- parsing ---------------------------------------------------------------------------------- */

/* An event needs a transaction; this one has no messages and is complete. */
static void bad_message(struct app_flow *af, unsigned event)
{
    struct app_tx *tx = app_tx_new(af);

    if (tx == NULL)
        return;
    app_tx_event(tx, event);
    tx->progress[TO_SERVER] = tx->progress[TO_CLIENT] = PGSQL_DONE;
}

/* 'p' without a question of the server is ambiguous, so it is skipped. */
static enum pgsql_kind meaning_of_p(enum phase phase)
{
    switch (phase) {
    case WAIT_SASL_INITIAL: return PGSQL_SASL_INITIAL;
    case SASL_RESPONDED:
    case SASL_GOING_ON:     return PGSQL_SASL_RESPONSE;
    case WAIT_PASSWORD:     return PGSQL_PASSWORD;
    default:                return PGSQL_NOTHING;
    }
}

/* The response to SSLRequest is one byte, without letter and length. */
static enum pgsql_result ssl_response(struct bytes in, struct pgsql_message *m, uint32_t *size)
{
    uint8_t c = take_u8(&in);

    *m = (struct pgsql_message){ .kind = c == 'S' ? PGSQL_SSL_ACCEPTED : PGSQL_SSL_REJECTED };
    *size = 1;
    return c == 'S' || c == 'N' ? PGSQL_OK : PGSQL_BAD;
}

/* Parses the front of the input according to the phase, without changing any state. */
static enum pgsql_result next_message(const struct pgsql_state *st, const struct app_input *in,
                                      struct pgsql_message *m, uint32_t *size)
{
    struct bytes b = app_input_bytes(in);

    if (in->direction == TO_SERVER)
        return pgsql_request(b, meaning_of_p(st->phase), m, size);
    return st->phase == SSL_REQUESTED ? ssl_response(b, m, size) : pgsql_response(b, m, size);
}

/* A message that cannot be read is skipped by its length. Only a length that is not possible ends
 * the parser: no boundary is known behind it. */
static enum parse_status take_message(struct app_flow *af, struct app_input *in)
{
    bool request = in->direction == TO_SERVER;
    struct pgsql_message m;
    uint32_t size;

    in->consumed = 0;
    switch (next_message(af->state, in, &m, &size)) {
    case PGSQL_MORE:
        in->need = size;    /* 0: just more */
        return PARSE_MORE;
    case PGSQL_BAD_LENGTH:
        bad_message(af, PGSQL_INVALID_LENGTH);
        return PARSE_STOP;
    case PGSQL_BAD_TYPE:
        bad_message(af, request ? PGSQL_MALFORMED_REQUEST : PGSQL_MALFORMED_RESPONSE);
        break;
    case PGSQL_BAD:
        /* A bad startup message may have a wrong length, too. */
        if (request && in->data[0] == 0)
            size = in->len;
        break;
    case PGSQL_OK:
        if (request)
            handle_request(af, &m);
        else
            handle_response(af, &m);
        break;
    }
    in->consumed = size;
    return PARSE_OK;
}

/* After a gap the parser waits for a segment that begins with a complete message. Until then all
 * input is dropped. */
static bool still_lost(struct pgsql_state *st, const struct app_input *in)
{
    struct pgsql_message m;
    uint32_t size;

    if (st->gap[in->direction] && next_message(st, in, &m, &size) == PGSQL_OK)
        st->gap[in->direction] = false;
    return st->gap[in->direction];
}

/* A lost message may have changed the phase; the parser goes on with the old one. */
static enum parse_status pgsql_parse(struct app_flow *af, struct app_input *in)
{
    struct pgsql_state *st = af->state;

    if (in->gap > 0) {
        st->gap[in->direction] = true;
        return PARSE_OK;
    }
    if (in->len == 0 || still_lost(st, in))
        return PARSE_OK;
    return take_message(af, in);
}

/* --- rules ------------------------------------------------------------------------------------ */

/* Extended queries (Parse) have no such text here; see request_kind(). */
static bool get_query(struct app_tx *tx, enum direction d UNUSED, unsigned i UNUSED,
                      struct slice *out)
{
    for (const struct pgsql_message *m = pgsql_tx_of(tx)->requests.first; m != NULL; m = m->next) {
        if (m->kind != PGSQL_QUERY)
            continue;
        *out = m->text;
        return true;
    }
    return false;
}

static const struct app_buffer query_buffer = {
    .name = "pgsql.query", .doc = "text of a simple query", .directions = APP_TS,
    .progress = { 1, 0 }, .get = get_query,
};

/* As Suricata has them. */
static const struct app_reports reports = {
    .progress = (const struct app_report_progress[]){
        { "pgsql.query", APP_BOTH, 0 }, { NULL, 0, 0 } },
};

const struct app_proto app_pgsql = {
    .id = APP_PROTO_pgsql,
    .name = "pgsql",
    .reports = &reports,
    .raw_on_tx_end = true,
    .inspect_both_dirs = true,
    .transports = APP_TCP,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "5432", .max = 16,
          .probe = pgsql_probe },
        { .probe = NULL } },
    .state_size = sizeof(struct pgsql_state),
    .tx_size = sizeof(struct pgsql_tx),
    .tx_limit = 1024,   /* open transactions of a flow */
    .too_many_tx_event = PGSQL_TOO_MANY_TRANSACTIONS,
    .stream_depth = -1,     /* results can be of any size: no limit of reassembly */
    .marks_tx = true,
    .parse = pgsql_parse,
    .handles_gaps = true,
    .buffer_limit = 1u << 20,   /* bytes; the largest message that the parser waits for */
    .progress_done = { PGSQL_DONE, PGSQL_DONE },
    .events = events,
    .buffers = (const struct app_buffer *const[]){ &query_buffer, NULL },
    .logs = pgsql_logs,
    .alert_metadata = pgsql_alert_metadata,
};
