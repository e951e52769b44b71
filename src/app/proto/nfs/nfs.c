/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/nfs/nfs.c - the declaration of NFS, its transactions, and the tables of a flow. */
#include "app/proto/nfs/nfs.h"

#include "app/reports.h"
#include "base/text/text.h"

#define MAX_CALLS 512                         /* calls that wait for their reply */
#define MAX_NAMES 512                         /* names of handles */
#define BUFFER_LIMIT ((1u << 20) + 4096)      /* a directory listing, or a read of version 4 */

/* --- transactions --------------------------------------------------------------------------- */

void nfs_event(struct nfs_state *st, enum nfs_event event)
{
    if (st->flow->last != NULL)
        app_tx_event(st->flow->last, event);
}

void nfs_done(struct nfs_tx *t, enum direction d)
{
    t->tx.progress[d] = 1;
}

struct slice nfs_keep(struct nfs_tx *t, struct slice s)
{
    return s.len > 0 ? arena_slice(&t->tx.arena, s) : s;
}

/* `call` NULL: a file whose call was not seen. */
struct nfs_tx *nfs_tx_new(struct nfs_state *st, const struct rpc_call *call)
{
    struct nfs_tx *t = nfs_tx_of(app_tx_new(st->flow));

    if (t == NULL || call == NULL)
        return t;
    t->xid = call->xid;
    t->version = call->version;
    return t;
}

void nfs_set_caller(struct nfs_tx *t, const struct rpc_call *r)
{
    t->flavor = r->flavor;
    t->machine = nfs_keep(t, r->machine);
    t->uid = r->uid;
    t->gid = r->gid;
}

/* The request is complete with its call, so that its direction is done. */
void nfs_tx_for_call(struct nfs_state *st, const struct rpc_call *r, const struct nfs_call *call,
                     uint32_t procedure, const struct slice *new_name)
{
    struct nfs_tx *t = nfs_tx_new(st, r);

    if (t == NULL)
        return;
    t->procedure = procedure;
    t->name = nfs_keep(t, buf_slice(&call->name));
    t->handle = nfs_keep(t, buf_slice(&call->handle));
    if (new_name != NULL)
        t->new_name = nfs_keep(t, *new_name);
    nfs_set_caller(t, r);
    nfs_done(t, TO_SERVER);
    app_tx_key(&t->tx, r->xid);
}

/* Ends the transaction of this call. The first one wins, because clients reuse an xid only after
 * its reply. */
void nfs_on_reply(struct nfs_state *st, const struct rpc_reply *r, uint32_t status,
                  struct slice handle)
{
    struct app_tx *tx = app_tx_by_key(st->flow, r->xid);
    struct nfs_tx *t = tx != NULL ? nfs_tx_of(tx) : NULL;

    if (t == NULL || t->is_file)
        return;
    t->rpc_status = r->state;
    t->status = status;
    if (t->handle.len == 0)
        t->handle = nfs_keep(t, handle);
    nfs_done(t, TO_CLIENT);
}

/* --- what a flow remembers ------------------------------------------------------------------ */

/* Entry of the table of names: handle to file name. */
struct nfs_name {
    struct app_lru_entry lru;
    struct buf name;
};

static struct slice xid_key(const uint32_t *xid)
{
    return (struct slice){ (const uint8_t *)xid, sizeof(*xid) };
}

/* A repeated xid replaces the earlier call: it is a retransmission. */
struct nfs_call *nfs_call_new(struct nfs_state *st, const struct rpc_call *r)
{
    struct nfs_call *call = app_lru_put(&st->calls, xid_key(&r->xid), sizeof(*call));

    if (call == NULL)
        return NULL;
    call->version = r->version;
    call->procedure = r->procedure;
    call->offset = 0;
    call->integrity = false;
    buf_clear(&call->name);
    buf_clear(&call->handle);
    return call;
}

struct nfs_call *nfs_call_find(struct nfs_state *st, uint32_t xid)
{
    return app_lru_get(&st->calls, xid_key(&xid));
}

struct nfs_call *nfs_call_take(struct nfs_state *st, uint32_t xid)
{
    return app_lru_pop(&st->calls, xid_key(&xid));
}

/* Names and handles are cut: the table's size depends on it. */
static void remember(struct buf *out, struct slice s, uint32_t most)
{
    buf_clear(out);
    buf_add(out, s.data, MIN(s.len, most));
}

void nfs_call_set_name(struct nfs_call *call, struct slice name)
{
    remember(&call->name, name, NFS_NAME_MAX);
}

struct slice nfs_name_find(struct nfs_state *st, struct slice handle)
{
    const struct nfs_name *known = app_lru_get(&st->names, handle);

    return known != NULL ? buf_slice(&known->name) : (struct slice){ 0 };
}

/* A known handle brings its name. */
void nfs_call_set_handle(struct nfs_state *st, struct nfs_call *call, struct slice handle)
{
    remember(&call->handle, handle, NFS_HANDLE_MAX);
    nfs_call_set_name(call, nfs_name_find(st, handle));
}

/* A longer handle is not a valid one, and could not be found again. */
void nfs_name_put(struct nfs_state *st, struct slice handle, struct slice name)
{
    struct nfs_name *known;

    if (handle.len > NFS_HANDLE_MAX)
        return;
    known = app_lru_put(&st->names, handle, sizeof(*known));
    if (known != NULL)
        remember(&known->name, name, NFS_NAME_MAX);
}

static void call_fini(void *entry)
{
    struct nfs_call *call = entry;

    buf_fini(&call->name);
    buf_fini(&call->handle);
}

static void name_fini(void *entry)
{
    struct nfs_name *known = entry;

    buf_fini(&known->name);
}

static bool nfs_open(struct app_flow *af)
{
    const struct nfs_settings *s = af->settings;
    struct nfs_state *st = af->state;

    st->flow = af;
    st->calls.limit = s->max_calls;
    st->names.limit = s->max_names;
    return true;
}

static void nfs_close(struct app_flow *af)
{
    struct nfs_state *st = af->state;

    app_lru_fini(&st->calls, call_fini);
    app_lru_fini(&st->names, name_fini);
}

static void nfs_tx_close(struct app_tx *tx)
{
    app_transfer_fini(&nfs_tx_of(tx)->file.transfer);
}

/* The flow has ended: files without their last extent are truncated. */
static void nfs_finish(struct app_flow *af)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next)
        app_transfer_leave(&nfs_tx_of(tx)->file.transfer);
}

static uint32_t number(const struct conf_node *node, const char *key, uint32_t fallback)
{
    const char *text = conf_string(node, key, NULL);
    uint64_t n;

    if (text == NULL)
        return fallback;
    if (text_to_u64(text_of(text), UINT32_MAX, &n) && n > 0)
        return (uint32_t)n;
    conf_warning(conf_find(node, key), "nfs: %s: expected a number above 0, found \"%s\"", key,
                 text);
    return fallback;
}

static int nfs_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                         void *settings, struct err *err UNUSED)
{
    struct nfs_settings *s = settings;

    s->max_calls = number(node, "max-requests", MAX_CALLS);
    s->max_names = number(node, "max-names", MAX_NAMES);
    return 0;
}

/* --- rules ---------------------------------------------------------------------------------- */

APP_FILE_BUFFERS(APP_BOTH, 0, 0);

/* A file with COMMIT matches both procedures, as in Suricata. */
static bool get_procedure(struct app_tx *tx, enum direction d UNUSED, unsigned i, uint64_t *out)
{
    const struct nfs_tx *t = nfs_tx_of(tx);

    if (i > 1 || (i == 1 && !t->file.committed))
        return false;
    *out = i == 0 ? t->procedure : NFS3_COMMIT;
    return true;
}

static const struct app_integer procedure = {
    .name = "nfs_procedure", .doc = "number of the call", .bits = 32, .directions = APP_TS,
    .any_of_many = true, .inclusive = true, .get = get_procedure,
};
static const struct app_integer version = {
    .name = "nfs.version", .alias = "nfs_version", .doc = "NFS version", .bits = 32,
    .directions = APP_TS, .inclusive = true, .field = APP_FIELD(nfs_tx, version, ALWAYS),
};

/* --- declaration ---------------------------------------------------------------------------- */

static const struct app_name events[] = { NFS_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "nfs.version", "nfs_request", NULL }, { "nfs_procedure", "nfs_request", NULL },
        { NULL, NULL, NULL } },
    .order = (const struct app_report_order[]){
        { "file*", { 2, 1 } }, { NULL, { 0, 0 } } },
};

const struct app_proto app_nfs = {
    .id = APP_PROTO_nfs,
    .name = "nfs",
    .reports = &reports,
    .raw_on_tx_end = true,
    .inspect_both_dirs = true,
    .transports = APP_TCP | APP_UDP,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "2049", .min = NFS_PROBE_TCP_MIN,
          .max = NFS_PROBE_TCP, .probe = nfs_probe_tcp },
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "2049", .max = 32,
          .probe = nfs_probe_udp },
        { .probe = NULL } },
    .settings_size = sizeof(struct nfs_settings),
    .configure = nfs_configure,
    .state_size = sizeof(struct nfs_state),
    .tx_size = sizeof(struct nfs_tx),
    .tx_limit = 1024,
    .too_many_tx_event = NFS_TOO_MANY_TRANSACTIONS,
    .open = nfs_open,
    .close = nfs_close,
    .marks_tx = true,
    .parse = nfs_parse,
    .handles_gaps = true,
    .buffer_limit = BUFFER_LIMIT,
    .tx_close = nfs_tx_close,
    .finish = nfs_finish,
    .progress_done = { 1, 1 },
    .events = events,
    .frames = (const char *const[]){ NFS_FRAME_LIST(APP_ENUM_TEXT) NULL },
    .buffers = (const struct app_buffer *const[]){ &file_data, &file_name, &file_magic, NULL },
    .integers = (const struct app_integer *const[]){ &procedure, &version, NULL },
    .logs = nfs_logs,
    .alert_metadata = nfs_alert_metadata,
    .file_directions = APP_BOTH,
};
