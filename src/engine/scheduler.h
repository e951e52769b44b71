/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/scheduler.h - chooses the thread of the next stage for a packet.
 *
 * Every scheduler maps a symmetric key of the packet to a bucket of a table and the bucket to a
 * thread, so that with every scheduler a flow stays on its thread:
 *
 *     hash          packet.flow_hash
 *     ippair        both addresses
 *     ftp-hash      as hash, but FTP control and data together, by addresses
 *     xor-251       XOR of addresses and ports, modulo the prime 251
 *     round-robin   a new flow goes to the next thread in turn, its later packets follow
 *     least-loaded  a new flow goes to the thread with the least queued work
 *     capture       back to the thread of the queue it came from
 *
 * A packet without a flow (flow_hash 0) goes to thread 0. Shared by all threads that distribute to
 * one stage; buckets are filled by compare-and-swap, everything else is read-only. */
#ifndef ENGINE_SCHEDULER_H
#define ENGINE_SCHEDULER_H

#include "packet/packet.h"

#define SCHEDULER_BUCKETS 4096

struct scheduler;

/* Returns the number of packets assigned to a consumer and not processed yet; called for new flows
 * only. */
typedef uint64_t (*scheduler_load_fn)(void *arg, unsigned consumer);

struct scheduler_conf {
    const char *scheduler;              /* NULL: hash */
    unsigned consumers;
    uint32_t idle_s;                  /* a bucket that is idle for longer holds no flow; 0: never */
    scheduler_load_fn load;                  /* least-loaded */
    void *load_arg;
    struct packet_pool *const *pools;   /* capture: of the receive threads, by number */
    unsigned pool_count;
};

bool scheduler_known(const char *scheduler);
struct scheduler *scheduler_new(const struct scheduler_conf *conf);
void scheduler_free(struct scheduler *scheduler);
unsigned scheduler_pick(struct scheduler *scheduler, const struct packet *p);
const char *scheduler_name(const struct scheduler *scheduler);

static inline unsigned scheduler_bucket(uint32_t hash)
{
    return (uint32_t)(hash * 0x9e3779b1u) >> 20;
}

#endif
