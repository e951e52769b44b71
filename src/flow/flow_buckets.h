/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_buckets.h - the hash table of a thread's flows.
 *
 * A bucket is one cache line: seven flows, a tag byte of the hash for each. A miss costs that one
 * line, a hit the flow's own lines besides. What does not fit goes to the next bucket, and the
 * full one counts how many it sent away, so that a search knows when to stop.
 *
 * The buckets start few, so that few flows keep to few cache lines and pages, and double when they
 * are nearly half full. Nothing stops for that: each new flow moves a few of the old buckets over,
 * and while some are left both are searched. */
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
    uint32_t *beyond;               /* for each: of its overflow, what a byte does not hold */
    uint64_t mask;
    unsigned shift;
};

struct flow_buckets {
    struct flow_bucket_run now, old;        /* old: those in front of `moved` are empty */
    uint64_t moved;
    uint64_t hand;                  /* where flow_buckets_next() goes on */
    uint32_t count;                 /* flows */
};

/* As many as flow.hash-size says where that is less. False: no memory. */
bool flow_buckets_init(struct flow_buckets *buckets, const struct flow_conf *conf);
void flow_buckets_fini(struct flow_buckets *buckets);

/* Bytes. */
uint64_t flow_buckets_size(const struct flow_buckets *buckets);

/* Start the loads that a search will wait for: the bucket, then the flow it probably finds. */
void flow_buckets_prefetch(const struct flow_buckets *buckets, uint32_t hash);
struct flow *flow_buckets_prefetch_flow(const struct flow_buckets *buckets, uint32_t hash);

/* NULL: it is not there. */
struct flow *flow_buckets_find(const struct flow_buckets *buckets, const struct flow_conf *conf,
                               uint32_t hash, const struct flow_key *key);
struct flow *flow_buckets_find_id(const struct flow_buckets *buckets, uint64_t id);

/* Before each insertion. False: there is none. */
bool flow_buckets_make_space(struct flow_buckets *buckets);
void flow_buckets_insert(struct flow_buckets *buckets, struct flow *flow);
void flow_buckets_remove(struct flow_buckets *buckets, const struct flow *flow);

/* The flows of the next bucket, round and round; their number. */
unsigned flow_buckets_next(struct flow_buckets *buckets,
                           struct flow *flows[static FLOW_BUCKET_SLOTS]);

/* All flows, in no order; `flows` has room for buckets->count. */
void flow_buckets_all(struct flow_buckets *buckets, struct flow **flows);

#endif
