/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/bridge.h - pairs of interfaces that each send what the other received: copy-mode
 * and copy-iface in a section that lists interfaces. Start-up only. */
#ifndef CAPTURE_BRIDGE_H
#define CAPTURE_BRIDGE_H

#include "capture/capture.h"
#include "capture/device/net_device.h"

enum bridge_copy { BRIDGE_NONE, BRIDGE_TAP, BRIDGE_IPS };

/* *peer: copy-iface, NULL when there is none. */
enum bridge_copy bridge_copy_mode(const struct conf_node *root, const char *section,
                                  const char *name, const char **peer);
/* True if the two interfaces send to each other. */
bool bridge_are_pair(const struct conf_node *root, const char *section, const char *one,
                     const char *other);
/* Returns the other port if both send to each other; else NULL. */
const char *bridge_peer(const struct conf_node *root, const char *section, const char *name);
/* Returns the sources of a section: a bridge is one source, named by its first port. */
int bridge_sources(const struct conf_node *root, const char *section, const char *const *given,
                   size_t count, struct capture_names *out, struct err *err);
bool bridge_any(const struct conf_node *root, const char *section, const char *const *sources,
                size_t count, enum bridge_copy least);
/* Reads the mode of an interface and the name of its peer; logs errors. */
int bridge_read(const struct conf_node *root, const char *section, const char *name,
                const struct net_device *facts, enum bridge_copy *mode, char peer[64],
                struct err *err);

#endif
