/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/watch.h - watchers: plugins that see each packet of a flow and keep memory with it. */
#ifndef PLUGINS_WATCH_H
#define PLUGINS_WATCH_H

#include "flow/flow.h"

/* The watchers' state in one inspecting thread. NULL: there are no watchers. */
struct plugin_watch;
struct plugin_watch *plugin_watch_open(void);
void plugin_watch_close(struct plugin_watch *w);
/* The thread that owns the flow's inspection state, before rules inspect the packet. */
void plugin_watch_packet(struct plugin_watch *w, struct packet *p);
/* Frees what they keep with the flow; before flow_ext_free(). */
void plugin_watch_flow_free(struct flow *f);

#endif
