/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/suspend.c - libhtp's parsers, and their suspension.
 *
 * A parser with a request takes about 4 KB in sixty allocations. Where many connections wait at the
 * same time for the rest of a message, the flow keeps the bytes of both sides instead and frees the
 * parser. When more data come, or a rule or log reads the transaction, a fresh parser gets the
 * bytes again while the hooks ignore what it reports. Parsing some hundred bytes takes less time
 * than sixty cache misses.
 *
 * The bytes are retained from a moment at which no message was in progress, and in the segments in
 * which they came, because libhtp notices some things only with the next one. The parser is then in
 * the same state, and no event is repeated or lost. What hooks have changed after libhtp reported
 * something unusual is not done again: such a parser stays.
 *
 * Of an ordinary response that is within a body of known length, only the header is retained, and
 * the body's bytes go to rules and files directly. A fresh parser then gets as many zeros as the
 * body had bytes: the hooks ignore them, and libhtp only counts. */
#include "app/proto/http1/body.h"
#include "app/proto/http1/buffers.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http1/lines.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/table.h"
#include "app/proto/http1/tx.h"
#include "base/memory/lib_memory.h"

#include <string.h>

#define RETAINED_LIMIT 4096u    /* per flow; with longer messages it keeps its parser */
#define BODY_LIMIT (64u << 10)  /* bytes of a body that a parser is given again */
#define TXS_MAX 8u              /* open transactions; with more the parser stays */
/* Bytes and readers that come one by one would have the parser made again with each: after so many
 * the parser stays until no message is in progress. A reader may come with each packet. */
#define RESUMES_MAX 8u
#define READERS_RESUME 4u
#define TO_CLIENT_BIT 0x8000u   /* in the size of a segment */

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

void http_headers_release(htp_tx_t *htp)
{
    if (htp != NULL)
        http_request_line_release(htp);
    if (!HTTP_TABLE_IS_OURS || htp == NULL)
        return;
    http_table_release(htp->request_headers);
    http_table_release(htp->response_headers);
}

void http_parser_close(struct http_state *state)
{
    htp_list_t *txs;

    if (state->connp == NULL)
        return;
    http_unlisted_destroy(state);
    txs = htp_connp_get_connection(state->connp)->transactions;
    for (size_t i = 0; i < htp_list_array_size(txs); i++)
        http_headers_release(htp_list_array_get(txs, i));
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
    state->retains_answer = false;
}

/* Adds one segment, with its length before it; gives up at the limit or without memory. */
static void retain(struct http_state *state, enum direction d, const uint8_t *data, uint32_t len)
{
    uint16_t size = (uint16_t)(len | (d == TO_CLIENT ? TO_CLIENT_BIT : 0));
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
    state->retains_answer |= d == TO_CLIENT;
}

/* Retains a segment of the client. Starts only between transactions. */
void http_keep(struct http_state *state, const uint8_t *data, uint32_t len)
{
    if (LIKELY(state->retained == NULL && !are_many_active(state)))
        return;
    if (http_is_between(state)) {
        http_keep_no_more(state);
        if (!are_many_active(state) || state->tunnel || state->had_gap)
            return;
        state->retained_tx = (uint32_t)state->af->next_tx_id;
        state->resumes = 0;
    } else if (state->retained == NULL) {
        return;
    }
    retain(state, TO_SERVER, data, len);
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

/* Decoders raise these: libhtp's transaction does not change. */
static bool is_of_content(unsigned event)
{
    return event == HTTP_EVENT_COMPRESSION_BOMB ||
           event == HTTP_EVENT_COMPRESSION_BOMB_LIMIT_REACHED ||
           event == HTTP_EVENT_DECOMPRESSION_MEMCAP_REACHED ||
           event == HTTP_EVENT_DECOMPRESSION_WINDOW_TOO_LARGE;
}

static bool has_events_of_content_only(const struct app_tx *tx)
{
    for (unsigned i = 0; i < tx->event_count; i++)
        if (!is_of_content(app_tx_event_at(tx, i)))
            return false;
    return true;
}

/* Within a body of known length, of a response that raised no event. */
static bool is_in_usual_body(const struct http_state *state, const htp_tx_t *htp)
{
    const struct app_tx *tx = state->af->first;

    return tx != NULL && tx == state->af->last && htp == http_tx_of(state->af->first)->htp &&
           has_events_of_content_only(tx) && htp->response_progress == HTP_RESPONSE_BODY &&
           htp->seen_100continue == 0 && htp->response_transfer_coding == HTP_CODING_IDENTITY &&
           htp->response_content_length > 0 && htp->response_content_length <= UINT32_MAX &&
           htp->response_message_len < htp->response_content_length && is_usual_protocol(htp);
}

/* The response's header is the beginning of this segment, and what follows is the body. */
static bool keep_head(struct http_state *state, const htp_tx_t *htp, struct slice head)
{
    if (state->retains_answer || htp == NULL || !is_in_usual_body(state, htp) ||
        htp->response_message_len <= 0 || htp->response_message_len >= (int64_t)head.len)
        return false;
    head.len -= (uint32_t)htp->response_message_len;
    if (!has_plain_fields(head))
        return false;
    state->retained_head = state->retained_len;
    retain(state, TO_CLIENT, head.data, head.len);
    return true;
}

/* Retains a segment of the server, or only the header at its beginning. */
void http_keep_answer(struct http_state *state, const uint8_t *data, uint32_t len)
{
    const htp_tx_t *htp = htp_connp_get_out_tx(state->connp);

    if (LIKELY(state->retained == NULL))
        return;
    if (state->retained_head > 0 ? htp == NULL || !is_in_usual_body(state, htp)
                                 : htp == NULL && state->af->first == state->af->last)
        http_keep_no_more(state);
    else if (state->retained_head == 0 &&
             !keep_head(state, htp, (struct slice){ data, len }))
        retain(state, TO_CLIENT, data, len);
}

/* --- to sleep and back ------------------------------------------------------------------------ */

/* A request line without a protocol was classified by where the packet ended, and might be read
 * differently the second time: not suspended. */
static bool may_be_read_again(const struct app_tx *tx)
{
    const htp_tx_t *htp = CONTAINER_OF(tx, const struct http_tx, tx)->htp;

    if (htp == NULL || (htp->request_progress != HTP_REQUEST_LINE && htp->request_protocol == NULL))
        return false;
    return tx->progress[TO_CLIENT] == HTTP_STARTED ||
           (has_events_of_content_only(tx) &&
            (htp->response_progress <= HTP_RESPONSE_LINE || is_usual_protocol(htp)));
}

void http_keep_without(struct http_state *state, const struct http_tx *htx)
{
    if (UNLIKELY(state->retained != NULL) && !may_be_read_again(&htx->tx))
        http_keep_no_more(state);
}

/* The bytes of several transactions would go to the raw headers of one. */
static bool is_one_or_plain(const struct app_flow *af)
{
    return af->first == af->last || !app_feature(af, HTTP1_KEEP_RAW_HEADERS);
}

static bool may_suspend(const struct http_state *state)
{
    const struct app_flow *af = state->af;

    if (state->retained == NULL || state->connp == NULL || af->first == NULL ||
        af->tx_count > TXS_MAX || af->end[TO_SERVER] || af->end[TO_CLIENT] ||
        state->orphan[0] != NULL || state->pending_events != 0 || state->resumes > RESUMES_MAX ||
        !is_one_or_plain(af))
        return false;
    for (const struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        if (!may_be_read_again(tx))
            return false;
    return state->retained_head == 0 ||
           (is_in_usual_body(state, http_tx_of(af->first)->htp) &&
            http_tx_of(af->first)->htp->response_message_len <= BODY_LIMIT);
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

static void leave_parser(struct app_flow *af, struct http_tx *htx)
{
    for (unsigned d = 0; d < 2; d++) {
        http_derived_buffers_free(htx, d);
        http_buf_release(af, &htx->message[d].raw_headers);
    }
    htx->htp = NULL;
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
    if (state->retained_head > 0) {
        state->body_seen = (uint32_t)htx->htp->response_message_len;
        state->body_left = (uint32_t)htx->htp->response_content_length - state->body_seen;
    }
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        leave_parser(af, http_tx_of(tx));
    http_block_clear(state);
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
    const bool is_answer = (size & TO_CLIENT_BIT) != 0;

    size &= (uint16_t)~TO_CLIENT_BIT;
    if (!is_answer)
        return htp_connp_req_data(state->connp, now, data, size) != HTP_STREAM_ERROR;
    return htp_connp_res_data(state->connp, now, data, size) == HTP_STREAM_DATA &&
           (at != state->retained_head || state->retained_head == 0 || replay_body(state, now));
}

/* libhtp has a transaction for each of ours since the first retained byte, in their order. */
static bool reconnect(const struct http_state *state, struct http_tx *htx)
{
    const uint32_t at = (uint32_t)htx->tx.id - state->retained_tx;

    htx->htp = htp_list_array_get(htp_connp_get_connection(state->connp)->transactions, at);
    if (htx->htp == NULL)
        return false;
    htp_tx_set_user_data(htx->htp, htx);
    return true;
}

/* `htx`: one that may not be in the flow's list any more. */
static bool replay(struct http_state *state, struct http_tx *htx)
{
    const htp_time_t now = { .tv_sec = (time_t)(htx->tx.start_us / 1000000),
                             .tv_usec = (suseconds_t)(htx->tx.start_us % 1000000) };
    bool is_parsed = true;
    uint16_t size;

    state->replaying = true;
    for (uint32_t at = 0; is_parsed && at < state->retained_len;
         at += (uint32_t)sizeof(size) + (size & ~TO_CLIENT_BIT)) {
        memcpy(&size, state->retained + at, sizeof(size));
        is_parsed = replay_segment(state, &now, at, size);
    }
    state->replaying = false;
    http_messages_release(state);
    state->transactions = (uint32_t)state->af->next_tx_id - state->retained_tx;
    is_parsed &= reconnect(state, htx);
    for (struct app_tx *tx = state->af->first; tx != NULL; tx = tx->next)
        is_parsed &= reconnect(state, http_tx_of(tx));
    return is_parsed;
}

/* Called before any use of the parser or of libhtp's transaction. */
static COLD bool lose(struct http_state *state, struct http_tx *htx)
{
    for (struct app_tx *tx = state->af->first; tx != NULL; tx = tx->next)
        http_tx_of(tx)->htp = NULL;
    if (htx != NULL)
        htx->htp = NULL;
    http_parser_close(state);
    state->is_lost = true;
    state->body_left = 0;
    return false;
}

static bool resume(struct http_state *state, struct http_tx *htx, unsigned cost)
{
    if (state->is_lost || !http_parser_open(state))
        return lose(state, htx);
    if (state->retained != NULL && htx != NULL && !replay(state, htx))
        return lose(state, htx);
    state->resumes = (uint8_t)MIN(state->resumes + cost, (unsigned)UINT8_MAX);
    state->body_left = 0;
    return true;
}

bool http_resume_for(struct http_state *state, struct http_tx *htx)
{
    return state->connp != NULL || resume(state, htx, 0);
}

static struct http_tx *first_tx(const struct http_state *state)
{
    return state->af->first != NULL ? http_tx_of(state->af->first) : NULL;
}

bool http_resume_for_data(struct http_state *state)
{
    return state->connp != NULL || resume(state, first_tx(state), state->body_left == 0);
}

bool http_resume(struct http_state *state)
{
    if (LIKELY(state->connp != NULL))
        return true;
    return resume(state, first_tx(state), state->retains_answer ? READERS_RESUME : 0);
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
