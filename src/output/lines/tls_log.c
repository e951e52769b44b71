/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/tls_log.c - `tls-log`: a line for each handshake.
 *
 * Names are written as the certificate parser made them, up to the first byte of zero and without
 * escapes: so does Suricata. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "app/proto/tls/tls.h"
#include "output/lines/line_log.h"
#include "output/text.h"

struct tls_log {
    struct line_log line;
    bool resumed;               /* also logs sessions without a certificate */
};

static void *tls_log_open(const struct output_request *request, struct output_conf *conf,
                          const struct conf_node *node, struct err *err)
{
    struct tls_log *log = xcalloc(1, sizeof(*log));

    log->resumed = conf_bool(node, "session-resumption", true);
    if (line_log_init(&log->line, conf, node, err) == 0)
        log->line.sink = sink_open(request, conf, node, "tls.log", err);
    if (log->line.sink == NULL) {
        line_log_fini(&log->line);
        free(log);
        return NULL;
    }
    return log;
}

static void tls_log_close(void *self)
{
    struct tls_log *log = self;

    line_log_fini(&log->line);
    free(log);
}

/* --- fields ------------------------------------------------------------------------------- */

/* Stops at the first byte of zero. */
static void add_text(struct buf *out, struct slice s)
{
    const uint8_t *end = s.len > 0 ? memchr(s.data, '\0', s.len) : NULL;

    buf_add(out, s.data, end != NULL ? (size_t)(end - s.data) : s.len);
}

static void add_field(struct buf *out, const char *key, struct slice value)
{
    buf_printf(out, "%s='", key);
    add_text(out, value);
    buf_add_u8(out, '\'');
}

/* A field that is not there leaves no blank either. */
static void add_field_if(struct buf *out, const char *key, struct slice value)
{
    if (value.data == NULL)
        return;
    buf_add_u8(out, ' ');
    add_field(out, key, value);
}

/* The version that the server chose. */
static void add_version(struct buf *out, const struct tls_tx *t)
{
    char text[TLS_VERSION_TEXT];

    buf_printf(out, "VERSION='%s'", tls_version_name(t->ds[TO_CLIENT].version, text));
}

/* UTC, without a zone; as in Suricata. A date that strftime() cannot write is left out. */
static void add_date(struct buf *out, const char *key, int64_t date)
{
    time_t time = (time_t)date;
    struct tm tm;
    char text[40];

    if (gmtime_r(&time, &tm) == NULL ||
        strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm) == 0)
        return;
    buf_printf(out, "%s='%s'", key, text);
}

static void add_date_if(struct buf *out, const char *key, int64_t date)
{
    if (date == 0)
        return;
    buf_add_u8(out, ' ');
    add_date(out, key, date);
}

/* --- the fixed forms ---------------------------------------------------------------------- */

/* A resumed session has no certificate; the mark distinguishes it from a handshake whose
 * certificate was not seen. */
static void add_basic(struct buf *out, const struct packet *p, const struct tls_tx *t)
{
    const struct tls_dir *server = &t->ds[TO_CLIENT];
    struct line_ends ends = line_ends_of(p);

    text_time(out, p->time_us);
    buf_add_u8(out, ' ');
    text_address(out, ends.client);
    buf_printf(out, ":%u -> ", ends.client_port);
    text_address(out, ends.server);
    buf_printf(out, ":%u  TLS:", ends.server_port);
    add_field_if(out, "Subject", tls_certificate_of(server)->subject);
    add_field_if(out, "Issuerdn", tls_certificate_of(server)->issuer);
    if (t->resumed && !server->has_certificate && !t->without_certificate &&
        server->legacy_version != 0)
        BUF_LITERAL(out, " Session='resumed'");
}

/* SERIAL is the serial number of the client's certificate, but only shown if the server's
 * has one. Suricata mixes them up in the same way. */
static void add_extended(struct buf *out, const struct tls_tx *t)
{
    const struct tls_certificate *c = tls_certificate_of(&t->ds[TO_CLIENT]);

    add_field_if(out, "SHA1", c->fingerprint);
    add_field_if(out, "SNI", t->ds[TO_SERVER].sni);
    if (c->serial.data != NULL) {
        buf_add_u8(out, ' ');
        add_field(out, "SERIAL", tls_certificate_of(&t->ds[TO_SERVER])->serial);
    }
    buf_add_u8(out, ' ');
    add_version(out, t);
    add_date_if(out, "NOTBEFORE", c->not_before);
    add_date_if(out, "NOTAFTER", c->not_after);
}

/* --- the user's own form ------------------------------------------------------------------ */

static void add_or_dash(struct buf *out, struct slice value)
{
    if (value.data != NULL)
        add_text(out, value);
    else
        buf_add_u8(out, '-');
}

/* The letters of Suricata's customformat. */
static void add_item(struct buf *out, char what, const struct tls_tx *t)
{
    const struct tls_certificate *c = tls_certificate_of(&t->ds[TO_CLIENT]);

    switch (what) {
    case 'v': add_version(out, t); break;
    case 'd': add_date(out, "NOTBEFORE", c->not_before); break;
    case 'D': add_date(out, "NOTAFTER", c->not_after); break;
    case 'f': add_or_dash(out, c->fingerprint); break;
    case 'n': add_or_dash(out, t->ds[TO_SERVER].sni); break;
    case 's': add_or_dash(out, c->subject); break;
    case 'i': add_or_dash(out, c->issuer); break;
    case 'E': add_extended(out, t); break;
    default: buf_add_u8(out, '-'); break;
    }
}

static void add_custom(const struct line_log *log, struct buf *out, const struct packet *p,
                       const struct tls_tx *t)
{
    struct line_ends ends = line_ends_of(p);

    for (size_t i = 0; i < log->format.items.count; i++)
        if (!line_add_common(out, &log->format.items.at[i], p, &ends))
            add_item(out, log->format.items.at[i].what, t);
}

/* Runs on the inspecting thread, for each transaction and packet. `custom` replaces both
 * fixed forms. */
static void tls_log_tx(struct render *r, void *self, struct packet *p, struct app_tx *tx)
{
    /* Later than EVE's record, because Suricata's tls-log waits longer for the client. */
    static const uint8_t progress[2] = {
        [TO_SERVER] = TLS_CLIENT_FINISHED, [TO_CLIENT] = TLS_SERVER_HELLO_DONE,
    };
    const struct tls_log *log = self;
    const struct tls_tx *t = tls_tx_of(tx);

    if (tx->flow->proto != &app_tls || !line_log_due(&log->line, tx, progress))
        return;
    if (!t->ds[TO_CLIENT].has_certificate && !t->without_certificate &&
        !(t->resumed && log->resumed))
        return;
    record_begin(r, log->line.sink);
    if (log->line.custom)
        add_custom(&log->line, r->out, p, t);
    else
        add_basic(r->out, p, t);
    if (log->line.extended && !log->line.custom)
        add_extended(r->out, t);
    line_end(r, p);
}

const struct logger_ops logger_tls_log = {
    .name = "tls-log",
    .doc = "TLS handshakes, one a line",
    .open = tls_log_open,
    .close = tls_log_close,
    .tx = tls_log_tx,
};
