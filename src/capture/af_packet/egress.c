/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/egress.c - the egress of an inline pair: sends a vector's frames with one
 * system call, straight from the receive ring, or through a helper thread. Consecutive segments
 * leave as one frame, see gso_frame.h. A datagram that the kernel has reassembled leaves in
 * fragments. */
#include "capture/af_packet/af_packet.h"

#include <linux/virtio_net.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/report/log.h"
#include "capture/transmit/ip_fragment.h"
#include "capture/transmit/gso_frame.h"
#include "packet/checksum.h"

_Static_assert(AF_VNET_HDR_LEN == GSO_VNET_HDR_LEN && AF_VNET_HDR_LEN == FRAGMENT_VNET_HDR_LEN,
               "it is the same vnet_hdr");

/* Bounds the stack: 64 KiB at an MTU of 1500 are 45 fragments, so three calls. */
#define FRAGMENTS_AT_ONCE 16

/* Belongs to the thread that gives the verdicts. */
struct af_egress {
    const struct af_conf *conf;
    struct counters *counters;
    counter_id errors, truncated, joined, fragmented;
    struct af_out *out;
    struct af_helper *helper;           /* NULL: none */
    uint32_t counted;                   /* failed frames that are already in the counter */
    bool truncated_logged;
    unsigned count;
    struct packet *frame[VECTOR_FILL];
    /* The messages for the kernel: one per frame, or one for several. */
    struct mmsghdr header[VECTOR_FILL];
    struct af_message message[VECTOR_FILL];
    struct iovec part[2 * VECTOR_FILL];
    uint8_t head[VECTOR_FILL / 2][GSO_FRAME_HEAD_MAX];
};

struct af_egress *af_egress_new(const struct af_conf *conf, struct counters *counters,
                            struct af_helper *helper)
{
    struct af_egress *egress = xcalloc(1, sizeof(*egress));

    egress->conf = conf;
    egress->counters = counters;
    egress->helper = helper;
    egress->errors = counter_register("capture.afpacket.send_errors", COUNTER_SUM);
    egress->truncated = counter_register_own("capture.afpacket.send_truncated", COUNTER_SUM);
    egress->joined = counter_register_own("capture.afpacket.send_joined", COUNTER_SUM);
    egress->fragmented = counter_register_own("capture.afpacket.send_fragmented", COUNTER_SUM);
    egress->out = af_out_new(conf);
    return egress;
}

void af_egress_free(struct af_egress *egress)
{
    af_out_free(egress->out);
    free(egress);
}

/* Writes n frames as one message into `part`; returns the next free part. One frame is sent in
 * place, with the vnet header that the kernel put before it. */
static struct iovec *put_message(struct af_egress *egress, struct packet *const *frame, unsigned n,
                                 uint8_t *head, struct iovec *part)
{
    if (n == 1) {
        *part++ =
            (struct iovec){ frame[0]->data - AF_VNET_HDR_LEN, frame[0]->len + AF_VNET_HDR_LEN };
        return part;
    }
    *part++ = (struct iovec){ head, gso_frame_head(frame, n, head) };
    for (unsigned i = 0; i < n; i++)
        *part++ = (struct iovec){ frame[i]->payload, frame[i]->payload_len };
    counter_add(egress->counters, egress->joined, n);
    return part;
}

static size_t len_of(const struct iovec *part, const struct iovec *end)
{
    size_t len = 0;

    for (; part < end; part++)
        len += part->iov_len;
    return len;
}

/* Makes messages of the frames from `at` on; returns their number. */
static unsigned prepare(struct af_egress *egress, unsigned at)
{
    bool joins = af_out_joins(egress->out);
    struct iovec *part = egress->part;
    unsigned count = 0, heads = 0;

    for (unsigned n; at < egress->count; at += n, count++) {
        struct packet **frame = &egress->frame[at];
        struct iovec *start = part;

        n = joins ? gso_frame_count(frame, egress->count - at) : 1;
        part = put_message(egress, frame, n, egress->head[heads], part);
        heads += n > 1;
        egress->message[count] = (struct af_message){ n, len_of(start, part) };
        egress->header[count].msg_hdr = (struct msghdr){ .msg_iov = start,
                                                       .msg_iovlen = (size_t)(part - start) };
    }
    return count;
}

/* While the helper is busy, messages must go through it to keep their order. */
static void send_messages(struct af_egress *egress, struct mmsghdr *header,
                          const struct af_message *message, unsigned count)
{
    unsigned done = 0;

    if (af_helper_is_busy(egress->helper)) {
        af_helper_send(egress->helper, egress->out, header, message, count);
        return;
    }
    while (done < count)
        done += af_out_send(egress->out, header + done, message + done, count - done);
}

/* Sends frames from `at` on; returns how many of them are sent or lost. It returns early when the
 * interface refuses joined frames, so that these are prepared again one by one. */
static unsigned send_from(struct af_egress *egress, unsigned at)
{
    unsigned count = prepare(egress, at), frames = 0, sent;
    bool tries;

    /* Whether the interface accepts joined frames is tried on this thread, because only here they
     * can still be sent one by one. */
    tries = af_out_tries_to_join(egress->out) && count < egress->count - at;
    if (af_helper_is_busy(egress->helper) ||
        (!tries && af_helper_accepts(egress->helper, egress->message, count))) {
        af_helper_send(egress->helper, egress->out, egress->header, egress->message, count);
        return egress->count - at;
    }
    sent = af_out_send(egress->out, egress->header, egress->message, count);
    for (unsigned i = 0; i < sent; i++)
        frames += egress->message[i].frames;
    return frames;
}

/* After this no frame is needed any more, and its packet may return to the ring. */
void af_egress_flush(struct af_egress *egress)
{
    uint32_t failed;

    for (unsigned done = 0; done < egress->count;)
        done += send_from(egress, done);
    egress->count = 0;
    failed = af_out_failed(egress->out);
    if (UNLIKELY(failed != egress->counted))
        counter_add(egress->counters, egress->errors, failed - egress->counted);
    egress->counted = failed;
}

/* With NEEDS_CSUM the kernel still has to complete the checksum and expects the sum over the pseudo
 * header in its field (virtio specification, VIRTIO_NET_HDR_F_NEEDS_CSUM). A packet that was
 * modified has a complete checksum instead. So this clears the request, or for GSO writes the
 * partial sum again. */
static COLD void fix_partial_checksum(struct packet *p)
{
    struct virtio_net_hdr vnet_hdr;

    memcpy(&vnet_hdr, p->data - AF_VNET_HDR_LEN, AF_VNET_HDR_LEN);
    if ((vnet_hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0)
        return;
    if (vnet_hdr.gso_type == VIRTIO_NET_HDR_GSO_NONE)
        vnet_hdr = (struct virtio_net_hdr){ 0 };
    else
        packet_begin_checksum(p);
    memcpy(p->data - AF_VNET_HDR_LEN, &vnet_hdr, AF_VNET_HDR_LEN);
}

/* Counts every frame, logs the first: a log line per packet would be a denial of service. */
static COLD void log_truncated(struct af_egress *egress, const struct packet *p)
{
    counter_inc(egress->counters, egress->truncated);
    if (!egress->truncated_logged)
        log_warning("af-packet", "%s: a frame of %u bytes came in with %u only, and cannot go on: "
                    "`ethtool -K %s gro off lro off`", egress->conf->device.name, p->wire_len,
                    p->len, egress->conf->device.name);
    egress->truncated_logged = true;
}

/* Whether the frame exceeds the MTU and no one after us segments it: only a datagram that the
 * kernel reassembled for `defrag`. */
static bool must_fragment(const struct af_egress *egress, struct packet *p)
{
    struct virtio_net_hdr vnet_hdr;

    memcpy(&vnet_hdr, p->data - AF_VNET_HDR_LEN, AF_VNET_HDR_LEN);
    if (vnet_hdr.gso_type != VIRTIO_NET_HDR_GSO_NONE ||
        !ip_fragment_can(p, af_out_mtu(egress->out), egress->conf->facts.mtu))
        return false;
    if ((vnet_hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0)
        packet_fix_checksums(p);
    return true;
}

/* Before this all earlier frames have been flushed, so order is kept. */
static COLD void send_fragments(struct af_egress *egress, const struct packet *p)
{
    uint32_t end = p->len - (uint32_t)(p->l3 - p->data) - (p->l3[0] & 0xfu) * 4, at = 0;
    uint8_t head[FRAGMENTS_AT_ONCE][IP_FRAGMENT_HEAD_MAX];
    struct af_message message[FRAGMENTS_AT_ONCE];
    struct mmsghdr header[FRAGMENTS_AT_ONCE];
    struct iovec part[2 * FRAGMENTS_AT_ONCE];
    struct slice body;

    counter_inc(egress->counters, egress->fragmented);
    while (at < end) {
        unsigned n = 0;

        for (; n < FRAGMENTS_AT_ONCE && at < end; n++, at += body.len) {
            struct iovec *own = &part[2 * n];

            own[0].iov_base = head[n];
            own[0].iov_len = ip_fragment(p, af_out_mtu(egress->out), at, head[n], &body);
            own[1] = (struct iovec){ (void *)body.data, body.len };
            message[n] = (struct af_message){ 1, own[0].iov_len + body.len };
            header[n].msg_hdr = (struct msghdr){ .msg_iov = own, .msg_iovlen = 2 };
        }
        send_messages(egress, header, message, n);
    }
}

/* A truncated frame cannot be forwarded: its rest never reached us. */
void af_egress_send(struct af_egress *egress, struct packet *p)
{
    if ((p->action & ACTION_DROP) != 0 && egress->conf->bridge.copy == BRIDGE_IPS)
        return;
    if (UNLIKELY(p->len < p->wire_len)) {
        log_truncated(egress, p);
        return;
    }
    if (UNLIKELY((p->flags & PACKET_MODIFIED) != 0))
        fix_partial_checksum(p);
    if (UNLIKELY(p->len > af_out_mtu(egress->out)) && must_fragment(egress, p)) {
        af_egress_flush(egress);
        send_fragments(egress, p);
        return;
    }
    if (egress->count == VECTOR_FILL)
        af_egress_flush(egress);
    egress->frame[egress->count++] = p;
}
