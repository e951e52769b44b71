/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/framing.c - requests whose length servers read in different ways.
 *
 * libhtp gives up where the length of a request is ambiguous. A server may still accept it, and
 * then what follows is a request that the engine has not inspected (RFC 9112, 11.2). So each such
 * length gets the reading that request smuggling relies on, in addition to its event: "chunked"
 * counts in any position, a Content-Length above 2^63 is ignored, and of a chunk's length the
 * lowest 64 bits count. */
#include "app/proto/http1/body.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"
#include "base/text/text.h"

#include <stdio.h>
#include <string.h>

#define HEAD_MAX (64u << 10)            /* of a request that is read again */
#define REFRAMES_MAX 16                 /* in a flow */

/* True for digits alone, after white space, that exceed 63 bits. */
static bool is_too_long(struct slice value)
{
    uint32_t i = 0;

    while (i < value.len && value.data[i] >= '0' && value.data[i] <= '9')
        i++;
    return i == value.len && i > 0;
}

/* The last coding is "chunked": then it says where the body ends (RFC 9112 section 6.3), whatever
 * codings come before it. Empty elements of a list mean nothing (RFC 9110 section 5.6.1). */
static bool ends_chunked(struct slice codings)
{
    struct slice last = { 0 };
    uint32_t from = 0;

    for (uint32_t i = 0; i <= codings.len; i++) {
        struct slice coding;

        if (i < codings.len && codings.data[i] != ',')
            continue;
        coding = http_trimmed((struct slice){ .data = codings.data + from, .len = i - from });
        if (coding.len > 0)
            last = coding;
        from = i + 1;
    }
    return last.len == strlen("chunked") && http_slice_has(last, "chunked");
}

void http_framing_correct(htp_tx_t *htp)
{
    const htp_header_t *te = htp_table_get_c(htp->request_headers, "transfer-encoding");
    const htp_header_t *cl = htp_table_get_c(htp->request_headers, "content-length");
    struct slice length = cl != NULL ? http_trimmed(http_bstr(cl->value)) : http_bstr(NULL);
    uint64_t n;

    if (LIKELY(htp->request_transfer_coding != HTP_CODING_INVALID))
        return;
    if (te == NULL && !is_too_long(length))
        return;
    if (te != NULL && http_slice_has(http_bstr(te->value), "chunked")) {
        htp->request_transfer_coding = HTP_CODING_CHUNKED;
        if (htp->request_protocol_number >= HTP_PROTOCOL_1_1 &&
            ends_chunked(http_bstr(te->value)))
            htp->flags &= ~(uint64_t)HTP_REQUEST_INVALID_T_E;
    } else if (te != NULL && text_to_u64(((struct text){ (const char *)length.data, length.len }),
                                         INT64_MAX, &n)) {
        htp->request_content_length = (int64_t)n;
        htp->request_transfer_coding = HTP_CODING_IDENTITY;
    } else {
        htp->request_transfer_coding = HTP_CODING_NO_BODY;
    }
    htp->flags &= ~(uint64_t)HTP_REQUEST_INVALID;
}

/* --- a chunk that is too long ----------------------------------------------------------------- */

/* Writes the line and the fields of a request, so that a fresh parser reaches its body. */
static bool head_of(const htp_tx_t *htp, struct buf *out)
{
    struct slice line = http_bstr(htp->request_line);

    buf_add(out, line.data, line.len);
    buf_add(out, "\r\n", 2);
    for (size_t i = 0; i < htp_table_size(htp->request_headers) && out->len <= HEAD_MAX; i++) {
        const htp_header_t *h = htp_table_get_index(htp->request_headers, i, NULL);
        struct slice name = http_bstr(h->name), value = http_bstr(h->value);

        buf_add(out, name.data, name.len);
        buf_add(out, ": ", 2);
        buf_add(out, value.data, value.len);
        buf_add(out, "\r\n", 2);
    }
    buf_add(out, "\r\n", 2);
    return line.len > 0 && out->len <= HEAD_MAX;
}

/* Returns the current request if libhtp has no other, because a fresh parser knows only one. */
static struct http_tx *sole_request(const struct http_state *state)
{
    struct app_tx *tx = state->af->first;

    if (tx == NULL || tx != state->af->last || state->orphan[0] != NULL ||
        tx->progress[TO_SERVER] != HTTP_BODY || tx->progress[TO_CLIENT] != HTTP_STARTED)
        return NULL;
    app_tx_mark(tx);
    return http_tx_of(tx);
}

static bool start_again(struct http_state *state, struct http_tx *htx, const struct buf *head,
                        htp_time_t now)
{
    struct buf raw = htx->message[TO_SERVER].raw_headers;

    htx->message[TO_SERVER].raw_headers = (struct buf){ 0 };
    htx->htp = NULL;
    http_parser_close(state);
    if (!http_parser_open(state))
        return false;
    state->replaying = true;
    (void)htp_connp_req_data(state->connp, &now, head->data, head->len);
    state->replaying = false;
    http_buf_release(state->af, &htx->message[TO_SERVER].raw_headers);
    htx->message[TO_SERVER].raw_headers = raw;
    htx->htp = htp_list_array_get(htp_connp_get_connection(state->connp)->transactions, 0);
    if (htx->htp == NULL)
        return false;
    state->transactions = 1;
    htp_tx_set_user_data(htx->htp, htx);
    return true;
}

bool http_reframe(struct http_state *state, uint64_t now_us)
{
    const htp_time_t now = { .tv_sec = (time_t)(now_us / 1000000),
                             .tv_usec = (suseconds_t)(now_us % 1000000) };
    struct http_tx *htx = sole_request(state);
    struct buf head = { 0 };
    char length[24];
    int64_t left;
    bool done;

    if (htx == NULL || state->reframes >= REFRAMES_MAX)
        return false;
    left = http_chunks_wide(htx);
    if (left < 0)
        return false;
    state->reframes++;
    done = head_of(htx->htp, &head);
    snprintf(length, sizeof(length), "%llx\r\n", (unsigned long long)left);
    if (done) {
        buf_add(&head, length, strlen(length));
        done = start_again(state, htx, &head, now);
    }
    buf_fini(&head);
    return done;
}
