/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/raw_send.h - sends packets that the engine creates, by raw sockets. One thread
 * each; the sockets are opened at start, while the process has the rights. */
#ifndef CAPTURE_RAW_SEND_H
#define CAPTURE_RAW_SEND_H

#include "base/base.h"

struct raw_sender;

struct raw_sender *raw_sender_new(void);
void raw_sender_free(struct raw_sender *s);
/* Sends a frame with its link header on an interface. -1: it was not sent. */
int raw_send_frame(struct raw_sender *s, int if_index, const uint8_t *frame, size_t len);
/* Sends an IP packet by the routes; mark 0: none. */
int raw_send_ip(struct raw_sender *s, const uint8_t *packet, size_t len, uint32_t mark);

#endif
