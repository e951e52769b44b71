/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/flow_state.h - what inspection keeps between packets: on each direction of a
 * stream, on a flow, on a transaction.
 *
 * Rules are kept by number. A reload gives the numbers to other rules, so flow->rules_generation
 * says which set they belong to; state of another set is cleared (clear_old_rules()). */
#ifndef DETECT_FLOW_STATE_H
#define DETECT_FLOW_STATE_H

#include "app/tx.h"
#include "base/base.h"
#include "base/memory/buf.h"

/* --- streams -------------------------------------------------------------------------------- */

/* Numbers of rules. NULL stands for an empty list: most flows never have one. */
struct stream_rules { uint16_t count, cap; uint32_t at[]; };

static inline unsigned stream_rules_count(const struct stream_rules *s)
{
    return s != NULL ? s->count : 0;
}
static inline void stream_rules_clear(struct stream_rules *s)
{
    if (s != NULL)
        s->count = 0;
}

/* State that few streams need, made on demand. */
struct stream_ext {
    struct buf retained;        /* bytes that alerts show, after `released`: alert_payload.c */
    uint32_t released;
    uint64_t from, to;          /* their stream offsets */
    uint64_t had;               /* without rules on streams: the offset that one would have seen */
    uint32_t gap;               /* size of the last gap in `retained` */
    uint32_t gap_at, gap_text;  /* the text that marks it in `retained`: offset and length */
    struct buf captured;        /* captures of rules that matched, until they are reported */
    struct stream_rules *recent;        /* IPS mode: pairs of a rule and the end of its pattern */
};

struct stream_dir {
    uint64_t to;                /* stream offset up to which data have come */
    uint32_t uninspected;       /* of these, bytes since the last report: the window */
    bool flush;                 /* report with the next packet, however small the window is */
    bool off;                   /* the rest is encrypted: no rule inspects it */
    uint16_t hits_done;         /* of `payload_hits`: reported by this packet, so they count */
    struct stream_rules *pending_alerts;    /* matched; wait for a packet of this direction */
    struct stream_rules *pending_rules;     /* may still match when more data come */
    struct stream_rules *payload_hits;      /* rules on transactions: payload condition holds */
    struct stream_ext *ext;                 /* NULL: not needed yet */
};

static inline uint64_t stream_dir_from(const struct stream_dir *ds)
{
    return ds->to - ds->uninspected;
}

/* Results of numbered headers (compile/header_id.c), a bit for each: tested, matched. */
struct header_cache { uint64_t tested, matched; };

struct detect_flow {
    struct header_cache cache[2];     /* from the flow's source, from its destination */
    struct stream_dir ds[2];
};

/* There is one for each inspected connection, so its size is memory and cache misses. */
_Static_assert(sizeof(struct detect_flow) <= 2 * CACHE_LINE, "two cache lines for each connection");

/* In flow->detect_flags: data of this direction have come since the last inspection. 0x04 and 0x08
 * are FLOW_PROTO_DETECTED(). */
#define DETECT_UPDATED(d) (1u << (d))

/* --- transactions --------------------------------------------------------------------------- */

/* A rule in progress on a transaction. */
struct tx_rule {
    uint32_t rule;
    uint32_t matched;           /* bit per list, then per test */
    uint8_t direction;          /* 2: both */
    bool done;                  /* has matched, or can no longer match */
    bool hit;                   /* has matched; only kept for rules of the firewall */
};

/* How much of a growing buffer (a body) has been searched. */
struct tx_scanned {
    uint16_t buffer;
    uint8_t direction;
    uint64_t to;
};

/* All of it is in the transaction's arena. */
struct tx_state {
    uint32_t count, cap;
    struct tx_rule *rule;
    struct tx_scanned *scanned;
    uint16_t scanned_count, scanned_cap;
};

/* In the transaction's slot for detect. */
struct detect_tx {
    struct tx_state *state;             /* NULL: no rule has got anywhere yet */
    struct tx_bit *xbits;               /* with `track tx`; in the transaction's arena */
    uint8_t bits[2];                    /* TX_BITS_*, by direction */
    uint8_t guessed;                    /* alerts about packets that were put down to it */
};
APP_TX_SLOT_ACCESSOR(detect, APP_TX_SLOT_DETECT)

#define TX_BITS_STEP     0x3fu      /* steps whose scans are final */
#define TX_BITS_ACCEPTED 0x40u      /* the firewall accepts the transaction, in both directions */
#define TX_BITS_DONE     0x80u      /* inspection of this direction is over */

#endif
