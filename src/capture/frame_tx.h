/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/frame_tx.h - Ethernet frames out of an interface, by a plain packet socket, many with
 * one call. One thread. */
#ifndef CAPTURE_FRAME_PORT_H
#define CAPTURE_FRAME_PORT_H

#include "base/counters.h"

struct frame_port;

/* errors: counts frames that would not go. */
struct frame_port *frame_port_new(const char *interface, struct counters *counters,
                                  counter_id errors);
void frame_port_free(struct frame_port *port);      /* NULL is fine */
/* data: as long as until the next flush. */
void frame_port_send(struct frame_port *port, uint8_t *data, uint32_t len);
void frame_port_flush(struct frame_port *port);

#endif
