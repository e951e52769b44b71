/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/send_thread.h - a helper thread that passes the packets of another one to the
 * kernel after their verdicts.
 *
 * The call that sends a packet also takes it on its way: through the firewall, out of the
 * interface, between hosts on one machine up to the receiving program. That is more than half of
 * the time of an inline engine, and the next packets can be inspected meanwhile.
 *
 * Buffers circulate in two rings, and are sent in their order. */
#ifndef CAPTURE_SEND_THREAD_H
#define CAPTURE_SEND_THREAD_H

#include "base/system/helper_thread.h"

struct send_thread;
/* Runs on the helper thread, or on that of the caller of send_thread_free(). */
typedef void send_thread_fn(void *arg, void *buffer);

/* NULL: no thread could be created. The thread runs on the CPUs of the calling one, with its nice
 * level, as the plan has it. Its counts go to `side`, which is borrowed. */
struct send_thread *send_thread_new(struct helper_thread *side, size_t buffer_size,
                                    send_thread_fn *send, void *arg);
/* Sends what is left; NULL is fine. */
void send_thread_free(struct send_thread *s);

/* Only by the thread that gives verdicts. A buffer to fill; zeroed at first, later as it was
 * left. */
void *send_thread_buffer(struct send_thread *s);
/* Passes the buffer with so many packets on, and returns another one; waits while all are under
 * way. */
void send_thread_push(struct send_thread *s, unsigned packets);
/* Whether the kernel has everything, so that the caller may send itself. */
bool send_thread_is_idle(const struct send_thread *s);

#endif
