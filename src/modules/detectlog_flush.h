/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/detectlog_flush.h - packets made for a last look at what a parser leaves.
 *
 * When a parser stops, as what follows is encrypted, or hands over to another protocol, rules and
 * logs see what there is so far before that: once for each direction, as if a packet without
 * payload had come. */
#ifndef MODULES_DETECTLOG_FLUSH_H
#define MODULES_DETECTLOG_FLUSH_H

#include "packet/packet.h"

struct detectlog_flush {
    struct packet packet;       /* the one that is made; its memory is kept for the next */
};

void detectlog_flush_fini(struct detectlog_flush *flush);
/* The pseudo packet for p's flow: in p's direction, or the other. Good until the next. */
struct packet *detectlog_flush_packet(struct detectlog_flush *flush, const struct packet *p,
                                      bool same);

#endif
