/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet_port.c - the way out of an inline pair: a vector's frames by one system call,
 * straight from the ring they came in by. */
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
#include "packet/checksum.h"

struct af_port {
    const struct af_conf *conf;
    struct counters *counters;
    counter_id errors, truncated;
    int fd;
    bool said_size, said_truncated;
    unsigned count;
    struct mmsghdr message[VECTOR_FILL];
    struct iovec part[VECTOR_FILL];
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

struct af_port *af_port_new(const struct af_conf *conf, struct counters *counters)
{
    struct af_port *port = xcalloc(1, sizeof(*port));

    port->conf = conf;
    port->counters = counters;
    port->errors = counter_register("capture.afpacket.send_errors", COUNTER_SUM);
    port->truncated = counter_register("capture.afpacket.send_truncated", COUNTER_SUM);
    for (unsigned i = 0; i < VECTOR_FILL; i++)
        port->message[i].msg_hdr = (struct msghdr){ .msg_iov = &port->part[i], .msg_iovlen = 1 };
    port->fd = connect_out(conf);
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

/* The first frame of those left would not go. An interface that was taken away and has come
 * back is another one for the kernel. */
static COLD void send_failed(struct af_port *port, unsigned at)
{
    counter_inc(port->counters, port->errors);
    if (errno == EMSGSIZE || errno == EINVAL) {
        say_too_large(port, port->part[at].iov_len);
        return;
    }
    if (errno != ENXIO && errno != ENODEV && errno != EBADF)
        return;
    if (port->fd >= 0)
        close(port->fd);
    port->fd = connect_out(port->conf);
}

void af_port_flush(struct af_port *port)
{
    unsigned done = 0;

    while (done < port->count) {
        int sent = sendmmsg(port->fd, &port->message[done], port->count - done, 0);

        if (sent > 0) {
            done += (unsigned)sent;
        } else if (errno != EINTR) {
            send_failed(port, done);
            done++;
        }
    }
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
    port->part[port->count++] = (struct iovec){ p->data - AF_NOTE_LEN, p->len + AF_NOTE_LEN };
}
