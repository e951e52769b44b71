/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/sack.h - the ranges that the receiver has reported beyond its ACK (RFC 2018). They allow
 * the sender to send more. */
#ifndef STREAM_SACK_H
#define STREAM_SACK_H

#include "base/base.h"

struct tcp_in;
struct tcp_stream;

/* No real receiver keeps more ranges than this; the lowest are kept. */
#define SACK_RANGES 15

struct sack_range {
    uint32_t left, right;
};

struct sack_set {
    uint32_t count;
    struct sack_range range[SACK_RANGES];       /* ascending and disjoint */
};

uint32_t sack_size(const struct sack_set *set);
void sack_prune(struct sack_set *set, uint32_t ack);
void sack_add(struct sack_set *set, uint32_t left, uint32_t right);

/* Adds the ranges of the packet's option; `acked` is the stream that it acknowledges. */
void sack_take(struct tcp_in *in, struct tcp_stream *acked);
/* True when the option reports nothing new. */
bool sack_is_outdated(const struct tcp_in *in, const struct tcp_stream *acked);

#endif
