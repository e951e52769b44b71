/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/output.h - writes what the engine found to the configured outputs.
 *
 * There are two parts. Rendering runs right after detect, on the thread that owns the flow's
 * inspection state. It turns alerts, events, transactions and flow ends into finished records, and
 * appends them to the packet's memory. Writing runs in the output module, which may be on another
 * thread. It copies records into per-thread buffers of their sinks and passes entire lines to the
 * operating system. So only bytes cross threads. */
#ifndef OUTPUT_OUTPUT_H
#define OUTPUT_OUTPUT_H

#include "base/report/counters.h"
#include "detect/detect.h"
#include "packet/vector.h"

struct stream_conf;
struct output_request {
    const struct conf_node *conf;       /* root */
    const struct app_conf *app;
    struct stream_conf *stream;
    const char *log_dir;
    bool is_inline;
    bool offline;
    const int *stop;                    /* atomic: the run ends, so do not wait; or NULL */
    bool deterministic;             /* equal bytes in each run: nothing that depends on wall time */
};

/* Creates all outputs of the run; all threads share them. Opens files. Logs and counts every error
 * with its location; NULL only if the run cannot continue. */
struct output_conf;
struct output_conf *output_conf_new(const struct output_request *request, struct err *err);
/* Returns the keys of outputs that declare them, after `others`, for conf_check_keys(); valid as
 * long as the arena. */
struct arena;
const char *const *output_settings_keys(struct arena *arena, const char *const *others);
void output_conf_free(struct output_conf *conf);       /* after all threads are gone */
/* Threads of sinks run on the CPUs of the calling thread. */
void output_run_here(struct output_conf *conf);
/* Before threads start: records are written in the order of the capture, whichever thread made
 * them. seq: borrowed while threads run. */
struct sequencer;
void output_conf_merge(struct output_conf *conf, const struct sequencer *seq);
void output_rotate(struct output_conf *conf);          /* SIGHUP: reopen files; any thread */

/* Returns the bytes of stream data that alert records may show; 0: none. */
uint32_t output_payload_size(const struct conf_node *root);
bool output_shows_rules(const struct conf_node *root);      /* alert records show the rule's text */
bool output_shows_places(const struct conf_node *root);     /* ... and where it has matched */

/* Rendering; one per inspecting thread. */
struct output_thread;
struct output_thread *output_thread_new(struct output_conf *conf, struct counters *counters);
void output_thread_free(struct output_thread *ot);
/* Call it after detect_inspect() and before app_cleanup(). */
void output_render(struct output_thread *ot, const struct inspection *in);

/* Call it when a file whose content is being stored is freed (struct app_hooks.file_released):
 * removes the incomplete file from disk. */
void output_file_released(struct app_file *file);

/* Writing; one per output module instance. */
struct output_writer;
struct output_writer *output_writer_new(struct output_conf *conf, struct counters *counters);
void output_writer_free(struct output_writer *w);
void output_write(struct output_writer *w, struct packet_vector *v);
void output_writer_flush(struct output_writer *w);

/* Lets another thread read alerts as they are written. Writer threads call put() for each alert of
 * an eve-log, only while is_on, which put() may clear; it must not wait. sink: number of the
 * record's sink. */
struct output_tap {
    void (*put)(void *arg, unsigned sink, const uint8_t *record, size_t len);
    void *arg;
    bool is_on;                         /* atomic */
};
/* Any thread may call this while writers run; tap must outlive them. NULL: none. */
void output_set_tap(struct output_conf *conf, struct output_tap *tap);

/* The counts of a sink; any thread. */
struct output_sink_report {
    const char *path, *type;            /* borrowed from conf */
    uint64_t written, lost;             /* records */
    uint64_t queued, queue_size;        /* bytes; 0 of 0: the sink has no queue */
};
unsigned output_sink_count(const struct output_conf *conf);
void output_sink_report(const struct output_conf *conf, unsigned i,
                        struct output_sink_report *report);

/* Statistics, by control/: one round of stats records and stats.log. */
void output_stats(struct output_conf *conf, uint64_t now_us, uint64_t uptime_s);
/* What the rules in force are, for stats.detect.engines; at start and after each reload. */
void output_set_rules(struct output_conf *conf, const struct ruleset_report *report,
                      uint64_t loaded_at_us);
/* Writes all statistics as members of the open object, as `stats` of EVE. Any thread, also when
 * statistics are off. */
struct json;
void output_stats_members(struct output_conf *conf, struct json *j, uint64_t uptime_s);
/* Returns what output_set_rules() was given. */
void output_rules(struct output_conf *conf, struct ruleset_report *report, uint64_t *loaded_at_us);
/* Sets the current tenants, for statistics; NULL: none. */
struct tenants;
void output_set_tenants(struct output_conf *conf, struct tenants *tenants);
struct tenants *output_tenants(struct output_conf *conf);      /* referenced for the caller */
/* Writes a time in the form of records; any thread. */
void output_time(struct json *j, const char *key, uint64_t time_us);
/* Returns "local5" as a number for syslog(3); false: unknown name. */
bool output_syslog_facility(const char *name, int *facility);
/* Returns the seconds between rounds of statistics; 0: off. */
unsigned output_stats_interval(const struct output_conf *conf);

#endif
