/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/http1.c - HTTP/0.9 to 1.1: the protocol's declaration, and the path of its bytes
 * to libhtp.
 *
 * libhtp gets each direction's data as they come, and calls back (hooks.c). After CONNECT it waits
 * for the response and leaves bytes unconsumed, which the framework buffers. */
#include "app/proto.h"
#include "app/proto/http1/body.h"
#include "app/proto/http1/buffers.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http1/lines.h"
#include "app/proto/http1/settings.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* libhtp keeps a little of each transaction for as long as its connection lives. After this many, a
 * fresh parser takes over between two transactions, so that memory does not grow with the
 * connection. */
#define TRANSACTIONS_PER_PARSER 4096

/* --- recognition ------------------------------------------------------------------------------ */

/* A method is followed by a space, or by a tab, which servers accept (RFC 9112 section 3). */
#define METHOD(name)                                                                             \
    { .transport = APP_TCP, .directions = APP_TS, .bytes = name " ", .nocase = true },           \
    { .transport = APP_TCP, .directions = APP_TS, .bytes = name "\t", .nocase = true }
#define VERSION(name)                                                                            \
    { .transport = APP_TCP, .directions = APP_TC, .bytes = name, .nocase = true }

static const struct app_pattern patterns[] = {
    METHOD("GET"), METHOD("PUT"), METHOD("POST"), METHOD("HEAD"), METHOD("TRACE"),
    METHOD("OPTIONS"), METHOD("CONNECT"), METHOD("DELETE"), METHOD("PATCH"), METHOD("PROPFIND"),
    METHOD("PROPPATCH"), METHOD("MKCOL"), METHOD("COPY"), METHOD("MOVE"), METHOD("LOCK"),
    METHOD("UNLOCK"), METHOD("CHECKOUT"), METHOD("UNCHECKOUT"), METHOD("CHECKIN"),
    METHOD("UPDATE"), METHOD("LABEL"), METHOD("REPORT"), METHOD("MKWORKSPACE"),
    METHOD("MKACTIVITY"), METHOD("MERGE"), METHOD("INVALID"), METHOD("VERSION-CONTROL"),
    METHOD("BASELINE-CONTROL"),
    VERSION("HTTP/0.9"), VERSION("HTTP/1.0"), VERSION("HTTP/1.1"),
    { .bytes = NULL },
};

/* --- connections ------------------------------------------------------------------------------ */

/* The server's address selects the configuration (libhtp.server-config). A swapped flow has it in
 * `src`. */
static bool http1_open(struct app_flow *af)
{
    struct http_state *state = af->state;
    const struct flow *f = af->flow;

    state->af = af;
    state->thread = af->thread_data;
    state->config = http_config_for(af->settings, f->swapped ? &f->key.src : &f->key.dst);
    return http_parser_open(state);
}

static void http1_close(struct app_flow *af)
{
    struct http_state *state = af->state;

    http_keep_no_more(state);
    http_block_clear(state);
    http_parser_close(state);
}

/* True: no transaction and no message in progress, so that a parser holds nothing of value. */
bool http_is_between(const struct http_state *state)
{
    return state->af->first == NULL && state->orphan[0] == NULL && state->orphan[1] == NULL &&
           htp_connp_get_in_tx(state->connp) == NULL && htp_connp_get_out_tx(state->connp) == NULL;
}

/* Replaces the parser of a long connection, see TRANSACTIONS_PER_PARSER. False: no memory for a new
 * one. */
static bool renew(struct http_state *state)
{
    if (state->transactions < TRANSACTIONS_PER_PARSER || !http_is_between(state))
        return true;
    http_parser_close(state);
    return http_parser_open(state);
}

/* --- parsing ---------------------------------------------------------------------------------- */

/* libhtp has no hook for each step. Copies how far the current messages are; progress never goes
 * back. */
static void sync_progress(struct http_state *state)
{
    htp_tx_t *in = htp_connp_get_in_tx(state->connp), *out = htp_connp_get_out_tx(state->connp);
    struct http_tx *htx;

    htx = in != NULL ? http_tx_changing(in) : NULL;
    if (htx != NULL && htx->tx.progress[TO_SERVER] < in->request_progress)
        htx->tx.progress[TO_SERVER] = (uint8_t)in->request_progress;
    htx = out != NULL ? http_tx_changing(out) : NULL;
    if (htx != NULL && htx->tx.progress[TO_CLIENT] < out->response_progress)
        htx->tx.progress[TO_CLIENT] = (uint8_t)out->response_progress;
}

/* A gap has data NULL and the length of what is missing. */
static int feed(struct http_state *state, const struct app_input *in, const uint8_t *data,
                size_t len)
{
    const htp_time_t now = { .tv_sec = (time_t)(in->now_us / 1000000),
                             .tv_usec = (suseconds_t)(in->now_us % 1000000) };

    state->input = (struct slice){ .data = data, .len = data != NULL ? (uint32_t)len : 0 };
    return in->direction == TO_SERVER ? htp_connp_req_data(state->connp, &now, data, len)
                                      : htp_connp_res_data(state->connp, &now, data, len);
}

/* The end of the client's side ends requests only: the server may still answer. A response that
 * ends within a chunk is all there is of the body, as for browsers and Suricata; one that ends
 * between two chunks is cut off. */
static void close_direction(struct http_state *state, enum direction d)
{
    if (state->closed[d])
        return;
    state->closed[d] = true;
    state->input = (struct slice){ 0 };         /* closing may complete a line without data */
    http_keep_no_more(state);
    state->closing = true;
    if (d == TO_SERVER)
        htp_connp_req_close(state->connp, NULL);
    else
        htp_connp_close(state->connp, NULL);
    state->closing = false;
    for (struct app_tx *tx = state->af->first; tx != NULL; tx = tx->next) {
        if (d == TO_CLIENT && http_chunks_are_inside(http_tx_of(tx), TO_CLIENT))
            http_body_end(http_tx_of(tx), TO_CLIENT);
        app_files_leave(tx, d);
    }
}

/* Protocols that an Upgrade header can change to. `h2c` is compared exactly, as Suricata does. */
static enum app_proto_id upgrade_protocol(const htp_header_t *upgrade)
{
    const struct app_proto *proto = NULL;

    if (bstr_cmp_c(upgrade->value, "h2c") == 0)
        proto = app_proto_by_name("http2");
    else if (bstr_cmp_c_nocase(upgrade->value, "websocket") == 0)
        proto = app_proto_by_name("websocket");
    return proto != NULL ? proto->id : APP_PROTO_UNKNOWN;
}

/* 101 Switching Protocols (RFC 9110 section 15.2.2). For an unknown protocol libhtp treats what
 * follows as a tunnel. */
static void check_upgrade(struct http_state *state)
{
    htp_tx_t *htp = htp_connp_get_out_tx(state->connp);
    const htp_header_t *upgrade;
    enum app_proto_id proto;
    int port;

    if (htp == NULL || htp->response_status_number != 101 || htp->response_headers == NULL)
        return;
    upgrade = htp_table_get_c(htp->response_headers, "upgrade");
    proto = upgrade != NULL ? upgrade_protocol(upgrade) : APP_PROTO_UNKNOWN;
    if (proto == APP_PROTO_UNKNOWN)
        return;
    port = htp->request_port_number;
    if (app_change_protocol(state->af, proto, port > 0 ? (uint16_t)port : 0))
        state->change = true;
    else if (htp_tx_get_user_data(htp) != NULL)
        app_tx_event(htp_tx_get_user_data(htp), HTTP_EVENT_FAILED_PROTOCOL_CHANGE);
}

/* Inspects the chunk lengths of the data that libhtp has just consumed. */
static void look_at_chunks(struct http_state *state, enum direction d)
{
    htp_tx_t *htp = d == TO_SERVER ? htp_connp_get_in_tx(state->connp)
                                   : htp_connp_get_out_tx(state->connp);
    struct http_tx *htx = htp != NULL ? http_tx_changing(htp) : NULL;

    if (htx != NULL)
        http_chunks_look(htx, d, state->input,
                         d == TO_SERVER ? htp_connp_req_data_consumed(state->connp)
                                        : htp_connp_res_data_consumed(state->connp));
}

/* Bytes consumed of the input, whose first `skip` bytes libhtp did not get. Line ends after a
 * message belong to no message and are consumed, too. */
static uint32_t consumed(const struct http_state *state, const struct app_input *in,
                         uint32_t skip)
{
    size_t n = in->direction == TO_SERVER ? htp_connp_req_data_consumed(state->connp)
                                          : htp_connp_res_data_consumed(state->connp);

    n += skip;
    while (n < in->len && (in->data[n] == '\r' || in->data[n] == '\n'))
        n++;
    return (uint32_t)n;
}

/* The transaction whose answer comes next, or has begun with bytes that libhtp has not had. */
static struct app_tx *next_answered(const struct http_state *state)
{
    struct app_tx *tx = state->af->first;

    while (tx != NULL && tx->progress[TO_CLIENT] > HTTP_LINE)
        tx = tx->next;
    return tx;
}

/* True if a response with a status line must begin here. HTTP/0.9 responses have none. */
static bool awaits_response(const struct http_state *state)
{
    struct app_tx *tx;

    if (htp_connp_get_out_tx(state->connp) != NULL || state->tunnel)
        return false;
    tx = next_answered(state);
    return tx == NULL || !http_htp(http_tx_of(tx))->is_protocol_0_9;
}

/* The bytes so far may become a status line: libhtp gets them when that is decided. */
static enum parse_status answer_begins(struct http_state *state, struct app_input *in,
                                       uint32_t skip)
{
    struct app_tx *tx = next_answered(state);

    if (tx != NULL && tx->progress[TO_CLIENT] < HTTP_LINE) {
        tx->progress[TO_CLIENT] = HTTP_LINE;
        app_tx_mark(tx);
    }
    in->consumed = skip;
    return PARSE_MORE;
}

/* --- heads without anything unusual: plain_head.c --------------------------------------------- */

/* A message begins here, as far as libhtp is concerned. */
static bool is_at_start(const struct http_state *state, enum direction d)
{
    if (state->closed[TO_SERVER] || state->closed[TO_CLIENT] || state->had_gap || state->tunnel)
        return false;
    return d == TO_SERVER ? htp_connp_get_in_tx(state->connp) == NULL : awaits_response(state);
}

/* The transaction whose message is in progress. */
static htp_tx_t *current(const struct http_state *state, enum direction d)
{
    return d == TO_SERVER ? htp_connp_get_in_tx(state->connp) : htp_connp_get_out_tx(state->connp);
}

/* libhtp has read the first line, and fields follow. */
static bool awaits_fields(const struct http_state *state, const htp_tx_t *htp, enum direction d)
{
    if (htp == NULL || state->status_line_due)
        return false;
    return d == TO_SERVER ? htp->request_progress == HTP_REQUEST_HEADERS
                          : htp->response_progress == HTP_RESPONSE_HEADERS;
}

static void pass(struct http_state *state, uint32_t *skip, uint32_t len)
{
    *skip += len;
    state->offset += len;
}

/* The methods of nearly all requests, so that libhtp need not compare all names that it knows. */
static enum htp_method_t usual_method(struct slice name)
{
    if (name.len == 3 && memcmp(name.data, "GET", 3) == 0)
        return HTP_M_GET;
    if (name.len == 4 && memcmp(name.data, "POST", 4) == 0)
        return HTP_M_POST;
    if (name.len == 4 && memcmp(name.data, "HEAD", 4) == 0)
        return HTP_M_HEAD;
    return HTP_M_UNKNOWN;
}

/* What libhtp would read of the line. False: no memory. */
static bool set_request_line(const struct http_state *state, htp_tx_t *htp,
                             const struct plain_head *head, struct slice line)
{
    const uint8_t *protocol = line.data + line.len - 8;         /* HTTP/1.x */

    htp->request_method_number = usual_method(head->method);
    htp->request_protocol_number = protocol[7] == '1' ? HTP_PROTOCOL_1_1 : HTP_PROTOCOL_1_0;
    if (LIKELY(state->plain_target.len > 0))
        return http_request_line_set(htp, line, head, state->plain_path);
    htp->request_line = bstr_dup_mem(line.data, line.len);
    htp->request_method = bstr_dup_mem(head->method.data, head->method.len);
    htp->request_uri = bstr_dup_mem(head->target.data, head->target.len);
    htp->request_protocol = bstr_dup_mem(protocol, 8);
    return htp->request_line != NULL && htp->request_method != NULL &&
           htp->request_uri != NULL && htp->request_protocol != NULL;
}

/* Begins a transaction as libhtp does when it gets the line, by the functions that it has for
 * programs with a parser of their own. The fields follow. */
static int start_request(struct http_state *state, const struct plain_head *head,
                         struct slice line)
{
    htp_tx_t *htp = htp_connp_tx_create(state->connp);
    bool done;

    state->input = line;
    line.len -= 2;
    state->starts_plain = true;
    done = htp != NULL && htp_tx_state_request_start(htp) == HTP_OK &&
           set_request_line(state, htp, head, line) && htp_tx_state_request_line(htp) == HTP_OK;
    state->starts_plain = false;
    return done ? HTP_STREAM_DATA : HTP_STREAM_ERROR;
}

/* Passes the line. *fields: whether fields follow. */
static int pass_line(struct http_state *state, const struct app_input *in,
                     const struct plain_head *head, struct slice line, bool *fields)
{
    enum direction d = in->direction;
    bool usual = d == TO_SERVER && usual_method(head->method) != HTP_M_UNKNOWN;
    int result;

    if (http_target_is_plain(head->target, &state->plain_path) && !state->config->lower_paths)
        state->plain_target = head->target;
    if (usual && !state->status_line_due) {
        result = start_request(state, head, line);
        *fields = true;
    } else {
        result = feed(state, in, line.data, line.len);
        *fields = awaits_fields(state, current(state, d), d);
    }
    state->plain_target.len = 0;
    return result;
}

static bool add_fields(const struct http_state *state, const struct plain_head *head,
                       const uint8_t *fields, enum direction d)
{
    const htp_tx_t *htp = current(state, d);

    if (UNLIKELY(head->odd))
        return http_plain_head_process(state->connp, (struct slice){ fields, head->fields_len }, d);
    return http_plain_head_add(head, d == TO_SERVER ? htp->request_headers
                                                    : htp->response_headers);
}

/* Passes a plain head up to its empty line: libhtp gets its line, and its table the fields. Else,
 * and after a line that libhtp reads differently, the rest goes to libhtp as it is. */
static int feed_plain_head(struct http_state *state, const struct app_input *in, uint32_t *skip)
{
    struct slice rest = { .data = in->data + *skip, .len = in->len - *skip };
    enum direction d = in->direction;
    struct plain_head head;
    bool fields;
    int result;

    if (!is_at_start(state, d) || !http_plain_head_find(rest, d, &head))
        return HTP_STREAM_DATA;
    result = pass_line(state, in, &head, (struct slice){ rest.data, head.line_len }, &fields);
    if (result != HTP_STREAM_DATA)
        return result;
    pass(state, skip, head.line_len);
    if (!fields)
        return HTP_STREAM_DATA;
    rest = (struct slice){ .data = in->data + *skip, .len = head.fields_len + 2 };
    if (http_plain_fields_data(state, current(state, d), rest, d) != HTP_OK ||
        !add_fields(state, &head, rest.data, d))
        return HTP_STREAM_ERROR;
    pass(state, skip, head.fields_len);
    return HTP_STREAM_DATA;
}

/* --- input ------------------------------------------------------------------------------------ */

/* Of a request whose chunks libhtp does not believe in what follows is parsed all the same. */
static int feed_on(struct http_state *state, const struct app_input *in, uint32_t *skip)
{
    int result = HTP_STREAM_ERROR;

    while (result == HTP_STREAM_ERROR) {
        uint32_t n = (uint32_t)htp_connp_req_data_consumed(state->connp);

        if (n > in->len - *skip || !http_reframe(state, in->now_us))
            return HTP_STREAM_ERROR;
        *skip += n;
        state->offset += n;
        if (*skip == in->len)
            return HTP_STREAM_DATA;
        result = feed(state, in, in->data + *skip, in->len - *skip);
        look_at_chunks(state, in->direction);
    }
    return result;
}

/* True if it begins with a method; *more: a few bytes more may show one. */
static bool begins_request(struct slice data, bool *more)
{
    *more = false;
    for (const struct app_pattern *p = patterns; p->bytes != NULL; p++) {
        size_t len = strlen(p->bytes);

        if (p->directions != APP_TS ||
            strncasecmp((const char *)data.data, p->bytes, MIN(len, data.len)) != 0)
            continue;
        if (data.len >= len)
            return true;
        *more = true;
    }
    return false;
}

/* The answer to CONNECT is lost. The client's next bytes show what it was: another request, or else
 * the tunnel that it asked for. */
static enum parse_status guess_answer(struct http_state *state, struct app_input *in)
{
    bool more;

    if (!begins_request((struct slice){ in->data, in->len }, &more)) {
        if (more && !in->end) {
            in->consumed = 0;
            return PARSE_MORE;
        }
        state->lost_tunnel = state->requests_over = true;
    }
    state->answer_lost = false;
    return PARSE_OK;
}

/* True between the messages of a connection that has become such a tunnel. What is left of the
 * server's first data is the body of its answer, and the rest belongs to the tunnel. */
static bool is_in_lost_tunnel(const struct http_state *state)
{
    return state->lost_tunnel && htp_connp_get_out_tx(state->connp) == NULL;
}

static enum parse_status parse_data(struct http_state *state, struct app_input *in)
{
    uint32_t skip = 0, start;
    int result;

    if (UNLIKELY(state->answer_lost) && in->direction == TO_SERVER &&
        guess_answer(state, in) == PARSE_MORE)
        return PARSE_MORE;
    if (in->direction == TO_SERVER && state->requests_over)
        return PARSE_OK;
    if (in->direction == TO_CLIENT && is_in_lost_tunnel(state))
        return PARSE_OK;
    if (in->direction == TO_CLIENT && awaits_response(state) &&
        http_lead_in(in, state->config->await_status_line, &skip) == HTTP_LEAD_IN_WAIT)
        return answer_begins(state, in, skip);
    state->offset += skip;
    start = skip;
    if (in->direction == TO_SERVER)     /* see suspend.c */
        http_keep(state, in->data, in->len);
    result = feed_plain_head(state, in, &skip);
    if (LIKELY(result == HTP_STREAM_DATA))
        result = feed(state, in, in->data + skip, in->len - skip);
    look_at_chunks(state, in->direction);
    if (result != HTP_STREAM_DATA)
        http_keep_no_more(state);
    else if (in->direction == TO_CLIENT)
        http_keep_answer(state, in->data + start, in->len - start);
    if (UNLIKELY(result == HTP_STREAM_ERROR && in->direction == TO_SERVER && !state->refused))
        result = feed_on(state, in, &skip);
    state->tunnel |= result == HTP_STREAM_TUNNEL;
    if (result == HTP_STREAM_TUNNEL && in->direction == TO_CLIENT)
        check_upgrade(state);
    if (result == HTP_STREAM_ERROR || state->refused)
        return PARSE_STOP;
    if (result == HTP_STREAM_DATA_OTHER || state->change) {
        in->consumed = consumed(state, in, skip);
        return PARSE_MORE;
    }
    return PARSE_OK;
}

/* The beginning of the first answer is missing while its request is still open: no message is there
 * yet that the gap could damage. As in Suricata it is no anomaly. */
static bool is_before_first_answer(const struct http_state *state, enum direction d)
{
    const htp_tx_t *request = htp_connp_get_in_tx(state->connp);
    const htp_tx_t *answer = htp_connp_get_out_tx(state->connp);

    return d == TO_CLIENT && state->transactions == 1 && state->responses == 0 &&
           request != NULL && (answer == NULL ||
                               answer->response_progress == HTP_RESPONSE_NOT_STARTED);
}

/* libhtp continues after a gap within a body of known length. Elsewhere the data after the gap
 * could be anything, and it fails. */
static enum parse_status parse_gap(struct http_state *state, struct app_input *in)
{
    http_keep_no_more(state);
    state->had_gap = true;
    if (is_in_lost_tunnel(state))
        return PARSE_OK;
    if (is_before_first_answer(state, in->direction)) {
        state->answer_lost = state->connects;
        return PARSE_OK;
    }
    return feed(state, in, NULL, in->gap) == HTP_STREAM_ERROR ? PARSE_STOP : PARSE_OK;
}

/* Entry point. The block of the response's header points into this input, so that it is dropped
 * before returning. */
static enum parse_status http1_parse(struct app_flow *af, struct app_input *in)
{
    struct http_state *state = af->state;
    enum parse_status status = PARSE_OK;

    if (UNLIKELY(state->body_left > 0) && http_body_passes(state, in))
        return PARSE_OK;
    if (!http_resume_for_data(state) || !renew(state))
        return PARSE_STOP;
    state->direction = in->direction;
    state->offset = in->offset;
    state->input = (struct slice){ 0 };
    state->change = false;
    if (in->gap > 0)
        status = parse_gap(state, in);
    else if (in->len > 0)
        status = parse_data(state, in);
    if (in->end && status != PARSE_STOP && !state->change)
        close_direction(state, in->direction);
    if (UNLIKELY(is_in_lost_tunnel(state)))
        close_direction(state, TO_SERVER);
    http_unmatched_told(state);
    if (state->thread != NULL)
        state->thread->block = (struct slice){ 0 };
    sync_progress(state);
    http_messages_release(state);
    http_orphans_destroy(state);
    return status;
}

/* A suspended parser has a transaction. */
static bool http1_is_between(const struct app_flow *af)
{
    const struct http_state *state = af->state;

    return state->connp != NULL && !state->tunnel && !state->requests_over && !state->refused &&
           !state->closed[TO_SERVER] && !state->closed[TO_CLIENT] && http_is_between(state);
}

/* Heads and short bodies. */
static const struct app_handover_ops handover = { .limit = 16u << 10,
                                                  .is_between = http1_is_between };

/* Whether rules have inspected some of a body. If none looks at the body itself, the files in it
 * count. */
static bool is_inspected(const struct app_tx *tx, const struct http_body *body, enum direction d)
{
    const struct app_file *file = tx->files[d];

    if (body->inspected == 0 || body->start < body->size || file == NULL)
        return body->inspected > 0;
    while (file != NULL && file->inspected == 0)
        file = file->next;
    return file != NULL;
}

/* Until rules have inspected the first part of a body, they wait for
 * response-body-minimal-inspect-size bytes. Alerts then show so much of the stream before a
 * match, and rules on bodies see as much. */
static uint32_t http1_lookbehind(const struct app_flow *af, enum direction d)
{
    const struct http_state *state = af->state;

    /* Walks open transactions; libhtp.max-tx limits them. */
    for (const struct app_tx *tx = af->first; tx != NULL; tx = tx->next) {
        const struct http_content *c =
            CONTAINER_OF(tx, const struct http_tx, tx)->message[d].content;

        if (c != NULL && is_inspected(tx, &c->body, d))
            return 0;
    }
    return state->config->body[d].min_inspect;
}

/* --- the declaration -------------------------------------------------------------------------- */

/* NULL is allowed: the parsers then work without spare buffers. */
static void *http1_thread_open(const void *settings UNUSED, struct counters *counters UNUSED)
{
    struct http_thread *ht = calloc(1, sizeof(*ht));

    if (ht != NULL)
        ht->active_max = HTTP_ACTIVE_MAX;
    return ht;
}

static void http1_thread_close(void *data)
{
    struct http_thread *ht = data;

    while (ht->spares > 0)
        buf_fini(&ht->spare[--ht->spares]);
    http_inflates_free(ht);
    http_decoders_free(ht);
    free(ht);
}

#define REQUEST(id, name) { "request_" name, id },
static const struct app_name request_progress[] = { HTTP_PROGRESS_LIST(REQUEST) { NULL, 0 } };

#define RESPONSE(id, name) { "response_" name, id },
static const struct app_name response_progress[] = { HTTP_PROGRESS_LIST(RESPONSE) { NULL, 0 } };

static const char *const frames[] = { HTTP_FRAME_LIST(APP_ENUM_TEXT) NULL };

static const struct app_pcre_letter pcre_letters[] = {
    { 'U', "http.uri" }, { 'I', "http.uri.raw" }, { 'P', "http.request_body" },
    { 'Q', "file.data" }, { 'H', "http.header" }, { 'D', "http.header.raw" },
    { 'M', "http.method" }, { 'C', "http.cookie" }, { 'S', "http.stat_code" },
    { 'Y', "http.stat_msg" }, { 'V', "http.user_agent" }, { 'W', "http.host" },
    { 'Z', "http.host.raw" }, { 0, NULL },
};

const struct app_proto app_http1 = {
    .id = APP_PROTO_http1,
    .raw_on_tx_end = true,
    .name = "http",
    .rule_name = "http1",
    .reports = &http_reports,
    .binds_modifiers = true,
    .pcre_letters = pcre_letters,
    .also = { APP_PROTO_ANY_http },
    .transports = APP_TCP,
    .patterns = patterns,
    .settings_size = sizeof(struct http_settings),
    .configure = http1_configure,
    .settings_free = http1_settings_free,
    .thread_open = http1_thread_open,
    .thread_close = http1_thread_close,
    .state_size = sizeof(struct http_state),
    .tx_size = sizeof(struct http_tx),
    .tx_limit = UINT16_MAX,             /* libhtp.max-tx of the configuration is the limit */
    .open = http1_open,
    .close = http1_close,
    .marks_tx = true,
    .parse = http1_parse,
    .rest = http1_rest,
    .prefetch = http1_prefetch,
    .lookbehind = http1_lookbehind,
    .handles_gaps = true,
    .handover = &handover,
    .tx_close = http1_tx_close,
    .progress_done = { HTTP_COMPLETE, HTTP_COMPLETE },
    .progress_names = { request_progress, response_progress },
    .events = http_events,
    .events_in_capitals = true,
    .frames = frames,
    .buffers = http_buffers,
    .logs = http_logs,
    .alert_metadata = http1_alert_metadata,
    .alert_contents_key = "http-body",
    .alert_contents = http1_alert_contents,
    .alert_contents_features = HTTP1_KEEP_REQUEST_BODY | HTTP1_KEEP_RESPONSE_BODY,
    .file_directions = APP_BOTH,
    .bodies = http_bodies,
    .forwarded_for = http1_forwarded_for,
    .memcaps = (const struct app_memcap[]){
        { "applayer-proto-http", app_decoders_limit, "http.memuse", NULL },
        { "applayer-proto-http-byterange", app_ranges_limit, "http.byterange.memuse",
          "http.byterange.memcap" },
        { NULL, NULL, NULL, NULL } },
    .shares_limits = true,
};
