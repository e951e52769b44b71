/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/device/netlink.h - messages of the firewall's part of netlink: making a socket, asking
 * for something, taking a message apart. */
#ifndef CAPTURE_NETLINK_H
#define CAPTURE_NETLINK_H

#include <linux/netlink.h>

#include "base/text/bytes.h"

/* As large as a packet can be, and what is said of it. */
#define NETLINK_MESSAGE_MAX (65535 + 1025)

/* A socket that waits 2 s for an answer; -1 with errno. */
int netlink_open(void);
/* From now on it waits as long as it takes. */
void netlink_started(int fd);

struct netlink_request {
    uint8_t data[256];
    size_t len;
};
/* type: subsystem and message; number: of the queue or group. */
void netlink_request_begin(struct netlink_request *rq, unsigned type, unsigned number);
void netlink_request_add(struct netlink_request *rq, uint16_t type, const void *data, size_t len);
/* Sends it and waits for the kernel's word; -1 with errno. */
int netlink_request_do(int fd, struct netlink_request *rq);

/* Has anybody this queue or group? By the kernel's table, a file with a line for each. */
bool netlink_is_taken(const char *table, unsigned number);

/* The next attribute; false: there is none. Attributes are a length and a type in host order,
 * padded to four bytes. */
bool netlink_attribute(struct bytes *in, unsigned *type, struct slice *body);

#endif
