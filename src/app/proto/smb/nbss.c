/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/nbss.c - the stream: session service messages (RFC 1002 section 4.3) and the
 * records in them. A message is buffered until it is complete, except for long reads and writes of
 * files, whose data go on as they come. */
#include "app/proto/smb/events.h"
#include "app/proto/smb/file.h"
#include "app/proto/smb/record.h"
#include "app/proto/smb/state.h"
#include "packet/packet.h"

#define SEARCH_MIN 8                /* the message's header and a record's magic */
#define SESSION_MESSAGE 0           /* RFC 1002 section 4.3.1 */
#define MAGIC_LEN 4

/* 0xff SMB1, 0xfe SMB2, 0xfd encrypted; all have "SMB" behind. */
static bool is_magic(const uint8_t *p)
{
    return p[0] >= 0xfd && p[0] != 0xfc && memcmp(p + 1, "SMB", 3) == 0;
}

/* RFC 1002 section 4.3.1: 0x81 to 0x85 belong to the session's setup and keepalive. */
static bool is_message_type(uint8_t type)
{
    return type == SESSION_MESSAGE || (type >= 0x81 && type <= 0x85);
}

/* --- recognition ---------------------------------------------------------------------------- */

/* Decides who sent the record. An encrypted one (0xfd) has no flag for it: a sender at port 445 is
 * the server. SMB1 has the flag at offset 9, SMB2 at 16. */
static enum app_probe_result direction_of(struct bytes in, enum direction d,
                                          const struct flow *flow)
{
    const uint8_t *p = in.next;
    bool response;

    if (p[NBSS_HEADER_LEN] == 0xfd) {
        response = flow != NULL && flow->key.src_port == 445 && flow->key.dst_port != 445;
        return response ? APP_PROBE_YES_REVERSED : APP_PROBE_YES;
    }
    if (bytes_left(&in) < NBSS_HEADER_LEN + 17)
        return APP_PROBE_YES;
    response = p[NBSS_HEADER_LEN] == 0xff ? (p[NBSS_HEADER_LEN + 9] & 0x80) != 0
                                          : (p[NBSS_HEADER_LEN + 16] & 1) != 0;
    return response == (d == TO_CLIENT) ? APP_PROBE_YES : APP_PROBE_YES_REVERSED;
}

/* Protocol detection: a session message with a record's magic, perhaps after one short message
 * of the session's setup. NO for other types, so that other protocols on ports 139 and 445 are
 * found. */
enum app_probe_result smb_probe(struct bytes in, enum direction d, const struct flow *flow)
{
    struct bytes start = in;
    uint8_t type = take_u8(&in);
    uint32_t len = take_be24(&in);

    if (in.failed || (is_message_type(type) && len >= MAGIC_LEN && bytes_left(&in) < MAGIC_LEN))
        return APP_PROBE_MORE;
    if (!is_message_type(type))
        return APP_PROBE_NO;
    if (bytes_left(&in) >= MAGIC_LEN && is_magic(in.next))
        return direction_of(start, d, flow);
    if (type == SESSION_MESSAGE)
        return APP_PROBE_NO;
    /* A session request (names of both hosts) may come first; it is below 256 bytes. */
    if (bytes_left(&in) < len + SEARCH_MIN)
        return len < 256 ? APP_PROBE_MORE : APP_PROBE_NO;
    take_skip(&in, len);
    return is_message_type(in.next[0]) && is_magic(in.next + NBSS_HEADER_LEN) ? APP_PROBE_YES
                                                                              : APP_PROBE_NO;
}

/* --- frames --------------------------------------------------------------------------------- */

struct scope_in {
    struct app_flow *flow;
    enum direction direction;
    uint64_t offset;                /* of the message in the stream */
    uint32_t len;                   /* of what it holds */
};

/* Frames of the session message: all, header, data. */
static void nbss_frames(const struct scope_in *m)
{
    app_frame(m->flow, m->direction, NBSS_FRAME_PDU, m->offset, (int64_t)m->len + NBSS_HEADER_LEN,
              APP_FRAME_NO_TX);
    app_frame(m->flow, m->direction, NBSS_FRAME_HDR, m->offset, NBSS_HEADER_LEN, APP_FRAME_NO_TX);
    app_frame(m->flow, m->direction, NBSS_FRAME_DATA, m->offset + NBSS_HEADER_LEN, m->len,
              APP_FRAME_NO_TX);
}

/* A record in its session message. */
struct record_span {
    uint32_t at, len;
    uint32_t header;                /* bytes of it that are the header */
    uint32_t have;                  /* bytes of it that are present */
};

/* `pdu` is the first of the version's three frame types. False: no rule asks for that frame. */
static bool record_frames(const struct scope_in *m, unsigned pdu, const struct record_span *r)
{
    uint64_t offset = m->offset + NBSS_HEADER_LEN + r->at;
    bool is_framed = app_frame(m->flow, m->direction, pdu, offset, r->len, APP_FRAME_NO_TX) != 0;

    app_frame(m->flow, m->direction, pdu + 1, offset, r->header, APP_FRAME_NO_TX);
    if (r->have > r->header)
        app_frame(m->flow, m->direction, pdu + 2, offset + r->header,
                  (int64_t)r->len - r->header, APP_FRAME_NO_TX);
    return is_framed;
}

/* --- records -------------------------------------------------------------------------------- */

/* A request from the server, or a response from the client, is ignored: its numbers would match the
 * wrong transactions. A server that breaks an oplock sends one ([MS-CIFS] section 2.2.4.32), so it
 * raises an event only while rules look at the frame, as in Suricata. */
static bool wrong_way(struct smb_state *st, const struct smb_record *r, bool is_framed)
{
    if (r->is_response == (r->direction == TO_CLIENT))
        return false;
    if (is_framed)
        smb_event(st, r->is_response ? SMB_RESPONSE_TO_SERVER : SMB_REQUEST_TO_CLIENT);
    return true;
}

/* A session message holds one SMB1 record. False: it is too short. */
static bool smb1_record(struct smb_state *st, const struct scope_in *m, struct bytes in)
{
    struct smb_record r;
    bool is_framed;

    if (!smb1_take_record(&in, &r))
        return false;
    r.direction = m->direction;
    is_framed = record_frames(m, SMB1_FRAME_PDU,
                              &(struct record_span){ 0, m->len, SMB1_HEADER_LEN, m->len });
    if (wrong_way(st, &r, is_framed))
        return true;
    if (r.is_response)
        smb1_response(st, &r);
    else
        smb1_request(st, &r);
    return true;
}

/* A session message may hold several SMB2 records, a compound ([MS-SMB2] section 3.3.5.2.7). Each
 * must have its own magic. At the limit of transactions the rest is not read. */
static bool smb2_records(struct smb_state *st, const struct scope_in *m, struct bytes in)
{
    const uint8_t *start = in.next;

    while (bytes_left(&in) > 0 && !st->full) {
        const uint8_t *here = in.next;
        struct smb_record r;
        uint32_t len;
        bool is_framed;

        if (bytes_left(&in) < MAGIC_LEN || here[0] != 0xfe || !is_magic(here) ||
            !smb2_take_record(&in, m->direction, &r))
            return false;
        len = (uint32_t)(in.next - here);
        is_framed = record_frames(m, SMB2_FRAME_PDU,
                                  &(struct record_span){ (uint32_t)(here - start), len,
                                                         r.header_len, len });
        if (wrong_way(st, &r, is_framed))
            continue;
        if (r.is_response)
            smb2_response(st, &r);
        else
            smb2_request(st, &r);
    }
    return true;
}

/* [MS-SMB2] section 2.2.41, TRANSFORM_HEADER: signature, nonce, size of the encrypted message.
 * There is no key, so that only frames are made. */
static bool smb3_records(const struct scope_in *m, struct bytes in)
{
    const uint8_t *start = in.next;

    while (bytes_left(&in) > 0) {
        const uint8_t *here = in.next;
        uint32_t len;

        if (bytes_left(&in) < MAGIC_LEN || here[0] != 0xfd || !is_magic(here))
            return false;
        take_skip(&in, MAGIC_LEN + 16 + 16);        /* signature, nonce */
        len = take_le32(&in);
        take_skip(&in, 2 + 2 + 8);                  /* reserved, flags, session id */
        take_skip(&in, len);
        if (in.failed)
            return false;
        len = (uint32_t)(in.next - here);
        record_frames(m, SMB3_FRAME_PDU,
                      &(struct record_span){ (uint32_t)(here - start), len, SMB3_HEADER_LEN, len });
    }
    return true;
}

/* False: not a record, which stops the parser. A short message from the server is tolerated. */
static bool message(struct smb_state *st, const struct scope_in *m, struct bytes in)
{
    if (bytes_left(&in) < MAGIC_LEN)
        return m->direction == TO_CLIENT || bytes_left(&in) == 0;
    if (memcmp(in.next + 1, "SMB", 3) != 0)
        return false;
    switch (in.next[0]) {
    case 0xff:
        return smb1_record(st, m, in);
    case 0xfe:
        return smb2_records(st, m, in);
    case 0xfd:
        return smb3_records(m, in);
    default:
        return true;
    }
}

/* --- long reads and writes -------------------------------------------------------------------- */

/* Takes the beginning of a message that is not complete. True: all bytes present are consumed, and
 * `file_left` and `skip` cover the rest. False: wait for the complete message. */
static bool begin_message(struct smb_state *st, const struct scope_in *m, struct bytes in)
{
    uint32_t have = (uint32_t)bytes_left(&in);
    struct smb_record r;
    unsigned pdu = SMB2_FRAME_PDU;

    if (!is_magic(in.next))
        return false;
    if (in.next[0] == 0xff) {
        pdu = SMB1_FRAME_PDU;
        if (!smb1_take_record(&in, &r))
            return false;
    } else if (in.next[0] != 0xfe || !smb2_take_record(&in, m->direction, &r)) {
        return false;
    }
    r.direction = m->direction;
    r.missing = m->len - have;  /* of the message, still to come */
    if (r.version == 1 ? !smb1_begin_data(st, &r) : !smb2_begin_data(st, &r))
        return false;
    nbss_frames(m);
    record_frames(m, pdu, &(struct record_span){ 0, m->len, r.header_len, have });
    return true;
}

/* After the file's part, a message may have more bytes: these are skipped. */
static void set_trailing_len(struct smb_dir *ds, uint32_t missing)
{
    ds->skip = missing - MIN(ds->file_left, missing);
}

/* From SMB_PARTIAL_MIN bytes on, a long read or write is consumed as it arrives, so a 16 MiB
 * message needs no 16 MiB of buffer. `need` requests that many bytes first, then all. */
static enum parse_status incomplete(struct smb_state *st, struct app_input *in,
                                    const struct scope_in *m, struct bytes bytes)
{
    struct smb_dir *ds = &st->ds[in->direction];
    uint32_t complete = m->len + NBSS_HEADER_LEN, have = (uint32_t)bytes_left(&bytes);

    in->consumed = 0;
    in->need =
        complete >= SMB_PARTIAL_MIN && in->len < SMB_PARTIAL_MIN ? SMB_PARTIAL_MIN : complete;
    if (in->len < SMB_PARTIAL_MIN) {
        /* Not a record: nothing that follows can be matched, see smb_tx_new(). */
        if (have > MAGIC_LEN && in->data[0] == SESSION_MESSAGE && !is_magic(bytes.next))
            ds->cut_off = true;
        return PARSE_MORE;
    }
    if (in->data[0] != SESSION_MESSAGE || !begin_message(st, m, bytes))
        return PARSE_MORE;
    set_trailing_len(ds, m->len - have);
    in->consumed = in->len;
    in->need = 0;
    return PARSE_OK;
}

/* --- input ---------------------------------------------------------------------------------- */

/* Skips to the next message with a record in it, after a gap or a midstream pickup. The last 7
 * bytes stay, because a header may continue in the next data. */
static enum parse_status search(struct smb_dir *ds, struct app_input *in)
{
    for (uint32_t i = 0; i + SEARCH_MIN <= in->len; i++) {
        if (in->data[i] == SESSION_MESSAGE && is_magic(in->data + i + NBSS_HEADER_LEN)) {
            ds->searching = false;
            in->consumed = i;
            return PARSE_OK;
        }
    }
    in->consumed = in->len >= SEARCH_MIN ? in->len - (SEARCH_MIN - 1) : 0;
    in->need = SEARCH_MIN;
    return PARSE_MORE;
}

/* One session message. An implausible record stops the parser: without framing all that follows
 * would be noise. Work that gaps left behind is done here, after each message. */
static enum parse_status one_message(struct smb_state *st, struct app_input *in)
{
    struct bytes bytes = app_input_bytes(in), body;
    struct scope_in m = { st->flow, in->direction, in->offset, 0 };
    uint8_t type = take_u8(&bytes);

    m.len = take_be24(&bytes);
    if (bytes.failed) {
        in->consumed = 0;
        in->need = NBSS_HEADER_LEN;
        return PARSE_MORE;
    }
    if (!bytes_have(&bytes, m.len))
        return incomplete(st, in, &m, bytes);
    body = take_sub(&bytes, m.len);
    in->consumed = m.len + NBSS_HEADER_LEN;
    nbss_frames(&m);
    if (type == SESSION_MESSAGE && !message(st, &m, body)) {
        smb_event(st, SMB_MALFORMED_DATA);
        return PARSE_STOP;
    }
    if (st->full)
        return PARSE_STOP;
    if (st->ds[in->direction].had_gap)
        smb_files_after_gap(st, in->direction);
    if (st->check_files)
        smb_files_abandon(st);
    return PARSE_OK;
}

/* A gap within a file's extent or within skipped bytes loses no framing: the records after it are
 * still found. Only what exceeds these makes the parser search. */
static enum parse_status gap(struct smb_state *st, struct app_input *in)
{
    struct smb_dir *ds = &st->ds[in->direction];
    uint32_t left = in->gap, n;

    left -= smb_file_data(st, in->direction, NULL, left);
    n = MIN(ds->skip, left);
    ds->skip -= n;
    left -= n;
    if (left > 0)
        ds->searching = ds->had_gap = true;
    return PARSE_OK;
}

/* Entry point. The order matters: bytes of a file or to be skipped are not parsed, whatever they
 * look like. A stream picked up midstream starts with a search. */
enum parse_status smb_parse(struct app_flow *af, struct app_input *in)
{
    struct smb_state *st = af->state;
    struct smb_dir *ds = &st->ds[in->direction];
    const struct smb_settings *settings = af->settings;

    st->now_us = in->now_us;
    if (in->gap > 0)
        return gap(st, in);
    if (in->len == 0)
        return PARSE_OK;
    if (af->tx_count >= settings->max_tx) {
        smb_event(st, SMB_TOO_MANY_TRANSACTIONS);
        return PARSE_STOP;
    }
    if (!ds->started && (in->packet->flags & PACKET_MIDSTREAM) != 0)
        ds->searching = true;
    ds->started = true;
    if (ds->file_left > 0) {
        in->consumed = smb_file_data(st, in->direction, in->data, in->len);
        return PARSE_OK;
    }
    if (ds->skip > 0) {
        in->consumed = MIN(ds->skip, in->len);
        ds->skip -= in->consumed;
        return PARSE_OK;
    }
    if (ds->searching) {
        enum parse_status status = search(ds, in);

        if (status != PARSE_OK || in->consumed > 0)
            return status;
    }
    return one_message(st, in);
}
