/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/logger.h - an output: one entry of the `outputs:` list in the configuration.
 *
 * A new output is a file in output/ that ends in a `const struct logger_ops logger_<name>`, and a
 * line in output/list.h. All threads share an instance, which is read-only except members marked
 * otherwise. State that a thread writes is in its struct output_thread. */
#ifndef OUTPUT_LOGGER_H
#define OUTPUT_LOGGER_H

#include "app/core/file.h"
#include "output/output.h"
#include "output/sink.h"

struct left_out;
struct logger;
struct render;

struct output_chunk {
    struct app_tx *tx;          /* transaction of the body; NULL: TCP data */
    struct slice data;          /* empty for an end without data */
    enum direction direction;   /* of the data, not of the packet */
    bool open, close;           /* the first data, the last data */
};

/* A transaction's slot for output: the parts that have been logged. */
struct output_tx {
    struct streamed *streamed;  /* bodies that outputs are reading; NULL: none yet */
    uint32_t logged;            /* two bits per app_log of an eve-log */
    uint8_t events_logged[4];   /* number of event[] that each eve-log has logged */
    uint16_t scripts_logged;    /* a bit per script */
    uint16_t lines_logged;      /* a bit per http-log and tls-log */
};
APP_TX_SLOT_ACCESSOR(output, APP_TX_SLOT_OUTPUT)

/* In a file's slot for output. */
struct output_file {
    struct file_store *store;   /* while the file store writes it; NULL */
    uint16_t scripts_logged;    /* bit per script */
    uint8_t logged;             /* bit per eve-log */
};
APP_FILE_SLOT_ACCESSOR(output, APP_FILE_SLOT_OUTPUT)

/* The packets that packet() is called for. Notable is one with an alert, a tag, variables, an
 * event, or a drop. */
enum packets_wanted { PACKETS_NONE, PACKETS_NOTABLE, PACKETS_ALL };

struct logger_ops {
    const char *name;           /* in `outputs:`: "eve-log", "fast" */
    const char *doc;
    const char *settings_keys;  /* "@log-file limit"; NULL: in conf/schema_keys.c */
    bool early;                 /* called before the others, which log its results */
    bool is_evidence;           /* the start fails when it cannot open */
    /* Creates an instance from settings. Not called without `enabled: yes`. NULL with err set: the
     * error is logged and the output left out. */
    void *(*open)(const struct output_request *request, struct output_conf *conf,
                  const struct conf_node *node, struct err *err);
    /* Instead of open, for outputs that share it: receives the operations that logger_register()
     * was given. */
    void *(*open_registered)(const struct logger_ops *ops, const struct output_request *request,
                             struct output_conf *conf, const struct conf_node *node,
                             struct err *err);
    void (*close)(void *self);          /* NULL: nothing to free */
    /* Rendering: each may be NULL; called for each packet, in order. */
    void (*packet)(struct render *r, void *self, struct packet *p);
    /* What the instance's settings leave packet() to do. It may be called for others, too. NULL:
     * PACKETS_ALL. */
    enum packets_wanted (*wants_packets)(const void *self);
    /* Called for each live transaction with each packet, while it may have something to log. */
    void (*tx)(struct render *r, void *self, struct packet *p, struct app_tx *tx);
    void (*flow)(struct render *r, void *self, struct packet *p, const struct flow *flow);
    void (*stats)(struct render *r, void *self, uint64_t now_us, uint64_t uptime_s);
    /* Records that log-limit has left out. */
    void (*left_out)(struct render *r, void *self, const struct left_out *left);
    /* What a direction of TCP or a body carries, as it comes and in order. */
    void (*stream)(struct render *r, void *self, struct packet *p,
                   const struct output_chunk *chunk);
    /* Writing: writes the packet itself. Called on writer threads. */
    void (*write_packet)(void *self, struct packet *p);
    void (*rotate)(void *self);
};

/* The context of rendering: one per thread. */
struct render {
    struct output_conf *conf;
    struct counters *counters;
    const struct inspection *inspection;    /* of the records; NULL for statistics */
    unsigned thread;            /* thread number, from 1 */
    struct buf *out;     /* destination of records: the packet's memory, or the statistics buffer */
    size_t record_at;           /* start of the current record */
    uint16_t sink;              /* of the current record */
    /* The timestamp of a second, formatted once a minute. */
    uint64_t time_second, time_minute;  /* of the texts; the minute by its first second */
    char time_prefix[24], time_suffix[8];
    uint8_t time_prefix_len, time_suffix_len;
    struct buf scratch;
    uint64_t packet_bytes;      /* records of this packet that no flow keeps a sum of */
    struct left_out *left_out;  /* to be written behind the packet's records; NULL: nothing */
    uint32_t alert_bytes;       /* alerts of this packet so far, in this log */
    bool is_reduced;              /* the record has no variables of the flow */
    uint64_t record_us;         /* time of the record that begins next; 0: the packet's */
    const struct ip *client;    /* address that records show as the flow's client; NULL: the real
                                 * one */
};

/* A record is a sequence of bytes for one sink, with a header. */
void record_begin(struct render *r, struct sink *sink);
/* Between the two others: the record is an alert, for those who watch them (output_set_tap()). Its
 * JSON begins after so many bytes. */
void record_is_alert(struct render *r, size_t json_at);
void record_end(struct render *r);
void record_cancel(struct render *r);
/* Ends a line about a packet: record_end(), or where log-limit has nothing left for it
 * record_cancel(), and the line is counted. */
void record_end_line(struct render *r, const struct packet *p);
struct slice record_slice(const struct render *r);     /* bytes of the record that was ended last */

/* Writes "2016-05-27T06:56:11.304062+0000" in local time, as EVE does; returns the length. */
#define EVE_TIME_SIZE 40
size_t render_time(struct render *r, uint64_t time_us, char out[EVE_TIME_SIZE]);

/* Registers the outputs of output/list.h. Each program with outputs calls it first. */
void loggers_init(void);
void logger_put(unsigned at, const struct logger_ops *ops);     /* for it */
/* Adds an output at the start, before any is open; ops is never freed. -1: the name is taken, or
 * there are too many. */
int logger_register(const struct logger_ops *ops, struct err *err);

/* Returns log_dir + name, or name if it is absolute; on the heap. */
char *output_path(const struct output_request *request, const char *name);

#endif
