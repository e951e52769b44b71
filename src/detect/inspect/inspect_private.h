/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/inspect/inspect_private.h - a thread's inspection, for this directory. All of it belongs
 * to the thread that owns the inspection state of the flow. */
#ifndef DETECT_INSPECT_PRIVATE_H
#define DETECT_INSPECT_PRIVATE_H

#include "app/proto.h"
#include "base/memory/pool.h"
#include "base/report/counters.h"
#include "detect/compile/compile.h"
#include "detect/inspect/flow_state.h"
#include "detect/inspect/header_view.h"
#include "detect/inspect/inspect.h"
#include "detect/inspect/packet_sample.h"
#include "detect/rule/program.h"
#include "detect/state/part_costs.h"
#include "detect/state/profile.h"
#include "stream/slot.h"

/* A buffer that was asked for, once per transaction and packet. */
struct buffer_slot {
    uint64_t epoch;              /* detect_thread.epoch in which it was computed */
    const struct app_tx *tx;
    uint32_t index;
    uint8_t direction;
    bool there;
    struct slice data;
    struct buf transformed;      /* what `data` is in, if the buffer has transforms */
};

struct detect_thread {
    struct ruleset *set;                    /* referenced */
    const struct detect_plan *plan;
    struct counters *counters;
    const struct conf_node *conf;
    bool is_inline;
    uint8_t generation;                     /* of the rules: changes with each reload */
    uint8_t generation_before;              /* that `renumbered` is for */
    const uint32_t *renumbered;             /* new numbers of its rules; NULL: unknown */
    unsigned alert_max;                     /* packet-alert-max */

    struct rule_profile *profile;           /* indexed by rule; NULL: profiling is off */
    struct rule_profile *costs;             /* of the sample, of all threads; NULL: no memory */
    struct rule_hits *hits;                 /* of all packets of this thread; NULL: no memory */
    struct packet_sample sample;            /* which packets are timed for them */
    bool is_timed;                          /* this packet: for the profile or for the costs */
    struct part_laps laps;

    struct hs_scratch *hs;
    struct search_ahead *ahead;             /* its helper; NULL: there is none */
    bool ahead_works;                       /* the helper has the memory that the rules need */
    struct candidates found, decided;       /* rules to evaluate; those that a chunk need not ask */
    struct candidates payload_parts;        /* by number: those that this packet's report has */
    uint32_t *selected;                       /* candidates to evaluate */
    const struct payload_sets *chunk_sets;  /* that searched the last chunk */
    struct program_scratch program;
    struct buffer_slot *slot;               /* by buffer id */
    struct buf spare;                       /* between two transforms of a chain */
    const struct inspection *inspection;    /* the current one; valid within detect_inspect() */
    uint64_t epoch;                          /* incremented for each packet */
    uint64_t vars[BYTE_VARS_MAX];
    ARRAY_OF(struct packet_alert) queue;
    uint32_t alert_payload_size;  /* bytes per direction; 0: alerts show no stream data */
    struct arena alert_context;                     /* extra data of this packet's alerts */
    struct buf context_buf;                        /* for composing one of them */
    struct lua_thread *lua;                 /* detect/lua/script.h; NULL: no rule has a script */
    bool accepted;                          /* the firewall has accepted this packet */
    uint8_t table;                          /* firewall table that is being evaluated */
    uint8_t limits;     /* enum program_limit: limits that earlier rules reached on this packet */
    struct { counter_id alert, overflow, suppressed, discarded, pcre_limit, step_limit; } count;
};

/* Prefetches the masks of the candidates, most of which are not in the caches, while they are
 * sorted. */
static inline void candidates_fetch_masks(const struct detect_thread *dt)
{
    for (unsigned i = 0; i < dt->found.count; i++)
        PREFETCH(&dt->plan->mask[dt->found.list[i]]);
}

/* Selects a rule to evaluate soon. Most rules are not in the caches, so all selected rules are
 * prefetched before the first is evaluated. */
static inline void select_rule(struct detect_thread *dt, unsigned *count, uint32_t rule)
{
    const struct rule *r = dt->plan->rule[rule];

    PREFETCH(r);
    PREFETCH((const unsigned char *)r + CACHE_LINE);
    dt->selected[(*count)++] = rule;
}

/* One direction of one transaction, inspected for one packet. */
struct tx_context {
    struct detect_thread *dt;
    struct packet *packet;
    struct app_tx *tx;
    const struct app_proto *proto;
    enum direction direction;
    uint8_t progress, over;     /* steps before `over` are over, without app_proto.steps_of_nine */
    bool done, rests, any_waits;        /* inspection of this direction is over; the rule at hand
                                         * waits only for what tx_rest says; some rule waits */
    uint32_t seen;              /* tx_rule.seen of the rule at hand */
    uint64_t end;               /* how far the buffers of the rule at hand go */
    struct header_view header;
};

/* header.c */
bool rule_tests_pass(const struct rule *r, const struct match_input *in);
/* Evaluates the expensive tests, after everything else has matched. */
bool rule_late_tests_pass(const struct rule *r, const struct match_input *in);

/* buffer_data.c */
/* Where to read a buffer. `tx` is NULL for packet buffers; `index` counts the instances of a multi
 * buffer. */
struct buffer_source {
    struct packet *packet;
    struct app_tx *tx;
    enum direction direction;
    unsigned index;
};
bool inspect_buffer(struct detect_thread *dt, const struct buffer *b,
                    const struct buffer_source *from, struct slice *out);

/* Bytes of a growing buffer: data[0] is its byte `start`. complete: no more bytes will come. */
struct buffer_part {
    struct slice data;
    uint64_t start;
    bool complete;
};
bool inspect_part(struct detect_thread *dt, const struct rule_program *program,
                  const struct buffer_part *part, const struct match_input *in);
static inline bool inspect_slice(struct detect_thread *dt, const struct rule_program *program,
                                 struct slice data, const struct match_input *in)
{
    return inspect_part(dt, program, &(struct buffer_part){ data, 0, true }, in);
}
struct slice inspect_transform(struct detect_thread *dt, const struct buffer *b, struct slice in,
                               struct buf *out);

/* stream.c */
/* Clears what names rules; what waits for a packet gets the new numbers. NULL: clears that, too. */
void stream_renumber(struct detect_flow *df, const uint32_t *renumbered);
struct detect_flow *detect_flow_get(struct flow *f);    /* NULL: out of memory */
void stream_inspect_chunks(struct detect_thread *dt);
bool stream_is_due(const struct detect_thread *dt, enum direction d);   /* to be reported now */
/* Evaluates what waited for more data, before the window is reported. */
void stream_catch_up(struct detect_thread *dt, struct packet *p, enum direction d);
struct stream_ext *stream_ext_get(struct stream_dir *ds);   /* NULL: out of memory */

/* alert_payload.c */
void alert_payload_add(struct detect_thread *dt, struct packet *p, const struct stream_chunk *c);
/* The stream data that alerts show; empty: none are stored. *gap: size of the last gap in them. */
struct slice alert_payload_get(const struct detect_thread *dt, const struct flow *f,
                               enum direction d, uint32_t *gap);
uint32_t alert_payload_never_acked(const struct inspection *in);
void stream_keep_tail(const struct detect_thread *dt, struct flow *f, enum direction d);
void stream_mark_reported(const struct detect_thread *dt, struct flow *f, enum direction d);
void stream_stop_raw(const struct packet *p, enum direction d, bool was_due);
/* Makes the captures of an earlier match pending again, because its alert is raised now. */
void stream_captures_take(struct detect_thread *dt, const struct stream_dir *ds, uint32_t rule);
bool stream_rules_has(const struct stream_rules *s, uint32_t rule);
/* The caller knows that the rule is not in the list. False: no space. */
bool stream_rules_push(struct stream_rules **list, uint32_t rule);
/* True if the payload part of a transaction rule matched in data that this packet has inspected. */
bool stream_has_payload_hit(const struct stream_dir *ds, uint32_t rule);
void stream_payload_hits_done(struct stream_dir *ds);      /* after the rules on transactions ran */

/* packet.c, frames.c, tx.c */
void packet_inspect(struct detect_thread *dt, struct packet *p, enum direction d);
/* Evaluates rules on limits that other rules reached; call it after all others. */
void limit_events_inspect(struct detect_thread *dt, struct packet *p);
void events_inspect(struct detect_thread *dt, struct packet *p);
void addresses_inspect(struct detect_thread *dt, struct packet *p, enum direction d);
void frames_inspect(struct detect_thread *dt, struct packet *p, enum direction d);
/* moved_only: only transactions whose progress has changed. */
void tx_inspect(struct detect_thread *dt, struct packet *p, enum direction d, bool moved_only);
/* True if all of the rule that a single packet decides matches. */
bool packet_rule_matches(struct detect_thread *dt, const struct match_input *in);
/* The progress that rules of the version asked for know. */
unsigned tx_step(const struct tx_context *c);
/* Evaluates a firewall rule on a transaction. INSPECT_PENDING: it may match at a later step.
 * *before: it has matched already. Prepares `in` for rule_matched(). */
enum inspect_result { INSPECT_MATCH, INSPECT_PENDING, INSPECT_CANT_MATCH };
enum inspect_result tx_rule_evaluate(struct tx_context *c, const struct rule *r,
                                     struct match_input *in, bool *before);
/* True after a "pass" rule for the rest of the flow: only the firewall is still evaluated. */
bool detect_is_passed(const struct packet *p);

/* alert.c */
void alert_queue_add(struct detect_thread *dt, const struct match_input *in, uint64_t tx_id,
                     uint32_t frame, uint8_t flags);
/* flags: ALERT_REVERSED or 0, for all alerts. */
void alert_queue_finish(struct detect_thread *dt, struct packet *p, uint8_t flags);
/* Applies threshold, action and log to one match. False: a pass rule ends the evaluation. */
bool alert_finish(struct detect_thread *dt, struct packet *p, struct packet_alert *a);
/* Stores the alert for the outputs, if there is space. */
void alert_keep(struct detect_thread *dt, struct packet *p, const struct packet_alert *a);
/* Runs the side effects of a match. False cancels the alert. */
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
