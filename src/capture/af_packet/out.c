/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/out.c - the socket by which frames leave an interface, each with the kernel's
 * vnet header before it. */
#include "capture/af_packet/af_packet.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/report/log.h"

/* Does the other interface take frames that stand for several? It is tried out. */
enum { JOINS_UNTRIED, JOINS, JOINS_NOT };

struct af_out {
    const struct af_conf *conf;
    int fd;
    uint32_t mtu;                       /* atomic */
    struct af_tx *tx;                   /* for single frames; NULL: the kernel has no ring */
    bool size_logged;
    int joins;                          /* atomic, as the next */
    uint32_t failed;                    /* frames */
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

static void connect_both(struct af_out *out)
{
    struct net_device peer = { 0 };

    out->fd = connect_out(out->conf);
    out->tx = NULL;
    if (out->fd >= 0 && net_device_read(out->conf->peer, &peer, NULL) == 0)
        out->tx = af_tx_new(connect_out(out->conf), peer.mtu);
    __atomic_store_n(&out->mtu, peer.mtu, __ATOMIC_RELAXED);
}

static void disconnect(struct af_out *out)
{
    af_tx_free(out->tx);
    if (out->fd >= 0)
        close(out->fd);
}

/* Of a frame that stands for others the kernel does not look whether they are too large. */
static bool peer_takes_all(const struct af_conf *conf)
{
    struct net_device peer;

    return net_device_read(conf->peer, &peer, NULL) == 0 && peer.mtu >= conf->facts.mtu;
}

struct af_out *af_out_new(const struct af_conf *conf)
{
    struct af_out *out = xcalloc(1, sizeof(*out));

    out->conf = conf;
    connect_both(out);
    out->joins = peer_takes_all(conf) ? JOINS_UNTRIED : JOINS_NOT;
    return out;
}

void af_out_free(struct af_out *out)
{
    disconnect(out);
    free(out);
}

static int joins(const struct af_out *out)
{
    return __atomic_load_n(&out->joins, __ATOMIC_RELAXED);
}

bool af_out_joins(const struct af_out *out) { return joins(out) != JOINS_NOT; }
bool af_out_tries_to_join(const struct af_out *out) { return joins(out) == JOINS_UNTRIED; }

uint32_t af_out_failed(const struct af_out *out)
{
    return __atomic_load_n(&out->failed, __ATOMIC_RELAXED);
}

uint32_t af_out_mtu(const struct af_out *out)
{
    return __atomic_load_n(&out->mtu, __ATOMIC_RELAXED);
}

static COLD void log_too_large(struct af_out *out, size_t len)
{
    if (!out->size_logged)
        log_warning("af-packet", "a frame of %zu bytes is too large for %s: `ethtool -K %s gro "
                    "off lro off`, or a larger MTU there", len - AF_VNET_HDR_LEN, out->conf->peer,
                    out->conf->device.name);
    out->size_logged = true;
}

static COLD void stop_joining(struct af_out *out)
{
    log_info("af-packet", "%s takes no joined segments: %s", out->conf->peer, strerror(errno));
    __atomic_store_n(&out->joins, JOINS_NOT, __ATOMIC_RELAXED);
}

/* Frames would not go. An interface that was taken away and has come back is another one for the
 * kernel. */
static COLD void lost(struct af_out *out, unsigned frames)
{
    __atomic_fetch_add(&out->failed, frames, __ATOMIC_RELAXED);
    if (errno == ENXIO || errno == ENODEV || errno == EBADF) {
        disconnect(out);
        connect_both(out);
    }
}

static COLD void send_failed(struct af_out *out, const struct af_message *m)
{
    bool is_refused = errno == EMSGSIZE || errno == EINVAL || errno == EOPNOTSUPP;

    if (is_refused && m->frames > 1)
        stop_joining(out);
    else if (is_refused)
        log_too_large(out, m->len);
    lost(out, m->frames);
}

static bool is_first_join(const struct af_out *out, const struct af_message *m)
{
    return m->frames > 1 && joins(out) == JOINS_UNTRIED;
}

/* Single frames from `from` on, by the ring as far as there is one and it takes them; returns the
 * first that has not gone. */
static unsigned send_by_ring(struct af_out *out, const struct mmsghdr *header,
                             const struct af_message *message, unsigned from, unsigned count)
{
    unsigned at = from, failed;

    while (at < count && out->tx != NULL && message[at].frames == 1 &&
           af_tx_put(out->tx, &header[at].msg_hdr, message[at].len))
        at++;
    failed = at > from ? af_tx_flush(out->tx) : 0;
    if (UNLIKELY(failed > 0))
        lost(out, failed);
    return at;
}

/* How many messages from the first on, which the ring does not take, go without it. */
static unsigned without_ring(const struct af_out *out, const struct af_message *message,
                             unsigned count)
{
    unsigned n = 1;

    while (n < count && (out->tx == NULL || message[n].frames > 1))
        n++;
    return n;
}

/* Returns how many messages are done with, sent or not; 0: nothing has been tried. */
static unsigned send_plain(struct af_out *out, struct mmsghdr *header,
                           const struct af_message *message, unsigned count)
{
    int sent = sendmmsg(out->fd, header, count, 0);

    if (LIKELY(sent > 0)) {
        for (int i = 0; i < sent; i++)
            if (UNLIKELY(is_first_join(out, &message[i])))
                __atomic_store_n(&out->joins, JOINS, __ATOMIC_RELAXED);
        return (unsigned)sent;
    }
    if (errno == EINTR)
        return 0;
    if (is_first_join(out, &message[0]) &&
        (errno == EMSGSIZE || errno == EINVAL || errno == EOPNOTSUPP)) {
        stop_joining(out);
        return 0;
    }
    send_failed(out, &message[0]);
    return 1;
}

unsigned af_out_send(struct af_out *out, struct mmsghdr *header, const struct af_message *message,
                     unsigned count)
{
    unsigned done = 0;

    while ((done = send_by_ring(out, header, message, done, count)) < count) {
        bool was_untried = joins(out) == JOINS_UNTRIED;

        done += send_plain(out, header + done, message + done,
                           without_ring(out, message + done, count - done));
        if (UNLIKELY(was_untried && joins(out) == JOINS_NOT))
            return done;
    }
    return done;
}
