/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sink.h - destinations of finished records: a file, a socket, syslog, redis.
 *
 * All writers share a sink. Each writer collects records in its own buffer and passes only entire
 * records to the sink, so lines never mix. */
#ifndef OUTPUT_SINK_H
#define OUTPUT_SINK_H

#include <string.h>

#include "base/text/bytes.h"
#include "base/err.h"
#include "conf/conf.h"

struct output_conf;
struct output_request;
struct sink;

struct sink_ops {
    const char *name;           /* filetype: "regular" */
    bool is_slow;               /* always has a queue (sinks/queue.h) */
    bool is_own;             /* each output has its own sink: a path does not identify the target */
    void *(*open)(const struct output_request *request, const struct conf_node *node,
                  const char *path, struct err *err);
    /* Instead of open, for sinks that share it: receives the operations that sink_register() was
     * given. */
    void *(*open_registered)(const struct sink_ops *ops, const struct conf_node *node,
                             const char *path, struct err *err);
    /* Writes entire records, one per line. Several writer threads may call it at once. Returns how
     * many records are lost. */
    uint64_t (*write)(void *self, const uint8_t *data, size_t len);
    void (*rotate)(void *self);
    /* Threads of the sink run on the CPUs of the calling thread from now on; NULL: it has none. */
    void (*run_here)(void *self);
    /* Bytes that wait in the queue, and how many fit; any thread. NULL: there is no queue. */
    void (*fill)(void *self, uint64_t *used, uint64_t *size);
    /* Writes what it still holds; how many records are lost. Before close(); may be NULL. */
    uint64_t (*finish)(void *self);
    void (*close)(void *self);
};

struct sink {
    uint16_t id;
    const struct sink_ops *kind;        /* of its filetype */
    const struct sink_ops *ops;         /* the same, or those of its queue */
    void *self;
    uint64_t written;           /* records passed on; atomic */
    uint64_t lost;              /* records that could not be written; atomic */
    /* `threaded: yes`: one sink for each rendering thread; this is the first. */
    struct sink **thread_sink;
    unsigned thread_sinks;             /* 0: one for all */
};

/* thread: number, from 1; 0: a thread that inspects no packets. */
static inline const struct sink *sink_of_thread(const struct sink *sink, unsigned thread)
{
    if (LIKELY(sink->thread_sinks == 0) || thread == 0)
        return sink;
    return sink->thread_sink[(thread - 1) % sink->thread_sinks];
}

/* Returns the number of records in these bytes. */
static inline uint64_t sink_records(const uint8_t *data, size_t len)
{
    uint64_t count = 0;

    for (const uint8_t *at; (at = memchr(data, '\n', len)) != NULL; count++) {
        len -= (size_t)(at + 1 - data);
        data = at + 1;
    }
    return count + (len > 0);
}

/* Opens the sink of the node's `filetype:` (regular by default) and `filename:`, else `otherwise`.
 * Sinks of the same file are shared. */
struct sink *sink_open(const struct output_request *request, struct output_conf *conf,
                       const struct conf_node *node, const char *otherwise, struct err *err);

/* The same, with a file for each thread if the node has `threaded: yes`. */
struct sink *sink_open_threaded(const struct output_request *request, struct output_conf *conf,
                                const struct conf_node *node, const char *otherwise,
                                struct err *err);

/* What is opened when the node does not say it. */
struct sink_default {
    const char *filetype, *filename;
};

/* Of the default's kind, and not of the node's `filetype`. */
struct sink *sink_open_as(const struct output_request *request, struct output_conf *conf,
                          const struct conf_node *node, struct sink_default otherwise,
                          struct err *err);

/* Adds a filetype at the start, before any sink is open; ops is never freed. -1: the name is taken,
 * or there are too many. */
int sink_register(const struct sink_ops *ops, struct err *err);
extern const struct sink_ops sink_file_later;       /* opens the file with its first record; not
                                                     * listed */

#endif
