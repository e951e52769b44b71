/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/flow_buckets.c - the hash table of one thread: searches, inserts, grows. See README.md. */
#include "flow/flow_buckets.h"

#include "base/memory/traffic_memory.h"
#include "base/text/bytes.h"
#include "flow/flow_match.h"

#include <string.h>
#include <sys/mman.h>

#define SLOTS FLOW_BUCKET_SLOTS
#define OVERFLOW_MANY 255       /* at this value further ones count in run->beyond */

/* A table starts with at most this many and grows with its flows. */
#define FIRST_BUCKETS UINT64_C(4096)
#define HUGE_PAGE (2u << 20)

/* The scheduler that chose this thread used bits of the same hash. Fibonacci hashing spreads the
 * rest, so that all buckets are used whichever part of the hashes comes here. */
static inline uint64_t spread(uint32_t hash)
{
    return hash * UINT64_C(0x9e3779b97f4a7c15);
}

static inline uint64_t bucket_of(const struct flow_bucket_run *run, uint64_t spread_hash)
{
    return spread_hash >> run->shift;
}

/* A byte of the hash, compared before the flow is read; 0 marks a free slot. */
static inline uint8_t tag_of(uint64_t spread_hash)
{
    uint8_t tag = (uint8_t)(spread_hash >> 24);

    return tag != 0 ? tag : 1;
}

/* ---- one run of buckets ---- */

static uint64_t run_size(const struct flow_bucket_run *run)
{
    return run->at != NULL ? (run->mask + 1) * sizeof(struct flow_bucket) : 0;
}

/* Includes the overflow counts after the buckets, whose pages use no memory until they are
 * written. */
static size_t run_mapped(uint64_t count)
{
    return count * (sizeof(struct flow_bucket) + sizeof(uint32_t));
}

/* Large tables use huge pages if there are any: a lookup then misses the TLB less often. The caller
 * has counted the memory. */
static bool run_map(struct flow_bucket_run *run, uint64_t count)
{
    size_t size = count * sizeof(struct flow_bucket);
    void *at =
        mmap(NULL, run_mapped(count), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (at == MAP_FAILED)
        return false;
    if (size >= HUGE_PAGE)
        (void)madvise(at, size, MADV_HUGEPAGE);
    *run = (struct flow_bucket_run){
        .at = at, .beyond = (uint32_t *)((struct flow_bucket *)at + count), .mask = count - 1,
        .shift = 64 - (unsigned)__builtin_ctzll(count),
    };
    return true;
}

static void run_unmap(struct flow_bucket_run *run)
{
    if (run->at != NULL) {
        munmap(run->at, run_mapped(run->mask + 1));
        traffic_memory_release(run_mapped(run->mask + 1));
    }
    run->at = NULL;
}

/* Counts exactly the flows that did not fit, so that the last one to leave clears the mark and
 * lookups stop at this bucket again. */
static inline void overflow_up(struct flow_bucket_run *run, uint64_t at)
{
    if (LIKELY(run->at[at].overflow < OVERFLOW_MANY))
        run->at[at].overflow++;
    else
        run->beyond[at]++;
}

static inline void overflow_down(struct flow_bucket_run *run, uint64_t at)
{
    if (UNLIKELY(run->at[at].overflow == OVERFLOW_MANY && run->beyond[at] > 0))
        run->beyond[at]--;
    else
        run->at[at].overflow--;
}

/* A free slot exists: flow_buckets_make_space() limits the filling. */
static void run_insert(struct flow_bucket_run *run, struct flow *flow)
{
    uint64_t h = spread(flow->hash), at = bucket_of(run, h);

    for (;; at = (at + 1) & run->mask) {
        struct flow_bucket *b = &run->at[at];

        for (unsigned i = 0; i < SLOTS; i++) {
            if (b->tag[i] == 0) {
                b->tag[i] = tag_of(h);
                b->flow[i] = flow;
                return;
            }
        }
        overflow_up(run, at);
    }
}

static bool bucket_remove(struct flow_bucket *b, const struct flow *flow)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        if (b->tag[i] != 0 && b->flow[i] == flow) {
            b->tag[i] = 0;
            return true;
        }
    }
    return false;
}

/* Returns false if the flow is not in this run. */
static bool run_remove(struct flow_bucket_run *run, const struct flow *flow)
{
    uint64_t home = bucket_of(run, spread(flow->hash)), at = home;

    while (!bucket_remove(&run->at[at], flow)) {
        if (run->at[at].overflow == 0)
            return false;
        at = (at + 1) & run->mask;
    }
    for (; home != at; home = (home + 1) & run->mask)
        overflow_down(run, home);
    return true;
}

#define LOW_BITS EACH_BYTE(0x7f)

/* All tags at once: bit 7 of each byte whose slot has this one. The byte behind the tags, which is
 * the overflow count, does not count. */
static inline uint64_t slots_with(const struct flow_bucket *b, uint8_t tag)
{
    uint64_t differ = get_le64((const uint8_t *)b) ^ EACH_BYTE(tag);

    return ~(((differ & LOW_BITS) + LOW_BITS) | differ | LOW_BITS) & UINT64_MAX >> 8;
}

static inline unsigned first_slot(uint64_t slots)
{
    return (unsigned)__builtin_ctzll(slots) / 8;
}

_Static_assert(offsetof(struct flow_bucket, overflow) == FLOW_BUCKET_SLOTS &&
                   sizeof(uint64_t) == FLOW_BUCKET_SLOTS + 1,
               "tags and count are one word");

/* Whether the flow is the one: of a key, or of a packet. */
typedef bool flow_is_fn(const struct flow_conf *conf, const struct flow_key *key, const void *what);

static inline bool is_of_key(const struct flow_conf *conf, const struct flow_key *key,
                             const void *what)
{
    return flow_key_matches(conf, key, what);
}

static inline bool is_of_packet(const struct flow_conf *conf, const struct flow_key *key,
                                const void *what)
{
    return flow_match_plain(conf, key, what);
}

/* Usually one cache line for the bucket and one for the flow. A key is only compared if the tag
 * matches, in 1 of 255 cases by chance. */
static inline __attribute__((always_inline)) struct flow *
run_find(const struct flow_bucket_run *run, const struct flow_conf *conf, uint64_t spread_hash,
         flow_is_fn *is, const void *what)
{
    uint64_t at = bucket_of(run, spread_hash);
    uint8_t tag = tag_of(spread_hash);

    for (;; at = (at + 1) & run->mask) {
        const struct flow_bucket *b = &run->at[at];

        for (uint64_t left = slots_with(b, tag); left != 0; left &= left - 1)
            if (LIKELY(is(conf, &b->flow[first_slot(left)]->key, what)))
                return b->flow[first_slot(left)];
        if (LIKELY(b->overflow == 0))
            return NULL;
    }
}

/* The hash is the lower half of an id, so ids need no index of their own. */
static struct flow *run_find_id(const struct flow_bucket_run *run, uint64_t id)
{
    uint64_t h = spread((uint32_t)id), at;

    if (run->at == NULL)
        return NULL;
    for (at = bucket_of(run, h);; at = (at + 1) & run->mask) {
        const struct flow_bucket *b = &run->at[at];

        for (unsigned i = 0; i < SLOTS; i++)
            if (b->tag[i] == tag_of(h) && b->flow[i]->id == id)
                return b->flow[i];
        if (b->overflow == 0)
            return NULL;
    }
}

/* ---- both runs ---- */

/* Sizes are powers of two. */
bool flow_buckets_init(struct flow_buckets *buckets, const struct flow_conf *conf)
{
    uint64_t want = MIN(conf->hash_size / conf->tables, FIRST_BUCKETS), count = 64;

    while (count < want)
        count <<= 1;
    *buckets = (struct flow_buckets){ 0 };
    if (!run_map(&buckets->now, count))
        return false;
    traffic_memory_add(run_mapped(count));      /* at start nothing is refused */
    return true;
}

void flow_buckets_fini(struct flow_buckets *buckets)
{
    run_unmap(&buckets->now);
    run_unmap(&buckets->old);
}

uint64_t flow_buckets_size(const struct flow_buckets *buckets)
{
    return run_size(&buckets->now) + run_size(&buckets->old);
}

/* Called for the packets ahead of the one at work. */
void flow_buckets_prefetch(const struct flow_buckets *buckets, uint32_t hash)
{
    PREFETCH(&buckets->now.at[bucket_of(&buckets->now, spread(hash))]);
}

/* The second step of prefetching: the bucket is in the cache by now. A wrong tag costs one useless
 * prefetch. */
struct flow *flow_buckets_prefetch_flow(const struct flow_buckets *buckets, uint32_t hash)
{
    uint64_t h = spread(hash);
    const struct flow_bucket *b = &buckets->now.at[bucket_of(&buckets->now, h)];
    uint64_t slots = slots_with(b, tag_of(h));
    struct flow *flow;

    if (slots == 0)
        return NULL;
    flow = b->flow[first_slot(slots)];
    PREFETCH(flow);
    PREFETCH((const char *)flow + CACHE_LINE);
    PREFETCH((const char *)flow + 2 * CACHE_LINE);
    return flow;
}

/* While the table grows, a flow is in one of the two runs. */
struct flow *flow_buckets_find(const struct flow_buckets *buckets, const struct flow_conf *conf,
                               uint32_t hash, const struct flow_key *key)
{
    uint64_t h = spread(hash);
    struct flow *flow = run_find(&buckets->now, conf, h, is_of_key, key);

    if (flow == NULL && UNLIKELY(buckets->old.at != NULL))
        flow = run_find(&buckets->old, conf, h, is_of_key, key);
    return flow;
}

struct flow *flow_buckets_find_plain(const struct flow_buckets *buckets,
                                     const struct flow_conf *conf, const struct packet *p)
{
    uint64_t h = spread(p->flow_hash);
    struct flow *flow = run_find(&buckets->now, conf, h, is_of_packet, p);

    if (flow == NULL && UNLIKELY(buckets->old.at != NULL))
        flow = run_find(&buckets->old, conf, h, is_of_packet, p);
    return flow;
}

struct flow *flow_buckets_find_id(const struct flow_buckets *buckets, uint64_t id)
{
    struct flow *flow = run_find_id(&buckets->now, id);

    return flow != NULL ? flow : run_find_id(&buckets->old, id);
}

void flow_buckets_insert(struct flow_buckets *buckets, struct flow *flow)
{
    run_insert(&buckets->now, flow);
    buckets->count++;
}

void flow_buckets_remove(struct flow_buckets *buckets, const struct flow *flow)
{
    if (!run_remove(&buckets->now, flow) && buckets->old.at != NULL)
        (void)run_remove(&buckets->old, flow);
    buckets->count--;
}

/* ---- growing ---- */

static void move_bucket(struct flow_buckets *buckets, struct flow_bucket *b)
{
    for (unsigned i = 0; i < SLOTS; i++) {
        struct flow *flow = b->flow[i];

        if (b->tag[i] == 0)
            continue;
        (void)run_remove(&buckets->old, flow);
        run_insert(&buckets->now, flow);
    }
}

/* Buckets that each new flow moves. The new run is twice the old one, so moving ends long before
 * the next growth. */
#define MOVES_AT_ONCE 8

static COLD void move_some(struct flow_buckets *buckets)
{
    for (unsigned i = 0; i < MOVES_AT_ONCE; i++) {
        move_bucket(buckets, &buckets->old.at[buckets->moved++]);
        if (buckets->moved > buckets->old.mask) {
            run_unmap(&buckets->old);
            return;
        }
    }
}

/* Without memory for a larger run the table goes on with this one. */
static COLD void start_growing(struct flow_buckets *buckets)
{
    uint64_t count = (buckets->now.mask + 1) * 2;
    struct flow_bucket_run more;

    if (!traffic_memory_take(run_mapped(count)))
        return;             /* the next flow tries again */
    if (!run_map(&more, count)) {
        traffic_memory_release(run_mapped(count));
        return;
    }
    buckets->old = buckets->now;
    buckets->now = more;
    buckets->moved = 0;
}

/* With three flows per bucket on average, overflow is rare. Without memory to grow, the table
 * accepts twice as many. */
#define FLOWS_TO_GROW 3
#define FLOWS_AT_MOST 6

/* False: the table is full and cannot grow. */
bool flow_buckets_make_space(struct flow_buckets *buckets)
{
    if (UNLIKELY(buckets->old.at != NULL))
        move_some(buckets);
    else if (UNLIKELY(buckets->count >= FLOWS_TO_GROW * (buckets->now.mask + 1)))
        start_growing(buckets);
    return LIKELY(buckets->count < FLOWS_AT_MOST * (buckets->now.mask + 1));
}

/* ---- all of them ---- */

static unsigned flows_of(const struct flow_bucket *b, struct flow **flows)
{
    unsigned count = 0;

    for (unsigned i = 0; i < SLOTS; i++)
        if (b->tag[i] != 0)
            flows[count++] = b->flow[i];
    return count;
}

/* Round and round. */
unsigned flow_buckets_next(struct flow_buckets *buckets, struct flow *flows[static SLOTS])
{
    if (buckets->old.at != NULL)
        move_some(buckets);
    buckets->hand &= buckets->now.mask;
    return flows_of(&buckets->now.at[buckets->hand++], flows);
}

unsigned flow_buckets_visit(const struct flow_buckets *buckets, uint64_t *hand,
                            struct flow *flows[static SLOTS])
{
    *hand &= buckets->now.mask;
    return flows_of(&buckets->now.at[(*hand)++], flows);
}

/* Zero is an empty bucket. Pages that are locked in memory do not go. */
static void run_clear(struct flow_bucket_run *run)
{
    size_t size = run_mapped(run->mask + 1);

    if (madvise(run->at, size, MADV_DONTNEED) != 0)
        memset(run->at, 0, size);
}

void flow_buckets_take_all(struct flow_buckets *buckets, struct flow **flows)
{
    while (buckets->old.at != NULL)
        move_some(buckets);
    for (uint64_t at = 0; at <= buckets->now.mask; at++)
        flows += flows_of(&buckets->now.at[at], flows);
    run_clear(&buckets->now);
}
