/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/hooks.c - callbacks that libhtp calls while it parses, within http1_parse().
 *
 * A transaction of libhtp without user data is an orphan: see tx.c. */
#include "app/proto/http1/body.h"
#include "app/proto/http1/buffers.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http1/lines.h"
#include "app/proto/http1/settings.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"

#include <ctype.h>
#include <string.h>

/* Header blocks beyond 1 MiB stop the parser: libhtp assembles folded lines by copying, whose cost
 * grows with the square of the length. */
#define RAW_HEADERS_MAX (1u << 20)
#define MESSAGES_MAX 512    /* messages of libhtp per flow that can raise events */

static struct http_state *state_of(const htp_tx_t *htp)
{
    return htp_connp_get_user_data(htp->connp);
}

/* Progress never goes back. */
static void set_progress(struct http_tx *htx, enum direction d, unsigned progress)
{
    if (htx->tx.progress[d] < progress)
        htx->tx.progress[d] = (uint8_t)progress;
}

/* Bytes of the current input that libhtp has parsed. The other direction has no input now. */
static size_t consumed(const struct http_state *state, enum direction d)
{
    if (d != state->direction || state->starts_plain)
        return 0;
    return d == TO_SERVER ? htp_connp_req_data_consumed(state->connp)
                          : htp_connp_res_data_consumed(state->connp);
}

/* The position of libhtp in its direction of the stream. */
static uint64_t stream_position(const struct http_state *state, enum direction d)
{
    return state->offset + consumed(state, d);
}

static void message_starts(struct http_state *state, struct http_tx *htx, enum direction d)
{
    htx->message[d].start = stream_position(state, d);
    state->frame[d] = app_frame(state->af, d, d == TO_SERVER ? HTTP_FRAME_REQUEST
                                                             : HTTP_FRAME_RESPONSE,
                                htx->message[d].start, -1, htx->tx.id);
}

/* The message's end is known only now: its frame was opened with an unknown length. */
static void message_ends(struct http_state *state, struct http_tx *htx, enum direction d)
{
    uint64_t end = stream_position(state, d);

    set_progress(htx, d, HTTP_COMPLETE);
    if (d == state->direction)
        http_chunks_look(htx, d, state->input, consumed(state, d));
    http_body_end(htx, d);
    if (state->frame[d] != 0 && end >= htx->message[d].start)
        app_frame_set_length(state->af, d, state->frame[d],
                             (int64_t)(end - htx->message[d].start));
    state->frame[d] = 0;
}

/* The header is complete: it names the body's codings and whether it comes in chunks. */
static void body_follows(const struct http_state *state, struct http_tx *htx, enum direction d)
{
    http_codings_read(htx, d);
    http_chunks_begin(htx, d, consumed(state, d));
    if (d == TO_CLIENT || htx->htp->request_method_number != HTP_M_CONNECT)
        set_progress(htx, d, HTTP_BODY);
}

/* --- flags that libhtp sets without a message ------------------------------------------------- */

/* libhtp's flags stay set, and several hooks look at them. */
static void raise_once(struct http_tx *htx, unsigned event)
{
    if (!app_tx_has_event(&htx->tx, event))
        app_tx_event(&htx->tx, event);
}

/* The checks of Suricata: at the end of the line, with the fields, and at the end of the request.
 * Each finds a bad host in the URI again. */
static void raise_uri_host(struct http_tx *htx)
{
    if ((htx->htp->flags & HTP_HOSTU_INVALID) != 0)
        app_tx_event(&htx->tx, HTTP_EVENT_REQUEST_URI_HOST_INVALID);
}

static void raise_framing(struct http_tx *htx)
{
    if ((htx->htp->flags & HTP_REQUEST_INVALID_T_E) != 0)
        raise_once(htx, HTTP_EVENT_INVALID_TRANSFER_ENCODING_VALUE_IN_REQUEST);
    if ((htx->htp->flags & HTP_REQUEST_INVALID_C_L) != 0)
        raise_once(htx, HTTP_EVENT_INVALID_CONTENT_LENGTH_FIELD_IN_REQUEST);
}

/* A line without protocol is one of HTTP/0.9, which is no anomaly by itself. */
static void raise_invalid_line(struct http_tx *htx)
{
    const htp_tx_t *htp = htx->htp;

    if (htp->is_protocol_0_9 && htp->request_method_number == HTP_M_UNKNOWN &&
        (htp->request_protocol_number == HTP_PROTOCOL_INVALID ||
         htp->request_protocol_number == HTP_PROTOCOL_UNKNOWN))
        raise_once(htx, HTTP_EVENT_REQUEST_LINE_INVALID);
}

/* A tunnel's request never ends, so that it may lack the field Host. */
static void raise_host(struct http_tx *htx)
{
    static const struct { uint64_t flag; enum http_event event; } flags[] = {
        { HTP_HOST_MISSING, HTTP_EVENT_MISSING_HOST_HEADER },
        { HTP_HOST_AMBIGUOUS, HTTP_EVENT_HOST_HEADER_AMBIGUOUS },
        { HTP_HOSTH_INVALID, HTTP_EVENT_REQUEST_HEADER_HOST_INVALID },
    };

    for (size_t i = 0; i < ARRAY_LEN(flags); i++)
        if ((htx->htp->flags & flags[i].flag) != 0)
            raise_once(htx, flags[i].event);
}

/* libhtp 0.5 does not know bearer tokens (RFC 6750), which are no anomaly. */
static void raise_authorization(struct http_tx *htx)
{
    const htp_header_t *h;

    if (htx->htp->request_auth_type != HTP_AUTH_UNRECOGNIZED)
        return;
    h = http_header(htx, TO_SERVER, "authorization");
    if (h != NULL && bstr_begins_with_c_nocase(h->value, "bearer") == 1)
        return;
    app_tx_event(&htx->tx, HTTP_EVENT_REQUEST_AUTH_UNRECOGNIZED);
}

/* --- requests --------------------------------------------------------------------------------- */

/* Such a target is its own normal form, which libhtp computes only if there is none. */
static void set_plain_uri(htp_tx_t *htp, struct slice target, uint32_t path)
{
    htp_uri_t *uri = htp_uri_alloc();
    bool has_query = path < target.len;

    if (uri == NULL)
        return;
    uri->path = bstr_dup_mem(target.data, path);
    if (has_query)
        uri->query = bstr_dup_mem(target.data + path + 1, target.len - path - 1);
    if (uri->path != NULL && (uri->query != NULL || !has_query))
        htp->parsed_uri = uri;
    else
        htp_uri_free(uri);
}

/* libhtp does not notice when it has no memory to add a transaction to its connection's list, and
 * would never free it. Such a one stops the parser. */
static bool is_listed(struct http_state *state, htp_tx_t *htp)
{
    if (LIKELY(htp_list_array_get(htp->conn->transactions, htp->index) == htp))
        return true;
    state->unlisted = htp;
    state->refused = true;
    return false;
}

/* A request line begins. At max-tx `refused` stops the parser after this call. */
static int request_start(htp_tx_t *htp)
{
    struct http_state *state = state_of(htp);
    struct http_tx *htx;

    if (!is_listed(state, htp))
        return HTP_OK;
    if (state->replaying)               /* the transaction exists; suspend.c reconnects them */
        return HTP_OK;
    htx = http_tx_new(state, htp);
    state->refused = htx == NULL;
    if (htx == NULL)                    /* libhtp ignores a failure of this hook and */
        return HTP_OK;                  /* would start the request again and again */
    state->transactions++;
    if (state->plain_target.len > 0 && !state->starts_plain)
        set_plain_uri(htp, state->plain_target, state->plain_path);
    message_starts(state, htx, TO_SERVER);
    set_progress(htx, TO_SERVER, HTTP_LINE);
    return HTP_OK;
}

#define HTTP_0_9_SPACE_MAX 16       /* bytes of white space that may follow, as in Suricata 8 */

/* A line without a protocol is an HTTP/0.9 request only if nothing but a little white space
 * follows. Otherwise the protocol is missing: event, and headers are parsed. */
static void check_http_0_9(const struct http_state *state, struct http_tx *htx)
{
    size_t from = htp_connp_req_data_consumed(state->connp), at = from;

    if (!htx->htp->is_protocol_0_9 || state->direction != TO_SERVER)
        return;
    while (at < state->input.len && isspace(state->input.data[at]))
        at++;
    if (at >= state->input.len && at - from <= HTTP_0_9_SPACE_MAX)
        return;
    htx->htp->is_protocol_0_9 = 0;
    app_tx_event(&htx->tx, HTTP_EVENT_REQUEST_LINE_MISSING_PROTOCOL);
}

/* libhtp recognises exact spellings only. Any other text is read again, more leniently. */
static int read_protocol(struct http_tx *htx, const bstr *protocol, int libhtps)
{
    bool odd = false;
    int number;

    if (LIKELY(libhtps == HTP_PROTOCOL_1_1 || libhtps == HTP_PROTOCOL_1_0) || protocol == NULL)
        return libhtps;
    number = http_protocol_number(http_bstr(protocol), &odd);
    if (odd)
        app_tx_event(&htx->tx, HTTP_EVENT_PROTOCOL_CONTAINS_EXTRA_DATA);
    return number != HTP_PROTOCOL_INVALID ? number : libhtps;
}

static int request_line(htp_tx_t *htp)
{
    struct http_tx *htx = http_tx_changing(htp);
    const struct http_config *config = state_of(htp)->config;

    if (state_of(htp)->refused)
        return HTP_ERROR;
    http_request_line_add_target(htp);
    http_target_trim(htp);
    http_host_of_line(htp);
    if (htx == NULL)
        return HTP_OK;
    check_http_0_9(state_of(htp), htx);
    htp->request_protocol_number = read_protocol(htx, htp->request_protocol,
                                                 htp->request_protocol_number);
    if (UNLIKELY(config->double_decode_path || config->double_decode_query))
        http_uri_normalise(htx, config);        /* double decoding may raise an event */
    raise_uri_host(htx);
    raise_invalid_line(htx);
    return HTP_OK;
}

/* Removes white space around values, which libhtp leaves where a line has control characters. */
static void trim(htp_table_t *headers)
{
    for (size_t i = 0; i < htp_table_size(headers); i++) {
        htp_header_t *h = htp_table_get_index(headers, i, NULL);
        struct slice value = http_bstr(h->value), trimmed = http_trimmed(value);

        if (trimmed.len == value.len)
            continue;
        memmove(bstr_ptr(h->value), trimmed.data, trimmed.len);
        bstr_adjust_len(h->value, trimmed.len);
    }
}

/* The header is complete. Names of hosts are matched in lower case (http.host). */
static int request_headers(htp_tx_t *htp)
{
    struct http_tx *htx = http_tx_changing(htp);
    struct http_state *state = state_of(htp);

    if (UNLIKELY(state->odd_fields))
        trim(htp->request_headers);
    state->odd_fields = false;
    state->head_is_plain = false;
    http_host_of_fields(htp);
    if (htp->request_hostname != NULL)
        bstr_to_lowercase(htp->request_hostname);
    http_framing_correct(htp);
    state->connects |= htp->request_method_number == HTP_M_CONNECT;
    if (htx == NULL)
        return HTP_OK;
    raise_uri_host(htx);
    raise_framing(htx);
    raise_authorization(htx);
    body_follows(state, htx, TO_SERVER);
    return HTP_OK;
}

static int request_complete(htp_tx_t *htp)
{
    struct http_tx *htx = http_tx_changing(htp);

    /* Such a connection has one request. */
    state_of(htp)->requests_over |= htp->is_protocol_0_9 != 0;
    if (htx == NULL)
        return HTP_OK;
    raise_uri_host(htx);
    raise_host(htx);
    raise_framing(htx);
    raise_invalid_line(htx);
    message_ends(state_of(htp), htx, TO_SERVER);
    return HTP_OK;
}

/* --- responses -------------------------------------------------------------------------------- */

/* A response without a request gets a separate transaction, which has only one direction. */
static int response_start(htp_tx_t *htp)
{
    struct http_state *state = state_of(htp);
    struct http_tx *htx = http_tx_changing(htp);

    if (htp->request_progress == HTP_REQUEST_NOT_STARTED && !is_listed(state, htp))
        return HTP_ERROR;
    if (state->replaying)
        return HTP_OK;
    if (htx == NULL && htp->request_progress == HTP_REQUEST_NOT_STARTED) {
        htx = http_tx_new(state, htp);
        if (htx == NULL)
            return HTP_ERROR;
        state->transactions++;
        htx->tx.unidirectional[TO_SERVER] = true;
        htx->tx.progress[TO_SERVER] = HTTP_COMPLETE;
        htp->request_port_number = -1;  /* unknown */
        state->unmatched = htx;
        state->unmatched_count++;
    }
    if (htx == NULL)
        return HTP_OK;
    message_starts(state, htx, TO_CLIENT);
    set_progress(htx, TO_CLIENT, HTTP_LINE);
    return HTP_OK;
}

#define UNMATCHED_MAX 16    /* events of one input */

/* The last one is told of all, as in Suricata, whose parser reports when it has read a segment. */
void http_unmatched_told(struct http_state *state)
{
    for (unsigned i = 0; i < MIN(state->unmatched_count, UNMATCHED_MAX); i++)
        app_tx_event(&state->unmatched->tx, HTTP_EVENT_UNABLE_TO_MATCH_RESPONSE_TO_REQUEST);
    state->unmatched = NULL;
    state->unmatched_count = 0;
}

/* libhtp 0.5 fails at a second 100 Continue. It is unusual, but clients accept it: an event
 * instead. */
static int response_line(htp_tx_t *htp)
{
    struct http_tx *htx = http_tx_changing(htp);

    http_block_clear(state_of(htp));
    state_of(htp)->status_line_due = htp->seen_100continue != 0;
    if (htx != NULL)
        htp->response_protocol_number = read_protocol(htx, htp->response_protocol,
                                                      htp->response_protocol_number);
    if (htp->response_status_number != 100 || htp->seen_100continue == 0)
        return HTP_OK;
    htp->seen_100continue = 0;
    if (htx != NULL)
        app_tx_event(&htx->tx, HTTP_EVENT_100_CONTINUE_ALREADY_SEEN);
    return HTP_OK;
}

/* http_block_done() raises the events that waited for the complete header. */
static int response_headers(htp_tx_t *htp)
{
    struct http_tx *htx = http_tx_changing(htp);

    http_block_done(state_of(htp), htx, false);
    state_of(htp)->head_is_plain = false;
    if (htx != NULL)
        body_follows(state_of(htp), htx, TO_CLIENT);
    return HTP_OK;
}

/* A 2xx response to CONNECT opens a tunnel (RFC 9110 section 9.3.6): another protocol follows. Only
 * the first response of a connection counts. */
static bool opens_tunnel(const struct http_state *state, const htp_tx_t *htp)
{
    return htp->request_method_number == HTP_M_CONNECT && htp->response_status_number >= 200 &&
           htp->response_status_number < 300 && state->responses == 1;
}

/* Port 25 in the request makes detection of the tunnel try the probes for port 25. */
static int response_complete(htp_tx_t *htp)
{
    struct http_state *state = state_of(htp);
    struct http_tx *htx = http_tx_changing(htp);
    int port = htp->request_port_number;

    if (state->replaying)
        return HTP_OK;
    state->responses++;
    if (htx != NULL)
        message_ends(state, htx, TO_CLIENT);
    if (htx == NULL || !opens_tunnel(state, htp))
        return HTP_OK;
    if (app_change_protocol(state->af, APP_PROTO_UNKNOWN, port > 0 ? (uint16_t)port : 0))
        state->change = true;
    else
        app_tx_event(&htx->tx, HTTP_EVENT_FAILED_PROTOCOL_CHANGE);
    return HTP_OK;
}

/* --- header blocks as sent, bodies, trailers -------------------------------------------------- */

/* Keeps the header's bytes as sent, if a rule needs http.header.raw. */
static void keep_raw(struct http_tx *htx, struct slice part, enum direction direction)
{
    struct http_message *m = &htx->message[direction];

    if (!app_feature(htx->tx.flow, HTTP1_KEEP_RAW_HEADERS))
        return;
    if (m->raw_headers.data == NULL)
        m->raw_headers = http_buf_take(htx->tx.flow);
    buf_add(&m->raw_headers, part.data, part.len);
}

/* A part of a header or trailer, as sent. */
static int fields_data(struct http_state *state, const htp_tx_t *htp, struct slice part,
                       enum direction direction)
{
    struct http_tx *htx = http_tx_changing(htp);
    struct http_message *m;

    if (direction == TO_CLIENT)
        http_block_add(state, part);
    if (state->replaying && state->af->first != NULL)   /* these were freed with the parser */
        keep_raw(http_tx_of(state->af->first), part, direction);
    if (htx == NULL)
        return HTP_OK;
    m = &htx->message[direction];
    if (m->headers_size + (uint64_t)part.len > RAW_HEADERS_MAX) {
        app_tx_event(&htx->tx, direction == TO_SERVER ? HTTP_EVENT_REQUEST_FIELD_TOO_LONG
                                                      : HTTP_EVENT_RESPONSE_FIELD_TOO_LONG);
        return HTP_ERROR;
    }
    m->headers_size += part.len;
    keep_raw(htx, part, direction);
    return HTP_OK;
}

/* `odd_fields`: a line that libhtp splits differently than browsers do; trim() repairs it. */
static int header_data(htp_tx_data_t *d, enum direction direction)
{
    struct http_state *state = state_of(d->tx);
    struct slice part = { .data = d->data, .len = (uint32_t)d->len };

    if (d->data == NULL || d->len == 0 || state->head_is_plain)
        return HTP_OK;
    if (direction == TO_SERVER && !http_fields_are_plain(part))
        state->odd_fields = true;
    return fields_data(state, d->tx, part, direction);
}

int http_plain_fields_data(struct http_state *state, const htp_tx_t *htp, struct slice fields,
                           enum direction d)
{
    state->head_is_plain = true;
    return fields_data(state, htp, fields, d);
}

static int request_header_data(htp_tx_data_t *d)
{
    return header_data(d, TO_SERVER);
}

/* libhtp counts what follows the fields of a 100 Continue, with the next status line, as part of
 * its header. Taken for the next one's, its empty line would hide all fields. */
static int response_header_data(htp_tx_data_t *d)
{
    struct http_state *state = state_of(d->tx);

    if (state->status_line_due && d->len > 0) {
        state->status_line_due = false;
        return HTP_OK;
    }
    return header_data(d, TO_CLIENT);
}

/* A further empty line behind the header of a response without fields counts as a field without a
 * name, as in Suricata, and not as the first byte of the body. */
static bool takes_empty_line(const htp_tx_data_t *d, struct http_tx *htx)
{
    htx->message[TO_CLIENT].bare_header = false;
    if (d->data == NULL || d->data[0] != '\n')
        return false;
    http_empty_line_follows(htx);
    htx->htp->response_message_len--;
    return true;
}

static int body_data(htp_tx_data_t *d, enum direction direction)
{
    struct http_tx *htx = http_tx_changing(d->tx);

    if (htx == NULL || d->len == 0)
        return HTP_OK;
    if (UNLIKELY(htx->message[TO_CLIENT].bare_header) && direction == TO_CLIENT &&
        takes_empty_line(d, htx)) {
        if (d->len > 1)
            http_body_data(htx, direction, d->data + 1, d->len - 1);
        return HTP_OK;
    }
    http_body_data(htx, direction, d->data, d->len);
    return HTP_OK;
}

static int request_body_data(htp_tx_data_t *d)
{
    return body_data(d, TO_SERVER);
}

static int response_body_data(htp_tx_data_t *d)
{
    return body_data(d, TO_CLIENT);
}

static int request_trailer(htp_tx_t *htp)
{
    struct http_tx *htx = http_tx_changing(htp);

    if (htx != NULL)
        htx->message[TO_SERVER].has_trailer = true;
    return HTP_OK;
}

static int response_trailer(htp_tx_t *htp)
{
    struct http_tx *htx = http_tx_changing(htp);

    http_block_done(state_of(htp), htx, true);
    if (htx != NULL)
        htx->message[TO_CLIENT].has_trailer = true;
    return HTP_OK;
}

/* --- messages --------------------------------------------------------------------------------- */

/* The transaction that a message of libhtp is about: the current one, or else the newest. */
static struct http_tx *tx_at_work(const struct http_state *state)
{
    htp_tx_t *htp = state->direction == TO_SERVER ? htp_connp_get_in_tx(state->connp)
                                                  : htp_connp_get_out_tx(state->connp);
    struct http_tx *htx = htp != NULL ? http_tx_changing(htp) : NULL;

    if (htx == NULL && state->af->last != NULL)
        htx = http_tx_of(state->af->last);
    return htx;
}

/* http_unmatched_told() raises this event, because the transaction does not exist before. */
static bool is_handled_here(enum http_event event)
{
    return event == HTTP_EVENT_UNABLE_TO_MATCH_RESPONSE_TO_REQUEST;
}

/* The chunk's length is invalid: libhtp treats the line as the start of the body and has counted
 * it. */
static void is_not_chunked(struct http_tx *htx)
{
    const struct http_content *c = htx->message[TO_CLIENT].content;

    if (c == NULL || !c->started)
        htx->htp->response_message_len = 0;
}

/* A message of a close: a side's last bytes are in, and no event is expected of them, as in
 * Suricata. */
static bool is_too_late(const struct http_state *state)
{
    return state->closing;
}

/* libhtp accepts the name of the protocol in capitals only. */
static bool is_protocol_after_all(const struct http_tx *htx)
{
    bool odd;

    return htx->htp->response_protocol != NULL &&
           http_protocol_number(http_bstr(htx->htp->response_protocol), &odd) !=
               HTP_PROTOCOL_INVALID;
}

/* Servers that switch to WebSocket repeat the fields of CORS, one for each header that a page may
 * set. Suricata loses all messages about such a response with the change of protocol. */
static bool is_ordinary_repetition(const struct http_tx *htx, enum http_event event)
{
    return event == HTTP_EVENT_RESPONSE_HEADER_REPETITION &&
           htx->htp->response_status_number == 101;
}

/* Filters messages that are no anomaly, or that wait for the end of the header. */
static bool is_reported(struct http_state *state, struct http_tx *htx, enum http_event event)
{
    if (event == HTTP_EVENT_NONE || is_handled_here(event) || is_too_late(state) ||
        http_block_hold(state, event) || is_ordinary_repetition(htx, event))
        return false;
    if (event == HTTP_EVENT_RESPONSE_LINE_INVALID_PROTOCOL)
        return !is_protocol_after_all(htx);
    if (event == HTTP_EVENT_RESPONSE_CHUNKED_OLD_PROTO)
        return htx->htp->response_protocol_number != HTP_PROTOCOL_1_1;
    return true;
}

/* Turns messages of libhtp into events. Hostile traffic can cause one per line: at MESSAGES_MAX one
 * last event is raised, and later messages are ignored. */
static int message(htp_log_t *log)
{
    struct http_state *state = htp_connp_get_user_data(log->connp);
    struct http_tx *htx = state != NULL && !state->replaying ? tx_at_work(state) : NULL;
    enum http_event event;

    if (state != NULL)
        state->has_messages = true;
    if (htx == NULL || state->messages >= MESSAGES_MAX)
        return HTP_OK;
    event = http_event_of_message(log->msg, state->direction);
    if (event == HTTP_EVENT_INVALID_RESPONSE_CHUNK_LEN)
        is_not_chunked(htx);
    if (is_reported(state, htx, event))
        app_tx_event(&htx->tx, event);
    if (++state->messages == MESSAGES_MAX)
        app_tx_event(&htx->tx, HTTP_EVENT_TOO_MANY_WARNINGS);
    return HTP_OK;
}

void http_hooks_register(htp_cfg_t *cfg)
{
    htp_config_register_request_start(cfg, request_start);
    htp_config_register_request_line(cfg, request_line);
    htp_config_register_request_headers(cfg, request_headers);
    htp_config_register_request_header_data(cfg, request_header_data);
    htp_config_register_request_trailer_data(cfg, request_header_data);
    htp_config_register_request_trailer(cfg, request_trailer);
    htp_config_register_request_body_data(cfg, request_body_data);
    htp_config_register_request_complete(cfg, request_complete);
    htp_config_register_response_start(cfg, response_start);
    htp_config_register_response_line(cfg, response_line);
    htp_config_register_response_headers(cfg, response_headers);
    htp_config_register_response_header_data(cfg, response_header_data);
    htp_config_register_response_trailer_data(cfg, response_header_data);
    htp_config_register_response_trailer(cfg, response_trailer);
    htp_config_register_response_body_data(cfg, response_body_data);
    htp_config_register_response_complete(cfg, response_complete);
    htp_config_register_log(cfg, message);
}
