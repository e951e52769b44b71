/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/frame.h - frames (RFC 9113, 4.1 and 6), and notes about those without content. */
#ifndef APP_HTTP2_FRAME_H
#define APP_HTTP2_FRAME_H

#include "app/proto/http2/tx.h"

#define H2_FRAME_HEADER 9
#define H2_TYPE_LIST(E)                 \
    E(H2_DATA, "DATA")                  \
    E(H2_HEADERS, "HEADERS")            \
    E(H2_PRIORITY, "PRIORITY")          \
    E(H2_RST_STREAM, "RSTSTREAM")       \
    E(H2_SETTINGS, "SETTINGS")          \
    E(H2_PUSH_PROMISE, "PUSHPROMISE")   \
    E(H2_PING, "PING")                  \
    E(H2_GOAWAY, "GOAWAY")              \
    E(H2_WINDOW_UPDATE, "WINDOWUPDATE") \
    E(H2_CONTINUATION, "CONTINUATION")
enum h2_type { H2_TYPE_LIST(APP_ENUM_ID) };
#define H2_FLAG_END_STREAM  0x01
#define H2_FLAG_END_HEADERS 0x04
#define H2_FLAG_PADDED      0x08
#define H2_FLAG_PRIORITY    0x20

struct h2_frame {
    uint32_t length, stream;
    uint8_t type, flags;
    bool reserved;
};
bool h2_frame_take(struct bytes *in, struct h2_frame *out);

/* frame.c: parses a complete frame other than DATA. False: the parser stops. */
bool h2_frame_parse(struct app_flow *af, enum direction d, const struct h2_frame *f,
                    struct slice payload, uint64_t *tx_id);
void h2_note_add(struct h2_tx *t, enum direction d, enum h2_note_kind kind, uint16_t setting,
                 uint32_t value);
/* Parses SETTINGS from a frame, or from an HTTP/1 header (RFC 7540, 3.2.1). */
void h2_settings_parse(struct h2_tx *t, enum direction d, struct slice payload);
void h2_frame_count(struct h2_tx *t, enum direction d, uint8_t type);

#endif
