/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/frames.h - frames for rules and outputs. Parsers create them with app/parser.h. */
#ifndef APP_FRAMES_H
#define APP_FRAMES_H

#include "app/tx.h"

/* Rules and logs can read a frame of a stream until a packet of its direction has passed its last
 * byte. A frame of a datagram lives as long as the datagram. */
struct app_frame_view {
    uint32_t id;
    unsigned type;
    uint64_t offset, tx_id;
    int64_t len;
    uint64_t inspected;         /* bytes of it that rules have inspected */
    uint8_t logged;             /* a bit per output */
    bool over;                  /* all its bytes have arrived */
    enum direction direction;
};
bool app_frames_required(const struct app_flow *af);     /* of any protocol; by rules or outputs */
bool app_frames_each(const struct app_flow *af, enum direction direction,
                     bool (*visit)(const struct app_frame_view *frame, void *arg), void *arg);
/* Returns the number of stream bytes that the parser has not consumed yet. */
uint32_t app_untaken(const struct app_flow *af, enum direction direction);
bool app_frames_any(const struct app_flow *af, enum direction direction);
bool app_frame_find(const struct app_flow *af, enum direction direction, uint32_t frame,
                    struct app_frame_view *out);
void app_frame_set_inspected(struct app_flow *af, enum direction direction, uint32_t frame,
                             uint64_t bytes);
void app_frame_set_logged(struct app_flow *af, enum direction direction, uint32_t frame,
                          uint8_t bits);
/* Returns the part of the stream that is kept for frames: part `index`, between two gaps. False: no
 * more parts. */
bool app_frames_part(const struct app_flow *af, enum direction direction, unsigned index,
                      struct slice *data, uint64_t *offset);
/* Returns the stream offset up to which data have arrived, or have been parsed. */
uint64_t app_frames_edge(const struct app_flow *af, enum direction direction, bool parsed);

#endif
