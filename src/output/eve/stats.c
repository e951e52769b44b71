/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/eve/stats.c - the record type `stats`: all counters, as totals or per thread,
 * with deltas on request. The statistics thread writes it, and only that uses the
 * settings. */
#include <stdlib.h>
#include <string.h>

#include "detect/compile/tenants.h"
#include "base/array.h"
#include "output/counter_tree.h"
#include "output/eve/eve.h"
#include "output/output_private.h"

struct stats_settings {
    bool totals, threads, deltas, zeros;
    bool own;                                   /* counters that Suricata does not have */
    struct counter_tree *tree;
    unsigned tree_counters;
    uint64_t *previous;             /* totals of the last round, by id */
    ARRAY_OF(struct thread_values *) last;     /* of threads in the last round, for deltas */
};

/* The counters of one thread in the last round. */
struct thread_values {
    char name[sizeof(((struct counters *)NULL)->thread_name)];
    uint64_t value[COUNTERS_MAX];
};

/* The settings are Suricata's, but `engine`. */
static void *stats_configure(const struct conf_node *node, const struct eve *eve, struct err *err)
{
    struct stats_settings *s = xcalloc(1, sizeof(*s));

    (void)eve;
    (void)err;
    s->totals = conf_bool(node, "totals", true);
    s->threads = conf_bool(node, "threads", false);
    s->deltas = conf_bool(node, "deltas", false);
    s->zeros = conf_bool(node, "null-values", true);
    s->own = conf_bool(node, "engine", false);
    s->previous = xcalloc(COUNTERS_MAX, sizeof(*s->previous));
    return s;
}

static void stats_free(void *settings)
{
    struct stats_settings *s = settings;

    counter_tree_free(s->tree);
    for (size_t i = 0; i < s->last.count; i++)
        free(s->last.at[i]);
    ARRAY_FREE(&s->last);
    free(s->previous);
    free(s);
}

/* Threads count without a lock, so totals of one record may be some packets apart. */
static uint64_t total_value(counter_id id, void *arg)
{
    (void)arg;
    return counter_total(id);
}

/* An average is kept as a sum and a number of samples. */
static uint64_t thread_value(counter_id id, void *arg)
{
    const struct counters *c = arg;
    uint64_t value = __atomic_load_n(&c->value[id], __ATOMIC_RELAXED), samples;

    if (counter_kind(id) != COUNTER_AVG)
        return value;
    samples = __atomic_load_n(&c->samples[id], __ATOMIC_RELAXED);
    return samples > 0 ? value / samples : 0;
}

/* The argument of write_thread(). */
struct thread_writer {
    struct json *j;
    struct stats_settings *s;
};

/* Finds by name, because threads start again with each capture in job mode. */
static struct thread_values *last_of_thread(struct stats_settings *s, const char *name)
{
    struct thread_values *f;

    for (size_t i = 0; i < s->last.count; i++)
        if (strcmp(s->last.at[i]->name, name) == 0)
            return s->last.at[i];
    f = xcalloc(1, sizeof(*f));
    memcpy(f->name, name, sizeof(f->name));
    ARRAY_PUSH(&s->last, f);
    return f;
}

/* Called for each thread in turn. */
static void write_thread(const struct counters *c, void *arg)
{
    struct thread_writer *w = arg;
    struct thread_values *last = w->s->deltas ? last_of_thread(w->s, c->thread_name) : NULL;

    json_object(w->j, c->thread_name);
    counter_tree_write(w->s->tree, w->j, &(struct counter_values){
        .value = thread_value, .arg = (void *)c, .previous = last != NULL ? last->value : NULL,
        .zeros = w->s->zeros, .own = w->s->own });
    json_object_end(w->j);
    for (unsigned id = 0; last != NULL && id < counter_count(); id++)
        last->value[id] = thread_value((counter_id)id, (void *)c);
}

static void write_engine(struct json *j, uint32_t id, const struct ruleset_report *rules,
                         uint64_t loaded_us)
{
    json_object(j, NULL);
    json_u64(j, "id", id);
    output_time(j, "last_reload", loaded_us);
    json_u64(j, "rules_loaded", rules->loaded);
    json_u64(j, "rules_failed", rules->failed);
    json_u64(j, "rules_skipped", rules->skipped);
    json_object_end(j);
}

/* stats.detect.engines: the common rules, then those of tenants. */
static void write_engines(struct json *j, const char *name, void *arg)
{
    struct output_conf *conf = arg;
    struct ruleset_report rules;
    struct tenants *tenants;
    uint64_t loaded_us;

    if (strcmp(name, "detect") != 0)
        return;
    output_rules(conf, &rules, &loaded_us);
    tenants = output_tenants(conf);
    json_array(j, "engines");
    write_engine(j, 0, &rules, loaded_us);
    for (size_t i = 0; tenants != NULL && i < tenants->list.count; i++)
        write_engine(j, tenants->list.at[i]->id, &tenants->list.at[i]->report,
                     tenants->list.at[i]->loaded_us);
    json_array_end(j);
    tenants_unref(tenants);
}

/* Modules may register counters while they start, so the tree is built again when there
 * are more. */
static void renew_tree(struct stats_settings *s)
{
    if (s->tree != NULL && s->tree_counters == counter_count())
        return;
    counter_tree_free(s->tree);
    s->tree = counter_tree_new();
    s->tree_counters = counter_count();
}

static void write_threads(struct json *j, struct stats_settings *s)
{
    struct thread_writer w = { .j = j, .s = s };

    json_object(j, "threads");
    counters_each(write_thread, &w);
    json_object_end(j);
}

/* For the command dump-counters; runs on the control thread with settings of its own. */
void output_stats_members(struct output_conf *conf, struct json *j, uint64_t uptime_s)
{
    struct stats_settings s = { .tree = counter_tree_new(), .zeros = true, .own = true };

    json_u64(j, "uptime", uptime_s);
    counter_tree_write(s.tree, j, &(struct counter_values){
        .value = total_value, .zeros = true, .own = true,
        .extra = write_engines, .extra_arg = conf });
    write_threads(j, &s);
    counter_tree_free(s.tree);
}

static void stats_record(struct render *r, const struct eve *eve, void *settings, uint64_t now_us,
                         uint64_t uptime_s)
{
    struct stats_settings *s = settings;
    struct json j;

    if (eve->request->deterministic)
        return;                 /* they depend on wall time and threads */
    renew_tree(s);
    eve_start(r, eve, &j, now_us);
    json_string(&j, "event_type", "stats");
    json_object(&j, "stats");
    json_u64(&j, "uptime", uptime_s);
    if (s->totals)
        counter_tree_write(s->tree, &j, &(struct counter_values){
            .value = total_value, .previous = s->deltas ? s->previous : NULL, .zeros = s->zeros,
            .own = s->own, .extra = write_engines, .extra_arg = r->conf });
    if (s->threads)
        write_threads(&j, s);
    json_object_end(&j);
    eve_end(r, eve, &j, NULL);
    for (unsigned id = 0; s->deltas && id < counter_count(); id++)
        s->previous[id] = counter_total((counter_id)id);
}

const struct eve_type eve_type_stats = {
    .name = "stats",
    .configure = stats_configure,
    .free = stats_free,
    .stats = stats_record,
};
