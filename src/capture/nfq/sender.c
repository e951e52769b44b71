/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq/sender.c - passes verdicts to the kernel, on a helper thread where a CPU is free.
 *
 * A verdict for "all up to this id" must not overtake one for a single earlier packet. So while the
 * helper has work, all verdicts go through it. A few verdicts with none in flight are sent by the
 * thread itself, which is faster than waking the helper. */
#include "capture/nfq/nfq.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "base/array.h"
#include "capture/transmit/send_thread.h"

/* Fewer verdicts are not worth a wake-up. */
#define FEW 4

/* Belongs to the thread that gives verdicts. The helper only uses its buffer and `failed`. */
struct nfq_sender {
    int fd;
    counter_id errors;
    struct counters *counters;
    struct nfq_buffer *own;             /* NULL: the thread's are used */
    struct send_thread *thread;
    uint32_t failed;                    /* atomic: sends that failed on the thread */
    uint32_t counted;                   /* those of `failed` that are in the counters */
};

/* Runs on either thread. An error loses the verdicts of the buffer; the kernel then drops these
 * packets when the queue ends. */
static void send_all(void *arg, void *buffer)
{
    struct nfq_sender *s = arg;
    struct nfq_buffer *b = buffer;

    while (b->len > 0 && send(s->fd, b->data, b->len, 0) < 0)
        if (errno != EINTR) {
            __atomic_fetch_add(&s->failed, 1, __ATOMIC_RELAXED);
            break;
        }
    b->len = 0;
}

struct nfq_sender *nfq_sender_new(int fd, struct counters *counters, struct helper_thread *side)
{
    struct nfq_sender *s = xcalloc(1, sizeof(*s));

    s->fd = fd;
    s->counters = counters;
    s->errors = counter_register_own("capture.nfq.verdict_errors", COUNTER_SUM);
    if (side != NULL)
        s->thread = send_thread_new(side, sizeof(struct nfq_buffer), send_all, s);
    if (s->thread == NULL)
        s->own = xcalloc(1, sizeof(*s->own));
    return s;
}

/* The buffer to fill next; blocks while the helper has all of them. */
struct nfq_buffer *nfq_sender_buffer(struct nfq_sender *s)
{
    return s->own != NULL ? s->own : send_thread_buffer(s->thread);
}

/* After this the buffer may be another one: see nfq_sender_buffer(). */
void nfq_sender_send(struct nfq_sender *s, unsigned verdicts)
{
    struct nfq_buffer *b = nfq_sender_buffer(s);
    uint32_t failed;

    if (b->len == 0)
        return;
    if (s->thread == NULL || (verdicts < FEW && send_thread_is_idle(s->thread)))
        send_all(s, b);
    else
        send_thread_push(s->thread, verdicts);
    failed = __atomic_load_n(&s->failed, __ATOMIC_RELAXED);
    counter_add(s->counters, s->errors, failed - s->counted);
    s->counted = failed;
}

void nfq_sender_free(struct nfq_sender *s)
{
    send_thread_free(s->thread);
    free(s->own);
    free(s);
}
