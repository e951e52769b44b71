/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/sip/sip.c - SIP: detection, and one transaction per message. */
#include "app/proto/sip/sip.h"

#include "app/proto.h"
#include "app/reports.h"

#include <string.h>

struct sip_state {
    bool in_frame[2];                   /* an incomplete message has its frame already */
    uint32_t frame[2];
    struct { uint32_t seen, parsed; } waiting[2];       /* bytes of the incomplete message */
};

#define SHORT 2048              /* bytes of an incomplete message that may be parsed each time */

static const struct app_name events[] = { SIP_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* Without a transaction the event is lost: the message has none of its own. */
static void event_on_last(struct app_flow *af, unsigned event)
{
    if (af->last != NULL)
        app_tx_event(af->last, event);
}

static void make_frames(struct app_flow *af, const struct app_input *in,
                        const struct sip_layout *at, uint32_t len, uint64_t id)
{
    enum direction d = in->direction;
    unsigned more = d == TO_SERVER ? 0 : 1;

    app_frame(af, d, SIP_FRAME_REQUEST_LINE + more, in->offset, at->line, id);
    app_frame(af, d, SIP_FRAME_REQUEST_HEADERS + more, in->offset + at->line, at->headers, id);
    if (len > at->body)
        app_frame(af, d, SIP_FRAME_REQUEST_BODY + more, in->offset + at->body, len - at->body,
                  id);
}

/* The message is parsed again, now with its parts kept. */
static bool add_message(struct app_flow *af, const struct app_input *in,
                        const struct sip_layout *at, uint32_t len, uint32_t frame)
{
    struct sip_tx *t = (struct sip_tx *)app_tx_new(af);
    struct sip_layout again;

    if (t == NULL)
        return false;
    t->direction = in->direction;
    sip_message_parse(bytes_of(in->data, len), in->direction, t, &again);
    t->sdp = sdp_parse(bytes_of(in->data + at->body, len - at->body), &t->tx.arena);
    t->tx.progress[in->direction] = 1;
    t->tx.unidirectional[OTHER_DIRECTION(in->direction)] = true;
    make_frames(af, in, at, len, t->tx.id);
    app_frame_set_tx(af, in->direction, frame, t->tx.id);
    return true;
}

/* A datagram must be a complete message. */
static enum parse_status parse_udp(struct app_flow *af, struct app_input *in)
{
    uint32_t frame = app_frame(af, in->direction, SIP_FRAME_PDU, in->offset, in->len,
                               APP_FRAME_NO_TX);
    struct sip_layout at;

    switch (sip_message_parse(app_input_bytes(in), in->direction, NULL, &at)) {
    case SIP_PARSED:
        return add_message(af, in, &at, in->len, frame) ? PARSE_OK : PARSE_STOP;
    case SIP_INCOMPLETE:
        event_on_last(af, SIP_INCOMPLETE_DATA);
        return PARSE_STOP;
    case SIP_INVALID:
        event_on_last(af, SIP_INVALID_DATA);
        return PARSE_STOP;
    }
    return PARSE_STOP;
}

/* The frame of a message that is not complete has an unknown length. */
static void open_frame(struct app_flow *af, const struct app_input *in)
{
    struct sip_state *st = af->state;

    if (st->in_frame[in->direction])
        return;
    st->in_frame[in->direction] = true;
    st->frame[in->direction] = app_frame(af, in->direction, SIP_FRAME_PDU, in->offset, -1,
                                         APP_FRAME_NO_TX);
}

static bool has_blank_line(const uint8_t *data, uint32_t from, uint32_t len)
{
    const uint8_t *at = data + from - MIN(from, 3u), *end = data + len;

    while (end - at >= 4 && (at = memchr(at, '\r', (size_t)(end - at))) != NULL) {
        if (end - at >= 4 && memcmp(at, "\r\n\r\n", 4) == 0)
            return true;
        at++;
    }
    return false;
}

/* Long headers that come in small pieces are parsed again when they may be complete, or when they
 * have grown by a quarter: with each piece, the work would be quadratic. */
static bool is_due(struct sip_state *st, const struct app_input *in)
{
    uint32_t seen = st->waiting[in->direction].seen, parsed = st->waiting[in->direction].parsed;

    st->waiting[in->direction].seen = in->len;
    if (in->len > SHORT && in->len < parsed + parsed / 4 && !in->end &&
        !has_blank_line(in->data, seen, in->len))
        return false;
    st->waiting[in->direction].parsed = in->len;
    return true;
}

/* Over TCP, Content-Length is the body's length (RFC 3261 section 18.3). Without it there is no
 * body. The framework limits how many bytes of headers can wait. */
static enum parse_status parse_tcp(struct app_flow *af, struct app_input *in)
{
    struct sip_state *st = af->state;
    struct sip_layout at;
    enum sip_parse parsed;
    uint64_t len;

    in->consumed = 0;
    if (in->len == 0)
        return PARSE_OK;
    open_frame(af, in);
    if (!is_due(st, in))
        return PARSE_MORE;
    parsed = sip_message_parse(app_input_bytes(in), in->direction, NULL, &at);
    if (parsed == SIP_INVALID) {
        event_on_last(af, SIP_INVALID_DATA);
        return PARSE_STOP;
    }
    len = at.body + at.content_length;
    if (parsed == SIP_INCOMPLETE || len > in->len) {
        in->need = parsed == SIP_INCOMPLETE ? 0 : (uint32_t)MIN(len, UINT32_MAX);
        if (parsed == SIP_PARSED)
            st->waiting[in->direction].parsed = 0;      /* due when all of the body is there */
        return PARSE_MORE;
    }
    in->consumed = (uint32_t)len;
    st->in_frame[in->direction] = false;
    st->waiting[in->direction].seen = st->waiting[in->direction].parsed = 0;
    app_frame_set_length(af, in->direction, st->frame[in->direction], (int64_t)len);
    return add_message(af, in, &at, (uint32_t)len, st->frame[in->direction]) ? PARSE_OK :
           PARSE_STOP;
}

static enum parse_status sip_parse(struct app_flow *af, struct app_input *in)
{
    return in->is_udp ? parse_udp(af, in) : parse_tcp(af, in);
}

#define METHOD(text) \
    { .transport = APP_TCP | APP_UDP, .directions = APP_TS, .bytes = text, .len = sizeof(text) - 1 }

/* UPDATE is detected over UDP only. */
static const struct app_pattern patterns[] = {
    METHOD("REGISTER"), METHOD("INVITE"), METHOD("ACK"), METHOD("BYE"), METHOD("CANCEL"),
    METHOD("REFER"), METHOD("PRACK"), METHOD("SUBSCRIBE"), METHOD("NOTIFY"), METHOD("PUBLISH"),
    METHOD("MESSAGE"), METHOD("INFO"),
    { .transport = APP_UDP, .directions = APP_TS, .bytes = "UPDATE", .len = 6 },
    { .transport = APP_TCP | APP_UDP, .directions = APP_TC, .bytes = "SIP/2.0", .len = 7,
      .depth = 8 },
    { .bytes = NULL },
};

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "sip.user_agent", "sip.ua", NULL }, { NULL, NULL, NULL } },
};

const struct app_proto app_sip = {
    .id = APP_PROTO_sip,
    .name = "sip",
    .frames_count_from_one = true,
    .reports = &reports,
    .raw_on_tx_end = true,
    .transports = APP_TCP | APP_UDP,
    .patterns = patterns,
    .state_size = sizeof(struct sip_state),
    .tx_size = sizeof(struct sip_tx),
    .parse = sip_parse,
    .progress_done = { 1, 1 },
    .events = events,
    .frames = (const char *const[]){ SIP_FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = sip_buffers,
    .logs = sip_logs,
    .alert_metadata = sip_alert_metadata,
};
