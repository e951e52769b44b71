/* SPDX-License-Identifier: GPL-2.0-or-later */
/* stream/tcp_seq.h - compares TCP sequence numbers (RFC 9293 section 3.4): half the space lies
 * ahead. */
#ifndef STREAM_TCP_SEQ_H
#define STREAM_TCP_SEQ_H

#include "base/base.h"

static inline bool seq_lt(uint32_t a, uint32_t b) { return (int32_t)(a - b) < 0; }
static inline bool seq_leq(uint32_t a, uint32_t b) { return (int32_t)(a - b) <= 0; }
static inline bool seq_gt(uint32_t a, uint32_t b) { return (int32_t)(a - b) > 0; }
static inline bool seq_geq(uint32_t a, uint32_t b) { return (int32_t)(a - b) >= 0; }
static inline uint32_t seq_min(uint32_t a, uint32_t b) { return seq_lt(a, b) ? a : b; }
static inline uint32_t seq_max(uint32_t a, uint32_t b) { return seq_gt(a, b) ? a : b; }

#endif
