/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/flow_wanted.h - the flow that the command line names: "10.0.0.1:1024-10.0.0.2:80",
 * in either direction. */
#ifndef DETECT_EXPLAIN_FLOW_WANTED_H
#define DETECT_EXPLAIN_FLOW_WANTED_H

#include "base/err.h"
#include "packet/packet.h"

struct flow_wanted {
    bool given;                 /* false: all flows are wanted */
    struct ip ip[2];
    uint16_t port[2];           /* 0 for protocols without ports */
};

/* -1 with *err, which names the option. */
int flow_wanted_read(struct flow_wanted *w, const char *option, const char *flow, struct err *err);
bool flow_is_wanted(const struct flow_wanted *w, const struct packet *p);
/* How much its ends are like those of the packet: 2 for each equal address, 1 for each equal port,
 * of the better of both ways round. */
unsigned flow_wanted_likeness(const struct flow_wanted *w, const struct packet *p);

#endif
