/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/life_private.h - the records of which the life of a flow is made. */
#ifndef DETECT_EXPLAIN_LIFE_PRIVATE_H
#define DETECT_EXPLAIN_LIFE_PRIVATE_H

#include "app/conf.h"
#include "base/array.h"
#include "base/memory/arena.h"
#include "detect/explain/flow_wanted.h"
#include "detect/explain/life.h"
#include "detect/inspect/inspect_private.h"
#include "stream/stream_conf.h"
#include "stream/tcp_session.h"

/* E(kind, its name in both forms of the report). */
#define LIFE_KIND_LIST(E)                                                                     \
    E(LIFE_PACKET, "packet")                                                                  \
    E(LIFE_STATE, "state")              /* of the session or the flow */                      \
    E(LIFE_NOTE, "note")                /* what the stream module thinks of the packet */     \
    E(LIFE_HOLE, "hole")                /* data wait, or a hole is filled */                  \
    E(LIFE_OVERLAP, "overlap")                                                                \
    E(LIFE_REFUSED, "refused")                                                                \
    E(LIFE_EVENT, "event")                                                                    \
    E(LIFE_DATA, "data")                                                                      \
    E(LIFE_GAP, "gap")                                                                        \
    E(LIFE_DEPTH, "depth")                                                                    \
    E(LIFE_CANDIDATE, "candidate")                                                            \
    E(LIFE_PROTOCOL, "protocol")                                                              \
    E(LIFE_TX, "transaction")                                                                 \
    E(LIFE_FILE, "file")                                                                      \
    E(LIFE_RULES, "rules")                                                                    \
    E(LIFE_ALERT, "alert")                                                                    \
    E(LIFE_VERDICT, "verdict")                                                                \
    E(LIFE_END, "end")
enum life_kind {
#define E(id, name) id,
    LIFE_KIND_LIST(E)
#undef E
};

/* A figure or a word of a record, for JSON. */
struct life_member {
    const char *key;
    char *text;                         /* NULL: the number */
    uint64_t number;
};

/* Packets with which nothing new happened. */
struct life_series {
    uint64_t last_packet, packets[2], bytes[2], refused, dropped;
};
/* Fewer of them are shown each. */
#define LIFE_SERIES_MIN 4
#define LIFE_MEMBERS_MAX 5

struct life_record {
    uint64_t packet, time_us;           /* packet 0: one that the engine made */
    char *text;                         /* the sentence; NULL: a series */
    uint8_t kind;
    uint8_t direction;                  /* of the packet, or of the data */
    bool is_plain;                      /* nothing new: the text folds a series of them */
    struct life_series *series;         /* in the arena */
    uint8_t member_count;
    struct life_member member[LIFE_MEMBERS_MAX];
};
/* Of all flows together; what comes after is counted. */
#define LIFE_RECORDS_MAX 200000
/* Connections that the same two ends have had. */
#define LIFE_FLOWS_MAX 64

#define LIFE_CANDIDATES_MAX 1024
#define LIFE_DETECT_MAX 65536

/* One direction, as the packet before has left it. */
struct life_dir {
    struct buf data;                    /* its first bytes, until the protocol is known */
    uint64_t data_at;                   /* offset of data in the stream */
    uint16_t app_proto;
    uint8_t answer[LIFE_CANDIDATES_MAX];        /* 1 + what each candidate said; 0: nothing yet */
    uint32_t patterns;                  /* tried last */
};

struct life_tx {
    uint64_t id;
    uint8_t progress[2];
    uint8_t events;
    bool is_done;
};

struct life_file {
    uint64_t id;
    uint8_t state;
};

/* How often a rule was asked for this flow. */
struct life_rule {
    const struct rule *rule;
    uint32_t asked, matched, alerts;
};

struct life_flow {
    uint64_t id;
    char *title;
    uint64_t start_us, last_us, first_packet, last_packet;
    uint64_t packets[2], bytes[2], alerts, dropped, transactions, files, asked;
    uint16_t app_proto;
    uint8_t state, action;
    uint8_t tcp_state;
    uint32_t requests;
    const char *end;                    /* why it ended; NULL: it has not */
    struct life_dir dir[2];
    ARRAY_OF(struct life_tx) tx;        /* those that are open */
    ARRAY_OF(struct life_file) file;    /* the same */
    ARRAY_OF(struct life_rule) rule;
    const char *repeated[LIFE_END + 1][2];      /* by kind and direction: what was said last */
    size_t run_at;                      /* the first record of the packets with nothing new ... */
    unsigned run;                       /* ... and how many packets they are */
    uint32_t *rule_at;                  /* by rule: 1 + where in `rule`; 0: not asked */
    ARRAY_OF(struct life_record) record;
};

/* A stored segment that the packet's payload meets. */
struct life_meeting {
    uint32_t seq, end;                  /* the segment's */
    int64_t from, to;                   /* the common bytes, as offsets in the stream */
    bool is_known, differs;             /* known: the older bytes are still there */
};
#define LIFE_MEETINGS_MAX 8

/* The session before the packet. */
struct life_before {
    const struct packet *packet;        /* NULL: none */
    bool has_session;
    uint8_t state;
    uint32_t flags;
    struct {
        int64_t edge, delivered;
        unsigned waiting;
        uint16_t flags;
    } dir[2];
    int64_t at;                         /* of the payload in its stream */
    uint32_t seq;
    struct life_meeting meeting[LIFE_MEETINGS_MAX];
    unsigned meetings;                  /* all of them, also those beyond the array */
};

/* A flow that is like the wanted one. */
struct life_other {
    uint64_t id;
    unsigned alike;                     /* 2 for each equal address, 1 for each equal port */
    char title[160];
};
#define LIFE_OTHERS 5

struct life {
    struct arena arena;
    struct flow_wanted wanted;
    bool json;
    const struct app_conf *app;
    const struct stream_conf *stream;
    struct ruleset *set;                /* referenced once packets come */
    struct rule_profile *profile;       /* by rule: of the packet at hand */
    struct life_flow *flow[LIFE_FLOWS_MAX];
    unsigned flow_count;
    uint64_t records, left_out, flows_left_out;
    struct life_other other[LIFE_OTHERS];       /* likest first */
    struct life_before before;
    /* The record that is being made, and what it is about. */
    struct life_flow *at_flow;
    const struct inspection *in;
    struct buf text;
    bool out_of_memory;
};

/* life.c: begins a record; NULL: there are too many. */
struct life_record *life_log(struct life *l, enum life_kind kind, enum direction d,
                             const char *fmt, ...) PRINTF(4, 5);
void life_number(struct life_record *r, const char *key, uint64_t number);      /* r may be NULL */
/* `text` is copied. */
void life_word(struct life *l, struct life_record *r, const char *key, const char *text);
/* The record says the same as the one of its kind and direction before. `text` is static. */
void life_repeats(struct life *l, struct life_record *r, const char *text);
const char *life_side(enum direction d);        /* who sends in it: "client" */

/* Each says what the packet did in its part of the engine. */
void life_tell_stream(struct life *l);
void life_tell_protocol(struct life *l);
void life_tell_transactions(struct life *l);
void life_tell_rules(struct life *l, unsigned alerts_before);

/* life_report.c, life_json.c */
const char *life_kind_name(enum life_kind kind);
void life_write_text(const struct life *l, struct buf *out);
void life_write_json(const struct life *l, struct buf *out);

#endif
