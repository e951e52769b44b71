/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/flow_state.h - state of inspection between packets: for each direction of a
 * stream, for a flow, for a transaction.
 *
 * The state names rules by number. A reload assigns new numbers, so flow->rules_generation
 * identifies the ruleset that the numbers belong to. clear_old_rules() clears the state of another
 * ruleset. */
#ifndef DETECT_FLOW_STATE_H
#define DETECT_FLOW_STATE_H

#include "app/tx.h"
#include "base/base.h"
#include "base/memory/buf.h"

struct detect_thread;
struct packet;
struct rule;
struct tx_pattern;

/* --- streams -------------------------------------------------------------------------------- */

/* Numbers of rules. NULL stands for an empty list: most flows never have one. */
struct stream_rules {
    uint16_t count, cap;
    uint16_t kept;              /* the first ones: their window has ended with a gap */
    uint32_t at[];
};

static inline unsigned stream_rules_count(const struct stream_rules *s)
{
    return s != NULL ? s->count : 0;
}
static inline void stream_rules_clear(struct stream_rules *s)
{
    if (s != NULL)
        s->count = s->kept = 0;
}

/* State that few streams need, allocated on demand. */
struct stream_ext {
    struct buf retained;     /* bytes that alerts show, from offset `released` on */
    uint32_t released;
    uint64_t from, to;          /* without rules on streams: the offset up to which one would
                                 * have inspected */
    uint64_t had;     /* stream offset up to which data came, where no rule on streams reads them */
    uint32_t gap;               /* size of the last gap in `retained` */
    uint32_t gap_at, gap_text;  /* the text that marks it in `retained`: offset and length */
    struct buf captured;        /* captures of matched rules whose alerts are pending */
    struct buf window;          /* the window, while its evaluation waits for more of it */
    uint64_t evaluated_to;      /* stream offset at the last evaluation with a small segment */
    unsigned evaluations;       /* of those, in this window */
    uint32_t tail;              /* bytes of the last window that another process needs */
    struct stream_rules *recent;        /* IPS mode: pairs of a rule and the end of its pattern */
    struct stream_rules *earlier;       /* look_back.c: what rules on bodies found; pairs */
    struct alerted_bytes *alerted;      /* alert_once.h; NULL: none */
};

/* stream_dir.searched_as: the whole window is to be searched. */
#define STREAM_NOT_SEARCHED 0xff

struct stream_dir {
    uint64_t to;                /* stream offset up to which data have arrived */
    uint32_t uninspected;       /* bytes before `to` that no rule has inspected yet */
    bool flush : 1;           /* inspect with the next packet, whatever the size of `uninspected` */
    bool off : 1;               /* the rest is encrypted: no rule inspects it */
    uint8_t searched_as;        /* protocol whose anchored lists have searched all of the window,
                                 * or STREAM_NOT_SEARCHED */
    uint16_t hits_done;         /* how many of `payload_hits` this packet has inspected, so that
                                 * they count */
    struct stream_rules *pending_alerts;    /* matched rules that wait for a packet of this
                                             * direction */
    struct stream_rules *pending_rules;     /* rules that may match when more data arrive */
    struct stream_rules *payload_hits;     /* rules on transactions whose payload condition holds */
    struct stream_ext *ext;                 /* NULL: not allocated */
};

static inline uint64_t stream_dir_from(const struct stream_dir *ds)
{
    return ds->to - ds->uninspected;
}

/* Results of header checks by id (compile/header_id.c), one bit each. */
struct header_cache { uint64_t tested, matched; };

struct detect_flow {
    struct header_cache cache[2];     /* from the flow's source, from its destination */
    struct stream_dir ds[2];
};

/* Each inspected flow has one, so its size costs memory and cache misses. */
_Static_assert(sizeof(struct detect_flow) <= 2 * CACHE_LINE, "two cache lines for each connection");

/* In flow->detect_flags: data of this direction have arrived since the last inspection. 0x04 and
 * 0x08 are FLOW_PROTO_DETECTED(). */
#define DETECT_UPDATED(d) (1u << (d))

/* --- transactions --------------------------------------------------------------------------- */

/* The state of a rule on a transaction while it can still match. */
struct tx_rule {
    uint32_t rule;
    uint32_t matched;           /* a bit per list, then per test */
    uint32_t seen;              /* instances of its first buffer that lasts, without a match */
    uint8_t direction;          /* 2: both */
    bool done;                  /* has matched, or can no longer match */
    bool hit;                   /* has matched; only set for firewall rules */
    uint8_t rests;              /* a bit per direction: waits only for what tx_rest says */
    uint64_t extra_steps;       /* that its programs have taken, see is_used_up() in tx.c */
};

/* The number of searched bytes of a growing buffer (a body). */
struct tx_scanned {
    uint16_t buffer;
    uint8_t direction;
    uint64_t to;
};

/* What hundreds of rules wait for in one direction: the next step, or bytes of these buffers. */
struct tx_rest {
    const struct buffer *buffer[4];
    uint8_t count;
    uint8_t progress;           /* the step at which they were evaluated */
};

/* Allocated in the transaction's arena. */
struct tx_state {
    uint32_t count, cap;
    struct tx_rule *rule;
    struct tx_scanned *scanned;
    uint16_t scanned_count, scanned_cap;
    struct tx_rest *rest[2];    /* by direction; NULL: few rules wait */
};

/* The transaction's slot for detect. */
struct detect_tx {
    struct tx_state *state;             /* NULL: no rule is in progress yet */
    struct tx_bit *xbits;               /* with `track tx`; in the transaction's arena */
    uint8_t bits[2];                    /* TX_BITS_*, by direction */
    uint8_t guessed;                    /* number of alerts that were attributed to it by guess */
    uint16_t searched_len[2];           /* of its appended buffer, by direction: its length when a
                                         * search found nothing; 0: none did */
};
APP_TX_SLOT_ACCESSOR(detect, APP_TX_SLOT_DETECT)

#define TX_BITS_STEP     0x3fu      /* steps whose scans are final */
#define TX_BITS_ACCEPTED 0x40u      /* the firewall accepts the transaction, in both directions */
#define TX_BITS_DONE     0x80u      /* inspection of this direction is over */

/* tx.c: whether the pattern is neither in the transaction, nor can come. */
bool tx_lacks_pattern(struct detect_thread *dt, struct packet *p, struct app_tx *tx,
                      const struct tx_pattern *pattern, enum direction d);

#endif
