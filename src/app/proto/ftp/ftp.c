/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp/ftp.c - FTP's control connection: detection, lines, settings, the declaration. */
#include "app/proto/ftp/ftp.h"

#include "app/lib/line.h"
#include "app/proto.h"
#include "app/reports.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

#define LINE_MAX_DEFAULT 4096
#define LINE_MAX_MOST (64u << 10)       /* half of what the framework buffers */
#define TX_LIMIT 1024

/* --- recognition ---------------------------------------------------------------------------- */

/* POP3 clients start with the same word: the server's side decides. */
static enum app_probe_result confirm_user(struct bytes in UNUSED, enum direction direction UNUSED,
                                          const struct flow *flow)
{
    const struct app_proto *server = app_proto_by_id(
        (enum app_proto_id)flow->app_proto_dir[TO_CLIENT]);

    return server != NULL && strcmp(server->name, "pop3") == 0 ? APP_PROBE_NO : APP_PROBE_YES;
}

static const struct app_pattern patterns[] = {
    { .transport = APP_TCP, .directions = APP_TC, .bytes = "220 (", .nocase = true },
    { .transport = APP_TCP, .directions = APP_TS, .bytes = "FEAT", .nocase = true },
    { .transport = APP_TCP, .directions = APP_TS, .bytes = "USER ", .confirm = confirm_user,
      .confirm_min = 5, .confirm_max = 5 },
    { .transport = APP_TCP, .directions = APP_TS, .bytes = "PASS ", .nocase = true },
    { .transport = APP_TCP, .directions = APP_TS, .bytes = "PORT ", .nocase = true },
    { .bytes = NULL },
};

/* SMTP servers greet in the same way: the port decides. */
static enum app_probe_result ftp_probe_greeting(struct bytes in, enum direction direction UNUSED,
                                                const struct flow *flow)
{
    uint16_t client = flow->app_proto_dir[TO_SERVER];
    const uint8_t *start = take_bytes(&in, 4);

    if (start == NULL)
        return APP_PROBE_MORE;
    if (memcmp(start, "220", 3) != 0 || (start[3] != ' ' && start[3] != '-'))
        return APP_PROBE_NO;
    if (client != APP_PROTO_ftp && client != APP_PROTO_UNKNOWN)
        return APP_PROBE_MORE;
    if (bytes_left(&in) == 0 || memchr(in.next, '\n', bytes_left(&in)) == NULL)
        return APP_PROBE_MORE;
    return APP_PROBE_YES;
}

static const struct app_probe probes[] = {
    { .transport = APP_TCP, .directions = APP_TC, .ports = "21", .min = 5, .max_other = 5,
      .probe = ftp_probe_greeting },
    { .probe = NULL },
};

/* --- lines ---------------------------------------------------------------------------------- */

/* 1: a line was read; 0: more data are needed; -1: stop the parser. */
static int step(struct app_flow *af, enum direction d, struct bytes *in)
{
    const struct ftp_settings *settings = af->settings;
    struct ftp_state *s = af->state;
    struct app_line line;
    enum app_line_result result = app_line_take(&s->drop[d], in, settings->max_line, &line);
    bool is_truncated = result == APP_LINE_TRUNCATED;
    int status;

    if (result == APP_LINE_MORE)
        return 0;
    if (result == APP_LINE_DROPPED)
        return 1;
    status = d == TO_SERVER ? ftp_request(af, line.text, is_truncated)
                            : ftp_reply(af, line.text, is_truncated);
    return status < 0 ? -1 : 1;
}

static enum parse_status ftp_parse(struct app_flow *af, struct app_input *input)
{
    struct bytes in = app_input_bytes(input);
    uint16_t before = af->flow->app_proto_orig;
    int result = 1;

    /* After the reply to AUTH TLS another protocol follows. */
    while (result > 0 && bytes_have(&in, 1) && af->flow->app_proto_orig == before)
        result = step(af, input->direction, &in);
    input->consumed = (uint32_t)(input->len - bytes_left(&in));
    if (result < 0)
        return PARSE_STOP;
    return result > 0 ? PARSE_OK : PARSE_MORE;
}

static void ftp_tx_close(struct app_tx *tx)
{
    ftp_memory_release((struct ftp_tx *)tx);
}

/* --- settings ------------------------------------------------------------------------------- */

/* Names the wrong value and the default that is used. */
static uint64_t read_size(const struct conf_node *node, const char *key, uint64_t otherwise)
{
    const struct conf_node *found = conf_find(node, key);
    uint64_t value;

    if (found == NULL || found->kind == CONF_NULL)
        return otherwise;
    if (text_to_size(text_of(found->value), &value))
        return value;
    conf_warning(found, "ftp: Invalid value \"%s\" for ftp.%s, taking %llu", found->value, key,
                 (unsigned long long)otherwise);
    return otherwise;
}

static int ftp_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                         void *settings, struct err *err UNUSED)
{
    struct ftp_settings *s = settings;
    uint64_t max_line = read_size(node, "max-line-length", LINE_MAX_DEFAULT), max_tx;

    s->max_line = (uint32_t)MAX(1, MIN(max_line, LINE_MAX_MOST));
    s->max_tx = TX_LIMIT;
    if (text_to_u64(text_of(conf_string(node, "max-tx", "")), UINT32_MAX, &max_tx) && max_tx > 0)
        s->max_tx = (uint32_t)max_tx;   /* the framework has reported a wrong value */
    s->memory = xcalloc(1, sizeof(*s->memory));
    s->memory->limit = read_size(node, "memcap", 0);
    s->memory->counted = s->memory->limit != 0;
    return 0;
}

static void ftp_settings_free(void *settings)
{
    struct ftp_settings *s = settings;

    free(s->memory);
}

static struct app_memory *ftp_memory(const void *settings)
{
    const struct ftp_settings *s = settings;

    return s->memory;
}

static struct app_memory *memcap(const struct app_conf *conf)
{
    return app_proto_memory(conf, APP_PROTO_ftp);
}

static void ftp_register_counters(void)
{
    (void)counter_register("ftp.memuse", COUNTER_GAUGE);
    (void)counter_register("ftp.memcap", COUNTER_SUM);
}

static void *ftp_thread_open(const void *settings UNUSED, struct counters *counters)
{
    struct ftp_thread *thread = calloc(1, sizeof(*thread));

    if (thread == NULL)
        return NULL;
    thread->counters = counters;
    thread->used = counter_register("ftp.memuse", COUNTER_GAUGE);
    thread->refused = counter_register("ftp.memcap", COUNTER_SUM);
    return thread;
}

/* --- hand-over ------------------------------------------------------------------------------ */

/* A port that was announced is known only here until its transfer begins. */
static bool ftp_is_between(const struct app_flow *af)
{
    const struct ftp_state *s = af->state;

    return s->open == 0 && !s->auth_tls && s->dynamic_port == 0 && !s->drop[TO_SERVER] &&
           !s->drop[TO_CLIENT];
}

static const struct app_handover_ops handover = { .limit = 8u << 10,
                                                  .is_between = ftp_is_between };

/* --- the declaration ------------------------------------------------------------------------ */

static const struct app_name events[] = { FTP_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "ftpbounce", "ftp:request_complete:generic", NULL }, { NULL, NULL, NULL } },
    .order = (const struct app_report_order[]){
        { "file*", { 6, 5 } }, { "ftp.dynamic_port", { 2, 1 } }, { "ftp.mode", { 2, 1 } },
        { NULL, { 0, 0 } } },
};

const struct app_proto app_ftp = {
    .id = APP_PROTO_ftp,
    .name = "ftp",
    .reports = &reports,
    .files_by = APP_PROTO_ftp_data,
    .memcaps = (const struct app_memcap[]){
        { "ftp", memcap, NULL, NULL }, { NULL, NULL, NULL, NULL } },
    .transports = APP_TCP,
    .first_sender = APP_BOTH,
    .patterns = patterns,
    .probes = probes,
    .expects = true,
    .settings_size = sizeof(struct ftp_settings),
    .configure = ftp_configure,
    .settings_free = ftp_settings_free,
    .memory = ftp_memory,
    .register_counters = ftp_register_counters,
    .thread_open = ftp_thread_open,
    .thread_close = free,
    .state_size = sizeof(struct ftp_state),
    .tx_size = sizeof(struct ftp_tx),
    .tx_limit = TX_LIMIT,
    .marks_tx = true,
    .parse = ftp_parse,
    .handover = &handover,
    .tx_close = ftp_tx_close,
    .progress_done = { FTP_DONE, FTP_DONE },
    .events = events,
    .buffers = ftp_buffers,
    .integers = ftp_integers,
    .matches = ftp_matches,
    .logs = ftp_logs,
    .alert_metadata = ftp_alert_metadata,
};
