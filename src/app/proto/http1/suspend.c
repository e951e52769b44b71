/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/suspend.c - libhtp's parsers, and their suspension.
 *
 * A parser with a request takes about 4 KB in sixty allocations. Where many connections wait at the
 * same time for the rest of a request or for its response, the flow keeps the client's bytes
 * instead and frees the parser. When more data come, or a rule or log reads the transaction, a
 * fresh parser gets the bytes again while the hooks ignore what it reports. Parsing some hundred
 * bytes takes less time than sixty cache misses.
 *
 * Only simple cases are suspended: one transaction, which the retained bytes began, and nothing of
 * a response yet. The parser gets the same segments again, because libhtp notices some things only
 * with the next one. It is then in the same state, and no event is repeated or lost.
 *
 * Or the response is an ordinary one that is within a body of known length. Its header is retained,
 * too, and the body's bytes go to rules and files directly. A fresh parser then gets as many zeros
 * as the body had bytes: the hooks ignore them, and libhtp only counts. */
#include "app/proto/http1/body.h"
#include "app/proto/http1/buffers.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"
#include "base/memory/lib_memory.h"

#include <string.h>

#define RETAINED_LIMIT 4096u    /* per flow; a longer request keeps its parser */
#define BODY_LIMIT (64u << 10)  /* bytes of a body that a parser is given again */
/* A reader that needs libhtp's transaction may need it with each packet: then the parser stays. */
#define BODY_RESUMES_MAX 2

/* `active` counts the thread's parsers: suspension begins above active_max. */
bool http_parser_open(struct http_state *state)
{
    const struct flow *f = state->af->flow;

    state->connp = htp_connp_create(state->config->htp);
    if (state->connp == NULL)
        return false;
    htp_connp_set_user_data(state->connp, state);
    htp_connp_open(state->connp, NULL, f->key.src_port, NULL, f->key.dst_port, NULL);
    state->transactions = 0;
    if (state->thread != NULL)
        state->thread->active++;
    return true;
}

void http_parser_close(struct http_state *state)
{
    if (state->connp == NULL)
        return;
    htp_connp_destroy_all(state->connp);
    state->connp = NULL;
    if (state->thread != NULL)
        state->thread->active--;
}

/* libhtp collects its messages in a list. The hook has seen each, so that the list is freed. */
void http_messages_release(struct http_state *state)
{
    htp_conn_t *conn;
    htp_log_t *log;

    if (LIKELY(!state->has_messages))
        return;
    state->has_messages = false;
    conn = htp_connp_get_connection(state->connp);
    while (htp_list_array_size(conn->messages) > 0) {
        log = htp_list_array_shift(conn->messages);
        if (log == NULL)
            break;
        http_libhtp_free((void *)(uintptr_t)log->msg);
        http_libhtp_free(log);
    }
    htp_connp_clear_error(state->connp);
}

/* --- retained bytes --------------------------------------------------------------------------- */

static bool are_many_active(const struct http_state *state)
{
    const struct http_thread *ht = state->thread;

    return ht != NULL && ht->active > ht->active_max;
}

void http_keep_no_more(struct http_state *state)
{
    if (state->retained == NULL)
        return;
    lib_free(state->retained);
    state->retained = NULL;
    state->retained_len = state->retained_head = 0;
}

/* Adds one segment, with its length before it; gives up at the limit or without memory. */
static void retain(struct http_state *state, const uint8_t *data, uint32_t len)
{
    uint16_t size = (uint16_t)len;
    uint8_t *retained = NULL;

    if (state->retained_len + sizeof(size) + (uint64_t)len <= RETAINED_LIMIT)
        retained = lib_realloc(state->retained, state->retained_len + sizeof(size) + len);
    if (retained == NULL) {
        http_keep_no_more(state);
        return;
    }
    memcpy(retained + state->retained_len, &size, sizeof(size));
    memcpy(retained + state->retained_len + sizeof(size), data, len);
    state->retained = retained;
    state->retained_len += (uint32_t)sizeof(size) + len;
}

/* Retains a segment of the client. Starts only between transactions, and ends with the response. */
void http_keep(struct http_state *state, const uint8_t *data, uint32_t len)
{
    if (state->retained == NULL &&
        (!are_many_active(state) || state->tunnel || state->had_gap || !http_is_between(state)))
        return;
    if (state->retained_head > 0)
        http_keep_no_more(state);
    else
        retain(state, data, len);
}

static bool is_usual_protocol(const htp_tx_t *htp)
{
    return htp->response_protocol != NULL &&
           (bstr_cmp_c(htp->response_protocol, "HTTP/1.1") == 0 ||
            bstr_cmp_c(htp->response_protocol, "HTTP/1.0") == 0);
}

/* The fields after the status line are as libhtp reads them; see block.c. */
static bool has_plain_fields(struct slice head)
{
    const uint8_t *end = memchr(head.data, '\n', head.len);
    uint32_t from = end != NULL ? (uint32_t)(end + 1 - head.data) : head.len;

    return http_fields_are_plain((struct slice){ head.data + from, head.len - from });
}

/* Within a body of known length, of a response that raised no event. */
static bool is_in_usual_body(const struct http_state *state, const htp_tx_t *htp)
{
    const struct app_tx *tx = state->af->first;

    return tx != NULL && tx == state->af->last && htp == http_tx_of(state->af->first)->htp &&
           tx->event_count == 0 && htp->request_progress == HTP_REQUEST_COMPLETE &&
           htp->response_progress == HTP_RESPONSE_BODY && htp->seen_100continue == 0 &&
           htp->response_transfer_coding == HTP_CODING_IDENTITY &&
           htp->response_content_length > 0 && htp->response_content_length <= UINT32_MAX &&
           htp->response_message_len < htp->response_content_length && is_usual_protocol(htp);
}

/* Retains the response's header if it is the beginning of this segment, and what follows is the
 * body. */
void http_keep_head(struct http_state *state, const uint8_t *data, uint32_t len)
{
    const htp_tx_t *htp = htp_connp_get_out_tx(state->connp);
    struct slice head = { data, len };

    if (LIKELY(state->retained == NULL))
        return;
    if (htp == NULL || !is_in_usual_body(state, htp)) {
        http_keep_no_more(state);
        return;
    }
    if (state->retained_head > 0)
        return;
    if (htp->response_message_len <= 0 || htp->response_message_len >= (int64_t)len) {
        http_keep_no_more(state);
        return;
    }
    head.len -= (uint32_t)htp->response_message_len;
    state->retained_head = state->retained_len;
    if (has_plain_fields(head))
        retain(state, head.data, head.len);
    else
        http_keep_no_more(state);
}

/* --- to sleep and back ------------------------------------------------------------------------ */

/* A request line without a protocol was classified by where the packet ended, and might be read
 * differently the second time: not suspended. */
static bool may_suspend(const struct http_state *state)
{
    const struct app_tx *tx = state->af->first;
    const htp_tx_t *htp;

    if (state->retained == NULL || state->connp == NULL || tx == NULL || tx != state->af->last ||
        state->af->end[TO_SERVER] || state->af->end[TO_CLIENT] || state->orphan[0] != NULL)
        return false;
    htp = CONTAINER_OF(tx, const struct http_tx, tx)->htp;
    if (state->retained_head > 0)
        return state->body_resumes <= BODY_RESUMES_MAX && is_in_usual_body(state, htp) &&
               htp->response_message_len <= BODY_LIMIT;
    return tx->progress[TO_CLIENT] == HTTP_STARTED &&
           (htp->request_progress == HTP_REQUEST_LINE || htp->request_protocol != NULL);
}

/* Frees the buffers that rules read. Most are read once, with the packet that completes a header,
 * and are larger than the header. An unpacked Flash file stays: it costs more to derive. */
static void free_derived_buffers(struct app_flow *af)
{
    struct http_state *state = af->state;

    state->has_derived_buffers = false;
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next) {
        struct http_tx *htx = http_tx_of(tx);

        for (unsigned d = 0; d < 2; d++)
            if (htx->message[d].derived != NULL && htx->message[d].derived->swf.data == NULL)
                http_derived_buffers_free(htx, d);
    }
}

/* Runs after each packet of the flow was parsed, inspected and logged. */
void http1_rest(struct app_flow *af)
{
    struct http_state *state = af->state;
    struct http_tx *htx;

    if (state->has_derived_buffers)
        free_derived_buffers(af);
    for (unsigned d = 0; d < 2; d++)
        if (UNLIKELY(state->unpacking[d] != NULL))
            http_body_rest(state->unpacking[d], d);
    if (LIKELY(!are_many_active(state)) || !may_suspend(state))
        return;
    htx = http_tx_of(af->first);
    for (unsigned d = 0; d < 2; d++) {
        http_derived_buffers_free(htx, d);
        http_buf_release(af, &htx->message[d].raw_headers);
    }
    if (state->retained_head > 0) {
        state->body_seen = (uint32_t)htx->htp->response_message_len;
        state->body_left = (uint32_t)htx->htp->response_content_length - state->body_seen;
    }
    htx->htp = NULL;
    http_parser_close(state);
}

/* The body's last bytes, and whatever else happens, are for the parser. Counts before it passes
 * them on: a reader may resume the parser. */
bool http_body_passes(struct http_state *state, const struct app_input *in)
{
    struct http_tx *htx = http_tx_of(state->af->first);

    if (state->connp != NULL || in->direction != TO_CLIENT || in->gap > 0 || in->end ||
        in->len == 0 || in->len >= state->body_left || state->body_seen + in->len > BODY_LIMIT)
        return false;
    state->direction = TO_CLIENT;
    state->offset = in->offset;
    state->input = (struct slice){ in->data, in->len };
    state->body_seen += in->len;
    state->body_left -= in->len;
    app_tx_mark(&htx->tx);
    http_body_data(htx, TO_CLIENT, in->data, in->len);
    return true;
}

/* Feeds the retained segments to a fresh parser. It has accepted them before, so that only missing
 * memory can prevent the transaction. */
const htp_tx_t http_no_htp;

/* Bytes of a body that the hooks ignore. */
static bool replay_body(const struct http_state *state, const htp_time_t *now)
{
    static const uint8_t zeros[4096];

    for (uint32_t left = state->body_seen, n; left > 0; left -= n) {
        n = MIN(left, (uint32_t)sizeof(zeros));
        if (htp_connp_res_data(state->connp, now, zeros, n) != HTP_STREAM_DATA)
            return false;
    }
    return true;
}

static bool replay_segment(const struct http_state *state, const htp_time_t *now, uint32_t at,
                           uint16_t size)
{
    const uint8_t *data = state->retained + at + sizeof(size);

    if (state->retained_head > 0 && at == state->retained_head)
        return htp_connp_res_data(state->connp, now, data, size) == HTP_STREAM_DATA &&
               replay_body(state, now);
    return htp_connp_req_data(state->connp, now, data, size) != HTP_STREAM_ERROR;
}

static bool replay(struct http_state *state, struct http_tx *htx)
{
    const htp_time_t now = { .tv_sec = (time_t)(htx->tx.start_us / 1000000),
                             .tv_usec = (suseconds_t)(htx->tx.start_us % 1000000) };

    bool is_parsed = true;
    uint16_t size;

    state->replaying = true;
    for (uint32_t at = 0; is_parsed && at < state->retained_len;
         at += (uint32_t)sizeof(size) + size) {
        memcpy(&size, state->retained + at, sizeof(size));
        is_parsed = replay_segment(state, &now, at, size);
    }
    state->replaying = false;
    http_messages_release(state);
    state->transactions = 1;
    htx->htp = htp_list_array_get(htp_connp_get_connection(state->connp)->transactions, 0);
    if (htx->htp == NULL)
        return false;
    htp_tx_set_user_data(htx->htp, htx);
    return is_parsed;
}

/* Called before any use of the parser or of libhtp's transaction. */
static COLD bool lose(struct http_state *state)
{
    if (state->af->first != NULL)
        http_tx_of(state->af->first)->htp = NULL;
    http_parser_close(state);
    state->is_lost = true;
    state->body_left = 0;
    return false;
}

bool http_resume_for(struct http_state *state, struct http_tx *htx)
{
    if (state->connp != NULL)
        return true;
    if (state->is_lost || !http_parser_open(state))
        return lose(state);
    if (state->retained != NULL && htx != NULL && !replay(state, htx))
        return lose(state);
    state->body_resumes += state->body_left > 0;
    state->body_left = 0;
    return true;
}

bool http_resume(struct http_state *state)
{
    return http_resume_for(state, state->af->first != NULL ? http_tx_of(state->af->first) : NULL);
}

/* libhtp reads these bytes for each part of a body. The struct is private to libhtp: the size is an
 * estimate. */
#define CONNP_SIZE 640

void http1_prefetch(const struct app_flow *af)
{
    const struct http_state *state = af->state;

    const struct http_tx *htx;

    PREFETCH_ALL(state->connp, CONNP_SIZE);
    if (af->last == NULL)
        return;
    htx = http_tx_of(af->last);
    PREFETCH_ALL(htx->htp, sizeof(*htx->htp));
    for (unsigned d = 0; d < 2; d++)
        if (htx->message[d].content != NULL)
            buf_prefetch_end(&htx->message[d].content->body.data);
}
