/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/app.h - what an application protocol declares, and what the framework offers it.
 *
 * A protocol is one folder under app/ and one line in app/list.h. Its `const struct app_proto`
 * says how it is recognised, parsed, inspected and logged; detect and output learn of it from
 * there alone. All of it runs on the thread that owns the flow's inspection half. A parser sees
 * bytes and its own state, nothing else. */
#ifndef APP_APP_H
#define APP_APP_H

#include "app/list.h"
#include "base/arena.h"
#include "base/bytes.h"
#include "base/counters.h"
#include "base/json.h"
#include "conf/conf.h"
#include "flow/flow.h"

struct app_flow;
struct app_tx;
struct app_file;
struct app_thread;
struct app_proto;

#define APP_TS 1u               /* direction sets */
#define APP_TC 2u
#define APP_BOTH (APP_TS | APP_TC)
#define APP_DIRECTION_BIT(d) (1u << (d))

#define APP_TCP 1u              /* transport sets */
#define APP_UDP 2u

/* --- parsing ------------------------------------------------------------------------------ */

enum parse_status {
    PARSE_OK,           /* took in->consumed bytes (all, unless it set less) */
    PARSE_MORE,         /* took in->consumed; call again when more have come */
    PARSE_STOP,         /* cannot be parsed any further: parser off for this flow */
};

/* A piece of one direction. Bytes not consumed are kept by the framework (bounded) and come
 * again in front of what follows. For UDP: one datagram, nothing is kept. */
struct app_input {
    const uint8_t *data;
    uint32_t len;
    uint32_t consumed;          /* out; preset to len */
    uint64_t offset;            /* of data[0] in its direction of the stream */
    uint32_t gap;               /* > 0: that many bytes are missing here; data NULL, len 0 */
    bool start;                 /* first bytes of this direction */
    bool end;                   /* nothing follows in this direction */
    enum direction direction;
    uint64_t now_us;
    const struct packet *packet;        /* the packet being worked on (not its payload!) */
};

/* --- transactions ------------------------------------------------------------------------- */

/* First member of each protocol's transaction. Progress runs per direction from 0 to the
 * protocol's progress_done; detect and output act on its steps. */
struct app_tx {
    struct app_tx *next;        /* older to newer */
    uint64_t id;                /* from 0 within the flow */
    struct app_flow *flow;
    uint8_t progress[2];
    bool one_sided[2];          /* this direction will never have a part: counts as done */
    uint8_t event_count;
    uint8_t event[16];          /* ids within the protocol */
    uint32_t logged;            /* bit per app_log, set by output */
    uint8_t events_logged[4];   /* how many of event[], per eve-log; output's */
    bool no_inspect[2];
    bool no_log;
    bool store_files[2];        /* filestore matched */
    uint8_t bits[2];            /* private to detect */
    void *detect[2];            /* private to detect: rules that wait for more progress */
    void *vars;                 /* private to detect: xbits with track tx */
    struct app_file *files[2];  /* oldest first */
    struct arena arena;         /* dies with the transaction */
    uint64_t start_us;
};

/* New, appended; NULL at the protocol's limit (the framework raises what is due). */
struct app_tx *app_tx_new(struct app_flow *af);
void app_tx_event(struct app_tx *tx, unsigned event);
/* Event of the flow when there is no transaction to hang it on: makes one if need be. */
void app_event(struct app_flow *af, enum direction direction, unsigned event);
static inline bool app_tx_has_event(const struct app_tx *tx, unsigned event)
{
    for (unsigned i = 0; i < tx->event_count; i++)
        if (tx->event[i] == event)
            return true;
    return false;
}

/* --- the flow as the parser sees it ------------------------------------------------------- */

struct app_flow {
    const struct app_proto *proto;      /* NULL until detected */
    void *state;                        /* the parser's, proto->state_size, zeroed */
    struct app_thread *thread;
    struct flow *flow;
    struct app_tx *first, *last;        /* transactions alive, oldest first */
    uint64_t next_tx_id;
    uint32_t tx_count;
    bool stopped[2];                    /* parser off */
    bool end[2];                        /* direction has ended */
    bool encrypted;                     /* set by the parser */
    void *internal;                     /* the framework's: detection, kept bytes, frames */
    uint64_t file_id;                   /* next file's number */
};

/* What follows in both directions is another protocol (CONNECT, STARTTLS, upgrade): detection
 * runs again; `expected` APP_PROTO_UNKNOWN: any. */
void app_change_protocol(struct app_flow *af, enum app_proto_id expected);
/* A flow that will come: addresses in either order, port 0: any. data is handed to the new
 * flow's parser through app_expected_data(); freed by free_data if it never comes. */
void app_expect(struct app_flow *af, const struct ip *a, const struct ip *b, uint16_t port,
                enum app_proto_id proto, void *data, void (*free_data)(void *data));
void *app_expected_data(struct app_flow *af);

/* The parser needs nothing more of this direction / both (encrypted); see the bypass settings. */
void app_stop_inspection(struct app_flow *af, bool payload, bool bypass);

/* Frames: named stretches of the stream, for the frame keyword and EVE. len -1: not known yet.
 * Returns its id, 0 when frames of this type are not wanted (no rule, no log: then free). */
uint32_t app_frame(struct app_flow *af, enum direction direction, unsigned type, uint64_t offset,
                   int64_t len, uint64_t tx_id);
void app_frame_set_length(struct app_flow *af, enum direction direction, uint32_t frame,
                          int64_t len);

/* --- recognition -------------------------------------------------------------------------- */

struct app_pattern {
    uint8_t transport;          /* APP_TCP or APP_UDP */
    uint8_t directions;         /* APP_TS, APP_TC: who sends it */
    const char *bytes;
    uint8_t len;                /* 0: strlen */
    uint16_t offset, depth;     /* as of content: within bytes [offset, depth) */
    bool nocase;
    bool confirm;               /* the probe must agree */
};

enum app_probe_result { APP_PROBE_NO, APP_PROBE_YES, APP_PROBE_MORE, APP_PROBE_YES_REVERSED };
/* `direction` of the bytes; YES_REVERSED: it is, but these bytes come from the other side. */
typedef enum app_probe_result (*app_probe_fn)(struct bytes in, enum direction direction,
                                              const struct flow *flow);
struct app_probe {
    uint8_t transport;
    uint8_t directions;
    const char *ports;          /* "139,445": default detection-ports.dp; "": any port */
    const char *source_ports;   /* default detection-ports.sp; NULL: none */
    uint16_t min, max;          /* bytes to ask for */
    app_probe_fn probe;
};

/* --- what rules can see ------------------------------------------------------------------- */

/* A sticky buffer. `get` may compute and keep the result in tx->arena. */
struct app_buffer {
    const char *name;           /* "http.uri" */
    const char *alias;          /* older sticky name: "dns_query"; NULL */
    const char *legacy;         /* content modifier: "http_uri"; NULL */
    const char *doc;
    uint8_t directions;
    uint8_t progress[2];        /* least progress of each direction at which it can be there */
    bool multi;                 /* several instances, each inspected for itself */
    bool grows;                 /* a body or file: inspected again as it grows, see app/file.h */
    bool lower_case;            /* normalised: patterns must be lower case (http.host) */
    /* Instance `index` from 0; false when there is none (yet). */
    bool (*get)(struct app_tx *tx, enum direction direction, unsigned index, struct slice *out);
    /* For `grows`: bytes of the body before out->data[0] that have been let go. */
    uint64_t (*position)(struct app_tx *tx, enum direction direction, unsigned index);
    /* Checks a content pattern at load time (host in upper case ...); NULL: anything goes. */
    bool (*check)(struct slice pattern, bool nocase, struct err *err);
};

struct app_name { const char *name; int64_t value; };

/* An integer keyword: the framework parses N, <N, >N, N-M, !N, &mask, names. */
struct app_integer {
    const char *name, *alias, *doc;
    uint8_t bits;               /* 8, 16, 32, 64 */
    uint8_t directions;
    uint8_t progress[2];
    bool multi;                 /* several values: any, all, nth */
    const struct app_name *names;       /* {NULL} ended; NULL: numbers only */
    bool (*get)(struct app_tx *tx, enum direction direction, unsigned index, uint64_t *out);
};

/* Any other keyword about a transaction. */
struct app_match {
    const char *name, *alias, *doc;
    uint8_t directions;
    uint8_t progress[2];
    bool no_argument;
    size_t arg_size;
    /* Fills arg (zeroed); memory from arena, which lives as long as the rules. */
    int (*parse)(struct text in, void *arg, struct arena *arena, struct err *err);
    bool (*match)(struct app_tx *tx, enum direction direction, const void *arg);
};

/* --- what is logged ----------------------------------------------------------------------- */

/* One EVE event type of the protocol. */
struct app_log {
    const char *conf_name;      /* under outputs.eve-log.types: "http" */
    const char *event_type;     /* EVE: "http" */
    const char *key;            /* of the object in the record; NULL: log() writes its own keys */
    /* Logged once when progress reaches these in both directions; or, with each_direction, once
     * a direction when that one is reached. */
    uint8_t progress[2];
    bool each_direction;
    /* Settings of one eve-log instance, made once; NULL when there are none. Freed with free(). */
    void *(*configure)(const struct conf_node *node, struct err *err);
    /* Writes the members; false: nothing to log after all. direction: for each_direction. */
    bool (*log)(struct json *j, struct app_tx *tx, enum direction direction, const void *conf);
};

/* --- the protocol ------------------------------------------------------------------------- */

struct app_proto {
    enum app_proto_id id;
    const char *name;           /* EVE app_proto, configuration, rule header: "tls" */
    const char *rule_alias;     /* another name in rule headers: "ikev2" */
    uint8_t transports;
    bool off_by_default;
    bool detection_only;        /* no parser (imap) */
    const char *first_data_note;
    uint8_t first_data;         /* APP_TS, APP_TC or APP_BOTH: who may speak first; 0 = both */

    const struct app_pattern *patterns;         /* ended by bytes == NULL */
    const struct app_probe *probes;             /* ended by probe == NULL */

    size_t state_size, tx_size;
    uint32_t tx_limit;          /* default of max-tx; 0: 256 open ones */
    uint8_t too_many_tx_event;  /* 0: none */
    int (*configure)(const struct conf_node *node, struct err *err);    /* once, at start */
    int (*open)(struct app_flow *af);                                   /* may be NULL */
    void (*close)(struct app_flow *af);
    enum parse_status (*parse)(struct app_flow *af, struct app_input *in);
    bool handles_gaps;          /* else a gap stops the direction's parser */
    uint32_t keep_limit;        /* most bytes kept unconsumed; 0: 64 KiB; beyond: parser off */
    void (*tx_close)(struct app_tx *tx);
    /* Once all bytes of a flow are in: close what is open. */
    void (*finish)(struct app_flow *af);

    uint8_t progress_done[2];
    const struct app_name *progress_names[2];   /* hooks: "request_line"; NULL-named end */
    const struct app_name *events;              /* "malformed_data", ids from 1; {NULL} ended */
    const char *const *frames;                  /* frame type names, NULL-ended; id = index */
    const struct app_buffer *const *buffers;    /* NULL-ended lists */
    const struct app_integer *const *integers;
    const struct app_match *const *matches;
    const struct app_log *const *logs;
    /* Members that an alert record gets of the transaction ("http": {...}). */
    void (*alert_metadata)(struct json *j, struct app_tx *tx);
    bool has_files;
};

/* --- the framework, for the detect module, detect/ and output/ ---------------------------- */

const struct app_proto *app_proto_by_id(enum app_proto_id id);          /* NULL: none */
const struct app_proto *app_proto_by_name(const char *name);
const char *app_proto_name(enum app_proto_id id);       /* "http", "failed", "unknown" as in EVE */
/* Is this flow's protocol meant by a rule header or keyword that names `wanted`? http stands
 * for http1 and http2, dns also for doh2 ... */
bool app_proto_matches(enum app_proto_id wanted, enum app_proto_id found);

/* Settings of all protocols and the detection tables; read-only, shared. */
struct app_conf;
struct app_conf *app_conf_new(const struct conf_node *root, bool is_inline, struct err *err);
void app_conf_free(struct app_conf *conf);
bool app_proto_enabled(const struct app_conf *conf, enum app_proto_id id);

struct app_thread *app_thread_new(const struct app_conf *conf, struct counters *counters);
void app_thread_free(struct app_thread *at);

/* One packet: its chunks (TCP) or payload (UDP), and the end of its flow, to detection and
 * parsers. Sets flow->app_proto and friends. */
void app_packet(struct app_thread *at, struct packet *p);
/* After rules and logs: transactions that are complete, inspected (app_tx_inspected) and logged
 * die. */
void app_cleanup(struct app_thread *at, struct packet *p);
/* With the flow. */
void app_flow_free(struct app_flow *af);

static inline bool app_tx_done(const struct app_tx *tx, enum direction d,
                               const struct app_proto *proto)
{
    return tx->one_sided[d] || tx->progress[d] >= proto->progress_done[d];
}

/* Events not about one transaction (applayer_mismatch_protocol_both_directions ...), set on the
 * flow for this packet: EVE anomaly and app-layer-event:applayer.X. */
extern const struct app_name app_layer_events[];        /* names and ids */
bool app_flow_has_event(const struct app_flow *af, unsigned event);

struct app_frame_view {
    uint32_t id;
    unsigned type;
    uint64_t offset, tx_id;
    int64_t len;
    bool fresh;                 /* made or grown by this packet */
    enum direction direction;
};
bool app_frames_each(const struct app_flow *af, enum direction direction,
                     bool (*visit)(const struct app_frame_view *frame, void *arg), void *arg);
/* Which frame types rules or logs want; set at load time, before threads start. */
void app_frames_want(enum app_proto_id id, unsigned type);

#endif
