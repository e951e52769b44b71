/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_xdp/af_xdp.h - the parts of the AF_XDP capture: settings of an interface, its XDP
 * program, the memory of frames, the sockets of one thread.
 *
 * A thread has one area of memory, divided into frames. A frame is in the kernel's fill ring, in
 * use by a packet, in the kernel's send ring, or free. Packets use it in place, and a frame
 * forwarded to the other port of a bridge is sent from it too. */
#ifndef CAPTURE_AF_XDP_H
#define CAPTURE_AF_XDP_H

#include <pthread.h>

#include "capture/device/late_close.h"
#include "capture/handover.h"
#include "capture/transmit/bridge.h"

/* The XDP program of an interface, and the table of sockets to which it directs packets. */
struct xdp_prog {
    pthread_mutex_t lock;               /* at opening only */
    int if_index;                       /* the interface it is attached to; 0: none */
    int map_fd, program_fd, link_fd;
    bool is_tuned;                      /* for busy polling; then the former values: */
    unsigned gro_flush_ns, defer_interrupts;
};

/* Settings of one interface; read-only once threads run, except the prog. */
struct xdp_conf {
    struct capture_device device;
    struct net_device facts;
    unsigned threads, queues;
    unsigned ring_size;                 /* descriptors of each ring */
    unsigned frame_size;
    unsigned attach_flags, bind_flags;  /* XDP_FLAGS_*, XDP_* */
    bool unaligned, promisc;
    bool busy_poll;
    unsigned busy_poll_us, busy_poll_budget;
    unsigned gro_flush_ns, defer_interrupts;
    enum capture_checksums checksums;
    const char *bpf_filter;             /* NULL: none */
    struct bridge bridge;
    struct xdp_prog prog;
    struct late_close *late;            /* takes the sockets of threads that have ended */
};

/* conf.c */
int xdp_conf_read(struct xdp_conf *conf, const struct capture_request *rq, const char *name,
                  struct err *err);
void xdp_conf_fini(struct xdp_conf *conf);

/* prog.c. The program stays as long as the process or the interface. */
int xdp_prog_open(struct xdp_conf *conf, int if_index, struct err *err);
void xdp_prog_close(struct xdp_conf *conf);
/* Keeps the program that another process has attached. */
int xdp_prog_adopt(struct xdp_conf *conf, int if_index, int link_fd, struct err *err);
/* Directs packets of that queue of the interface to the socket. */
int xdp_prog_enable(struct xdp_prog *prog, unsigned queue, int socket_fd, struct err *err);

/* memory.c. One thread. */
struct xdp_memory {
    uint8_t *area;
    size_t len;
    unsigned size, count;               /* of a frame; frames */
    int fd;                             /* of the area */
    uint8_t *state;                     /* of each: FRAME_*; in the area */
    uint32_t *free;
    unsigned free_count;
};
/* WITH_KERNEL: to be filled, or filled. BEING_SENT: << the side that it leaves by. */
enum { FRAME_WITH_PACKET = 1, FRAME_WITH_KERNEL = 2, FRAME_BEING_SENT = 4 };

int xdp_memory_open(struct xdp_memory *m, unsigned size, unsigned count, int numa_node,
                    struct err *err);
int xdp_memory_adopt(struct xdp_memory *m, unsigned size, unsigned count, int fd, struct err *err);
void xdp_memory_resume(struct xdp_memory *m);
unsigned xdp_memory_count(const struct xdp_memory *m, uint8_t reason);
void xdp_memory_close(struct xdp_memory *m);
/* After the kernel has lost all of its frames: frees those without a packet. */
void xdp_memory_reclaim(struct xdp_memory *m);

static inline unsigned xdp_frame_of(const struct xdp_memory *m, const uint8_t *data)
{
    return (unsigned)((size_t)(data - m->area) / m->size);
}

/* Clears one reason why the frame is in use; without any it is free. */
static inline void xdp_frame_done(struct xdp_memory *m, unsigned frame, uint8_t reason)
{
    m->state[frame] &= (uint8_t)~reason;
    if (m->state[frame] == 0)
        m->free[m->free_count++] = frame;
}

/* socket.c: the sockets of one thread on one interface, or on the two of a bridge. */
struct xdp_frame {
    uint8_t *data;
    uint32_t len;
};
struct xdp_stats {
    uint64_t drops;
};
struct xdp_sockets;

/* memory: borrowed. No packet arrives before xdp_sockets_start(). */
struct xdp_sockets *xdp_sockets_open(struct xdp_conf *const *conf, unsigned count, unsigned queue,
                                     struct xdp_memory *memory, struct err *err);
int xdp_sockets_start(struct xdp_sockets *s, struct err *err);
/* The process changes. `at`: a socket for each side. Between adoption and resumption the rings are
 * the other process's. */
int xdp_sockets_export(const struct xdp_sockets *s, struct capture_socket *at, struct err *err);
struct xdp_sockets *xdp_sockets_adopt(struct xdp_conf *const *conf, unsigned count,
                                      struct xdp_memory *memory, const struct capture_socket *at,
                                      struct err *err);
void xdp_sockets_resume(struct xdp_sockets *s);
void xdp_sockets_close(struct xdp_sockets *s);
int xdp_sockets_fd(const struct xdp_sockets *s, unsigned side);
int xdp_sockets_if_index(const struct xdp_sockets *s, unsigned side);
/* At most `want` frames; they are the caller's, marked FRAME_WITH_PACKET. */
unsigned xdp_sockets_receive(struct xdp_sockets *s, unsigned side, struct xdp_frame *out,
                             unsigned want);
/* Passes free frames to the kernel and takes back those that it has sent. */
void xdp_sockets_kick(struct xdp_sockets *s);
/* Wakes the driver, if it waits for a wake-up. */
void xdp_sockets_drive(struct xdp_sockets *s);
/* Sends the frame by that side, with the next flush. False: the ring is full. */
bool xdp_sockets_send(struct xdp_sockets *s, unsigned side, const uint8_t *data, uint32_t len);
void xdp_sockets_flush(struct xdp_sockets *s);
void xdp_sockets_stats(struct xdp_sockets *s, unsigned side, struct xdp_stats *add);

#endif
