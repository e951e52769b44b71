/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/device/net_device.h - properties of a network interface. Used at start-up, and when an
 * interface has gone, never per packet. */
#ifndef CAPTURE_NET_DEVICE_H
#define CAPTURE_NET_DEVICE_H

#include "base/err.h"
#include "packet/decode.h"

struct net_device {
    int index;                  /* 0: no interface has that name */
    unsigned mtu;
    bool is_up, is_loopback;
    int arp_type;               /* ARPHRD_* */
    bool has_offloads;          /* may send or receive frames larger than the MTU, or without
                                 * checksum */
    char offloads[96];          /* "gro off tso off": arguments for ethtool -K */
};

/* -1 with *err when there is no such interface, or the query fails. */
int net_device_read(const char *name, struct net_device *out, struct err *err);
/* True if it exists, is up, and still has that index. */
bool net_device_is_ready(const char *name, int index);
bool net_device_is(const char *name, int index);
int net_device_numa_node(const char *name);     /* -1: unknown, or none */
/* Writes a number under /sys/class/net/NAME, if that interface has that index; *before: the former
 * value. False: there is no such file, or no permission. */
bool net_device_tune(const char *name, int index, const char *file, unsigned value,
                     unsigned *before);
unsigned net_device_queues(const char *name);   /* RSS receive queues; at least 1 */
/* Switches off offloads that join frames; returns those that were on, for net_device_join_on(). */
unsigned net_device_join_off(const char *name);
void net_device_join_on(const char *name, unsigned was);
enum datalink net_device_link(int arp_type);
/* "run as root, or give the capabilities ..": ends a message about EPERM. */
const char *net_rights_hint(int error);

#endif
