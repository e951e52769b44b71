/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/private.h - what the files of the framework share. Neither protocols nor other
 * directories include it. */
#ifndef APP_PRIVATE_H
#define APP_PRIVATE_H

#include "app/core/file.h"
#include "app/proto.h"
#include "app/session.h"
#include "base/array.h"
#include "base/memory/pool.h"
#include "flow/exception.h"
#include "stream/slot.h"

/* Ids above the list's, for protocols that tests add. */
#define APP_PROTO_EXTRA 2
#define APP_PROTO_MAX (APP_PROTO_COUNT + APP_PROTO_EXTRA)

enum { TRANSPORT_TCP, TRANSPORT_UDP, TRANSPORT_COUNT };
#define TRANSPORT_BIT(t) (1u << (t))        /* APP_TCP, APP_UDP */

/* --- settings, shared by all threads (conf.c) ----------------------------------------------- */

struct app_pattern_set;

/* A probe and the ports it examines, as configured. */
struct probe_entry {
    const struct app_proto *proto;
    const struct app_probe *probe;
    bool by_source;             /* the range is of source ports */
    uint16_t low, high;
};

struct app_detect_tables {
    struct app_pattern_set *patterns[TRANSPORT_COUNT][2];       /* by direction */
    ARRAY_OF(struct probe_entry) probes[TRANSPORT_COUNT];
    const struct app_conf *conf;
    bool midstream;             /* stream.midstream: also try the patterns of the other direction */
};

struct app_proto_conf {
    const struct app_proto *proto;
    bool enabled[TRANSPORT_COUNT];          /* detected */
    bool parses[TRANSPORT_COUNT];
    bool has_stream_frame;
    uint32_t tx_limit;
    bool own_depth;                         /* differs from the stream's */
    uint64_t stream_depth;                  /* UINT64_MAX: none */
    void *settings;
};

#define EXCEPTION_COUNT (EXCEPTION_REJECT_BOTH + 1)

/* `has` says whether the protocol owns these counters: id 0 may be another module's. */
struct app_counter {
    counter_id id;
    bool has;
};
struct app_proto_counters {
    struct app_counter flow, tx, gap, alloc, parser, internal;
    struct app_counter policy[EXCEPTION_COUNT];
};

struct app_expectations;
struct expectation_parents;

/* Memory of decompressors: decoder_memory.c. */
struct app_decoders {
    struct app_memory memory;
    uint64_t window_limit;
    counter_id refused;
};
/* NULL: no protocol sets limits. */
void app_decoders_read(struct app_decoders *d, const struct app_proto *proto,
                       const struct conf_node *node);

struct app_conf {
    struct app_proto_conf proto[APP_PROTO_MAX];
    struct app_proto_counters counter[TRANSPORT_COUNT][APP_PROTO_MAX];
    struct app_counter policy_total[EXCEPTION_COUNT];
    counter_id expectation_counter;
    struct app_detect_tables detect;
    enum exception_policy error_policy;
    bool errors_by_proto;       /* also count per protocol what the policy did */
    bool is_inline;
    bool bypasses;                          /* some protocol bypasses encrypted flows */
    const char *magic_file;                 /* NULL: libmagic's own */
    struct app_expectations *expectations;  /* shared, with a lock */
    struct expectation_parents *parents;            /* shared, with a lock */
    struct app_ranges *ranges;              /* shared, with a lock */
    struct app_decoders decoders;           /* shared, atomics */
    /* app_require(): bits are only ever set, by relaxed atomics */
    uint32_t any_frames;
    uint32_t required_frames[APP_PROTO_MAX], required_features[APP_PROTO_MAX];
    uint32_t required_files, required_content[APP_PROTO_MAX];
};

/* Like app_conf_new(), with further protocols whose ids follow APP_PROTO_COUNT. */
struct app_conf *app_conf_new_extra(const struct conf_node *root, bool is_inline,
                                    const struct app_proto *const *extra, struct err *err);

static inline uint32_t required_get(const uint32_t *bits)
{
    return __atomic_load_n(bits, __ATOMIC_RELAXED);
}

void app_counters_register(struct app_conf *conf);
static inline void app_count(struct counters *c, struct app_counter counter, uint64_t n)
{
    if (counter.has)
        counter_add(c, counter.id, n);
}

/* --- detection of the protocol (detect_proto.c) ---------------------------------------------- */

#define DETECT_PROBES_MAX 61            /* bits of probes_failed; a flow has two or three probes */

/* State of protocol detection for one direction, between two calls. */
struct proto_detect_state {
    uint64_t probes_failed : DETECT_PROBES_MAX; /* bit per candidate, in the order of trying */
    uint64_t patterns_done : 1, probes_done : 1, expected_done : 1;
};

struct proto_detect_input {
    struct slice data;
    uint8_t transport;
    enum direction direction;
    struct flow *flow;
    uint16_t source_port, dest_port;        /* of the client and the server */
    uint16_t other, expected;   /* protocol of the other side; the one a change expects */
};

int app_detect_tables_build(struct app_conf *conf, const struct conf_node *root,
                            struct err *err);
void app_detect_tables_free(struct app_detect_tables *tables);

/* The protocol of these bytes, or APP_PROTO_UNKNOWN. *reversed: the other side sent them. Does not
 * consider expected flows. */
enum app_proto_id app_detect(const struct app_detect_tables *tables,
                             const struct proto_detect_input *q,
                             struct proto_detect_state *detect_state,
                             struct proto_detect_state *other_state, bool *reversed);

/* --- expected flows (expectations.c) ---------------------------------------------------------- */

struct expectation_match {
    enum app_proto_id proto;
    void *data;
    void (*free_data)(void *data);
    uint64_t parent_id;
};
/* Data passed with the expectation, valid as long as the flow. */
struct expectation_data { void *data; void (*free_data)(void *data); };
struct app_expectations *app_expectations_new(struct expectation_parents *parents);
void app_expectations_free(struct app_expectations *table);
/* With this packet, which may be NULL. */
bool app_expectations_add(struct app_expectations *table, const struct flow *flow,
                          const struct app_expected *expected, const struct packet *p);
/* Removes and returns the expectation of the packet's flow. False: there is none. */
bool app_expectations_match(struct app_expectations *table, const struct packet *p,
                            enum direction direction, struct expectation_match *out);
/* The same, and updates the thread's counter; APP_PROTO_UNKNOWN: there is none. */
enum app_proto_id expectation_take(struct app_thread *at, struct packet *p,
                                     enum direction direction, struct expectation_data **owned);
void expectation_data_free(struct expectation_data **owned);
uint64_t app_expectations_count(const struct app_expectations *table);

/* --- connections that may create expectations (expectation_parents.c) ------------------------- */

struct expectation_parents *expectation_parents_new(void);
void expectation_parents_free(struct expectation_parents *parents);
/* Which such connections between the packet's two hosts come before the packet. ITSELF: its flow is
 * the only one, and all flows of its hash are on its thread. */
enum parent_kind { PARENT_NONE, PARENT_SELF, PARENT_OTHERS };
enum parent_kind expectation_parents_of(struct expectation_parents *parents,
                                        const struct packet *p);

/* --- a flow's state (session.c, tcp_detection.c, udp_detection.c) ----------------------------- */

/* One direction. Pending bytes are those that the parser has not consumed, in the current chunk or
 * in `buffered`. They are copied only when they must outlive the packet. */
struct app_dir {
    const uint8_t *data;
    uint32_t len;
    uint32_t need;              /* the parser waits for so many bytes */
    uint64_t offset : 59;       /* of data[0] in the stream */
    uint64_t borrowed : 1;      /* data points to the chunk, not to `buffered` */
    uint64_t detected : 1;      /* protocol detection is over */
    uint64_t started : 1;       /* the parser has received bytes */
    uint64_t depth_reached : 1; /* stream depth reached */
    uint64_t eof_sent : 1;
    uint64_t lost;              /* bytes missing in front of data, not reported to the parser yet */
    struct buf buffered;
    struct proto_detect_state detect_state;
};

struct frame {
    uint32_t id;
    uint8_t type, logged;
    uint64_t offset, tx_id, inspected;
    int64_t len;
};
#define FRAME_PARTS_MAX 16                 /* between gaps */

struct frames {
    struct buf store;           /* struct frame, oldest first */
    uint32_t next_id;
    struct buf retained;            /* bytes that frames cover, as far as rules and logs may read */
    unsigned part_count;
    struct frame_part { uint64_t offset; uint32_t len; } part[FRAME_PARTS_MAX];
};

enum { FIRST_SENDER_PARSED = 0x80 };

struct app_session {
    struct app_flow flow;       /* first: the part that all others see */
    struct app_dir ds[2];
    uint8_t transport;
    uint8_t first_sender;         /* APP_TS or APP_TC; FIRST_SENDER_PARSED */
    bool off : 1;               /* nothing is parsed any more */
    bool midstream : 1;
    bool changing : 1;          /* another protocol is about to follow */
    bool change_fresh : 1;      /* ... asked for by this very packet */
    bool parser_stopped : 1;    /* it stopped itself, with this packet */
    bool redetecting : 1;
    bool replace : 1;           /* the next parser replaces the present one */
    bool counted : 1;           /* in app_layer.flow.X */
    bool no_memory : 1;         /* the parser at work was refused memory */
    uint16_t change_port;
    uint16_t events;            /* bit per event, see app_layer_event_name() */
};

_Static_assert(sizeof(struct app_session) <= 4 * CACHE_LINE, "there are as many as connections");

static inline struct app_session *app_session_of(const struct app_flow *af)
{
    return (struct app_session *)(uintptr_t)af;
}
static inline struct frames *frames_of(const struct app_session *s, enum direction d)
{
    return s->flow.ext != NULL ? s->flow.ext->frames[d] : NULL;
}
static inline unsigned frame_count(const struct frames *frames)
{
    return frames != NULL ? (unsigned)(frames->store.len / sizeof(struct frame)) : 0;
}

#define APP_CHANGE_DETECT_MAX 4096          /* bytes after which a change of protocol fails */

struct app_session *app_session_new(struct app_thread *at, struct flow *f, unsigned transport);
void app_session_set_proto(struct app_session *s, enum app_proto_id id);
/* Passes the pending bytes (and `end`) to the parser. -1: it failed, and the session is off. */
int app_feed(struct app_session *s, enum direction d, bool end);
void app_dir_drop(struct app_session *s, enum direction d);        /* drops all pending bytes */
void app_disable(struct app_session *s);        /* protocol detection gave up: FAILED, for good */
/* Makes rules on protocols see this direction's protocol, or that it has none. */
void app_signal_proto_detected(struct flow *f, const struct app_thread *at, enum direction d);
void app_session_over(struct app_session *s);   /* frees the parser's memory early */
void app_count_flow(struct app_session *s);
void app_layer_event(struct app_session *s, unsigned event);
void flow_swap(struct app_session *s, struct packet *p);             /* client <-> server */
void flow_swap_packet(const struct flow *f, struct packet *p);       /* p left stream before */

void app_tcp_data(struct app_session *s, enum direction d, bool end);
void app_tcp_gap(struct app_session *s, enum direction d);
void app_udp_packet(struct app_thread *at, struct packet *p);

/* --- per thread (thread.c) -------------------------------------------------------------------- */

#define APP_SPARE_BUFS 512
#define APP_SPARE_BUF_MAX (64u << 10)       /* bigger ones go back to the allocator */

struct app_thread {
    const struct app_conf *conf;
    struct counters *counters;
    struct app_hooks hooks;
    struct pool sessions;
    struct {
        struct pool state, tx;
        void *data;             /* from proto->thread_open() */
    } proto[APP_PROTO_MAX];
    struct pool files;
    struct packet *packet;      /* the packet at hand */
    const struct app_flow *previous;    /* see app_previous() */
    void *magic;                /* libmagic's handle; opened when first needed */
    struct buf spare[APP_SPARE_BUFS];
    unsigned spare_count;
};

/* Buffers that outlive a packet come from a stock, so that flows are created and freed without
 * malloc. */
struct buf app_buf_take(struct app_thread *at);
void app_buf_release(struct app_thread *at, struct buf *b);

/* The protocol from whose pools state and transactions come. */
static inline enum app_proto_id app_pool_of(const struct app_proto *proto)
{
    return proto->subprotocol_of != 0 ? proto->subprotocol_of : proto->id;
}
void app_tx_free(struct app_tx *tx);
void app_tx_index_free(struct app_flow *af);
/* Processes the changes that a parser made with this packet; all transactions are due when either
 * direction has ended. */
void app_txs_due(struct app_session *s, const struct packet *p);
void app_files_free(struct app_thread *at, struct app_tx *tx);
/* After outputs have seen the packet. own_packet: a packet of that direction; libmagic then looks
 * at what has arrived. */
void app_files_prune(struct app_tx *tx, enum direction d, bool own_packet);
bool app_files_done(struct app_tx *tx, const struct inspection *in, uint32_t required);
/* No file of the transaction waits for a packet to be reported or stored. */
bool app_files_idle(const struct app_tx *tx, uint32_t required);
void app_file_pool_init(struct pool *pool);
void app_file_pool_fini(struct pool *pool);
void app_magic_close(struct app_thread *at);
/* Handles data while there are frames of their direction. */
void app_frames_data(struct app_session *s, enum direction d, uint64_t offset, struct slice data);
void app_frames_prune(struct app_session *s, const struct inspection *in);
void app_frames_free(struct app_session *s);
void app_frames_stream(struct app_session *s, enum direction d, const struct app_input *in);

/* Ids of events that belong to no transaction. Those that protocols name, see
 * app_proto.absent_event, lie between FIRST and LAST. */
enum {
    APPLAYER_MISMATCH = 1, APPLAYER_WRONG_DIRECTION, APPLAYER_ONE_DIRECTION, APPLAYER_SKIPPED,
    APPLAYER_ABSENT_FIRST, APPLAYER_ABSENT_LAST = APP_LAYER_EVENT_MAX - 1, APPLAYER_UNEXPECTED,
};
_Static_assert(APPLAYER_UNEXPECTED == APP_LAYER_EVENT_MAX, "app_session.events has 16 bits");
/* 0: the protocol has no such event. */
unsigned app_absent_event(const struct app_proto *proto);

#endif
