/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet_port.c - the way out of an inline pair: a vector's frames by one system call,
 * straight from the ring they came in by. Segments in a row go as one frame, see frame_join.h. */
#include "capture/af_packet.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/log.h"
#include "capture/frame_join.h"
#include "packet/checksum.h"

_Static_assert(AF_NOTE_LEN == FRAME_JOIN_NOTE_LEN, "it is the same note");

struct af_port {
    const struct af_conf *conf;
    struct counters *counters;
    counter_id errors, truncated, joined;
    int fd;
    bool joins, said_size, said_truncated;
    unsigned count;
    struct packet *frame[VECTOR_FILL];
    /* What is handed to the kernel: frames, or what stands for several of them. */
    struct mmsghdr message[VECTOR_FILL];
    unsigned frames[VECTOR_FILL];           /* of each message */
    struct iovec part[2 * VECTOR_FILL];
    uint8_t head[VECTOR_FILL / 2][FRAME_JOIN_HEAD_MAX];
};

/* A socket that receives nothing. */
static int connect_out(const struct af_conf *conf)
{
    struct sockaddr_ll at = { .sll_family = AF_PACKET,
                              .sll_ifindex = (int)if_nametoindex(conf->peer) };
    int fd = at.sll_ifindex > 0 ? socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0) : -1, on = 1;

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&at, sizeof(at)) < 0 ||
        setsockopt(fd, SOL_PACKET, PACKET_VNET_HDR, &on, sizeof(on)) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

/* Of one that is made of others the kernel does not look whether they are too large. */
static bool peer_takes_all(const struct af_conf *conf)
{
    struct net_device peer;

    return net_device_read(conf->peer, &peer, NULL) == 0 && peer.mtu >= conf->facts.mtu;
}

struct af_port *af_port_new(const struct af_conf *conf, struct counters *counters)
{
    struct af_port *port = xcalloc(1, sizeof(*port));

    port->conf = conf;
    port->counters = counters;
    port->errors = counter_register("capture.afpacket.send_errors", COUNTER_SUM);
    port->truncated = counter_register("capture.afpacket.send_truncated", COUNTER_SUM);
    port->joined = counter_register("capture.afpacket.send_joined", COUNTER_SUM);
    port->fd = connect_out(conf);
    port->joins = peer_takes_all(conf);
    return port;
}

void af_port_free(struct af_port *port)
{
    if (port->fd >= 0)
        close(port->fd);
    free(port);
}

static COLD void say_too_large(struct af_port *port, size_t len)
{
    if (!port->said_size)
        log_warning("af-packet", "a frame of %zu bytes is too large for %s: `ethtool -K %s gro "
                    "off lro off`, or a larger MTU there", len - AF_NOTE_LEN, port->conf->peer,
                    port->conf->device.name);
    port->said_size = true;
}

/* The first message would not go. An interface that was taken away and has come back is another
 * one for the kernel. */
static COLD unsigned send_failed(struct af_port *port)
{
    bool refused = errno == EMSGSIZE || errno == EINVAL || errno == EOPNOTSUPP;

    if (refused && port->frames[0] > 1) {
        log_info("af-packet", "%s takes no joined segments: %s", port->conf->peer,
                 strerror(errno));
        port->joins = false;
        return 0;
    }
    counter_add(port->counters, port->errors, port->frames[0]);
    if (refused) {
        say_too_large(port, port->part[0].iov_len);
    } else if (errno == ENXIO || errno == ENODEV || errno == EBADF) {
        if (port->fd >= 0)
            close(port->fd);
        port->fd = connect_out(port->conf);
    }
    return port->frames[0];
}

/* Frames from `at` on as messages; returns the number of these. */
static unsigned prepare(struct af_port *port, unsigned at)
{
    struct iovec *part = port->part;
    unsigned count = 0, heads = 0;

    for (unsigned n; at < port->count; at += n, count++) {
        struct packet **frame = &port->frame[at];
        struct iovec *start = part;

        n = port->joins ? frame_join_count(frame, port->count - at) : 1;
        if (n > 1) {
            uint8_t *head = port->head[heads++];

            *part++ = (struct iovec){ head, frame_join_head(frame, n, head) };
            for (unsigned i = 0; i < n; i++)
                *part++ = (struct iovec){ frame[i]->payload, frame[i]->payload_len };
        } else {
            *part++ = (struct iovec){ frame[0]->data - AF_NOTE_LEN, frame[0]->len + AF_NOTE_LEN };
        }
        port->frames[count] = n;
        port->message[count].msg_hdr = (struct msghdr){ .msg_iov = start,
                                                        .msg_iovlen = (size_t)(part - start) };
    }
    return count;
}

/* Frames from `at` on; returns how many of them are done with. */
static unsigned send_from(struct af_port *port, unsigned at)
{
    unsigned count = prepare(port, at), frames = 0;
    int sent = sendmmsg(port->fd, port->message, count, 0);

    if (sent <= 0)
        return errno == EINTR ? 0 : send_failed(port);
    for (int i = 0; i < sent; i++) {
        frames += port->frames[i];
        if (port->frames[i] > 1)
            counter_add(port->counters, port->joined, port->frames[i]);
    }
    return frames;
}

void af_port_flush(struct af_port *port)
{
    unsigned done = 0;

    while (done < port->count)
        done += send_from(port, done);
    port->count = 0;
}

/* Where the kernel is still to complete the checksum, it expects the sum over the pseudo header
 * there; a frame that was written to has a whole one. */
static COLD void settle_modified(struct packet *p)
{
    struct virtio_net_hdr note;

    memcpy(&note, p->data - AF_NOTE_LEN, AF_NOTE_LEN);
    if ((note.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0)
        return;
    if (note.gso_type == VIRTIO_NET_HDR_GSO_NONE)
        note = (struct virtio_net_hdr){ 0 };
    else
        packet_begin_checksum(p);
    memcpy(p->data - AF_NOTE_LEN, &note, AF_NOTE_LEN);
}

static COLD void say_truncated(struct af_port *port, const struct packet *p)
{
    counter_inc(port->counters, port->truncated);
    if (!port->said_truncated)
        log_warning("af-packet", "%s: a frame of %u bytes came in with %u only, and cannot go on: "
                    "`ethtool -K %s gro off lro off`", port->conf->device.name, p->wire_len,
                    p->len, port->conf->device.name);
    port->said_truncated = true;
}

void af_port_send(struct af_port *port, struct packet *p)
{
    if ((p->action & ACTION_DROP) != 0 && port->conf->copy == BRIDGE_IPS)
        return;
    if (UNLIKELY(p->len < p->wire_len)) {
        say_truncated(port, p);
        return;
    }
    if (UNLIKELY((p->flags & PACKET_MODIFIED) != 0))
        settle_modified(p);
    if (port->count == VECTOR_FILL)
        af_port_flush(port);
    port->frame[port->count++] = p;
}
