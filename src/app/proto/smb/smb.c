/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/smb/smb.c - the declaration of SMB, its settings, and what rules can look into. */
#include "app/proto/smb/events.h"
#include "app/proto/smb/names.h"
#include "app/proto/smb/record.h"
#include "app/proto/smb/state.h"
#include "app/proto/smb/tx.h"
#include "app/reports.h"

#include <stdio.h>

#define MAX_SIZE (16u << 20)            /* of a read or write; Suricata has the same default */
#define MAX_QUEUE_SIZE (64u << 20)      /* bytes of a file that wait */
#define MAX_QUEUE_COUNT 64              /* extents that wait */
#define MAX_STUB_SIZE (1u << 20)        /* of stub data, per direction of a call */
#define PROBE_MIN (NBSS_HEADER_LEN + SMB1_HEADER_LEN)       /* the shortest header */
#define MESSAGE_MAX (NBSS_HEADER_LEN + 0xffffffu)           /* the largest length of 24 bits */

/* --- rules ---------------------------------------------------------------------------------- */

enum { SHARE, PIPE };

/* A tree connect is to a pipe or to a share: each buffer is empty for the other. */
static bool find_share(struct app_tx *tx, enum direction d UNUSED, const struct app_key *key,
                       unsigned i UNUSED, struct slice *out)
{
    const struct smb_tx *t = smb_tx_of(tx);

    if (t->kind != SMB_TREE_CONNECT || t->tree.is_pipe != (key->number == PIPE))
        return false;
    *out = t->tree.share;
    return true;
}

/* NULL: no session setup, or one without a readable NTLMSSP message. */
static const void *ntlmssp_of(struct app_tx *tx, enum direction d UNUSED, unsigned i UNUSED)
{
    const struct smb_tx *t = smb_tx_of(tx);

    return t->kind == SMB_SESSION_SETUP ? t->setup.ntlmssp : NULL;
}

/* The struct smb_call of a transaction that is one. */
static const void *call_of(struct app_tx *tx, enum direction d UNUSED, unsigned i UNUSED)
{
    const struct smb_tx *t = smb_tx_of(tx);

    return t->kind == SMB_DCERPC ? &t->call : NULL;
}

static const struct app_path ntlmssp_path = { .find = ntlmssp_of };
static const struct app_path call_path = { .find = call_of };

/* dcerpc.iface and dcerpc.opnum match requests only, as Suricata does. */
static bool is_request(const struct smb_tx *t)
{
    return t->kind == SMB_DCERPC && t->call.ds[TO_SERVER].type == DCE_REQUEST;
}

/* The interfaces belong to the flow: any that an accepted bind offered matches. */
static bool iface_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    const struct smb_state *st = tx->flow->state;

    if (!is_request(smb_tx_of(tx)))
        return false;
    for (unsigned i = 0; i < st->interfaces.count; i++)
        if (dce_iface_has(arg, &st->interfaces.at[i]))
            return true;
    return false;
}

static bool opnum_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    const struct smb_tx *t = smb_tx_of(tx);

    return is_request(t) && dce_opnum_has(arg, t->call.opnum);
}

/* Rules know SMB1 as 1, and all later versions as 2. */
static int version_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    uint64_t version;

    if (!text_to_u64(text_trim(in), 2, &version) || version == 0)
        return err_set(err, "smb.version: expected 1 or 2, found \"%.*s\"", TEXT(in));
    *(uint8_t *)arg = (uint8_t)version;
    return 0;
}

static bool version_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    return smb_tx_of(tx)->version == *(const uint8_t *)arg;
}

static bool tell_version(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    buf_printf(out, "the version is %u", smb_tx_of(tx)->version);
    return true;
}

static bool tell_opnum(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    const struct smb_tx *t = smb_tx_of(tx);

    if (is_request(t))
        buf_printf(out, "the operation is %u", t->call.opnum);
    else
        buf_add_string(out, "the transaction calls no operation");
    return true;
}

static bool tell_iface(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    const struct smb_state *st = tx->flow->state;

    if (is_request(smb_tx_of(tx)))
        dce_ifaces_tell(&st->interfaces, out);
    else
        buf_add_string(out, "the transaction calls no operation");
    return true;
}

static const struct app_buffer named_pipe = {
    .name = "smb.named_pipe", .alias = "smb_named_pipe", .doc = "pipe that a tree connect is to",
    .directions = APP_TS, .find = find_share, .key.number = PIPE,
};
static const struct app_buffer share = {
    .name = "smb.share", .alias = "smb_share", .doc = "share that a tree connect is to",
    .directions = APP_TS, .find = find_share, .key.number = SHARE,
};
static const struct app_buffer ntlmssp_user = {
    .name = "smb.ntlmssp_user", .doc = "user who logs on", .directions = APP_TS,
    .field = APP_FIELD_PART(&ntlmssp_path, smb_ntlmssp, user, ALWAYS),
};
static const struct app_buffer ntlmssp_domain = {
    .name = "smb.ntlmssp_domain", .doc = "domain of the user who logs on", .directions = APP_TS,
    .field = APP_FIELD_PART(&ntlmssp_path, smb_ntlmssp, domain, ALWAYS),
};
static const struct app_buffer stub_data = {
    .name = "dcerpc.stub_data", .alias = "dce_stub_data", .doc = "arguments and results of calls",
    .directions = APP_BOTH, .grows = true,
    /* As far as dcerpc.max-stub-size keeps them. */
    .field = APP_FIELD_PART_BY_DIRECTION(&call_path, smb_call, ds, stub.kept, FILLED),
};
static const struct app_match iface = {
    .name = "dcerpc.iface", .alias = "dce_iface",
    .doc = "interface called, with its version: equal, < > or !",
    .syntax = "<uuid>[,[<op>]<version>][,any_frag]",
    .directions = APP_BOTH,
    .arg_size = sizeof(struct dce_iface_arg), .parse = dce_iface_parse, .match = iface_match,
    .tell = tell_iface,
};
static const struct app_match opnum = {
    .name = "dcerpc.opnum", .alias = "dce_opnum",
    .doc = "operation called: one of a list, or a comparison",
    .syntax = "<n>|<n>-<n>[,<n>|<n>-<n>]...\n"
              "<number>",
    .directions = APP_BOTH, .arg_size = sizeof(struct dce_opnum_arg), .parse = dce_opnum_parse,
    .match = opnum_match, .tell = tell_opnum,
};
static const struct app_match version = {
    .name = "smb.version", .doc = "1, or 2 for all that came after",
    .syntax = "1|2",
    .directions = APP_BOTH,
    .arg_size = sizeof(uint8_t), .parse = version_parse, .match = version_match,
    .tell = tell_version,
};
APP_FILE_BUFFERS(APP_BOTH, 0, 0);

/* --- settings ------------------------------------------------------------------------------- */

/* A size in bytes. What exceeds 32 bits becomes the largest value. */
static uint32_t size_of(const struct conf_node *node, const char *key, uint32_t otherwise)
{
    return (uint32_t)MIN(conf_size(node, key, otherwise), UINT32_MAX);
}

static uint32_t count_of(const struct conf_node *node, const char *key, uint32_t otherwise)
{
    return (uint32_t)conf_u64_range(node, key, otherwise, 1, UINT32_MAX);
}

/* Keys of one direction: "max-read-size", "max-write-queue-cnt" and so on. */
static void limits_of(const struct conf_node *node, const char *what, struct smb_limits *limits)
{
    char key[40];

    snprintf(key, sizeof(key), "max-%s-size", what);
    limits->max_size = size_of(node, key, MAX_SIZE);
    snprintf(key, sizeof(key), "max-%s-queue-size", what);
    limits->max_queue_size = size_of(node, key, MAX_QUEUE_SIZE);
    snprintf(key, sizeof(key), "max-%s-queue-cnt", what);
    limits->max_queue_count = size_of(node, key, MAX_QUEUE_COUNT);
}

/* "write" limits data that the client writes, "read" data that it reads. The cache limits and their
 * defaults are those of Suricata. */
static int smb_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                         void *settings, struct err *err UNUSED)
{
    struct smb_settings *s = settings;

    limits_of(node, "write", &s->limits[TO_SERVER]);
    limits_of(node, "read", &s->limits[TO_CLIENT]);
    s->max_tx = count_of(node, "max-tx", 1024);
    s->max_stub_size = size_of(node, "dcerpc.max-stub-size", MAX_STUB_SIZE);
    if (s->max_stub_size == 0)
        s->max_stub_size = MAX_STUB_SIZE;
    s->max_names = count_of(node, "max-guid-cache-size", 1024);
    s->max_keys = count_of(node, "max-session-cache-size", 512);
    s->max_offsets = count_of(node, "max-read-offset-cache-size", 128);
    s->max_trees = count_of(node, "max-tree-cache-size", 512);
    s->max_fragments = count_of(node, "max-dcerpc-frag-cache-size", 128);
    return 0;
}

/* --- a flow --------------------------------------------------------------------------------- */

/* The caches start empty; they allocate with their first entry. */
static bool smb_open(struct app_flow *af)
{
    const struct smb_settings *s = af->settings;
    struct smb_state *st = af->state;

    st->flow = af;
    st->names.limit = s->max_names;
    st->keys.limit = s->max_keys;
    st->offsets.limit = s->max_offsets;
    st->trees.limit = s->max_trees;
    st->fragments.limit = s->max_fragments;
    return true;
}

static void smb_close(struct app_flow *af)
{
    struct smb_state *st = af->state;

    buf_fini(&st->dialect_name);
    dce_interfaces_free(&st->interfaces);
    smb_cache_fini(&st->names);
    smb_cache_fini(&st->keys);
    smb_cache_fini(&st->offsets);
    smb_cache_fini(&st->trees);
    smb_cache_fini(&st->fragments);
}

/* Only a file has memory outside the transaction's arena. */
static void smb_tx_close(struct app_tx *tx)
{
    struct smb_tx *t = smb_tx_of(tx);

    if (t->kind == SMB_FILE)
        app_transfer_fini(&t->file.transfer);
}

/* The flow has ended: a file without its close is truncated. */
static void smb_finish(struct app_flow *af)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        if (smb_tx_of(tx)->kind == SMB_FILE)
            app_transfer_leave(&smb_tx_of(tx)->file.transfer);
}

/* --- declaration ---------------------------------------------------------------------------- */

static const struct app_name events[] = { SMB_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* The magic follows the 4 bytes of the session message's header: 0xff SMB1, 0xfe SMB2, 0xfd
 * encrypted SMB3. */
#define MAGIC(first)                                                                           \
    { .transport = APP_TCP, .directions = APP_BOTH, .bytes = first "SMB", .offset = 4,         \
      .depth = 8, .confirm = smb_probe, .confirm_min = PROBE_MIN, .confirm_max = PROBE_MIN }

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "smb.named_pipe", "smb_named_pipe", NULL },
        { "smb.ntlmssp_domain", "smb_ntlmssp_domain", NULL },
        { "smb.ntlmssp_user", "smb_ntlmssp_user", NULL }, { "smb.share", "smb_share", NULL },
        { "smb.version", "smb_version", NULL }, { NULL, NULL, NULL } },
    .order = (const struct app_report_order[]){
        { "file*", { 4, 3 } }, { "dce_stub_data", { 1, 2 } }, { "dce_generic", { 2, 4 } },
        { NULL, { 0, 0 } } },
};

/* Names of trees and files stay behind. */
static bool smb_is_between(const struct app_flow *af)
{
    const struct smb_state *s = af->state;

    for (unsigned d = 0; d < 2; d++)
        if (s->ds[d].searching || s->ds[d].cut_off || s->ds[d].skip > 0 || s->ds[d].file_left > 0)
            return false;
    return !s->full;
}

static const struct app_handover_ops handover = { .limit = 16u << 10,
                                                  .is_between = smb_is_between };

const struct app_proto app_smb = {
    .id = APP_PROTO_smb,
    .name = "smb",
    .reports = &reports,
    .also = { APP_PROTO_dcerpc },
    .transports = APP_TCP,
    .inspect_both_dirs = true,  /* one side's data name the other side's command */
    .patterns = (const struct app_pattern[]){ MAGIC("\xff"), MAGIC("\xfe"), MAGIC("\xfd"),
                                              { .bytes = NULL } },
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "139,445", .min = PROBE_MIN,
          .max = PROBE_MIN, .probe = smb_probe },
        { .probe = NULL } },
    .settings_size = sizeof(struct smb_settings),
    .configure = smb_configure,
    .state_size = sizeof(struct smb_state),
    .tx_size = sizeof(struct smb_tx),
    .tx_limit = 1024,
    .too_many_tx_event = SMB_TOO_MANY_TRANSACTIONS,
    .stream_depth = -1,     /* files are inspected to their end */
    .open = smb_open,
    .close = smb_close,
    .marks_tx = true,
    .parse = smb_parse,
    .handover = &handover,
    .handles_gaps = true,
    .buffer_limit = MESSAGE_MAX,    /* a message may be waited for complete */
    .tx_close = smb_tx_close,
    .finish = smb_finish,
    .progress_done = { 1, 1 },
    .events = events,
    .frames = (const char *const[]){ SMB_FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = (const struct app_buffer *const[]){ &named_pipe, &share, &ntlmssp_user,
                                                   &ntlmssp_domain, &stub_data, &file_data,
                                                   &file_name, &file_magic, NULL },
    .matches = (const struct app_match *const[]){ &iface, &opnum, &version, NULL },
    .logs = smb_logs,
    .alert_metadata = smb_alert_metadata,
    .file_directions = APP_BOTH,
};
