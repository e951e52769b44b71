/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto.h - the declaration of an application protocol.
 *
 * A protocol is one directory below app/proto/ and one line in app/list.h. Its `struct app_proto`
 * declares how it is detected, parsed, inspected and logged; detect/ and output/ have no other
 * source. */
#ifndef APP_PROTO_H
#define APP_PROTO_H

#include "app/parser.h"
#include "app/rules.h"
#include "base/report/json.h"
#include "conf/conf.h"

struct app_buffer;
struct app_conf;
struct app_integer;
struct app_log;
struct app_match;
struct app_memory;
struct app_name;
struct app_reports;
struct counters;

#define APP_TCP 1u              /* transport sets */
#define APP_UDP 2u

/* --- detection of the protocol --------------------------------------------------------------- */

enum app_probe_result { APP_PROBE_NO, APP_PROBE_YES, APP_PROBE_MORE, APP_PROBE_YES_REVERSED };
/* `direction` of the bytes. YES_REVERSED: it is this protocol, but the other side sent them. */
typedef enum app_probe_result (*app_probe_fn)(struct bytes in, enum direction direction,
                                              const struct flow *flow);

struct app_pattern {
    uint8_t transport;          /* APP_TCP | APP_UDP */
    uint8_t directions;         /* APP_TS, APP_TC: the senders it applies to */
    const char *bytes;
    uint8_t len;                /* 0: strlen */
    uint16_t offset, depth;     /* as for content: within bytes [offset, depth); 0: offset + len */
    bool nocase;
    app_probe_fn confirm;       /* must agree; NULL: the pattern is enough */
    uint16_t confirm_min, confirm_max;  /* bytes it needs; beyond max MORE means NO; 0: no bound */
};

struct app_probe {
    uint8_t transport;
    uint8_t directions;         /* of the bytes that it examines */
    const char *ports;          /* "139,445": default detection-ports.dp; NULL: only when the
                                 * protocol is expected or the other side was detected as this
                                 * one */
    const char *source_ports;   /* default detection-ports.sp; NULL: none */
    uint16_t min, max;          /* bytes to request */
    uint16_t max_other;         /* bytes after which the direction that it does not examine no
                                 * longer waits for it; 0: same as `max` */
    app_probe_fn probe;
};

/* --- rules -------------------------------------------------------------------------------- */

/* A letter after a regular expression that selects the buffer to search. */
struct app_pcre_letter { char letter; const char *buffer; };
/* `requires: feature NAME` of a rule: the feature is there unless this settings key is off. */
struct app_optional_feature { const char *name, *key; };

/* --- outputs and control ------------------------------------------------------------------ */

/* A limit on memory that can be changed while packets flow. */
struct app_memcap {
    const char *name;           /* on the control socket: "ftp" */
    struct app_memory *(*memory)(const struct app_conf *conf);
    const char *used_counter, *limit_counter;   /* NULL: none */
};

/* --- hand-over to another process --------------------------------------------------------- */

/* What its parser has heard of an unfinished exchange is kept, up to `limit` bytes, for the parser
 * of a process that takes over (core/resume.c). */
struct app_handover_ops {
    uint32_t limit;
    /* There is no transaction. True if a fresh parser could go on here. NULL: never, only all bytes
     * of the flow bring it into the same state. */
    bool (*is_between)(const struct app_flow *af);
    /* Adds by app_prelude_add() what a fresh parser must hear to go on here; NULL: nothing. It is
     * also called within an exchange that was not kept. */
    void (*prelude)(const struct app_flow *af, struct buf *out);
    /* Gets what app_prelude_add_state() has added, which may be anything; NULL: bytes suffice. */
    void (*adopt)(struct app_flow *af, struct bytes state);
};
void app_prelude_add(struct buf *out, enum direction d, const void *data, uint32_t len);
void app_prelude_add_state(struct buf *out, struct slice state);

/* --- the protocol ------------------------------------------------------------------------- */

struct app_proto {
    enum app_proto_id id;
    const char *name;           /* EVE app_proto, configuration, counters: "http", "tls" */
    const char *rule_name;      /* in rule headers where that differs: "http1"; NULL: name */
    const char *rule_alias;     /* another name in rule headers: "ikev2" */
    enum app_proto_id also[3];  /* rules for these cover it too: http1 is APP_PROTO_ANY_http */
    /* The protocol whose flows may turn out to be this one, see app_set_subprotocol(). They keep
     * its state, settings and transactions. Protocol detection does not look for this one. */
    enum app_proto_id subprotocol_of;
    uint8_t transports;
    bool off_by_default;
    bool since_suricata_9;      /* off by default unless that is followed (conf/compatibility.h) */
    bool detection_only;        /* no parser (imap) */
    uint8_t first_sender;         /* APP_TS, APP_TC: the side that must send first; 0 or both:
                                   * either */

    const struct app_pattern *patterns;         /* ended by bytes == NULL; may be NULL */
    const struct app_probe *probes;             /* ended by probe == NULL; may be NULL */
    bool expects;                             /* uses app_expect(): each of its connections begins
                                               * with the first 3 bytes of one of its patterns */

    /* Settings: created once from app-layer.protocols.NAME (NULL when absent); zeroed before. */
    const char *settings_keys;  /* its own keys there: "max-names request-flood" */
    size_t settings_size;
    int (*configure)(const struct conf_node *node, const struct conf_node *root, void *settings,
                     struct err *err);
    void (*settings_free)(void *settings);      /* frees what they point to */
    struct app_memory *(*memory)(const void *settings);    /* memory of all its flows */
    /* State of the protocol in each thread; may be NULL. */
    void *(*thread_open)(const void *settings, struct counters *counters);
    void (*thread_close)(void *thread_data);
    /* Registers the protocol's own counters. Called once, before threads start. */
    void (*register_counters)(void);

    /* Its flows may become encrypted. With encryption-handling: bypass in its settings, capture
     * then bypasses the rest of the flow. */
    bool encrypts;
    /* memcap, decompression-window-limit and byterange in its settings apply to the bodies of all
     * protocols. */
    bool shares_limits;
    /* Event for a flow that should change to another protocol, but has other data. */
    const char *absent_event;

    size_t state_size, tx_size;
    /* call app_trigger_raw_inspection() when a direction of a transaction is complete */
    bool raw_on_tx_end;
    bool single_tx;             /* a flow is one transaction, which is not counted separately */
    bool inspect_both_dirs;     /* rules of both directions inspect data of either side at once */
    uint32_t tx_limit;          /* default of max-tx; 0: 256 open ones */
    uint8_t too_many_tx_event;  /* 0: none */
    int64_t stream_depth;       /* default; -1: none, 0: stream.reassembly.depth */
    bool (*open)(struct app_flow *af);                                  /* may be NULL */
    void (*close)(struct app_flow *af);
    enum parse_status (*parse)(struct app_flow *af, struct app_input *in);
    bool handles_gaps;          /* else a gap stops the parser */
    uint32_t buffer_limit;      /* bytes kept unconsumed; 0: 128 KiB; beyond it the parser stops */
    void (*tx_close)(struct app_tx *tx);
    /* How many bytes before the inspected data alerts show, and rules on bodies see; NULL: none. */
    uint32_t (*lookbehind)(const struct app_flow *af, enum direction direction);
    /* Called when a packet has been parsed, inspected and logged and there are transactions. Frees
     * what the flow does not need until the next packet. */
    void (*rest)(struct app_flow *af);
    /* Called shortly before a packet is parsed; the state and the newest transaction (NULL: none)
     * are in the caches. Prefetches what they point to. */
    void (*prefetch)(const struct app_flow *af);
    /* Called once all bytes of a flow have been parsed: closes what is open. */
    void (*finish)(struct app_flow *af);
    /* Called when the sender has reset the connection. Data may follow: the host may refuse it. */
    void (*reset)(struct app_flow *af, enum direction sender);
    const struct app_handover_ops *handover;    /* NULL: another process begins with the next
                                                 * message that it recognises */

    /* --- rules: also app/rules.h --- */
    const struct app_reports *reports;          /* NULL: as the rest of the declaration says */
    /* Rules with its content modifiers (app_buffer.legacy) or these letters belong to this
     * protocol, also where other protocols have the same buffers. */
    bool binds_modifiers;
    const struct app_pcre_letter *pcre_letters; /* ended by 0 */
    const char *byte_order_word;    /* in byte_test and the like: its messages' byte order */
    const struct app_optional_feature *optional_features;       /* {NULL} ended */

    uint8_t progress_done[2];
    const struct app_name *progress_names[2];   /* hooks: "request_line"; NULL-named end */
    uint8_t steps_of_nine;          /* a bit per step that Suricata 8 counts to the one before */
    const struct app_tx_kind *tx_kinds;         /* NULL-named end; NULL: no kinds */
    unsigned (*tx_kind)(const struct app_tx *tx);   /* index in tx_kinds */
    const struct app_name *events;              /* "malformed_data", ids from 1; {NULL} ended */
    bool events_in_capitals;                    /* in EVE; rules may use any case */
    const char *const *frames;                  /* frame type names, NULL-ended; id = index */
    const struct app_buffer *const *buffers;    /* NULL-ended lists */
    const struct app_integer *const *integers;
    const struct app_match *const *matches;
    const struct app_log *const *logs;
    /* Writes the members that an alert record shows of the transaction ("http": {...}). */
    void (*alert_metadata)(struct json *j, struct app_tx *tx);
    /* Used instead of alert_metadata when this key of the log and key-printable ask for contents in
     * alerts. */
    const char *alert_contents_key;     /* "websocket-payload"; NULL: none */
    void (*alert_contents)(struct json *j, struct app_tx *tx, unsigned what);
    uint32_t alert_contents_features;   /* features it requires, see app_buffer.feature */
    const struct app_memcap *memcaps;   /* {NULL} ended */
    /* Bodies by direction, for outputs that read them as they arrive (app_buffer.retained). */
    const struct app_buffer *const *bodies;
    /* The client's address in the header of this name: the first of its list, or the last unless
     * `first`. Writes it into out, NUL-terminated. NULL: the protocol has no such headers. */
    bool (*forwarded_for)(struct app_tx *tx, const char *header, bool first,
                          char out[IP_TEXT_SIZE]);
    uint8_t file_directions;            /* the directions that carry files */
    enum app_proto_id files_by;         /* its files are transferred on connections of this one */
    bool unnamed_files;                 /* rules for this protocol alone cannot use file.name */
    bool frames_count_from_one;         /* frame records count its transactions from 1 */
    bool marks_tx;              /* calls app_tx_mark() for what it changes; without it rules, logs
                                 * and cleanup visit all open transactions with each packet */
};

/* --- the list --------------------------------------------------------------------------------- */

/* Registers the protocols of app/list.h. Each program calls it first; a second call changes
 * nothing. */
void app_protos_init(void);
void app_proto_put(enum app_proto_id id, const struct app_proto *proto);        /* for it */
const struct app_proto *app_proto_by_id(enum app_proto_id id);          /* NULL: none */
const struct app_proto *app_proto_by_name(const char *name);
/* One past the last protocol: numbers from APP_PROTO_FIRST on have no holes. */
enum app_proto_id app_proto_end(void);
/* Adds a protocol at the start, before settings and rules are read; sets its id. It is never freed.
 * -1: the name is taken, or there are too many. */
int app_proto_register(struct app_proto *proto, struct err *err);
static inline bool app_proto_is_group(enum app_proto_id id)
{
    return id > APP_PROTO_FAILED && id < APP_PROTO_FIRST;
}
/* Names as in rule headers and app-layer-protocol; "http" is the group APP_PROTO_ANY_http. */
bool app_proto_by_rule_name(struct text name, enum app_proto_id *out);
const char *app_proto_name(enum app_proto_id id);       /* "http", "failed", "unknown" as in EVE */
const char *app_proto_rule_name(const struct app_proto *proto);
/* The first protocol that a rule for `rule_proto` covers; for a group, the one listed first. */
const struct app_proto *app_proto_of_rule(enum app_proto_id rule_proto);
/* True if a rule header or keyword that names `rule_proto` covers this flow's protocol: http covers
 * http1 and http2, dns also doh2, and so on. */
bool app_proto_matches(enum app_proto_id rule_proto, enum app_proto_id found);

/* True if a rule that names `rule_proto` may ask for files. DCERPC has none, although SMB, which
 * such a rule covers, has. */
bool app_proto_has_files(enum app_proto_id rule_proto);

/* True if this direction of the transaction is over: finished, or no more data can come. */
static inline bool app_tx_done(const struct app_tx *tx, enum direction d,
                               const struct app_proto *proto)
{
    return tx->unidirectional[d] || tx->progress[d] >= proto->progress_done[d] ||
           tx->flow->disrupted[d] ||
           (tx->flow->end[d] && (!tx->awaits_other || tx->flow->end[OTHER_DIRECTION(d)]));
}

#endif
