/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/send_thread.h - a helper thread that passes the packets of another thread to the
 * kernel after their verdicts.
 *
 * The system call that sends a packet also runs its path through the kernel: the firewall, the
 * interface, and between hosts on one machine the receiving program. That is more than half of the
 * time of an inline engine. With a helper thread the next packets are inspected meanwhile.
 *
 * Buffers circulate in two rings, and are sent in their order. */
#ifndef CAPTURE_SEND_THREAD_H
#define CAPTURE_SEND_THREAD_H

#include "base/system/helper_thread.h"

struct send_thread;
/* Runs on the helper thread, or on the thread that calls send_thread_free(). */
typedef void send_thread_fn(void *arg, void *buffer);

/* NULL: no thread could be created. The thread runs on the CPUs of the calling one, with its nice
 * level, as the plan has it. Its counts go to `side`, which is borrowed. */
struct send_thread *send_thread_new(struct helper_thread *side, size_t buffer_size,
                                    send_thread_fn *send, void *arg);
/* Sends what is left; NULL is fine. */
void send_thread_free(struct send_thread *s);

/* Returns a buffer to fill, zeroed at first, later with its old contents. Only the thread that
 * gives verdicts calls this and the next function. */
void *send_thread_buffer(struct send_thread *s);
/* Passes on the buffer with this many packets, and returns another one; waits while all are in
 * use. */
void send_thread_push(struct send_thread *s, unsigned packets);
/* True if the kernel has everything, so that the caller may send itself. */
bool send_thread_is_idle(const struct send_thread *s);

#endif
