/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_xdp/socket.c - the sockets of one thread and their rings, with libxdp.
 *
 * Each interface has four rings: frames to fill (fill), received frames (received), frames to send
 * (send) and sent frames (sent). The two interfaces of a bridge share one memory, so that the
 * engine forwards a frame without a copy. */
#include "config.h"

#ifdef HAVE_XDP
#include "capture/af_xdp/af_xdp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>
#include <xdp/xsk.h>

#include "base/array.h"
#include "base/report/log.h"

/* Linux 5.11 has both; the values are those of asm-generic/socket.h. */
#ifndef SO_PREFER_BUSY_POLL
#define SO_PREFER_BUSY_POLL 69
#endif
#ifndef SO_BUSY_POLL_BUDGET
#define SO_BUSY_POLL_BUDGET 70
#endif

/* With fewer free frames, wait for more: they go to the kernel together. */
#define FILL_BATCH 32
/* The kernel sends about this many frames per call in copy mode. */
#define SEND_BATCH 32

/* One interface. The kernel's totals since it was opened are in `before`. */
struct xdp_side {
    struct xdp_conf *conf;
    int if_index, promisc_fd, fd;
    struct xsk_socket *socket;          /* NULL: the socket was another process's */
    void *map[4];                       /* then its rings; NULL: none */
    size_t map_len[4];
    struct xsk_ring_prod fill, send;
    struct xsk_ring_cons received, sent;
    unsigned unsubmitted; /* frames to send that are not yet in the kernel's part of the ring */
    unsigned under_way;                 /* frames that the kernel has, to be sent */
    struct xdp_statistics before;
};

/* One thread; `memory` outlives the sockets. */
struct xdp_sockets {
    struct xdp_memory *memory;
    struct xsk_umem *umem;
    struct xdp_side side[2];
    unsigned count, queue;
};

/* --- opening ------------------------------------------------------------------------------ */

static int fail(const struct xdp_side *side, const char *what, int error, struct err *err)
{
    const char *name = side->conf->device.name;

    if (error == EBUSY)
        return err_set(err, "%s: another program has a socket of AF_XDP on that queue", name);
    if (error == EOPNOTSUPP && (side->conf->bind_flags & XDP_ZEROCOPY) != 0)
        return err_set(err, "%s: its driver must copy: force-bind-mode: none, or copy", name);
    return err_set(err, "%s: %s: %s%s", name, what, strerror(error), net_rights_hint(error));
}

/* The first interface's fill and sent rings belong to the memory. */
static int open_memory(struct xdp_sockets *s, struct err *err)
{
    struct xdp_side *side = &s->side[0];
    const struct xsk_umem_config config = {
        .fill_size = side->conf->ring_size, .comp_size = side->conf->ring_size,
        .frame_size = s->memory->size,
        .flags = side->conf->unaligned ? XDP_UMEM_UNALIGNED_CHUNK_FLAG : 0,
    };
    int status = xsk_umem__create(&s->umem, s->memory->area, s->memory->len, &side->fill,
                                  &side->sent, &config);

    return status == 0 ? 0 : fail(side, "the kernel does not take the memory for AF_XDP",
                                  -status, err);
}

/* INHIBIT_PROG_LOAD: prog.c has the program, libxdp must not load its own. */
static int open_socket(struct xdp_sockets *s, struct xdp_side *side, struct err *err)
{
    const struct xsk_socket_config config = {
        .rx_size = side->conf->ring_size, .tx_size = side->conf->ring_size,
        .libxdp_flags = XSK_LIBXDP_FLAGS__INHIBIT_PROG_LOAD,
        .bind_flags = (uint16_t)side->conf->bind_flags,
    };
    int status = xsk_socket__create_shared(&side->socket, side->conf->device.name, s->queue,
                                           s->umem, &side->received, &side->send, &side->fill,
                                           &side->sent, &config);

    if (status != 0)
        return fail(side, "cannot open a socket of AF_XDP", -status, err);
    side->fd = xsk_socket__fd(side->socket);
    return 0;
}

/* Promiscuous mode lasts as long as this socket exists. */
static int make_promiscuous(struct xdp_side *side, struct err *err)
{
    struct packet_mreq promisc = { .mr_ifindex = side->if_index, .mr_type = PACKET_MR_PROMISC };

    if (!side->conf->promisc)
        return 0;
    side->promisc_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (side->promisc_fd < 0 || setsockopt(side->promisc_fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP,
                                           &promisc, sizeof(promisc)) < 0)
        return fail(side, "cannot make it promiscuous", errno, err);
    return 0;
}

/* SO_PREFER_BUSY_POLL lets this thread process the queue instead of the interrupt. Failing costs
 * speed only. */
static void prefer_busy_poll(const struct xdp_side *side)
{
    const struct xdp_conf *conf = side->conf;
    int fd = side->fd, on = 1, us = (int)conf->busy_poll_us;
    int budget = (int)conf->busy_poll_budget;

    if (!conf->busy_poll)
        return;
    if (setsockopt(fd, SOL_SOCKET, SO_PREFER_BUSY_POLL, &on, sizeof(on)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL, &us, sizeof(us)) < 0 ||
        setsockopt(fd, SOL_SOCKET, SO_BUSY_POLL_BUDGET, &budget, sizeof(budget)) < 0)
        log_info("af-xdp", "%s: no busy polling: %s", conf->device.name, strerror(errno));
}

static int find_interface(struct xdp_side *side, struct err *err)
{
    struct net_device now;

    if (net_device_read(side->conf->device.name, &now, err) < 0)
        return -1;
    if (!now.is_up)
        return err_set(err, "interface %s is down: `ip link set dev %s up`",
                       side->conf->device.name, side->conf->device.name);
    side->if_index = now.index;
    return 0;
}

static int open_side(struct xdp_sockets *s, unsigned i, struct err *err)
{
    struct xdp_side *side = &s->side[i];

    if (find_interface(side, err) < 0)
        return -1;
    if (xdp_prog_open(side->conf, side->if_index, err) < 0 ||
        (i == 0 && open_memory(s, err) < 0) || open_socket(s, side, err) < 0 ||
        make_promiscuous(side, err) < 0)
        return -1;
    prefer_busy_poll(side);
    return 0;
}

static struct xdp_sockets *sockets_new(struct xdp_conf *const *conf, unsigned count,
                                       unsigned queue, struct xdp_memory *memory, struct err *err)
{
    struct xdp_sockets *s = calloc(1, sizeof(*s));

    if (s == NULL) {
        err_set(err, "%s: no memory for its socket", conf[0]->device.name);
        return NULL;
    }
    s->memory = memory;
    s->queue = queue;
    s->count = count;
    for (unsigned i = 0; i < count; i++) {
        s->side[i].conf = conf[i];
        s->side[i].promisc_fd = s->side[i].fd = -1;
    }
    return s;
}

/* The kernel redirects nothing here before xdp_sockets_start(). */
struct xdp_sockets *xdp_sockets_open(struct xdp_conf *const *conf, unsigned count, unsigned queue,
                                     struct xdp_memory *memory, struct err *err)
{
    struct xdp_sockets *s = sockets_new(conf, count, queue, memory, err);

    if (s == NULL)
        return NULL;
    for (unsigned i = 0; i < count; i++)
        if (open_side(s, i, err) < 0) {
            xdp_sockets_close(s);
            return NULL;
        }
    xdp_sockets_kick(s);
    return s;
}

int xdp_sockets_start(struct xdp_sockets *s, struct err *err)
{
    for (unsigned i = 0; i < s->count; i++)
        if (xdp_prog_enable(&s->side[i].conf->prog, s->queue, xdp_sockets_fd(s, i), err) < 0)
            return -1;
    return 0;
}

/* The second socket first, since it uses the first one's memory registration. */
void xdp_sockets_close(struct xdp_sockets *s)
{
    if (s == NULL)
        return;
    for (unsigned i = s->count; i-- > 0;) {
        struct xdp_side *side = &s->side[i];

        if (side->socket != NULL)
            xsk_socket__delete(side->socket);
        else if (side->fd >= 0)
            close(side->fd);
        for (unsigned k = 0; k < ARRAY_LEN(side->map); k++)
            if (side->map[k] != NULL)
                munmap(side->map[k], side->map_len[k]);
        if (side->promisc_fd >= 0)
            close(side->promisc_fd);
    }
    if (s->umem != NULL)
        xsk_umem__delete(s->umem);
    free(s);
}

int xdp_sockets_fd(const struct xdp_sockets *s, unsigned side)
{
    return s->side[side].fd;
}

int xdp_sockets_if_index(const struct xdp_sockets *s, unsigned side)
{
    return s->side[side].if_index;
}

/* --- the process changes ------------------------------------------------------------------ */

/* What the numbers of a socket mean, and which descriptors go with it: the memory with that of the
 * first side only. */
enum xdp_shape { SHAPE_RING, SHAPE_FRAME, SHAPE_FRAMES, SHAPE_INDEX };
enum xdp_more { MORE_LINK, MORE_MEMORY };

int xdp_sockets_export(const struct xdp_sockets *s, struct capture_socket *at, struct err *err)
{
    for (unsigned i = 0; i < s->count; i++) {
        const struct xdp_side *side = &s->side[i];

        at[i] = (struct capture_socket){ .fd = fcntl(side->fd, F_DUPFD_CLOEXEC, 3) };
        at[i].more[MORE_LINK] = fcntl(side->conf->prog.link_fd, F_DUPFD_CLOEXEC, 3);
        at[i].more[MORE_MEMORY] = i == 0 ? fcntl(s->memory->fd, F_DUPFD_CLOEXEC, 3) : 0;
        if (at[i].fd < 0 || at[i].more[MORE_LINK] < 0 || at[i].more[MORE_MEMORY] < 0)
            return fail(side, "cannot hand its socket over", errno, err);
        snprintf(at[i].device, sizeof(at[i].device), "%s", side->conf->device.name);
        at[i].shape[SHAPE_RING] = side->received.size;
        at[i].shape[SHAPE_FRAME] = s->memory->size;
        at[i].shape[SHAPE_FRAMES] = s->memory->count;
        at[i].shape[SHAPE_INDEX] = (uint64_t)side->if_index;
    }
    return 0;
}

/* Producer and consumer rings of libxdp have the same members, but for what is cached. */
#define SET_RING(ring_, map_, offset_, size_)                                                     \
    do {                                                                                          \
        (ring_)->mask = (size_) - 1;                                                              \
        (ring_)->size = (size_);                                                                  \
        (ring_)->producer = (uint32_t *)((uint8_t *)(map_) + (offset_).producer);                 \
        (ring_)->consumer = (uint32_t *)((uint8_t *)(map_) + (offset_).consumer);                 \
        (ring_)->flags = (uint32_t *)((uint8_t *)(map_) + (offset_).flags);                       \
        (ring_)->ring = (uint8_t *)(map_) + (offset_).desc;                                       \
    } while (0)

static int map_rings(struct xdp_side *side, uint32_t size, struct err *err)
{
    struct xdp_mmap_offsets off;
    socklen_t len = sizeof(off);
    const off_t page[4] = { XDP_UMEM_PGOFF_FILL_RING, XDP_UMEM_PGOFF_COMPLETION_RING,
                            XDP_PGOFF_RX_RING, XDP_PGOFF_TX_RING };

    if (getsockopt(side->fd, SOL_XDP, XDP_MMAP_OFFSETS, &off, &len) < 0)
        return fail(side, "cannot take its socket over", errno, err);
    side->map_len[0] = off.fr.desc + size * sizeof(uint64_t);
    side->map_len[1] = off.cr.desc + size * sizeof(uint64_t);
    side->map_len[2] = off.rx.desc + size * sizeof(struct xdp_desc);
    side->map_len[3] = off.tx.desc + size * sizeof(struct xdp_desc);
    for (unsigned i = 0; i < ARRAY_LEN(page); i++) {
        void *map = mmap(NULL, side->map_len[i], PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_POPULATE, side->fd, page[i]);

        if (map == MAP_FAILED)
            return fail(side, "cannot map its rings", errno, err);
        side->map[i] = map;
    }
    SET_RING(&side->fill, side->map[0], off.fr, size);
    SET_RING(&side->sent, side->map[1], off.cr, size);
    SET_RING(&side->received, side->map[2], off.rx, size);
    SET_RING(&side->send, side->map[3], off.tx, size);
    return 0;
}

static int adopt_side(struct xdp_side *side, const struct capture_socket *from, struct err *err)
{
    const char *name = side->conf->device.name;
    uint64_t size = from->shape[SHAPE_RING];

    if (strcmp(from->device, name) != 0)
        return err_set(err, "the thread that reads %s here reads %s in the engine that runs: take "
                       "over with its interfaces, in the same order", name, from->device);
    if (find_interface(side, err) < 0)
        return -1;
    if (from->shape[SHAPE_INDEX] != (uint64_t)side->if_index)
        return err_set(err, "%s is another interface than that of the engine that runs", name);
    if (size == 0 || size > UINT32_MAX / 2 || (size & (size - 1)) != 0)
        return err_set(err, "%s: the engine that runs describes no ring", name);
    side->fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 3);
    if (side->fd < 0)
        return fail(side, "cannot take its socket over", errno, err);
    if (xdp_prog_adopt(side->conf, side->if_index, from->more[MORE_LINK], err) < 0)
        return -1;
    return map_rings(side, (uint32_t)size, err) < 0 ? -1 : make_promiscuous(side, err);
}

static int adopt(struct xdp_sockets *s, const struct capture_socket *at, struct err *err)
{
    uint64_t size = at[0].shape[SHAPE_FRAME], frames = at[0].shape[SHAPE_FRAMES];

    if (size == 0 || size > UINT32_MAX || frames == 0 || frames > UINT32_MAX)
        return err_set(err, "the engine that runs describes no memory of AF_XDP");
    if (at[s->count - 1].fd < 0 || (s->count == 1 && at[1].fd >= 0))
        return err_set(err, "%s: copy-mode differs from the engine that runs: that needs a restart",
                       s->side[0].conf->device.name);
    if (xdp_memory_adopt(s->memory, (unsigned)size, (unsigned)frames, at[0].more[MORE_MEMORY],
                         err) < 0)
        return -1;
    for (unsigned i = 0; i < s->count; i++)
        if (adopt_side(&s->side[i], &at[i], err) < 0)
            return -1;
    return 0;
}

struct xdp_sockets *xdp_sockets_adopt(struct xdp_conf *const *conf, unsigned count,
                                      struct xdp_memory *memory, const struct capture_socket *at,
                                      struct err *err)
{
    struct xdp_sockets *s = sockets_new(conf, count, 0, memory, err);

    if (s == NULL)
        return NULL;
    if (adopt(s, at, err) == 0)
        return s;
    xdp_sockets_close(s);
    return NULL;
}

static uint32_t position(const uint32_t *at)
{
    return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

/* The positions are in the rings, which both processes map. */
void xdp_sockets_resume(struct xdp_sockets *s)
{
    struct xdp_stats others = { 0 };

    xdp_memory_resume(s->memory);
    for (unsigned i = 0; i < s->count; i++) {
        struct xdp_side *side = &s->side[i];

        side->fill.cached_prod = position(side->fill.producer);
        side->fill.cached_cons = position(side->fill.consumer) + side->fill.size;
        side->send.cached_prod = position(side->send.producer);
        side->send.cached_cons = position(side->send.consumer) + side->send.size;
        side->received.cached_prod = position(side->received.producer);
        side->received.cached_cons = position(side->received.consumer);
        side->sent.cached_prod = position(side->sent.producer);
        side->sent.cached_cons = position(side->sent.consumer);
        side->under_way = xdp_memory_count(s->memory, (uint8_t)(FRAME_BEING_SENT << i));
        xdp_sockets_stats(s, i, &others);       /* what was lost before is the other's */
    }
    xdp_sockets_kick(s);
}

/* --- frames in and out -------------------------------------------------------------------- */

/* Returns the number of frames, which belong to their packets until xdp_frame_done(). The
 * descriptors come from the kernel, not from the network. */
unsigned xdp_sockets_receive(struct xdp_sockets *s, unsigned i, struct xdp_frame *out,
                             unsigned want)
{
    struct xdp_side *side = &s->side[i];
    struct xdp_memory *m = s->memory;
    uint32_t at;
    unsigned count = xsk_ring_cons__peek(&side->received, want, &at);

    for (unsigned k = 0; k < count; k++) {
        const struct xdp_desc *d = xsk_ring_cons__rx_desc(&side->received, at + k);

        out[k].data = m->area + xsk_umem__add_offset_to_addr(d->addr);
        out[k].len = d->len;
        m->state[xdp_frame_of(m, out[k].data)] = FRAME_WITH_PACKET;
    }
    if (count > 0)
        xsk_ring_cons__release(&side->received, count);
    return count;
}

/* Frees frames that the kernel has sent. */
static void take_back(struct xdp_sockets *s, unsigned i)
{
    struct xdp_side *side = &s->side[i];
    uint32_t at;
    unsigned count = xsk_ring_cons__peek(&side->sent, side->under_way, &at);

    for (unsigned k = 0; k < count; k++) {
        uint64_t addr = *xsk_ring_cons__comp_addr(&side->sent, at + k);

        xdp_frame_done(s->memory, (unsigned)(addr / s->memory->size),
                       (uint8_t)(FRAME_BEING_SENT << i));
    }
    if (count > 0)
        xsk_ring_cons__release(&side->sent, count);
    side->under_way -= count;
}

/* Returns free frames to the kernel; each port of a bridge gets half of them. */
static void refill(struct xdp_sockets *s, struct xdp_side *side, unsigned share)
{
    struct xdp_memory *m = s->memory;
    unsigned space = xsk_prod_nb_free(&side->fill, share), count = MIN(MIN(space, share),
                                                                      m->free_count);
    uint32_t at;

    if (count < FILL_BATCH && space < side->fill.size)
        return;
    if (count == 0 || xsk_ring_prod__reserve(&side->fill, count, &at) != count)
        return;
    for (unsigned k = 0; k < count; k++) {
        uint32_t frame = m->free[--m->free_count];

        m->state[frame] = FRAME_WITH_KERNEL;
        *xsk_ring_prod__fill_addr(&side->fill, at + k) = (uint64_t)frame * m->size;
    }
    xsk_ring_prod__submit(&side->fill, count);
}

/* Moves frames between the free list and the kernel's rings. Receiving stops when the fill ring is
 * empty. */
void xdp_sockets_kick(struct xdp_sockets *s)
{
    for (unsigned i = 0; i < s->count; i++)
        if (s->side[i].under_way > 0)
            take_back(s, i);
    for (unsigned i = 0; i < s->count; i++)
        refill(s, &s->side[i], s->memory->free_count / (s->count - i));
}

/* Puts the frame in the TX ring; the kernel sees it after xdp_sockets_flush(). False: the ring is
 * full. */
bool xdp_sockets_send(struct xdp_sockets *s, unsigned i, const uint8_t *data, uint32_t len)
{
    struct xdp_side *side = &s->side[i];
    uint32_t at;

    if (xsk_ring_prod__reserve(&side->send, 1, &at) != 1)
        return false;
    *xsk_ring_prod__tx_desc(&side->send, at) = (struct xdp_desc){
        .addr = (uint64_t)(data - s->memory->area), .len = len };
    s->memory->state[xdp_frame_of(s->memory, data)] |= (uint8_t)(FRAME_BEING_SENT << i);
    side->unsubmitted++;
    return true;
}

/* In copy mode one call sends only a batch, and fails with EAGAIN while there is more. */
static void push_out(const struct xdp_sockets *s, unsigned i)
{
    unsigned tries = s->side[i].under_way / SEND_BATCH + 2;

    while (tries-- > 0 && xsk_ring_prod__needs_wakeup(&s->side[i].send))
        if (sendto(xdp_sockets_fd(s, i), NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0 || errno != EAGAIN)
            return;
}

/* Also retries frames that could not be sent before. */
void xdp_sockets_drive(struct xdp_sockets *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        if (s->side[i].conf->busy_poll || xsk_ring_prod__needs_wakeup(&s->side[i].fill))
            (void)recvfrom(xdp_sockets_fd(s, i), NULL, 0, MSG_DONTWAIT, NULL, NULL);
        if (s->side[i].under_way > 0)
            push_out(s, i);
    }
}

void xdp_sockets_flush(struct xdp_sockets *s)
{
    for (unsigned i = 0; i < s->count; i++) {
        struct xdp_side *side = &s->side[i];

        if (side->unsubmitted == 0)
            continue;
        xsk_ring_prod__submit(&side->send, side->unsubmitted);
        side->under_way += side->unsubmitted;
        side->unsubmitted = 0;
        push_out(s, i);
    }
}

/* The kernel's totals only grow; `add` gets the difference. rx_ring_full and rx_dropped are packets
 * that were lost; the other values overlap with them. */
void xdp_sockets_stats(struct xdp_sockets *s, unsigned i, struct xdp_stats *add)
{
    struct xdp_side *side = &s->side[i];
    struct xdp_statistics now = { 0 };
    socklen_t len = sizeof(now);

    if (getsockopt(xdp_sockets_fd(s, i), SOL_XDP, XDP_STATISTICS, &now, &len) < 0)
        return;
    add->drops += now.rx_dropped - side->before.rx_dropped + now.rx_ring_full -
                  side->before.rx_ring_full;
    side->before = now;
}
#endif
