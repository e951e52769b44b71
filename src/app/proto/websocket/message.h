/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/websocket/message.h - messages of one direction: joined from frames, inflated. */
#ifndef APP_WEBSOCKET_MESSAGE_H
#define APP_WEBSOCKET_MESSAGE_H

#include "app/lib/packed_window.h"
#include "app/tx.h"
#include "base/memory/arena.h"
#include "base/memory/buf.h"
#include "base/text/bytes.h"
#include "base/text/text.h"

struct ws_inflater;

/* Zero-initialized: no message. */
struct ws_message {
    struct buf data;                /* of the incomplete message */
    bool started, compressed;
    bool is_bomb;                   /* it has inflated too much; later messages stay packed */
    struct ws_inflater *inflater;   /* from the first compressed message on; they share a window */
};

/* Text of a compressed message. Zero-initialized: none. */
struct ws_text {
    struct buf data;
    struct packed_window packed;    /* while it waits for rules and memory is scarce */
    uint32_t held;                  /* what it counts for as decompressed content */
};

static inline bool ws_message_is_started(const struct ws_message *m)
{
    return m->started;
}
/* False: the limit was reached by this frame, the rest of the message is lost. */
bool ws_message_add(struct ws_message *m, struct slice payload, bool compressed, uint32_t limit);
/* The complete message, in the arena; resets *m for the next one. */
struct slice ws_message_take(struct ws_message *m, struct arena *arena, bool *compressed);
/* Inflates up to the limit; an empty text: that is not possible. False: the direction may not
 * inflate more. */
bool ws_inflate(struct ws_message *m, struct app_flow *af, struct slice packed, uint32_t limit,
                struct ws_text *text);
/* The packet has been inspected: what waits takes less memory where much is taken. */
void ws_message_rest(struct ws_message *m);
void ws_text_rest(struct ws_text *text, struct app_flow *af);
struct slice ws_text_get(struct ws_text *text, struct app_flow *af);
void ws_text_fini(struct ws_text *text, struct app_flow *af);
void ws_message_fini(struct ws_message *m);

#endif
