/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ssh/ssh.c - the declaration of SSH, and what rules can look into. */
#include "app/proto/ssh/ssh.h"

#include "app/lib/digest.h"
#include "app/proto.h"
#include "app/reports.h"

/* --- buffers ---------------------------------------------------------------------------------- */

/* The banner, and HASSH, can only be inspected once the side's banner is complete. */
#define BANNER_PROGRESS { SSH_BANNER_DONE, SSH_BANNER_DONE }

static const struct app_buffer buffer_proto = {
    .name = "ssh.proto", .alias = "ssh_proto", .doc = "version in the banner: \"2.0\"",
    .directions = APP_BOTH, .progress = BANNER_PROGRESS,
    .field = APP_FIELD_BY_DIRECTION(ssh_tx, ds, proto, FILLED),
};
static const struct app_buffer buffer_software = {
    .name = "ssh.software", .alias = "ssh_software", .doc = "software in the banner",
    .directions = APP_BOTH, .progress = BANNER_PROGRESS,
    .field = APP_FIELD_BY_DIRECTION(ssh_tx, ds, software, FILLED),
};
static const struct app_buffer buffer_hassh = {
    .name = "ssh.hassh", .alias = "ssh-hassh", .doc = "HASSH of the client, the MD5",
    .directions = APP_TS, .progress = BANNER_PROGRESS,
    .field = APP_FIELD_BY_DIRECTION(ssh_tx, ds, hassh, FILLED),
    .any_case = true, .check = md5_pattern_check, .feature = SSH_FEATURE_HASSH,
};
static const struct app_buffer buffer_hassh_string = {
    .name = "ssh.hassh.string", .alias = "ssh-hassh-string",
    .doc = "HASSH of the client, the text", .directions = APP_TS, .progress = BANNER_PROGRESS,
    .field = APP_FIELD_BY_DIRECTION(ssh_tx, ds, hassh_string, FILLED), .feature = SSH_FEATURE_HASSH,
};
static const struct app_buffer buffer_hassh_server = {
    .name = "ssh.hassh.server", .alias = "ssh-hassh-server",
    .doc = "HASSH of the server, the MD5", .directions = APP_TC, .progress = BANNER_PROGRESS,

    .field = APP_FIELD_BY_DIRECTION(ssh_tx, ds, hassh, FILLED),
    .any_case = true, .check = md5_pattern_check, .feature = SSH_FEATURE_HASSH,
};
static const struct app_buffer buffer_hassh_server_string = {
    .name = "ssh.hassh.server.string", .alias = "ssh-hassh-server-string",
    .doc = "HASSH of the server, the text", .directions = APP_TC, .progress = BANNER_PROGRESS,
    .field = APP_FIELD_BY_DIRECTION(ssh_tx, ds, hassh_string, FILLED), .feature = SSH_FEATURE_HASSH,
};

const struct app_buffer *const ssh_buffers[] = {
    &buffer_proto, &buffer_software, &buffer_hassh, &buffer_hassh_string, &buffer_hassh_server,
    &buffer_hassh_server_string, NULL,
};

/* --- declaration ------------------------------------------------------------------------------ */

/* Detection needs only the first four bytes, on any port and in any case. */
static const struct app_pattern patterns[] = {
    { .transport = APP_TCP, .directions = APP_BOTH, .bytes = "SSH-", .nocase = true },
    { .bytes = NULL },
};

/* Names that rules use to bind a rule to a state (hooks). Both lists have the same states. */
#define REQUEST(id, name) { "request_" name, id },
#define RESPONSE(id, name) { "response_" name, id },
static const struct app_name client_progress[] = { SSH_PROGRESS_LIST(REQUEST) { NULL, 0 } };
static const struct app_name server_progress[] = { SSH_PROGRESS_LIST(RESPONSE) { NULL, 0 } };

static const struct app_name events[] = { SSH_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

static const char *const frames[] = { SSH_FRAME_LIST(APP_ENUM_TEXT) NULL };

/* The value of `hassh`: yes computes HASSH always; no and auto only when a rule needs it. */
static int ssh_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                         void *settings, struct err *err UNUSED)
{
    static const char *const words[] = { "track-only", "bypass", "full", NULL };
    const struct conf_node *hassh = conf_find(node, "hassh");
    struct ssh_settings *s = settings;

    s->encryption = conf_choice(node, "encryption-handling", words, SSH_TRACK_ONLY);
    if (hassh != NULL && !text_equal_nocase(text_of(hassh->value), "auto"))
        s->hassh = conf_bool(node, "hassh", false);
    return 0;
}

/* Digest contexts of one thread, for the MD5 of HASSH. */
static void *ssh_thread_open(const void *settings UNUSED, struct counters *counters UNUSED)
{
    return digests_new();
}

static void ssh_thread_close(void *thread_data)
{
    digests_free(thread_data);
}

/* The state lives longer than the transaction, so its pointer must not. */
static void ssh_tx_close(struct app_tx *tx)
{
    struct ssh_state *st = tx->flow->state;

    st->tx = NULL;
}

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "ssh.software", "ssh_software", NULL }, { NULL, NULL, NULL } },
};

/* Until keys are changed. */
static const struct app_handover_ops handover = { .limit = 16u << 10 };

const struct app_proto app_ssh = {
    .id = APP_PROTO_ssh,
    .encrypts = true,
    .name = "ssh",
    .reports = &reports,
    .transports = APP_TCP,
    .patterns = patterns,
    .settings_size = sizeof(struct ssh_settings),
    .configure = ssh_configure,
    .thread_open = ssh_thread_open,
    .thread_close = ssh_thread_close,
    .state_size = sizeof(struct ssh_state),
    .tx_size = sizeof(struct ssh_tx),
    .single_tx = true,
    .parse = ssh_parse,
    .handover = &handover,
    .tx_close = ssh_tx_close,
    .progress_done = { SSH_FINISHED, SSH_FINISHED },
    .progress_names = { client_progress, server_progress },
    .events = events,
    .frames = frames,
    .buffers = ssh_buffers,
    .logs = ssh_logs,
    .alert_metadata = ssh_alert_metadata,
};
