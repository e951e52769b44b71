/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/detectlog_flush.h - packets made for a last look at what a parser leaves.
 *
 * When a parser stops, as what follows is encrypted, or hands over to another protocol, rules and
 * logs see what there is so far before that: once for each direction, as if a packet without
 * payload had come. */
#ifndef MODULES_LAST_LOOK_H
#define MODULES_LAST_LOOK_H

#include "packet/packet.h"

struct last_look {
    struct packet packet;       /* the one that is made; its memory is kept for the next */
};

void last_look_fini(struct last_look *look);
/* The pseudo packet for p's flow: in p's direction, or the other. Good until the next. */
struct packet *last_look_packet(struct last_look *look, const struct packet *p, bool same);

#endif
