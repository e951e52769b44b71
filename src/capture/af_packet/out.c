/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/out.c - the sockets through which frames leave an interface, each frame after
 * the kernel's vnet header. */
#include "capture/af_packet/af_packet.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/report/log.h"

/* Whether the peer interface accepts frames that join several segments. Only an attempt shows
 * this. */
enum { JOINS_UNTRIED, JOINS, JOINS_NOT };

/* The thread that gives verdicts or its helper sends, never both at once; others read the
 * atomics. */
struct af_out {
    const struct af_conf *conf;
    int fd;
    uint32_t mtu;                       /* atomic */
    struct af_tx *tx;                   /* for single frames; NULL: the kernel has no ring */
    bool size_logged;
    int joins;                          /* atomic, as the next */
    uint32_t failed;                    /* frames */
};

/* A socket with protocol 0 receives nothing (packet(7)). */
static int connect_out(const struct af_conf *conf)
{
    struct sockaddr_ll at = { .sll_family = AF_PACKET,
                              .sll_ifindex = (int)if_nametoindex(conf->bridge.peer) };
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

/* Two sockets: one for sendmmsg(), one whose TX ring takes single frames. */
static void connect_both(struct af_out *out)
{
    struct net_device peer = { 0 };

    out->fd = connect_out(out->conf);
    out->tx = NULL;
    if (out->fd >= 0 && net_device_read(out->conf->bridge.peer, &peer, NULL) == 0)
        out->tx = af_tx_new(connect_out(out->conf), peer.mtu);
    __atomic_store_n(&out->mtu, peer.mtu, __ATOMIC_RELAXED);
}

static void disconnect(struct af_out *out, struct late_close *late)
{
    af_tx_free(out->tx, late);
    late_close(late, out->fd);
}

/* The kernel does not check the segment size of a GSO frame against the peer's MTU. So frames are
 * only joined if the peer takes every frame that can come in. */
static bool peer_takes_all(const struct af_conf *conf)
{
    struct net_device peer;

    return net_device_read(conf->bridge.peer, &peer, NULL) == 0 && peer.mtu >= conf->facts.mtu;
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
    disconnect(out, out->conf->late);
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
                    "off lro off`, or a larger MTU there", len - AF_VNET_HDR_LEN,
                    out->conf->bridge.peer, out->conf->device.name);
    out->size_logged = true;
}

/* Logged once; from now on frames go one by one. */
static COLD void stop_joining(struct af_out *out)
{
    log_info("af-packet", "%s takes no joined segments: %s", out->conf->bridge.peer,
             strerror(errno));
    __atomic_store_n(&out->joins, JOINS_NOT, __ATOMIC_RELAXED);
}

/* Counts frames that were not sent. An interface that was removed and has come back has another
 * index, so the sockets must be opened again. */
static COLD void lost(struct af_out *out, unsigned frames)
{
    __atomic_fetch_add(&out->failed, frames, __ATOMIC_RELAXED);
    if (errno == ENXIO || errno == ENODEV || errno == EBADF) {
        disconnect(out, NULL);
        connect_both(out);
    }
}

/* EMSGSIZE, EINVAL and EOPNOTSUPP mean that the interface refuses this kind of frame. Any other
 * error is a full queue or an interface that is down. */
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

/* Sends single frames from `from` on through the TX ring while it takes them. Returns the first
 * message that has not been sent. */
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

/* Counts the messages, from the first one on, that must go without the ring. */
static unsigned without_ring(const struct af_out *out, const struct af_message *message,
                             unsigned count)
{
    unsigned n = 1;

    while (n < count && (out->tx == NULL || message[n].frames > 1))
        n++;
    return n;
}

/* Returns how many messages are sent or lost; 0 if nothing was tried. An error of sendmmsg(2)
 * concerns the first message only; later ones report theirs on the next call. */
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

/* Returns early after the first refused joined frame: see af_packet.h. */
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
