/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq/nfq.h - the parts of the netfilter queue capture: the socket, the verdicts.
 *
 * A queue has one netlink socket, by which packets come and verdicts go. Messages are read and
 * written here, without a library: the hot path is a system call a vector each way. */
#ifndef CAPTURE_NFQ_H
#define CAPTURE_NFQ_H

#include "capture/capture.h"
#include "capture/device/netlink.h"

enum nfq_mode { NFQ_ACCEPT, NFQ_REPEAT, NFQ_ROUTE };

struct nfq_conf {
    enum nfq_mode mode;
    uint32_t repeat_mark, repeat_mask;
    uint32_t bypass_mark, bypass_mask;      /* mask 0: off */
    uint16_t route_queue;
    unsigned batch;                         /* verdicts in one call at most; 0: a vector's */
    bool fail_open;
    unsigned max_length;                    /* packets that wait in the kernel */
    bool no_checksum;
};

/* Where one message lands; at home in the queue's list, else a packet's. */
struct nfq_slot {
    struct nfq_slot *next;
    uint32_t mark;                          /* as the packet came */
    uint32_t len;
    uint8_t data[];
};
#define NFQ_SLOT_SIZE NETLINK_MESSAGE_MAX

/* nfq_socket.c */
int nfq_socket_open(const struct nfq_conf *conf, unsigned number, struct err *err);
/* "drops so far": of the kernel's table, which must have been opened as root. */
struct nfq_table;
struct nfq_table *nfq_table_open(void);
void nfq_table_close(struct nfq_table *t);
bool nfq_table_read(struct nfq_table *t, unsigned number, uint64_t *drops);

/* One packet's message taken apart. */
struct nfq_message {
    uint32_t id, mark;
    uint16_t protocol;                      /* ETH_P_* */
    bool has_id;
    bool checksum_pending;                  /* to be filled in by a card */
    uint8_t *payload;
    uint32_t len, wire_len;
    uint64_t time_us;                       /* 0: not told */
};
enum nfq_kind { NFQ_PACKET, NFQ_ERROR, NFQ_OTHER };
enum nfq_kind nfq_message_read(uint8_t *data, size_t len, struct nfq_message *out);

/* nfq_sender.c: hands verdicts to the kernel, in their order. One thread, and a second one behind
 * it when it is given a name. */
struct nfq_buffer {
    size_t len;
    uint8_t data[128 << 10];                /* a payload that was changed needs half of it */
};
struct nfq_sender;
struct nfq_sender *nfq_sender_new(int fd, struct counters *counters, struct helper_thread *side);
void nfq_sender_free(struct nfq_sender *s);         /* what was to be sent is */
struct nfq_buffer *nfq_sender_buffer(struct nfq_sender *s);     /* until the next send */
/* What stands in the buffer; it is empty then, or another one. */
void nfq_sender_send(struct nfq_sender *s, unsigned verdicts);

/* nfq_verdict.c: verdicts of one thread on one queue. */
struct nfq_verdict;
struct nfq_verdict *nfq_verdict_new(const struct nfq_conf *conf, int fd, unsigned number,
                                    struct counters *counters, bool in_order,
                                    struct helper_thread *sender);
void nfq_verdict_free(struct nfq_verdict *tx);
void nfq_verdict_add(struct nfq_verdict *tx, struct packet *p);
void nfq_verdict_flush(struct nfq_verdict *tx);
/* A packet that the engine never saw. */
void nfq_verdict_add_id(struct nfq_verdict *tx, uint32_t id, bool accept);
/* All that waits in the kernel still. */
void nfq_verdict_accept_rest(struct nfq_verdict *tx, uint32_t last_id);

#endif
