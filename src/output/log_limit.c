/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/log_limit.c - a bound on what traffic may write to logs (see log_limit.h). */
#include "output/log_limit.h"

#include <stdlib.h>

#include "base/array.h"
#include "conf/conf.h"
#include "flow/flow.h"
#include "output/output_private.h"
#include "packet/seqno.h"
#include "sequencer/sequencer.h"

#define MINUTE_US UINT64_C(60000000)

void log_limit_init(struct log_limit *limit, const struct conf_node *root)
{
    const struct conf_node *node = conf_find(root, "log-limit");

    pthread_mutex_init(&limit->lock, NULL);
    limit->by_byte = (uint32_t)conf_u64_range(node, "by-byte", 128, 0, UINT32_MAX);
    limit->burst = conf_size(node, "burst", 256 * 1024);
    limit->left_out_id = counter_register_own("log.left_out", COUNTER_SUM);
}

void left_out_free(struct left_out *left)
{
    if (left == NULL)
        return;
    map_fini(&left->rules);
    free(left);
}

void log_limit_fini(struct log_limit *limit)
{
    left_out_free(limit->now);
    pthread_mutex_destroy(&limit->lock);
}

static uint64_t minute_of(const struct packet *p)
{
    return packet_order_us(p) / MINUTE_US;
}

/* The packets of a tunnel share their frame: packet k gets 1/((k + 1) (k + 2)) of it, so that the
 * sum over all packets of a frame is less than 1. */
static uint64_t paid_alone(const struct packet *p)
{
    const struct packet *root = p->root != NULL ? p->root : p;

    if (root->flags & PACKET_HAS_TUNNEL)
        return root->wire_len / ((p->recursion + 1u) * (p->recursion + 2u));
    return root->wire_len;
}

static uint64_t paid(const struct render *r, const struct packet *p)
{
    const struct flow *f = p->flow;

    return (f != NULL ? f->bytes[TO_SERVER] + f->bytes[TO_CLIENT] : paid_alone(p)) *
           r->conf->log_limit.by_byte;
}

static uint64_t used(const struct render *r, const struct packet *p)
{
    const struct flow *f = p->flow;

    if (f == NULL)
        return r->packet_bytes;
    return ((uint64_t)f->log_units + f->alert_units) * 64 + r->packet_bytes +
           (f->ext != NULL ? f->ext->log_bytes : 0);
}

static void open_minute(struct render *r, struct log_limit *limit, uint64_t minute)
{
    if (minute <= limit->minute)
        return;
    if (r->left_out == NULL) {
        r->left_out = limit->now;
        limit->now = NULL;
    }
    limit->minute = minute;
    limit->used = 0;
}

/* A packet that finds the burst used does not wait for others: the packet that used it up was
 * before this one, because it has waited for all before itself. */
COLD bool log_limit_take_of_burst(struct render *r, const struct packet *p, size_t len)
{
    struct log_limit *limit = &r->conf->log_limit;
    const uint64_t minute = minute_of(p);
    bool fits;

    if (minute < __atomic_load_n(&limit->closed, __ATOMIC_ACQUIRE))
        return false;
    packet_seq_wait(p);
    pthread_mutex_lock(&limit->lock);
    open_minute(r, limit, minute);
    fits = limit->minute >= limit->closed && limit->used + len <= limit->burst;
    if (fits)
        limit->used += len;
    else
        __atomic_store_n(&limit->closed, limit->minute + 1, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&limit->lock);
    return fits;
}

bool log_limit_allows(struct render *r, const struct packet *p, size_t len)
{
    return r->conf->log_limit.by_byte == 0 || LIKELY(used(r, p) + len <= paid(r, p)) ||
           log_limit_take_of_burst(r, p, len);
}

/* Without memory for the flow's sum the record counts to the burst. */
bool log_limit_take(struct render *r, const struct packet *p, size_t len)
{
    if (r->conf->log_limit.by_byte == 0)
        return true;
    if (UNLIKELY(used(r, p) + len > paid(r, p)))
        return log_limit_take_of_burst(r, p, len);
    if (p->flow == NULL)
        r->packet_bytes += len;
    else if (LIKELY(flow_ext_make(p->flow) != NULL))
        p->flow->ext->log_bytes += len;
    else
        return log_limit_take_of_burst(r, p, len);
    return true;
}

void log_limit_charge(const struct packet *p, size_t len)
{
    if (p->flow != NULL && LIKELY(flow_ext_make(p->flow) != NULL))
        p->flow->ext->log_bytes += len;
}

bool log_limit_take_file(struct render *r, const struct packet *p, size_t len)
{
    if (LIKELY(log_limit_take(r, p, len + LOG_LIMIT_FILE)))
        return true;
    log_limit_count(r, p, LEFT_OUT_OTHER, NULL);
    return false;
}

/* No later packet needs the sum, so that it stays with the thread. */
bool log_limit_take_last(struct render *r, const struct packet *p, size_t len)
{
    if (!log_limit_allows(r, p, len))
        return false;
    r->packet_bytes += len;
    return true;
}

bool log_limit_is_used(const struct render *r, const struct packet *p, size_t least)
{
    const struct log_limit *limit = &r->conf->log_limit;

    return UNLIKELY(minute_of(p) < __atomic_load_n(&limit->closed, __ATOMIC_ACQUIRE)) &&
           limit->by_byte != 0 && used(r, p) + least > paid(r, p);
}

/* Without memory the rule is missing, but the alert is in the sum. */
static void count_rule(struct left_out *left, const struct rule *rule)
{
    const struct left_out_rule key = { .gid = rule->gid, .sid = rule->sid };
    uintptr_t count = (uintptr_t)map_get(&left->rules, &key, sizeof(key));

    (void)map_try_put(&left->rules, &key, sizeof(key), (void *)(count + 1));
}

COLD void log_limit_count(struct render *r, const struct packet *p, enum left_out_kind kind,
                          const struct rule *rule)
{
    struct log_limit *limit = &r->conf->log_limit;

    counter_add(r->counters, limit->left_out_id, 1);
    pthread_mutex_lock(&limit->lock);
    limit->total++;
    if (limit->now == NULL)
        limit->now = calloc(1, sizeof(*limit->now));
    if (limit->now != NULL) {
        limit->now->count[kind]++;
        limit->now->time_us = MAX(limit->now->time_us, p->time_us);
        if (rule != NULL)
            count_rule(limit->now, rule);
    }
    pthread_mutex_unlock(&limit->lock);
}

struct left_out *log_limit_collect(struct log_limit *limit, uint64_t now_us)
{
    struct left_out *left = NULL;

    pthread_mutex_lock(&limit->lock);
    if (now_us == UINT64_MAX || now_us / MINUTE_US > limit->minute) {
        left = limit->now;
        limit->now = NULL;
    }
    pthread_mutex_unlock(&limit->lock);
    return left;
}
