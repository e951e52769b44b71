/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/frame.c - frames other than DATA (RFC 9113, section 6). */
#include "app/proto/http2/frame.h"

#include "app/parser.h"
#include "app/proto/http2/body.h"
#include "app/proto/http2/events.h"
#include "app/proto/http2/state.h"
#include "app/proto/http2/tx.h"

#define SETTING_SIZE 6  /* number (2), value (4): RFC 9113 section 6.5.1 */

/* RFC 9113 section 4.1. The reserved bit is kept apart, because detection checks it. */
bool h2_frame_take(struct bytes *in, struct h2_frame *out)
{
    uint32_t stream;

    out->length = take_be24(in);
    out->type = take_u8(in);
    out->flags = take_u8(in);
    stream = take_be32(in);
    out->reserved = stream >> 31 != 0;
    out->stream = stream & 0x7fffffff;
    return !in->failed;
}

/* max-frames bounds the notes of one transaction: a stream may have endless frames. */
void h2_frame_count(struct h2_tx *t, enum direction d, uint8_t type)
{
    struct h2_dir *ds = &t->ds[d];

    ds->types[type / 64] |= UINT64_C(1) << type % 64;
    if (ds->frames < h2_settings_of(t->tx.flow)->max_frames)
        ds->frames++;
    else
        app_tx_event(&t->tx, H2_TOO_MANY_FRAMES);
}

/* Beyond max-frames nothing is noted. */
void h2_note_add(struct h2_tx *t, enum direction d, enum h2_note_kind kind, uint16_t setting,
                 uint32_t value)
{
    struct h2_dir *ds = &t->ds[d];
    struct h2_note *note;

    if (ds->frames >= h2_settings_of(t->tx.flow)->max_frames)
        return;
    note = arena_zalloc(&t->tx.arena, sizeof(*note));
    if (note == NULL)
        return;
    note->kind = (uint8_t)kind;
    note->setting = setting;
    note->value = value;
    if (ds->last_note != NULL)
        ds->last_note->next = note;
    else
        ds->first_note = note;
    ds->last_note = note;
}

/* Assigned numbers: RFC 9113 section 6.5.2, RFC 8441, RFC 9218. */
static bool is_setting(uint16_t id)
{
    return (id >= 1 && id <= 6) || id == 8 || id == 9;
}

/* Stops at the first unknown setting, as Suricata does. */
void h2_settings_parse(struct h2_tx *t, enum direction d, struct slice payload)
{
    struct bytes in = bytes_of_slice(payload);

    while (bytes_have(&in, SETTING_SIZE)) {
        uint16_t id = take_be16(&in);
        uint32_t value = take_be32(&in);

        if (!is_setting(id))
            return;
        h2_note_add(t, d, H2_NOTE_SETTING, id, value);
    }
}

/* --- header blocks ---------------------------------------------------------------------------- */

/* A header block that continues in CONTINUATION frames (RFC 9113 section 4.3) is collected: HPACK
 * needs it complete. At most max-reassembly-size bytes are kept. */
static void begin_block(struct app_flow *af, enum direction d, const struct h2_frame *f,
                        uint32_t owner, struct slice part)
{
    struct h2_block *b = &((struct h2_state *)af->state)->block[d];

    b->active = true;
    b->stream = f->stream;
    b->owner = owner;
    b->over = (f->flags & H2_FLAG_END_STREAM) != 0 && f->type == H2_HEADERS;
    buf_clear(&b->data);
    buf_add(&b->data, part.data, MIN(part.len, h2_settings_of(af)->max_reassembly));
}

static void add_to_block(struct app_flow *af, struct h2_block *b, struct h2_tx *t,
                         struct slice part)
{
    size_t space = h2_settings_of(af)->max_reassembly - b->data.len;

    if (part.len > space)
        app_tx_event(&t->tx, H2_REASSEMBLY_LIMIT_REACHED);
    buf_add(&b->data, part.data, MIN(part.len, space));
}

/* RFC 9113 section 6.1: the padding's length comes first, the padding last. */
static uint8_t take_padding(struct bytes *in, const struct h2_frame *f)
{
    return (f->flags & H2_FLAG_PADDED) != 0 ? take_u8(in) : 0;
}

/* False: more padding than payload, which a peer must treat as an error. */
static bool cut_padding(struct slice *fragment, uint8_t padding)
{
    if (padding > fragment->len)
        return false;
    fragment->len -= padding;
    return true;
}

/* RFC 9113 section 6.3: dependency (4), weight (1). */
static void take_priority(struct bytes *in, struct h2_tx *t, enum direction d)
{
    uint8_t weight;

    take_skip(in, 4);
    weight = take_u8(in);
    if (!in->failed)
        h2_note_add(t, d, H2_NOTE_PRIORITY, 0, weight);
}

/* RFC 9113 section 6.2. END_STREAM takes effect when the header block is complete. */
static void parse_headers(struct app_flow *af, enum direction d, const struct h2_frame *f,
                          struct h2_tx *t, struct bytes in)
{
    uint8_t padding = take_padding(&in, f);
    struct slice fragment;

    t->ds[d].has_headers = true;
    if ((f->flags & H2_FLAG_PRIORITY) != 0)
        take_priority(&in, t, d);
    fragment = take_rest(&in);
    if (in.failed || !cut_padding(&fragment, padding)) {
        app_tx_event(&t->tx, H2_INVALID_FRAME_DATA);
        return;
    }
    if ((f->flags & H2_FLAG_END_HEADERS) == 0) {
        begin_block(af, d, f, f->stream, fragment);
        return;
    }
    if (!h2_headers_inflate(af, d, t, fragment))
        app_tx_event(&t->tx, H2_EXTRA_HEADER_DATA);
    if ((f->flags & H2_FLAG_END_STREAM) != 0)
        h2_body_end(t, d);
}

/* A request that the server answers without a client's request (RFC 9113 section 8.4). The client
 * sends nothing on the promised stream. */
static void parse_promise(struct app_flow *af, enum direction d, const struct h2_frame *f,
                          struct h2_tx *t, struct slice fragment)
{
    t->ds[d].has_headers = true;
    if (d == TO_CLIENT)
        t->ds[TO_SERVER].finished = true;
    if ((f->flags & H2_FLAG_END_HEADERS) == 0)
        begin_block(af, d, f, t->stream, fragment);
    else
        (void)h2_headers_inflate(af, d, t, fragment);
}

/* RFC 9113 section 6.10. Without its HEADERS frame only a last one is inflated, because a midstream
 * pickup may have missed the beginning. */
static void parse_continuation(struct app_flow *af, enum direction d, const struct h2_frame *f,
                               struct h2_tx *t, struct slice payload)
{
    struct h2_block *b = &((struct h2_state *)af->state)->block[d];
    bool last = (f->flags & H2_FLAG_END_HEADERS) != 0;

    t->ds[d].has_headers = true;
    if (!b->active || b->stream != f->stream) {
        if (last)
            (void)h2_headers_inflate(af, d, t, payload);
        return;
    }
    add_to_block(af, b, t, payload);
    if (!last)
        return;
    b->active = false;
    (void)h2_headers_inflate(af, d, t, buf_slice(&b->data));
    buf_clear(&b->data);
    if (b->over)
        h2_body_end(t, d);
}

/* --- the others ------------------------------------------------------------------------------- */

/* False: a frame with another size than the standard fixes. */
static bool has_size(struct h2_tx *t, struct slice payload, uint32_t size)
{
    if (payload.len == size)
        return true;
    app_tx_event(&t->tx, H2_INVALID_FRAME_LENGTH);
    return false;
}

static void parse_number(struct h2_tx *t, enum direction d, enum h2_note_kind kind,
                         struct slice payload, uint32_t mask)
{
    if (has_size(t, payload, 4))
        h2_note_add(t, d, kind, 0, get_be32(payload.data) & mask);
}

/* RFC 9113 section 6.8: last stream, error code, then debug data that are ignored. */
static void parse_goaway(struct h2_tx *t, enum direction d, struct bytes in)
{
    uint32_t code;

    take_skip(&in, 4);
    code = take_be32(&in);
    if (in.failed)
        app_tx_event(&t->tx, H2_INVALID_FRAME_LENGTH);
    else
        h2_note_add(t, d, H2_NOTE_GOAWAY, 0, code);
}

static void parse_payload(struct app_flow *af, enum direction d, const struct h2_frame *f,
                          struct h2_tx *t, struct slice payload)
{
    struct bytes in = bytes_of_slice(payload);

    switch (f->type) {
    case H2_HEADERS:
        parse_headers(af, d, f, t, in);
        break;
    case H2_PRIORITY:
        if (has_size(t, payload, 5))
            take_priority(&in, t, d);
        break;
    case H2_RST_STREAM:
        parse_number(t, d, H2_NOTE_RESET, payload, UINT32_MAX);
        break;
    case H2_SETTINGS:
        h2_settings_parse(t, d, payload);
        break;
    case H2_GOAWAY:
        parse_goaway(t, d, in);
        break;
    case H2_WINDOW_UPDATE:
        parse_number(t, d, H2_NOTE_WINDOW, payload, 0x7fffffff);
        break;
    case H2_CONTINUATION:
        parse_continuation(af, d, f, t, payload);
        break;
    default:
        break;                          /* PING and unknown types are ignored */
    }
}

/* The promised stream's number, and its headers. False: truncated. */
static bool take_promise(const struct h2_frame *f, struct slice payload, uint32_t *stream,
                         struct slice *fragment)
{
    struct bytes in = bytes_of_slice(payload);
    uint8_t padding = take_padding(&in, f);

    *stream = take_be32(&in) & 0x7fffffff;
    *fragment = take_rest(&in);
    return !in.failed && cut_padding(fragment, padding);
}

/* A continued PUSH_PROMISE belongs to the promised stream. */
static uint32_t stream_of(struct app_flow *af, enum direction d, const struct h2_frame *f)
{
    const struct h2_block *b = &((struct h2_state *)af->state)->block[d];

    if (f->type == H2_CONTINUATION && b->active && b->stream == f->stream)
        return b->owner;
    return f->stream;
}

/* False stops the parser: no transaction could be created. */
bool h2_frame_parse(struct app_flow *af, enum direction d, const struct h2_frame *f,
                    struct slice payload, uint64_t *tx_id)
{
    uint32_t stream = stream_of(af, d, f);
    struct slice fragment = { 0 };
    bool promise = f->type == H2_PUSH_PROMISE, broken;
    struct h2_tx *t;

    broken = promise && !take_promise(f, payload, &stream, &fragment);
    if (broken)
        stream = f->stream;
    t = h2_tx_for(af, stream, f->type);
    if (t == NULL)
        return false;
    *tx_id = t->tx.id;
    if (broken)
        app_tx_event(&t->tx, H2_INVALID_FRAME_DATA);
    else if (promise)
        parse_promise(af, d, f, t, fragment);
    else
        parse_payload(af, d, f, t, payload);
    h2_frame_count(t, d, f->type);
    if (t->stream == 0)
        h2_tx_global(t, d);
    return true;
}
