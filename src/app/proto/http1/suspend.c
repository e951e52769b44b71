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
 * with the next one. It is then in the same state, and no event is repeated or lost. */
#include "app/proto/http1/body.h"
#include "app/proto/http1/buffers.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"
#include "base/memory/lib_memory.h"

#include <string.h>

#define RETAINED_LIMIT 4096u    /* per flow; a longer request keeps its parser */

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
    state->retained_len = 0;
}

/* Retains one segment of the client, with its length before it. Starts only between transactions;
 * gives up at the limit or without memory. */
void http_keep(struct http_state *state, const uint8_t *data, uint32_t len)
{
    uint16_t size = (uint16_t)len;
    uint8_t *retained = NULL;

    if (state->retained == NULL &&
        (!are_many_active(state) || state->tunnel || state->had_gap || !http_is_between(state)))
        return;
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
    http_derived_buffers_free(htx, TO_SERVER);
    http_buf_release(af, &htx->message[TO_SERVER].raw_headers);
    htx->htp = NULL;
    http_parser_close(state);
}

/* Feeds the retained segments to a fresh parser. It has accepted them before, so that only missing
 * memory can prevent the transaction. */
const htp_tx_t http_no_htp;

static bool replay(struct http_state *state, struct http_tx *htx)
{
    const htp_time_t now = { .tv_sec = (time_t)(htx->tx.start_us / 1000000),
                             .tv_usec = (suseconds_t)(htx->tx.start_us % 1000000) };

    bool is_parsed = true;
    uint16_t size;

    state->replaying = true;
    for (uint32_t at = 0; is_parsed && at < state->retained_len; at += size) {
        memcpy(&size, state->retained + at, sizeof(size));
        at += (uint32_t)sizeof(size);
        is_parsed = htp_connp_req_data(state->connp, &now, state->retained + at, size) !=
                   HTP_STREAM_ERROR;
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
    return false;
}

bool http_resume(struct http_state *state)
{
    if (state->connp != NULL)
        return true;
    if (state->is_lost || !http_parser_open(state))
        return lose(state);
    if (state->retained != NULL && state->af->first != NULL &&
        !replay(state, http_tx_of(state->af->first)))
        return lose(state);
    return true;
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
