/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/socket.c - the control socket and its clients. One thread serves all of them with poll().
 * No client can block another: one that does not read its replies loses its connection. A client
 * sends its version first. After that each message is a command, and replies come in the same
 * order. A client that asked for a reload gets its reply when the main thread reports the end, and
 * others are served meanwhile. A client that begins with "GET " is a browser or a metrics
 * collector. It gets all metrics in Prometheus' text format over HTTP, and the connection is
 * closed. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/system/directories.h"
#include "base/report/log.h"
#include "control/private.h"
#include "control/process.h"
#include "control/signals.h"
#include "control/metrics.h"

#define CLIENTS_MAX 64                    /* one more takes the place of the longest idle */
#define RESPONSE_MAX (8u << 20)           /* bytes that wait for a client to read them */
#define SOCKET_NAME "suricata-command.socket" /* Suricata's, which its client expects */

/* Owned by the control thread. */
struct client {
    int fd;
    unsigned version;                   /* of the protocol; 0: not yet known, else 1 or 2 */
    struct buf in, out;
    bool over;                          /* to be closed when `out` is sent */
    bool waits;                         /* for the end of a reload */
    uint64_t reload;                    /* `reload_awaited` of struct control at the request */
    uint64_t heard_ns;                  /* when it connected or sent something last */
};

/* --- answers ------------------------------------------------------------------------------ */

static void client_free(struct client *client)
{
    close(client->fd);
    buf_fini(&client->in);
    buf_fini(&client->out);
    free(client);
}

/* Version 0.2 ends each reply with a newline, version 0.1 with nothing. */
static void end_response(struct client *client, struct json *j, bool ok)
{
    json_string(j, "return", ok ? "OK" : "NOK");
    json_object_end(j);
    if (client->version > 1)
        buf_add_u8(&client->out, '\n');
}

/* The versions are those of Suricata's protocol. */
static void greet(struct client *client, const struct request *r)
{
    const char *version = request_member(r, "version");
    struct json j;

    if (version != NULL && strcmp(version, "0.1") == 0)
        client->version = 1;
    else if (version != NULL && strcmp(version, "0.2") == 0)
        client->version = 2;
    else {
        client->over = true;            /* a version that we do not speak */
        return;
    }
    json_init(&j, &client->out);
    json_object(&j, NULL);
    end_response(client, &j, true);
}

/* The lock keeps the engine and its plan while a command reads them. A command that replies later
 * discards what it has written. */
static void respond(struct control *c, struct client *client, const struct request *r)
{
    struct json j;
    struct command command = { .control = c, .request = r, .j = &j };
    size_t before = client->out.len;
    enum command_status status;

    json_init(&j, &client->out);
    json_object(&j, NULL);
    pthread_mutex_lock(&c->lock);
    c->sender = client;
    c->sender_fd = client->fd;
    status = command_run(&command);
    client->reload = c->reload_awaited;
    pthread_mutex_unlock(&c->lock);
    client->waits = status == COMMAND_LATER;
    if (client->waits)
        client->out.len = before;
    else
        end_response(client, &j, status == COMMAND_OK);
}

static void respond_handover(struct control *c, struct client *client)
{
    struct json j;

    if (!handover_can_answer(c))
        return;
    client->waits = false;
    json_init(&j, &client->out);
    json_object(&j, NULL);
    json_string(&j, "message", "places and flows");
    end_response(client, &j, true);
}

/* Called on each round for a client that waits. */
static void respond_reload(struct control *c, struct client *client)
{
    char failed[sizeof(c->reload_failed)];
    bool over;
    struct json j;

    pthread_mutex_lock(&c->lock);
    over = c->reloads > client->reload;
    memcpy(failed, c->reload_failed, sizeof(failed));
    pthread_mutex_unlock(&c->lock);
    if (!over)
        return;
    client->waits = false;
    json_init(&j, &client->out);
    json_object(&j, NULL);
    json_lossy(&j, "message", buf_slice(&(struct buf){
        .data = (uint8_t *)(failed[0] != '\0' ? failed : "done"),
        .len = strlen(failed[0] != '\0' ? failed : "done") }));
    end_response(client, &j, failed[0] == '\0');
}

/* Waits for the end of the header; its contents do not matter. HTTP/1.0, so that closing
 * ends the reply. */
static void respond_http(struct control *c, struct client *client)
{
    struct buf body = { 0 };

    if (memmem(client->in.data, client->in.len, "\r\n\r\n", 4) == NULL) {
        client->over = client->in.len >= REQUEST_MAX;
        return;
    }
    pthread_mutex_lock(&c->lock);
    control_metrics(c, &(struct metrics_text){ .out = &body });
    pthread_mutex_unlock(&c->lock);
    buf_printf(&client->out, "HTTP/1.0 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
               "Content-Length: %zu\r\nConnection: close\r\n\r\n", body.len);
    buf_add(&client->out, body.data, body.len);
    buf_fini(&body);
    client->over = true;
}

static bool is_http(const struct client *client)
{
    return client->version == 0 && client->in.len >= 4 &&
           memcmp(client->in.data, "GET ", 4) == 0;
}

/* Answers all complete messages in order; those after a reload wait for its end. */
static void respond_all(struct control *c, struct client *client)
{
    struct request *r = NULL;

    if (is_http(client)) {
        respond_http(c, client);
        return;
    }
    while (!client->over && !client->waits) {
        if (request_take(&client->in, &r) < 0)
            client->over = true;
        if (r == NULL)
            return;
        if (client->version == 0)
            greet(client, r);
        else if (request_member(r, "command") == NULL)
            client->over = true;
        else
            respond(c, client, r);
        request_free(r);
    }
}

/* --- reading and writing ------------------------------------------------------------------ */

/* False: the client has closed the connection. */
static bool client_read(struct client *client)
{
    ssize_t n;

    if (!buf_reserve(&client->in, 4096))
        return false;
    n = recv(client->fd, client->in.data + client->in.len, 4096, MSG_DONTWAIT);
    if (n > 0) {
        client->in.len += (size_t)n;
        client->heard_ns = clock_ns();
    }
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* False also when replies pile up: a client that never reads must not cost memory. */
static bool client_write(struct control *c, struct client *client)
{
    ssize_t n;

    if (client->out.len > RESPONSE_MAX)
        return false;
    if (client->out.len == 0)
        return true;
    if (UNLIKELY(client == c->successor && c->answer_fds > 0))
        n = handover_send(c, client->fd, client->out.data, client->out.len);
    else
        n = send(client->fd, client->out.data, client->out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (n > 0)
        buf_drop_front(&client->out, (size_t)n);
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

/* False: the client is to be freed. Messages that came before it closed are still
 * answered. */
static bool client_serve(struct control *c, struct client *client, short events)
{
    bool here = true;

    if ((events & (POLLIN | POLLHUP | POLLERR)) && !client->over)
        here = client_read(client);
    if (client->waits && client == c->successor)
        respond_handover(c, client);
    else if (client->waits)
        respond_reload(c, client);
    if (!client->waits)
        respond_all(c, client);
    if (!client_write(c, client))
        return false;
    return here && !(client->over && client->out.len == 0);
}

/* Clients that only hold their connections must not keep the operator out. Who waits for a reload
 * is not idle. False: all wait. */
static bool drop_idle(struct control *c)
{
    size_t oldest = c->clients.count;

    for (size_t i = 0; i < c->clients.count; i++)
        if (!c->clients.at[i]->waits && c->clients.at[i] != c->successor &&
            (oldest == c->clients.count ||
             c->clients.at[i]->heard_ns < c->clients.at[oldest]->heard_ns))
            oldest = i;
    if (oldest == c->clients.count)
        return false;
    client_free(c->clients.at[oldest]);
    c->clients.at[oldest] = c->clients.at[--c->clients.count];
    return true;
}

static void client_accept(struct control *c)
{
    int fd = accept4(c->fd, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
    struct client *client;

    if (fd < 0)
        return;
    if (c->clients.count >= CLIENTS_MAX && !drop_idle(c)) {
        close(fd);
        return;
    }
    client = xcalloc(1, sizeof(*client));
    client->fd = fd;
    client->heard_ns = clock_ns();
    ARRAY_PUSH(&c->clients, client);
}

/* --- the thread --------------------------------------------------------------------------- */

/* A client that waits for a reload is not read: its data stay in the kernel, which limits them. */
static unsigned poll_set(struct control *c, struct pollfd *at)
{
    at[0] = (struct pollfd){ .fd = c->wake_fd, .events = POLLIN };
    at[1] = (struct pollfd){ .fd = handover_listens_elsewhere(c) ? -1 : c->fd, .events = POLLIN };
    for (size_t i = 0; i < c->clients.count; i++) {
        const struct client *client = c->clients.at[i];

        at[i + 2] = (struct pollfd){ .fd = client->fd };
        if (!client->waits && !client->over && client->in.len < REQUEST_MAX)
            at[i + 2].events |= POLLIN;
        if (client->out.len > 0)
            at[i + 2].events |= POLLOUT;
    }
    return (unsigned)c->clients.count + 2;
}

static void client_end(struct control *c, struct client *client)
{
    pthread_mutex_lock(&c->lock);
    handover_client_closed(c, client);
    pthread_mutex_unlock(&c->lock);
    client_free(client);
}

/* Clients accepted in this round have no entry in `at`, so they are accepted afterwards. */
static void all_clients(struct control *c, const struct pollfd *at)
{
    size_t retained = 0;

    for (size_t i = 0; i < c->clients.count; i++) {
        struct client *client = c->clients.at[i];

        if (client_serve(c, client, at[i + 2].revents))
            c->clients.at[retained++] = client;
        else
            client_end(c, client);
    }
    c->clients.count = retained;
}

/* The name of the thread is Suricata's ("US" for unix socket). */
static void *control_main(void *arg)
{
    struct control *c = arg;
    struct pollfd at[CLIENTS_MAX + 2];
    eventfd_t n;

    pthread_setname_np(pthread_self(), "US");
    while (!__atomic_load_n(&c->ending, __ATOMIC_ACQUIRE)) {
        unsigned count = poll_set(c, at);

        if (poll(at, count, -1) < 0)
            continue;
        pthread_mutex_lock(&c->serving);
        if (at[0].revents)
            (void)eventfd_read(c->wake_fd, &n);
        all_clients(c, at);
        if (at[1].revents)
            client_accept(c);
        pthread_mutex_unlock(&c->serving);
    }
    return NULL;
}

static void wake(struct control *c)
{
    eventfd_write(c->wake_fd, 1);
}

/* --- the socket --------------------------------------------------------------------------- */

/* An absolute name is used as it is; others are in the directory for run-time files. */
static int find_path(struct control *c, struct err *err)
{
    const char *name = c->conf.path;
    int n;

    if (name == NULL)
        name = conf_string(c->conf.root, "unix-command.filename", SOCKET_NAME);
    if (name[0] != '/') {
        (void)directories_make(IDS_RUNDIR, 0755);
        (void)directory_make(IDS_RUNDIR, 0750);
    }
    n = snprintf(c->path, sizeof(c->path), "%s%s", name[0] == '/' ? "" : IDS_RUNDIR "/", name);
    if (n < 0 || (size_t)n >= sizeof(c->path))
        return err_set(err, "the name of the control socket is too long: %s", name);
    return 0;
}

/* Removes a socket that an ended process left. A socket that answers belongs to another engine, and
 * a file of another kind is not a socket: both are errors. */
static int make_way(const char *path, const struct sockaddr_un *to, struct err *err)
{
    struct stat st;
    int fd, status;

    if (lstat(path, &st) < 0)
        return 0;
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, "control socket %s: there is something that is no socket", path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    status = fd >= 0 ? connect(fd, (const struct sockaddr *)to, sizeof(*to)) : -1;
    if (fd >= 0)
        close(fd);
    if (status == 0 || errno == EAGAIN)
        return err_set(err, "control socket %s belongs to another process, which answers: give "
                       "this one another name by unix-command.filename", path);
    if (unlink(path) < 0)
        return err_set(err, "control socket %s: %s", path, strerror(errno));
    return 0;
}

/* The socket is created without any rights and gets them after its owner is set. So no
 * other user can connect in between. */
static int bind_to(struct control *c, struct err *err)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    mode_t mask;
    int status;

    memcpy(to.sun_path, c->path, MIN(sizeof(to.sun_path), sizeof(c->path)));
    if (make_way(c->path, &to, err) < 0)
        return -1;
    mask = umask(0777);
    status = bind(c->fd, (struct sockaddr *)&to, sizeof(to));
    umask(mask);
    if (status < 0)
        return err_set(err, "control socket %s: %s", c->path, strerror(errno));
    if (process_chown_file(c->path, c->conf.user, c->conf.group, err) < 0 ||
        chmod(c->path, 0660) < 0 || listen(c->fd, 16) < 0) {
        unlink(c->path);
        if (err->text[0] == '\0')
            return err_set(err, "control socket %s: %s", c->path, strerror(errno));
        return -1;
    }
    return 0;
}

/* "auto": in live captures. */
bool control_is_enabled(const struct conf_node *root, bool live)
{
    if (strcmp(conf_string(root, "unix-command.enabled", "auto"), "auto") == 0)
        return live;
    return conf_bool(root, "unix-command.enabled", false);
}

static bool is_enabled(const struct control_conf *conf)
{
    const struct capture_ops *capture = conf->context->capture;

    return conf->takes_jobs || control_is_enabled(conf->root, capture != NULL && capture->live);
}

/* 0 with *out NULL: the socket is disabled. The socket exists from here on;
 * control_start() begins to serve it once the privileges are dropped. */
static int open_socket(struct control *c, struct err *err)
{
    if (find_path(c, err) < 0)
        return -1;
    if (c->conf.predecessor != NULL)
        c->fd = predecessor_take_socket(c->conf.predecessor, c->path);
    c->socket_is_given = c->fd >= 0;    /* the other process's until it ends */
    if (c->fd >= 0)
        return 0;
    c->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (bind_to(c, err) < 0) {
        c->path[0] = '\0';
        return -1;
    }
    log_info("unix-manager", "unix socket '%s'", c->path);
    return 0;
}

int control_open(const struct control_conf *conf, struct control **out, struct err *err)
{
    bool has_socket = is_enabled(conf);
    struct control *c;

    *out = NULL;
    if (!has_socket && !conf->has_listener)
        return 0;
    c = xcalloc(1, sizeof(*c));
    c->conf = *conf;
    c->started_ns = clock_ns();
    pthread_mutex_init(&c->lock, NULL);
    pthread_mutex_init(&c->serving, NULL);
    pthread_cond_init(&c->handover_changed, NULL);
    c->answer_blob = -1;
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    c->fd = c->web_fd = -1;
    if (conf->takes_jobs)
        c->jobs = jobs_new(conf->parallel_jobs);
    if (has_socket && open_socket(c, err) < 0) {
        if (conf->takes_jobs || !conf->has_listener) {
            control_free(c);
            return -1;
        }
        log_err(LOG_LEVEL_WARNING, "unix-manager", err);
        *err = (struct err){ 0 };
    }
    *out = c;
    return 0;
}

int control_start(struct control *c, struct err *err)
{
    int status = c != NULL && c->fd >= 0 ? pthread_create(&c->thread, NULL, control_main, c) : 0;

    if (status != 0)
        return err_set(err, "cannot make the control thread: %s", strerror(status));
    if (c != NULL)
        c->has_thread = c->fd >= 0;
    return 0;
}

/* The main thread announces each run and, with NULL, its end. The lock makes it wait for a
 * command that uses the old one. */
void control_set_run(struct control *c, struct engine *engine, const struct plan *plan, int *stop)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    c->engine = engine;
    c->plan = plan;
    c->stop = stop;
    pthread_mutex_unlock(&c->lock);
}

/* For the main thread, while it replaces what commands read. */
void control_hold(struct control *c)
{
    if (c != NULL)
        pthread_mutex_lock(&c->lock);
}

void control_release(struct control *c)
{
    if (c != NULL)
        pthread_mutex_unlock(&c->lock);
}

void control_reload_begins(struct control *c)
{
    if (c == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    c->reload = RELOAD_RUNNING;
    pthread_mutex_unlock(&c->lock);
}

/* `failed`: the reason; NULL: success. Wakes the control thread, which answers the clients
 * that wait. */
void control_reload_ends(struct control *c, const char *failed)
{
    bool again;

    if (c == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    again = c->reload_again;
    c->reload = again ? RELOAD_ASKED : RELOAD_IDLE;
    c->reload_again = false;
    c->reloads++;
    snprintf(c->reload_failed, sizeof(c->reload_failed), "%s", failed != NULL ? failed : "");
    pthread_mutex_unlock(&c->lock);
    if (again)
        signals_raise(SIGNAL_RELOAD);
    wake(c);
}

const char *control_path(const struct control *c)
{
    return c != NULL ? c->path : NULL;
}

struct jobs *control_jobs(struct control *c)
{
    return c->jobs;
}

/* Otherwise a client that waits for the end of its connection would wait for the new process,
 * too. */
static void leave(struct control *c)
{
    for (size_t i = 0; i < c->clients.count; i++)
        close(c->clients.at[i]->fd);
    if (c->fd >= 0)
        close(c->fd);
    close(c->wake_fd);
}

/* fork(2) copies locks as they are, and the clients as they are. So the control thread must be
 * between two rounds, and the log between two messages. */
pid_t control_fork(struct control *c)
{
    pid_t pid;

    pthread_mutex_lock(&c->serving);
    pthread_mutex_lock(&c->lock);
    log_hold();
    pid = fork();
    log_release();
    pthread_mutex_unlock(&c->lock);
    pthread_mutex_unlock(&c->serving);
    if (pid == 0)
        leave(c);
    return pid;
}

/* Sends what the kernel still takes of the last replies. Removes the socket's file. */
void control_free(struct control *c)
{
    if (c == NULL)
        return;
    __atomic_store_n(&c->ending, true, __ATOMIC_RELEASE);
    if (c->has_thread) {
        wake(c);
        pthread_join(c->thread, NULL);
    }
    for (size_t i = 0; i < c->clients.count; i++) {
        (void)client_write(c, c->clients.at[i]);
        client_free(c->clients.at[i]);
    }
    ARRAY_FREE(&c->clients);
    if (c->path[0] != '\0' && !c->socket_is_given)
        unlink(c->path);
    if (c->fd >= 0)
        close(c->fd);
    if (c->wake_fd >= 0)
        close(c->wake_fd);
    pthread_cond_destroy(&c->handover_changed);
    jobs_free(c->jobs);
    free(c->flow_result);
    pthread_mutex_destroy(&c->serving);
    pthread_mutex_destroy(&c->lock);
    free(c);
}
