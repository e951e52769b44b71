/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/frames.h - frames as rules and outputs read them. Parsers make them: app/parser.h. */
#ifndef APP_FRAMES_H
#define APP_FRAMES_H

#include "app/tx.h"

/* Frames are there for rules and logs until a packet of their direction has passed behind their
 * last byte, those of a datagram as long as it is. */
struct app_frame_view {
    uint32_t id;
    unsigned type;
    uint64_t offset, tx_id;
    int64_t len;
    uint64_t inspected;         /* bytes of it that rules have had */
    uint8_t logged;             /* outputs', a bit each */
    bool over;                  /* all its bytes have come */
    enum direction direction;
};
bool app_frames_required(const struct app_flow *af);     /* of any protocol, by rules or outputs */
bool app_frames_each(const struct app_flow *af, enum direction direction,
                     bool (*visit)(const struct app_frame_view *frame, void *arg), void *arg);
/* Bytes of the stream that the parser has not taken yet. */
uint32_t app_untaken(const struct app_flow *af, enum direction direction);
bool app_frames_any(const struct app_flow *af, enum direction direction);
bool app_frame_find(const struct app_flow *af, enum direction direction, uint32_t frame,
                    struct app_frame_view *out);
void app_frame_set_inspected(struct app_flow *af, enum direction direction, uint32_t frame,
                             uint64_t bytes);
void app_frame_set_logged(struct app_flow *af, enum direction direction, uint32_t frame,
                          uint8_t bits);
/* What is kept of the stream for frames: piece `index`, between two gaps. False: no more. */
bool app_frames_part(const struct app_flow *af, enum direction direction, unsigned index,
                      struct slice *data, uint64_t *offset);
/* Up to where data have come, and up to where they have been parsed. */
uint64_t app_frames_edge(const struct app_flow *af, enum direction direction, bool parsed);

#endif
