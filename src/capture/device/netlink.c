/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/device/netlink.c - netlink requests to netfilter (nfnetlink), and its attributes. */
#include "capture/device/netlink.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netfilter/nfnetlink.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"

/* Socket buffers. The kernel limits what packets may wait in the first one; bursts of GSO packets
 * are large. */
#define RECEIVE_BYTES (64 << 20)
#define SEND_BYTES (4 << 20)

static void set_timeout(int fd, unsigned seconds)
{
    struct timeval timeout = { .tv_sec = seconds };

    (void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof(timeout));
}

/* The receive timeout only applies to set-up, see netlink_started(). */
int netlink_open(void)
{
    struct sockaddr_nl own = { .nl_family = AF_NETLINK };
    int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_NETFILTER), on = 1, size;

    if (fd < 0)
        return -1;
    if (bind(fd, (struct sockaddr *)&own, sizeof(own)) < 0) {
        close(fd);
        return -1;
    }
    /* The kernel counts packets that do not fit. Without this option recv() would also fail with
     * ENOBUFS, which adds nothing. */
    (void)setsockopt(fd, SOL_NETLINK, NETLINK_NO_ENOBUFS, &on, sizeof(on));
    set_timeout(fd, 2);
    size = RECEIVE_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof(size)) < 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
    size = SEND_BYTES;
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof(size)) < 0)
        (void)setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof(size));
    return fd;
}

/* From now on the queue polls, so receiving needs no timeout. */
void netlink_started(int fd)
{
    set_timeout(fd, 0);
}

/* `number` is the queue or group in nfgenmsg.res_id, in network byte order. The length is set at
 * the end. */
void netlink_request_begin(struct netlink_request *rq, unsigned type, unsigned number)
{
    struct nlmsghdr head = { .nlmsg_type = (uint16_t)type,
                             .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK };
    struct nfgenmsg gen = { .version = NFNETLINK_V0, .res_id = htons((uint16_t)number) };

    memcpy(rq->data, &head, sizeof(head));
    memcpy(rq->data + sizeof(head), &gen, sizeof(gen));
    rq->len = sizeof(head) + sizeof(gen);
}

/* The buffer of a request is large enough for all requests of this program. */
void netlink_request_add(struct netlink_request *rq, uint16_t type, const void *data, size_t len)
{
    struct nlattr attr = { .nla_len = (uint16_t)(sizeof(attr) + len), .nla_type = type };

    memcpy(rq->data + rq->len, &attr, sizeof(attr));
    memcpy(rq->data + rq->len + sizeof(attr), data, len);
    rq->len += NLA_ALIGN(sizeof(attr) + len);
}

/* Sends the request and waits for its acknowledgement. Packets may arrive before it and are
 * skipped; they were queued before the engine was ready. */
int netlink_request_do(int fd, struct netlink_request *rq)
{
    static const unsigned tries = 1000;
    struct nlmsghdr head;
    uint32_t length = (uint32_t)rq->len;
    uint8_t *reply = xmalloc(NETLINK_MESSAGE_MAX);
    int error = -ETIMEDOUT;

    memcpy(rq->data, &length, sizeof(length));
    if (send(fd, rq->data, rq->len, 0) < 0) {
        free(reply);
        return -1;
    }
    for (unsigned i = 0; i < tries; i++) {
        ssize_t n = recv(fd, reply, NETLINK_MESSAGE_MAX, 0);

        if (n < (ssize_t)(sizeof(head) + sizeof(int)))
            break;
        memcpy(&head, reply, sizeof(head));
        if (head.nlmsg_type == NLMSG_ERROR) {
            memcpy(&error, reply + sizeof(head), sizeof(error));
            break;
        }
    }
    free(reply);
    errno = -error;
    return error == 0 ? 0 : -1;
}

/* Whether another program has the queue or group: the first column of the file in /proc is its
 * number. */
bool netlink_is_taken(const char *table, unsigned number)
{
    FILE *file = fopen(table, "re");
    bool found = false;
    char line[256];
    unsigned n;

    while (file != NULL && !found && fgets(line, sizeof(line), file) != NULL)
        found = sscanf(line, "%u", &n) == 1 && n == number;
    if (file != NULL)
        fclose(file);
    return found;
}

/* The next attribute of a message. The kernel writes these, but payloads in them come from the
 * network; a length that does not fit ends the message. */
bool netlink_attribute(struct bytes *in, unsigned *type, struct slice *body)
{
    const uint8_t *at = take_bytes(in, sizeof(struct nlattr));
    struct nlattr attr;

    if (at == NULL)
        return false;
    memcpy(&attr, at, sizeof(attr));
    if (attr.nla_len < sizeof(attr))
        return false;
    *type = attr.nla_type & NLA_TYPE_MASK;
    *body = take_slice(in, attr.nla_len - sizeof(attr));
    if (body->data == NULL)
        return false;
    take_skip(in, NLA_ALIGN(attr.nla_len) - attr.nla_len);
    return true;
}
