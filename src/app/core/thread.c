/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/thread.c - opens and closes the memory that each parsing thread has for itself: pools of
 * flow states, parser states and transactions, and spare buffers. All of them keep their memory, so
 * a thread in steady state does not call the allocator for anything of the framework. */
#include "app/core/thread.h"

#include "app/core/files.h"
#include "app/core/session.h"
#include "app/core/settings.h"
#include "app/lib/magic.h"

#include <stdlib.h>

#define SLAB_BYTES (64u << 10)

/* Objects per slab: as many as fit SLAB_BYTES, but at least 8 and at most 256. */
static unsigned slab_count(size_t size)
{
    return (unsigned)MIN(MAX(SLAB_BYTES / size, 8), 256);
}

/* Free transactions still own the blocks of their arenas. */
static void discard_tx(void *tx)
{
    arena_fini(&((struct app_tx *)tx)->arena);
}

/* A subprotocol uses the pools of its parent, see app_pool_of(). */
static void open_proto(struct app_thread *at, enum app_proto_id id)
{
    const struct app_proto_conf *pc = &at->conf->proto[id];

    if (pc->proto == NULL || pc->proto->subprotocol_of != 0 || !app_proto_enabled(at->conf, id))
        return;
    if (pc->proto->state_size > 0)
        pool_init(&at->proto[id].state, app_state_size(pc->proto),
                  slab_count(app_state_size(pc->proto)), 0);
    pool_init(&at->proto[id].tx, pc->proto->tx_size, slab_count(pc->proto->tx_size), 0);
    at->proto[id].tx.discard = discard_tx;
    if (pc->proto->thread_open != NULL)
        at->proto[id].data = pc->proto->thread_open(pc->settings, at->counters);
}

/* A datagram leaves nothing pending, so all flows over UDP share one pair of directions. */
static void open_sessions(struct app_thread *at)
{
    for (unsigned i = 0; i < TRANSPORT_COUNT; i++)
        pool_init(&at->sessions[i], app_session_size(i), slab_count(app_session_size(i)), 0);
    at->datagram = xcalloc(2, sizeof(*at->datagram));
}

/* One worker uses the result, so it needs no locks. hooks: what detection and outputs attach. */
struct app_thread *app_thread_new(const struct app_conf *conf, struct counters *counters,
                                  const struct app_hooks *hooks)
{
    struct app_thread *at = xcalloc(1, sizeof(*at));

    at->conf = conf;
    at->counters = counters;
    if (hooks != NULL)
        at->hooks = *hooks;
    open_sessions(at);
    app_file_pool_init(&at->files);
    pool_init(&at->handovers, sizeof(struct app_handover),
              slab_count(sizeof(struct app_handover)), 0);
    for (unsigned i = 0; i < APP_PROTO_MAX; i++)
        open_proto(at, (enum app_proto_id)i);
    return at;
}

/* The transactions of the protocol are gone: none of the bytes of all is this thread's any more. */
static void release_tx_bytes(struct app_thread *at, enum app_proto_id id)
{
    struct app_conf *conf = (struct app_conf *)(uintptr_t)at->conf;

    __atomic_sub_fetch(&conf->tx_bytes[id], at->proto[id].tx_accounted, __ATOMIC_RELAXED);
}

static void close_proto(struct app_thread *at, enum app_proto_id id)
{
    const struct app_proto_conf *pc = &at->conf->proto[id];

    if (pc->proto == NULL || pc->proto->subprotocol_of != 0 || !app_proto_enabled(at->conf, id))
        return;
    pool_fini(&at->proto[id].tx);
    release_tx_bytes(at, id);
    if (pc->proto->state_size > 0)
        pool_fini(&at->proto[id].state);
    if (pc->proto->thread_close != NULL)
        pc->proto->thread_close(at->proto[id].data);
}

/* After the last flow is gone: flows hold memory of these pools. */
void app_thread_free(struct app_thread *at)
{
    if (at == NULL)
        return;
    for (unsigned i = 0; i < APP_PROTO_MAX; i++)
        close_proto(at, (enum app_proto_id)i);
    app_file_pool_fini(&at->files);
    pool_fini(&at->handovers);
    buf_fini(&at->handover);
    app_magic_free(at->magic);
    for (unsigned i = 0; i < at->spare_count; i++)
        buf_fini(&at->spare[i]);
    for (unsigned i = 0; i < TRANSPORT_COUNT; i++)
        pool_fini(&at->sessions[i]);
    free(at->datagram);
    free(at);
}
