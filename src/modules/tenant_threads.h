/* SPDX-License-Identifier: GPL-2.0-or-later */
/* modules/tenant_threads.h - one detect_thread for each tenant, for one packet thread.
 *
 * A flow keeps its tenant. */
#ifndef MODULES_TENANT_THREADS_H
#define MODULES_TENANT_THREADS_H

#include "modules/context.h"

struct tenant_threads {
    struct run_context *ctx;
    struct detect_thread *everybody;    /* borrowed; runs the rules that belong to no tenant */
    struct counters *counters;
    uint32_t alert_payload_size;               /* see detect_thread_keep_alert_payload() */
    struct tenants *table;              /* referenced; NULL: there are no tenants */
    ARRAY_OF(struct tenant_thread { uint32_t id; struct detect_thread *detect; }) all;
    ARRAY_OF(struct detect_thread *) at;    /* by index in the table; borrowed from `all` */
};

/* Switches to the active tenants and takes over the reference. Flows point into the
 * detect_thread of a removed tenant, so it stays, with the rules that belong to no tenant. 0, or
 * -1 with *err. */
int tenant_threads_take(struct tenant_threads *tt, struct ruleset *rules, unsigned generation,
                        struct err *err);
/* Makes each detect_thread check whether rule costs are counted. */
void tenant_threads_follow_profile(struct tenant_threads *tt);
void tenant_threads_fini(struct tenant_threads *tt);

/* Finds the tenant of the packet and marks the packet and its flow with it. */
struct detect_thread *tenant_thread_of(const struct tenant_threads *tt, struct packet *p);

#endif
