/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/raw_send.h - packets made by us onto the network, by raw sockets. One thread
 * each; the sockets are opened at once, while there are rights to. */
#ifndef CAPTURE_RAW_SEND_H
#define CAPTURE_RAW_SEND_H

#include "base/base.h"

struct raw_sender;

struct raw_sender *raw_sender_new(void);
void raw_sender_free(struct raw_sender *s);
/* A frame with its link header, out of an interface. -1: it did not go. */
int raw_send_frame(struct raw_sender *s, int if_index, const uint8_t *frame, size_t len);
/* An IP packet where the routes lead; mark 0: none. */
int raw_send_ip(struct raw_sender *s, const uint8_t *packet, size_t len, uint32_t mark);

#endif
