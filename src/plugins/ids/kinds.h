/* SPDX-License-Identifier: GPL-2.0-or-later */
/* ids/kinds.h - the kinds of extensions that a plugin can add, and the values that it gets. A
 * plugin includes ids/plugin.h, which includes this. */
#ifndef IDS_KINDS_H
#define IDS_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ids_engine;              /* the engine, while plugins load */
struct ids_error;               /* an error at load time, see ids_api.fail */
struct ids_settings;            /* a section of the configuration; NULL has no values */
struct ids_packet;              /* these three: valid during the call that gets them */
struct ids_flow;
struct ids_line;                /* a line that a logger writes */
struct ids_json;                /* an object in a record */
struct ids_decoding;            /* a packet that is being decoded */
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
    /* For a keyword that stands in a rule before: true if the rule cannot have both. NULL: it can
     * have any number. */
    bool (*excludes)(const void *argument, const void *earlier);
    bool (*match)(const struct ids_packet *packet, const void *argument);
    void (*free)(void *argument);       /* frees what it points to; NULL: nothing */
};

/* A sticky buffer. get() returns false where a packet has none; the bytes stay as long as the
 * packet. */
struct ids_packet_buffer {
    const char *name, *doc;
    bool (*get)(const struct ids_packet *packet, struct ids_slice *out);
};

/* --- decoders: headers between the frame and IP, and tunnels --------------------------------- */

/* For an EtherType or an IP protocol that the engine does not know. decode() reads the header from
 * bytes and passes what follows to decode_ethertype(), or for an inner packet to
 * decode_tunnel(). */
struct ids_decoder {
    bool is_ip_protocol;        /* else an EtherType */
    uint16_t number;
    void (*decode)(struct ids_decoding *decoding, struct ids_bytes bytes);
};

/* --- captures: sources of packets ---------------------------------------------------------- */

struct ids_frame {
    const uint8_t *data;        /* until the next call; the engine copies it */
    uint32_t len, wire_len;     /* captured, at most 262,144; on the wire */
    uint64_t time_us;           /* since 1970 */
};
enum ids_receive { IDS_FRAME, IDS_IDLE, IDS_END, IDS_FAILED };

/* --capture-plugin=NAME chooses it, --capture-plugin-args=TEXT is the source. One thread reads. */
struct ids_capture {
    const char *name, *doc;
    bool live;                  /* time is the clock's; else a full engine lets it wait */
    int link_type;              /* of all frames, as in pcap files: 1 Ethernet, 101 IP */
    void *(*open)(const struct ids_settings *root, const char *source, struct ids_error *error);
    enum ids_receive (*receive)(void *self, struct ids_frame *out);     /* waits at most 100 ms */
    void (*close)(void *self);
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
 * false when there is none. many: index counts from 0 to 1,023 or until false; else it is 0. */
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

/* --- watchers: they see each packet of a flow, before rules ----------------------------------- */

/* A library that knows flows, such as one that detects protocols. The engine keeps flow_size bytes
 * for it with each flow, zeroed. Its keywords read them by watched(). */
struct ids_watcher {
    const char *name;           /* of its object in records */
    size_t flow_size;
    void *(*thread_open)(void);         /* state of a packet thread; one call at a time */
    void (*thread_close)(void *thread);
    void (*packet)(void *thread, void *flow_data, const struct ids_packet *packet);
    void (*flow_free)(void *flow_data); /* frees what it points to */
    bool (*log)(const void *flow_data, struct ids_json *json);  /* NULL: no object */
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

#endif
