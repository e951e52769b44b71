/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/device/net_device.h - what the kernel says of a network interface. Start-up, and when an
 * interface has gone: never for a packet. */
#ifndef CAPTURE_NET_DEVICE_H
#define CAPTURE_NET_DEVICE_H

#include "base/err.h"
#include "packet/decode.h"

struct net_device {
    int index;                  /* 0: there is none of that name */
    unsigned mtu;
    bool is_up, is_loopback;
    int arp_type;               /* ARPHRD_* */
    bool has_offloads;          /* gives or takes frames larger than the MTU, or without checksum */
    char offloads[96];          /* "gro off tso off": what ethtool -K is to be told */
};

/* -1 with *err when there is no such interface, or it cannot be asked. */
int net_device_read(const char *name, struct net_device *out, struct err *err);
/* Is it there, up, and still the one of that index? */
bool net_device_is_ready(const char *name, int index);
bool net_device_is(const char *name, int index);
int net_device_numa_node(const char *name);     /* -1: unknown, or none */
/* A number under /sys/class/net/NAME, if that is the interface of that index; *before: what it
 * was. False: there is no such file, or no right to it. */
bool net_device_tune(const char *name, int index, const char *file, unsigned value,
                     unsigned *before);
unsigned net_device_queues(const char *name);   /* RSS receive queues; at least 1 */
/* Switches off what makes one frame of several; what was on, for net_device_join_on(). */
unsigned net_device_join_off(const char *name);
void net_device_join_on(const char *name, unsigned was);
enum datalink net_device_link(int arp_type);
/* "run as root, or give the capabilities ..": ends a message about EPERM. */
const char *net_rights_hint(int error);

#endif
