/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/tls/tls.c - the declaration of TLS: how it is detected, configured and named. */
#include "app/proto/tls/tls.h"
#include "app/reports.h"
#include "base/array.h"

#include <stdlib.h>
#include <string.h>

/* --- recognition ---------------------------------------------------------------------------- */

/* The hello of SSL 2: a length with its top bit set, then message type 1. */
static enum app_probe_result tls_probe_ssl2(struct bytes in, enum direction d UNUSED,
                                            const struct flow *flow UNUSED)
{
    if (!bytes_have(&in, 3))
        return APP_PROBE_MORE;
    return (in.next[0] & 0x80) != 0 && in.next[2] == 1 ? APP_PROBE_YES : APP_PROBE_NO;
}

#define RECORD(direction, type, minor) \
    { .transport = APP_TCP, .directions = direction, .bytes = type "\x03" minor, .len = 3 }
#define RECORDS(direction, type) \
    RECORD(direction, type, "\x00"), RECORD(direction, type, "\x01"), \
    RECORD(direction, type, "\x02"), RECORD(direction, type, "\x03")

/* The client: a hello in the format of SSL 2, or a record of type 1 or handshake (0x16). The
 * server: an alert, handshake or data. Versions 3.0 to 3.3. */
static const struct app_pattern patterns[] = {
    { .transport = APP_TCP, .directions = APP_TS, .bytes = "\x01\x00\x02", .len = 3,
      .offset = 2, .depth = 5, .confirm = tls_probe_ssl2, .confirm_max = 3 },
    RECORDS(APP_TS, "\x01"),
    RECORDS(APP_TS, "\x16"),
    RECORDS(APP_TC, "\x15"),
    RECORDS(APP_TC, "\x16"),
    RECORDS(APP_TC, "\x17"),
    { .bytes = NULL },
};

static const struct app_probe probes[] = {
    { .transport = APP_TCP, .directions = APP_TS, .ports = "443", .min = 0, .max = 3,
      .probe = tls_probe_ssl2 },
    { .probe = NULL },
};

/* --- settings ------------------------------------------------------------------------------- */

/* An invalid value is an error of the configuration. */
static int fingerprint_setting(const struct conf_node *node, const char *key)
{
    const struct conf_node *found = conf_find(node, key);
    bool on;

    if (found == NULL || text_equal_nocase(text_of(found->value), "auto"))
        return TLS_FINGERPRINT_AUTO;
    if (text_to_bool(text_of(found->value), &on))
        return on ? TLS_FINGERPRINT_YES : TLS_FINGERPRINT_NO;
    conf_error(found, "expected auto, yes or no, got \"%s\"", found->value);
    return TLS_FINGERPRINT_AUTO;
}

/* no-reassemble is the older key for bypass; `default` is the older word for track-only. */
static int encryption_setting(const struct conf_node *node, const struct conf_node *root)
{
    static const char *const words[] = { "track-only", "bypass", "full", "default", NULL };
    int choice;

    if (conf_find(node, "encryption-handling") == NULL)
        return conf_bool(node, "no-reassemble", conf_bool(root, "tls.no-reassemble", false))
                   ? TLS_BYPASS : TLS_TRACK_ONLY;
    choice = conf_choice(node, "encryption-handling", words, 0);
    return choice <= 2 ? choice : TLS_TRACK_ONLY;
}

static int tls_configure(const struct conf_node *node, const struct conf_node *root, void *settings,
                         struct err *err UNUSED)
{
    struct tls_settings *s = settings;

    s->encryption = encryption_setting(node, root);
    s->ja3 = fingerprint_setting(node, "ja3-fingerprints");
    s->ja4 = fingerprint_setting(node, "ja4-fingerprints");
    return 0;
}

static void *tls_thread_open(const void *settings UNUSED, struct counters *counters UNUSED)
{
    struct tls_thread *thread = xcalloc(1, sizeof(*thread));

    thread->digests = digests_new();
    return thread;
}

static void tls_thread_close(void *thread_data)
{
    struct tls_thread *thread = thread_data;

    digests_free(thread->digests);
    tls_chains_fini(&thread->chains);
    free(thread);
}

/* The transaction may end before the flow, after a fatal alert. */
static void tls_tx_close(struct app_tx *tx)
{
    struct tls_state *st = tx->flow->state;
    struct tls_tx *t = tls_tx_of(tx);

    for (unsigned d = 0; d < 2; d++)
        tls_chain_unref(t->ds[d].chain);
    st->tx = NULL;
}

/* --- names ---------------------------------------------------------------------------------- */

static const struct app_name client_progress[] = {
    TLS_CLIENT_PROGRESS_LIST(APP_ENUM_ROW) { NULL, 0 }
};
static const struct app_name server_progress[] = {
    TLS_SERVER_PROGRESS_LIST(APP_ENUM_ROW) { NULL, 0 }
};

/* Rules may name two events that are never raised: a heartbeat alone is no anomaly, and records
 * have their own length limit instead of a count per packet. */
static const struct app_name events[] = { TLS_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

static const char *const frames[] = { TLS_FRAME_LIST(APP_ENUM_TEXT) NULL };

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "ssl_state", "tls_generic", NULL }, { "ssl_version", "tls_generic", NULL },
        { "tls.cert_chain_len", "tls:server_cert_done:generic", NULL },
        { "tls.issuerdn", "tls_cert", NULL }, { "tls.subject", "tls_cert", NULL },
        { "tls.version", "tls_generic", NULL },
        { "tls_cert_expired", "tls:server_cert_done:generic", NULL },
        { "tls_cert_notafter", "tls:server_cert_done:generic", NULL },
        { "tls_cert_notbefore", "tls:server_cert_done:generic", "tls_cert_notafter" },
        { "tls_cert_valid", "tls:server_cert_done:generic", NULL }, { NULL, NULL, NULL } },
    .order = (const struct app_report_order[]){
        { "tls.cert_serial", { 2, 1 } }, { "tls.certs", { 2, 1 } },
        { "tls.cert_fingerprint", { 2, 1 } }, { "tls_cert", { 2, 1 } }, { NULL, { 0, 0 } } },
    .progress = (const struct app_report_progress[]){
        { "tls.random", APP_BOTH, 0 }, { NULL, 0, 0 } },
    .any_hook = "tls_generic",
};

/* The handshake, which begins the flow. */
static const struct app_handover_ops handover = { .limit = 24u << 10 };

const struct app_proto app_tls = {
    .id = APP_PROTO_tls,
    .encrypts = true,
    .absent_event = "applayer_no_tls_after_starttls",
    .name = "tls",
    .reports = &reports,
    .optional_features = (const struct app_optional_feature[]){
        { "ja3", "ja3-fingerprints" }, { "ja4", "ja4-fingerprints" }, { NULL, NULL } },
    .transports = APP_TCP,
    .first_sender = APP_TS,
    .patterns = patterns,
    .probes = probes,
    .settings_size = sizeof(struct tls_settings),
    .configure = tls_configure,
    .thread_open = tls_thread_open,
    .thread_close = tls_thread_close,
    .state_size = sizeof(struct tls_state),
    .tx_size = sizeof(struct tls_tx),
    .single_tx = true,
    .inspect_both_dirs = true,
    .parse = tls_parse,
    .reset = tls_reset,
    .handover = &handover,
    .tx_close = tls_tx_close,
    .progress_done = { TLS_CLIENT_FINISHED, TLS_SERVER_FINISHED },
    .progress_names = { client_progress, server_progress },
    .events = events,
    .events_in_capitals = true,
    .frames = frames,
    .buffers = tls_buffers,
    .integers = tls_integers,
    .matches = tls_matches,
    .logs = tls_logs,
    .alert_metadata = tls_alert_metadata,
};
