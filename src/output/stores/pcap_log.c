/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/stores/pcap_log.c - `pcap-log`: packets, to files that can be read again.
 *
 * The rendering half chooses packets and makes records in libpcap's format; the sink in
 * pcap_files.c distributes them to files. With `conditional: alerts` a flow's packets with
 * payload are kept in the flow until it has an alert. */
#include <pcap/pcap.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "app/parser.h"
#include "base/report/log.h"
#include "detect/rule/keyword.h"
#include "output/eve/eve.h"
#include "output/output_private.h"
#include "output/pcap_files.h"
#include "packet/decode.h"

/* Suricata has no such copies: it writes the segments that reassembly still has. */
#define BUFFERED_MAX (256u << 10)           /* of one flow, before its first alert */

enum pcap_condition { CONDITION_ALL, CONDITION_ALERTS, CONDITION_TAG };

/* A program of BPF is for one link type. Owned by the log. */
struct pcap_filter { int linktype; struct bpf_program program; };

struct pcap_log {
    struct sink *sink;
    struct pcap_files *files;
    enum pcap_condition condition;
    bool honor_pass, use_depth;
    ARRAY_OF(struct pcap_filter) filters;       /* by link type; none: no filter */
    counter_id written, filtered;
};

/* --- which packets ------------------------------------------------------------------------ */

/* A link type on which the filter does not compile passes no packet. */
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

/* Packets that are left out: `honor-pass-rules` those that a pass rule has released, and
 * `use-stream-depth` those past the depth of reassembly. */
static bool is_released(const struct pcap_log *log, const struct packet *p)
{
    if (log->honor_pass &&
        ((p->action & ACTION_PASS) || (p->flow != NULL && (p->flow->action & ACTION_PASS))))
        return true;
    return log->use_depth && p->payload_len > 0 && packet_is_tcp(p) && p->flow != NULL &&
           (flow_requests(p->flow) & (packet_direction(p) == TO_SERVER ? FLOW_REQ_NO_STREAM_TS
                                                                     : FLOW_REQ_NO_STREAM_TC));
}

/* The packet that a rule with `tag` matched on is not tagged itself. */
static bool starts_tag(const struct packet *p)
{
    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++) {
        const struct rule *r = packet_alerts(p)[i].rule;

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
        return detect_slot(p)->alert_count > 0 ||
               (p->flow != NULL && (p->flow->inspect_flags & FLOW_INSPECT_ALERTED) != 0);
    case CONDITION_TAG:
        return (p->flags & PACKET_TAGGED) || starts_tag(p);
    default:
        return true;
    }
}

/* Into the record, or into the flow's buffer. The thread's number chooses the file in mode
 * multi. */
static void add_record(struct buf *out, const struct packet *p, unsigned thread)
{
    struct pcap_record h = { .seconds = (uint32_t)(p->time_us / 1000000),
                             .micros = (uint32_t)(p->time_us % 1000000),
                             .len = p->len, .wire_len = p->wire_len, .thread = thread };

    buf_add(out, &h, sizeof(h));
    buf_add(out, p->data, p->len);
}

/* Keeps a packet for a later alert. Above the limit of the flow newer packets are not
 * kept. */
static void hold(struct packet *p, unsigned thread)
{
    struct app_flow *af = p->flow != NULL ? p->flow->app : NULL;

    struct app_ext *ext;

    if (af == NULL || !packet_is_tcp(p) || p->payload_len == 0)
        return;
    ext = app_ext_make(af);
    if (ext != NULL && ext->buffered.len + sizeof(struct pcap_record) + p->len <= BUFFERED_MAX)
        add_record(&ext->buffered, p, thread);
}

static bool has_kept(const struct packet *p)
{
    const struct app_flow *af = p->flow != NULL ? p->flow->app : NULL;

    return af != NULL && af->ext != NULL && af->ext->buffered.len > 0;
}

static void add_kept(struct render *r, const struct packet *p)
{
    struct buf *kept = &p->flow->app->ext->buffered;

    buf_add(r->out, kept->data, kept->len);
    buf_fini(kept);
}

/* Pseudo packets never were on the wire. But their alerts, at the end of a flow, are about packets
 * that it has kept. */
static void pseudo_packet(const struct pcap_log *log, struct render *r, const struct packet *p)
{
    if (!has_kept(p) || !meets_condition(log, p))
        return;
    pcap_files_note(log->files, p->time_us);
    pcap_files_set_linktype(log->files, eve_linktype(p));
    record_begin(r, log->sink);
    add_kept(r, p);
    record_end(r);
}

/* Runs on the inspecting thread. Packets from inside a tunnel are part of their root, which is
 * logged. What the flow has kept goes first, in one record with the packet. */
static void pcap_packet(struct render *r, void *self, struct packet *p)
{
    struct pcap_log *log = self;

    if (p->flags & PACKET_PSEUDO) {
        pseudo_packet(log, r, p);
        return;
    }
    if (p->root != NULL || p->data == NULL || is_released(log, p))
        return;
    pcap_files_note(log->files, p->time_us);
    if (!passes_filter(log, p)) {
        counter_inc(r->counters, log->filtered);
        return;
    }
    if (!meets_condition(log, p)) {
        hold(p, r->thread);
        return;
    }
    pcap_files_set_linktype(log->files, eve_linktype(p));
    record_begin(r, log->sink);
    if (has_kept(p))
        add_kept(r, p);
    add_record(r->out, p, r->thread);
    record_end(r);
    counter_inc(r->counters, log->written);
}

/* --- set-up ------------------------------------------------------------------------------- */

/* Once for each link type, as captures may have several. An expression that fails for all
 * of them is an error. */
static int compile_filter(struct pcap_log *log, const char *expression, struct err *err)
{
    char why[PCAP_ERRBUF_SIZE] = "";

    for (unsigned d = DATALINK_ETHERNET; d <= DATALINK_IPV6; d++) {
        struct packet sample = { .datalink = (uint8_t)d };
        struct pcap_filter f = { .linktype = eve_linktype(&sample) };
        pcap_t *dead = pcap_open_dead(f.linktype, PCAP_SNAPLEN);

        if (dead == NULL)
            continue;
        if (pcap_compile(dead, &f.program, expression, 1, PCAP_NETMASK_UNKNOWN) == 0)
            ARRAY_PUSH(&log->filters, f);
        else
            snprintf(why, sizeof(why), "%s", pcap_geterr(dead));
        pcap_close(dead);
    }
    return log->filters.count > 0 ? 0 :
        err_at(err, NO_LOCATION, "bpf-filter \"%s\": %s", expression, why);
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
    return err_at(err, NO_LOCATION,
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
    log->files = pcap_files_open(request, node, &log->sink, conf, err);
    if (log->files == NULL) {
        pcap_log_close(log);
        return NULL;
    }
    log->honor_pass = conf_bool(node, "honor-pass-rules", false);
    log->use_depth = conf_bool(node, "use-stream-depth", false);
    log->written = counter_register("pcap_log.written", COUNTER_SUM);
    log->filtered = counter_register("pcap_log.filtered_bpf", COUNTER_SUM);
    return log;
}

const struct logger_ops logger_pcap_log = {
    .name = "pcap-log",
    .doc = "packets, to files that can be read again",
    .is_evidence = true,
    .open = pcap_log_open,
    .close = pcap_log_close,
    .packet = pcap_packet,
};
