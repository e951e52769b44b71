/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/inspect_private.h - for this directory: one thread's inspection and what it leaves
 * on flows and transactions. Everything here belongs to the thread that owns the inspection
 * state. */
#ifndef DETECT_INSPECT_PRIVATE_H
#define DETECT_INSPECT_PRIVATE_H

#include "app/proto.h"
#include "base/memory/pool.h"
#include "base/report/counters.h"
#include "base/system/clock.h"
#include "detect/compile/compile.h"
#include "detect/detect.h"
#include "detect/rule/program.h"

/* A buffer with transforms, computed once per transaction and packet. */
struct buffer_slot {
    uint64_t epoch;              /* detect_thread.epoch it was made in */
    const struct app_tx *tx;
    uint32_t index;
    uint8_t direction;
    bool there;
    struct buf data;
};

struct detect_thread {
    struct ruleset *set;                    /* referenced */
    const struct detect_plan *plan;
    struct counters *counters;
    const struct conf_node *conf;
    bool is_inline;
    uint8_t generation;                     /* of the rules: another with each reload */
    unsigned alert_max;                     /* packet-alert-max */

    struct rule_profile *profile;                 /* by rule; NULL: nobody wants to know */

    struct hs_scratch *hs;
    struct candidates found;                /* packet rules, then transaction rules */
    struct candidates decided;              /* while a chunk is searched: rules that are done */
    uint32_t *selected;                       /* of those found, the ones whose rules are asked */
    struct program_scratch program;
    struct buffer_slot *slot;               /* by buffer id */
    struct buf spare;                       /* between two transforms of a chain */
    uint64_t epoch;                          /* one more for each packet */
    uint64_t vars[BYTE_VARS_MAX];
    struct { struct packet_alert *at; unsigned count, cap; } queue;
    uint32_t alert_payload_size;  /* bytes of a direction; 0: nobody wants to see them */
    struct arena alert_context;                     /* what alerts of this packet carry */
    struct buf context_buf;                        /* one of them being made */
    struct lua_thread *lua;                 /* detect/lua/script.h; NULL: no rule has a script */
    bool accepted;                          /* by the firewall: this packet may go */
    uint8_t table;                          /* of the firewall, whose rules are being asked */
    struct { counter_id alert, overflow, suppressed, discarded; } count;
};

/* Rules that matched in one direction's stream and wait for a packet of that direction, and
 * those that may still match once more data are there. */
struct stream_rules { uint16_t count, cap; uint32_t at[]; };     /* NULL: none yet */
static inline unsigned stream_rules_count(const struct stream_rules *s)
{
    return s != NULL ? s->count : 0;
}
static inline void stream_rules_clear(struct stream_rules *s)
{
    if (s != NULL)
        s->count = 0;
}

/* What few flows have. */
struct stream_ext {
    struct buf retained;        /* bytes that alerts show, after `released`: alert_payload.c */
    uint32_t released;
    uint64_t from, to;          /* where they begin and end in the stream */
    uint64_t had;               /* where no rule looks at the stream: up to where one would have */
    uint32_t gap;               /* size of the last one in them */
    uint32_t gap_at, gap_text;  /* its remark in `retained`: where, how long */
    struct buf captured;        /* by those that matched, until they are reported */
    struct stream_rules *recent;        /* inline: a rule whose pattern was there, up to where */
};

struct stream_dir {
    uint64_t to;                /* up to where data have come */
    uint32_t uninspected;        /* of them: inspected together, what came since the last report */
    bool flush;                 /* report with the next packet, however little it is */
    bool off;                   /* what comes from here on is encrypted */
    uint16_t hits_done;  /* of `payload_hits`, whose data this packet has reported: these count */
    /* payload_hits: payload part of tx rules */
    struct stream_rules *pending_alerts, *pending_rules, *payload_hits;
    struct stream_ext *ext; /* NULL: nothing of it yet */
};

static inline uint64_t stream_dir_from(const struct stream_dir *ds)
{
    return ds->to - ds->uninspected;
}

/* Which of the numbered headers fit, as far as that has been asked; a bit each. */
struct header_cache { uint64_t tested, matched; };

struct detect_flow {
    struct header_cache cache[2];     /* from the flow's source, from its destination */
    struct stream_dir ds[2];
};

_Static_assert(sizeof(struct detect_flow) <= 2 * CACHE_LINE, "there are as many as connections");

/* flow->detect_flags */
#define DETECT_UPDATED(d) (1u << (d))       /* data of this direction since the last inspection */
                                            /* 0x04, 0x08: FLOW_PROTO_DETECTED() */

/* Rules in progress on one transaction. */
struct tx_rule {
    uint32_t rule;
    uint32_t matched;           /* bit per list, then per test */
    uint8_t direction;          /* 2: both */
    bool done;                  /* matched, or never will */
    bool hit;                   /* matched; only kept of rules of the firewall */
};
struct tx_state {
    uint32_t count, cap;
    struct tx_rule *rule;       /* in the transaction's arena */
    struct tx_scanned { uint16_t buffer; uint8_t direction; uint64_t to; } *scanned;
    uint16_t scanned_count, scanned_cap;
};

/* tx->bits[direction]: steps whose scans are final, and whether all is done. */
#define TX_BITS_STEP 0x3fu
#define TX_BITS_DONE 0x80u
#define TX_BITS_ACCEPTED 0x40u      /* by the firewall, in both directions */

/* Who sends to whom, for the header's tests: a packet's own or the other way round. */
struct header_view {
    const struct ip *src, *dst;
    uint16_t src_port, dst_port;
    uint8_t ip_proto;
    bool fragment;
    struct header_cache *cache;   /* the flow's, or `own` */
    struct header_cache own;
};

/* Chosen, to be asked soon. There are more rules than stay in the caches, and so each would be
 * waited for: all that are chosen are called for before the first is asked. */
static inline void select_rule(struct detect_thread *dt, unsigned *count, uint32_t rule)
{
    const struct rule *r = dt->plan->rule[rule];

    PREFETCH(r);
    PREFETCH((const unsigned char *)r + CACHE_LINE);
    dt->selected[(*count)++] = rule;
}

/* One direction of one transaction, as it is inspected for one packet. */
struct tx_context {
    struct detect_thread *dt;
    struct packet *packet;
    struct app_tx *tx;
    const struct app_proto *proto;
    enum direction direction;
    uint8_t progress;
    bool done;                  /* this direction is over */
    struct header_view header;
};

/* What asking a rule costs: begin, ask, end. */
static inline uint64_t rule_profile_begin(const struct detect_thread *dt)
{
    return UNLIKELY(dt->profile != NULL) ? clock_ticks() : 0;
}

static inline void rule_profile_end(struct detect_thread *dt, uint32_t rule, uint64_t started,
                                    bool matched)
{
    if (UNLIKELY(dt->profile != NULL))
        rule_profile_add(&dt->profile[rule], clock_ticks() - started, matched);
}

/* header.c */
/* For data of direction d. */
void header_view_init(struct header_view *h, const struct packet *p, enum direction d);
bool rule_header_fits(const struct rule *r, struct header_view *h);
/* False: it is known that no rule of the class fits. */
static inline bool header_may_fit(uint8_t header_id, const struct header_view *h)
{
    uint64_t bit = 1ull << (header_id & 63);

    return header_id == HEADER_ID_NONE || !(h->cache->tested & bit) || (h->cache->matched & bit);
}
/* It is known to fit. */
static inline bool header_is_known(uint8_t header_id, const struct header_view *h)
{
    uint64_t bit = 1ull << (header_id & 63);

    return header_id != HEADER_ID_NONE && (h->cache->tested & h->cache->matched & bit);
}
bool rule_packet_fits(const struct rule *r, const struct packet *p);
bool rule_tests_pass(const struct rule *r, const struct match_input *in);
/* Those that cost much, once everything else has matched. */
bool rule_late_tests_pass(const struct rule *r, const struct match_input *in);

/* buffers.c */
bool inspect_buffer(struct detect_thread *dt, const struct buffer *b, struct packet *p,
                    struct app_tx *tx, enum direction d, unsigned index, struct slice *out);
bool inspect_slice(struct detect_thread *dt, const struct rule_program *program, struct slice data,
                   uint64_t start, bool complete, const struct match_input *in);
struct slice inspect_transform(struct detect_thread *dt, const struct buffer *b, struct slice in,
                               struct buf *out);

/* stream.c */
void stream_clear(struct detect_flow *df);     /* all that names rules */
struct detect_flow *detect_flow_get(struct flow *f);    /* NULL: no memory */
void stream_inspect_chunks(struct detect_thread *dt, struct packet *p);
/* Is there something to report to a packet of this direction? */
bool stream_is_due(const struct detect_thread *dt, const struct packet *p, enum direction d);
/* NULL: no memory. */
struct stream_ext *stream_ext_get(struct stream_dir *ds);

/* alert_payload.c */
void alert_payload_add(struct detect_thread *dt, struct packet *p, const struct stream_chunk *c);
/* What alerts show of the stream; empty when nothing is kept. *gap: the size of its last one. */
struct slice alert_payload_get(const struct detect_thread *dt, const struct flow *f,
                               enum direction d, uint32_t *gap);
void stream_mark_reported(const struct detect_thread *dt, struct flow *f, enum direction d);
void stream_stop_raw(const struct packet *p, enum direction d, bool was_due);
/* What the rule captured when it matched: pending again, as it is reported now. */
void stream_captures_take(struct detect_thread *dt, const struct stream_dir *ds, uint32_t rule);
bool stream_rules_has(const struct stream_rules *s, uint32_t rule);
/* The payload part of a transaction rule was in data that this packet has reported. */
bool stream_has_payload_hit(const struct stream_dir *ds, uint32_t rule);
void stream_payload_hits_done(struct stream_dir *ds);       /* transactions have been asked */

/* packet.c, frames.c, tx.c */
void packet_inspect(struct detect_thread *dt, struct packet *p, enum direction d);
void events_inspect(struct detect_thread *dt, struct packet *p);
void addresses_inspect(struct detect_thread *dt, struct packet *p, enum direction d);
void frames_inspect(struct detect_thread *dt, struct packet *p, enum direction d);
/* moved_only: those that have come further than they were. */
void tx_inspect(struct detect_thread *dt, struct packet *p, enum direction d, bool moved_only);
/* Does all of the rule that can stand in a packet match? */
bool packet_rule_matches(struct detect_thread *dt, const struct match_input *in);
/* A rule of the firewall on a transaction; LATER: it may match at a later step. *before: it has
 * matched already. `in` is made ready for rule_matched(). */
enum inspect_result { INSPECT_MATCH, INSPECT_PENDING, INSPECT_CANT_MATCH };
enum inspect_result tx_rule_evaluate(struct tx_context *c, const struct rule *r,
                                     struct match_input *in, bool *before);
/* A rule with "pass" has let the rest of the flow go; only the firewall is still asked. */
bool detect_is_passed(const struct packet *p);

/* alert.c */
void alert_queue_add(struct detect_thread *dt, const struct match_input *in, uint64_t tx_id,
                     uint32_t frame, uint8_t flags);
/* flags: ALERT_REVERSED or 0, for all of them. */
void alert_queue_finish(struct detect_thread *dt, struct packet *p, uint8_t flags);
/* Threshold, action and log of one match; false: a pass rule ends it. */
bool alert_finish(struct detect_thread *dt, struct packet *p, struct packet_alert *a);
/* Keeps it for the outputs, if there is room. */
void alert_keep(struct detect_thread *dt, struct packet *p, const struct packet_alert *a);
/* Side effects of a match; false takes the alert back. */
bool rule_matched(struct detect_thread *dt, struct match_input *in);

static inline void match_input_init(struct match_input *in, struct detect_thread *dt,
                                    struct packet *p, enum direction d, const struct rule *r)
{
    *in = (struct match_input){ .packet = p, .flow = p->flow, .direction = d, .rule = r,
                                .thread = dt, .byte_vars = dt->vars };
    dt->program.capture_count = 0;
    dt->program.replace_count = 0;
    buf_clear(&dt->program.text);
}

#endif
