/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/app.h - what an application protocol declares, and what the framework offers it.
 *
 * A protocol is one directory under app/ and one line in app/list.h. Its `const struct app_proto`
 * says how it is detected, parsed, inspected and logged; detect and output learn of it from
 * there alone. All of it runs on the thread that owns the flow's inspection state. A parser sees
 * bytes and its own state, nothing else. */
#ifndef APP_APP_H
#define APP_APP_H

#include "app/list.h"
#include "base/memory/arena.h"
#include "base/memory/buf.h"
#include "base/text/bytes.h"
#include "base/report/counters.h"
#include "base/report/json.h"
#include "base/text/text.h"
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
    PARSE_OK,           /* took in->consumed bytes; called again at once while some are left */
    PARSE_MORE,         /* took in->consumed; call again when in->need bytes are there */
    PARSE_STOP,         /* cannot be parsed any further: parser off for this flow (UDP: for this
                         * datagram), counted, error policy applied */
};

/* A piece of one direction. Bytes not consumed are kept by the framework (bounded) and come
 * again in front of what follows. For UDP: one datagram, nothing is kept.
 *
 * A gap comes by itself: gap > 0, data NULL. Bytes that were kept when it came are lost with
 * it and counted in it, so that `offset` + `gap` is always where the next data begin. */
struct app_input {
    const uint8_t *data;
    uint32_t len;
    uint32_t consumed;          /* out; preset to len */
    uint32_t need;              /* out with PARSE_MORE: bytes to have from the first one not
                                 * consumed on; 0: any more will do */
    uint32_t gap;
    uint64_t offset;            /* of data[0] in its direction of the stream */
    bool start;                 /* first bytes of this direction for this parser */
    bool end;                   /* nothing follows in this direction; data may be empty */
    bool truncated;                   /* with end: stream depth reached, the rest goes unseen */
    bool is_udp;
    enum direction direction;
    uint64_t now_us;
    const struct packet *packet;        /* the packet being worked on (not its payload!) */
};

static inline struct bytes app_input_bytes(const struct app_input *in)
{
    return bytes_of(in->data, in->len);
}

/* --- transactions ------------------------------------------------------------------------- */

#define APP_TX_EVENTS_FIRST 16
#define APP_TX_EVENTS_MAX 255

/* First member of each protocol's transaction, which comes zeroed but for this. Progress runs
 * per direction from 0 to the protocol's progress_done; detect and output act on its steps. */
struct app_tx {
    struct app_tx *next;        /* older to newer */
    uint64_t id;                /* from 0 within the flow */
    struct app_flow *flow;
    uint8_t progress[2];
    bool unidirectional[2];          /* this direction will never have a part: counts as done */
    bool no_inspect[2];
    bool no_log;
    uint8_t event_count;
    uint8_t event[APP_TX_EVENTS_FIRST]; /* ids within the protocol, in the order they came */
    uint8_t *more_events;       /* the rest, in the arena; see app_tx_event_at() */
    uint32_t logged;            /* two bits per app_log of an eve-log; output's */
    uint8_t events_logged[4];   /* how many of event[], per eve-log that has them */
    uint16_t scripts_logged;    /* bit per script of outputs; output's */
    uint16_t lines_logged;      /* bit per http-log and tls-log; output's */
    uint16_t files_open;        /* not closed yet */
    bool store_files[2];        /* filestore matched */
    void *streamed;                 /* output's: of bodies, as they come; NULL: nothing yet */
    void *detect[2];            /* private to detect: rules that wait for more progress */
    void *vars;                 /* private to detect: xbits with track tx */
    struct app_file *files[2];  /* oldest first */
    struct arena arena;         /* dies with the transaction */
    uint8_t bits[2];            /* private to detect */
    uint8_t guessed;            /* likewise: alerts about packets that were put down to it */
    uint64_t start_us;
};

/* New, appended. When more than max-tx are open the oldest are ended with the protocol's
 * too_many_tx_event. NULL at the hard limit of the framework. */
struct app_tx *app_tx_new(struct app_flow *af);
struct app_tx *app_tx_find(struct app_flow *af, uint64_t id);
/* Takes one out that turned out to be nothing: as if it had never been. */
void app_tx_discard(struct app_tx *tx);
void app_tx_event(struct app_tx *tx, unsigned event);
/* Event of the flow when there is no transaction to hang it on: the newest, or one made for it
 * that is done in both directions. */
void app_event(struct app_flow *af, enum direction direction, unsigned event);
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
    uint64_t next_tx_id;
    uint32_t tx_count;
    uint32_t file_id;                   /* next file's number */
    bool stopped;                       /* parser off, for good */
    bool end[2];                        /* nothing more will be parsed: log and free as it is */
    bool disrupted[2];                  /* depth reached, or a gap that the parser cannot
                                         * pass: progress counts as done */
    bool encrypted;                     /* set by the parser */
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

/* NULL: no memory. */
struct app_ext *app_ext_make(struct app_flow *af);

/* What follows in both directions is another protocol (CONNECT, STARTTLS, upgrade): from the
 * next packet on detection runs again; this protocol's transactions are inspected and logged as
 * they are before. `expected` APP_PROTO_UNKNOWN: any. port: whose probes to try (0: the flow's).
 * False when a change is under way already. */
bool app_change_protocol(struct app_flow *af, enum app_proto_id expected, uint16_t port);
/* Within open(), after a change of protocol: what was before. NULL: nothing, or not in open(). */
const struct app_flow *app_previous(const struct app_flow *af);

/* The flow is more than its protocol: from here on one that narrows it (DNS over HTTP/2). Rules
 * look at this transaction anew. False when that one is switched off. */
bool app_set_subprotocol(struct app_tx *tx, enum app_proto_id to);

/* A flow between the same two hosts that will come, within 30 s. Ports as its first packet has
 * them; 0: any. */
struct app_expected {
    uint16_t src_port, dst_port;
    uint8_t directions;                 /* data of which direction may prove it; 0: both */
    enum app_proto_id proto;
    void *data;                         /* for the new flow's parser, by app_expected_data() */
    void (*free_data)(void *data);      /* from any thread; NULL: lib_free() */
};
/* Takes over data, also on failure. */
bool app_expect(struct app_flow *af, const struct app_expected *expected);
void *app_expected_data(struct app_flow *af);   /* lives as long as the flow; NULL: none */

/* Something is complete with what has been parsed: rules on the raw stream report what they have so
 * far, with the next packet of this direction. */
void app_trigger_raw_inspection(struct app_flow *af, enum direction direction);

enum app_stop {
    APP_STOP_PAYLOAD    = 1u << 0,      /* rules no longer see payload (encrypted) */
    APP_STOP_PARSER     = 1u << 1,      /* the parser wants nothing more */
    APP_STOP_REASSEMBLY = 1u << 2,
    APP_STOP_BYPASS     = 1u << 3,      /* the flow may be bypassed, where that is set up */
};
void app_stop(struct app_flow *af, unsigned what);

/* Frames: named stretches of the stream (of the datagram), for the frame keyword and EVE.
 * len -1: not known yet. Gives its id, 0 when frames of this type are not wanted (no rule, no
 * log: then it costs nothing). Type 0 is "stream" where the first name says so; the framework
 * makes that one. */
uint32_t app_frame(struct app_flow *af, enum direction direction, unsigned type, uint64_t offset,
                   int64_t len, uint64_t tx_id);
#define APP_FRAME_NO_TX UINT64_MAX
void app_frame_set_length(struct app_flow *af, enum direction direction, uint32_t frame,
                          int64_t len);
void app_frame_set_tx(struct app_flow *af, enum direction direction, uint32_t frame,
                      uint64_t tx_id);

/* The engine may drop packets (IPS): what is inspected late passes. */
bool app_is_inline(const struct app_flow *af);

/* What rules and outputs asked of the protocol: its own bits, see app_buffer.feature. */
bool app_feature(const struct app_flow *af, uint32_t bit);

/* --- recognition -------------------------------------------------------------------------- */

enum app_probe_result { APP_PROBE_NO, APP_PROBE_YES, APP_PROBE_MORE, APP_PROBE_YES_REVERSED };
/* `direction` of the bytes; YES_REVERSED: it is, but these bytes come from the other side. */
typedef enum app_probe_result (*app_probe_fn)(struct bytes in, enum direction direction,
                                              const struct flow *flow);

struct app_pattern {
    uint8_t transport;          /* APP_TCP | APP_UDP */
    uint8_t directions;         /* APP_TS, APP_TC: who sends it */
    const char *bytes;
    uint8_t len;                /* 0: strlen */
    uint16_t offset, depth;     /* as of content: within bytes [offset, depth); 0: offset + len */
    bool nocase;
    app_probe_fn confirm;       /* must agree; NULL: nobody is asked */
    uint16_t confirm_min, confirm_max;  /* bytes it wants; beyond max MORE means NO; 0: none */
};

struct app_probe {
    uint8_t transport;
    uint8_t directions;         /* of bytes that it judges */
    const char *ports;          /* "139,445": default detection-ports.dp; NULL: only when the
                                 * protocol is expected or the other side is this one */
    const char *source_ports;   /* default detection-ports.sp; NULL: none */
    uint16_t min, max;          /* bytes to ask for */
    uint16_t max_other;         /* bytes after which the direction that it does not judge no longer
                                 * waits for it; 0: as `max` */
    app_probe_fn probe;
};

/* --- what rules can see ------------------------------------------------------------------- */

/* A sticky buffer. `get` may compute and keep the result in tx->arena. */
struct app_buffer {
    const char *name;           /* "http.uri" */
    const char *alias;          /* older sticky name: "dns_query"; NULL */
    const char *legacy;         /* content modifier: "http_uri"; NULL */
    const char *same_as;        /* rules that name it mean this buffer, in `directions`, whatever
                                 * they said before; NULL: itself */
    const char *doc;
    uint8_t directions;
    uint8_t progress[2];        /* least progress of each direction at which it can be there */
    bool multi;                 /* several instances, each inspected for itself */
    /* a body or file: inspected again as it grows, see app/core/file.h */
    bool grows;
    bool lower_case;            /* normalised: patterns must be lower case (http.host) */
    uint8_t never_absent;       /* directions in which `absent` does not match */
    bool one_way;               /* a rule must say of which direction */
    bool any_case;              /* hex digits: patterns match however they are written */
    /* Instance `index` from 0; false when there is none (yet). */
    bool (*get)(struct app_tx *tx, enum direction direction, unsigned index, struct slice *out);
    /* For `grows`: bytes of the body before out->data[0] that have been let go. */
    uint64_t (*position)(struct app_tx *tx, enum direction direction, unsigned index);
    /* For `grows`, where outputs may want it as it comes: all that is kept, inspected or not. */
    bool (*retained)(struct app_tx *tx, enum direction direction, struct slice *out,
                 uint64_t *position);
    /* Numbers in it are little-endian, for byte_test and its like with `dce`; NULL: no. */
    bool (*little)(const struct app_tx *tx);
    /* It may have come anew when a transaction reaches this step, as headers do with trailers, and
     * is searched once more if again() says so. NULL: never. */
    bool (*again)(const struct app_tx *tx, enum direction direction);
    uint8_t again_at[2];
    /* Checks a content pattern at load time (host in upper case ...); NULL: anything goes. */
    bool (*check)(struct slice pattern, bool nocase, struct err *err);
    uint32_t feature;           /* a rule that uses it turns these on, see app_feature() */
    uint32_t files;             /* enum app_file_feature: likewise */
};

struct app_name { const char *name; int64_t value; };

/* An integer keyword: the framework parses N, <N, >N, N-M, !N, &mask, names. */
struct app_integer {
    const char *name, *alias, *doc;
    uint8_t bits;               /* 8, 16, 32, 64 */
    uint8_t directions;
    uint8_t progress[2];
    bool multi;                 /* several values: any, all, nth */
    bool any_of_many;           /* several values, any will do; no index in the rule */
    bool inclusive;             /* ranges contain their ends */
    bool plain;                 /* one number or name, in quotes or not; no comparison */
    bool lenient;               /* ... and what stands behind the number says nothing */
    const struct app_name *names;       /* {NULL} ended; NULL: numbers only */
    const struct app_name *bit_names;   /* "fin,!comp": bits that are set and not set */
    bool (*get)(struct app_tx *tx, enum direction direction, unsigned index, uint64_t *out);
    uint32_t feature;
};

/* Any other keyword about a transaction. */
struct app_match {
    const char *name, *alias, *doc;
    uint8_t directions;
    uint8_t progress[2];
    bool no_argument;
    bool quotes;                /* may stand in quotes, which are taken off; a `!` stays */
    bool quotes_required;
    size_t arg_size;
    /* Fills arg (zeroed); memory from arena, which lives as long as the rules. */
    int (*parse)(struct text in, void *arg, struct arena *arena, struct err *err);
    bool (*match)(struct app_tx *tx, enum direction direction, const void *arg);
    uint32_t feature;
};

/* --- what is logged ----------------------------------------------------------------------- */

/* One EVE event type of the protocol. */
struct app_log {
    const char *conf_name;      /* under outputs.eve-log.types: "http" */
    const char *event_type;     /* EVE: "http" */
    const char *key;            /* of the object in the record; NULL: log() writes its own keys */
    /* Logged once when progress reaches these in both directions, with the flow's addresses from
     * client to server; or, with each_direction, once a direction when that one is reached,
     * with the addresses as that direction goes; or with those of the packet that led there. */
    uint8_t progress[2];
    bool each_direction;
    bool as_packet;
    bool has_tx_id;             /* the record says which transaction it is of */
    /* Settings of one eve-log instance, made once; NULL when there are none. Freed with free(). */
    void *(*configure)(const struct conf_node *node, struct err *err);
    /* What these settings need of the protocol, see app_buffer.feature; NULL: nothing. */
    uint32_t (*features)(const void *conf);
    /* Writes the members; false: nothing to log after all. direction: for each_direction. */
    bool (*log)(struct json *j, struct app_tx *tx, enum direction direction, const void *conf);
    /* In its place, when a transaction has several records: n from 0 until false. */
    bool (*log_nth)(struct json *j, struct app_tx *tx, unsigned n, const void *conf);
};

enum { APP_CONTENTS_BASE64 = 1, APP_CONTENTS_PRINTABLE = 2 };

/* --- the protocol ------------------------------------------------------------------------- */

/* Shared by threads: relaxed atomics, but for `counted`, which says from the start whether `used`
 * is kept. */
struct app_memory {
    uint64_t used, limit;       /* limit 0: none */
    bool counted;
};

struct app_proto {
    enum app_proto_id id;
    const char *name;           /* EVE app_proto, configuration, counters: "http", "tls" */
    const char *rule_name;      /* in rule headers where that differs: "http1"; NULL: name */
    const char *rule_alias;     /* another name in rule headers: "ikev2" */
    enum app_proto_id also[3];  /* rules for these mean it too: http1 is APP_PROTO_HTTP_ANY */
    /* Another protocol whose flows may turn out to be this one, see app_set_subprotocol(): its
     * state, settings and transactions go on. Recognition does not know this one. */
    enum app_proto_id subprotocol_of;
    uint8_t transports;
    bool off_by_default;
    bool detection_only;        /* no parser (imap) */
    uint8_t first_sender;         /* APP_TS, APP_TC: who must speak first; 0 or both: either */

    const struct app_pattern *patterns;         /* ended by bytes == NULL; may be NULL */
    const struct app_probe *probes;             /* ended by probe == NULL; may be NULL */
    bool expects;                             /* uses app_expect(): each of its connections begins
                                                 * with the first 3 bytes of one of its patterns */

    /* Settings: made once from app-layer.protocols.NAME (NULL when absent), zeroed before. */
    size_t settings_size;
    int (*configure)(const struct conf_node *node, const struct conf_node *root, void *settings,
                     struct err *err);
    void (*settings_free)(void *settings);      /* what hangs off them */
    struct app_memory *(*memory)(const void *settings);    /* what it takes for all flows */
    /* What each thread needs; NULL is fine. */
    void *(*thread_open)(const void *settings, struct counters *counters);
    void (*thread_close)(void *thread_data);
    /* Names of counters of its own: called once, before threads start. */
    void (*register_counters)(void);

    size_t state_size, tx_size;
    /* app_trigger_raw_inspection() when a direction of a transaction is over */
    bool raw_on_tx_end;
    bool single_tx;             /* a flow is one transaction: not counted beside the flow */
    bool inspect_both_dirs;        /* what one side sends, the other side's rules see at once */
    uint32_t tx_limit;          /* default of max-tx; 0: 256 open ones */
    uint8_t too_many_tx_event;  /* 0: none */
    int64_t stream_depth;       /* default; -1: none, 0: as stream.reassembly.depth says */
    bool (*open)(struct app_flow *af);                                  /* may be NULL */
    void (*close)(struct app_flow *af);
    enum parse_status (*parse)(struct app_flow *af, struct app_input *in);
    bool handles_gaps;          /* else a gap stops the parser */
    uint32_t buffer_limit;        /* most bytes kept unconsumed; 0: 128 KiB; beyond: parser off */
    void (*tx_close)(struct app_tx *tx);
    /* Alerts show so much of the stream in front of what rules have had; NULL: nothing. */
    uint32_t (*alert_lookbehind)(const struct app_flow *af, enum direction direction);
    /* A packet has been parsed, inspected and logged, and there are transactions: time to give
     * back what the flow does not need while it waits. */
    void (*rest)(struct app_flow *af);
    /* A packet comes soon, the state and the newest transaction (NULL: none) are in the caches:
     * call for what hangs off them. */
    void (*prefetch)(const struct app_flow *af);
    /* Once all bytes of a flow are in: close what is open. */
    void (*finish)(struct app_flow *af);

    uint8_t progress_done[2];
    const struct app_name *progress_names[2];   /* hooks: "request_line"; NULL-named end */
    const struct app_name *events;              /* "malformed_data", ids from 1; {NULL} ended */
    bool events_in_capitals;                    /* so EVE writes them; rules in any case */
    const char *const *frames;                  /* frame type names, NULL-ended; id = index */
    const struct app_buffer *const *buffers;    /* NULL-ended lists */
    const struct app_integer *const *integers;
    const struct app_match *const *matches;
    const struct app_log *const *logs;
    /* Members that an alert record gets of the transaction ("http": {...}). */
    void (*alert_metadata)(struct json *j, struct app_tx *tx);
    /* Alerts may carry contents, too: asked for by this key of the log and key-printable. Then
     * in place of alert_metadata. */
    const char *alert_contents_key;     /* "websocket-payload"; NULL: none */
    void (*alert_contents)(struct json *j, struct app_tx *tx, unsigned what);
    uint32_t alert_contents_features;   /* what that turns on, see app_buffer.feature */
    bool has_files;
};

/* --- the framework, for the detect module, detect/ and output/ ---------------------------- */

const struct app_proto *app_proto_by_id(enum app_proto_id id);          /* NULL: none */
const struct app_proto *app_proto_by_name(const char *name);
/* As rule headers and app-layer-protocol name them; "http" is APP_PROTO_HTTP_ANY. */
bool app_proto_by_rule_name(struct text name, enum app_proto_id *out);
const char *app_proto_name(enum app_proto_id id);       /* "http", "failed", "unknown" as in EVE */
/* The first protocol that a rule for `rule_proto` means: http1 for APP_PROTO_HTTP_ANY. */
const struct app_proto *app_proto_of_rule(enum app_proto_id rule_proto);
/* Is this flow's protocol meant by a rule header or keyword that names `rule_proto`? http stands
 * for http1 and http2, dns also for doh2 ... */
bool app_proto_matches(enum app_proto_id rule_proto, enum app_proto_id found);

/* Settings of all protocols and the detection tables; read-only but for app_require(). */
struct app_conf;
struct app_conf *app_conf_new(const struct conf_node *root, bool is_inline, struct err *err);
/* Is a flow bypassed once what it says is encrypted? NULL-safe. */
bool app_bypasses(const struct app_conf *conf);
void app_conf_free(struct app_conf *conf);
/* By every thread that reads a file which several inspect, for each packet before it moves on; for
 * TCP that is not decoded, its payload: true when the opening is worth noting. `anywhere`: flows of
 * one hash may be on several threads. */
struct expectation_opening {
    struct ip src, dst;
    uint32_t flow_hash;
    uint64_t order;
    bool anywhere;
};
void expectation_parent_packet(const struct app_conf *conf, const struct packet *p, bool anywhere);
bool expectation_parent_is_likely(const struct app_conf *conf, const uint8_t *payload,
                                  uint32_t len);
void expectation_parent_add(const struct app_conf *conf, const struct expectation_opening *opening);
/* With the packet that ends its flow, by the thread that inspects it, in its turn. */
void expectation_parent_remove(const struct app_conf *conf, const struct packet *p);
bool app_proto_enabled(const struct app_conf *conf, enum app_proto_id id);  /* with its parser */
bool app_proto_is_detected(const struct app_conf *conf, enum app_proto_id id);   /* at least */
/* Of those that a rule for `rule_proto` means, one is. */
bool app_proto_any_is_detected(const struct app_conf *conf, enum app_proto_id rule_proto);
/* What it takes for all flows together; NULL: that is not counted. */
struct app_memory *app_proto_memory(const struct app_conf *conf, enum app_proto_id id);
struct app_memory *app_ranges_limit(const struct app_conf *conf);  /* files that come in ranges */
struct app_memory *app_decoders_limit(const struct app_conf *conf);    /* of bodies, unpacked */
const void *app_proto_settings(const struct app_conf *conf, enum app_proto_id id);

/* What rules and outputs want of the protocols. Each ruleset and output collects its own and
 * adds it before threads see it; wants only grow. */
enum app_file_feature {
    APP_FILE_TRACK  = 1u << 0,
    APP_FILE_MD5    = 1u << 1,
    APP_FILE_SHA1   = 1u << 2,
    APP_FILE_SHA256 = 1u << 3,
    APP_FILE_MAGIC  = 1u << 4,
    APP_FILE_STORE  = 1u << 5,          /* content is kept until it is written, see app_file */
    APP_FILE_STORE_ALL = 1u << 6,  /* with STORE: each file has store_requested from the start */
    APP_FILE_CONTENT = 1u << 7,         /* rules look into files */
};
struct app_required_features {
    uint32_t frames[APP_PROTO_COUNT];   /* bit per frame type */
    uint32_t features[APP_PROTO_COUNT];
    uint32_t files;                     /* enum app_file_feature */
    /* Directions of files whose content rules of this protocol look into: elsewhere it need not
     * outlive its packet. */
    uint8_t file_content[APP_PROTO_COUNT];
};
void app_require(const struct app_conf *conf, const struct app_required_features *more);
void app_require_files(const struct app_conf *conf, uint32_t what);
/* "md5", "sha1", "sha256"; false: no such hash. */
bool app_require_file_hash(const struct app_conf *conf, const char *name);

/* What detect and output do for the framework; all may be NULL. */
struct app_hooks {
    bool (*tx_inspected)(const struct app_tx *tx);      /* as far as its progress goes */
    void (*tx_released)(struct app_tx *tx);                 /* free what detect hung on it */
    void (*file_released)(struct app_file *file);           /* its file->store is not NULL */
};
struct app_thread *app_thread_new(const struct app_conf *conf, struct counters *counters,
                                  const struct app_hooks *hooks);
void app_thread_free(struct app_thread *at);            /* after all its flows */

/* One packet: its chunks (TCP) or payload (UDP), and the end of its flow, to detection and
 * parsers. Sets flow->app_proto and friends. Call it before anything else looks at the packet's
 * direction: when detection finds client and server exchanged it turns the flow, the packet and
 * its chunks, and all later packets that the stream module had judged before it knew. */
void app_packet(struct app_thread *at, struct packet *p);
/* With this packet a parser has stopped for good, or another protocol takes over: what there is
 * so far is to be inspected and logged first. */
bool app_wants_detectlog_flush(const struct packet *p);
bool app_is_changing(const struct flow *flow);          /* ... for that reason */
/* After rules and logs, which are taken to have logged by now what is done: transactions that
 * are complete, inspected and without open files die; frames and file content that nobody needs
 * any more go. */
void app_cleanup(struct app_thread *at, struct packet *p);
/* A packet of this flow comes soon: four steps, each once what the one before called for has
 * come. af may be NULL. */
void app_prefetch_flow(const struct app_flow *af);
void app_prefetch_tx(const struct app_flow *af);
void app_prefetch_parser(const struct app_flow *af);
void app_prefetch_files(const struct app_flow *af);
/* All of the flow's application state, with flow->app set to NULL. By the inspecting thread,
 * once the packet that ends the flow is logged. */
void app_flow_free(struct flow *flow);

/* This direction of the transaction is over: done, or nothing more can come. */
static inline bool app_tx_done(const struct app_tx *tx, enum direction d,
                               const struct app_proto *proto)
{
    return tx->unidirectional[d] || tx->progress[d] >= proto->progress_done[d] ||
           tx->flow->disrupted[d] || tx->flow->end[d];
}

/* Events not about one transaction (applayer_mismatch_protocol_both_directions ...), set on the
 * flow for this packet: EVE anomaly, in capitals, and app-layer-event:applayer_X. Gone at
 * app_cleanup(). */
extern const struct app_name app_layer_events[];        /* names and ids; NULL-named end */
bool app_flow_has_event(const struct app_flow *af, unsigned event);

/* Frames are there for rules and logs until a packet of their direction has passed behind their
 * last byte, those of a datagram as long as it is. */
struct app_frame_view {
    uint32_t id;
    unsigned type;
    uint64_t offset, tx_id;
    int64_t len;
    uint64_t inspected;         /* bytes of it that rules have had */
    uint8_t logged;             /* outputs', a bit each */
    bool over;                  /* all its bytes have come */
    enum direction direction;
};
bool app_frames_required(const struct app_flow *af);     /* of any protocol, by rules or outputs */
bool app_frames_each(const struct app_flow *af, enum direction direction,
                     bool (*visit)(const struct app_frame_view *frame, void *arg), void *arg);
/* Bytes of the stream that the parser has not taken yet. */
uint32_t app_untaken(const struct app_flow *af, enum direction direction);
bool app_frames_any(const struct app_flow *af, enum direction direction);
bool app_frame_find(const struct app_flow *af, enum direction direction, uint32_t frame,
                    struct app_frame_view *out);
void app_frame_set_inspected(struct app_flow *af, enum direction direction, uint32_t frame,
                             uint64_t bytes);
void app_frame_set_logged(struct app_flow *af, enum direction direction, uint32_t frame,
                          uint8_t bits);
/* What is kept of the stream for frames: piece `index`, between two gaps. False: no more. */
bool app_frames_part(const struct app_flow *af, enum direction direction, unsigned index,
                      struct slice *data, uint64_t *offset);
/* Up to where data have come, and up to where they have been parsed. */
uint64_t app_frames_edge(const struct app_flow *af, enum direction direction, bool parsed);

#endif
