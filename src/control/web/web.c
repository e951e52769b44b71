/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/web.c - the listener: libmicrohttpd, driven by one thread.
 *
 * The thread runs the library's loop, samples once a second and wakes readers of alerts. All
 * requests are answered from memory, so this thread never waits for a client. */
#include "control/web/web.h"

#include "config.h"

#ifdef HAVE_MICROHTTPD

#include <errno.h>
#include <microhttpd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/report/log.h"
#include "base/system/clock.h"
#include "base/system/late_library.h"
#include "control/private.h"
#include "control/web/address.h"
#include "control/web/web_private.h"

#define LISTEN "127.0.0.1:9917"
#define CONNECTIONS_MAX 64u
#define IDLE_S 30u                      /* a connection without data */
#define SAMPLE_MS 1000u
#define FEED_MS 250u                    /* how late an alert may be on the page */
#define TOKEN_MAX 256
#define SECRET_FILE_MAX (64u * 1024)    /* of a token or a key */

/* The library is loaded with the listener: with those that it needs it takes 2.5 MB. */
#define MHD_FUNCTIONS(F) \
    F(add_response_header) F(create_response_from_buffer) F(create_response_from_callback) \
    F(destroy_response) F(lookup_connection_value) F(queue_response) F(quiesce_daemon) \
    F(resume_connection) F(run_wait) F(start_daemon) F(stop_daemon) F(suspend_connection)

struct mhd {
#define F(name) LATE_FUNCTION(MHD_##name, name)
    MHD_FUNCTIONS(F)
#undef F
};

static const struct late_function mhd_functions[] = {
#define F(name) { "MHD_" #name, offsetof(struct mhd, name) },
    MHD_FUNCTIONS(F)
#undef F
    { NULL, 0 },
};

/* A browser that watches alerts; its connection is suspended while there are none. */
struct watcher {
    struct web *web;
    struct MHD_Connection *connection;
    struct feed_reader reader;
    struct buf out;                     /* the rest of an event that did not fit */
    bool suspended;
    struct watcher *next;
};

struct web {
    struct control *control;
    struct mhd mhd;
    struct web_address address;
    char token[TOKEN_MAX];              /* "": no token required */
    char *key, *certificate;            /* PEM; NULL: without TLS */
    int fd;                             /* until the library has it; -1 */
    struct MHD_Daemon *daemon;
    struct web_history *history;
    struct feed *feed;
    struct watcher *watchers;           /* the thread's own */
    uint64_t refill_ns;                 /* the thread's own: when the feed may keep more */
    pthread_t thread;
    int listening;                  /* the socket of the daemon, which closes it */
    bool has_thread;
    bool ending;                        /* atomic */
};

struct control *web_control(struct web *web)
{
    return web->control;
}

struct web_history *web_history(struct web *web)
{
    return web->history;
}

/* --- access ----------------------------------------------------------------------------------- */

/* In the same time whatever differs, so that a token cannot be guessed byte by byte. */
static bool same_token(const struct web *web, const char *given)
{
    size_t len = strlen(web->token), given_len = strlen(given);
    unsigned differs = len != given_len;

    for (size_t i = 0; i < len; i++)
        differs |= (unsigned)(web->token[i] ^ given[given_len > 0 ? i % given_len : 0]);
    return !differs;
}

static const char *argument(const struct web *web, struct MHD_Connection *c,
                            enum MHD_ValueKind kind, const char *name)
{
    return web->mhd.lookup_connection_value(c, kind, name);
}

/* Without a token only a name of this machine is answered: a page of a stranger must not read the
 * engine through its reader's browser. */
static bool may_read(const struct web *web, struct MHD_Connection *c)
{
    const char *bearer = argument(web, c, MHD_HEADER_KIND, MHD_HTTP_HEADER_AUTHORIZATION);
    const char *cookie = argument(web, c, MHD_COOKIE_KIND, "ids_token");
    const char *query = argument(web, c, MHD_GET_ARGUMENT_KIND, "token");

    if (web->token[0] == '\0')
        return web->address.path[0] != '\0' ||
               web_host_is_local(argument(web, c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST));
    return (bearer != NULL && strncmp(bearer, "Bearer ", 7) == 0 && same_token(web, bearer + 7)) ||
           (cookie != NULL && same_token(web, cookie)) ||
           (query != NULL && same_token(web, query));
}

/* --- responses -------------------------------------------------------------------------------- */

static const struct { const char *name, *value; } fixed_headers[] = {
    { MHD_HTTP_HEADER_CACHE_CONTROL, "no-store" },
    { "Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; "
      "form-action 'none'; frame-ancestors 'none'" },
    { "X-Content-Type-Options", "nosniff" },
    { "Referrer-Policy", "no-referrer" },
};

/* The token moves from the address line into a cookie that scripts cannot read. */
static void add_headers(const struct web *web, struct MHD_Connection *c, struct MHD_Response *r,
                        const char *type)
{
    char cookie[TOKEN_MAX + 80];

    web->mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, type);
    for (unsigned i = 0; i < ARRAY_LEN(fixed_headers); i++)
        web->mhd.add_response_header(r, fixed_headers[i].name, fixed_headers[i].value);
    if (web->token[0] == '\0' || argument(web, c, MHD_GET_ARGUMENT_KIND, "token") == NULL)
        return;
    snprintf(cookie, sizeof(cookie), "ids_token=%s; HttpOnly; SameSite=Strict; Path=/%s",
             web->token, web->key != NULL ? "; Secure" : "");
    web->mhd.add_response_header(r, MHD_HTTP_HEADER_SET_COOKIE, cookie);
}

static enum MHD_Result queue(const struct web *web, struct MHD_Connection *c, unsigned status,
                             struct MHD_Response *r)
{
    enum MHD_Result result = web->mhd.queue_response(c, status, r);

    web->mhd.destroy_response(r);
    return result;
}

static enum MHD_Result refuse(const struct web *web, struct MHD_Connection *c, unsigned status,
                              const char *why)
{
    struct MHD_Response *r = web->mhd.create_response_from_buffer(
        strlen(why), (void *)(uintptr_t)why, MHD_RESPMEM_PERSISTENT);

    web->mhd.add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain");
    if (status == MHD_HTTP_UNAUTHORIZED)
        web->mhd.add_response_header(r, MHD_HTTP_HEADER_WWW_AUTHENTICATE, "Bearer");
    return queue(web, c, status, r);
}

static enum MHD_Result show(struct web *web, struct MHD_Connection *c, const struct web_page *page)
{
    struct web_request request = {
        .accept = argument(web, c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT),
        .since = argument(web, c, MHD_GET_ARGUMENT_KIND, "since"),
        .sid = argument(web, c, MHD_GET_ARGUMENT_KIND, "sid"),
    };
    struct buf out = { 0 };
    const char *type = page->write(web, &request, &out);
    struct MHD_Response *r = web->mhd.create_response_from_buffer(out.len, out.data,
                                                                  MHD_RESPMEM_MUST_COPY);

    buf_fini(&out);
    if (r == NULL)
        return MHD_NO;
    add_headers(web, c, r, type != NULL ? type : page->type);
    return queue(web, c, MHD_HTTP_OK, r);
}

/* --- requests with a body -------------------------------------------------------------------- */

/* Of a POST request, until the library says that it has ended. */
struct upload {
    const struct web_action *action;
    struct buf body;
    bool is_too_long;
};

static void upload_free(void *arg, struct MHD_Connection *c, void **state,
                        enum MHD_RequestTerminationCode code)
{
    struct upload *upload = *state;

    (void)arg;
    (void)c;
    (void)code;
    if (upload == NULL)
        return;
    buf_fini(&upload->body);
    free(upload);
    *state = NULL;
}

/* Headers are there, the body is not: what is wrong already is told before it comes. */
static enum MHD_Result upload_begin(const struct web *web, struct MHD_Connection *c,
                                    const char *url, void **state)
{
    const struct web_sender sender = {
        .marker = argument(web, c, MHD_HEADER_KIND, WEB_POST_HEADER),
        .site = argument(web, c, MHD_HEADER_KIND, "Sec-Fetch-Site"),
        .origin = argument(web, c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ORIGIN),
        .host = argument(web, c, MHD_HEADER_KIND, MHD_HTTP_HEADER_HOST),
    };
    const char *why = web_post_forbidden(&sender);
    const struct web_action *action = web_actions;
    struct upload *upload;

    while (action->path != NULL && strcmp(url, action->path) != 0)
        action++;
    if (action->path == NULL)
        return refuse(web, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    if (why != NULL)
        return refuse(web, c, MHD_HTTP_FORBIDDEN, why);
    upload = xcalloc(1, sizeof(*upload));
    upload->action = action;
    *state = upload;
    return MHD_YES;
}

static enum MHD_Result upload_end(struct web *web, struct MHD_Connection *c,
                                  const struct upload *upload)
{
    struct buf out = { 0 };
    struct MHD_Response *r;
    bool good;

    if (upload->is_too_long)
        return refuse(web, c, MHD_HTTP_BAD_REQUEST, "the body is too long\n");
    good = upload->action->run(web->control, buf_slice(&upload->body), &out);
    r = web->mhd.create_response_from_buffer(out.len, out.data, MHD_RESPMEM_MUST_COPY);
    buf_fini(&out);
    if (r == NULL)
        return MHD_NO;
    add_headers(web, c, r, good ? "application/json" : "text/plain");
    return queue(web, c, good ? MHD_HTTP_OK : MHD_HTTP_BAD_REQUEST, r);
}

/* The library calls it with the headers, then with each part of the body, then without data. */
static enum MHD_Result post(struct web *web, struct MHD_Connection *c, struct slice data,
                            struct upload *upload)
{
    if (data.len == 0)
        return upload_end(web, c, upload);
    upload->is_too_long |= upload->body.len + data.len > WEB_BODY_MAX;
    if (!upload->is_too_long)
        buf_add(&upload->body, data.data, data.len);
    return MHD_YES;
}

/* --- alerts as they come (server-sent events) ------------------------------------------------- */

/* Without a new record the connection sleeps until wake_watchers(). */
static ssize_t watcher_read(void *arg, uint64_t at, char *to, size_t max)
{
    struct watcher *w = arg;
    size_t len;

    (void)at;
    if (__atomic_load_n(&w->web->ending, __ATOMIC_ACQUIRE))
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (w->out.len == 0 && !feed_take(&w->reader, &w->out)) {
        w->suspended = true;
        w->web->mhd.suspend_connection(w->connection);
        return 0;
    }
    len = MIN(w->out.len, max);
    memcpy(to, w->out.data, len);
    buf_drop_front(&w->out, len);
    return (ssize_t)len;
}

static void watcher_free(void *arg)
{
    struct watcher *w = arg, **at = &w->web->watchers;

    while (*at != w)
        at = &(*at)->next;
    *at = w->next;
    feed_leave(&w->reader);
    buf_fini(&w->out);
    free(w);
}

/* A browser that connects again sends the header; a page that was hidden gives the argument. */
static const char *last_event(const struct web *web, struct MHD_Connection *c)
{
    const char *header = argument(web, c, MHD_HEADER_KIND, "Last-Event-ID");

    return header != NULL ? header : argument(web, c, MHD_GET_ARGUMENT_KIND, "last");
}

/* A first comment makes the browser fire `open` at once. */
static enum MHD_Result watch(struct web *web, struct MHD_Connection *c)
{
    struct watcher *w = xcalloc(1, sizeof(*w));
    struct MHD_Response *r;

    if (!feed_join(web->feed, last_event(web, c), &w->reader)) {
        free(w);
        return refuse(web, c, MHD_HTTP_SERVICE_UNAVAILABLE, "too many readers of alerts\n");
    }
    w->web = web;
    w->connection = c;
    w->next = web->watchers;
    web->watchers = w;
    buf_add_string(&w->out, ": alerts follow\n\n");
    r = web->mhd.create_response_from_callback(MHD_SIZE_UNKNOWN, 16 * 1024, watcher_read, w,
                                               watcher_free);
    if (r == NULL) {
        watcher_free(w);
        return MHD_NO;
    }
    add_headers(web, c, r, "text/event-stream");
    return queue(web, c, MHD_HTTP_OK, r);
}

static void wake_watchers(struct web *web)
{
    bool ending = __atomic_load_n(&web->ending, __ATOMIC_ACQUIRE);

    for (struct watcher *w = web->watchers; w != NULL; w = w->next)
        if (w->suspended && (ending || feed_has_more(&w->reader))) {
            w->suspended = false;
            web->mhd.resume_connection(w->connection);
        }
}

/* --- requests --------------------------------------------------------------------------------- */

static enum MHD_Result answer(void *arg, struct MHD_Connection *c, const char *url,
                              const char *method, const char *version, const char *data,
                              size_t *data_len, void **state)
{
    struct web *web = arg;
    struct slice part = { (const uint8_t *)data, (uint32_t)*data_len };

    (void)version;
    *data_len = 0;
    if (*state != NULL)
        return post(web, c, part, *state);
    if (!may_read(web, c))
        return web->token[0] != '\0' ? refuse(web, c, MHD_HTTP_UNAUTHORIZED, "a token is needed\n")
                                     : refuse(web, c, MHD_HTTP_FORBIDDEN, "use a local name\n");
    if (strcmp(method, MHD_HTTP_METHOD_POST) == 0)
        return upload_begin(web, c, url, state);
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
        return refuse(web, c, MHD_HTTP_METHOD_NOT_ALLOWED, "only GET and HEAD\n");
    if (strcmp(url, "/api/alerts") == 0)
        return watch(web, c);
    for (const struct web_page *page = web_pages; page->path != NULL; page++)
        if (strcmp(url, page->path) == 0)
            return show(web, c, page);
    return refuse(web, c, MHD_HTTP_NOT_FOUND, "there is no such page\n");
}

/* --- the thread ------------------------------------------------------------------------------- */

static void sample(struct web *web)
{
    pthread_mutex_lock(&web->control->lock);
    history_sample(web->history, web->control);
    pthread_mutex_unlock(&web->control->lock);
}

/* The loop also runs for each request, and must not refill for each. */
static void feed_refill_in_time(struct web *web)
{
    uint64_t now = clock_ns();

    if (now < web->refill_ns)
        return;
    web->refill_ns = now + FEED_MS * 1000000ull;
    feed_refill(web->feed);
}

static void *web_main(void *arg)
{
    struct web *web = arg;
    uint64_t next_ns = clock_ns();

    pthread_setname_np(pthread_self(), "Web");
    while (!__atomic_load_n(&web->ending, __ATOMIC_ACQUIRE)) {
        if (clock_ns() >= next_ns) {
            sample(web);
            next_ns = clock_ns() + SAMPLE_MS * 1000000ull;
        }
        wake_watchers(web);
        feed_refill_in_time(web);
        (void)web->mhd.run_wait(web->daemon, (int32_t)FEED_MS);
    }
    wake_watchers(web);
    (void)web->mhd.run_wait(web->daemon, 0);
    return NULL;
}

/* --- settings --------------------------------------------------------------------------------- */

/* Reads a small file as text; NULL with err set. */
static char *read_secret(const struct conf_node *node, const char *path, struct err *err)
{
    char *text = xcalloc(1, SECRET_FILE_MAX + 1);
    FILE *f = fopen(path, "re");
    size_t len = f != NULL ? fread(text, 1, SECRET_FILE_MAX, f) : 0;

    if (f == NULL)
        err_at(err, node->at, "%s: %s", path, strerror(errno));
    else if (len == 0)
        err_at(err, node->at, "%s is empty", path);
    if (f != NULL)
        fclose(f);
    if (len > 0)
        return text;
    free(text);
    return NULL;
}

static int read_token(struct web *web, const struct conf_node *metrics, struct err *err)
{
    const struct conf_node *file = conf_find(metrics, "token-file");
    char *text;

    if (file == NULL || file->value == NULL)
        return 0;
    text = read_secret(file, file->value, err);
    if (text == NULL)
        return -1;
    text[strcspn(text, "\r\n")] = '\0';
    if (strlen(text) < 16 || strlen(text) >= sizeof(web->token) ||
        strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~+/=") !=
            strlen(text)) {
        free(text);
        return err_at(err, file->at, "%s: want a line of 16 to %zu letters, digits and -._~+/=",
                      file->value, sizeof(web->token) - 1);
    }
    memcpy(web->token, text, strlen(text) + 1);
    free(text);
    return 0;
}

static int read_tls(struct web *web, const struct conf_node *metrics, struct err *err)
{
    const struct conf_node *key = conf_find(metrics, "tls.key");
    const struct conf_node *certificate = conf_find(metrics, "tls.cert");

    if (key == NULL && certificate == NULL)
        return 0;
    if (key == NULL || certificate == NULL)
        return err_at(err, (key != NULL ? key : certificate)->at,
                      "metrics.tls: want both `cert` and `key`");
    web->key = read_secret(key, key->value, err);
    web->certificate = web->key != NULL ? read_secret(certificate, certificate->value, err) : NULL;
    return web->certificate != NULL ? 0 : -1;
}

static const char *web_listen_text(const struct conf_node *root)
{
    return conf_string(root, "metrics.listen", LISTEN);
}

static int read_settings(struct web *web, const struct conf_node *root, struct err *err)
{
    const struct conf_node *metrics = conf_find(root, "metrics");
    const struct conf_node *listen = conf_find(metrics, "listen");

    if (web_address_read(web_listen_text(root), &web->address, err) < 0) {
        if (listen != NULL)
            err->at = listen->at;
        return -1;
    }
    if (read_token(web, metrics, err) < 0 || read_tls(web, metrics, err) < 0)
        return -1;
    if (!web->address.is_loopback && web->token[0] == '\0')
        return err_at(err, listen->at, "metrics.listen: %s can be reached from other machines: "
                      "set metrics.token-file", listen->value);
    return 0;
}

/* --- life ------------------------------------------------------------------------------------- */

static void log_library(void *arg, const char *fmt, va_list args)
{
    char text[256];

    (void)arg;
    vsnprintf(text, sizeof(text), fmt, args);
    text[strcspn(text, "\n")] = '\0';
    log_info("web", "%s", text);
}

int web_check(const struct conf_node *root, struct err *err)
{
    struct web web = { .fd = -1 };
    int status = web_is_enabled(root) ? read_settings(&web, root, err) : 0;

    free(web.key);
    free(web.certificate);
    return status;
}

static int listen_at(const struct web *web, struct err *err)
{
    const struct control_conf *conf = &web->control->conf;
    int fd = -1;

    if (conf->predecessor != NULL)
        fd = predecessor_take_web(conf->predecessor, web_listen_text(conf->root));
    web->control->web_is_given = fd >= 0;
    return fd >= 0 ? fd : web_address_listen(&web->address, conf->user, conf->group, err);
}

struct web *web_open(struct control *control, struct err *err)
{
    const struct control_conf *conf = &control->conf;
    struct web *web = xcalloc(1, sizeof(*web));

    web->control = control;
    web->fd = -1;
    web->history = history_new();
    web->feed = feed_new();
    if (read_settings(web, conf->root, err) == 0 &&
        late_library_load(MICROHTTPD_FILE, mhd_functions, &web->mhd, err) == 0)
        web->fd = listen_at(web, err);
    control->web_fd = web->fd;
    control->web_address = web_listen_text(conf->root);
    if (web->fd >= 0)
        return web;
    web_free(web);
    return NULL;
}

/* Its settings and its socket are there already. */
static int start_daemon(struct web *web, struct err *err)
{
    struct MHD_OptionItem options[] = {
        { MHD_OPTION_EXTERNAL_LOGGER, (intptr_t)log_library, NULL },
        { MHD_OPTION_LISTEN_SOCKET, web->fd, NULL },
        { MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX, NULL },
        { MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, NULL },
        { MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)upload_free, NULL },
        { web->key != NULL ? MHD_OPTION_HTTPS_MEM_KEY : MHD_OPTION_END, 0, web->key },
        { MHD_OPTION_HTTPS_MEM_CERT, 0, web->certificate },
        { MHD_OPTION_END, 0, NULL },
    };
    unsigned flags = MHD_USE_EPOLL | MHD_USE_ERROR_LOG | MHD_ALLOW_SUSPEND_RESUME |
                     (web->key != NULL ? MHD_USE_TLS : 0u);

    web->daemon = web->mhd.start_daemon(flags, 0, NULL, NULL, answer, web, MHD_OPTION_ARRAY,
                                        options, MHD_OPTION_END);
    if (web->daemon == NULL)
        return err_set(err, "metrics: the listener does not start%s",
                       web->key != NULL ? ": certificate and key must be PEM and belong together"
                                        : "");
    web->listening = web->fd;
    web->fd = -1;
    return 0;
}

int web_start(struct web *web, struct err *err)
{
    int status;

    if (web == NULL)
        return 0;
    if (start_daemon(web, err) < 0)
        return -1;
    status = pthread_create(&web->thread, NULL, web_main, web);
    if (status != 0)
        return err_set(err, "metrics: cannot make the thread: %s", strerror(status));
    web->has_thread = true;
    log_info("web", "metrics and page at %s", web_listen_text(web->control->conf.root));
    return 0;
}

void web_set_run(struct web *web)
{
    struct control *c = web != NULL ? web->control : NULL;

    if (c == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    if (c->engine != NULL) {
        history_clear(web->history);
        history_sample(web->history, c);        /* what later samples are the difference to */
        feed_clear(web->feed);
        output_set_tap(c->conf.context->output, feed_tap(web->feed));
    }
    pthread_mutex_unlock(&c->lock);
}

/* The connections stay: the daemon ends them by shutdown(2), which holds for all copies. */
void web_leave(struct web *web)
{
    if (web != NULL && web->has_thread)
        close(web->listening);
}

/* MHD_stop_daemon() ends the socket by shutdown(2), also for another process that listens there.
 * MHD_quiesce_daemon() takes the socket from it first. */
static void stop_daemon(struct web *web)
{
    if (web->control->web_is_given)
        web->fd = web->mhd.quiesce_daemon(web->daemon);
    web->mhd.stop_daemon(web->daemon);
}

void web_free(struct web *web)
{
    if (web == NULL)
        return;
    __atomic_store_n(&web->ending, true, __ATOMIC_RELEASE);
    if (web->has_thread)
        pthread_join(web->thread, NULL);
    if (web->daemon != NULL)
        stop_daemon(web);
    if (web->fd >= 0)
        close(web->fd);
    if (web->address.path[0] != '\0' && !web->control->web_is_given)
        unlink(web->address.path);
    history_free(web->history);
    feed_free(web->feed);
    free(web->key);
    free(web->certificate);
    free(web);
}

#else

#define WITHOUT                                                                           \
    "metrics: this is a build without libmicrohttpd; install the package "                \
    "libmicrohttpd-dev, then run configure and make again"

int web_check(const struct conf_node *root, struct err *err)
{
    return web_is_enabled(root) ? err_at(err, conf_find(root, "metrics.enabled")->at, WITHOUT) : 0;
}

void web_leave(struct web *web)
{
    (void)web;
}

struct web *web_open(struct control *control, struct err *err)
{
    (void)control;
    err_set(err, WITHOUT);
    return NULL;
}

int web_start(struct web *web, struct err *err)
{
    (void)web;
    (void)err;
    return 0;
}

void web_set_run(struct web *web)
{
    (void)web;
}

void web_free(struct web *web)
{
    (void)web;
}

#endif

bool web_is_enabled(const struct conf_node *root)
{
    return conf_bool(root, "metrics.enabled", false);
}
