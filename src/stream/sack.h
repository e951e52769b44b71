/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/sack.h - which ranges the receiver has reported beyond its ACK (RFC 2018): they widen
 * what the sender may send. */
#ifndef STREAM_SACK_H
#define STREAM_SACK_H

#include "base/base.h"

struct tcp_in;
struct tcp_stream;

/* More ranges than this no real receiver keeps; the lowest are kept. */
#define SACK_RANGES 15

struct sack_range {
    uint32_t left, right;
};

struct sack_set {
    uint32_t count;
    struct sack_range range[SACK_RANGES];       /* ascending, apart from each other */
};

uint32_t sack_size(const struct sack_set *set);
void sack_prune(struct sack_set *set, uint32_t ack);
void sack_add(struct sack_set *set, uint32_t left, uint32_t right);

/* From the packet's option; `acked` is the stream it acknowledges. */
void sack_take(struct tcp_in *in, struct tcp_stream *acked);
/* True when the option tells nothing that is not known. */
bool sack_is_outdated(const struct tcp_in *in, const struct tcp_stream *acked);

#endif
