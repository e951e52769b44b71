/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/nfq/socket.c - netlink messages of netfilter queues (linux/netfilter/nfnetlink_queue.h):
 * configures a queue, and reads packets. */
#include "capture/nfq/nfq.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nfnetlink_queue.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text/bytes.h"
#include "base/text/text.h"
#include "capture/device/net_device.h"
#include "capture/device/netlink.h"

#define TABLE "/proc/net/netfilter/nfnetlink_queue"

/* --- setting up --------------------------------------------------------------------------- */

static int bind_queue(int fd, unsigned number)
{
    struct nfqnl_msg_config_cmd cmd = { .command = NFQNL_CFG_CMD_BIND };
    struct netlink_request rq;

    netlink_request_begin(&rq, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_CONFIG, number);
    netlink_request_add(&rq, NFQA_CFG_CMD, &cmd, sizeof(cmd));
    return netlink_request_do(fd, &rq);
}

/* copy_range 0xffff: complete packets. NFQA_CFG_F_GSO: do not segment joined packets before they
 * are queued. Flags only change bits that the mask has. */
static int set_up_queue(int fd, unsigned number, const struct nfq_conf *conf)
{
    struct nfqnl_msg_config_params params = { .copy_range = htonl(0xffff),
                                              .copy_mode = NFQNL_COPY_PACKET };
    uint32_t length = htonl(conf->max_length), mask = htonl(NFQA_CFG_F_FAIL_OPEN | NFQA_CFG_F_GSO);
    uint32_t flags = htonl(NFQA_CFG_F_GSO | (conf->fail_open ? NFQA_CFG_F_FAIL_OPEN : 0));
    struct netlink_request rq;

    netlink_request_begin(&rq, NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_CONFIG, number);
    netlink_request_add(&rq, NFQA_CFG_PARAMS, &params, sizeof(params));
    netlink_request_add(&rq, NFQA_CFG_QUEUE_MAXLEN, &length, sizeof(length));
    netlink_request_add(&rq, NFQA_CFG_MASK, &mask, sizeof(mask));
    netlink_request_add(&rq, NFQA_CFG_FLAGS, &flags, sizeof(flags));
    return netlink_request_do(fd, &rq);
}

/* EPERM comes for a queue of another program as well as for missing privileges. */
static int log_reason(unsigned number, struct err *err)
{
    int error = errno;

    if (netlink_is_taken(TABLE, number))
        return err_set(err, "netfilter queue %u is read by another program: stop it, or take "
                       "another number here and in the rule that queues", number);
    if (error == ENOENT || error == EINVAL || error == EPROTONOSUPPORT)
        return err_set(err, "netfilter queue %u: the kernel has no queues (nfnetlink_queue): %s",
                       number, strerror(error));
    return err_set(err, "netfilter queue %u: %s%s", number, strerror(error),
                   net_rights_hint(error));
}

/* Returns a descriptor, or -1 with *err. */
int nfq_socket_open(const struct nfq_conf *conf, unsigned number, struct err *err)
{
    int fd = netlink_open();

    if (fd < 0)
        return log_reason(number, err);
    if (bind_queue(fd, number) < 0) {
        log_reason(number, err);
        close(fd);
        return -1;
    }
    if (set_up_queue(fd, number, conf) < 0) {
        err_set(err, "netfilter queue %u: the kernel refuses its settings: %s", number,
                strerror(errno));
        close(fd);
        return -1;
    }
    netlink_started(fd);
    return fd;
}

/* --- the kernel's table ------------------------------------------------------------------- */

/* Kept open, because a process without privileges could not open it again. */
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

/* Columns: number, portid, waiting, copy mode, copy range, dropped by the queue, dropped by the
 * socket, last id, 1. */
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

/* Short attributes leave 0 (the cursor's sticky error). */
static void read_attribute(struct nfq_message *m, unsigned type, struct slice s)
{
    struct bytes in = bytes_of_slice(s);

    switch (type) {
    case NFQA_PACKET_HDR:
        m->id = take_be32(&in);
        m->protocol = take_be16(&in);
        m->has_id = !in.failed;
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

/* Reads one netlink message. NFQA_CAP_LEN is only there for truncated packets. */
enum nfq_kind nfq_message_read(uint8_t *data, size_t len, struct nfq_message *out)
{
    struct bytes in = bytes_of(data, len);
    const uint8_t *at = take_bytes(&in, sizeof(struct nlmsghdr));
    struct nlmsghdr head;
    struct slice body;
    unsigned type;

    *out = (struct nfq_message){ 0 };
    if (at == NULL)
        return NFQ_OTHER;
    memcpy(&head, at, sizeof(head));
    if (head.nlmsg_type == NLMSG_ERROR)
        return NFQ_ERROR;
    if (head.nlmsg_type != (NFNL_SUBSYS_QUEUE << 8 | NFQNL_MSG_PACKET))
        return NFQ_OTHER;
    take_skip(&in, sizeof(struct nfgenmsg));
    while (netlink_attribute(&in, &type, &body))
        read_attribute(out, type, body);
    if (out->wire_len < out->len)
        out->wire_len = out->len;
    return out->has_id ? NFQ_PACKET : NFQ_OTHER;
}
