/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/headers.c - header blocks (HPACK, RFC 7541) into lists of headers.
 *
 * libnghttp2 inflates them. It reports neither changes of the table's size nor how a block is
 * malformed, so that scan() walks each block before. A table size up to our own limit is allowed at
 * any time, because the SETTINGS that allowed it may not have been seen. A malformed block loses
 * the table: later blocks that refer to it are found malformed, too. */
#include "app/parser.h"
#include "app/proto/http2/body.h"
#include "app/proto/http2/events.h"
#include "app/proto/http2/state.h"
#include "app/proto/http2/tx.h"

#include <string.h>
#include <strings.h>

#include "base/memory/lib_memory.h"

/* Per transaction and direction. */    /* per transaction and direction */
#define HEADERS_MAX 4096

/* --- inflaters -------------------------------------------------------------------------------- */

/* libnghttp2's memory comes from the engine's allocator. */
static void *realloc_for(void *block, size_t size, void *unused UNUSED)
{
    return lib_realloc(block, size);
}

static void *malloc_for(size_t size, void *unused UNUSED)
{
    return lib_malloc(size);
}

static void *calloc_for(size_t n, size_t size, void *unused UNUSED)
{
    return lib_calloc(n, size);
}

static void free_for(void *block, void *unused UNUSED)
{
    lib_free(block);
}

static const nghttp2_mem memory = { NULL, malloc_for, free_for, calloc_for, realloc_for };

/* The decoder of one direction: each side has its own dynamic table. */
static bool open_one(struct app_flow *af, enum direction d)
{
    struct h2_state *st = af->state;

    if (nghttp2_hd_inflate_new2(&st->inflater[d], (nghttp2_mem *)(uintptr_t)&memory) != 0) {
        st->inflater[d] = NULL;
        return false;
    }
    return nghttp2_hd_inflate_change_table_size(st->inflater[d],
                                                h2_settings_of(af)->max_table_size) == 0;
}

bool h2_inflaters_open(struct app_flow *af)
{
    return open_one(af, TO_SERVER) && open_one(af, TO_CLIENT);
}

void h2_inflaters_close(struct h2_state *st)
{
    for (unsigned d = 0; d < 2; d++) {
        if (st->inflater[d] != NULL)
            nghttp2_hd_inflate_del(st->inflater[d]);
        st->inflater[d] = NULL;
    }
}

/* After an error. */
void h2_inflater_renew(struct app_flow *af, enum direction d)
{
    struct h2_state *st = af->state;

    nghttp2_hd_inflate_del(st->inflater[d]);
    open_one(af, d);
}

/* --- lists ------------------------------------------------------------------------------------ */

/* Doubles the list. Arena memory is not returned: all lists together take twice the last one. */
static bool grow(struct h2_tx *t, struct h2_dir *ds)
{
    unsigned space = ds->header_space > 0 ? 2 * ds->header_space : 16;
    struct h2_header *bigger;

    if (ds->header_count < ds->header_space)
        return true;
    bigger = arena_alloc(&t->tx.arena, space * sizeof(*bigger));
    if (bigger == NULL)
        return false;
    if (ds->header_count > 0)
        memcpy(bigger, ds->header, ds->header_count * sizeof(*bigger));
    ds->header = bigger;
    ds->header_space = space;
    return true;
}

static bool keep(struct h2_tx *t, struct slice *s)
{
    if (s->len == 0) {
        s->data = (const uint8_t *)"";
        return true;
    }
    s->data = arena_copy(&t->tx.arena, s->data, s->len);
    return s->data != NULL;
}

static void event_once(struct h2_tx *t, unsigned event)
{
    if (!app_tx_has_event(&t->tx, event))
        app_tx_event(&t->tx, event);
}

/* True: `size` bytes are within the credit, and are spent. See H2_HEADER_CREDIT. */
bool h2_header_is_paid(uint64_t credit, uint64_t *spent, size_t size)
{
    if (*spent > credit || size > credit - *spent)
        return false;
    *spent += size;
    return true;
}

/* Long headers are paid for with bytes of the connection, because a single byte can name one from
 * the table. Short ones cost little more than what names them. */
static void pay(struct h2_tx *t, struct h2_header *h)
{
    const struct h2_settings *s = h2_settings_of(t->tx.flow);
    struct h2_state *st = t->tx.flow->state;

    if (h->name.len <= H2_HEADER_CUT && h->value.len <= H2_HEADER_CUT)
        return;
    if (h2_header_is_paid(H2_HEADER_CREDIT + s->header_expansion * st->bytes, &st->headers_kept,
                          (size_t)h->name.len + h->value.len))
        return;
    h->name.len = MIN(h->name.len, H2_HEADER_CUT);
    h->value.len = MIN(h->value.len, H2_HEADER_CUT);
    h->cut = true;
    event_once(t, H2_HEADERS_CUT);
}

/* Header blocks of a message: RFC 9113 section 8.1 has one, informational ones before it and one of
 * trailers. Rules look at all headers again after each. */
#define HEADER_BLOCKS_MAX 64

/* A size update has one byte, a header without name and value three, and each takes a struct in a
 * list that doubles. So a message with many headers pays for them with bytes of the connection. */
#define HEADERS_FREE 256u
#define BYTES_BY_HEADER 8u

static bool has_paid_for_count(const struct h2_tx *t, const struct h2_dir *ds)
{
    const struct h2_state *st = t->tx.flow->state;

    return LIKELY(ds->header_count < HEADERS_FREE) ||
           (uint64_t)ds->header_count * BYTES_BY_HEADER < st->bytes;
}

/* Limits: HEADERS_MAX headers, and max-header-list-size bytes per message. Beyond them headers are
 * dropped, with an event. */
void h2_header_add(struct h2_tx *t, enum direction d, const struct h2_header *h)
{
    struct h2_dir *ds = &t->ds[d];
    struct h2_header retained = *h;
    size_t size;

    if (ds->header_count >= HEADERS_MAX || UNLIKELY(!has_paid_for_count(t, ds))) {
        event_once(t, H2_REASSEMBLY_LIMIT_REACHED);
        return;
    }
    pay(t, &retained);
    size = (size_t)retained.name.len + retained.value.len;
    if (ds->header_bytes + size > h2_settings_of(t->tx.flow)->max_header_list ||
        ds->header_blocks > HEADER_BLOCKS_MAX) {
        event_once(t, H2_HEADER_LIST_TOO_LARGE);
        return;
    }
    if (!grow(t, ds) || !keep(t, &retained.name) || !keep(t, &retained.value))
        return;
    ds->header[ds->header_count++] = retained;
    ds->header_bytes += size;
    ds->derived = 0;
    ds->item = NULL;
}

static bool is_named(const struct h2_header *h, const char *name)
{
    return h->kind == H2_FIELD && h->name.len == strlen(name) &&
           memcmp(h->name.data, name, h->name.len) == 0;
}

/* Walks the list, which HEADERS_MAX bounds. Names are in lower case on the wire. */
const struct h2_header *h2_header_find(const struct h2_tx *t, enum direction d, const char *name)
{
    const struct h2_dir *ds = &t->ds[d];

    for (unsigned i = 0; i < ds->header_count; i++)
        if (is_named(&ds->header[i], name))
            return &ds->header[i];
    return NULL;
}

/* --- evaluation ------------------------------------------------------------------------------- */

static bool value_is(const struct h2_header *h, const char *text)
{
    return h->value.len == strlen(text) && memcmp(h->value.data, text, h->value.len) == 0;
}

static bool same_host(struct slice a, struct slice b)
{
    return a.len == b.len &&
           strncasecmp((const char *)a.data, (const char *)b.data, a.len) == 0;
}

/* The first Content-Encoding counts; trailers cannot change it. */
static void read_coding(struct h2_tx *t, struct h2_dir *ds, const struct h2_header *h)
{
    if (ds->coding_known)
        return;
    ds->coding_known = true;
    ds->decoder = h2_decoder_new(t, h->value);
}

/* Acts on the new headers. In HTTP/2 :authority names the host: a Host header that differs hides
 * something, and user information in it is deprecated (RFC 9113 section 8.3.1). */
void h2_headers_done(struct h2_tx *t, enum direction d, unsigned from)
{
    struct h2_dir *ds = &t->ds[d];
    const struct h2_header *authority = NULL, *host = NULL, *path = NULL;
    bool requires_dns = false;

    for (unsigned i = from; i < ds->header_count; i++) {
        const struct h2_header *h = &ds->header[i];

        if (is_named(h, "content-encoding"))
            read_coding(t, ds, h);
        else if (is_named(h, "content-type"))
            ds->is_dns |= value_is(h, "application/dns-message");
        else if (is_named(h, "accept"))
            requires_dns |= value_is(h, "application/dns-message");
        else if (is_named(h, ":path"))
            path = h;
        else if (is_named(h, ":authority"))
            authority = h;
        else if (is_named(h, "host"))
            host = h;
    }
    if (authority != NULL && authority->value.len > 0 &&
        memchr(authority->value.data, '@', authority->value.len) != NULL)
        app_tx_event(&t->tx, H2_USERINFO_IN_URI);
    if (authority != NULL && host != NULL && !same_host(authority->value, host->value))
        app_tx_event(&t->tx, H2_AUTHORITY_HOST_MISMATCH);
    if (requires_dns && path != NULL && d == TO_SERVER)
        doh2_path(t, path->value);
    t->tx.progress[d] = MAX(t->tx.progress[d], H2_OPEN);
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* An integer whose first byte has been taken (RFC 7541 section 5.1). False: beyond 64 bits. */
static bool take_integer(struct bytes *in, uint8_t first, unsigned bits, uint64_t *out)
{
    uint64_t value = first & ((1u << bits) - 1);
    unsigned shift = 0;
    uint8_t c = 0x80;

    *out = value;
    if (value < (1u << bits) - 1)
        return true;
    for (; (c & 0x80) != 0 && !in->failed; shift += 7) {
        uint64_t part;

        c = take_u8(in);
        part = c & 0x7f;
        if (part != 0 && (shift > 63 || part << shift >> shift != part ||
                          value + (part << shift) < value))
            return false;
        if (part != 0)
            value += part << shift;
    }
    *out = value;
    return true;
}

/* RFC 7541 section 5.2; the Huffman flag does not change the length's meaning. */
static bool skip_string(struct bytes *in)
{
    uint64_t len;

    if (!take_integer(in, take_u8(in), 7, &len))
        return false;
    take_skip(in, (size_t)len);
    return true;
}

/* RFC 7541 section 6.2: index 0 means that the name follows as a string. */
static bool skip_literal(struct bytes *in, uint8_t first, unsigned bits)
{
    uint64_t index;

    if (!take_integer(in, first, bits, &index))
        return false;
    return (index != 0 || skip_string(in)) && skip_string(in);
}

/* One representation (RFC 7541 section 6). Only size updates (6.3) are noted. */
static bool scan_one(struct bytes *in, struct h2_tx *t, enum direction d)
{
    struct h2_header size = { .kind = H2_TABLE_SIZE };
    uint8_t first = take_u8(in);
    uint64_t index;

    if ((first & 0x80) != 0)
        return take_integer(in, first, 7, &index);
    if ((first & 0x40) != 0)
        return skip_literal(in, first, 6);
    if ((first & 0x20) == 0)
        return skip_literal(in, first, 4);
    if (!take_integer(in, first, 5, &size.table_size))
        return false;
    if (!in->failed)
        h2_header_add(t, d, &size);
    return true;
}

/* False: an integer overflows, and the rest was not scanned. */
static bool scan(struct slice block, struct h2_tx *t, enum direction d)
{
    struct bytes in = bytes_of_slice(block);

    while (bytes_have(&in, 1))
        if (!scan_one(&in, t, d))
            return false;
    return true;
}

/* False: malformed. libnghttp2 may consume input without a header, for instance a size update. */
static bool inflate_all(struct h2_state *st, struct h2_tx *t, enum direction d,
                        struct slice block)
{
    const uint8_t *p = block.data;
    size_t left = block.len;
    int flags = 0;

    while ((flags & NGHTTP2_HD_INFLATE_FINAL) == 0) {
        nghttp2_nv nv;
        ssize_t used = nghttp2_hd_inflate_hd2(st->inflater[d], &nv, &flags, p, left, 1);

        if (used < 0)
            return false;
        if (used > 0)
            p += used;          /* an empty block has no address to count from */
        left -= (size_t)used;
        if ((flags & NGHTTP2_HD_INFLATE_EMIT) != 0) {
            const struct h2_header h = {
                .kind = H2_FIELD,
                .name = { nv.name, (uint32_t)nv.namelen },
                .value = { nv.value, (uint32_t)nv.valuelen },
            };

            h2_header_add(t, d, &h);
        } else if (used == 0 && (flags & NGHTTP2_HD_INFLATE_FINAL) == 0) {
            return left == 0;
        }
    }
    nghttp2_hd_inflate_end_headers(st->inflater[d]);
    return true;
}

/* See tx.h. Headers that came before an error stay. */
bool h2_headers_inflate(struct app_flow *af, enum direction d, struct h2_tx *t, struct slice in)
{
    struct h2_state *st = af->state;
    const struct h2_header error = { .kind = H2_FIELD_ERROR };
    unsigned from = t->ds[d].header_count;

    bool scanned = scan(in, t, d);

    t->ds[d].header_blocks++;
    if (!scanned)
        app_tx_event(&t->tx, H2_HEADER_INTEGER_OVERFLOW);
    if (st->inflater[d] == NULL || !inflate_all(st, t, d, in)) {
        app_tx_event(&t->tx, H2_INVALID_HEADER);
        h2_header_add(t, d, &error);
        if (st->inflater[d] != NULL)
            h2_inflater_renew(af, d);
    }
    h2_headers_done(t, d, from);
    return scanned;
}
