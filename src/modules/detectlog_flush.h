/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/detectlog_flush.h - pseudo packets that let rules and logs run before a parser stops.
 *
 * A parser stops when encrypted data follow, or when another protocol takes over. Rules and logs
 * first process the data so far: once for each direction, as if a packet without payload had
 * arrived. */
#ifndef MODULES_DETECTLOG_FLUSH_H
#define MODULES_DETECTLOG_FLUSH_H

#include "packet/packet.h"

struct detectlog_flush {
    struct packet packet;       /* the pseudo packet; its memory is reused */
};

void detectlog_flush_fini(struct detectlog_flush *flush);
/* Returns the pseudo packet for p's flow, in p's direction or in the other one. Valid until the
 * next call. */
struct packet *detectlog_flush_packet(struct detectlog_flush *flush, const struct packet *p,
                                      bool same);

#endif
