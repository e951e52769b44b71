/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq_socket.c - netlink messages of the kernel's queue: setting one up, and reading
 * packets. Attributes are a length and a type in host order, padded to four bytes. */
#include "capture/nfq.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <linux/netlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/bytes.h"
#include "base/text.h"
#include "capture/net_device.h"

#define TABLE "/proc/net/netfilter/nfnetlink_queue"
#define RECEIVE_BYTES (64 << 20)
#define SEND_BYTES (4 << 20)

/* --- setting up --------------------------------------------------------------------------- */

struct request {
    uint8_t data[256];
    size_t len;
};

static void request_begin(struct request *rq, unsigned number)
{
    struct nlmsghdr head = { .nlmsg_type = NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_CONFIG,
                             .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK };
    struct nfgenmsg gen = { .version = NFNETLINK_V0, .res_id = htons((uint16_t)number) };

    memcpy(rq->data, &head, sizeof(head));
    memcpy(rq->data + sizeof(head), &gen, sizeof(gen));
    rq->len = sizeof(head) + sizeof(gen);
}

static void request_add(struct request *rq, uint16_t type, const void *data, size_t len)
{
    struct nlattr attr = { .nla_len = (uint16_t)(sizeof(attr) + len), .nla_type = type };

    memcpy(rq->data + rq->len, &attr, sizeof(attr));
    memcpy(rq->data + rq->len + sizeof(attr), data, len);
    rq->len += NLA_ALIGN(sizeof(attr) + len);
}

/* Sends it and waits for the kernel's word. Packets of the queue may come before it. */
static int request_do(int fd, struct request *rq)
{
    static const unsigned tries = 1000;
    struct nlmsghdr head;
    uint32_t length = (uint32_t)rq->len;
    uint8_t *answer = xmalloc(NFQ_SLOT_SIZE);
    int error = -ETIMEDOUT;

    memcpy(rq->data, &length, sizeof(length));
    if (send(fd, rq->data, rq->len, 0) < 0) {
        free(answer);
        return -1;
    }
    for (unsigned i = 0; i < tries; i++) {
        ssize_t n = recv(fd, answer, NFQ_SLOT_SIZE, 0);

        if (n < (ssize_t)(sizeof(head) + sizeof(int)))
            break;
        memcpy(&head, answer, sizeof(head));
        if (head.nlmsg_type == NLMSG_ERROR) {
            memcpy(&error, answer + sizeof(head), sizeof(error));
            break;
        }
    }
    free(answer);
    errno = -error;
    return error == 0 ? 0 : -1;
}

static int bind_queue(int fd, unsigned number)
{
    struct nfqnl_msg_config_cmd cmd = { .command = NFQNL_CFG_CMD_BIND };
    struct request rq;

    request_begin(&rq, number);
    request_add(&rq, NFQA_CFG_CMD, &cmd, sizeof(cmd));
    return request_do(fd, &rq);
}

static int set_up_queue(int fd, unsigned number, const struct nfq_conf *conf)
{
    struct nfqnl_msg_config_params params = { .copy_range = htonl(0xffff),
                                              .copy_mode = NFQNL_COPY_PACKET };
    uint32_t length = htonl(conf->max_length), mask = htonl(NFQA_CFG_F_FAIL_OPEN | NFQA_CFG_F_GSO);
    uint32_t flags = htonl(NFQA_CFG_F_GSO | (conf->fail_open ? NFQA_CFG_F_FAIL_OPEN : 0));
    struct request rq;

    request_begin(&rq, number);
    request_add(&rq, NFQA_CFG_PARAMS, &params, sizeof(params));
    request_add(&rq, NFQA_CFG_QUEUE_MAXLEN, &length, sizeof(length));
    request_add(&rq, NFQA_CFG_MASK, &mask, sizeof(mask));
    request_add(&rq, NFQA_CFG_FLAGS, &flags, sizeof(flags));
    return request_do(fd, &rq);
}

static int open_netlink(void)
{
    struct sockaddr_nl own = { .nl_family = AF_NETLINK };
    struct timeval patience = { .tv_sec = 2 };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER), on = 1, size;

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0) {
        close(fd);
        return -1;
    }
    /* The kernel counts what does not fit; being told by an error as well helps nobody. */
    (void)setsockopt(fd, SOL_NETLINK, NETLINK_NO_ENOBUFS, &on, sizeof(on));
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    size = RECEIVE_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    size = SEND_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    return fd;
}

/* A queue of another program and a lack of rights both come as EPERM. */
static int say_why_not(unsigned number, struct err *err)
{
    struct nfq_table *table = nfq_table_open();
    int error = errno;
    uint64_t drops;
    bool taken = table != NULL && nfq_table_read(table, number, &drops);

    nfq_table_close(table);
    if (taken)
        return err_set(err, "netfilter queue %u is read by another program: stop it, or take "
                       "another number here and in the rule that queues", number);
    if (error == ENOENT || error == EINVAL || error == EPROTONOSUPPORT)
        return err_set(err, "netfilter queue %u: the kernel has no queues (nfnetlink_queue): %s",
                       number, strerror(error));
    return err_set(err, "netfilter queue %u: %s%s", number, strerror(error),
                   net_rights_hint(error));
}

int nfq_socket_open(const struct nfq_conf *conf, unsigned number, struct err *err)
{
    struct timeval forever = { 0 };
    int fd = open_netlink();

    if (fd < 0)
        return say_why_not(number, err);
    if (bind_queue(fd, number) < 0) {
        say_why_not(number, err);
        close(fd);
        return -1;
    }
    if (set_up_queue(fd, number, conf) < 0) {
        err_set(err, "netfilter queue %u: the kernel refuses its settings: %s", number,
                strerror(errno));
        close(fd);
        return -1;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &forever, sizeof(forever));
    return fd;
}

/* --- the kernel's table ------------------------------------------------------------------- */

struct nfq_table {
    FILE *file;
};

struct nfq_table *nfq_table_open(void)
{
    FILE *file = fopen(TABLE, "re");
    struct nfq_table *t;

    if (file == NULL)
        return NULL;
    t = xcalloc(1, sizeof(*t));
    t->file = file;
    return t;
}

void nfq_table_close(struct nfq_table *t)
{
    if (t == NULL)
        return;
    fclose(t->file);
    free(t);
}

/* number, port, waiting, mode, range, dropped by the queue, dropped by the socket, last id, 1 */
bool nfq_table_read(struct nfq_table *t, unsigned number, uint64_t *drops)
{
    char line[256];

    rewind(t->file);
    while (fgets(line, sizeof(line), t->file) != NULL) {
        struct text rest = text_trim(text_of(line)), word;
        uint64_t column[9] = { 0 };
        unsigned i = 0;

        while (i < ARRAY_LEN(column) && text_split(&rest, ' ', &word))
            if (word.n > 0)
                text_to_u64(word, UINT64_MAX, &column[i++]);
        if (i < 7 || column[0] != number)
            continue;
        *drops = column[5] + column[6];
        return true;
    }
    return false;
}

/* --- packets ------------------------------------------------------------------------------ */

static uint32_t be32_of(struct slice s)
{
    return s.len >= 4 ? get_be32(s.data) : 0;
}

static void read_attribute(struct nfq_message *m, unsigned type, struct slice s)
{
    struct bytes in = bytes_of_slice(s);

    switch (type) {
    case NFQA_PACKET_HDR:
        m->id = take_be32(&in);
        m->protocol = take_be16(&in);
        break;
    case NFQA_MARK:
        m->mark = be32_of(s);
        break;
    case NFQA_SKB_INFO:
        m->checksum_pending = (be32_of(s) & NFQA_SKB_CSUMNOTREADY) != 0;
        break;
    case NFQA_CAP_LEN:
        m->wire_len = be32_of(s);
        break;
    case NFQA_TIMESTAMP:
        m->time_us = take_be64(&in) * 1000000;
        m->time_us += take_be64(&in);
        break;
    case NFQA_PAYLOAD:
        m->payload = (uint8_t *)s.data;
        m->len = s.len;
        break;
    default:
        break;
    }
}

enum nfq_kind nfq_message_read(uint8_t *data, size_t len, struct nfq_message *out)
{
    struct bytes in = bytes_of(data, len);
    const uint8_t *at = take_bytes(&in, sizeof(struct nlmsghdr));
    struct nlmsghdr head;

    *out = (struct nfq_message){ 0 };
    if (at == NULL)
        return NFQ_OTHER;
    memcpy(&head, at, sizeof(head));
    if (head.nlmsg_type == NLMSG_ERROR)
        return NFQ_ERROR;
    if (head.nlmsg_type != (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET))
        return NFQ_OTHER;
    take_skip(&in, sizeof(struct nfgenmsg));
    while ((at = take_bytes(&in, sizeof(struct nlattr))) != NULL) {
        struct nlattr attr;
        struct slice body;

        memcpy(&attr, at, sizeof(attr));
        if (attr.nla_len < sizeof(attr))
            break;
        body = take_slice(&in, attr.nla_len - sizeof(attr));
        if (body.data == NULL)
            break;
        read_attribute(out, attr.nla_type & NLA_TYPE_MASK, body);
        take_skip(&in, NLA_ALIGN(attr.nla_len) - attr.nla_len);
    }
    if (out->wire_len < out->len)
        out->wire_len = out->len;
    return NFQ_PACKET;
}
