/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/body.c - bodies, from libhtp to inspection windows and files.
 *
 * libhtp has removed chunk lengths; decoder.c removes codings. The window serves http.request_body
 * and the bodies that alerts show. A response's body and an upload are also files, which file.data
 * inspects. Both end at the body limit, unless a rule stores the file. */
#include "app/proto/http1/body.h"

#include "app/core/decoder_memory.h"
#include "app/core/ranges.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http1/settings.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"
#include "base/memory/traffic_memory.h"

#include <string.h>
#include <strings.h>

#define FILE_NAME_MAX 4096      /* as Suricata cuts file names */
#define RANGE_CHUNK (1u << 30)  /* app_file_append() takes 32 bits */

static const struct http_state *state_of(const struct http_tx *htx)
{
    return htx->tx.flow->state;
}

static const struct file_window *window_of(const struct http_tx *htx, enum direction d)
{
    return &state_of(htx)->config->body[d];
}

/* IPS mode cannot wait for min_inspect bytes: a packet that passed cannot be dropped later. */
static bool is_inline(const struct http_tx *htx)
{
    enum http_inline how = state_of(htx)->config->body_inline;

    return how == BODY_INLINE_YES || (how == BODY_INLINE_AUTO && app_is_inline(htx->tx.flow));
}

bool http_slice_has(struct slice s, const char *word)
{
    size_t n = strlen(word);

    for (size_t i = 0; i + n <= s.len; i++)
        if (strncasecmp((const char *)s.data + i, word, n) == 0)
            return true;
    return false;
}

struct http_content *http_content_make(struct http_tx *htx, enum direction d)
{
    struct http_message *m = &htx->message[d];

    if (m->content == NULL)
        m->content = arena_zalloc(&htx->tx.arena, sizeof(*m->content));
    return m->content;
}

/* --- window ----------------------------------------------------------------------------------- */

/* `edge`: offset in the body. */
static void drop_before(struct http_body *body, uint64_t edge)
{
    if (edge <= body->start)
        return;
    buf_drop_front(&body->data, (size_t)MIN(edge - body->start, body->data.len));
    body->start = edge;
}

/* Drops what no later inspection looks back at. If rules never inspect the body, it keeps at most
 * three windows. */
static void prune(struct http_body *body, const struct file_window *w)
{
    uint64_t widest = MAX(w->min_inspect, w->window);

    if (body->size - body->inspected > 3 * widest)
        body->inspected = body->size - widest;
    else if (body->inspected < widest)
        return;
    if (body->inspected > w->min_inspect && body->inspected > w->window)
        drop_before(body, body->inspected - w->window);
}

/* Content of a decompressor counts, with the space of its buffer. */
static bool is_unpacked(const struct http_tx *htx, enum direction d)
{
    return htx->message[d].codings > 0;
}

static void window_free(struct http_tx *htx, struct http_body *body)
{
    window_drop(&body->packed);
    http_buf_release(htx->tx.flow, &body->data);
    unpacked_memory_set(htx->tx.flow, &body->held, 0);
}

/* No consumer needs the window, or there is no memory. */
static void window_skip(struct http_tx *htx, struct http_body *body, size_t len)
{
    window_free(htx, body);
    body->size += len;
    body->start = body->inspected = body->given = body->size;
}

static void window_open(struct http_tx *htx, struct http_body *body)
{
    if (LIKELY(!window_is_packed(&body->packed)))
        return;
    if (!window_unpack(&body->packed, &body->data))
        window_skip(htx, body, 0);
    (void)unpacked_memory_set(htx->tx.flow, &body->held, body->data.cap);
}

struct slice http_body_retained(struct http_tx *htx, enum direction d)
{
    if (htx->message[d].content == NULL)
        return (struct slice){ 0 };
    window_open(htx, &htx->message[d].content->body);
    return buf_slice(&htx->message[d].content->body.data);
}

static void window_add(struct http_tx *htx, enum direction d, const uint8_t *data, size_t len)
{
    struct http_body *body = &htx->message[d].content->body;
    uint32_t feature = d == TO_SERVER ? HTTP1_KEEP_REQUEST_BODY : HTTP1_KEEP_RESPONSE_BODY;

    body->inspected = MAX(body->inspected, body->given);
    window_open(htx, body);
    if (!app_feature(htx->tx.flow, feature) ||
        UNLIKELY(traffic_memory_gives_back(PRESSURE_BODIES))) {
        window_skip(htx, body, len);
        return;
    }
    if (body->data.data == NULL)
        body->data = http_buf_take(htx->tx.flow);
    prune(body, window_of(htx, d));
    if (buf_add(&body->data, data, len) &&
        (!is_unpacked(htx, d) || unpacked_memory_set(htx->tx.flow, &body->held, body->data.cap)))
        body->size += len;
    else
        window_skip(htx, body, len);
}

/* Where memory of decompressed content is scarce, what rules have seen goes at once. */
void http_body_rest(struct http_tx *htx, enum direction d)
{
    struct http_body *body = &htx->message[d].content->body;
    uint64_t window = window_of(htx, d)->window;

    if (htx->message[d].content->decoder != NULL)
        http_decoder_rest(htx->message[d].content->decoder);
    if (body->data.len == 0)
        return;
    if (body->given > body->start + window && unpacked_memory_is_scarce(htx->tx.flow)) {
        body->inspected = MAX(body->inspected, body->given);
        drop_before(body, body->given - window);
        buf_shrink(&body->data);
        unpacked_memory_set(htx->tx.flow, &body->held, body->data.cap);
    }
    if (unpacked_memory_is_much(htx->tx.flow) && window_pack(&body->packed, &body->data))
        unpacked_memory_set(htx->tx.flow, &body->held, body->packed.size);
}

/* With the first inspection of the body, rules on the raw stream run as well. */
static void note_inspected(struct http_tx *htx, enum direction d)
{
    const struct http_body *body = &htx->message[d].content->body;

    if ((body->inspected == 0 || body->data.len == 0) &&
        body->size >= window_of(htx, d)->min_inspect)
        app_trigger_raw_inspection(htx->tx.flow, d);
}

/* The part of the body that rules inspect now: new bytes, and before them enough old ones that a
 * pattern can span the boundary. False: nothing new, or less than min_inspect of a body that goes
 * on. `given` is what this inspection covers. */
bool http_body_inspect(struct http_tx *htx, enum direction d, struct slice *out,
                       uint64_t *position)
{
    const struct file_window *w = window_of(htx, d);
    uint64_t from = 0, fresh;
    struct http_body *body;
    bool complete;

    if (htx->message[d].content == NULL)
        return false;
    body = &htx->message[d].content->body;
    fresh = body->size - body->inspected;
    complete = htx->tx.progress[d] > HTTP_BODY || htx->tx.flow->end[d] ||
               (w->limit != 0 && body->size >= w->limit);
    if (fresh == 0 || (body->data.len == 0 && !window_is_packed(&body->packed)))
        return false;
    if (!complete && !is_inline(htx) &&
        (body->size < w->min_inspect ||
         file_window_waits(w, body->again, body->size,
                           body->size - MAX(body->inspected, body->given))))
        return false;
    window_open(htx, body);
    if (body->data.len == 0)
        return false;
    if (body->inspected > w->min_inspect) {
        uint64_t back = fresh < w->window ? w->window - fresh : w->window / 4;

        from = body->inspected > back ? body->inspected - back : 0;
    }
    from = MAX(from, body->start);
    *out = (struct slice){ .data = body->data.data + (from - body->start),
                           .len = (uint32_t)(body->size - from) };
    *position = from;
    if (body->given != body->size)
        body->again += body->inspected - MIN(from, body->inspected);
    if (complete || !is_inline(htx) || body->size >= w->min_inspect)
        body->given = body->size;
    return out->len > 0;
}

/* --- files ------------------------------------------------------------------------------------ */

static struct slice named(struct http_tx *htx, struct slice name)
{
    if (name.len > FILE_NAME_MAX) {
        app_tx_event(&htx->tx, HTTP_EVENT_FILE_NAME_TOO_LONG);
        name.len = FILE_NAME_MAX;
    }
    return name;
}

void http_file_open(struct http_tx *htx, enum direction d, struct slice name)
{
    struct file_window w = *window_of(htx, d);

    if (is_inline(htx))
        w.min_inspect = 0;
    htx->message[d].content->file = app_file_open(&htx->tx, d, named(htx, name), &w);
    if (htx->message[d].content->file != NULL)
        htx->message[d].content->file->unpacked = is_unpacked(htx, d);
}

static struct slice uri_path(const struct http_tx *htx)
{
    const htp_uri_t *uri = htx->htp->parsed_uri;

    return uri != NULL ? http_bstr(uri->path) : http_bstr(NULL);
}

/* Ranges of one file share host and name: together the key that joins them across flows. */
static void open_range(struct http_tx *htx)
{
    struct http_content *c = htx->message[TO_CLIENT].content;
    struct slice host = http_bstr(htx->htp->request_hostname), name = c->file->name;
    struct slice key = { .data = NULL, .len = host.len + name.len };
    uint8_t *to = arena_alloc(&htx->tx.arena, key.len);

    if (host.len == 0 || to == NULL)
        return;
    memcpy(to, host.data, host.len);
    if (name.len > 0)
        memcpy(to + host.len, name.data, name.len);
    key.data = to;
    c->range = app_range_open(htx->tx.flow, key, c->file->start, c->file->end, c->file->total);
}

/* The last range came in: the complete file is a further file of this transaction. */
static void finish_range(struct http_tx *htx, enum direction d)
{
    struct http_content *c = htx->message[d].content;
    struct slice name = c->file != NULL ? c->file->name : (struct slice){ 0 };
    struct buf complete;
    struct app_file *file;

    if (app_range_close(c->range, &complete)) {
        file = app_file_open(&htx->tx, d, name, window_of(htx, d));
        for (size_t at = 0; at < complete.len; at += RANGE_CHUNK)
            app_file_append(file, complete.data + at,
                            (uint32_t)MIN(complete.len - at, RANGE_CHUNK));
        app_file_close(file, FILE_CLOSED);
        buf_fini(&complete);
    }
    c->range = NULL;
}

/* Content-Range, RFC 9110 section 14.4. */
static void set_range(struct http_tx *htx, const htp_header_t *h)
{
    struct app_file *file = htx->message[TO_CLIENT].content->file;
    struct http_range r;

    if (!http_range_parse(http_bstr(h->value), &r)) {
        app_tx_event(&htx->tx, HTTP_EVENT_RANGE_INVALID);
        return;
    }
    if (!http_range_is_part(&r))
        return;                         /* the complete file, or an unknown size */
    if (r.start > r.end || r.end > r.size - 1) {
        app_tx_event(&htx->tx, HTTP_EVENT_RANGE_INVALID);
        return;
    }
    if (file == NULL)
        return;
    file->is_range = true;
    file->start = (uint64_t)r.start;
    file->end = (uint64_t)r.end;
    file->total = (uint64_t)r.size;
    open_range(htx);
}

/* The file's name: Content-Disposition (RFC 6266), else the path of the URI. */
static void open_response_file(struct http_tx *htx)
{
    const htp_header_t *disposition = http_header(htx, TO_CLIENT, "content-disposition");
    const htp_header_t *range = http_header(htx, TO_CLIENT, "content-range");
    struct slice name = { 0 };
    struct app_file *file;

    if (disposition == NULL ||
        !http_disposition_name(http_bstr(disposition->value), &name))
        name = uri_path(htx);
    if (name.data == NULL)
        return;
    http_file_open(htx, TO_CLIENT, name);
    file = htx->message[TO_CLIENT].content->file;
    if (file != NULL && htx->htp->response_content_length > 0)
        file->announced = (uint32_t)MIN(htx->htp->response_content_length, (int64_t)UINT32_MAX);
    if (range != NULL)
        set_range(htx, range);
}

/* An upload is a file; a form of several parts is split by multipart.c. */
static void begin_request(struct http_tx *htx)
{
    struct http_content *c = htx->message[TO_SERVER].content;
    const htp_header_t *type = http_header(htx, TO_SERVER, "content-type");
    enum htp_method_t method = htx->htp->request_method_number;

    if (method == HTP_M_POST && type != NULL)
        c->multipart = http_multipart_new(http_bstr(type->value));
    if (c->multipart == NULL && (method == HTP_M_POST || method == HTP_M_PUT) &&
        uri_path(htx).data != NULL)
        http_file_open(htx, TO_SERVER, uri_path(htx));
}

/* The first byte of content, decoded: what unpacks to nothing is no file, as in Suricata. */
static void begin_content(struct http_tx *htx, enum direction d)
{
    htx->message[d].content->has_content = true;
    if (d == TO_SERVER)
        begin_request(htx);
    else
        open_response_file(htx);
}

/* NULL: no memory. */
static struct http_content *begin(struct http_tx *htx, enum direction d)
{
    struct http_content *c = http_content_make(htx, d);

    if (c == NULL)
        return NULL;
    c->started = true;
    c->decoder = http_decoder_new(htx, d);
    if (c->decoder == NULL)
        begin_content(htx, d);
    return c;
}

/* --- data ------------------------------------------------------------------------------------- */

/* A rule stores the complete file. The configuration to store all files does not lift the limit. */
static bool is_to_be_stored(const struct http_tx *htx, enum direction d)
{
    const struct app_file *file = htx->message[d].content->file;

    return htx->tx.store_files[d] || (file != NULL && file->rule_stores);
}

/* Bytes of this part within the body limit. */
static size_t within_limit(const struct http_tx *htx, enum direction d, size_t len)
{
    const struct http_body *body = &htx->message[d].content->body;
    uint64_t limit = window_of(htx, d)->limit, size = body->size;

    if (limit == 0 || is_to_be_stored(htx, d))
        return len;
    if (size >= limit)
        return 0;
    return (size_t)MIN(len, limit - size);
}

bool http_body_is_full(const struct http_tx *htx, enum direction d)
{
    return within_limit(htx, d, 1) == 0;
}

/* The limit ends the file as truncated, and a range as it is. */
static void over_limit(struct http_tx *htx, enum direction d)
{
    struct http_content *c = htx->message[d].content;

    finish_range(htx, d);
    app_file_close(c->file, FILE_TRUNCATED);
    c->file = NULL;
}

/* Decompressed content that found no memory is an event, once per transaction. */
static void note_refused(struct http_tx *htx, enum direction d)
{
    const struct app_file *file = htx->message[d].content->file;

    if (UNLIKELY(file != NULL && file->unpacked && file->has_gaps) &&
        !app_tx_has_event(&htx->tx, HTTP_EVENT_DECOMPRESSION_MEMCAP_REACHED))
        app_tx_event(&htx->tx, HTTP_EVENT_DECOMPRESSION_MEMCAP_REACHED);
}

void http_body_store(struct http_tx *htx, enum direction d, const uint8_t *data, size_t len)
{
    struct http_content *c = htx->message[d].content;
    size_t take;

    if (!c->has_content)
        begin_content(htx, d);
    take = within_limit(htx, d, len);
    if (take == 0) {
        over_limit(htx, d);
        return;
    }
    window_add(htx, d, data, take);
    note_inspected(htx, d);
    if (c->multipart != NULL)
        http_multipart_data(c->multipart, htx, data, take);
    else
        app_file_append(c->file, data, (uint32_t)take);
    note_refused(htx, d);
    app_range_add(c->range, data, take);
}

/* The window continues as if nothing were missing. Up to the limit the file records the gap. */
static void gap(struct http_tx *htx, enum direction d, size_t len)
{
    size_t take = within_limit(htx, d, len);

    if (take == 0)
        over_limit(htx, d);
    else
        app_file_gap(htx->message[d].content->file, take);
}

/* A decoder that has ended is freed before the body ends, which may never come. What comes after it
 * only counts. */
static void unpack(struct http_tx *htx, enum direction d, const uint8_t *data, size_t len)
{
    struct http_content *c = htx->message[d].content;
    struct http_state *state = htx->tx.flow->state;

    if (c->is_over) {
        state->packed[d] += len;
        return;
    }
    state->unpacking[d] = htx;
    http_decoder_data(c->decoder, data, len);
    if (!http_decoder_is_over(c->decoder))
        return;
    http_decoder_free(c->decoder);
    c->decoder = NULL;
    c->is_over = true;
}

/* `data` NULL: a gap. A decoder cannot continue after it, and a joined range would be wrong. */
void http_body_data(struct http_tx *htx, enum direction d, const uint8_t *data, size_t len)
{
    struct http_content *c = htx->message[d].content;

    if (c == NULL || !c->started)
        c = begin(htx, d);
    if (c == NULL)
        return;
    if (data == NULL) {
        app_range_drop(c->range);
        c->range = NULL;
    }
    if (data == NULL && (c->decoder != NULL || c->is_over)) {
        if (c->decoder != NULL)
            http_decoder_end(c->decoder);
        app_file_close(c->file, FILE_TRUNCATED);
        c->file = NULL;
        return;
    }
    if (data == NULL) {
        gap(htx, d, len);
        return;
    }
    if (c->decoder != NULL || c->is_over)
        unpack(htx, d, data, len);
    else
        http_body_store(htx, d, data, len);
}

/* What the connection's end cuts off within its Content-Length is CLOSED, as in Suricata. */
void http_body_end(struct http_tx *htx, enum direction d)
{
    struct http_content *c = htx->message[d].content;

    if (c == NULL)
        return;
    if (c->decoder != NULL)
        http_decoder_end(c->decoder);
    finish_range(htx, d);
    app_file_close(c->file, FILE_CLOSED);
    c->file = NULL;
    http_multipart_free(c->multipart);
    c->multipart = NULL;
    http_decoder_free(c->decoder);
    c->decoder = NULL;
}

/* The body ends with its transaction; the arena holds the struct itself. */
void http_body_free(struct http_tx *htx, enum direction d)
{
    struct http_content *c = htx->message[d].content;
    struct http_state *state = htx->tx.flow->state;

    if (c == NULL)
        return;
    if (state->unpacking[d] == htx)
        state->unpacking[d] = NULL;
    http_multipart_free(c->multipart);
    http_decoder_free(c->decoder);
    app_range_drop(c->range);
    c->multipart = NULL;
    c->decoder = NULL;
    c->range = NULL;
    window_free(htx, &c->body);
}
