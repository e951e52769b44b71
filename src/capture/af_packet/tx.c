/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/tx.c - a ring of outgoing frames, shared with the kernel (PACKET_TX_RING).
 *
 * One call sends all frames of the ring, and no other thread runs in between. sendmmsg() instead
 * lets the kernel reschedule after each message, if that woke another thread. A client or server on
 * this machine would then preempt the engine at each frame.
 *
 * `hdr_len` makes the kernel copy each frame when it takes it. Otherwise sent data would point into
 * the slot, and a virtual interface returns the slot while the data are still in use. */
#include "capture/af_packet/af_packet.h"

#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"

/* An odd number of cache lines, so that slots do not all map to a few sets of the cache. */
#define SLOT_SIZE (31u * 64)
#define BLOCK_SIZE (64u << 10)
#define BLOCKS 4u
#define BLOCK_SLOTS (BLOCK_SIZE / SLOT_SIZE)
#define RING_SIZE ((size_t)BLOCKS * BLOCK_SIZE)
#define SLOTS (BLOCKS * BLOCK_SLOTS)
/* In bytes; the kernel's default would fill after some hundred frames. */
#define SEND_BUFFER (1 << 20)
/* Longest wait for a full device queue before frames are dropped. */
#define WAIT_MS 1000
/* Offset at which the kernel expects the data of a TX slot of V2, without TP_STATUS options. */
#define DATA_AT TPACKET_ALIGN(sizeof(struct tpacket2_hdr))

struct af_tx {
    int fd;
    size_t longest;                     /* vnet header included */
    uint8_t *map;
    unsigned next;                      /* the slot to be filled */
    unsigned pending;                   /* those before it that the kernel has not taken */
};

static struct tpacket2_hdr *slot(const struct af_tx *tx, unsigned i)
{
    return (struct tpacket2_hdr *)(tx->map + (size_t)(i / BLOCK_SLOTS) * BLOCK_SIZE +
                                   (size_t)(i % BLOCK_SLOTS) * SLOT_SIZE);
}

/* Acquire and release order the frame's bytes with the status word, as the kernel does on its
 * side. */
static uint32_t status(const struct af_tx *tx, unsigned i)
{
    return __atomic_load_n(&slot(tx, i)->tp_status, __ATOMIC_ACQUIRE);
}

static void set_status(struct af_tx *tx, unsigned i, uint32_t value)
{
    __atomic_store_n(&slot(tx, i)->tp_status, value, __ATOMIC_RELEASE);
}

static int set_int(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value));
}

static int make_ring(struct af_tx *tx)
{
    struct tpacket_req rq = { .tp_block_size = BLOCK_SIZE, .tp_frame_size = SLOT_SIZE,
                              .tp_block_nr = BLOCKS, .tp_frame_nr = SLOTS };

    /* PACKET_LOSS: the kernel skips a malformed frame and sends the others. */
    if (set_int(tx->fd, SOL_PACKET, PACKET_VERSION, TPACKET_V2) < 0 ||
        set_int(tx->fd, SOL_PACKET, PACKET_LOSS, 1) < 0 ||
        setsockopt(tx->fd, SOL_PACKET, PACKET_TX_RING, &rq, sizeof(rq)) < 0)
        return -1;
    if (set_int(tx->fd, SOL_SOCKET, SO_SNDBUFFORCE, SEND_BUFFER) < 0)
        set_int(tx->fd, SOL_SOCKET, SO_SNDBUF, SEND_BUFFER);
    tx->map = mmap(NULL, RING_SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, tx->fd, 0);
    if (tx->map == MAP_FAILED)
        tx->map = NULL;
    return tx->map != NULL ? 0 : -1;
}

/* Takes ownership of fd, also when it returns NULL. */
struct af_tx *af_tx_new(int fd, unsigned mtu)
{
    struct af_tx *tx = calloc(1, sizeof(*tx));

    if (tx == NULL) {
        if (fd >= 0)
            close(fd);
        return NULL;
    }
    tx->fd = fd;
    tx->longest = MIN(AF_VNET_HDR_LEN + ETH_HLEN + mtu, SLOT_SIZE - DATA_AT);
    if (fd >= 0 && make_ring(tx) == 0)
        return tx;
    af_tx_free(tx, NULL);
    return NULL;
}

void af_tx_free(struct af_tx *tx, struct late_close *late)
{
    if (tx == NULL)
        return;
    if (tx->map != NULL)
        munmap(tx->map, RING_SIZE);
    late_close(late, tx->fd);
    free(tx);
}

/* Rejects frames that the kernel would skip silently (PACKET_LOSS). The caller sends them with
 * sendmmsg(), where an error can be counted. */
static bool fits(const struct af_tx *tx, const struct virtio_net_hdr *vnet_hdr, size_t len)
{
    size_t sum_end = (size_t)vnet_hdr->csum_start + vnet_hdr->csum_offset + sizeof(uint16_t);

    return len <= tx->longest && len >= AF_VNET_HDR_LEN + ETH_HLEN &&
           vnet_hdr->gso_type == VIRTIO_NET_HDR_GSO_NONE &&
           ((vnet_hdr->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) == 0 ||
            sum_end <= len - AF_VNET_HDR_LEN);
}

/* Copies the frame into the next slot. False if the slot is not free or the frame does not fit; the
 * caller then sends it without the ring, after a flush. */
bool af_tx_put(struct af_tx *tx, const struct msghdr *m, size_t len)
{
    struct tpacket2_hdr *h = slot(tx, tx->next);
    uint8_t *to = (uint8_t *)h + DATA_AT;
    struct virtio_net_hdr vnet_hdr;

    memcpy(&vnet_hdr, m->msg_iov[0].iov_base, AF_VNET_HDR_LEN);
    if (!fits(tx, &vnet_hdr, len) || status(tx, tx->next) != TP_STATUS_AVAILABLE)
        return false;
    for (size_t i = 0; i < m->msg_iovlen; i++) {
        memcpy(to, m->msg_iov[i].iov_base, m->msg_iov[i].iov_len);
        to += m->msg_iov[i].iov_len;
    }
    vnet_hdr.hdr_len = (uint16_t)(len - AF_VNET_HDR_LEN);
    memcpy((uint8_t *)h + DATA_AT, &vnet_hdr, AF_VNET_HDR_LEN);
    h->tp_len = (uint32_t)len;
    set_status(tx, tx->next, TP_STATUS_SEND_REQUEST);
    tx->next = (tx->next + 1) % SLOTS;
    tx->pending++;
    return true;
}

static bool wait_for_space(const struct af_tx *tx)
{
    struct pollfd at = { .fd = tx->fd, .events = POLLOUT };

    return poll(&at, 1, WAIT_MS) > 0 && (at.revents & POLLOUT) != 0;
}

/* The first frame that the kernel has not taken. */
static unsigned first_pending(const struct af_tx *tx)
{
    return (tx->next + SLOTS - tx->pending) % SLOTS;
}

/* The kernel takes slots in order, so the slots that it has not taken are the last ones. */
static void count_taken(struct af_tx *tx)
{
    while (tx->pending > 0 && status(tx, first_pending(tx)) != TP_STATUS_SEND_REQUEST)
        tx->pending--;
}

/* Takes the rest back and counts it as lost. */
static COLD unsigned drop_rest(struct af_tx *tx)
{
    unsigned lost = tx->pending, first = first_pending(tx);

    for (; tx->pending > 0; tx->pending--)
        set_status(tx, first_pending(tx), TP_STATUS_AVAILABLE);
    tx->next = first;
    return lost;
}

/* Sends the frames in the ring. Each round makes progress, waits for a full device queue, or drops,
 * so the loop ends. Returns the number of lost frames, with errno. */
unsigned af_tx_flush(struct af_tx *tx)
{
    unsigned lost = 0;

    while (tx->pending > 0) {
        bool failed = send(tx->fd, NULL, 0, MSG_DONTWAIT) < 0;
        unsigned before = tx->pending;

        count_taken(tx);
        if (LIKELY(tx->pending < before) || (failed && errno == EINTR))
            continue;
        if (!failed) {
            errno = ENXIO; /* the kernel waits at another slot: a new socket is needed */
            return lost + drop_rest(tx);
        }
        if (errno == ENOBUFS) { /* a queue is full and drops this frame; length 0 skips it */
            slot(tx, first_pending(tx))->tp_len = 0;
            lost++;
        } else if (errno != EAGAIN || !wait_for_space(tx)) {
            return lost + drop_rest(tx);
        }
    }
    return lost;
}
