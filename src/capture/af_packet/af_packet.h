/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/af_packet.h - the parts of the AF_PACKET capture: settings of an interface, a
 * ring of frames shared with the kernel, a way out.
 *
 * Frames are used in position. What the kernel hands over as one piece, a block of TPACKET_V3 or a
 * frame of TPACKET_V2, is a block: it goes back when the last packet in it has been returned. */
#ifndef CAPTURE_AF_PACKET_H
#define CAPTURE_AF_PACKET_H

#include <linux/filter.h>
#include <pthread.h>

#include "capture/transmit/bridge.h"
#include "capture/capture.h"
#include "capture/device/net_device.h"

/* Of one interface. Read-only once threads run, but for what is said to be atomic. */
struct af_conf {
    struct capture_device device;
    struct net_device facts;
    unsigned threads;
    unsigned fanout_type;           /* PACKET_FANOUT_* with its flags */
    unsigned cluster_id;            /* 0: the kernel's choice */
    int fanout_id;                  /* atomic; of the group, once it is made; -1: not yet */
    pthread_mutex_t join_lock;      /* of the next two; only when joining */
    int joined_index;               /* the interface whose group it is */
    unsigned joined;                /* how many are in */
    bool v3, mmap_locked, emergency_flush, promisc;
    bool ignore_outgoing;           /* what we send ourselves; on the loopback all is seen twice */
    unsigned ring_size;             /* frames a thread */
    unsigned block_size, block_timeout_ms, v2_block_size, buffer_size;
    enum capture_checksums checksums;
    struct sock_filter *filter;     /* bpf-filter as the kernel takes it; NULL: none */
    unsigned filter_len;
    int lb_fd, filter_fd;         /* programs of ebpf-lb-file and ebpf-filter-file; -1: none */
    int xdp_fd;                     /* that of xdp-filter-file; -1: none */
    unsigned xdp_flags;             /* how it is put before the interface */
    int xdp_link;                   /* what holds it there, and the interface; by join_lock */
    int xdp_index;                  /* 0: none */
    unsigned joined_before;         /* offloads switched off by us, net_device_join_off() */
    enum bridge_copy copy;
    char peer[64];                  /* copy-iface */
    bool large_frames;              /* inline: offloads make frames beyond the MTU */
    struct af_bypass *bypass;       /* NULL: bypassed flows come here as well */
};

/* af_packet_conf.c: defaults, then what stands under `af-packet`; loads what the kernel is to run,
 * so that what cannot be is said before the start. threads: for the default of ring-size. Also
 * after an error there is something to fini. */
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
    unsigned out;                   /* packets not back yet */
    bool is_read;                   /* nothing more will be taken from it */
};

struct af_frame {
    uint8_t *data;
    uint32_t len, wire_len;
    uint32_t status;                /* TP_STATUS_* */
    uint64_t time_us;
    struct af_block_ref *block_ref;
};

struct af_stats {
    uint64_t packets, drops;            /* packets counts what was dropped, too */
    uint64_t flushed;                   /* of the drops: use-emergency-flush */
};

/* One thread. *position is its position in the fanout group, by the order of joining; -1: not known
 * yet. It stays the same when the group is made anew, so that both directions of a flow go on to
 * meet, whichever port of a bridge they come in by. The ring takes nothing in before
 * af_ring_start(), so that all of a fanout group can be there first. */
struct af_ring *af_ring_open(struct af_conf *conf, int *position, struct err *err);
int af_ring_start(struct af_ring *ring, struct err *err);
int af_ring_fd(const struct af_ring *ring);
int af_ring_if_index(const struct af_ring *ring);
/* Something is wrong with the socket; what, an errno, which is then forgotten. */
bool af_ring_has_error(const struct af_ring *ring);
int af_ring_take_error(struct af_ring *ring);
bool af_ring_is_ready(const struct af_ring *ring);     /* af_ring_next() is worth a try */
bool af_ring_next(struct af_ring *ring, struct af_frame *out);
/* The next block is with us still: sleeping on the socket would not sleep. */
bool af_ring_is_held(const struct af_ring *ring);
/* A packet taken from the block has been returned. */
void af_block_release(struct af_block_ref *block_ref);
void af_ring_stats(struct af_ring *ring, struct af_stats *add);
/* Now, or once the last packet has been returned. */
void af_ring_close(struct af_ring *ring);

/* af_packet_filter.c. Each gives 0 or -1 with *err. */
int af_filter_compile(struct af_conf *conf, const char *expression, struct err *err);
void af_filter_free(struct af_conf *conf);
int af_filter_nothing(int fd, struct err *err);     /* lets nothing in */
int af_filter_attach(int fd, const struct af_conf *conf, struct err *err);
int af_fanout_join(int fd, struct af_conf *conf, int if_index, int *position, struct err *err);

/* af_packet_ebpf.c: the program in that section of an object file, for a socket or, with one for
 * XDP, for an interface; its file descriptor, or -1 with *err. */
int af_ebpf_load(const char *path, const char *section, struct err *err);
int af_xdp_load(const char *path, const struct af_conf *conf, struct err *err);

/* Puts the interface's XDP program before it, unless it is there; it stays until the engine is
 * gone or this is closed. */
int af_xdp_open(struct af_conf *conf, int if_index, struct err *err);
void af_xdp_close(struct af_conf *conf);

/* af_packet_bypass.c: flows that the kernel leaves out. timeout_s: how long the engine remembers a
 * bypassed flow that is silent. Any thread. */
struct af_bypass;
enum af_bypass_result { AF_BYPASS_NOT, AF_BYPASS_ADDED, AF_BYPASS_FAILED };
struct af_bypass *af_bypass_new(unsigned timeout_s, struct err *err);
void af_bypass_free(struct af_bypass *bypass);              /* NULL is fine */
int af_bypass_attach(const struct af_bypass *bypass, int fd, struct err *err);
/* Packets like this one, with Ethernet's header, need not come any more. */
enum af_bypass_result af_bypass_add(struct af_bypass *bypass, const uint8_t *frame, uint32_t len);
void af_bypass_totals(const struct af_bypass *bypass, uint64_t *packets, uint64_t *bytes);

/* Before a frame of an inline ring stands the kernel's vnet header about checksum and
 * segmentation. */
#define AF_VNET_HDR_LEN 10

/* What is handed to the kernel at once: a frame, or one that stands for several. */
struct af_message {
    unsigned frames;
    size_t len;                     /* vnet header included */
};

/* af_packet_out.c: one thread at a time, but for what is asked. */
struct mmsghdr;
struct af_out;
struct af_out *af_out_new(const struct af_conf *conf);
void af_out_free(struct af_out *out);
/* How many messages are done with, sent or not: all, or those before the first joined one there
 * ever was, which the interface does not take. */
unsigned af_out_send(struct af_out *out, struct mmsghdr *header, const struct af_message *message,
                     unsigned count);
/* Any thread. May frames be joined; is it to be found out still? Frames that would not go. */
bool af_out_joins(const struct af_out *out);
bool af_out_tries_to_join(const struct af_out *out);
uint32_t af_out_failed(const struct af_out *out);
uint32_t af_out_mtu(const struct af_out *out);      /* 0: the interface is gone */

/* af_packet_tx.c: a bound socket, which goes with it, and a ring of frames that are to leave; one
 * thread at a time. NULL: the kernel has no such ring. */
struct msghdr;
struct af_tx;
struct af_tx *af_tx_new(int fd, unsigned mtu);
void af_tx_free(struct af_tx *tx);                  /* NULL is fine */
/* A copy goes with the next flush. False: it is too large, or there is no room. */
bool af_tx_put(struct af_tx *tx, const struct msghdr *m, size_t len);
/* How many would not go; errno then says why. */
unsigned af_tx_flush(struct af_tx *tx);

/* af_packet_helper.c: a thread that sends for the one that judges, while a CPU is idle. */
struct af_helper;
struct af_load;
/* NULL: there is none. load: how busy the others are, borrowed. */
struct af_helper *af_helper_new(struct helper_thread *side, const struct af_load *load);
void af_helper_free(struct af_helper *h);           /* what was to be sent is; NULL is fine */
/* It is sending: what follows must go by it too, to come behind. False for NULL, as the next. */
bool af_helper_is_busy(const struct af_helper *h);
/* Is it worth while for these? */
bool af_helper_accepts(const struct af_helper *h, const struct af_message *message, unsigned count);
/* A copy of all of it goes. */
void af_helper_send(struct af_helper *h, struct af_out *out, const struct mmsghdr *header,
                    const struct af_message *message, unsigned count);

/* How many threads of the capture are not asleep, of those that the machine has CPUs for. */
struct af_load {
    CACHE_ALIGNED unsigned awake;   /* atomic */
    CACHE_ALIGNED unsigned cpus;
};

/* af_packet_egress.c */
struct af_egress;
struct af_egress *af_egress_new(const struct af_conf *conf, struct counters *counters,
                            struct af_helper *helper);
void af_egress_free(struct af_egress *egress);
/* Unless it is dropped; goes with the next flush. */
void af_egress_send(struct af_egress *egress, struct packet *p);
void af_egress_flush(struct af_egress *egress);

#endif
