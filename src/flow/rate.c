/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/rate.c - finds elephant flows: bytes by second in a ring for each direction, and their
 * sum.
 *
 * Seconds without packets have no place in the ring, so a flow takes memory only for what it sent,
 * however long the interval is. */
#include "flow/rate.h"

#include <string.h>

#include "base/memory/lib_memory.h"

/* Second n is stored without its upper half: intervals are shorter. */
struct rate_second {
    uint32_t second;
    uint32_t bytes;             /* more than 4 GB in a second continue in another place */
};

/* The seconds of one direction, in order. */
struct rate_ring {
    uint64_t sum, newest;       /* newest: the second of the latest packet */
    uint32_t first, count, cap; /* cap: a power of two, or 0 */
    struct rate_second *at;
};

/* Allocated for each flow while flow.rate-tracking is configured, until both
 * directions are elephants. */
struct flow_rate {
    struct rate_ring ring[2];
};

/* Without the section there is no tracking: conf->bytes is 0. */
int flow_rate_read(struct flow_rate_conf *conf, const struct conf_node *root, struct err *err)
{
    const struct conf_node *node = conf_find(root, "flow.rate-tracking");
    const char *bytes, *seconds;
    uint64_t interval;

    *conf = (struct flow_rate_conf){ 0 };
    if (node == NULL)
        return 0;
    bytes = conf_string(node, "bytes", "");
    seconds = conf_string(node, "interval", "");
    if (!text_to_size(text_of(bytes), &conf->bytes))
        return err_at(err, node->at, "flow.rate-tracking.bytes: expected a size such as 1gb, "
                      "got \"%s\"", bytes);
    if (!text_to_u64(text_of(seconds), UINT16_MAX, &interval) || interval == 0)
        return err_at(err, node->at, "flow.rate-tracking.interval: expected seconds, 1 to "
                      "65535, got \"%s\"", seconds);
    conf->seconds = (uint32_t)interval;
    return 0;
}

static struct flow_rate *rate_of(struct flow *f)
{
    struct flow_ext *ext = flow_ext_make(f);

    if (ext != NULL && ext->rate == NULL)
        ext->rate = lib_calloc(1, sizeof(*ext->rate));
    return ext != NULL ? ext->rate : NULL;
}

void flow_rate_free(struct flow_rate *rate)
{
    if (rate == NULL)
        return;
    lib_free(rate->ring[TO_SERVER].at);
    lib_free(rate->ring[TO_CLIENT].at);
    lib_free(rate);
}

static struct rate_second *place(const struct rate_ring *ring, uint32_t n)
{
    return &ring->at[(ring->first + n) & (ring->cap - 1)];
}

/* Packets pay for the places: each is left once. */
static void leave_old(struct rate_ring *ring, uint32_t seconds)
{
    while (ring->count > 0 && (uint32_t)ring->newest - place(ring, 0)->second >= seconds) {
        ring->sum -= place(ring, 0)->bytes;
        ring->first = (ring->first + 1) & (ring->cap - 1);
        ring->count--;
    }
}

static bool grow(struct rate_ring *ring)
{
    uint32_t cap = ring->cap > 0 ? ring->cap * 2 : 4;
    struct rate_second *at = lib_malloc(cap * sizeof(*at));

    if (at == NULL)
        return false;
    for (uint32_t i = 0; i < ring->count; i++)
        at[i] = *place(ring, i);
    lib_free(ring->at);
    *ring = (struct rate_ring){ ring->sum, ring->newest, 0, ring->count, cap, at };
    return true;
}

/* Without memory the bytes do not count. */
static void count_bytes(struct rate_ring *ring, uint32_t bytes)
{
    struct rate_second *last = ring->count > 0 ? place(ring, ring->count - 1) : NULL;

    if (last == NULL || last->second != (uint32_t)ring->newest ||
        last->bytes > UINT32_MAX - bytes) {
        if (ring->count == ring->cap && !grow(ring))
            return;
        last = place(ring, ring->count++);
        *last = (struct rate_second){ .second = (uint32_t)ring->newest };
    }
    last->bytes += bytes;
    ring->sum += bytes;
}

static uint8_t elephant_flag(enum direction d)
{
    return d == TO_SERVER ? FLOW_INSPECT_ELEPHANT_TS : FLOW_INSPECT_ELEPHANT_TC;
}

/* The counts end when there is nothing left to find out. */
static bool mark_elephant(struct flow *f, enum direction d)
{
    bool first = (f->inspect_flags & FLOW_INSPECT_ELEPHANT) == 0;

    f->inspect_flags |= elephant_flag(d);
    if ((f->inspect_flags & FLOW_INSPECT_ELEPHANT) == FLOW_INSPECT_ELEPHANT) {
        flow_rate_free(f->ext->rate);
        f->ext->rate = NULL;
    }
    return first;
}

/* After a pause longer than the interval nothing of before counts, also where the pause has more
 * seconds than 32 bits. */
static void move_on(struct rate_ring *ring, uint64_t second, uint32_t seconds)
{
    if (second - ring->newest >= seconds)
        ring->sum = ring->count = 0;
    ring->newest = second;
    leave_old(ring, seconds);
}

/* True once per flow: it has become an elephant. Packets that are older than the newest second
 * count for that one. */
bool flow_rate_add(const struct flow_rate_conf *conf, struct flow *f, enum direction d,
                   uint64_t time_us, uint32_t bytes)
{
    uint64_t second = time_us / 1000000;
    struct flow_rate *rate;
    struct rate_ring *ring;

    if ((f->inspect_flags & elephant_flag(d)) || (rate = rate_of(f)) == NULL)
        return false;
    ring = &rate->ring[d];
    if (second > ring->newest)
        move_on(ring, second, conf->seconds);
    count_bytes(ring, bytes);
    return ring->sum >= conf->bytes && mark_elephant(f, d);
}
