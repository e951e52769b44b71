/* SPDX-License-Identifier: GPL-2.0-or-later */
/* flow/rate.c - finds elephant flows: bytes by second in a ring for each direction, and their
 * sum. */
#include "flow/rate.h"

#include <string.h>

#include "base/memory/lib_memory.h"

/* Allocated for each flow while flow.rate-tracking is configured, until both
 * directions are elephants. */
struct flow_rate {
    struct {
        uint64_t sum, newest;   /* newest: the second of the latest packet; 0: none yet */
    } ds[2];
    uint64_t at[];              /* bytes by second; first those to the server */
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

static struct flow_rate *rate_of(const struct flow_rate_conf *conf, struct flow *f)
{
    struct flow_ext *ext = flow_ext_make(f);

    if (ext != NULL && ext->rate == NULL)
        ext->rate = lib_calloc(1, sizeof(*ext->rate) +
                                    2 * conf->seconds * sizeof(ext->rate->at[0]));
    return ext != NULL ? ext->rate : NULL;
}

/* Clears the seconds after the newest one up to this one. Bounded by the length of the ring. */
static void move_on(struct flow_rate *rate, enum direction d, uint64_t *at, uint32_t seconds,
                    uint64_t second)
{
    uint64_t newest = rate->ds[d].newest;

    if (second - newest >= seconds) {
        memset(at, 0, seconds * sizeof(*at));
        rate->ds[d].sum = 0;
    } else {
        for (uint64_t s = newest + 1; s <= second; s++) {
            rate->ds[d].sum -= at[s % seconds];
            at[s % seconds] = 0;
        }
    }
    rate->ds[d].newest = second;
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
        lib_free(f->ext->rate);
        f->ext->rate = NULL;
    }
    return first;
}

/* True once per flow: it has become an elephant. Packets that are older than the newest second
 * count for that one. */
bool flow_rate_add(const struct flow_rate_conf *conf, struct flow *f, enum direction d,
                   uint64_t time_us, uint32_t bytes)
{
    uint64_t second = time_us / 1000000, *at;
    struct flow_rate *rate;

    if ((f->inspect_flags & elephant_flag(d)) || (rate = rate_of(conf, f)) == NULL)
        return false;
    at = rate->at + (d == TO_CLIENT ? conf->seconds : 0);
    if (second > rate->ds[d].newest)
        move_on(rate, d, at, conf->seconds, second);
    at[rate->ds[d].newest % conf->seconds] += bytes;
    rate->ds[d].sum += bytes;
    return rate->ds[d].sum >= conf->bytes && mark_elephant(f, d);
}
