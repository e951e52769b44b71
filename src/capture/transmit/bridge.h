/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/bridge.h - pairs of interfaces that each send what the other received: copy-mode
 * and copy-iface in a section that lists interfaces. Start-up only. */
#ifndef CAPTURE_BRIDGE_H
#define CAPTURE_BRIDGE_H

#include "capture/capture.h"
#include "capture/device/net_device.h"

enum bridge_copy { BRIDGE_NONE, BRIDGE_TAP, BRIDGE_IPS };

/* Where what an interface receives goes on. */
struct bridge {
    enum bridge_copy copy;
    char peer[64];              /* copy-iface; "" with BRIDGE_NONE */
};

/* *peer: copy-iface, NULL when there is none. */
enum bridge_copy bridge_copy_mode(struct capture_section section, const char *name,
                                  const char **peer);
/* Whether the two send to each other. */
bool bridge_are_pair(struct capture_section section, const char *one, const char *other);
/* The other port, if both send to each other; else NULL. */
const char *bridge_peer(struct capture_section section, const char *name);
/* The sources of a section: a bridge is one source, named by its first port. */
int bridge_sources(struct capture_section section, const char *const *given, size_t count,
                   struct capture_names *out, struct err *err);
bool bridge_any(struct capture_section section, const char *const *sources, size_t count,
                enum bridge_copy least);
/* The mode of an interface and the name of its peer. */
int bridge_read_keys(struct capture_section section, const char *name, struct bridge *out,
                     struct err *err);
/* The same for interfaces of the kernel; logs when their MTUs differ. */
int bridge_read(struct capture_section section, const char *name,
                const struct net_device *facts, struct bridge *out, struct err *err);

#endif
