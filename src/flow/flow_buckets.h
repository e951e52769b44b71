/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_buckets.h - the hash table of a thread's flows.
 *
 * A bucket is one cache line: seven flows, with a tag byte of the hash for each. A miss costs that
 * line, a hit also the flow's own lines. A flow that does not fit goes to the next bucket, and the
 * full bucket counts how many it passed on, so that a search knows when to stop.
 *
 * The table starts small, so that few flows use few cache lines and pages, and doubles when it is
 * nearly half full. It grows without a pause: each new flow moves a few of the old buckets, and
 * while some are left both tables are searched. */
#ifndef FLOW_FLOW_BUCKETS_H
#define FLOW_FLOW_BUCKETS_H

#include "flow/flow_private.h"

#define FLOW_BUCKET_SLOTS 7

struct flow_bucket {
    CACHE_ALIGNED uint8_t tag[FLOW_BUCKET_SLOTS];       /* 0: free */
    uint8_t overflow;
    struct flow *flow[FLOW_BUCKET_SLOTS];
};

struct flow_bucket_run {
    struct flow_bucket *at;         /* NULL: none */
    uint32_t *beyond;               /* per bucket: the part of its overflow count that a byte cannot
                                     * hold */
    uint64_t mask;
    unsigned shift;
};

struct flow_buckets {
    struct flow_bucket_run now, old;        /* old: buckets before `moved` are empty */
    uint64_t moved;
    uint64_t hand;                  /* where flow_buckets_next() continues */
    uint32_t count;                 /* flows */
};

/* At most flow.hash-size buckets. False: out of memory. */
bool flow_buckets_init(struct flow_buckets *buckets, const struct flow_conf *conf);
void flow_buckets_fini(struct flow_buckets *buckets);

/* Returns the size in bytes. */
uint64_t flow_buckets_size(const struct flow_buckets *buckets);

/* Prefetch for a search: the bucket, then the flow it probably finds. */
void flow_buckets_prefetch(const struct flow_buckets *buckets, uint32_t hash);
struct flow *flow_buckets_prefetch_flow(const struct flow_buckets *buckets, uint32_t hash);

/* NULL: not found. */
struct flow *flow_buckets_find(const struct flow_buckets *buckets, const struct flow_conf *conf,
                               uint32_t hash, const struct flow_key *key);
/* The flow of a packet of TCP or UDP. */
struct flow *flow_buckets_find_plain(const struct flow_buckets *buckets,
                                     const struct flow_conf *conf, const struct packet *p);
struct flow *flow_buckets_find_id(const struct flow_buckets *buckets, uint64_t id);

/* Call it before each insertion. False: out of memory. */
bool flow_buckets_make_space(struct flow_buckets *buckets);
void flow_buckets_insert(struct flow_buckets *buckets, struct flow *flow);
void flow_buckets_remove(struct flow_buckets *buckets, const struct flow *flow);

/* Writes the flows of the next bucket, cyclically; returns their number. */
unsigned flow_buckets_next(struct flow_buckets *buckets,
                           struct flow *flows[static FLOW_BUCKET_SLOTS]);

/* Like flow_buckets_next(), with a position of the caller's own, from 0. Moves no flow, and leaves
 * out those of an old table. */
unsigned flow_buckets_visit(const struct flow_buckets *buckets, uint64_t *hand,
                            struct flow *flows[static FLOW_BUCKET_SLOTS]);

/* Writes all flows, in no order; `flows` has space for buckets->count. They are in no bucket any
 * more, and the buckets' memory returns to the system. The caller counts them out, one by one. */
void flow_buckets_take_all(struct flow_buckets *buckets, struct flow **flows);

#endif
