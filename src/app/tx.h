/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tx.h - transactions and the application state of a flow, as all who work on them see it.
 *
 * Parsers make transactions and move their progress forward, rules inspect each step, outputs log
 * what is done, and the framework frees what all three are through with. All of it runs on the
 * thread that owns the flow's inspection state, so nothing here is locked. */
#ifndef APP_TX_H
#define APP_TX_H

#include "app/list.h"
#include "base/memory/arena.h"
#include "base/memory/buf.h"
#include "flow/flow.h"

struct app_file;
struct app_flow;
struct app_proto;
struct app_thread;

#define APP_TS 1u               /* direction sets */
#define APP_TC 2u
#define APP_BOTH (APP_TS | APP_TC)
#define APP_DIRECTION_BIT(d) (1u << (d))

/* --- transactions ------------------------------------------------------------------------- */

#define APP_TX_EVENTS_FIRST 16
#define APP_TX_EVENTS_MAX 255

/* Room for what the layers above keep with a transaction, as in a packet (packet/slots.h): struct
 * detect_tx in detect/inspect/flow_state.h, struct output_tx in output/logger.h. */
#define APP_TX_SLOT_DETECT 24
#define APP_TX_SLOT_OUTPUT 24
#define APP_TX_SLOT_ACCESSOR(layer, size)                                                     \
    _Static_assert(sizeof(struct layer##_tx) <= (size), "the slot of " #layer " is full");    \
    static inline struct layer##_tx *layer##_tx(const struct app_tx *tx)                      \
    {                                                                                         \
        return (struct layer##_tx *)(uintptr_t)tx->slot.layer;                                \
    }

/* First member of each protocol's transaction, which comes zeroed but for this. Progress runs
 * per direction from 0 to the protocol's progress_done; detect and output act on its steps. */
struct app_tx {
    struct app_tx *next, *prev; /* older to newer */
    struct app_tx *due_next;    /* of those with news, see app_tx_mark() */
    uint64_t id;                /* from 0 within the flow */
    struct app_flow *flow;
    uint8_t progress[2];
    bool unidirectional[2];          /* this direction will never have a part: counts as done */
    bool no_inspect[2];
    bool no_log;
    bool is_due;                /* in the flow's list of those with news */
    uint8_t unseen;             /* bit per direction: rules have not seen the news there */
    uint8_t event_count;
    uint8_t event[APP_TX_EVENTS_FIRST]; /* ids within the protocol, in the order they came */
    uint8_t *more_events;       /* the rest, in the arena; see app_tx_event_at() */
    uint16_t files_open;        /* not closed yet */
    bool store_files[2];        /* filestore matched */
    struct app_file *files[2];  /* oldest first */
    struct arena arena;         /* dies with the transaction */
    uint32_t counted;           /* of the arena, in tx_memory */
    uint64_t start_us;
    struct {
        PACKET_SLOT(detect, APP_TX_SLOT_DETECT);
        PACKET_SLOT(output, APP_TX_SLOT_OUTPUT);
    } slot;
};

static inline unsigned app_tx_event_at(const struct app_tx *tx, unsigned i)
{
    return i < APP_TX_EVENTS_FIRST ? tx->event[i] : tx->more_events[i - APP_TX_EVENTS_FIRST];
}
static inline bool app_tx_has_event(const struct app_tx *tx, unsigned event)
{
    for (unsigned i = 0; i < tx->event_count; i++)
        if (app_tx_event_at(tx, i) == event)
            return true;
    return false;
}

/* --- the flow as the parser sees it ------------------------------------------------------- */

struct app_flow {
    const struct app_proto *proto;      /* NULL until detected */
    void *state;                        /* the parser's, proto->state_size, zeroed */
    const void *settings;               /* the protocol's, see configure() */
    void *thread_data;                  /* the protocol's in this thread, see thread_open() */
    struct app_thread *thread;
    struct flow *flow;
    struct app_tx *first, *last;        /* transactions alive, oldest first */
    struct app_tx *due, *due_last;      /* those that rules, logs and cleanup look at: the ones
                                         * with news since they last did, oldest first */
    uint64_t next_tx_id;
    uint32_t tx_count;
    uint32_t file_id;                   /* next file's number */
    uint32_t tx_memory;                 /* of all arenas, in units of 64 bytes */
    uint16_t checks_to_skip;            /* of the number of open ones: it cannot be too high yet */
    bool stopped : 1;                   /* parser off, for good */
    bool encrypted : 1;                 /* set by the parser */
    bool due_unsorted : 1;
    uint8_t finished : 4;       /* `end` and `disrupted` as the last packet left them */
    bool end[2];                        /* nothing more will be parsed: log and free as it is */
    bool disrupted[2];                  /* depth reached, or a gap that the parser cannot
                                         * pass: progress counts as done */
    bool fed[2];                        /* the parser has taken something; detect clears it */
    bool raw_triggered[2];  /* app_trigger_raw_inspection(); detect clears it */
    struct app_ext *ext;       /* NULL: nothing of it yet; app_ext_make() */
};

struct frames;
struct expectation_data;

/* What few flows have. */
struct app_ext {
    uint64_t ahead_bytes;               /* of files whose turn has not come: app/core/transfer.h */
    struct buf buffered;                    /* output's: packets that may yet be logged */
    struct frames *frames[2];           /* the framework's; NULL until the first is made */
    struct expectation_data *expected; /* likewise; NULL: nothing */
};

#endif
