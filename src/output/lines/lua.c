/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/lua.c - `lua`: scripts that write logs. A script has one Lua state for all threads,
 * with a lock, because scripts count, keep files open, and expect to see all events. Its init()
 * returns what it needs. */
#include "config.h"

#include "base/report/counters.h"
#include "output/output_private.h"

#include "app/core/file.h"
#include "app/proto/tls/tls.h"
#include "base/report/log.h"

#ifdef HAVE_LUA
#include "detect/lua/sandbox.h"

#include <stdlib.h>
#include <string.h>

/* Transactions and files have 16 bits to mark the scripts that have seen them. */
#define SCRIPTS_MAX 16          /* bits of app_tx.scripts_logged */

/* The events for which log() is called; each script has one kind. */
enum lua_kind { LUA_TX, LUA_PACKET, LUA_ALERT, LUA_FLOW, LUA_FILE, LUA_TCP, LUA_BODY, LUA_STATS };

/* One script. All under its lock while threads run, apart from kind, bit and proto, which
 * do not change. */
struct lua_log {
    struct lua_sandbox *sandbox;
    pthread_mutex_t lock;
    char *path;
    uint8_t kind;                       /* enum lua_kind */
    uint16_t bit;
    const struct app_proto *proto;      /* LUA_TX */
};

struct lua_output {
    struct lua_log at[SCRIPTS_MAX];
    unsigned count;
    const char *log_dir;
    const char *path, *cpath;           /* where require() looks */
};

/* --- calls -------------------------------------------------------------------------------- */

/* Takes the lock; log_run() releases it. The context is what the libraries read; it is only valid
 * during the call. */
static void log_prepare(struct lua_log *l, struct packet *p, const struct flow *f)
{
    struct lua_context *c = &l->sandbox->context;

    pthread_mutex_lock(&l->lock);
    lua_sandbox_prepare(l->sandbox);
    c->packet = p;
    c->side = p != NULL ? packet_direction(p) : TO_SERVER;
    c->flow = (struct flow *)(uintptr_t)f;
    c->tx = NULL;
    c->file = NULL;
    c->rule = NULL;
}

/* The logged objects; NULL: none. */
struct log_call {
    const struct app_tx *tx;
    const struct output_chunk *chunk;
    bool stats;
};

static void push_chunk(lua_State *state, const struct output_chunk *chunk);
static void push_stats(lua_State *state);

static int push(lua_State *state, const void *arg)
{
    const struct log_call *call = arg;

    lua_getglobal(state, "log");
    lua_newtable(state);
    if (call->tx != NULL) {
        lua_pushinteger(state, (lua_Integer)call->tx->id);
        lua_setfield(state, -2, "tx_id");
    }
    if (call->chunk != NULL)
        push_chunk(state, call->chunk);
    if (call->stats)
        push_stats(state);
    return 1;
}

static const char *why_of(lua_State *state)
{
    return lua_type(state, -1) == LUA_TSTRING ? lua_tostring(state, -1) : "no reason given";
}

/* What the script has written counts to log-limit, behind the lock: that may wait for other
 * threads. */
static void log_run(struct render *r, struct lua_log *l, const struct log_call *call)
{
    const struct packet *p = l->sandbox->context.packet;
    uint64_t written;

    if (lua_sandbox_run(l->sandbox, &(struct lua_run){ push, call, 0 }) < 0)
        log_info("lua", "failed to run script: %s", why_of(l->sandbox->state));
    written = l->sandbox->written;
    pthread_mutex_unlock(&l->lock);
    if (p != NULL && written > 0 && UNLIKELY(!log_limit_take(r, p, written)))
        log_limit_charge(p, written);
}

/* Before a call: false when log-limit has nothing left for the packet's flow. How much a script
 * writes is known only behind its call, so that the last one may write more. */
static bool log_may_run(struct render *r, const struct packet *p)
{
    if (LIKELY(log_limit_allows(r, p, 0)))
        return true;
    log_limit_count(r, p, LEFT_OUT_LINE, NULL);
    return false;
}

/* One call for each alert that outputs show. Without its transaction, if that is gone
 * already. */
static void log_alerts(struct render *r, struct lua_log *l, struct packet *p)
{
    for (unsigned i = 0; i < detect_slot(p)->alert_count; i++) {
        const struct packet_alert *a = &packet_alerts(p)[i];

        if ((a->flags & ALERT_SUPPRESSED) || !log_may_run(r, p))
            continue;
        log_prepare(l, p, p->flow);
        l->sandbox->context.rule = a->rule;
        if (a->tx_id != ALERT_NO_TX && p->flow != NULL && p->flow->app != NULL)
            l->sandbox->context.tx = app_tx_find(p->flow->app, a->tx_id);
        log_run(r, l, &(struct log_call){ 0 });
    }
}

/* Only packets with addresses: the libraries for packets need them. Alerts of pseudo
 * packets count; the packets themselves were never on the wire. */
static void lua_packet(struct render *r, void *self, struct packet *p)
{
    struct lua_output *o = self;

    if (p->src.version == 0)
        return;
    for (unsigned i = 0; i < o->count; i++) {
        if (o->at[i].kind == LUA_ALERT) {
            log_alerts(r, &o->at[i], p);
        } else if (o->at[i].kind == LUA_PACKET && !(p->flags & PACKET_PSEUDO) &&
                   log_may_run(r, p)) {
            log_prepare(&o->at[i], p, p->flow);
            log_run(r, &o->at[i], &(struct log_call){ 0 });
        }
    }
}

/* The EVE record that the protocol writes for this flow: SSH's waits for the key exchange, if
 * something needs HASSH. NULL: none. */
static const struct app_log *record_of(const struct app_tx *tx, const struct app_proto *proto)
{
    for (unsigned i = 0; proto->logs != NULL && proto->logs[i] != NULL; i++)
        if (proto->logs[i]->is_used == NULL || proto->logs[i]->is_used(tx->flow))
            return proto->logs[i];
    return NULL;
}

/* A script sees a transaction when the protocol's own EVE record would be written, or at
 * its end. */
static bool tx_is_due(const struct app_tx *tx, const struct app_proto *proto)
{
    const struct app_log *log = record_of(tx, proto);

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        if (!app_tx_done(tx, d, proto) && (log == NULL || tx->progress[d] < log->progress[d]))
            return false;
    return true;
}

/* Once for each transaction and script. */
static void log_tx(struct render *r, struct lua_log *l, struct packet *p, struct app_tx *tx)
{
    if (tx->flow->proto != l->proto || (output_tx(tx)->scripts_logged & l->bit) ||
        !tx_is_due(tx, l->proto))
        return;
    output_tx(tx)->scripts_logged |= l->bit;
    if (!log_may_run(r, p))
        return;
    log_prepare(l, p, p->flow);
    l->sandbox->context.tx = tx;
    log_run(r, l, &(struct log_call){ .tx = tx });
}

/* A file that has ended, once for each script. The file is only valid during the call. */
static void log_files(struct render *r, struct lua_log *l, struct app_tx *tx)
{
    const struct inspection *in = r->inspection;

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        for (struct app_file *f = tx->files[d]; f != NULL; f = f->next) {
            if ((output_file(f)->scripts_logged & l->bit) || !app_file_due(f, in))
                continue;
            output_file(f)->scripts_logged |= l->bit;
            if (!log_may_run(r, in->packet))
                continue;
            log_prepare(l, in->packet, in->flow);
            l->sandbox->context.tx = tx;
            l->sandbox->context.file = f;
            log_run(r, l, &(struct log_call){ 0 });
        }
    }
}

static void lua_tx(struct render *r, void *self, struct packet *p, struct app_tx *tx)
{
    struct lua_output *o = self;

    for (unsigned i = 0; i < o->count; i++) {
        if (o->at[i].kind == LUA_TX)
            log_tx(r, &o->at[i], p, tx);
        else if (o->at[i].kind == LUA_FILE)
            log_files(r, &o->at[i], tx);
    }
}

static void lua_flow(struct render *r, void *self, struct packet *p, const struct flow *flow)
{
    struct lua_output *o = self;

    for (unsigned i = 0; i < o->count; i++) {
        if (o->at[i].kind != LUA_FLOW || !log_may_run(r, p))
            continue;
        log_prepare(&o->at[i], p, flow);
        log_run(r, &o->at[i], &(struct log_call){ 0 });
    }
}

static void set_bool(lua_State *state, const char *key, bool value)
{
    lua_pushboolean(state, value);
    lua_setfield(state, -2, key);
}

/* Data of TCP or of a body; the table `stream` has Suricata's members. The last call has
 * no data. */
static void push_chunk(lua_State *state, const struct output_chunk *chunk)
{
    lua_newtable(state);
    lua_push_slice(state, chunk->data);
    lua_setfield(state, -2, "data");
    set_bool(state, "open", chunk->open);
    set_bool(state, "close", chunk->close);
    set_bool(state, "to_server", chunk->direction == TO_SERVER);
    set_bool(state, "to_client", chunk->direction == TO_CLIENT);
    lua_setfield(state, -2, "stream");
}

static void lua_stream(struct render *r, void *self, struct packet *p,
                       const struct output_chunk *chunk)
{
    struct lua_output *o = self;

    for (unsigned i = 0; i < o->count; i++) {
        if (o->at[i].kind != (chunk->tx != NULL ? LUA_BODY : LUA_TCP) || !log_may_run(r, p))
            continue;
        log_prepare(&o->at[i], p, p->flow);
        o->at[i].sandbox->context.tx = chunk->tx;
        log_run(r, &o->at[i], &(struct log_call){ .tx = chunk->tx, .chunk = chunk });
    }
}

/* A list of { name, tmname, value, pvalue }. pvalue should be the value of the last round,
 * but is the present one. */
static void push_stats(lua_State *state)
{
    for (unsigned id = 0; id < counter_count(); id++) {
        lua_newtable(state);
        lua_pushstring(state, counter_name((counter_id)id));
        lua_setfield(state, -2, "name");
        lua_pushstring(state, "Total");
        lua_setfield(state, -2, "tmname");
        lua_pushinteger(state, (lua_Integer)counter_total((counter_id)id));
        lua_pushvalue(state, -1);
        lua_setfield(state, -3, "pvalue");
        lua_setfield(state, -2, "value");
        lua_rawseti(state, -2, id + 1);
    }
}

/* On the statistics thread. */
static void lua_stats(struct render *r, void *self, uint64_t now_us, uint64_t uptime_s)
{
    struct lua_output *o = self;

    (void)now_us, (void)uptime_s;
    for (unsigned i = 0; i < o->count; i++) {
        if (o->at[i].kind != LUA_STATS)
            continue;
        log_prepare(&o->at[i], NULL, NULL);
        log_run(r, &o->at[i], &(struct log_call){ .stats = true });
    }
}

/* --- set-up ------------------------------------------------------------------------------- */

/* The result of init(). The words are Suricata's, and several may mean the same. */
struct lua_requirements {
    const struct app_proto *proto;
    bool packet, alerts, file, flow, stats, streaming, tcp, http;
};

/* False: an unknown key or value, which is an error. For `type` and `filter` an earlier
 * value lets an unknown later one pass; a Lua table has each key only once. */
static bool require_word(struct lua_requirements *w, const char *key, const char *value)
{
    if (strcmp(key, "protocol") == 0) {
        w->proto = app_proto_by_name(value);
        return w->proto != NULL;
    }
    if (strcmp(key, "streaming") == 0) {
        w->streaming = true;
        w->tcp = strcmp(value, "tcp") == 0;
        w->http = strcmp(value, "http") == 0;
        return w->tcp || w->http;
    }
    if (strcmp(key, "filter") == 0) {
        w->alerts |= strcmp(value, "alerts") == 0;
        w->tcp |= strcmp(value, "tcp") == 0;
        return w->alerts || w->tcp;
    }
    if (strcmp(key, "type") != 0)
        return false;
    w->packet |= strcmp(value, "packet") == 0;
    w->file |= strcmp(value, "file") == 0;
    w->flow |= strcmp(value, "flow") == 0;
    w->stats |= strcmp(value, "stats") == 0;
    w->streaming |= strcmp(value, "streaming") == 0;
    return w->packet || w->file || w->flow || w->stats || w->streaming;
}

/* The table is on top of the stack. Entries without a text key are ignored. */
static int read_requirements(lua_State *state, struct lua_requirements *w, struct err *err)
{
    lua_pushnil(state);
    while (lua_next(state, -2)) {
        const char *key = lua_type(state, -2) == LUA_TSTRING ? lua_tostring(state, -2) : NULL;
        const char *value = lua_tostring(state, -1);

        if (key != NULL && value != NULL && !require_word(w, key, value))
            return err_at(err, NO_LOCATION, "unknown key and/or value: k='%s', v='%s'", key,
                          value);
        lua_pop(state, 1);
    }
    return 0;
}

/* Order matters: a script with both `protocol` and `streaming: http` is about bodies. */
static int kind_of(const struct lua_requirements *w, struct lua_log *l, struct err *err)
{
    if ((w->proto != NULL) + w->packet + w->file > 1)
        return err_at(err, NO_LOCATION, "invalid combination of 'needs' in the script");
    l->proto = w->proto;
    if (w->http)
        l->kind = LUA_BODY;
    else if (w->proto != NULL)
        l->kind = LUA_TX;
    else if (w->packet)
        l->kind = w->alerts ? LUA_ALERT : LUA_PACKET;
    else if (w->file)
        l->kind = LUA_FILE;
    else if (w->streaming && w->tcp)
        l->kind = LUA_TCP;
    else if (w->flow)
        l->kind = LUA_FLOW;
    else if (w->stats)
        l->kind = LUA_STATS;
    else
        return err_at(err, NO_LOCATION, "the script does not say what it wants to log");
    return 0;
}

/* Replaces Lua's built-in paths, also by an empty text: then require() finds nothing. */
static void set_search_paths(const struct lua_output *o, lua_State *state)
{
    lua_getglobal(state, "package");
    lua_pushstring(state, o->path);
    lua_setfield(state, -2, "path");
    lua_pushstring(state, o->cpath);
    lua_setfield(state, -2, "cpath");
    lua_pop(state, 1);
}

/* open: scripts of outputs may use files and all of Lua's libraries. They are the user's
 * own; scripts of rules, which come from elsewhere, may not. */
static struct lua_sandbox *open_sandbox(const struct lua_output *o, const struct lua_log *l,
                                struct err *err)
{
    struct lua_limits limits = { .open = true };
    struct lua_sandbox *sandbox = lua_sandbox_new(&limits);

    if (sandbox == NULL) {
        err_at(err, NO_LOCATION, "no memory for a Lua state");
        return NULL;
    }
    sandbox->context.log_dir = o->log_dir;
    set_search_paths(o, sandbox->state);
    if (lua_sandbox_load(sandbox, l->path, err) == 0)
        return sandbox;
    lua_sandbox_free(sandbox);
    return NULL;
}

/* Calls a function without arguments. Its results stay on the stack. */
static int call_hook(struct lua_sandbox *sandbox, const char *name, int results, struct err *err)
{
    if (!lua_sandbox_has_function(sandbox, name))
        return err_at(err, NO_LOCATION, "no %s function in script", name);
    lua_sandbox_prepare(sandbox);
    lua_getglobal(sandbox->state, name);
    if (lua_sandbox_call(sandbox, 0, results) < 0)
        return err_at(err, NO_LOCATION, "couldn't run script '%s' function: %s", name,
                      lua_tostring(sandbox->state, -1));
    return 0;
}

/* Calls init() in a separate state: variables that it sets do not exist in setup() and log(), as in
 * Suricata. */
static int ask_requirements(const struct lua_output *o, struct lua_log *l, struct err *err)
{
    struct lua_sandbox *sandbox = open_sandbox(o, l, err);
    struct lua_requirements required = { 0 };
    int r = -1;

    if (sandbox == NULL)
        return -1;
    if (call_hook(sandbox, "init", 1, err) < 0)
        goto out;
    if (!lua_istable(sandbox->state, -1)) {
        err_at(err, NO_LOCATION, "init function in script should return table, returned is not "
               "table");
        goto out;
    }
    if (read_requirements(sandbox->state, &required, err) < 0 || kind_of(&required, l, err) < 0)
        goto out;
    if (!lua_sandbox_has_function(sandbox, "log") || !lua_sandbox_has_function(sandbox, "deinit"))
        err_at(err, NO_LOCATION, "no log or no deinit function in script");
    else
        r = 0;

out:
    lua_sandbox_free(sandbox);
    return r;
}

/* Loads a script and calls its setup(). dir is empty: the name is a path. */
static int open_script(struct lua_output *o, const char *dir, const char *name, struct err *err)
{
    struct lua_log *l = &o->at[o->count];
    struct buf path = { 0 };

    if (o->count == SCRIPTS_MAX)
        return err_at(err, NO_LOCATION, "more than %d scripts", SCRIPTS_MAX);
    buf_printf(&path, "%s%s%s", dir, dir[0] != '\0' ? "/" : "", name);
    buf_add_u8(&path, 0);
    l->path = (char *)path.data;
    l->bit = (uint16_t)(1u << o->count);
    log_info("lua", "enabling script %s", name);
    if (ask_requirements(o, l, err) == 0)
        l->sandbox = open_sandbox(o, l, err);
    if (l->sandbox == NULL || call_hook(l->sandbox, "setup", 0, err) < 0) {
        lua_sandbox_free(l->sandbox);
        free(l->path);
        l->sandbox = NULL;
        return -1;
    }
    pthread_mutex_init(&l->lock, NULL);
    o->count++;
    return 0;
}

/* Calls deinit() of each script, where it closes its files. All threads have ended. */
static void lua_close_output(void *self)
{
    struct lua_output *o = self;

    for (unsigned i = 0; i < o->count; i++) {
        struct err err = { 0 };

        if (call_hook(o->at[i].sandbox, "deinit", 0, &err) < 0)
            log_error("lua", "%s", err.text);
        lua_sandbox_free(o->at[i].sandbox);
        pthread_mutex_destroy(&o->at[i].lock);
        free(o->at[i].path);
    }
    free(o);
}

/* A script may read all buffers of rules, including those that a parser stores only on request. */
static void require_buffers(const struct app_conf *app, const struct app_proto *proto)
{
    struct app_required_features required = { 0 };

    for (unsigned i = 0; proto->buffers != NULL && proto->buffers[i] != NULL; i++)
        required.features[proto->id] |= proto->buffers[i]->feature;
    app_require(app, &required);
}

/* A script on transactions may read their bodies, which are stored as the content of files. */
static void required_files(const struct app_conf *app, const struct lua_log *l)
{
    if (l->kind == LUA_FILE)
        app_require_files(app, APP_FILE_TRACK);
    else if (l->kind == LUA_BODY)
        output_require_bodies(app);
    else if (l->kind == LUA_TX) {
        require_buffers(app, l->proto);
        app_require_files(app, APP_FILE_TRACK | APP_FILE_CONTENT);
    }
}

/* The libraries of a script are known only when it runs, so chains of certificates are always
 * stored. */
static void require_certificates(const struct app_conf *app)
{
    struct app_required_features required = { .features = { [APP_PROTO_tls] = TLS_FEATURE_CHAIN } };

    app_require(app, &required);
}

/* If one script fails, the entire output fails. The texts of the configuration are borrowed. */
static void *lua_open_output(const struct output_request *request, struct output_conf *conf,
                             const struct conf_node *node, struct err *err)
{
    const char *dir = conf_string(node, "scripts-dir", "");
    struct lua_output *o = xcalloc(1, sizeof(*o));

    (void)conf;
    o->log_dir = request->log_dir;
    o->path = conf_string(node, "path", "");
    o->cpath = conf_string(node, "cpath", "");
    require_certificates(request->app);
    CONF_EACH (item, conf_find(node, "scripts")) {
        if (item->value == NULL)
            continue;
        if (open_script(o, dir, item->value, err) < 0) {
            lua_close_output(o);
            return NULL;
        }
        required_files(request->app, &o->at[o->count - 1]);
    }
    return o;
}

#else

static void *lua_open_output(const struct output_request *request UNUSED,
                             struct output_conf *conf UNUSED, const struct conf_node *node UNUSED,
                             struct err *err)
{
    err_at(err, NO_LOCATION, "this is a build without Lua");
    return NULL;
}

#define lua_close_output NULL
#define lua_packet NULL
#define lua_tx NULL
#define lua_flow NULL
#define lua_stats NULL
#define lua_stream NULL
#endif

const struct logger_ops logger_lua = {
    .name = "lua",
    .doc = "scripts that write what they like",
    .open = lua_open_output,
    .close = lua_close_output,
    .packet = lua_packet,
    .tx = lua_tx,
    .flow = lua_flow,
    .stats = lua_stats,
    .stream = lua_stream,
};
