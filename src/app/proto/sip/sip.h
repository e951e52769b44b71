/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/sip/sip.h - SIP messages (RFC 3261) and the SDP descriptions in them (RFC 4566).
 *
 * Each message is a transaction, complete at once; all of it is in the transaction's arena. */
#ifndef APP_SIP_SIP_H
#define APP_SIP_SIP_H

#include "app/log.h"
#include "app/rules.h"

#define SIP_EVENT_LIST(E)                     \
    E(SIP_INCOMPLETE_DATA, "incomplete_data") \
    E(SIP_INVALID_DATA, "invalid_data")

enum sip_event { SIP_EVENT_NONE, SIP_EVENT_LIST(APP_EVENT_ID) };

#define SIP_FRAME_LIST(E)                             \
    E(SIP_FRAME_STREAM, "stream")                     \
    E(SIP_FRAME_PDU, "pdu")                           \
    E(SIP_FRAME_REQUEST_LINE, "request.line")         \
    E(SIP_FRAME_RESPONSE_LINE, "response.line")       \
    E(SIP_FRAME_REQUEST_HEADERS, "request.headers")   \
    E(SIP_FRAME_RESPONSE_HEADERS, "response.headers") \
    E(SIP_FRAME_REQUEST_BODY, "request.body")         \
    E(SIP_FRAME_RESPONSE_BODY, "response.body")
enum { SIP_FRAME_LIST(APP_ENUM_ID) };

/* A list that grows in an arena. */
struct sdp_text {
    struct sdp_text *next;
    struct slice text;
};

struct sdp_time {
    struct sdp_time *next;
    struct slice time, repeat;
};

struct sdp_media {
    struct sdp_media *next;
    struct slice media, info, connection, key;
    struct sdp_text *bandwidths, *attributes;
};

/* Fields that are not there have no data. */
struct sdp {
    struct slice origin, name, info, uri, email, phone, connection, zone, key;
    struct sdp_text *bandwidths, *attributes;
    struct sdp_time *times;
    struct sdp_media *media;
};

/* Reads a description up to its first error; NULL if there is none. */
struct sdp *sdp_parse(struct bytes in, struct arena *arena);

struct sip_header {
    struct sip_header *next;
    struct slice name, value;           /* compact names are spelled out */
};

struct sip_tx {
    struct app_tx tx;
    enum direction direction;
    struct slice line;                  /* the first, as far as its characters are proper */
    struct slice method, uri, version, code, reason;
    struct sip_header *headers;
    struct sdp *sdp;
};
static inline struct sip_tx *sip_tx_of(const struct app_tx *tx)
{
    return (struct sip_tx *)(uintptr_t)tx;
}

/* The parts of a message, within the bytes it was read from. */
struct sip_layout {
    uint32_t line, headers, body;       /* lengths of line and headers; offset of the body */
    uint64_t content_length;
    bool has_length;
};

enum sip_parse { SIP_PARSED, SIP_INCOMPLETE, SIP_INVALID };
/* With tx NULL only the layout. */
enum sip_parse sip_message_parse(struct bytes in, enum direction direction, struct sip_tx *tx,
                                 struct sip_layout *out);

extern const struct app_buffer *const sip_buffers[];
extern const struct app_log *const sip_logs[];
void sip_alert_metadata(struct json *j, struct app_tx *tx);

#endif
