/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/send_thread.h - a thread that hands to the kernel what another one has judged.
 *
 * The call that lets a packet go also takes it on its way: through the firewall, out of the
 * interface, between hosts on one machine up to the receiving program. That is more than half of
 * the time of an inline engine, and while it goes on the next packets can be inspected.
 *
 * Buffers go to and fro by two rings, and are sent in their order. */
#ifndef CAPTURE_SEND_THREAD_H
#define CAPTURE_SEND_THREAD_H

#include "base/system/helper_thread.h"

struct send_thread;
/* On the thread, or on that of the caller of send_thread_free(). */
typedef void send_thread_fn(void *arg, void *buffer);

/* NULL: no thread can be made. The thread runs where the calling one may, with its nice level: as
 * the plan has it. Its figures go to `side`, which is borrowed. */
struct send_thread *send_thread_new(struct helper_thread *side, size_t buffer_size,
                                    send_thread_fn *send, void *arg);
/* What was to be sent is; NULL is fine. */
void send_thread_free(struct send_thread *s);

/* The judging thread alone. A buffer to fill; zero at first, else as it was left. */
void *send_thread_buffer(struct send_thread *s);
/* It goes, with so many packets in it, and there is another one; waits while all are under way. */
void send_thread_push(struct send_thread *s, unsigned packets);
/* All that it has been given is with the kernel, so the caller may send itself. */
bool send_thread_is_idle(const struct send_thread *s);

#endif
