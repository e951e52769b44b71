/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/pcap_log.c - `pcap-log`: packets, to files that can be read again.
 *
 * Rendering decides which packets and makes records of them, as libpcap's format has them; the
 * sink below gives them to a file, begins another one at the limit, and removes the oldest. With
 * `conditional: alerts` a flow's packets with payload wait in the flow until it has an alert. */
#include <errno.h>
#include <fcntl.h>
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/log.h"
#include "detect/keyword.h"
#include "output/eve/eve.h"
#include "output/output_private.h"
#include "packet/decode.h"

#define LIMIT_DEFAULT (100u << 20)
#define LIMIT_MIN 4096u
#define SNAPLEN 262144u
#define HELD_MAX (256u << 10)           /* of one flow, before its first alert */
#define MAGIC 0xa1b2c3d4u

enum pcap_condition { CONDITION_ALL, CONDITION_ALERTS, CONDITION_TAG };

struct pcap_filter { int linktype; struct bpf_program program; };

struct pcap_log {
    struct sink *sink;
    struct pcap_files *files;
    enum pcap_condition condition;
    bool honor_pass, use_depth;
    ARRAY_OF(struct pcap_filter) filters;       /* by link type; none: no filter */
    counter_id written, filtered;
};

struct record_header { uint32_t seconds, micros, len, wire_len; };

/* --- files -------------------------------------------------------------------------------- */

struct pcap_files {
    pthread_mutex_t lock;               /* around all below, held for one write */
    char *prefix;                       /* folder and name */
    bool micros;                        /* ts-format: usec */
    uint64_t limit, size;
    unsigned max_files;
    int fd;
    uint32_t linktype;                  /* atomic */
    uint64_t start_us;                  /* atomic; of the first packet that was looked at */
    ARRAY_OF(char *) names;             /* oldest first */
    bool failing;
};

static bool write_whole(struct pcap_files *f, const void *data, size_t len)
{
    const uint8_t *at = data;

    while (len > 0) {
        ssize_t n = write(f->fd, at, len);

        if (n < 0 && errno == EINTR)
            continue;
        if (n <= 0) {
            if (!f->failing)
                log_error("pcap-log", "cannot write: %s", strerror(errno));
            f->failing = true;
            return false;
        }
        at += n;
        len -= (size_t)n;
        f->size += (uint64_t)n;
    }
    f->failing = false;
    return true;
}

static void remove_oldest(struct pcap_files *f)
{
    while (f->max_files > 0 && f->names.count > f->max_files) {
        if (unlink(f->names.at[0]) < 0 && errno != ENOENT)
            log_warning("pcap-log", "failed to remove log file %s: %s", f->names.at[0],
                        strerror(errno));
        free(f->names.at[0]);
        f->names.count--;
        memmove(f->names.at, f->names.at + 1, f->names.count * sizeof(f->names.at[0]));
    }
}

static void next_file_close(struct pcap_files *f)
{
    if (f->fd >= 0)
        close(f->fd);
    f->fd = -1;
}

/* Named by the time it begins: the first one where the capture does. */
static bool next_file(struct pcap_files *f, const struct record_header *first)
{
    uint32_t header[6] = { MAGIC, 4u << 16 | 2, 0, 0, SNAPLEN,
                           __atomic_load_n(&f->linktype, __ATOMIC_RELAXED) };
    uint64_t start_us = f->names.count == 0
                            ? __atomic_load_n(&f->start_us, __ATOMIC_RELAXED)
                            : first->seconds * UINT64_C(1000000) + first->micros;
    struct buf name = { 0 };

    next_file_close(f);
    buf_printf(&name, "%s.%u", f->prefix, (unsigned)(start_us / 1000000));
    if (f->micros)
        buf_printf(&name, ".%u", (unsigned)(start_us % 1000000));
    buf_add_u8(&name, 0);
    f->fd = open((char *)name.data, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0640);
    if (f->fd < 0) {
        if (!f->failing)
            log_error("pcap-log", "cannot open %s: %s", (char *)name.data, strerror(errno));
        f->failing = true;
        buf_fini(&name);
        return false;
    }
    if (f->names.count > 0 && strcmp(f->names.at[f->names.count - 1], (char *)name.data) == 0)
        buf_fini(&name);                /* in the same second: in its place */
    else
        ARRAY_PUSH(&f->names, (char *)name.data);
    f->size = 0;
    remove_oldest(f);
    return write_whole(f, header, sizeof(header));
}

static bool files_write_locked(struct pcap_files *f, const uint8_t *data, size_t len)
{
    bool ok = true;

    while (len >= sizeof(struct record_header)) {
        struct record_header h;
        size_t n;

        memcpy(&h, data, sizeof(h));
        n = sizeof(h) + h.len;
        if (n > len)
            return false;
        if (f->fd < 0 || f->size + n > f->limit)
            ok &= next_file(f, &h);
        if (f->fd >= 0)
            ok &= write_whole(f, data, n);
        data += n;
        len -= n;
    }
    return ok;
}

static bool files_write(void *self, const uint8_t *data, size_t len)
{
    struct pcap_files *f = self;
    bool ok;

    pthread_mutex_lock(&f->lock);
    ok = files_write_locked(f, data, len);
    pthread_mutex_unlock(&f->lock);
    return ok;
}

/* The next packet begins another file. */
static void files_rotate(void *self)
{
    struct pcap_files *f = self;

    pthread_mutex_lock(&f->lock);
    next_file_close(f);
    pthread_mutex_unlock(&f->lock);
}

static void files_close(void *self)
{
    struct pcap_files *f = self;

    next_file_close(f);
    for (size_t i = 0; i < f->names.count; i++)
        free(f->names.at[i]);
    ARRAY_FREE(&f->names);
    pthread_mutex_destroy(&f->lock);
    free(f->prefix);
    free(f);
}

static const struct sink_ops files_ops = {
    .name = "pcap",
    .write = files_write,
    .rotate = files_rotate,
    .close = files_close,
};

/* --- which packets ------------------------------------------------------------------------ */

static bool passes_filter(const struct pcap_log *log, const struct packet *p)
{
    struct pcap_pkthdr h = { .caplen = p->len, .len = p->wire_len };
    int linktype = eve_linktype(p);

    if (log->filters.count == 0)
        return true;
    for (size_t i = 0; i < log->filters.count; i++)
        if (log->filters.at[i].linktype == linktype)
            return pcap_offline_filter(&log->filters.at[i].program, &h, p->data) != 0;
    return false;
}

static bool is_let_go(const struct pcap_log *log, const struct packet *p)
{
    if (log->honor_pass &&
        ((p->action & ACTION_PASS) || (p->flow != NULL && (p->flow->action & ACTION_PASS))))
        return true;
    return log->use_depth && p->payload_len > 0 && packet_is_tcp(p) && p->flow != NULL &&
           (flow_wishes(p->flow) & (packet_direction(p) == TO_SERVER ? FLOW_WISH_NO_STREAM_TS
                                                                     : FLOW_WISH_NO_STREAM_TC));
}

/* The packet that a rule with `tag` matched on is not tagged itself. */
static bool starts_tag(const struct packet *p)
{
    for (unsigned i = 0; i < p->alert.count; i++) {
        const struct rule *r = p->alert.at[i].rule;

        for (unsigned k = 0; k < r->post_count; k++)
            if (strcmp(r->post[k].keyword->name, "tag") == 0)
                return true;
    }
    return false;
}

static bool meets_condition(const struct pcap_log *log, const struct packet *p)
{
    switch (log->condition) {
    case CONDITION_ALERTS:
        return p->alert.count > 0 || (p->flow != NULL && p->flow->alert_count > 0);
    case CONDITION_TAG:
        return (p->flags & PACKET_TAGGED) || starts_tag(p);
    default:
        return true;
    }
}

static void add_record(struct buf *out, const struct packet *p)
{
    struct record_header h = { .seconds = (uint32_t)(p->time_us / 1000000),
                               .micros = (uint32_t)(p->time_us % 1000000),
                               .len = p->len, .wire_len = p->wire_len };

    buf_add(out, &h, sizeof(h));
    buf_add(out, p->data, p->len);
}

static void hold(struct packet *p)
{
    struct app_flow *af = p->flow != NULL ? p->flow->app : NULL;

    if (af != NULL && packet_is_tcp(p) && p->payload_len > 0 &&
        af->held.len + sizeof(struct record_header) + p->len <= HELD_MAX)
        add_record(&af->held, p);
}

static void note_start(struct pcap_files *f, const struct packet *p)
{
    uint64_t none = 0;

    if (UNLIKELY(__atomic_load_n(&f->start_us, __ATOMIC_RELAXED) == 0))
        __atomic_compare_exchange_n(&f->start_us, &none, p->time_us, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED);
}

static void pcap_packet(struct render *r, void *self, struct packet *p)
{
    struct pcap_log *log = self;
    struct app_flow *af = p->flow != NULL ? p->flow->app : NULL;

    if ((p->flags & PACKET_PSEUDO) || p->root != NULL || p->data == NULL || is_let_go(log, p))
        return;
    note_start(log->files, p);
    if (!passes_filter(log, p)) {
        counter_inc(r->counters, log->filtered);
        return;
    }
    if (!meets_condition(log, p)) {
        hold(p);
        return;
    }
    __atomic_store_n(&log->files->linktype, (uint32_t)eve_linktype(p), __ATOMIC_RELAXED);
    record_begin(r, log->sink);
    if (af != NULL && af->held.len > 0) {
        buf_add(r->out, af->held.data, af->held.len);
        buf_fini(&af->held);
    }
    add_record(r->out, p);
    record_end(r);
    counter_inc(r->counters, log->written);
}

/* --- set-up ------------------------------------------------------------------------------- */

/* For each link type on which it makes sense. */
static int compile_filter(struct pcap_log *log, const char *expression, struct err *err)
{
    char why[PCAP_ERRBUF_SIZE] = "";

    for (unsigned d = DATALINK_ETHERNET; d <= DATALINK_IPV6; d++) {
        struct packet sample = { .datalink = (uint8_t)d };
        struct pcap_filter f = { .linktype = eve_linktype(&sample) };
        pcap_t *dead = pcap_open_dead(f.linktype, SNAPLEN);

        if (dead == NULL)
            continue;
        if (pcap_compile(dead, &f.program, expression, 1, PCAP_NETMASK_UNKNOWN) == 0)
            ARRAY_PUSH(&log->filters, f);
        else
            snprintf(why, sizeof(why), "%s", pcap_geterr(dead));
        pcap_close(dead);
    }
    return log->filters.count > 0 ? 0 :
        err_at(err, LOG_NOWHERE, "bpf-filter \"%s\": %s", expression, why);
}

static struct pcap_files *files_open(const struct output_request *request,
                                     const struct conf_node *node)
{
    struct pcap_files *f = xcalloc(1, sizeof(*f));
    const char *dir = conf_string(node, "dir", conf_string(node, "sguil-base-dir", NULL));
    const char *name = conf_string(node, "filename", "log.pcap");
    struct buf path = { 0 };

    if (dir != NULL) {
        char *folder = output_path(request, dir);

        buf_printf(&path, "%s/%s", folder, name);
        buf_add_u8(&path, 0);
        free(folder);
        f->prefix = (char *)path.data;
    } else {
        f->prefix = output_path(request, name);
    }
    pthread_mutex_init(&f->lock, NULL);
    f->fd = -1;
    f->limit = MAX(conf_size(node, "limit", LIMIT_DEFAULT), (uint64_t)LIMIT_MIN);
    f->max_files = (unsigned)conf_u64(node, "max-files", 0);
    f->micros = strcmp(conf_string(node, "ts-format", "sec"), "usec") == 0;
    return f;
}

static struct sink *files_sink(struct output_conf *conf, struct pcap_files *files)
{
    struct sink *sink = xcalloc(1, sizeof(*sink));

    *sink = (struct sink){ .id = (uint16_t)conf->sinks.count, .ops = &files_ops, .self = files };
    ARRAY_PUSH(&conf->sinks, sink);
    ARRAY_PUSH(&conf->sink_paths, xstrdup(files->prefix));
    return sink;
}

static int read_condition(struct pcap_log *log, const struct conf_node *node, struct err *err)
{
    static const char *const words[] = { "all", "alerts", "tag" };
    const char *word = conf_string(node, "conditional", "all");

    for (unsigned i = 0; i < ARRAY_LEN(words); i++) {
        if (strcasecmp(word, words[i]) == 0) {
            log->condition = (enum pcap_condition)i;
            return 0;
        }
    }
    return err_at(err, LOG_NOWHERE,
                  "invalid conditional \"%s\". Valid options: \"all\", \"alerts\", "
                  "or \"tag\"", word);
}

static void pcap_log_close(void *self)
{
    struct pcap_log *log = self;

    for (size_t i = 0; i < log->filters.count; i++)
        pcap_freecode(&log->filters.at[i].program);
    ARRAY_FREE(&log->filters);
    free(log);
}

static void *pcap_log_open(const struct output_request *request, struct output_conf *conf,
                           const struct conf_node *node, struct err *err)
{
    struct pcap_log *log = xcalloc(1, sizeof(*log));
    const char *filter = conf_string(node, "bpf-filter", NULL);

    if (read_condition(log, node, err) < 0 ||
        (filter != NULL && compile_filter(log, filter, err) < 0)) {
        pcap_log_close(log);
        return NULL;
    }
    if (strcmp(conf_string(node, "mode", "normal"), "normal") != 0)
        conf_warning(node, "pcap-log: all threads write to one file, as in mode normal");
    if (strcmp(conf_string(node, "compression", "none"), "none") != 0)
        conf_warning(node, "pcap-log: files are written without compression");
    log->honor_pass = conf_bool(node, "honor-pass-rules", false);
    log->use_depth = conf_bool(node, "use-stream-depth", false);
    log->written = counter_register("pcap_log.written", COUNTER_SUM);
    log->filtered = counter_register("pcap_log.filtered_bpf", COUNTER_SUM);
    log->files = files_open(request, node);
    log->sink = files_sink(conf, log->files);
    return log;
}

const struct logger_ops logger_pcap_log = {
    .name = "pcap-log",
    .doc = "packets, to files that can be read again",
    .open = pcap_log_open,
    .close = pcap_log_close,
    .packet = pcap_packet,
};
