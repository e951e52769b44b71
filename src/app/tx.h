/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/tx.h - transactions and the application state of a flow, for all users.
 *
 * Parsers create transactions and advance their progress, rules inspect each step, outputs log
 * finished ones, and the framework frees those that all three have processed. All of it runs on the
 * thread that owns the flow's inspection state, so no lock is needed. */
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

/* Space for data of upper layers in a transaction, as in a packet (packet/slots.h): struct
 * detect_tx in detect/inspect/flow_state.h, struct output_tx in output/logger.h. */
#define APP_TX_SLOT_DETECT 24
#define APP_TX_SLOT_OUTPUT 24
#define APP_TX_SLOT_ACCESSOR(layer, size)                                                     \
    _Static_assert(sizeof(struct layer##_tx) <= (size), "the slot of " #layer " is full");    \
    static inline struct layer##_tx *layer##_tx(const struct app_tx *tx)                      \
    {                                                                                         \
        return (struct layer##_tx *)(uintptr_t)tx->slot.layer;                                \
    }

/* First member of each protocol's transaction, the rest of which is zeroed. Progress counts per
 * direction from 0 to the protocol's progress_done; detect and output act on its steps. */
struct app_tx {
    struct app_tx *next, *prev; /* older to newer */
    struct app_tx *due_next;    /* in the list of changed ones, see app_tx_mark(), or in one of
                                 * app_ext.later */
    struct app_tx *later_prev;  /* in the latter */
    struct app_tx *key_next, *key_prev;         /* in the index, see app_tx_key() */
    uint64_t key;
    uint64_t id;                /* from 0 within the flow */
    struct app_flow *flow;
    uint8_t progress[2];
    bool unidirectional[2];          /* this direction will never have data: counts as finished */
    bool awaits_other;          /* data of the unidirectional side still go into it: the end of one
                                 * side alone does not finish it */
    bool no_inspect[2];
    bool untouched[2];          /* nothing has come in this direction: rules wait until then */
    bool no_log;
    bool is_due;                /* is in the flow's list of changed ones */
    bool keyed;                 /* has a key */
    uint8_t later;              /* APP_TS, APP_TC: is in this list of app_ext.later */
    uint8_t unseen;             /* bit per direction: rules have not seen the change */
    uint8_t event_count;
    uint8_t event[APP_TX_EVENTS_FIRST]; /* ids within the protocol, in the order they were set */
    uint8_t *more_events;       /* the rest, in the arena; see app_tx_event_at() */
    uint16_t files_open;        /* not closed yet */
    bool store_files[2];        /* filestore matched */
    uint32_t counted;           /* bytes of the arena that tx_memory includes */
    struct app_file *files[2];  /* oldest first */
    struct arena arena;         /* freed with the transaction */
    struct app_places *places;  /* in long lists of values, see app/values.h; in the arena */
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
    void *state;                        /* parser state of proto->state_size bytes, zeroed */
    const void *settings;               /* the protocol's, see configure() */
    void *thread_data;                  /* the protocol's state in this thread, see thread_open() */
    struct app_thread *thread;
    struct flow *flow;
    struct app_tx *first, *last;        /* transactions alive, oldest first */
    struct app_tx *due, *due_last;      /* changed since rules, logs and cleanup visited them last,
                                         * oldest first */
    uint64_t next_tx_id;
    uint32_t tx_count;
    uint32_t file_id;                   /* next file's number */
    uint32_t tx_memory;                 /* memory of all arenas, in units of 64 bytes */
    uint16_t checks_to_skip;  /* new transactions before the number of open ones is checked again */
    bool stopped : 1;                   /* the parser has stopped for good */
    bool encrypted : 1;                 /* set by the parser */
    bool due_unsorted : 1;
    uint8_t finished : 4;       /* `end` and `disrupted` after the last packet */
    bool end[2];                        /* nothing more will be parsed: log and free it as it is */
    bool disrupted[2];                  /* depth reached, or a gap that the parser cannot handle:
                                         * progress counts as finished */
    bool fed[2];                        /* the parser has received data; detect clears it */
    bool raw_triggered[2];  /* app_trigger_raw_inspection(); detect clears it */
    struct app_ext *ext;       /* NULL: not allocated yet; app_ext_make() */
};

struct frames;
struct expectation_data;

/* State that few flows need. */
struct app_ext {
    uint64_t ahead_bytes;               /* file data kept out of order: app/core/transfer.h */
    uint64_t magic_spent;               /* on libmagic: app/lib/magic.h */
    uint64_t stored_bytes;              /* of output: bytes of the flow's files in the file store */
    uint32_t stored_files;              /* ... and how many these are */
    struct buf buffered;                    /* of output: packets that may still be logged */
    struct frames *frames[2];           /* of the framework; NULL until the first is created */
    struct expectation_data *expected; /* of the framework; NULL: none */
    struct app_tx_index *index;         /* transactions by key; NULL: they are few */
    /* By direction: transactions whose change rules have not seen in this direction. They are due
     * when rules look at it again. */
    struct app_tx *later[2];
    struct app_tx *oldest_open;         /* none before it is open; NULL: not known */
};

#endif
