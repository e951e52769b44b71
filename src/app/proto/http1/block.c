/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/block.c - the header of a response, or its trailer, while it arrives.
 *
 * Its lines are collected, and events about them are held back until it is complete, because
 * fields.c may have to read it again. Most headers come in one part, which is only pointed at. */
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"
#include "base/memory/lib_memory.h"

/* Events that are held back, as bits of http_state.pending_events in this order. */
static const uint8_t pending[] = {
    HTTP_EVENT_RESPONSE_FIELD_MISSING_COLON, HTTP_EVENT_RESPONSE_INVALID_EMPTY_NAME,
    HTTP_EVENT_RESPONSE_INVALID_LWS_AFTER_NAME, HTTP_EVENT_RESPONSE_HEADER_NAME_NOT_TOKEN,
    HTTP_EVENT_INVALID_RESPONSE_FIELD_FOLDING, HTTP_EVENT_DEFORMED_EOL,
    HTTP_EVENT_RESPONSE_ABNORMAL_TRANSFER_ENCODING,
};
/* The last one is about a value; the others are about lines. */
#define PENDING_CODING (1u << (ARRAY_LEN(pending) - 1))

/* True: the event waits for the end of the header. */
bool http_block_hold(struct http_state *state, enum http_event event)
{
    for (size_t i = 0; i < ARRAY_LEN(pending); i++) {
        if (pending[i] != event)
            continue;
        state->pending_events |= (uint16_t)(1u << i);
        return true;
    }
    return false;
}

/* --- its lines -------------------------------------------------------------------------------- */

/* An empty line ends a header; servers also send bare line feeds. */
static bool ends(struct slice s)
{
    return s.len >= 2 && s.data[s.len - 1] == '\n' &&
           (s.data[s.len - 2] == '\n' || (s.len >= 3 && s.data[s.len - 3] == '\n'));
}

static void free_parts(struct http_state *state)
{
    if (state->block == NULL)
        return;
    http_buf_release(state->af, state->block);
    lib_free(state->block);
    state->block = NULL;
}

/* Collects a part. An earlier block that is complete was that of a 100 Continue: it is dropped. */
void http_block_add(struct http_state *state, struct slice part)
{
    if (state->block != NULL && ends(buf_slice(state->block)))
        free_parts(state);
    if (state->block == NULL && state->thread != NULL && ends(part)) {
        state->thread->block = part;
        return;
    }
    if (state->block == NULL) {
        state->block = lib_calloc(1, sizeof(*state->block));
        if (state->block == NULL)
            return;
        *state->block = http_buf_take(state->af);
    }
    buf_add(state->block, part.data, part.len);
}

void http_block_clear(struct http_state *state)
{
    free_parts(state);
    if (state->thread != NULL)
        state->thread->block = (struct slice){ 0 };
    state->pending_events = 0;
}

static void raise_pending(struct http_tx *htx, unsigned which)
{
    for (size_t i = 0; i < ARRAY_LEN(pending); i++)
        if ((which & 1u << i) != 0)
            app_tx_event(&htx->tx, pending[i]);
}

static bool is_chunked(const struct http_tx *htx)
{
    const htp_header_t *h = http_header(htx, TO_CLIENT, "transfer-encoding");

    return h != NULL && bstr_cmp_c_nocase(h->value, "chunked") == 0;
}

/* Reads the header again if libhtp reported an error or a line is unusual; otherwise raises the
 * pending events. A server that closes within its header raises nothing. */
static void complete(struct http_state *state, struct http_tx *htx, struct slice block,
                     bool trailer)
{
    unsigned lines = state->pending_events & ~PENDING_CODING,
             coding = state->pending_events & PENDING_CODING;

    if (block.len > 0 &&
        (lines != 0 || !(state->head_is_plain || http_fields_are_plain(block)))) {
        http_fields_read_again(htx, block, trailer, state->closing);
        http_keep_no_more(state);       /* libhtp alone would read it differently */
    } else if (!state->closing) {
        raise_pending(htx, lines);
    }
    if (coding != 0 && !is_chunked(htx))
        raise_pending(htx, coding);
}

/* The header ends. htx: NULL for an orphan, whose block is only dropped. */
void http_block_done(struct http_state *state, struct http_tx *htx, bool trailer)
{
    struct slice block = { 0 };

    if (state->block != NULL)
        block = buf_slice(state->block);
    else if (state->thread != NULL)
        block = state->thread->block;
    if (htx != NULL)
        complete(state, htx, block, trailer);
    http_block_clear(state);
}
