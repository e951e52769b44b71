/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/ring.c - a packet socket with its ring: TPACKET_V3 for IDS; TPACKET_V2 inline,
 * where a frame must not wait for its block to fill. Documentation/networking/packet_mmap.rst in
 * the kernel's sources describes both.
 *
 * A frame that is too large for its V2 slot, such as a datagram that the kernel has reassembled
 * before it chose a thread, is also queued at the socket.
 *
 * The kernel keeps VLAN tags outside of the frame. The ring inserts them again, so that the
 * decoder, pcap logs and the egress see what was on the wire; PACKET_RESERVE makes space for
 * them. */
#include "capture/af_packet/af_packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory/traffic_memory.h"

#define VLAN_TAG_LEN 4
/* Space for two tags before a frame, and alignment. */
#define VLAN_HEADROOM 16
#define LINK_HEADER_LEN 22              /* Ethernet and two VLAN tags */
/* The largest IP packet with its link header, as GRO and LRO make them. */
#define LARGE_FRAME (65536 + 64)
/* The kernel also passes partly filled V3 blocks when their time is up, so a few blocks would soon
 * all be in use. */
#define BLOCKS_MIN 64
/* Per inline queue: slots for large frames would otherwise need gigabytes. */
#define RING_BYTES_MAX (64u << 20)
/* Socket queue for frames that do not fit into their slots, in bytes. */
#define COPIES_BYTES (8 << 20)

/* Belongs to the receive thread; packets of other threads only point into the map. */
struct af_ring {
    struct af_conf *conf;
    int fd, if_index;
    uint8_t *map;
    size_t map_len;
    struct af_block_ref *block_ref;
    unsigned count, next;               /* blocks */
    unsigned vnet_hdr_len;                  /* AF_VNET_HDR_LEN, or 0 */
    unsigned out;                       /* packets of all blocks that have not returned */
    int error;                          /* an errno of reading a copy; 0: none */
    struct af_stats early;              /* counts of flushed frames, and of the read at that time */
    struct tpacket_req3 size;
    bool is_closed;
    bool searches;                      /* another process has read it: the next block may be
                                         * further on */

    struct af_block_ref *block;             /* V3: the one being read; NULL: none */
    uint8_t *at;                        /* its next frame */
    uint32_t left;
};

static int fail(const struct af_ring *r, const char *what, struct err *err)
{
    return err_set(err, "%s: %s: %s%s", r->conf->device.name, what, strerror(errno),
                   net_rights_hint(errno));
}

static int set_int(int fd, int level, int option, int value)
{
    return setsockopt(fd, level, option, &value, sizeof(value));
}

/* --- opening ------------------------------------------------------------------------------ */

/* The order matters: version, headroom and vnet header must be set before the ring exists (EBUSY
 * after). The filter comes before bind(), so no packet is queued too early. */
static int prepare_socket(struct af_ring *r, struct err *err)
{
    const struct af_conf *conf = r->conf;

    r->fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    if (r->fd < 0)
        return fail(r, "cannot open a packet socket", err);
    if (af_filter_nothing(r->fd, err) < 0)
        return -1;
    if (set_int(r->fd, SOL_PACKET, PACKET_VERSION, conf->v3 ? TPACKET_V3 : TPACKET_V2) < 0)
        return fail(r, "the kernel lacks this version of packet rings", err);
    if (set_int(r->fd, SOL_PACKET, PACKET_RESERVE, VLAN_HEADROOM) < 0)
        return fail(r, "cannot reserve room before frames", err);
    if (conf->bridge.copy != BRIDGE_NONE) {
        if (set_int(r->fd, SOL_PACKET, PACKET_VNET_HDR, 1) < 0)
            return fail(r, "the kernel tells nothing of offloads", err);
        r->vnet_hdr_len = AF_VNET_HDR_LEN;
    }
    if (conf->ignore_outgoing &&
        set_int(r->fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) < 0)
        return fail(r, "cannot leave out outgoing packets", err);
    if (!conf->v3 && set_int(r->fd, SOL_PACKET, PACKET_COPY_THRESH, 1) < 0)
        return fail(r, "the kernel keeps no frames that are larger than their slot", err);
    if (conf->buffer_size > 0)
        set_int(r->fd, SOL_SOCKET, SO_RCVBUF, (int)conf->buffer_size);
    else if (!conf->v3 && set_int(r->fd, SOL_SOCKET, SO_RCVBUFFORCE, COPIES_BYTES) < 0)
        set_int(r->fd, SOL_SOCKET, SO_RCVBUF, COPIES_BYTES);
    return 0;
}

/* The size of a slot in V2; in V3, where frames are packed, it only has to be consistent. */
static unsigned frame_size(const struct af_conf *conf)
{
    unsigned head = conf->v3 ? TPACKET3_HDRLEN : TPACKET2_HDRLEN;
    unsigned body = conf->large_frames ? LARGE_FRAME : conf->facts.mtu + LINK_HEADER_LEN;

    return TPACKET_ALIGN(head + VLAN_HEADROOM + AF_VNET_HDR_LEN + TPACKET_ALIGNMENT + body);
}

static unsigned round_up(unsigned n, unsigned unit)
{
    return (n + unit - 1) / unit * unit;
}

/* A block must hold at least one frame of the largest size; the kernel requires multiples of
 * pages. */
static void shape_v3(const struct af_conf *conf, struct tpacket_req3 *rq)
{
    unsigned page = (unsigned)sysconf(_SC_PAGESIZE), size = frame_size(conf), per_block;

    rq->tp_block_size = round_up(MAX(conf->block_size, size + page), page);
    rq->tp_frame_size = size;
    per_block = rq->tp_block_size / size;
    rq->tp_block_nr = MAX(conf->ring_size / per_block + 1, (unsigned)BLOCKS_MIN);
    rq->tp_frame_nr = per_block * rq->tp_block_nr;
    rq->tp_retire_blk_tov = conf->block_timeout_ms;
}

/* Slots do not cross blocks, so each block wastes the rest of its size divided by the slot size. */
static void shape_v2(const struct af_conf *conf, struct tpacket_req3 *rq)
{
    unsigned page = (unsigned)sysconf(_SC_PAGESIZE), size = frame_size(conf), per_block;
    unsigned frames = MIN(conf->ring_size, RING_BYTES_MAX / size);

    rq->tp_block_size = conf->v2_block_size >= size ? conf->v2_block_size
                                                    : MAX(32 * page, 2 * size);
    rq->tp_block_size = round_up(rq->tp_block_size, page);
    rq->tp_frame_size = size;
    per_block = rq->tp_block_size / size;
    rq->tp_block_nr = MAX(frames / per_block, 2u);
    rq->tp_frame_nr = per_block * rq->tp_block_nr;
}

/* One reference per unit that the kernel passes: a block in V3, a slot in V2. */
static int make_block_refs(struct af_ring *r, const struct tpacket_req3 *rq, struct err *err)
{
    unsigned per_block = rq->tp_block_size / rq->tp_frame_size;

    r->count = r->conf->v3 ? rq->tp_block_nr : rq->tp_frame_nr;
    r->block_ref = calloc(r->count, sizeof(r->block_ref[0]));
    if (r->block_ref == NULL)
        return err_set(err, "%s: no memory for its ring", r->conf->device.name);
    for (unsigned i = 0; i < r->count; i++) {
        size_t at = r->conf->v3 ? (size_t)i * rq->tp_block_size
                                : (size_t)(i / per_block) * rq->tp_block_size +
                                  (size_t)(i % per_block) * rq->tp_frame_size;

        r->block_ref[i] = (struct af_block_ref){ .ring = r, .header = r->map + at };
    }
    return 0;
}

/* A ring is pinned memory. A size that the machine lacks would make the kernel's OOM killer end
 * other processes, so reject it first. */
static int check_size(const struct af_conf *conf, const struct tpacket_req3 *rq, struct err *err)
{
    uint64_t mb = ((uint64_t)rq->tp_block_nr * rq->tp_block_size >> 20) * conf->threads;
    uint64_t have = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) >> 20;

    if (mb <= have / 2)
        return 0;
    return err_set(err, "%s: rings of %llu MB for %u threads are more than half of this machine's "
                   "memory: lower af-packet.ring-size, block-size or threads", conf->device.name,
                   (unsigned long long)mb, conf->threads);
}

/* MAP_SHARED: kernel and engine write the status words of the same pages. */
static int map_ring(struct af_ring *r, const struct tpacket_req3 *rq, struct err *err)
{
    int flags = MAP_SHARED | (r->conf->mmap_locked ? MAP_LOCKED : 0);

    r->size = *rq;
    r->map_len = (size_t)rq->tp_block_nr * rq->tp_block_size;
    r->map = mmap(NULL, r->map_len, PROT_READ | PROT_WRITE, flags, r->fd, 0);
    if (r->map == MAP_FAILED) {
        r->map = NULL;
        if (errno == EAGAIN && r->conf->mmap_locked)
            return err_set(err, "%s: mmap-locked: no more memory may be locked: `ulimit -l "
                           "unlimited`, or cap_ipc_lock", r->conf->device.name);
        return fail(r, "cannot map the ring", err);
    }
    return make_block_refs(r, rq, err);
}

static int make_ring(struct af_ring *r, struct err *err)
{
    struct tpacket_req3 rq = { 0 };

    if (r->conf->v3)
        shape_v3(r->conf, &rq);
    else
        shape_v2(r->conf, &rq);
    if (check_size(r->conf, &rq, err) < 0)
        return -1;
    if (setsockopt(r->fd, SOL_PACKET, PACKET_RX_RING, &rq,
                   r->conf->v3 ? sizeof(rq) : sizeof(struct tpacket_req)) < 0) {
        if (errno == ENOMEM)
            return err_set(err, "%s: no memory for a ring of %u blocks of %u bytes: lower "
                           "af-packet.ring-size or block-size", r->conf->device.name,
                           rq.tp_block_nr, rq.tp_block_size);
        return fail(r, "cannot make the ring", err);
    }
    return map_ring(r, &rq, err);
}

/* Promiscuous mode by membership ends with the socket, so a crash leaves no interface
 * promiscuous. */
static int attach(struct af_ring *r, int *position, struct err *err)
{
    struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
                              .sll_ifindex = r->if_index };
    struct packet_mreq promisc = { .mr_ifindex = r->if_index, .mr_type = PACKET_MR_PROMISC };

    if (bind(r->fd, (struct sockaddr *)&at, sizeof(at)) < 0)
        return fail(r, "cannot bind to the interface", err);
    if (r->conf->promisc && setsockopt(r->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &promisc,
                                       sizeof(promisc)) < 0)
        return fail(r, "cannot make it promiscuous", err);
    return r->conf->threads > 1 ? af_fanout_join(r->fd, r->conf, r->if_index, position, err)
                                 : 0;
}

static void ring_free(struct af_ring *r)
{
    if (r->map != NULL)
        munmap(r->map, r->map_len);
    if (r->fd >= 0)
        close(r->fd);
    free(r->block_ref);
    free(r);
}

/* NULL with *err. The ring receives nothing before af_ring_start(). */
struct af_ring *af_ring_open(struct af_conf *conf, int *position, struct err *err)
{
    struct af_ring *r = calloc(1, sizeof(*r));
    struct net_device now;

    if (r == NULL) {
        err_set(err, "%s: no memory for its ring", conf->device.name);
        return NULL;
    }
    r->conf = conf;
    r->fd = -1;
    if (net_device_read(conf->device.name, &now, err) < 0)
        goto failed;
    r->if_index = now.index;
    if (!now.is_up) {
        err_set(err, "interface %s is down: `ip link set dev %s up`", conf->device.name,
                conf->device.name);
        goto failed;
    }
    if (af_xdp_open(conf, r->if_index, err) < 0 || prepare_socket(r, err) < 0 ||
        make_ring(r, err) < 0 || attach(r, position, err) < 0)
        goto failed;
    return r;

failed:
    ring_free(r);
    return NULL;
}

int af_ring_start(struct af_ring *r, struct err *err)
{
    return af_filter_attach(r->fd, r->conf, err);
}

static uint32_t *status_of(const struct af_ring *r, const struct af_block_ref *l)
{
    if (r->conf->v3)
        return &((struct tpacket_block_desc *)l->header)->hdr.bh1.block_status;
    return &((struct tpacket2_hdr *)l->header)->tp_status;
}

/* --- the process changes ------------------------------------------------------------------ */

/* What the numbers of a socket mean. */
enum ring_shape { SHAPE_V3, SHAPE_BLOCK_SIZE, SHAPE_BLOCK_NR, SHAPE_FRAME_SIZE, SHAPE_FRAME_NR,
                  SHAPE_VNET, SHAPE_INDEX, SHAPE_POSITION, SHAPE_JOINED_BEFORE };
enum ring_place { PLACE_NEXT, PLACE_IN_BLOCK, PLACE_AT, PLACE_LEFT };

/* A position of -1 stands as 0. */
int af_ring_export(const struct af_ring *r, int position, struct capture_socket *out,
                 struct err *err)
{
    *out = (struct capture_socket){ .fd = fcntl(r->fd, F_DUPFD_CLOEXEC, 3) };
    if (out->fd < 0)
        return err_set(err, "%s: %s", r->conf->device.name, strerror(errno));
    snprintf(out->device, sizeof(out->device), "%s", r->conf->device.name);
    out->shape[SHAPE_V3] = r->conf->v3;
    out->shape[SHAPE_BLOCK_SIZE] = r->size.tp_block_size;
    out->shape[SHAPE_BLOCK_NR] = r->size.tp_block_nr;
    out->shape[SHAPE_FRAME_SIZE] = r->size.tp_frame_size;
    out->shape[SHAPE_FRAME_NR] = r->size.tp_frame_nr;
    out->shape[SHAPE_VNET] = r->vnet_hdr_len;
    out->shape[SHAPE_INDEX] = (uint64_t)r->if_index;
    out->shape[SHAPE_POSITION] = (uint64_t)(position + 1);
    out->shape[SHAPE_JOINED_BEFORE] = r->conf->joined_before;
    return 0;
}

/* After the last packet has returned. A V3 block may be read in part. */
void af_ring_export_place(const struct af_ring *r, struct capture_socket *out)
{
    out->place[PLACE_NEXT] = r->next;
    out->place[PLACE_IN_BLOCK] = r->block != NULL;
    if (r->block == NULL)
        return;
    out->place[PLACE_AT] = (uint64_t)(r->at - (const uint8_t *)r->block->header);
    out->place[PLACE_LEFT] = r->left;
}

static int check_shape(const struct af_ring *r, const struct capture_socket *from,
                       const struct tpacket_req3 *rq, struct err *err)
{
    const char *name = r->conf->device.name;

    if (strcmp(from->device, name) != 0)
        return err_set(err, "the thread that reads %s here reads %s in the engine that runs: take "
                       "over with its interfaces, in the same order", name, from->device);
    if (from->shape[SHAPE_INDEX] != (uint64_t)r->if_index)
        return err_set(err, "%s is another interface than that of the engine that runs", name);
    if ((from->shape[SHAPE_V3] != 0) != r->conf->v3 || from->shape[SHAPE_VNET] != r->vnet_hdr_len)
        return err_set(err, "%s: copy-mode or tpacket-v3 differs from the engine that runs: that "
                       "needs a restart", name);
    if (rq->tp_frame_size == 0 || rq->tp_block_size < rq->tp_frame_size || rq->tp_block_nr == 0 ||
        rq->tp_frame_nr / rq->tp_block_nr != rq->tp_block_size / rq->tp_frame_size)
        return err_set(err, "%s: the engine that runs describes no ring", name);
    return 0;
}

static int adopt(struct af_ring *r, const struct capture_socket *from, struct err *err)
{
    struct tpacket_req3 rq = {
        .tp_block_size = (unsigned)from->shape[SHAPE_BLOCK_SIZE],
        .tp_block_nr = (unsigned)from->shape[SHAPE_BLOCK_NR],
        .tp_frame_size = (unsigned)from->shape[SHAPE_FRAME_SIZE],
        .tp_frame_nr = (unsigned)from->shape[SHAPE_FRAME_NR],
    };
    struct net_device now;

    if (net_device_read(r->conf->device.name, &now, err) < 0)
        return -1;
    r->if_index = now.index;
    r->vnet_hdr_len = r->conf->bridge.copy != BRIDGE_NONE ? AF_VNET_HDR_LEN : 0;
    r->searches = true;
    if (check_shape(r, from, &rq, err) < 0)
        return -1;
    r->fd = fcntl(from->fd, F_DUPFD_CLOEXEC, 3);
    if (r->fd < 0)
        return fail(r, "cannot take its socket over", err);
    return map_ring(r, &rq, err);
}

/* The socket stays as it is, settings of the ring included, until the interface is opened again.
 * This process switches the offloads on again that the other one has switched off. */
struct af_ring *af_ring_adopt(struct af_conf *conf, const struct capture_socket *from,
                              int *position, struct err *err)
{
    struct af_ring *r = calloc(1, sizeof(*r));

    if (r == NULL) {
        err_set(err, "%s: no memory for its ring", conf->device.name);
        return NULL;
    }
    r->conf = conf;
    r->fd = -1;
    if (adopt(r, from, err) < 0) {
        ring_free(r);
        return NULL;
    }
    *position = (int)from->shape[SHAPE_POSITION] - 1;
    conf->joined_before |= (unsigned)from->shape[SHAPE_JOINED_BEFORE];
    af_fanout_adopt(r->fd, conf, r->if_index, *position);
    return r;
}

/* A block that was read in part, if the other process has not read on in it. */
static void take_block_place(struct af_ring *r, const struct capture_socket *from)
{
    struct af_block_ref *l = &r->block_ref[(r->next + r->count - 1) % r->count];
    uint64_t at = from->place[PLACE_AT];
    uint32_t left = (uint32_t)from->place[PLACE_LEFT];

    if (!r->conf->v3 || at + sizeof(struct tpacket3_hdr) > r->size.tp_block_size || left == 0 ||
        (__atomic_load_n(status_of(r, l), __ATOMIC_ACQUIRE) & TP_STATUS_USER) == 0)
        return;
    r->block = l;
    r->at = (uint8_t *)l->header + at;
    r->left = left;
}

void af_ring_take_place(struct af_ring *r, const struct capture_socket *from)
{
    r->next = (unsigned)(from->place[PLACE_NEXT] % r->count);
    if (from->place[PLACE_IN_BLOCK] != 0)
        take_block_place(r, from);
}

int af_ring_fd(const struct af_ring *r) { return r->fd; }
int af_ring_if_index(const struct af_ring *r) { return r->if_index; }
bool af_ring_has_error(const struct af_ring *r) { return r->error != 0; }

/* SO_ERROR is cleared by reading it. */
int af_ring_take_error(struct af_ring *r)
{
    int error = r->error;
    socklen_t len = sizeof(error);

    if (error == 0)
        (void)getsockopt(r->fd, SOL_SOCKET, SO_ERROR, &error, &len);
    r->error = 0;
    return error;
}

/* Packets point into the map, so it stays until the last one returns. The map also keeps the socket
 * open for the kernel, and with it its position in the fanout group. */
void af_ring_close(struct af_ring *r)
{
    if (r == NULL)
        return;
    r->is_closed = true;
    close(r->fd);
    r->fd = -1;
    if (r->out == 0)
        ring_free(r);
}

static void read_stats(struct af_ring *r, struct af_stats *add)
{
    struct tpacket_stats_v3 st = { 0 };
    socklen_t len = r->conf->v3 ? sizeof(st) : sizeof(struct tpacket_stats);

    /* Reading resets the kernel's counters. */
    if (getsockopt(r->fd, SOL_PACKET, PACKET_STATISTICS, &st, &len) < 0)
        return;
    add->packets += st.tp_packets;
    add->drops += st.tp_drops;
}

void af_ring_stats(struct af_ring *r, struct af_stats *add)
{
    add->packets += r->early.packets;
    add->drops += r->early.drops + r->early.flushed;
    add->flushed += r->early.flushed;
    r->early = (struct af_stats){ 0 };
    read_stats(r, add);
}

/* --- blocks ------------------------------------------------------------------------------- */

/* Release: the kernel may overwrite the frames once it sees this status, so all reads come before
 * it. */
static void return_block(struct af_ring *r, struct af_block_ref *l)
{
    l->is_read = false;
    __atomic_store_n(status_of(r, l), TP_STATUS_KERNEL, __ATOMIC_RELEASE);
}

/* On the receive thread, for each packet that returns. A unit goes back to the kernel when all of
 * its frames were read and all of its packets are back, in any order. */
void af_block_release(struct af_block_ref *l)
{
    struct af_ring *r = l->ring;

    l->out--;
    r->out--;
    if (UNLIKELY(l->copy != NULL) && l->out == 0) {
        free(l->copy);
        l->copy = NULL;
    }
    if (r->is_closed) {
        if (r->out == 0)
            ring_free(r);
        return;
    }
    if (l->out == 0 && l->is_read)
        return_block(r, l);
}

bool af_ring_is_held(const struct af_ring *r)
{
    return r->block_ref[r->next].out > 0;
}

/* The other process may have read more blocks than this one knows of, and returned them. The kernel
 * fills them in order, so the first full one is next. The second round begins at the start again,
 * because the kernel may have filled earlier ones in the meantime. */
static COLD void search(struct af_ring *r)
{
    unsigned full = 0;

    for (unsigned round = 0; round < 2; round++) {
        for (full = 0; full < r->count; full++)
            if (__atomic_load_n(status_of(r, &r->block_ref[(r->next + full) % r->count]),
                                __ATOMIC_ACQUIRE) & TP_STATUS_USER)
                break;
        if (full == r->count)
            return;
    }
    r->next = (r->next + full) % r->count;
    r->searches = false;
}

/* Acquire pairs with the kernel's write of the status: frame data are visible after it. A unit with
 * packets still in flight has an old status, so `out` comes first. */
bool af_ring_is_ready(struct af_ring *r)
{
    const struct af_block_ref *l;

    if (r == NULL || r->block != NULL)
        return r != NULL;
    if (UNLIKELY(r->searches))
        search(r);
    l = &r->block_ref[r->next];
    return l->out == 0 &&
           (__atomic_load_n(status_of(r, l), __ATOMIC_ACQUIRE) & TP_STATUS_USER) != 0;
}

/* The next unit that the kernel has filled, or NULL. */
static struct af_block_ref *take_block(struct af_ring *r)
{
    struct af_block_ref *l = &r->block_ref[r->next];

    if (!af_ring_is_ready(r))
        return NULL;
    r->next = r->next + 1 < r->count ? r->next + 1 : 0;
    return l;
}

/* Reads the frame that is queued at the socket: one for each slot with TP_STATUS_COPY, in the same
 * order. So it must be read even if it is not used. */
static ssize_t read_copy(struct af_ring *r, uint8_t *to, size_t size)
{
    ssize_t n = recv(r->fd, to, size, MSG_DONTWAIT);

    if (n < 0 && errno != EAGAIN && errno != EINTR)
        r->error = errno;
    return n;
}

static unsigned packets_of(const struct af_ring *r, const struct af_block_ref *l)
{
    return r->conf->v3 ? ((struct tpacket_block_desc *)l->header)->hdr.bh1.num_pkts : 1;
}

/* use-emergency-flush: the kernel is losing packets, so drop everything it has ready, to be at the
 * newest packets soon. These count as drops. Reading the statistics clears the kernel's
 * TP_STATUS_LOSING. */
static COLD void flush_ready(struct af_ring *r)
{
    struct af_block_ref *l;

    for (unsigned i = 0; i < r->count && (l = take_block(r)) != NULL; i++) {
        if (!r->conf->v3 && (*status_of(r, l) & TP_STATUS_COPY) != 0)
            (void)read_copy(r, NULL, 0);
        r->early.flushed += packets_of(r, l);
        return_block(r, l);
    }
    read_stats(r, &r->early);
}

/* --- frames ------------------------------------------------------------------------------- */

/* Moves the addresses (and the vnet header before them) forward by four bytes and writes the tag
 * into the gap. Offsets of the vnet header count from the frame's start, so they grow too. Kernels
 * that do not report the TPID only strip 802.1Q tags. */
static uint8_t *put_vlan_back(const struct af_ring *r, uint8_t *frame, uint32_t status,
                              uint16_t tpid, uint16_t tci)
{
    uint8_t *moved = frame - VLAN_TAG_LEN;

    memmove(moved - r->vnet_hdr_len, frame - r->vnet_hdr_len, 2 * ETH_ALEN + r->vnet_hdr_len);
    if ((status & TP_STATUS_VLAN_TPID_VALID) == 0)
        tpid = ETH_P_8021Q;
    moved[12] = (uint8_t)(tpid >> 8);
    moved[13] = (uint8_t)tpid;
    moved[14] = (uint8_t)(tci >> 8);
    moved[15] = (uint8_t)tci;
    if (r->vnet_hdr_len > 0) {
        struct virtio_net_hdr vnet_hdr;

        memcpy(&vnet_hdr, moved - AF_VNET_HDR_LEN, AF_VNET_HDR_LEN);
        if (vnet_hdr.flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
            vnet_hdr.csum_start = (uint16_t)(vnet_hdr.csum_start + VLAN_TAG_LEN);
        if (vnet_hdr.gso_type != VIRTIO_NET_HDR_GSO_NONE)
            vnet_hdr.hdr_len = (uint16_t)(vnet_hdr.hdr_len + VLAN_TAG_LEN);
        memcpy(moved - AF_VNET_HDR_LEN, &vnet_hdr, AF_VNET_HDR_LEN);
    }
    return moved;
}

static void add_vlan(const struct af_ring *r, struct af_frame *f, uint16_t tpid, uint16_t tci)
{
    if ((f->status & TP_STATUS_VLAN_VALID) == 0 && tci == 0)
        return;
    if (f->len < 2 * ETH_ALEN || net_device_link(r->conf->facts.arp_type) != DATALINK_ETHERNET)
        return;
    f->data = put_vlan_back(r, f->data, f->status, tpid, tci);
    f->len += VLAN_TAG_LEN;
    f->wire_len += VLAN_TAG_LEN;
}

/* Replaces a truncated frame by the complete one from the socket. If that fails, the truncated
 * frame stays, which counts as such in the egress. This allocates; such frames are rare. */
static COLD void take_copy(struct af_ring *r, struct af_frame *f)
{
    size_t space = r->vnet_hdr_len + f->wire_len;
    uint8_t *copy = malloc(VLAN_HEADROOM + AF_VNET_HDR_LEN + space);
    uint8_t *at = copy + VLAN_HEADROOM + AF_VNET_HDR_LEN - r->vnet_hdr_len;

    if (copy == NULL) {
        traffic_memory_out();
        return;
    }
    if (read_copy(r, at, space) != (ssize_t)space) {
        free(copy);
        return;
    }
    f->block_ref->copy = copy;
    f->data = at + r->vnet_hdr_len;
    f->len = f->wire_len;
}

/* A slot of V2 is one frame. */
static bool next_v2(struct af_ring *r, struct af_frame *f)
{
    struct af_block_ref *l = take_block(r);
    const struct tpacket2_hdr *h;

    if (l == NULL)
        return false;
    h = l->header;
    *f = (struct af_frame){
        .data = (uint8_t *)l->header + h->tp_mac, .len = h->tp_snaplen, .wire_len = h->tp_len,
        .status = h->tp_status, .block_ref = l,
        .time_us = (uint64_t)h->tp_sec * 1000000 + h->tp_nsec / 1000,
    };
    l->is_read = true;
    if (UNLIKELY((f->status & TP_STATUS_COPY) != 0))
        take_copy(r, f);
    add_vlan(r, f, h->tp_vlan_tpid, h->tp_vlan_tci);
    return true;
}

/* Finds the next block with frames. A block that timed out may have none. */
static bool next_block(struct af_ring *r)
{
    struct af_block_ref *l;

    while ((l = take_block(r)) != NULL) {
        struct tpacket_block_desc *block = l->header;

        if (block->hdr.bh1.num_pkts > 0) {
            r->block = l;
            r->left = block->hdr.bh1.num_pkts;
            r->at = (uint8_t *)block + block->hdr.bh1.offset_to_first_pkt;
            return true;
        }
        return_block(r, l);
    }
    return false;
}

/* Frames of a V3 block are chained by tp_next_offset; the kernel wrote it, not the network. */
static bool next_v3(struct af_ring *r, struct af_frame *f)
{
    const struct tpacket3_hdr *h;

    if (r->block == NULL && !next_block(r))
        return false;
    h = (const struct tpacket3_hdr *)r->at;
    *f = (struct af_frame){
        .data = r->at + h->tp_mac, .len = h->tp_snaplen, .wire_len = h->tp_len,
        .status = h->tp_status, .block_ref = r->block,
        .time_us = (uint64_t)h->tp_sec * 1000000 + h->tp_nsec / 1000,
    };
    add_vlan(r, f, h->hv1.tp_vlan_tpid, (uint16_t)h->hv1.tp_vlan_tci);
    r->at += h->tp_next_offset;
    if (--r->left == 0) {
        f->status |= *status_of(r, r->block) & TP_STATUS_LOSING;
        r->block->is_read = true;
        r->block = NULL;
    }
    return true;
}

bool af_ring_next(struct af_ring *r, struct af_frame *f)
{
    if (!(r->conf->v3 ? next_v3(r, f) : next_v2(r, f)))
        return false;
    f->block_ref->out++;
    r->out++;
    if (UNLIKELY((f->status & TP_STATUS_LOSING) != 0) && r->conf->emergency_flush)
        flush_ready(r);
    return true;
}
