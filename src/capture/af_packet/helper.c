/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/helper.c - a thread that sends for the thread that gives verdicts, while a CPU
 * is idle.
 *
 * One thread processes all packets of a flow, so a single large transfer uses one CPU while the
 * others are idle. The kernel needs more than half of that time to send, which another thread can
 * do. Frames are copied for it, because they return to the pool after their verdict. */
#include "capture/af_packet/af_packet.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "capture/transmit/send_thread.h"

/* Fewer bytes are not worth the copy and the wake-up: many small frames are faster through the TX
 * ring, without a helper. */
#define MANY_BYTES (32u << 10)
#define BATCH_BYTES (192u << 10)

/* Filled by the thread that gives verdicts, then owned by the helper until it is sent. */
struct batch {
    struct af_out *out;
    unsigned count;
    size_t len;
    struct mmsghdr header[VECTOR_FILL];
    struct af_message message[VECTOR_FILL];
    struct iovec part[VECTOR_FILL];
    uint8_t data[BATCH_BYTES];
};

struct af_helper {
    const struct af_load *load;
    struct send_thread *thread;
};

/* Runs on the helper thread. */
static void send_batch(void *arg, void *buffer)
{
    struct batch *b = buffer;
    unsigned done = 0;

    (void)arg;
    while (done < b->count)
        done += af_out_send(b->out, b->header + done, b->message + done, b->count - done);
    b->count = 0;
    b->len = 0;
}

struct af_helper *af_helper_new(struct helper_thread *side, const struct af_load *load)
{
    struct af_helper *h = xcalloc(1, sizeof(*h));

    h->load = load;
    h->thread = send_thread_new(side, sizeof(struct batch), send_batch, h);
    if (h->thread == NULL) {
        free(h);
        return NULL;
    }
    return h;
}

void af_helper_free(struct af_helper *h)
{
    if (h == NULL)
        return;
    send_thread_free(h->thread);
    free(h);
}

/* Acquire in send_thread_is_idle(): when it returns idle, all earlier frames have left. */
bool af_helper_is_busy(const struct af_helper *h)
{
    return h != NULL && !send_thread_is_idle(h->thread);
}

/* `awake` is a hint: reading it relaxed may start a helper too many or too few. */
bool af_helper_accepts(const struct af_helper *h, const struct af_message *message, unsigned count)
{
    size_t len = 0;

    if (h == NULL)
        return false;
    for (unsigned i = 0; i < count; i++)
        len += message[i].len;
    return len >= MANY_BYTES &&
           __atomic_load_n(&h->load->awake, __ATOMIC_RELAXED) < h->load->cpus;
}

static void add(struct batch *b, const struct msghdr *from, const struct af_message *m)
{
    struct iovec *part = &b->part[b->count];

    part->iov_base = b->data + b->len;
    part->iov_len = m->len;
    for (size_t i = 0; i < from->msg_iovlen; i++) {
        memcpy(b->data + b->len, from->msg_iov[i].iov_base, from->msg_iov[i].iov_len);
        b->len += from->msg_iov[i].iov_len;
    }
    b->header[b->count].msg_hdr = (struct msghdr){ .msg_iov = part, .msg_iovlen = 1 };
    b->message[b->count++] = *m;
}

/* Blocks while all buffers are in use: waiting is better than losing frames. */
void af_helper_send(struct af_helper *h, struct af_out *out, const struct mmsghdr *header,
                    const struct af_message *message, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        struct batch *b = send_thread_buffer(h->thread);

        if (b->len + message[i].len > BATCH_BYTES) {
            send_thread_push(h->thread, b->count);
            b = send_thread_buffer(h->thread);
        }
        b->out = out;
        add(b, &header[i].msg_hdr, &message[i]);
    }
    send_thread_push(h->thread, ((struct batch *)send_thread_buffer(h->thread))->count);
}
