/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ssh/parse.c - the banner line (RFC 4253 section 4.2), then records (section 6) until
 * keys are changed. What follows is encrypted, also the lengths. */
#include <string.h>

#include "app/proto/ssh/ssh.h"

#define HEADER_LEN 6                /* bytes: packet_length, padding_length, message number */

enum { MSG_KEXINIT = 20, MSG_NEWKEYS = 21 };    /* RFC 4250 section 4.1.2 */

/* A flow has one transaction, and the parser runs only while it exists. */
static void ssh_event(struct ssh_state *st, enum ssh_event event)
{
    app_tx_event(&st->tx->tx, event);
}

/* An event, and the end of the parser: without correct lengths nothing later can be read. */
static enum parse_status refuse(struct ssh_state *st, enum ssh_event event)
{
    ssh_event(st, event);
    return PARSE_STOP;
}

/* Keeps the state of one side and shows it as progress. Rules see both sides finished at the same
 * moment, when the second one is; until then a finished side shows BANNER_DONE. */
static void set_state(struct ssh_state *st, enum direction d, enum ssh_progress state)
{
    struct ssh_tx *tx = st->tx;

    tx->ds[d].state = state;
    if (tx->ds[TO_SERVER].state == SSH_FINISHED && tx->ds[TO_CLIENT].state == SSH_FINISHED)
        tx->tx.progress[TO_SERVER] = tx->tx.progress[TO_CLIENT] = SSH_FINISHED;
    else
        tx->tx.progress[d] = state == SSH_FINISHED ? SSH_BANNER_DONE : state;
}

/* By configuration, or because a loaded rule has a HASSH keyword. */
bool ssh_requires_hassh(const struct app_flow *af)
{
    const struct ssh_settings *settings = af->settings;

    return settings->hassh || app_feature(af, SSH_FEATURE_HASSH);
}

/* --- banner --------------------------------------------------------------------------------- */

/* "SSH-2.0-OpenSSH_9.6 comment" (RFC 4253 section 4.2): protocol version up to the second dash,
 * software version up to a space. False: no "SSH-" or no version. A space as first character does
 * not end the software version, which then goes on to the end of the line. */
static bool read_banner(struct ssh_tx *tx, struct slice line, struct ssh_dir *ds)
{
    struct bytes in = bytes_of_slice(line);
    const uint8_t *start = take_bytes(&in, 4), *blank;

    if (start == NULL || memcmp(start, "SSH-", 4) != 0 || !take_until(&in, '-', &ds->proto) ||
        ds->proto.len == 0)
        return false;
    ds->software = take_rest(&in);
    blank = memchr(ds->software.data, ' ', ds->software.len);
    if (blank != NULL && blank != ds->software.data)
        ds->software.len = (uint32_t)(blank - ds->software.data);
    ds->proto = arena_slice(&tx->tx.arena, ds->proto);
    ds->software = arena_slice(&tx->tx.arena, ds->software);
    return true;
}

/* Finds the end of the line: its length, and in *complete the length with the line end. A CR alone
 * ends a line, too. A CR as the last byte is undecided, because an LF may follow: false, as for a
 * line without an end. */
static bool find_line(struct slice in, uint32_t *len, uint32_t *complete)
{
    uint32_t n = 0;

    while (n < in.len && in.data[n] != '\n' && in.data[n] != '\r')
        n++;
    if (n == in.len || (in.data[n] == '\r' && n + 1 == in.len))
        return false;
    *len = n;
    *complete = n + 1 + (in.data[n] == '\r' && in.data[n + 1] == '\n');
    return true;
}

/* The banner of one side. A line of 256 bytes or more is an event, but not the end: its first 256
 * bytes serve as the banner and the state WAIT_EOL skips the rest. RFC 4253 allows 255 bytes with
 * CR LF. Lines before the banner, which that section allows a server to send, are not accepted. */
static enum parse_status banner(struct ssh_state *st, struct app_input *in, uint32_t *at)
{
    struct ssh_dir *ds = &st->tx->ds[in->direction];
    struct slice rest = { in->data + *at, in->len - *at };
    uint32_t len, complete;
    bool finished = find_line(rest, &len, &complete);

    if (finished && len < SSH_BANNER_MAX) {
        if (!read_banner(st->tx, (struct slice){ rest.data, len }, ds))
            return refuse(st, SSH_EVENT_INVALID_BANNER);
        *at += complete;
        set_state(st, in->direction, SSH_BANNER_DONE);
        return PARSE_OK;
    }
    if (rest.len < SSH_BANNER_MAX) {
        in->need = rest.len + 1;    /* one byte more can be the end of the line */
        return PARSE_MORE;
    }
    rest.len = SSH_BANNER_MAX;
    if (!read_banner(st->tx, rest, ds))
        return refuse(st, SSH_EVENT_INVALID_BANNER);
    ssh_event(st, SSH_EVENT_LONG_BANNER);
    *at += SSH_BANNER_MAX;
    set_state(st, in->direction, SSH_BANNER_WAIT_EOL);
    return PARSE_OK;
}

/* Skips a long banner line up to its end without buffering it. */
static enum parse_status end_of_banner(struct ssh_state *st, struct app_input *in, uint32_t *at)
{
    struct slice rest = { in->data + *at, in->len - *at };
    uint32_t len, complete;

    if (find_line(rest, &len, &complete)) {
        *at += complete;
        set_state(st, in->direction, SSH_BANNER_DONE);
        return PARSE_OK;
    }
    if (rest.data[rest.len - 1] == '\r') {  /* an LF may follow: look again with the next byte */
        *at += rest.len - 1;
        in->need = 2;
        return PARSE_MORE;
    }
    *at = in->len;
    return PARSE_OK;
}

/* --- records -------------------------------------------------------------------------------- */

/* Frames are made from the header alone, before the body is there. `len`, packet_length, does not
 * count its own 4 bytes, and the header frame includes 2 bytes of what it counts. */
static void frames(struct app_flow *af, const struct app_input *in, uint32_t at, uint32_t len)
{
    uint64_t offset = in->offset + at;

    app_frame(af, in->direction, SSH_FRAME_HDR, offset, HEADER_LEN, 0);
    app_frame(af, in->direction, SSH_FRAME_DATA, offset + HEADER_LEN, (int64_t)len - 2, 0);
    app_frame(af, in->direction, SSH_FRAME_PDU, offset, (int64_t)len + 4, 0);
}

/* NEWKEYS of both sides ends clear text (RFC 4253 section 7.3). What then happens is configuration:
 * parse on (and see nothing), stop parsing and payload inspection, or bypass the flow. */
static void new_keys(struct app_flow *af, struct ssh_state *st, enum direction d)
{
    const struct ssh_settings *settings = af->settings;

    set_state(st, d, SSH_FINISHED);
    if (st->tx->ds[OTHER_DIRECTION(d)].state != SSH_FINISHED)
        return;
    if (settings->encryption == SSH_BYPASS)
        app_stop(af, APP_STOP_PAYLOAD | APP_STOP_PARSER | APP_STOP_REASSEMBLY | APP_STOP_BYPASS);
    else if (settings->encryption == SSH_TRACK_ONLY)
        app_stop(af, APP_STOP_PAYLOAD | APP_STOP_PARSER);
}

/* Waits for a complete key exchange only when its HASSH is required and its body is shorter than
 * SSH_KEX_MAX. All other bodies are skipped without buffering, whatever their claimed length. */
static bool is_parsed(struct app_flow *af, struct ssh_state *st, unsigned message, uint32_t body)
{
    if (message != MSG_KEXINIT || !ssh_requires_hassh(af))
        return false;
    if (body < SSH_KEX_MAX)
        return true;
    ssh_event(st, SSH_EVENT_LONG_KEX_RECORD);
    return false;
}

/* The caller's `at` stays, so the same bytes come again with more behind them. */
static enum parse_status wait_for(struct app_input *in, uint32_t need)
{
    in->need = need;
    return PARSE_MORE;
}

/* One record (RFC 4253 section 6): packet_length, padding_length, then the payload, which begins
 * with the message number. A length below 2 has no room for the last two. The padding is passed on
 * with the body: it follows the lists and does not matter. */
static enum parse_status record(struct app_flow *af, struct ssh_state *st, struct app_input *in,
                                uint32_t *at)
{
    struct bytes bytes = bytes_of(in->data + *at, in->len - *at);
    enum direction d = in->direction;
    uint32_t len = take_be32(&bytes);
    unsigned message;

    if (!bytes.failed && len < 2)
        return refuse(st, SSH_EVENT_INVALID_RECORD);
    take_skip(&bytes, 1);
    message = take_u8(&bytes);
    if (bytes.failed)
        return wait_for(in, HEADER_LEN);
    if (!st->header_seen[d])    /* one set of frames, also for a record that is parsed again */
        frames(af, in, *at, len);
    st->header_seen[d] = false;
    if (is_parsed(af, st, message, len - 2)) {
        st->header_seen[d] = !bytes_have(&bytes, len - 2);
        if (st->header_seen[d])
            return wait_for(in, HEADER_LEN + len - 2);
        ssh_hassh(af, st->tx, take_sub(&bytes, len - 2), d);
    }
    *at += HEADER_LEN;
    st->skip[d] = len - 2;
    if (message == MSG_NEWKEYS)
        new_keys(af, st, d);
    return PARSE_OK;
}

/* --- input ---------------------------------------------------------------------------------- */

/* One step; *at moves past what it used. Without a transaction (it was removed) or after NEWKEYS
 * all input is ignored. */
static enum parse_status parse_some(struct app_flow *af, struct ssh_state *st,
                                    struct app_input *in, uint32_t *at)
{
    enum direction d = in->direction;

    if (st->skip[d] > 0) {
        uint32_t n = MIN(st->skip[d], in->len - *at);

        st->skip[d] -= n;
        *at += n;
        return PARSE_OK;
    }
    if (st->tx == NULL) {
        *at = in->len;
        return PARSE_OK;
    }
    switch (st->tx->ds[d].state) {
    case SSH_IN_PROGRESS:
        return banner(st, in, at);
    case SSH_BANNER_WAIT_EOL:
        return end_of_banner(st, in, at);
    case SSH_BANNER_DONE:
        return record(af, st, in, at);
    default:
        *at = in->len;
        return PARSE_OK;
    }
}

/* Each call has bytes of one direction. A flow has exactly one transaction, created with its first
 * bytes; when the engine removes it, tx_close() clears the pointer and no second one begins. */
enum parse_status ssh_parse(struct app_flow *af, struct app_input *in)
{
    struct ssh_state *st = af->state;
    enum parse_status status = PARSE_OK;
    uint32_t at = 0;
    bool in_banner;

    if (!st->started) {
        st->started = true;
        st->tx = (struct ssh_tx *)app_tx_new(af);
        if (st->tx == NULL)
            return PARSE_STOP;
    }
    in_banner = st->tx != NULL && st->tx->ds[in->direction].state < SSH_BANNER_DONE;
    while (at < in->len && status == PARSE_OK && !af->stopped)
        status = parse_some(af, st, in, &at);
    /* A complete banner is inspected at once, without waiting for more of the stream. */
    if (in_banner && status == PARSE_OK && st->tx->ds[in->direction].state >= SSH_BANNER_DONE)
        app_trigger_raw_inspection(af, in->direction);
    in->consumed = af->stopped ? in->len : at;
    return status;
}
