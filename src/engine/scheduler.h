/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/scheduler.h - which thread of the next stage gets a packet.
 *
 * Every scheduler maps a symmetric key of the packet to a bucket of a table and the bucket to a
 * thread, so that a flow stays on its thread whatever the scheduler:
 *
 *     hash          packet.flow_hash
 *     ippair        both addresses
 *     ftp-hash      as hash, but FTP control and data together, by addresses
 *     xor-251       XOR of addresses and ports, modulo the prime 251
 *     round-robin   a new flow goes to the next thread in turn, its later packets follow
 *     least-loaded  a new flow goes to the thread with the least queued work
 *     capture       back to the thread of the queue it came from
 *
 * A packet without a flow (flow_hash 0) goes to thread 0. Shared by all threads that deal to one
 * stage; buckets are filled by compare-and-swap, everything else is read-only. */
#ifndef ENGINE_DEAL_H
#define ENGINE_DEAL_H

#include "packet/packet.h"

#define DEAL_BUCKETS 4096

struct deal;

/* Packets dealt to, and not yet worked on by, a consumer; asked for a new flow only. */
typedef uint64_t (*deal_load_fn)(void *arg, unsigned consumer);

struct deal_conf {
    const char *scheduler;              /* NULL: hash */
    unsigned consumers;
    uint32_t idle_s;                    /* a bucket idle for so long holds no flow; 0: never */
    deal_load_fn load;                  /* least-loaded */
    void *load_arg;
    struct packet_pool *const *pools;   /* capture: of the receive threads, by number */
    unsigned pool_count;
};

bool deal_known(const char *scheduler);
struct deal *deal_new(const struct deal_conf *conf);
void deal_free(struct deal *deal);
unsigned deal_packet(struct deal *deal, const struct packet *p);
const char *deal_name(const struct deal *deal);

static inline unsigned deal_bucket(uint32_t hash)
{
    return (uint32_t)(hash * 0x9e3779b1u) >> 20;
}

#endif
