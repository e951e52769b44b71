/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/af_packet.h - the parts of the AF_PACKET capture: settings of an interface, a
 * ring of frames shared with the kernel, the sending side.
 *
 * Frames are used in place. A block is the unit that the kernel passes to the engine: a block of
 * TPACKET_V3 or a frame of TPACKET_V2. It returns to the kernel when its last packet has
 * returned. */
#ifndef CAPTURE_AF_PACKET_H
#define CAPTURE_AF_PACKET_H

#include <linux/filter.h>
#include <pthread.h>

#include "capture/transmit/bridge.h"
#include "capture/capture.h"
#include "capture/device/late_close.h"
#include "capture/device/net_device.h"

/* Settings of one interface. Read-only once threads run, except members marked atomic. */
struct af_conf {
    struct capture_device device;
    struct net_device facts;
    unsigned threads;
    unsigned fanout_type;           /* PACKET_FANOUT_* with its flags */
    unsigned cluster_id;            /* 0: the kernel's choice */
    int fanout_id;                  /* atomic; of the group, once it exists; -1: not yet */
    pthread_mutex_t join_lock;      /* protects the next two; only when joining */
    int joined_index;               /* the interface that the group belongs to */
    unsigned joined;                /* number of sockets in the group */
    bool v3, mmap_locked, emergency_flush, promisc;
    bool ignore_outgoing;           /* skips packets sent by this host; on the loopback device
                                     * all packets appear twice */
    unsigned ring_size;             /* frames a thread */
    unsigned block_size, block_timeout_ms, v2_block_size, buffer_size;
    enum capture_checksums checksums;
    struct sock_filter *filter;     /* bpf-filter as the kernel takes it; NULL: none */
    unsigned filter_len;
    int lb_fd, filter_fd;         /* programs of ebpf-lb-file and ebpf-filter-file; -1: none */
    int xdp_fd;                     /* that of xdp-filter-file; -1: none */
    unsigned xdp_flags;             /* how it is attached */
    int xdp_link;                   /* file descriptor that keeps it attached, and the interface;
                                     * under join_lock */
    int xdp_index;                  /* 0: none */
    unsigned joined_before;         /* offloads that the engine switched off,
                                     * net_device_join_off() */
    struct bridge bridge;
    bool large_frames;              /* inline: offloads make frames beyond the MTU */
    struct af_bypass *bypass;       /* NULL: bypassed flows are captured too */
    struct late_close *late;        /* takes the sockets of threads that have ended */
};

/* conf.c: defaults, then the settings below `af-packet`; loads the programs for the kernel, so that
 * errors are reported before the start. threads: for the default of ring-size. Call fini also after
 * an error. */
int af_conf_read(struct af_conf *conf, const struct capture_request *rq, const char *name,
                 struct err *err);
void af_conf_fini(struct af_conf *conf);
unsigned af_queues(const struct conf_node *root, const char *name);
unsigned af_threads_auto(const struct conf_node *root, const char *name, unsigned cpus,
                         unsigned queues);

struct af_ring;

struct af_block_ref {
    struct af_ring *ring;
    void *header;                   /* tpacket_block_desc or tpacket2_hdr */
    uint8_t *copy;                  /* of a frame that is larger than its slot; NULL: it is not */
    unsigned out;                   /* packets not returned yet */
    bool is_read;                   /* all its packets have been taken */
};

struct af_frame {
    uint8_t *data;
    uint32_t len, wire_len;
    uint32_t status;                /* TP_STATUS_* */
    uint64_t time_us;
    struct af_block_ref *block_ref;
};

struct af_stats {
    uint64_t packets, drops;            /* packets includes the dropped ones */
    uint64_t flushed;                   /* part of `drops`: use-emergency-flush */
};

/* One thread. *position is its position in the fanout group, by the order of joining; -1: not known
 * yet. It stays the same when the group is created again, so that both directions of a flow still
 * reach the same thread, whichever port of a bridge they enter. The ring receives nothing before
 * af_ring_start(), so that the whole fanout group can exist first. */
struct af_ring *af_ring_open(struct af_conf *conf, int *position, struct err *err);
int af_ring_start(struct af_ring *ring, struct err *err);
/* For another process: a copy of the socket, and where reading goes on. */
int af_ring_export(const struct af_ring *ring, int position, struct capture_socket *out,
                 struct err *err);
void af_ring_export_place(const struct af_ring *ring, struct capture_socket *out);
/* The ring of another process: open, and before af_ring_start() the place. */
struct af_ring *af_ring_adopt(struct af_conf *conf, const struct capture_socket *from,
                              int *position, struct err *err);
void af_ring_take_place(struct af_ring *ring, const struct capture_socket *from);
int af_ring_fd(const struct af_ring *ring);
int af_ring_if_index(const struct af_ring *ring);
/* The socket's pending error, an errno, which this call clears. */
bool af_ring_has_error(const struct af_ring *ring);
int af_ring_take_error(struct af_ring *ring);
bool af_ring_is_ready(struct af_ring *ring);     /* af_ring_next() may return something */
bool af_ring_next(struct af_ring *ring, struct af_frame *out);
/* True while the engine holds the next block: poll() on the socket would return at once. */
bool af_ring_is_held(const struct af_ring *ring);
/* A packet taken from the block has been returned. */
void af_block_release(struct af_block_ref *block_ref);
void af_ring_stats(struct af_ring *ring, struct af_stats *add);
/* Returns the block now, or once its last packet has been returned. */
void af_ring_close(struct af_ring *ring);

/* filter.c. Each returns 0, or -1 with *err. */
int af_filter_compile(struct af_conf *conf, const char *expression, struct err *err);
void af_filter_free(struct af_conf *conf);
int af_filter_nothing(int fd, struct err *err);     /* accepts no packet */
int af_filter_attach(int fd, const struct af_conf *conf, struct err *err);
int af_fanout_join(int fd, struct af_conf *conf, int if_index, int *position, struct err *err);
/* The socket is in the group already. */
void af_fanout_adopt(int fd, struct af_conf *conf, int if_index, int position);

/* ebpf.c: loads the program in that section of an object file, for a socket or, with one for XDP,
 * for an interface; returns its file descriptor, or -1 with *err. */
int af_ebpf_load(const char *path, const char *section, struct err *err);
int af_xdp_load(const char *path, const struct af_conf *conf, struct err *err);

/* Attaches the interface's XDP program unless it is attached; it stays until the engine ends or
 * this is closed. */
int af_xdp_open(struct af_conf *conf, int if_index, struct err *err);
void af_xdp_close(struct af_conf *conf);

/* bypass.c: flows that the kernel leaves out. timeout_s: how long the engine remembers an idle
 * bypassed flow. Any thread. */
struct af_bypass;
enum af_bypass_result { AF_BYPASS_NOT, AF_BYPASS_ADDED, AF_BYPASS_FAILED };
struct af_bypass *af_bypass_new(unsigned timeout_s, struct err *err);
void af_bypass_free(struct af_bypass *bypass);              /* NULL is fine */
int af_bypass_attach(const struct af_bypass *bypass, int fd, struct err *err);
/* Stops the capture of packets like this one, which has an Ethernet header. */
enum af_bypass_result af_bypass_add(struct af_bypass *bypass, const uint8_t *frame, uint32_t len);
void af_bypass_totals(const struct af_bypass *bypass, uint64_t *packets, uint64_t *bytes);

/* Each frame of an inline ring follows the kernel's vnet header for checksum and segmentation. */
#define AF_VNET_HDR_LEN 10

/* One message to the kernel: a frame, or a GSO frame that joins several. */
struct af_message {
    unsigned frames;
    size_t len;                     /* vnet header included */
};

/* out.c: one thread at a time, except the queries. */
struct mmsghdr;
struct af_out;
struct af_out *af_out_new(const struct af_conf *conf);
void af_out_free(struct af_out *out);
/* Returns how many messages are finished, sent or not: all of them, or those before the first GSO
 * frame ever sent, if the interface refuses that frame. */
unsigned af_out_send(struct af_out *out, struct mmsghdr *header, const struct af_message *message,
                     unsigned count);
/* Any thread may call these. They return whether frames may be joined, whether that is still
 * unknown, and the number of frames that were not sent. */
bool af_out_joins(const struct af_out *out);
bool af_out_tries_to_join(const struct af_out *out);
uint32_t af_out_failed(const struct af_out *out);
uint32_t af_out_mtu(const struct af_out *out);      /* 0: the interface is gone */

/* tx.c: a bound socket, which it owns, and a ring of frames to send. One thread at a time. NULL:
 * the kernel has no such ring. */
struct msghdr;
struct af_tx;
struct af_tx *af_tx_new(int fd, unsigned mtu);
/* late: closes the socket; NULL: at once. tx: NULL is fine. */
void af_tx_free(struct af_tx *tx, struct late_close *late);
/* Copies the message; the next flush sends it. False: it is too large, or the ring is full. */
bool af_tx_put(struct af_tx *tx, const struct msghdr *m, size_t len);
/* Returns how many were not sent; errno has the reason. */
unsigned af_tx_flush(struct af_tx *tx);

/* helper.c: a thread that sends for the thread that gives verdicts, while a CPU is idle. */
struct af_helper;
struct af_load;
/* NULL: no helper. load: borrowed; how busy the capture's threads are. */
struct af_helper *af_helper_new(struct helper_thread *side, const struct af_load *load);
void af_helper_free(struct af_helper *h);           /* sends what is left; NULL is fine */
/* True while it sends: later frames must then go through it too, to keep the order. This and the
 * next function return false for NULL. */
bool af_helper_is_busy(const struct af_helper *h);
/* True if sending these messages through it saves time. */
bool af_helper_accepts(const struct af_helper *h, const struct af_message *message, unsigned count);
/* Sends a copy of all messages. */
void af_helper_send(struct af_helper *h, struct af_out *out, const struct mmsghdr *header,
                    const struct af_message *message, unsigned count);

/* How many threads of the capture are not asleep, limited to the machine's CPUs. */
struct af_load {
    CACHE_ALIGNED unsigned awake;   /* atomic */
    CACHE_ALIGNED unsigned cpus;
};

/* egress.c */
struct af_egress;
struct af_egress *af_egress_new(const struct af_conf *conf, struct counters *counters,
                            struct af_helper *helper);
void af_egress_free(struct af_egress *egress);
/* Sends the packet with the next flush, unless it is dropped. */
void af_egress_send(struct af_egress *egress, struct packet *p);
void af_egress_flush(struct af_egress *egress);

#endif
