/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/device/netlink.h - messages of netfilter's netlink subsystem: creates a socket, sends
 * requests, parses messages. */
#ifndef CAPTURE_NETLINK_H
#define CAPTURE_NETLINK_H

#include <linux/netlink.h>

#include "base/text/bytes.h"

/* The largest packet, with its attributes. */
#define NETLINK_MESSAGE_MAX (65535 + 1025)

/* A socket with a timeout of 2 s; -1 with errno. */
int netlink_open(void);
/* Removes the timeout. */
void netlink_started(int fd);

struct netlink_request {
    uint8_t data[256];
    size_t len;
};
/* type: subsystem and message; number: of the queue or group. */
void netlink_request_begin(struct netlink_request *rq, unsigned type, unsigned number);
void netlink_request_add(struct netlink_request *rq, uint16_t type, const void *data, size_t len);
/* Sends it and waits for the kernel's acknowledgment; -1 with errno. */
int netlink_request_do(int fd, struct netlink_request *rq);

/* True if a process has this queue or group, by the kernel's table, a file with a line for each. */
bool netlink_is_taken(const char *table, unsigned number);

/* The next attribute; false: there is none. Attributes have a length and a type in host order, and
 * are padded to four bytes. */
bool netlink_attribute(struct bytes *in, unsigned *type, struct slice *body);

#endif
