/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/output.h - what the engine found, written where the user wants it.
 *
 * Two halves. Rendering runs on the thread that owns the flow's inspection half, right after
 * detect: it turns alerts, events, transactions and flow ends into finished records, appended to
 * the packet's memory. Writing, in the output module, perhaps on another thread, copies records
 * into per-thread buffers of their sinks and hands whole lines to the operating system. So nothing
 * but bytes crosses threads. */
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
    const int *stop;                    /* atomic: the user wants an end: do not wait; or NULL */
    bool deterministic;                 /* the same bytes in each run: nothing of wall time */
};

/* All outputs of the run; made once, shared. Opens files; every mistake is logged with its place
 * and counted, NULL only when nothing can go on. */
struct output_conf;
struct output_conf *output_conf_new(const struct output_request *request, struct err *err);
/* Keys of outputs that list them themselves, for conf_check_keys(), behind `others`; as long as the
 * arena. */
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

/* Bytes of stream data that records of alerts may show; 0: none. */
uint32_t output_payload_size(const struct conf_node *root);
bool output_shows_rules(const struct conf_node *root);      /* as written */

/* The rendering half, one per inspecting thread. */
struct output_thread;
struct output_thread *output_thread_new(struct output_conf *conf, struct counters *counters);
void output_thread_free(struct output_thread *ot);
/* After detect_inspect(), before app_cleanup(). */
void output_render(struct output_thread *ot, const struct inspection *in);

/* A file dies (struct app_hooks.file_released). If its content was being stored, what there is of
 * it on disk goes too. */
void output_file_released(struct app_file *file);

/* The writing half, one per output module instance. */
struct output_writer;
struct output_writer *output_writer_new(struct output_conf *conf, struct counters *counters);
void output_writer_free(struct output_writer *w);
void output_write(struct output_writer *w, struct packet_vector *v);
void output_writer_flush(struct output_writer *w);

/* Lets another thread see records as they are written. put() runs on writer threads, only while
 * is_on, and must not wait; sink is the number of where the record goes. */
struct output_tap {
    void (*put)(void *arg, unsigned sink, const uint8_t *record, size_t len);
    void *arg;
    bool is_on;                         /* atomic */
};
/* Any thread, while writers run; tap must outlive them. NULL: none. */
void output_set_tap(struct output_conf *conf, struct output_tap *tap);

/* What has gone to each sink; any thread. */
struct output_sink_report {
    const char *path, *type;            /* borrowed from conf */
    uint64_t written, lost;             /* records */
};
unsigned output_sink_count(const struct output_conf *conf);
void output_sink_report(const struct output_conf *conf, unsigned i,
                        struct output_sink_report *report);

/* Statistics, by control/: one round of stats records and stats.log. */
void output_stats(struct output_conf *conf, uint64_t now_us, uint64_t uptime_s);
/* What the rules in force are, for stats.detect.engines; at start and after each reload. */
void output_set_rules(struct output_conf *conf, const struct ruleset_report *report,
                      uint64_t loaded_at_us);
/* All of it as members of the open object, as in `stats` of EVE. Any thread, also when off. */
struct json;
void output_stats_members(struct output_conf *conf, struct json *j, uint64_t uptime_s);
/* As given to output_set_rules(). */
void output_rules(struct output_conf *conf, struct ruleset_report *report, uint64_t *loaded_at_us);
/* Those in force, for statistics; NULL: there are none. */
struct tenants;
void output_set_tenants(struct output_conf *conf, struct tenants *tenants);
struct tenants *output_tenants(struct output_conf *conf);      /* referenced for the caller */
/* A time as records have it; any thread. */
void output_time(struct json *j, const char *key, uint64_t time_us);
/* "local5" as a number for syslog(3); false: there is none of that name. */
bool output_syslog_facility(const char *name, int *facility);
/* Seconds between rounds; 0: off. */
unsigned output_stats_interval(const struct output_conf *conf);

#endif
