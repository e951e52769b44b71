/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http2/frame.h - frames (RFC 9113, 4.1 and 6), and what those say that bring no
 * content. */
#ifndef APP_HTTP2_FRAME_H
#define APP_HTTP2_FRAME_H

#include "app/proto/http2/tx.h"

#define H2_FRAME_HEADER 9
enum h2_type {
    H2_DATA, H2_HEADERS, H2_PRIORITY, H2_RST_STREAM, H2_SETTINGS, H2_PUSH_PROMISE, H2_PING,
    H2_GOAWAY, H2_WINDOW_UPDATE, H2_CONTINUATION,
};
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

/* frame.c: a complete frame other than DATA. False: the parser stops. */
bool h2_frame_parse(struct app_flow *af, enum direction d, const struct h2_frame *f,
                    struct slice payload, uint64_t *tx_id);
void h2_note_add(struct h2_tx *t, enum direction d, enum h2_note_kind kind, uint16_t setting,
                 uint32_t value);
/* SETTINGS as in a frame, or (RFC 7540, 3.2.1) as an HTTP/1 header has them. */
void h2_settings_parse(struct h2_tx *t, enum direction d, struct slice payload);
void h2_frame_count(struct h2_tx *t, enum direction d, uint8_t type);

#endif
