/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq/nfq.h - the parts of the netfilter queue capture: the socket, the verdicts.
 *
 * A queue has one netlink socket for packets and verdicts. Messages are read and written here,
 * without a library: the hot path is one system call per vector in each direction. */
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
    unsigned batch;                         /* maximum of verdicts in one call; 0: a vector's */
    bool fail_open;
    unsigned max_length;                    /* maximum of packets that wait in the kernel */
    bool no_checksum;
};

/* Buffer of one message; owned by the queue's list, else by a packet. */
struct nfq_slot {
    struct nfq_slot *next;
    uint32_t mark;                          /* of the packet on arrival */
    uint32_t len;
    uint8_t data[];
};
#define NFQ_SLOT_SIZE NETLINK_MESSAGE_MAX

/* socket.c */
int nfq_socket_open(const struct nfq_conf *conf, unsigned number, struct err *err);
/* The drops so far, from the kernel's table, which must have been opened as root. */
struct nfq_table;
struct nfq_table *nfq_table_open(void);
void nfq_table_close(struct nfq_table *t);
bool nfq_table_read(struct nfq_table *t, unsigned number, uint64_t *drops);

/* One packet's parsed message. */
struct nfq_message {
    uint32_t id, mark;
    uint16_t protocol;                      /* ETH_P_* */
    bool has_id;
    bool checksum_pending;                  /* a network card would fill it in */
    uint8_t *payload;
    uint32_t len, wire_len;
    uint64_t time_us;                       /* 0: not given */
};
enum nfq_kind { NFQ_PACKET, NFQ_ERROR, NFQ_OTHER };
enum nfq_kind nfq_message_read(uint8_t *data, size_t len, struct nfq_message *out);

/* sender.c: passes verdicts to the kernel, in their order. One thread, and a helper thread if it
 * gets a name. */
struct nfq_buffer {
    size_t len;
    uint8_t data[128 << 10];                /* a modified payload needs half of it */
};
struct nfq_sender;
struct nfq_sender *nfq_sender_new(int fd, struct counters *counters, struct helper_thread *side);
void nfq_sender_free(struct nfq_sender *s);         /* sends what is left */
struct nfq_buffer *nfq_sender_buffer(struct nfq_sender *s);     /* until the next send */
/* Sends the buffer; it is empty then, or replaced by another one. */
void nfq_sender_send(struct nfq_sender *s, unsigned verdicts);

/* A socket and the queue that it is bound to. */
struct nfq_binding {
    int fd;
    unsigned number;
};

/* verdict.c: verdicts of one thread on one queue. in_order and sender: as capture_ops.tx_open has
 * them. */
struct nfq_verdict;
struct nfq_verdict *nfq_verdict_new(const struct nfq_conf *conf, struct nfq_binding queue,
                                    struct counters *counters, bool in_order,
                                    struct helper_thread *sender);
void nfq_verdict_free(struct nfq_verdict *tx);
void nfq_verdict_add(struct nfq_verdict *tx, struct packet *p);
void nfq_verdict_flush(struct nfq_verdict *tx);
/* Gives the verdict on a packet that the engine did not inspect. */
void nfq_verdict_add_id(struct nfq_verdict *tx, uint32_t id, bool accept);
/* Accepts all packets that still wait in the kernel. */
void nfq_verdict_accept_rest(struct nfq_verdict *tx, uint32_t last_id);

#endif
