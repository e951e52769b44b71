/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/tx.c - our transactions, one for each of libhtp's.
 *
 * The framework decides when ours ends. libhtp's is then destroyed, too, unless its parser still
 * works on it. Such an orphan has no user data: the hooks ignore it, and it is destroyed when the
 * parser has moved on. */
#include "app/proto/http1/tx.h"

#include "app/proto/http1/body.h"
#include "app/proto/http1/buffers.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http1/state.h"

#include <stdlib.h>

#define SPARE_MAX (64u << 10)           /* a buffer that grew larger is freed */

/* A thread keeps a few buffers for its flows, because most bodies need one for a short time. */
struct buf http_buf_take(struct app_flow *af)
{
    struct http_thread *ht = af->thread_data;
    struct buf none = { 0 };

    if (ht == NULL || ht->spares == 0)
        return none;
    return ht->spare[--ht->spares];
}

void http_buf_release(struct app_flow *af, struct buf *b)
{
    struct http_thread *ht = af->thread_data;

    if (b->data == NULL)
        return;
    if (ht == NULL || ht->spares == ARRAY_LEN(ht->spare) || b->cap > SPARE_MAX) {
        buf_fini(b);
    } else {
        buf_clear(b);
        ht->spare[ht->spares++] = *b;
    }
    *b = (struct buf){ 0 };
}

/* NULL: libhtp.max-tx open transactions, or the framework's limit. */
struct http_tx *http_tx_new(struct http_state *state, htp_tx_t *htp)
{
    struct app_tx *tx;
    struct http_tx *htx;

    if (state->af->tx_count >= state->config->max_tx)
        return NULL;
    tx = app_tx_new(state->af);
    if (tx == NULL)
        return NULL;
    htx = http_tx_of(tx);
    htx->htp = htp;
    htp_tx_set_user_data(htp, htx);
    return htx;
}

/* libhtp destroys only complete transactions: the parser no longer uses this one, so that it can be
 * called complete. */
static void destroy(htp_tx_t *htp)
{
    htp->request_progress = HTP_REQUEST_COMPLETE;
    htp->response_progress = HTP_RESPONSE_COMPLETE;
    http_headers_release(htp);
    htp_tx_destroy(htp);
}

void http_unlisted_destroy(struct http_state *state)
{
    if (LIKELY(state->unlisted == NULL))
        return;
    destroy(state->unlisted);
    state->unlisted = NULL;
}

static bool is_at_work(const struct http_state *state, const htp_tx_t *htp)
{
    return htp_connp_get_in_tx(state->connp) == htp || htp_connp_get_out_tx(state->connp) == htp;
}

/* The parser works on at most one transaction per direction, so that two slots suffice: an older
 * orphan is destroyed first. */
static void adopt(struct http_state *state, htp_tx_t *htp)
{
    http_orphans_destroy(state);
    state->orphan[state->orphan[0] != NULL] = htp;
}

void http_orphans_destroy(struct http_state *state)
{
    for (unsigned i = 0; i < 2; i++) {
        if (state->orphan[i] == NULL || is_at_work(state, state->orphan[i]))
            continue;
        destroy(state->orphan[i]);
        state->orphan[i] = NULL;
    }
}

static bool is_alone(const struct app_tx *tx)
{
    const struct app_tx *first = tx->flow->first;

    return first == NULL || (first == tx && tx->next == NULL);
}

/* `htp` is NULL while the parser is suspended; then nothing of it needs to be freed. But within a
 * body the parser has to know how much of it is to come, and other transactions need theirs. */
void http1_tx_close(struct app_tx *tx)
{
    struct http_tx *htx = http_tx_of(tx);
    struct http_state *state = tx->flow->state;

    if (UNLIKELY(htx->htp == NULL) && (state->body_left > 0 || !is_alone(tx)))
        (void)http_resume_for(state, htx);
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        http_body_free(htx, d);
        http_buf_release(tx->flow, &htx->message[d].raw_headers);
        http_derived_buffers_free(htx, d);
    }
    if (htx->htp == NULL || state->connp == NULL) {
        http_keep_no_more(state);
        return;
    }
    http_keep_without(state, htx);
    htp_tx_set_user_data(htx->htp, NULL);
    if (is_at_work(state, htx->htp))
        adopt(state, htx->htp);
    else
        destroy(htx->htp);
}

/* --- for the protocol that follows ------------------------------------------------------------ */

static const htp_tx_t *htp_of(const struct app_tx *tx)
{
    return http_htp(CONTAINER_OF(tx, const struct http_tx, tx));
}

bool http1_request_target(const struct app_tx *tx, struct slice *method, struct slice *uri)
{
    const htp_tx_t *htp = htp_of(tx);

    if (htp == NULL || htp->request_method == NULL)
        return false;
    *method = http_bstr(htp->request_method);
    *uri = http_bstr(htp->request_uri);
    return true;
}

bool http1_request_header(const struct app_tx *tx, unsigned index, struct slice *name,
                          struct slice *value)
{
    const htp_tx_t *htp = htp_of(tx);
    const htp_header_t *h;

    if (htp == NULL || htp->request_headers == NULL ||
        index >= htp_table_size(htp->request_headers))
        return false;
    h = htp_table_get_index(htp->request_headers, index, NULL);
    *name = http_bstr(h->name);
    *value = http_bstr(h->value);
    return true;
}

/* --- for lines of logs ------------------------------------------------------------------------ */

/* Slices borrow from libhtp: valid as long as the transaction. */
struct http1_exchange http1_exchange_of(const struct app_tx *tx)
{
    const htp_tx_t *htp = htp_of(tx);

    return (struct http1_exchange){
        .hostname = http_bstr(htp->request_hostname),
        .method = http_bstr(htp->request_method),
        .uri = http_bstr(htp->request_uri),
        .protocol = http_bstr(htp->request_protocol),
        .status = http_bstr(htp->response_status),
        .status_number = htp->response_status_number,
        .request_len = (uint64_t)htp->request_message_len,
        .response_len = (uint64_t)htp->response_message_len,
    };
}

struct slice http1_header(const struct app_tx *tx, enum direction d, const char *name)
{
    const htp_header_t *h = http_header(CONTAINER_OF(tx, const struct http_tx, tx), d, name);

    return http_bstr(h != NULL ? h->value : NULL);
}
