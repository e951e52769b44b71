/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ids/plugin.h - what a plugin of ids uses: a shared object that adds to the engine at its start.
 *
 * A plugin exports one symbol, `ids_plugin`, by IDS_PLUGIN(). Its load() registers what it adds
 * with the add_... functions, before rules and outputs are read. The engine's own structs are
 * opaque: a plugin reads them by the functions of struct ids_api. What it registers must stay
 * valid; the engine never unloads a plugin.
 *
 * IDS_PLUGIN_ABI grows with each change that an older plugin would notice. The engine refuses a
 * plugin of another number. doc/plugins.md is the guide. */
#ifndef IDS_PLUGIN_H
#define IDS_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define IDS_PLUGIN_ABI 1

struct ids_engine;              /* the engine, while plugins load */
struct ids_error;               /* an error at load time, see ids_api.fail */
struct ids_settings;            /* a section of the configuration; NULL has no values */
struct ids_packet;              /* these three: valid during the call that gets them */
struct ids_flow;
struct ids_line;                /* a line that a logger writes */
struct ids_json;                /* an object in a record */
struct ids_app;                 /* a flow's application layer, for its parser */

struct ids_slice { const uint8_t *data; uint32_t len; };        /* borrowed */
/* The bounds-checked cursor over bytes of the network: a read past the end gives 0 and sets failed
 * for good, so read all fields, then look once. */
struct ids_bytes { const uint8_t *next, *end; bool failed; };

static inline const uint8_t *ids_take(struct ids_bytes *b, size_t n)        /* NULL: too short */
{
    const uint8_t *at = b->next;

    b->failed |= (size_t)(b->end - at) < n;
    if (b->failed)
        return NULL;
    b->next += n;
    return at;
}
/* A number of 1 to 8 bytes; the first is the most significant one. */
static inline uint64_t ids_number(struct ids_bytes *b, size_t bytes)
{
    const uint8_t *at = ids_take(b, bytes);
    uint64_t n = 0;

    for (size_t i = 0; at != NULL && i < bytes; i++)
        n = n << 8 | at[i];
    return n;
}
/* A line without its LF or CRLF. False: there is no LF yet; nothing is taken. */
static inline bool ids_line(struct ids_bytes *b, struct ids_slice *out)
{
    size_t left = (size_t)(b->end - b->next);
    const uint8_t *at = b->next, *lf = left > 0 ? (const uint8_t *)memchr(at, '\n', left) : NULL;

    if (b->failed || lf == NULL)
        return false;
    b->next = lf + 1;
    *out = (struct ids_slice){ at, (uint32_t)(lf - at - (lf > at && lf[-1] == '\r')) };
    return true;
}

enum ids_direction { IDS_TO_SERVER, IDS_TO_CLIENT };

/* Addresses are in network byte order, IPv4 in the first four bytes; numbers in that of the
 * machine. Ports of ICMP: type and code. */
struct ids_ends {
    uint8_t ip_version;         /* 4 or 6; 0: no IP */
    uint8_t proto;              /* of IP: 6, 17 */
    uint8_t src[16], dst[16];
    uint16_t src_port, dst_port;
};
struct ids_flow_counts {
    uint64_t start_us, last_us, id;
    uint64_t packets[2], bytes[2];      /* by direction */
};

/* --- EVE file types: destinations of records ------------------------------------------------ */

struct ids_file_type {
    const char *name;           /* `filetype:` of an output */
    /* settings: of the output. path: its `filename`, below the log directory. NULL after fail(). */
    void *(*open)(const struct ids_settings *settings, const char *path, struct ids_error *error);
    /* Entire records, each with a line feed at its end. One call at a time, from any thread. In a
     * live capture the engine has a queue before it. Returns how many records are lost. */
    uint64_t (*write)(void *self, const void *records, size_t len);
    void (*rotate)(void *self);         /* logs are rotated; NULL: nothing to do */
    void (*close)(void *self);
};

/* --- rules: keywords and sticky buffers of packets ------------------------------------------- */

struct ids_value { const char *text; size_t len; };    /* not ended by NUL */

/* match() runs on packet threads, several at once: it takes no lock, calls no allocator and writes
 * nothing that others read. */
struct ids_keyword {
    const char *name, *doc;
    bool no_argument;
    bool negatable;             /* "!" before the argument inverts match() */
    /* The same for all packets of a flow once it is true: rules on streams and transactions may
     * have it. */
    bool of_flow;
    size_t argument_size;       /* of the parsed argument, zeroed before; the rules own it */
    int (*parse)(struct ids_value value, void *argument, struct ids_error *error);     /* or NULL */
    bool (*match)(const struct ids_packet *packet, const void *argument);
    void (*free)(void *argument);       /* frees what it points to; NULL: nothing */
};

/* A sticky buffer. get() returns false where a packet has none; the bytes stay as long as the
 * packet. */
struct ids_packet_buffer {
    const char *name, *doc;
    bool (*get)(const struct ids_packet *packet, struct ids_slice *out);
};

/* --- application protocols ----------------------------------------------------------------- */

enum { IDS_TCP = 1, IDS_UDP = 2 };              /* transports */
enum { IDS_TS = 1, IDS_TC = 2, IDS_BOTH = 3 };  /* directions: to server, to client */
enum ids_probe { IDS_NO, IDS_YES, IDS_MORE };   /* MORE: these bytes do not tell yet */
enum ids_parse {
    IDS_PARSED,                 /* what is left is parsed at once, if anything was taken */
    IDS_NEED_MORE,              /* called again when there are more bytes */
    IDS_STOP,                   /* this is not the protocol: the parser ends for the flow */
};

/* The bytes of one direction that no call has taken yet, or one datagram. parse() moves bytes.next
 * behind what it takes; a cursor that failed takes nothing. Segments mean nothing: a message may
 * come in any parts. */
struct ids_input {
    struct ids_bytes bytes;
    uint32_t need;              /* out, with NEED_MORE: so many bytes are left over; 0: any more */
    uint32_t gap;               /* bytes that are missing; then there are none to parse */
    enum ids_direction direction;
    bool end;                   /* nothing follows in this direction */
    uint64_t now_us;
};

/* What rules see of a transaction, once it is done in a direction of the buffer. get() returns
 * false when there is none. many: index counts from 0 until false; else it is 0. */
struct ids_buffer {
    const char *name, *doc;
    unsigned directions;
    bool many;
    bool (*get)(const void *tx, enum ids_direction direction, unsigned index,
                struct ids_slice *out);
};
struct ids_number {
    const char *name, *doc;
    unsigned directions, bits;  /* bits: 8, 16, 32, 64 */
    bool (*get)(const void *tx, enum ids_direction direction, uint64_t *out);
};
struct ids_pattern { unsigned transports, directions; const char *bytes; uint16_t offset; };

/* `state` and `tx` are the plugin's own memory, zeroed at first: state of a flow, tx of a
 * transaction. Lists end with an element of zeros. */
struct ids_protocol {
    const char *name;           /* in rules, EVE and the configuration */
    unsigned transports;
    const struct ids_pattern *patterns;         /* detection by first bytes, on any port; or NULL */
    const char *ports;          /* "4747,5000:5010": where probe() looks; NULL: nowhere */
    enum ids_probe (*probe)(struct ids_bytes bytes, enum ids_direction direction);
    uint16_t probe_max;         /* beyond so many bytes MORE means no */
    size_t state_size, tx_size;
    enum ids_parse (*parse)(struct ids_app *app, void *state, struct ids_input *in);
    bool handles_gaps;          /* else a gap ends the parser */
    void (*state_close)(void *state);           /* frees what they point to; NULL: nothing */
    void (*tx_close)(void *tx);
    const char *const *events;  /* "app-layer-event:NAME.EVENT"; the first is number 1 */
    const struct ids_buffer *buffers;
    const struct ids_number *numbers;
    /* Writes the members of the object NAME, for its record and for alerts. False: nothing. */
    bool (*log)(const void *tx, struct ids_json *json);
};

/* --- loggers: outputs beside eve-log ------------------------------------------------------- */

struct ids_alert {
    uint32_t gid, sid, rev;
    uint8_t priority;
    const char *message, *category;     /* NULL: none */
    bool is_dropped;
};

/* An entry of `outputs:`. Its lines go where `filename` and `filetype` of the entry say. A call
 * that prints nothing writes no line. Packet threads call it, several at once. */
struct ids_logger {
    const char *name, *filename;        /* filename: where the configuration has none */
    void *(*open)(const struct ids_settings *settings, struct ids_error *error);
    void (*close)(void *self);
    void (*alert)(void *self, struct ids_line *line, const struct ids_packet *packet,
                  const struct ids_alert *alert);
    void (*packet)(void *self, struct ids_line *line, const struct ids_packet *packet);
    void (*flow_end)(void *self, struct ids_line *line, const struct ids_flow *flow);
};

/* --- the engine's functions ------------------------------------------------------------------ */

struct ids_api {
    /* In load(): 0, or -1 when the engine refuses it, which ends the start with the reason. */
    int (*add_file_type)(struct ids_engine *engine, const struct ids_file_type *type);

    int (*add_keyword)(struct ids_engine *engine, const struct ids_keyword *keyword);
    int (*add_packet_buffer)(struct ids_engine *engine, const struct ids_packet_buffer *buffer);
    int (*add_protocol)(struct ids_engine *engine, const struct ids_protocol *protocol);
    int (*add_logger)(struct ids_engine *engine, const struct ids_logger *logger);
    /* A key that the plugin reads, such as "outputs.eve-log.mine.depth"; others are reported as
     * unknown. "*" as the last name: any key. */
    int (*add_key)(struct ids_engine *engine, const char *path);

    /* Sets the reason why load(), open() or parse() fails. Returns -1. */
    int (*fail)(struct ids_error *error, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
    struct ids_error *(*error)(struct ids_engine *engine);      /* of load() */

    /* The whole configuration, in load(); and values by dotted paths. */
    const struct ids_settings *(*settings)(const struct ids_engine *engine);
    const char *(*string)(const struct ids_settings *settings, const char *path,
                          const char *otherwise);
    uint64_t (*number)(const struct ids_settings *settings, const char *path, uint64_t otherwise);
    bool (*yes)(const struct ids_settings *settings, const char *path, bool otherwise);

    /* Packets. A part that a packet lacks is empty. */
    struct ids_slice (*frame)(const struct ids_packet *packet);
    struct ids_slice (*network)(const struct ids_packet *packet);       /* from the IP header on */
    struct ids_slice (*payload)(const struct ids_packet *packet);
    uint64_t (*time_us)(const struct ids_packet *packet);               /* since 1970 */
    void (*packet_ends)(const struct ids_packet *packet, struct ids_ends *out);
    enum ids_direction (*direction)(const struct ids_packet *packet);
    /* Flows. NULL: the packet has none. */
    const struct ids_flow *(*flow)(const struct ids_packet *packet);
    void (*flow_ends)(const struct ids_flow *flow, struct ids_ends *out);       /* client: src */
    void (*flow_counts)(const struct ids_flow *flow, struct ids_flow_counts *out);
    const char *(*app_proto)(const struct ids_flow *flow);              /* "http", "unknown" */

    /* Parsers. tx: what tx_new() and tx_by_key() returned, in this call of parse(): the engine frees
     * a transaction when it is done, inspected and logged. NULL: there is none, or no space. */
    void *(*tx_new)(struct ids_app *app);
    void (*tx_done)(void *tx, enum ids_direction direction);    /* complete in this direction */
    void (*tx_event)(void *tx, unsigned event);
    /* An answer finds its request by a number; the oldest of that number. Drop it when done. */
    void (*tx_set_key)(void *tx, uint64_t key);
    void *(*tx_by_key)(struct ids_app *app, uint64_t key);
    void (*tx_drop_key)(void *tx);
    /* Memory that lives as long as the transaction. */
    struct ids_slice (*tx_copy)(void *tx, struct ids_slice bytes);
    void *(*tx_alloc)(void *tx, size_t size);

    /* Records. key NULL: an item of an array. */
    void (*json_text)(struct ids_json *json, const char *key, struct ids_slice text);
    void (*json_number)(struct ids_json *json, const char *key, uint64_t number);
    void (*json_yes)(struct ids_json *json, const char *key, bool yes);
    void (*json_object)(struct ids_json *json, const char *key);
    void (*json_array)(struct ids_json *json, const char *key);
    void (*json_end)(struct ids_json *json);    /* of the innermost object or array */

    /* Loggers: appends to the line. Line feeds in it become blanks: a line is one record. */
    void (*print)(struct ids_line *line, const char *fmt, ...)
        __attribute__((format(printf, 2, 3)));
    /* Writes an address of struct ids_ends as text. */
    void (*address)(uint8_t ip_version, const uint8_t *address, char out[46]);
};

/* --- the plugin -------------------------------------------------------------------------- */

struct ids_plugin {
    uint32_t abi;               /* IDS_PLUGIN_ABI; first in every version */
    const char *name, *version; /* for messages; no two plugins have one name */
    /* 0; or -1 after fail(error(engine), ...), which ends the start. api stays valid. */
    int (*load)(struct ids_engine *engine, const struct ids_api *api);
};

#define IDS_PLUGIN(name_, version_, load_)                                    \
    extern const struct ids_plugin ids_plugin;                                \
    __attribute__((visibility("default"))) const struct ids_plugin ids_plugin = { \
        .abi = IDS_PLUGIN_ABI, .name = (name_), .version = (version_), .load = (load_) }

#endif
