/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/record.c - calls and replies: from a stream, each after a mark with its length (RFC
 * 5531 section 11), or one per datagram. Long reads and writes go on as they come; other records
 * are buffered until complete. */
#include "app/proto/nfs/nfs.h"

#define EXTENT_MIN 512  /* bytes of a record from which extents go on as they come */
#define REPLY_PROBED_MAX 35000  /* bytes; longer replies are implausible for detection */
#define PROBED_LEN_CALL 40      /* bytes of the shortest call */
#define UDP_CALL_MIN 48
#define UDP_REPLY_MIN 32
#define MARK_LAST 0x80000000u       /* RFC 5531 section 11: last fragment */
#define LAST_FLAVOR 6               /* RPCSEC_GSS */
#define VERSION_AT 16               /* in a call */
#define PROCEDURE_AT 20
#define RECORD_HEAD 12              /* mark, xid, type */

/* --- recognition ---------------------------------------------------------------------------- */

/* True if a call follows the record mark. `len` is the record's length. Constants: RPC version 2,
 * the NFS program. */
static bool looks_like_call(struct bytes in, uint32_t len)
{
    uint32_t version, flavor;

    take_skip(&in, 4);
    if (take_be32(&in) != RPC_CALL || take_be32(&in) != 2 || take_be32(&in) != NFS_PROGRAM)
        return false;
    version = take_be32(&in);
    if (take_be32(&in) > NFS3_COMMIT || len < PROBED_LEN_CALL)
        return false;
    flavor = take_be32(&in);
    return !in.failed && (version == 3 || version == 4) && flavor <= LAST_FLAVOR;
}

/* A reply has little that can be checked: its type, MSG_ACCEPTED, a plausible length. */
static bool looks_like_reply(struct bytes in, uint32_t len)
{
    uint32_t xid = take_be32(&in);

    return xid != 0 && take_be32(&in) == RPC_REPLY && take_be32(&in) == 0 && !in.failed &&
           len >= RPC_RECORD_MIN && len <= REPLY_PROBED_MAX;
}

/* The record shows its sender, whatever the port is. */
enum app_probe_result nfs_probe_tcp(struct bytes in, enum direction d,
                                    const struct flow *flow UNUSED)
{
    uint32_t len = take_be32(&in) & ~MARK_LAST;
    enum direction sender = TO_SERVER;

    if (looks_like_reply(in, len))
        sender = TO_CLIENT;             /* the one to NULL has no more than NFS_PROBE_TCP_MIN */
    else if (!bytes_have(&in, NFS_PROBE_TCP - RPC_MARK_LEN))
        return APP_PROBE_MORE;
    else if (!looks_like_call(in, len))
        return APP_PROBE_NO;
    return sender == d ? APP_PROBE_YES : APP_PROBE_YES_REVERSED;
}

/* A datagram must parse as a call or reply of this direction. */
enum app_probe_result nfs_probe_udp(struct bytes in, enum direction d,
                                    const struct flow *flow UNUSED)
{
    size_t len = bytes_left(&in);
    struct rpc_reply reply;
    struct rpc_call call;
    bool yes;

    if (len < RPC_HEADER_LEN)
        return APP_PROBE_NO;
    if (d == TO_SERVER)
        yes = len >= UDP_CALL_MIN && get_be32(in.next + 4) == RPC_CALL &&
              rpc_take_call(&in, &call) && call.program == NFS_PROGRAM &&
              (call.version == 2 || call.version == 3);
    else
        yes = len >= UDP_REPLY_MIN && get_be32(in.next + 4) == RPC_REPLY &&
              rpc_take_reply(&in, &reply) && reply.state == 0 && reply.accepted == 0;
    return yes ? APP_PROBE_YES : APP_PROBE_NO;
}

/* --- frames --------------------------------------------------------------------------------- */

/* Frames of a reply: RPC header and data. */
static void reply_frames(struct nfs_state *st, const struct nfs_position *at, uint32_t len)
{
    uint32_t head = at->is_udp ? RPC_HEADER_LEN : RECORD_HEAD;

    if (len <= head)
        return;
    nfs_frame(st, at, NFS_FRAME_RPC_HDR, at->data, head);
    nfs_frame(st, at, NFS_FRAME_RPC_DATA, at->data + head, len - head);
}

static void call_body_frames(struct nfs_state *st, const struct nfs_position *at,
                             const struct rpc_call *r)
{
    struct slice s = r->arguments;

    if (r->version != 4) {
        nfs_frame(st, at, NFS_FRAME_PDU, s.data, s.len);
        return;
    }
    nfs_frame(st, at, NFS_FRAME_4_PDU, s.data, s.len);
    if (s.len > 8) {
        nfs_frame(st, at, NFS_FRAME_4_HDR, s.data, 8);
        nfs_frame(st, at, NFS_FRAME_4_OPS, s.data + 8, s.len - 8);
    }
}

static void reply_body_frames(struct nfs_state *st, const struct nfs_position *at, uint32_t version,
                              struct slice s)
{
    bool is_4 = version == 4;

    if (s.len == 0)
        return;
    nfs_frame(st, at, is_4 ? NFS_FRAME_4_PDU : NFS_FRAME_PDU, s.data, s.len);
    nfs_frame(st, at, is_4 ? NFS_FRAME_4_STATUS : NFS_FRAME_STATUS, s.data, MIN(s.len, 4u));
    if (is_4 && s.len > 8) {
        nfs_frame(st, at, NFS_FRAME_4_HDR, s.data, 8);
        nfs_frame(st, at, NFS_FRAME_4_OPS, s.data + 8, s.len - 8);
    }
}

/* --- complete messages ---------------------------------------------------------------------- */

/* Versions that do not exist are ignored. Version 4 needs a stream (RFC 7530 section 3.1). */
static void call(struct nfs_state *st, const struct nfs_position *at, const struct rpc_call *r)
{
    if (r->version < 2 || r->version > 4 || (at->is_udp && r->version == 4))
        return;
    call_body_frames(st, at, r);
    switch (r->version) {
    case 2:
        nfs2_call(st, r);
        return;
    case 3:
        nfs3_call(st, r);
        return;
    default:
        nfs4_call(st, r);
        return;
    }
}

/* A reply without its call is not understood: nothing in it names its procedure. */
static void reply(struct nfs_state *st, const struct nfs_position *at, const struct rpc_reply *r)
{
    struct nfs_call *known = nfs_call_take(st, r->xid);

    if (known == NULL)
        return;
    if (st->version == 0)
        st->version = known->version;
    reply_body_frames(st, at, known->version, r->results);
    switch (known->version) {
    case 2:
        nfs2_reply(st, r, known);
        return;
    case 3:
        nfs3_reply(st, r, known);
        return;
    default:
        nfs4_reply(st, r, known);
        return;
    }
}

/* False: no RPC call. */
static bool complete_call(struct nfs_state *st, const struct nfs_position *at, struct bytes in)
{
    struct rpc_call r;
    const uint8_t *p = in.next;

    if (!rpc_take_call(&in, &r))
        return false;
    nfs_frame(st, at, NFS_FRAME_RPC_CREDS, p + RPC_CREDENTIALS_AT, r.credentials_len + 8);
    call(st, at, &r);
    return true;
}

static bool complete_reply(struct nfs_state *st, const struct nfs_position *at, struct bytes in)
{
    uint32_t len = (uint32_t)bytes_left(&in) + (at->is_udp ? 0 : RPC_MARK_LEN);
    struct rpc_reply r;

    if (!rpc_take_reply(&in, &r))
        return false;
    reply_frames(st, at, len);
    reply(st, at, &r);
    return true;
}

/* --- extents of files ------------------------------------------------------------------------ */

enum start_result { NOT_AN_EXTENT, NEEDS_MORE, STARTED, MALFORMED };

/* A record that is not complete: `have` has its first bytes, `len` counts all. */
struct beginning {
    struct bytes have;
    uint32_t len;
};

/* Too few bytes are malformed only if the record is complete. */
static enum start_result short_or_bad(const struct beginning *b, bool is_short)
{
    return is_short && bytes_left(&b->have) < b->len ? NEEDS_MORE : MALFORMED;
}

/* Divides the rest of the record: `file_left` bytes of the file with their padding, then `skip`
 * bytes. False: the extent exceeds the record. */
static bool set_trailing_len(struct nfs_dir *ds, const struct beginning *b,
                        const struct nfs_extent *p)
{
    uint32_t before = (uint32_t)(p->data.data - b->have.next);
    uint32_t file = p->len + (-p->len & 3), rest = b->len - before;

    if (file > rest)
        return false;
    ds->file_left = p->len == 0 || p->len > NFS_EXTENT_MAX || p->data.len >= file
                          ? 0 : file - p->data.len;
    ds->skip = (uint32_t)(b->len - bytes_left(&b->have)) - ds->file_left;
    return true;
}

/* The beginning of a WRITE of version 3. NOT_AN_EXTENT: to be buffered until complete. */
static enum start_result begin_write(struct nfs_state *st, const struct beginning *b)
{
    struct bytes in = b->have, arguments;
    struct nfs_extent p = { 0 };
    struct rpc_call r;

    if (!bytes_have(&in, PROCEDURE_AT + 4))
        return NEEDS_MORE;
    if (get_be32(in.next + VERSION_AT) != 3 || get_be32(in.next + PROCEDURE_AT) != NFS3_WRITE)
        return NOT_AN_EXTENT;
    if (!rpc_take_call(&in, &r))
        return short_or_bad(b, in.failed);
    arguments = bytes_of_slice(r.arguments);
    if (!nfs3_take_write(&arguments, &p))
        return short_or_bad(b, arguments.failed);
    if (!set_trailing_len(&st->ds[TO_SERVER], b, &p))
        return MALFORMED;
    if (st->version == 0)
        st->version = r.version;
    (void)nfs_call_new(st, &r);
    p.name = nfs_name_find(st, p.handle);
    p.streamed = true;
    nfs_file_write(st, &r, NFS3_WRITE, &p);
    return STARTED;
}

/* The beginning of a READ reply. Its call tells that it is one: until the reply's header is
 * complete the call stays in the table. */
static enum start_result begin_read(struct nfs_state *st, const struct beginning *b)
{
    struct bytes in = b->have, results;
    struct nfs_extent p = { 0 };
    struct nfs_call *known;
    struct rpc_reply r;
    uint32_t status;

    known = nfs_call_find(st, get_be32(in.next));
    if (known == NULL || known->version != 3 || known->procedure != NFS3_READ)
        return NOT_AN_EXTENT;
    if (!rpc_take_reply(&in, &r))
        return short_or_bad(b, in.failed);
    results = bytes_of_slice(r.results);
    if (!nfs3_take_read(&results, &status, &p))
        return short_or_bad(b, results.failed);
    known = nfs_call_take(st, r.xid);
    p.handle = buf_slice(&known->handle);
    p.name = buf_slice(&known->name);
    p.offset = known->offset;
    if (p.data.data == NULL)            /* an error status: no data of a file */
        p.data = (struct slice){ b->have.end, 0 };
    if (!set_trailing_len(&st->ds[TO_CLIENT], b, &p))
        return MALFORMED;
    p.streamed = true;
    nfs_file_read(st, &r, known, status, &p);
    return STARTED;
}

/* --- the stream ----------------------------------------------------------------------------- */

/* Without a valid length the next record cannot be found. */
static enum parse_status lost(struct nfs_state *st)
{
    nfs_event(st, NFS_MALFORMED_DATA);
    return PARSE_STOP;
}

static void after_record(struct nfs_state *st)
{
    if (st->check_files)
        nfs_files_abandon(st);
}

/* Skips the record, including the part that is present. */
static void skip_record(struct nfs_dir *ds, struct app_input *in, uint32_t len)
{
    in->consumed = MIN(in->len, len + RPC_MARK_LEN);
    ds->file_left = 0;
    ds->skip = len + RPC_MARK_LEN - in->consumed;
}

static enum parse_status need_more(struct app_input *in, uint32_t need)
{
    in->consumed = 0;
    in->need = need;
    return PARSE_MORE;
}

/* A malformed record is an event, and the next one is still found. */
static enum parse_status complete_record(struct nfs_state *st, struct app_input *in,
                                      const struct nfs_position *at, struct bytes body)
{
    bool ok;

    nfs_frame(st, at, NFS_FRAME_RPC_PDU, in->data, in->consumed);
    ok = in->direction == TO_SERVER ? complete_call(st, at, body) : complete_reply(st, at, body);
    if (!ok)
        nfs_event(st, NFS_MALFORMED_DATA);
    after_record(st);
    return PARSE_OK;
}

/* *taken: the record was handled here. */
static enum parse_status long_record(struct nfs_state *st, struct app_input *in,
                                     const struct nfs_position *at, const struct beginning *b,
                                     bool *taken)
{
    enum start_result started = in->direction == TO_SERVER ? begin_write(st, b) : begin_read(st, b);

    *taken = started != NOT_AN_EXTENT;
    switch (started) {
    case NEEDS_MORE:
        return need_more(in, 0);
    case STARTED:
        nfs_frame(st, at, NFS_FRAME_RPC_PDU, in->data, (int64_t)b->len + RPC_MARK_LEN);
        in->consumed = MIN(in->len, b->len + RPC_MARK_LEN);
        after_record(st);
        return PARSE_OK;
    case MALFORMED:
        nfs_event(st, NFS_MALFORMED_DATA);
        skip_record(&st->ds[in->direction], in, b->len);
        return PARSE_OK;
    default:
        return PARSE_OK;
    }
}

/* One record. Fragments of a record (RFC 5531 section 11) are not joined: each counts as a record.
 * A record too large to buffer is skipped. */
static enum parse_status one_record(struct nfs_state *st, struct app_input *in)
{
    struct nfs_position at = { in->direction, in->data, in->offset, false };
    struct bytes bytes = app_input_bytes(in);
    uint32_t len = take_be32(&bytes) & ~MARK_LAST, have;
    struct beginning b;
    bool taken;

    if (in->len < RECORD_HEAD)
        return need_more(in, RECORD_HEAD);
    if (len < RPC_RECORD_MIN || get_be32(bytes.next + 4) > RPC_REPLY)
        return lost(st);
    have = MIN(len, in->len - RPC_MARK_LEN);
    b = (struct beginning){ bytes_of(bytes.next, have), len };
    if (len >= EXTENT_MIN) {
        enum parse_status status = long_record(st, in, &at, &b, &taken);

        if (taken)
            return status;
    }
    if (have < len && len > st->flow->proto->buffer_limit - RPC_MARK_LEN) {
        skip_record(&st->ds[in->direction], in, len);
        return PARSE_OK;
    }
    if (have < len)
        return need_more(in, len + RPC_MARK_LEN);
    in->consumed = len + RPC_MARK_LEN;
    return complete_record(st, in, &at, b.have);
}

/* Skips to the next record of this side, after a gap. The check is that of protocol detection. */
static enum parse_status search(struct nfs_state *st, struct app_input *in)
{
    struct nfs_dir *ds = &st->ds[in->direction];
    uint32_t i;

    for (i = 0; i + NFS_PROBE_TCP_MIN <= in->len; i++) {
        struct bytes at = bytes_of(in->data + i, in->len - i);
        enum app_probe_result is = nfs_probe_tcp(at, in->direction, NULL);

        if (is == APP_PROBE_MORE)
            break;
        if (is != APP_PROBE_YES)
            continue;
        ds->searching = false;
        if (ds->had_gap)
            nfs_files_after_gap(st, in->direction);
        ds->had_gap = false;
        in->consumed = i;
        return PARSE_OK;
    }
    in->consumed = i;
    in->need = NFS_PROBE_TCP;
    return PARSE_MORE;
}

/* A gap within an extent or within skipped bytes loses no framing: the records after it are still
 * found. */
static enum parse_status gap(struct nfs_state *st, struct app_input *in)
{
    struct nfs_dir *ds = &st->ds[in->direction];
    uint32_t left = in->gap, n;

    st->any_gap = true;
    left -= nfs_file_data(st, in->direction, NULL, left);
    n = MIN(ds->skip, left);
    ds->skip -= n;
    if (left > n)
        ds->searching = ds->had_gap = true;
    return PARSE_OK;
}

/* A malformed datagram harms no other: no event. */
static enum parse_status parse_udp(struct nfs_state *st, struct app_input *in)
{
    struct nfs_position at = { in->direction, in->data, in->offset, true };

    if (in->len == 0)
        return PARSE_OK;
    nfs_frame(st, &at, NFS_FRAME_RPC_PDU, in->data, in->len);
    if (in->direction == TO_SERVER)
        (void)complete_call(st, &at, app_input_bytes(in));
    else
        (void)complete_reply(st, &at, app_input_bytes(in));
    return PARSE_OK;
}

/* Entry point. Bytes of a file, or to be skipped, are not parsed, whatever they look like. */
enum parse_status nfs_parse(struct app_flow *af, struct app_input *in)
{
    struct nfs_state *st = af->state;
    struct nfs_dir *ds = &st->ds[in->direction];

    st->now_us = in->now_us;
    if (in->is_udp)
        return parse_udp(st, in);
    if (in->gap > 0)
        return gap(st, in);
    if (in->len == 0)
        return PARSE_OK;
    if (ds->file_left > 0) {
        in->consumed = nfs_file_data(st, in->direction, in->data, in->len);
        return PARSE_OK;
    }
    if (ds->skip > 0) {
        in->consumed = MIN(ds->skip, in->len);
        ds->skip -= in->consumed;
        return PARSE_OK;
    }
    if (ds->searching) {
        enum parse_status status = search(st, in);

        if (status != PARSE_OK || in->consumed > 0)
            return status;
    }
    return one_record(st, in);
}
