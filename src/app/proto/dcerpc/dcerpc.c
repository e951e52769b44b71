/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dcerpc/dcerpc.c - the declaration of DCE/RPC, and what rules inspect. */
#include "app/proto/dcerpc/dcerpc.h"

#include "app/reports.h"
#include "app/rules.h"

#define MAX_STUB_SIZE (1u << 20)    /* bytes per direction of a call, as in Suricata */

/* --- rules ---------------------------------------------------------------------------------- */

/* byte_test and its kin read numbers in this order. */
static bool is_little(const struct app_tx *tx)
{
    return dcerpc_tx_of(tx)->little;
}

/* The interface must be that of the call's context. Without any_frag it must come from a bind's
 * first fragment. */
static bool iface_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    const struct dcerpc_state *st = tx->flow->state;
    const struct dcerpc_tx *t = dcerpc_tx_of(tx);
    const struct dce_iface_arg *a = arg;

    if (!t->request_seen)
        return false;
    for (unsigned i = 0; i < st->interfaces.count; i++) {
        const struct dce_interface *one = &st->interfaces.at[i];

        if (one->context == t->context && (a->any_fragment || one->first_fragment) &&
            dce_iface_has(a, one))
            return true;
    }
    return false;
}

/* Only a request names an operation; its response matches, too. */
static bool opnum_match(struct app_tx *tx, enum direction d UNUSED, const void *arg)
{
    const struct dcerpc_tx *t = dcerpc_tx_of(tx);

    return t->request_seen && dce_opnum_has(arg, t->opnum);
}

static bool tell_iface(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    const struct dcerpc_state *st = tx->flow->state;

    if (dcerpc_tx_of(tx)->request_seen)
        dce_ifaces_tell(&st->interfaces, out);
    else
        buf_add_string(out, "the request was not seen");
    return true;
}

static bool tell_opnum(struct app_tx *tx, enum direction d UNUSED, struct buf *out)
{
    const struct dcerpc_tx *t = dcerpc_tx_of(tx);

    if (t->request_seen)
        buf_printf(out, "the operation is %u", t->opnum);
    else
        buf_add_string(out, "the request was not seen");
    return true;
}

static const struct app_buffer stub_data = {
    .name = "dcerpc.stub_data", .alias = "dce_stub_data", .doc = "arguments and results of calls",
    .directions = APP_BOTH, .grows = true, .little = is_little,
    .field = APP_FIELD_BY_DIRECTION(dcerpc_tx, ds, stub.kept, FILLED),
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

/* --- declaration ---------------------------------------------------------------------------- */

static int dcerpc_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                            void *settings, struct err *err UNUSED)
{
    struct dcerpc_settings *s = settings;

    s->max_stub_size = (uint32_t)MIN(conf_size(node, "max-stub-size", MAX_STUB_SIZE), UINT32_MAX);
    if (s->max_stub_size == 0)
        s->max_stub_size = MAX_STUB_SIZE;
    return 0;
}

static void dcerpc_close(struct app_flow *af)
{
    struct dcerpc_state *st = af->state;

    dce_interfaces_free(&st->interfaces);
}

static enum parse_status dcerpc_parse(struct app_flow *af, struct app_input *in)
{
    return in->is_udp ? dcerpc_parse_udp(af, in) : dcerpc_parse_tcp(af, in);
}

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "dcerpc.stub_data", "dce_stub_data", NULL }, { "dcerpc.iface", "dce_generic", NULL },
        { "dcerpc.opnum", "dce_generic", NULL }, { NULL, NULL, NULL } },
    .order = (const struct app_report_order[]){
        { "dce_stub_data", { 3, 4 } }, { "dce_generic", { 1, 3 } }, { NULL, { 0, 0 } } },
};

const struct app_proto app_dcerpc = {
    .id = APP_PROTO_dcerpc,
    .name = "dcerpc",
    .reports = &reports,
    .byte_order_word = "dce",
    .raw_on_tx_end = true,
    .inspect_both_dirs = true,
    .transports = APP_TCP | APP_UDP,
    .patterns = (const struct app_pattern[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .bytes = "\x05\x00", .len = 2,
          .confirm = dcerpc_probe_tcp, .confirm_max = DCE_HEADER_LEN },
        { .transport = APP_UDP, .directions = APP_TS, .bytes = "\x04\x00", .len = 2,
          .confirm = dcerpc_probe_udp },
        { .bytes = NULL } },
    .settings_size = sizeof(struct dcerpc_settings),
    .configure = dcerpc_configure,
    .state_size = sizeof(struct dcerpc_state),
    .tx_size = sizeof(struct dcerpc_tx),
    .tx_limit = 1024,
    .close = dcerpc_close,
    .marks_tx = true,
    .parse = dcerpc_parse,
    .handles_gaps = true,
    .progress_done = { 1, 1 },
    .frames = (const char *const[]){ DCERPC_FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = (const struct app_buffer *const[]){ &stub_data, NULL },
    .matches = (const struct app_match *const[]){ &iface, &opnum, NULL },
    .logs = dcerpc_logs,
    .alert_metadata = dcerpc_alert_metadata,
};
