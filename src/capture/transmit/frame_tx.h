/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/frame_tx.h - sends Ethernet frames on an interface, by a plain packet socket,
 * many with one call. One thread. */
#ifndef CAPTURE_FRAME_TX_H
#define CAPTURE_FRAME_TX_H

#include "base/report/counters.h"
#include "capture/device/late_close.h"

struct frame_tx;

/* errors: counts frames that were not sent. late: borrowed; closes the socket in the end. */
struct frame_tx *frame_tx_new(const char *interface, struct counters *counters,
                              counter_id errors, struct late_close *late);
void frame_tx_free(struct frame_tx *tx);      /* NULL is fine */
/* data: valid until the next flush. */
void frame_tx_send(struct frame_tx *tx, uint8_t *data, uint32_t len);
void frame_tx_flush(struct frame_tx *tx);

#endif
