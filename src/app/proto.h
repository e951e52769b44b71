/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto.h - what an application protocol declares.
 *
 * A protocol is one folder below app/proto/ and one line in app/list.h. Its `struct app_proto`
 * says how it is detected, parsed, inspected and logged; detect/ and output/ learn of it from there
 * alone. */
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

/* --- rules -------------------------------------------------------------------------------- */

/* A letter behind a regular expression that says in which buffer it is searched for. */
struct app_pcre_letter { char letter; const char *buffer; };
/* What `requires: feature NAME` of a rule asks: there unless this key of the settings is off. */
struct app_optional_feature { const char *name, *key; };

/* --- outputs and control ------------------------------------------------------------------ */

/* A limit on memory that can be changed while packets flow. */
struct app_memcap {
    const char *name;           /* on the control socket: "ftp" */
    struct app_memory *(*memory)(const struct app_conf *conf);
    const char *used_counter, *limit_counter;   /* NULL: none */
};

/* --- the protocol ------------------------------------------------------------------------- */

struct app_proto {
    enum app_proto_id id;
    const char *name;           /* EVE app_proto, configuration, counters: "http", "tls" */
    const char *rule_name;      /* in rule headers where that differs: "http1"; NULL: name */
    const char *rule_alias;     /* another name in rule headers: "ikev2" */
    enum app_proto_id also[3];  /* rules for these mean it too: http1 is APP_PROTO_ANY_http */
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
    const char *settings_keys;  /* keys of its own there: "max-names request-flood" */
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

    /* Its flows become encrypted: with encryption-handling: bypass in its settings they are left
     * to the capture from there on. */
    bool encrypts;
    /* memcap, decompression-window-limit and byterange in its settings are those of the bodies of
     * all protocols. */
    bool shares_limits;
    /* Event of a flow in which it was to follow another protocol, and something else came. */
    const char *absent_event;

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

    /* --- rules: also app/rules.h --- */
    const struct app_reports *reports;          /* NULL: as all else says */
    /* Rules that use its content modifiers (app_buffer.legacy) or these letters are about it, also
     * where others have the same buffers. */
    bool binds_modifiers;
    const struct app_pcre_letter *pcre_letters; /* ended by 0 */
    const char *byte_order_word;    /* in byte_test and its like: in the order of its messages */
    const struct app_optional_feature *optional_features;       /* {NULL} ended */

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
    const struct app_memcap *memcaps;   /* {NULL} ended */
    /* Bodies by direction, for outputs that want them as they come (app_buffer.retained). */
    const struct app_buffer *const *bodies;
    /* The address that the header of this name says the client has: the first of its list, or (not
     * `first`) the last. Into out, with a NUL. NULL: it has no such headers. */
    bool (*forwarded_for)(struct app_tx *tx, const char *header, bool first,
                          char out[IP_TEXT_SIZE]);
    uint8_t file_directions;            /* those in which files go */
    enum app_proto_id files_by;         /* its files come on connections of this one */
    bool unnamed_files;                 /* rules about it alone cannot use file.name */
    /* In frame records its transactions count from 1. */
    bool frames_count_from_one;
    bool marks_tx;              /* calls app_tx_mark() for what it changes; else all open
                                 * transactions are looked at with each packet */
};

/* --- the list --------------------------------------------------------------------------------- */

const struct app_proto *app_proto_by_id(enum app_proto_id id);          /* NULL: none */
const struct app_proto *app_proto_by_name(const char *name);
static inline bool app_proto_is_group(enum app_proto_id id)
{
    return id > APP_PROTO_FAILED && id < APP_PROTO_FIRST;
}
/* As rule headers and app-layer-protocol name them; "http" is the group APP_PROTO_ANY_http. */
bool app_proto_by_rule_name(struct text name, enum app_proto_id *out);
const char *app_proto_name(enum app_proto_id id);       /* "http", "failed", "unknown" as in EVE */
const char *app_proto_rule_name(const struct app_proto *proto);
/* The first protocol that a rule for `rule_proto` means: of a group the one listed first. */
const struct app_proto *app_proto_of_rule(enum app_proto_id rule_proto);
/* Is this flow's protocol meant by a rule header or keyword that names `rule_proto`? http stands
 * for http1 and http2, dns also for doh2 ... */
bool app_proto_matches(enum app_proto_id rule_proto, enum app_proto_id found);

/* This direction of the transaction is over: done, or nothing more can come. */
static inline bool app_tx_done(const struct app_tx *tx, enum direction d,
                               const struct app_proto *proto)
{
    return tx->unidirectional[d] || tx->progress[d] >= proto->progress_done[d] ||
           tx->flow->disrupted[d] || tx->flow->end[d];
}

#endif
