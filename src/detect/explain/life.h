/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/life.h - what became of one flow, packet by packet: ids --explain-flow.
 *
 * The one packet thread of mode `single` calls it, once before the stream module has seen a packet
 * and once when rules inspect it; between the two no other packet moves. So what differs is what
 * that packet did. The engine does not know of it, and a run without it never comes here. */
#ifndef DETECT_EXPLAIN_LIFE_H
#define DETECT_EXPLAIN_LIFE_H

#include "base/err.h"
#include "packet/inspection.h"

struct app_conf;
struct buf;
struct detect_thread;
struct life;
struct stream_conf;

struct life_request {
    const char *flow;                   /* "10.0.0.1:1024-10.0.0.2:80" */
    bool json;
    const struct app_conf *app;         /* borrowed */
    const struct stream_conf *stream;   /* borrowed */
};

/* NULL with *err: that is no flow. */
struct life *life_new(const struct life_request *request, struct err *err);
void life_free(struct life *life);              /* NULL is fine */

/* The packet has its flow, and its TCP session is as the packets before have left it. */
void life_before_stream(struct life *life, const struct packet *p);
/* detect_inspect(), and what the packet has done. */
void life_inspect(struct life *life, struct detect_thread *dt, const struct inspection *in);

/* When all packets have gone. False: memory ran out. */
bool life_write(struct life *life, struct buf *out);
/* False: no packet of the flow came. */
bool life_found(const struct life *l);

#endif
