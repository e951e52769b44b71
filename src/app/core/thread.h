/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/thread.h - a thread's pools and spare buffers for its flows, and its current packet. */
#ifndef APP_CORE_THREAD_H
#define APP_CORE_THREAD_H

#include "app/core/detect_proto.h"
#include "app/core/settings.h"
#include "app/session.h"
#include "app/values.h"
#include "base/memory/pool.h"

#define APP_SPARE_BUFS 512
#define APP_SPARE_CHOICE 8                  /* of so many the one is taken that fits best */
#define APP_SPARE_BUF_MAX (64u << 10)       /* bigger ones go back to the allocator */
#define APP_SPARE_FEW 64                    /* with more of them, bigger ones than this do: */
#define APP_SPARE_BUF_USUAL (8u << 10)

struct app_dir;
struct app_magic;

struct app_thread {
    const struct app_conf *conf;
    struct counters *counters;
    struct app_hooks hooks;
    struct pool sessions[TRANSPORT_COUNT];      /* UDP: without `ds` */
    struct app_dir *datagram;   /* of both directions, for the datagram at work: see app_dir_of() */
    struct {
        struct pool state, tx;
        uint64_t tx_arenas;     /* of transactions in use, in units of app_tx.counted */
        uint64_t tx_accounted;  /* of both, what app_conf.tx_bytes has */
        void *data;             /* from proto->thread_open() */
    } proto[APP_PROTO_MAX];
    struct pool files;
    struct pool handovers;      /* struct app_handover */
    uint64_t handover_bytes;    /* that they keep */
    struct buf handover;        /* of the flow that ends */
    struct packet *packet;      /* the current packet */
    struct app_place place;     /* of the last request for one of many values */
    const struct app_flow *previous;    /* see app_previous() */
    struct app_magic *magic;    /* libmagic; opened when first needed: file.c */
    bool magic_tried;
    struct buf spare[APP_SPARE_BUFS];
    unsigned spare_count;
};

/* flow_memory.c. Buffers that outlive a packet come from a stock, so that flows are created and
 * freed without malloc. */
struct buf app_buf_take(struct app_thread *at, size_t len);     /* 0: size not known */
void app_buf_release(struct app_thread *at, struct buf *b);

/* Returns the protocol whose pools provide state and transactions. */
static inline enum app_proto_id app_pool_of(const struct app_proto *proto)
{
    return proto->subprotocol_of != 0 ? proto->subprotocol_of : proto->id;
}

#endif
