/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smtp/smtp.c - SMTP: detection, lines, and the declaration.
 *
 * Commands, replies and header fields end with LF. A line longer than SMTP_LINE_MAX is cut there,
 * and the rest dropped. In a mail's body a lone CR ends a line, too, as some servers accept it.
 * Long lines of a body come in parts of a fixed size: nothing is lost, and the parts do not depend
 * on TCP segmentation. */
#include "app/lib/line.h"
#include "app/proto.h"
#include "app/proto/smtp/smtp.h"
#include "app/reports.h"
#include "base/memory/lib_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* --- recognition ------------------------------------------------------------------------------ */

static const struct app_pattern patterns[] = {
    { .transport = APP_TCP, .directions = APP_TS, .bytes = "EHLO", .nocase = true },
    { .transport = APP_TCP, .directions = APP_TS, .bytes = "HELO", .nocase = true },
    { .transport = APP_TCP, .directions = APP_TS, .bytes = "QUIT", .nocase = true },
    { .bytes = NULL },
};

static bool is_letter(uint8_t c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* One label of a domain: starts with a letter, does not end with '-'. */
static bool take_label(struct bytes *in)
{
    uint8_t first = peek_u8(in), last = '-';

    while (is_letter(peek_u8(in)) || (peek_u8(in) >= '0' && peek_u8(in) <= '9') ||
           peek_u8(in) == '-')
        last = take_u8(in);
    return is_letter(first) && last != '-';
}

/* A greeting names the server's domain (RFC 5321 section 4.2). Also true while the text could
 * become one. */
static bool begins_with_domain(struct bytes in)
{
    unsigned dots = 0;

    while (take_label(&in) && peek_u8(&in) == '.') {
        take_u8(&in);
        dots++;
        if (is_letter(peek_u8(&in)) || !bytes_have(&in, 1))
            continue;
        return false;
    }
    return dots > 0 || !bytes_have(&in, 1);
}

/* FTP servers greet with 220, too: a domain must follow, or the client must have spoken SMTP. A
 * greeting without the end of its line is not waited for, as in Suricata: when the client has
 * spoken, the probe runs once more. */
static enum app_probe_result smtp_probe_greeting(struct bytes in, enum direction direction UNUSED,
                                                 const struct flow *flow)
{
    uint16_t client = flow->app_proto_dir[TO_SERVER];
    const uint8_t *start = take_bytes(&in, 4);
    bool complete;

    if (start == NULL)
        return APP_PROBE_MORE;
    if (memcmp(start, "220", 3) != 0 || (start[3] != ' ' && start[3] != '-'))
        return APP_PROBE_NO;
    complete = bytes_left(&in) > 0 && memchr(in.next, '\n', bytes_left(&in)) != NULL;
    if (client == APP_PROTO_smtp)
        return complete ? APP_PROBE_YES : APP_PROBE_MORE;
    if (!begins_with_domain(in))
        return APP_PROBE_NO;
    if (client != APP_PROTO_UNKNOWN && client != APP_PROTO_tls)
        return APP_PROBE_MORE;
    return complete ? APP_PROBE_YES : APP_PROBE_MORE;
}

static const struct app_probe probes[] = {
    { .transport = APP_TCP, .directions = APP_TC, .ports = "25,465", .min = 5, .max = 5,
      .max_other = 5, .probe = smtp_probe_greeting },
    { .probe = NULL },
};

/* --- the body of a mail ----------------------------------------------------------------------- */

/* In the header of a mail each line is read as a header line instead. */
static bool is_in_body(const struct smtp_state *s)
{
    return s->data_mode && s->command == SMTP_COMMAND_DATA && s->tx != NULL && !s->tx->done &&
           (s->tx->message == NULL || mime_message_in_body(s->tx->message));
}

/* True if a byte of v is 0. It may also be true for a byte after it, so that the caller looks
 * again. */
static inline bool may_have_zero(uint64_t v)
{
    return ((v - EACH_BYTE(1)) & ~v & EACH_BYTE(0x80)) != 0;
}

/* Offset of the first CR or LF; n: none. Bodies are long: eight bytes per step. */
static size_t find_cr_or_lf(const uint8_t *p, size_t n)
{
    size_t i = 0;
    uint64_t v;

    for (; i + 8 <= n; i += 8) {
        memcpy(&v, p + i, 8);
        if (may_have_zero(v ^ EACH_BYTE('\r')) || may_have_zero(v ^ EACH_BYTE('\n')))
            break;
    }
    while (i < n && p[i] != '\r' && p[i] != '\n')
        i++;
    return i;
}

/* Finds the end of a line's text. False: not enough data yet. A CR at the end of the data waits for
 * one more byte. */
static bool find_line_end(struct bytes in, bool end, struct slice *text, uint32_t *end_len)
{
    const uint8_t *p = in.next;
    size_t n = MIN(bytes_left(&in), MIME_CHUNK_MAX), i;

    text->data = p;
    *end_len = 0;
    i = find_cr_or_lf(p, n);
    text->len = (uint32_t)i;
    if (i == n)
        return n == MIME_CHUNK_MAX || end;
    *end_len = p[i] == '\r' && i + 1 < bytes_left(&in) && p[i + 1] == '\n' ? 2 : 1;
    return p[i] == '\n' || i + 1 < bytes_left(&in) || end;
}

static bool is_dot(struct slice text)
{
    return text.len == 1 && text.data[0] == '.';
}

/* The mail's frame was opened with an unknown length. */
static void end_of_mail(struct smtp_state *s, uint64_t offset)
{
    app_frame_set_length(s->af, TO_SERVER, s->data_frame, (int64_t)(offset - s->data_frame_start));
    s->data_frame = 0;
    s->in_line = false;
}

/* A line that may be a boundary is read like a header line: in one part. */
static bool is_dashed(const struct smtp_state *s, struct bytes in)
{
    return !s->in_line && peek_u8(&in) == '-' &&
           (!bytes_have(&in, 2) || peek_be16(&in) == ('-' << 8 | '-'));
}

/* One part of a body line. False: more data are needed. */
static bool body_chunk(struct smtp_state *s, struct bytes *in, bool end, uint64_t offset)
{
    struct mime_line line = { .first = !s->in_line };
    struct smtp_line dot = { .end_len = 1, .offset = offset };
    uint32_t end_len;

    if (!find_line_end(*in, end, &line.text, &end_len))
        return false;
    take_skip(in, line.text.len);
    line.end = take_slice(in, end_len);
    if (line.first && is_dot(line.text) && end_len > 0) {
        dot.text = line.text;
        (void)smtp_request(s, &dot);
        return true;
    }
    smtp_mail_line(s, &line);
    s->in_line = end_len == 0;
    return true;
}

/* --- BDAT ------------------------------------------------------------------------------------- */

/* The chunk's bytes are counted, not read. It may end within a line: the next command follows at
 * once (RFC 3030, 2). */
static void skip_chunk(struct smtp_state *s, struct bytes *in)
{
    struct slice chunk = take_slice(in, (size_t)MIN(s->chunk_left, bytes_left(in)));

    s->chunk_left -= chunk.len;
    s->data_mode = s->chunk_left > 0;
    smtp_chunk_data(s, chunk);
}

/* --- directions ------------------------------------------------------------------------------- */

static uint64_t offset_of(const struct app_input *in, const struct bytes *at)
{
    return in->offset + (uint64_t)(at->next - in->data);
}

static enum app_line_result next_line(struct smtp_state *s, enum direction d, struct bytes *in,
                                      struct smtp_line *out)
{
    struct app_line line = { 0 };
    enum app_line_result result = app_line_take(&s->discard[d], in, SMTP_LINE_MAX, &line);

    out->text = line.text;
    out->end_len = line.end_len;
    return result;
}

/* One line. 1: read; 0: more data are needed; -1: stop the parser. */
static int client_line(struct smtp_state *s, struct bytes *in, uint64_t offset)
{
    struct smtp_line line = { .offset = offset };
    enum app_line_result result = next_line(s, TO_SERVER, in, &line);

    if (result == APP_LINE_MORE)
        return 0;
    if (result == APP_LINE_DROPPED)
        return 1;
    smtp_chunk_line(s, line.text);
    if (smtp_request(s, &line) < 0)
        return -1;
    if (result == APP_LINE_TRUNCATED)
        smtp_event(s, SMTP_EVENT_TRUNCATED_LINE);
    return 1;
}

/* One step of the client's direction: a chunk, a part of a mail's body, or a line. */
static int client_step(struct smtp_state *s, const struct app_input *input, struct bytes *in)
{
    bool was_mail = s->data_mode && s->command == SMTP_COMMAND_DATA;
    uint64_t offset = offset_of(input, in);
    int result = 1;

    if (s->data_mode && s->command == SMTP_COMMAND_BDAT)
        skip_chunk(s, in);
    else if (is_in_body(s) && !s->discard[TO_SERVER] && !is_dashed(s, *in))
        result = body_chunk(s, in, input->end, offset);
    else
        result = client_line(s, in, offset);
    if (result > 0 && was_mail && !s->data_mode)
        end_of_mail(s, offset_of(input, in));
    return result;
}

static int server_step(struct smtp_state *s, const struct app_input *input, struct bytes *in)
{
    struct smtp_line line = { .offset = offset_of(input, in) };
    enum app_line_result result = next_line(s, TO_CLIENT, in, &line);

    if (result == APP_LINE_MORE)
        return 0;
    if (result == APP_LINE_DROPPED)
        return 1;
    if (smtp_reply(s, &line) < 0)
        return -1;
    if (result == APP_LINE_TRUNCATED)
        smtp_event(s, SMTP_EVENT_TRUNCATED_LINE);
    return 1;
}

static enum parse_status smtp_parse(struct app_flow *af, struct app_input *input)
{
    struct smtp_state *s = af->state;
    struct bytes in = app_input_bytes(input);
    bool changed = af->flow->app_proto_orig != APP_PROTO_UNKNOWN;
    int result = 1;

    while (result > 0 && bytes_have(&in, 1)) {
        result = input->direction == TO_SERVER ? client_step(s, input, &in)
                                               : server_step(s, input, &in);
        if (!changed && af->flow->app_proto_orig != APP_PROTO_UNKNOWN)
            break;                      /* TLS follows */
    }
    input->consumed = (uint32_t)(input->len - bytes_left(&in));
    if (result < 0)
        return PARSE_STOP;
    return result > 0 ? PARSE_OK : PARSE_MORE;
}

/* --- life ------------------------------------------------------------------------------------- */

static bool smtp_open(struct app_flow *af)
{
    struct smtp_thread *thread = af->thread_data;
    struct smtp_state *s = af->state;

    s->af = af;
    if (thread != NULL && thread->spares > 0)
        s->waiting = thread->spare[--thread->spares];
    return true;
}

/* Small queues go back to the thread for the next flow. */
static void smtp_close(struct app_flow *af)
{
    struct smtp_thread *thread = af->thread_data;
    struct smtp_state *s = af->state;

    if (thread != NULL && thread->spares < SMTP_SPARES && s->waiting.data != NULL &&
        s->waiting.cap <= 1024) {
        buf_clear(&s->waiting);
        thread->spare[thread->spares++] = s->waiting;
        s->waiting = (struct buf){ 0 };
    }
    buf_fini(&s->waiting);
    lib_free((void *)(uintptr_t)s->helo.data);
    s->helo = (struct slice){ 0 };
}

/* After a change of protocol the old flow's state is kept and still valid. */
static void smtp_tx_close(struct app_tx *tx)
{
    struct smtp_tx *stx = (struct smtp_tx *)tx;
    struct smtp_state *s = tx->flow->state;

    stx->message = NULL;
    if (s != NULL && s->tx == stx)
        s->tx = NULL;
}

static void smtp_finish(struct app_flow *af)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        app_files_leave(tx, TO_SERVER);
}

/* Until rules have inspected the first part of a file, they wait for content-inspect-min-size
 * bytes. */
static uint32_t smtp_lookbehind(const struct app_flow *af, enum direction d)
{
    const struct smtp_settings *settings = af->settings;

    if (d == TO_CLIENT)
        return 0;
    for (const struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        for (const struct app_file *file = tx->files[d]; file != NULL; file = file->next)
            if (file->inspected > 0)
                return 0;
    return settings->window.min_inspect;
}

static void *smtp_thread_open(const void *settings UNUSED, struct counters *counters UNUSED)
{
    struct smtp_thread *thread = calloc(1, sizeof(*thread));

    if (thread != NULL)
        arena_init(&thread->scratch, 4096, 0);
    return thread;
}

static void smtp_thread_close(void *data)
{
    struct smtp_thread *thread = data;

    while (thread->spares > 0)
        buf_fini(&thread->spare[--thread->spares]);
    arena_fini(&thread->scratch);
    free(thread);
}

/* --- hand-over -------------------------------------------------------------------------------- */

static bool smtp_is_between(const struct app_flow *af)
{
    const struct smtp_state *s = af->state;

    return !s->data_mode && s->replied == s->waiting.len && !s->multiline &&
           !s->discard[TO_SERVER] && !s->discard[TO_CLIENT];
}

#define ADD(out, d, text) app_prelude_add((out), (d), (text), sizeof(text) - 1)

static void add_helo(const struct smtp_state *s, struct buf *out)
{
    static const char helo[] = "HELO ";
    uint8_t line[sizeof(helo) + SMTP_LINE_MAX + 2];
    uint32_t len = MIN(s->helo.len, SMTP_LINE_MAX);

    memcpy(line, helo, sizeof(helo) - 1);
    memcpy(line + sizeof(helo) - 1, s->helo.data, len);
    memcpy(line + sizeof(helo) - 1 + len, "\r\n", 2);
    app_prelude_add(out, TO_SERVER, line, (uint32_t)sizeof(helo) - 1 + len + 2);
    if (s->pipelining)
        ADD(out, TO_CLIENT, "250-PIPELINING\r\n");
    ADD(out, TO_CLIENT, "250 \r\n");
}

/* A mail whose first part was too long to be kept goes on in its body or in its header. */
static void add_mail(const struct smtp_state *s, struct buf *out)
{
    char line[64];

    if (s->command == SMTP_COMMAND_DATA) {
        ADD(out, TO_SERVER, "DATA\r\n");
        ADD(out, TO_CLIENT, "354 \r\n");
        if (is_in_body(s))
            ADD(out, TO_SERVER, "\r\n");
    } else if (s->command == SMTP_COMMAND_BDAT) {
        int len = snprintf(line, sizeof(line), "BDAT %llu\r\n",
                           (unsigned long long)s->chunk_left);

        app_prelude_add(out, TO_SERVER, line, (uint32_t)len);
    }
}

static void smtp_prelude(const struct app_flow *af, struct buf *out)
{
    const struct smtp_state *s = af->state;

    if (s->welcomed)
        ADD(out, TO_CLIENT, "220 \r\n");
    if (s->helo.data != NULL)
        add_helo(s, out);
    if (s->data_mode)
        add_mail(s, out);
}

/* Most mails are shorter. */
static const struct app_handover_ops handover = { .limit = 60u << 10,
                                                  .is_between = smtp_is_between,
                                                  .prelude = smtp_prelude };

/* --- the declaration -------------------------------------------------------------------------- */

const struct app_name smtp_events[] = { SMTP_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

static const char *const frames[] = { SMTP_FRAME_LIST(APP_ENUM_TEXT) NULL };

/* As Suricata has them. */
static const struct app_reports reports = {
    .order = (const struct app_report_order[]){
        { "file*", { 15, 0 } }, { NULL, { 0, 0 } } },
    /* Suricata 8, whose report this is, has no step for the mail. */
    .progress = (const struct app_report_progress[]){ { "*", APP_BOTH, 0 }, { NULL, 0, 0 } },
    .hook_progress = 1,
};

#define STATES(side)                                                                             \
    (const struct app_name[]){                                                                   \
        { side "_data", SMTP_DATA }, { NULL, 0 } }

const struct app_proto app_smtp = {
    .id = APP_PROTO_smtp,
    .name = "smtp",
    .reports = &reports,
    .transports = APP_TCP,
    .patterns = patterns,
    .probes = probes,
    .settings_size = sizeof(struct smtp_settings),
    .configure = smtp_configure,
    .settings_free = smtp_settings_free,
    .thread_open = smtp_thread_open,
    .thread_close = smtp_thread_close,
    .state_size = sizeof(struct smtp_state),
    .tx_size = sizeof(struct smtp_tx),
    .open = smtp_open,
    .close = smtp_close,
    .parse = smtp_parse,
    .handover = &handover,
    .tx_close = smtp_tx_close,
    .finish = smtp_finish,
    .lookbehind = smtp_lookbehind,
    .progress_done = { SMTP_COMPLETE, SMTP_COMPLETE },
    .progress_names = { STATES("request"), STATES("response") },
    .steps_of_nine = 1u << SMTP_DATA,
    .events = smtp_events,
    .frames = frames,
    .buffers = smtp_buffers,
    .logs = smtp_logs,
    .alert_metadata = smtp_alert_metadata,
    .file_directions = APP_TS,
};
