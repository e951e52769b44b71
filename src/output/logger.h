/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/logger.h - a kind of output: one entry of the `outputs:` list in the configuration.
 *
 * Adding one: a file in output/ that ends in a `const struct logger_ops logger_<name>` and a line
 * in output/list.h. An instance is shared by all threads and read-only, but for what says
 * otherwise; what a thread needs to write it keeps in its own struct output_thread. */
#ifndef OUTPUT_LOGGER_H
#define OUTPUT_LOGGER_H

#include "app/core/file.h"
#include "output/output.h"
#include "output/sink.h"

struct logger;
struct render;

struct output_chunk {
    struct app_tx *tx;          /* whose body it is; NULL: TCP */
    struct slice data;          /* empty when there is only an end to tell of */
    enum direction direction;   /* of the data, not of the packet */
    bool open, close;           /* the first one, the last one */
};

/* In a transaction's slot for output: what has been logged of it. */
struct output_tx {
    struct streamed *streamed;  /* bodies that outputs have, as they come; NULL: nothing yet */
    uint32_t logged;            /* two bits per app_log of an eve-log */
    uint8_t events_logged[4];   /* how many of event[], per eve-log that has them */
    uint16_t scripts_logged;    /* bit per script */
    uint16_t lines_logged;      /* bit per http-log and tls-log */
};
APP_TX_SLOT_ACCESSOR(output, APP_TX_SLOT_OUTPUT)

/* In a file's slot for output. */
struct output_file {
    struct file_store *store;   /* while the file store writes it; NULL */
    uint16_t scripts_logged;    /* bit per script */
    uint8_t logged;             /* bit per eve-log */
};
APP_FILE_SLOT_ACCESSOR(output, APP_FILE_SLOT_OUTPUT)

struct logger_ops {
    const char *name;           /* in `outputs:`: "eve-log", "fast" */
    const char *doc;
    const char *settings_keys;  /* "@log-file limit"; NULL: in conf/schema_keys.c */
    bool early;                 /* asked before the others: they log what it has done */
    bool is_evidence;           /* when it cannot open, nothing begins */
    /* Settings to instance; a logger without an `enabled: yes` is not asked. NULL with err set:
     * the mistake is logged and the output left out. */
    void *(*open)(const struct output_request *request, struct output_conf *conf,
                  const struct conf_node *node, struct err *err);
    void (*close)(void *self);          /* NULL: nothing hangs off it */
    /* Rendering, each optional; called for each packet, in order. */
    void (*packet)(struct render *r, void *self, struct packet *p);
    /* Once per transaction and packet as long as it lives and may have something to log. */
    void (*tx)(struct render *r, void *self, struct packet *p, struct app_tx *tx);
    void (*flow)(struct render *r, void *self, struct packet *p, const struct flow *flow);
    void (*stats)(struct render *r, void *self, uint64_t now_us, uint64_t uptime_s);
    /* What a direction of TCP or a body carries, as it comes and in order. */
    void (*stream)(struct render *r, void *self, struct packet *p,
                   const struct output_chunk *chunk);
    /* Writing half: writes the packet itself. Called on writer threads. */
    void (*write_packet)(void *self, struct packet *p);
    void (*rotate)(void *self);
};

/* What rendering works with: one per thread. */
struct render {
    struct output_conf *conf;
    struct counters *counters;
    const struct inspection *inspection;    /* that the records are about; NULL for statistics */
    unsigned thread;            /* its number, from 1 */
    struct buf *out;            /* where records go: the packet's, or the stats buffer */
    size_t record_at;           /* start of the record being made */
    uint16_t sink;              /* of the record being made */
    /* A second's timestamp, formatted once. */
    uint64_t time_second;
    char time_prefix[24], time_suffix[8];
    struct buf scratch;
    const struct ip *client;    /* records show it as the flow's client; NULL: the real address */
};

/* A record is a framed run of bytes for one sink. */
void record_begin(struct render *r, struct sink *sink);
void record_end(struct render *r);
void record_cancel(struct render *r);
struct slice record_slice(const struct render *r);      /* the bytes of the record just ended */

/* "2016-05-27T06:56:11.304062+0000" in local time, as EVE has it; returns the length. */
#define EVE_TIME_SIZE 40
size_t render_time(struct render *r, uint64_t time_us, char out[EVE_TIME_SIZE]);

extern const struct logger_ops *const logger_table[];

/* log_dir + name, unless name is absolute; heap. */
char *output_path(const struct output_request *request, const char *name);

#endif
