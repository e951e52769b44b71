/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/private.h - rules as lists of conditions, and what came near them. */
#ifndef DETECT_EXPLAIN_PRIVATE_H
#define DETECT_EXPLAIN_PRIVATE_H

#include "base/array.h"
#include "base/containers/map.h"
#include "detect/explain/explain.h"
#include "detect/explain/flow_wanted.h"
#include "detect/inspect/inspect_private.h"

/* --- conditions ----------------------------------------------------------------------------- */

/* In the order in which the engine asks. */
enum part {
    PART_INSPECTED,             /* the engine looks at it at all */
    PART_PROTO, PART_SRC, PART_SRC_PORT, PART_DST, PART_DST_PORT, PART_DIRECTION, PART_FLOW,
    PART_APP, PART_TEST, PART_STEP, PART_TX_TEST, PART_LATE_TEST,
};

struct trace;

struct condition {
    uint8_t part;               /* enum part */
    bool silent;                /* asking it would change state, so it is not asked */
    bool is_fast;               /* the pattern that finds the rule */
    const char *text;           /* as in the rule */
    const char *value;          /* of the variables in it: "[10.0.0.0/8]"; NULL: it has none */
    const struct rule_test *test;
    struct trace *trace;        /* PART_STEP: the program it is in, and the step */
    unsigned step;
    unsigned list;              /* PART_STEP: which of the rule's lists, for `held` */
};

enum outcome { OUTCOME_NOT_ASKED, OUTCOME_PASS, OUTCOME_FAIL };

/* What an evaluation made of a condition. */
struct finding {
    uint8_t outcome;
    uint8_t weight;             /* of a failure: how far away it is */
    bool earlier;               /* passed with an earlier packet of the same subject */
};

/* --- programs that tell how far they came ----------------------------------------------------- */

#define TRACE_STEPS_MAX 64

struct probe { struct trace *trace; unsigned step; };

/* The program of one list, with a probe behind each step. Made once, filled by each run. */
struct trace {
    const struct rule_list *list;
    const struct rule_program *program;
    const struct rule_program *without[TRACE_STEPS_MAX];    /* ... without that step */
    struct trace *decoded;      /* base64_decode hands on to; NULL */
    unsigned count;             /* of steps */
    const struct rule_op *op[TRACE_STEPS_MAX];
    struct probe probe[TRACE_STEPS_MAX];
    /* the run */
    bool is_there, passed, is_quiet;    /* the buffer is there; it matched; probes are off */
    unsigned reached;           /* steps that passed, where the run came furthest */
    unsigned culprit;           /* without this step the rest would match */
    bool only_culprit;
    uint32_t start_at;          /* where the step after them began */
    uint32_t tries;             /* how often it was tried */
    struct slice data;
    uint64_t start;             /* bytes of the buffer before it */
    bool complete, little;
    unsigned index;             /* of a buffer with several instances */
    uint64_t vars[BYTE_VARS_MAX];
    uint32_t path[TRACE_STEPS_MAX], end[TRACE_STEPS_MAX];   /* ends of matches: now, and best */
    uint32_t pcre_path[TRACE_STEPS_MAX], pcre_from[TRACE_STEPS_MAX];    /* 1 + start of a pcre's */
};

enum trace_flag {
    TRACE_CHANGES_SETS = 1u << 0,       /* the rule changes a set */
    TRACE_ONCE         = 1u << 1,       /* only where the program fails, not what else does */
};
struct trace *trace_new(struct arena *arena, const struct rule_list *list, unsigned flags);
/* False: the list has more steps than are traced. */
bool trace_run(struct trace *t, struct program_scratch *scratch, const struct match_input *in);
/* The trace whose step ended the run: the list's, or that of what it decodes. */
struct trace *trace_of_failure(struct trace *t);

/* --- what was there ------------------------------------------------------------------------- */

/* Where a content may be; false: nowhere. */
struct place { int64_t from, to; };
bool content_place(const struct trace *t, unsigned step, struct place *out);
enum nearness { NEAR_HERE, NEAR_CASE, NEAR_ELSEWHERE, NEAR_PART, NEAR_NOT };
/* How near the buffer comes to having a content; *at: where, *len: how much of it. */
enum nearness content_nearness(const struct trace *t, unsigned step, uint32_t *at, uint32_t *len);

/* --- rules ---------------------------------------------------------------------------------- */

/* A packet, the data of a stream, or a transaction, as a rule sees it. */
struct subject {
    const struct inspection *inspection;
    struct packet *packet;
    struct app_tx *tx;
    enum direction direction;
    struct slice payload;
    uint64_t window;            /* is_stream: where the payload begins in the stream */
    uint32_t frame_id;          /* 0: any frame */
    bool has_payload, is_stream, is_last;
    bool is_revoked;            /* a match before in this window counts no more */
};

/* Nothing more comes in this direction of the transaction. */
static inline bool subject_is_over(const struct subject *s)
{
    return s->tx != NULL &&
           (s->is_last || app_tx_done(s->tx, s->direction, s->tx->flow->proto));
}

/* Kept of an evaluation. */
struct note {
    uint8_t outcome;
    bool earlier;
    int64_t at;                 /* of a match in its buffer; -1: has no place */
    uint32_t len;
    char *text;                 /* "what was there, what was wanted"; NULL */
    char *excerpt;              /* the bytes around the place, marked; NULL */
};

struct attempt {
    const struct wanted *rule;
    struct seen *seen;
    uint64_t packet, time_us;
    uint32_t counted;           /* by the threshold that keeps its alert back */
    enum direction direction;
    char *title;                /* "flow 10.0.0.1:1024 -> 10.0.0.2:80, packet 4" */
    char *held_back;            /* all conditions hold, but there is no alert: why */
    char *reason;               /* the first condition that failed, in a sentence */
    struct note *note;          /* for each condition */
};

/* Of each flow, packet or transaction that a rule was asked about. */
struct seen {
    uint64_t flow, item;        /* item: number of the transaction or packet; UINT64_MAX: none */
    struct wanted *rule;        /* of the rules of one number, the one that came nearest */
    uint32_t fired;
    uint32_t held[2];           /* bit per list that has matched, by direction */
    uint16_t app_proto;         /* of the flow, when it came nearest */
    uint16_t distance;          /* of the nearest evaluation; 0: all conditions held */
    uint16_t culprit;           /* condition that failed first in it */
    uint64_t first_fired;       /* packet */
    uint64_t first_held;        /* packet with which all conditions held */
    uint64_t window;            /* of the latest evaluation on a stream */
    struct attempt *attempt;    /* NULL: not kept */
};

/* One rule ("<>" makes two of a number). */
struct wanted {
    const struct rule *rule;
    const char *text;           /* NULL: not at hand */
    struct group *group;
    struct condition *condition;
    unsigned count;
    struct finding *finding;    /* of the latest evaluation */
    struct trace **trace;       /* by list */
    unsigned list_count;
    bool is_hidden;             /* wanted only to say what it did to others */
    uint16_t header_asked;      /* summary: how often its header alone was asked */
    uint16_t header_at;         /* 1 + the last part of it at which that failed; 0: none */
    uint32_t *stopped;          /* summary: how often at each condition; behind them: nowhere */
};

/* All rules of a number. */
struct group {
    uint32_t sid;
    struct wanted *rule[2];
    unsigned rule_count;
    struct map seen;            /* by flow and item */
    struct seen **list;
    size_t seen_count, seen_cap;
    uint64_t fired, asked, lost;        /* lost: subjects beyond SEEN_MAX */
    struct attempt **nearest;   /* at most e->nearest */
    unsigned nearest_count;
    const struct ruleset_failure *failure;      /* it was refused; NULL */
};
#define SEEN_MAX 100000

struct explain {
    struct explain *next;       /* the same question to the rules of another tenant; NULL */
    uint32_t tenant;            /* 0: rules for all traffic */
    struct arena arena;
    struct ruleset *set;        /* referenced */
    bool json, summary;
    unsigned nearest;
    struct flow_wanted flow;
    struct group *group;
    unsigned group_count;
    struct wanted *wanted;
    unsigned wanted_count;
    struct wanted **by_index;   /* of the rule */
    struct detect_thread *shadow;
    struct program_scratch scratch;
    struct header_view view[2]; /* of the packet, in a summary */
    uint64_t packets;
    /* All conditions held in this call, and no alert yet. */
    struct { struct seen *seen; struct wanted *rule; } held[64];
    unsigned held_count;
    bool out_of_memory;
    bool midstream;             /* stream.midstream */
    bool setters_told;          /* setters_tell() is done */
    bool counts_matches;        /* in `matches`: not while packets flow, as each is timed then */
    struct rule_profile *matches;       /* of each rule, thresholds left out; NULL: not counted */
    const char *(*text_of)(const struct rule *r, struct arena *arena);      /* NULL: none */
    /* While packets flow: */
    unsigned seen_most;         /* of a group; SEEN_MAX otherwise */
    uint64_t engine_ns;         /* time of the inspection itself since it was set to 0 */
    struct matched *matched;    /* inspects in place of the engine; NULL: none */
};

/* conditions.c */
void conditions_make(struct explain *e, struct wanted *w);
const char *condition_buffer(const struct condition *c);        /* NULL: it has none */

/* evaluate.c: fills w->finding; the distance. */
unsigned rule_evaluate(struct explain *e, struct wanted *w, const struct subject *s,
                       uint32_t *held);
/* Of one list alone; false: it has no match there. */
bool rule_list_holds(struct explain *e, struct wanted *w, const struct subject *s, unsigned list);
/* In a summary: the first condition that fails, as the engine asks them, the pattern that finds the
 * rule first; w->count: none. */
unsigned rule_first_failure(struct explain *e, struct wanted *w, const struct subject *s);
/* The same of header, direction, flow and protocol alone. */
unsigned rule_header_failure(struct explain *e, struct wanted *w, const struct subject *s);

/* inspect.c: detect_inspect(), or that of e->matched. */
void explain_engine_inspect(const struct explain *e, struct detect_thread *dt,
                            const struct inspection *in);
/* seen.c */
struct seen *seen_get(struct explain *e, struct group *g, uint64_t flow, uint64_t item);
void seen_note(struct explain *e, struct wanted *w, const struct subject *s, struct seen *seen,
               unsigned distance);
/* Takes over what the other has seen; both have the same rules. */
void explain_merge(struct explain *e, struct explain *from);
void attempt_free(struct wanted *w, struct attempt *a);
void group_free(struct group *g);

#endif
