/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/redis.c - writes records to a redis server, one command each.
 *
 * The connection never blocks. Without `async` a writer waits for the replies, in live capture at
 * most wait_ns, and then closes the connection; with `async` it reads replies as they arrive.
 * Offline it waits for a slow server. An unreachable server costs records, never time: the sink
 * tries to connect at most once a second and does not wait until a connection is made. A record
 * counts as sent when the server has replied. */
#include "config.h"

#include "output/output.h"
#include "output/sink.h"

#ifdef HAVE_HIREDIS
#include <hiredis/hiredis.h>
#include <netdb.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "base/array.h"
#include "base/system/clock.h"
#include "base/report/log.h"
#include "output/sinks/redis_tls.h"

#define SECOND_NS UINT64_C(1000000000)

enum {
    ARGS_MAX = 8,
    WAIT_STEP_MS = 100,         /* offline, between checks whether the user wants an end */
    QUEUE_MAX = 1 << 20,        /* bytes that a slow server may leave waiting */
    BATCH_MAX = 10000,
};

static const uint64_t wait_ns = SECOND_NS;              /* for answers, each hand-over */
static const uint64_t last_wait_ns = 5 * SECOND_NS;     /* for answers, at the end */
static const uint64_t again_ns = SECOND_NS;             /* between attempts to connect */
static const uint64_t shake_ns = 5 * SECOND_NS;         /* for a TLS handshake */
static const uint64_t again_mute_ns = 10 * SECOND_NS;   /* if it took records and did not answer */
static const uint64_t mute_ns = 10 * SECOND_NS;         /* async: without an answer for so long */

struct redis_sink {
    pthread_mutex_t lock;       /* writers share the one connection */
    redisContext *connection;   /* NULL: none */
    bool connecting;            /* not known to be there yet, or still in the TLS handshake */
    struct redis_tls *tls;      /* NULL: plain text */
    bool shaking;               /* connected; the TLS handshake is under way */
    bool async;
    bool login_awaited;         /* AUTH was sent; its answer is that of no record */
    const int *stop;            /* offline: a slow server is waited for until this; NULL: never */
    char *username, *password;  /* NULL: none */
    bool failing, refused;      /* already logged */
    char *server;               /* an address, or the path of a socket */
    int port;
    char *key;
    char maxlen[24];
    const char *args[ARGS_MAX]; /* of the command; the record is the last one */
    size_t arg_lens[ARGS_MAX];
    int arg_count;              /* without the record */
    unsigned batch;             /* records that are sent at once */
    unsigned gathered;          /* records of the batch being gathered */
    uint64_t awaited;           /* records without an answer, the gathered ones among them */
    uint64_t queued;            /* maximum of bytes that wait to be sent */
    uint64_t lost;              /* records */
    uint64_t again_at_ns, pushed_ns, heard_ns, shaken_ns;
};

/* --- the connection -------------------------------------------------------------------------- */

/* Closes the connection. All records without an answer count as lost: the server may have
 * some of them, but sending them again could store them twice. after_ns: no attempt to
 * connect before that. */
static COLD void redis_hang_up(struct redis_sink *s, const char *why, uint64_t after_ns)
{
    if (!s->failing)
        log_warning("output", "redis at %s: %s; records are dropped until it is back", s->server,
                    why);
    s->failing = true;
    s->again_at_ns = MAX(s->again_at_ns, clock_ns() + after_ns);
    s->lost += s->awaited;
    s->awaited = s->queued = s->gathered = 0;
    s->login_awaited = s->shaking = false;
    if (s->tls != NULL)
        redis_tls_end(s->tls);
    redisFree(s->connection);
    s->connection = NULL;
}

/* After an error of hiredis. Without an error text it is out of memory. */
static COLD void redis_broken(struct redis_sink *s)
{
    redis_hang_up(s, s->connection->err != 0 ? s->connection->errstr : "out of memory", 0);
}

/* Appends a command to those that wait to be sent. False: out of memory. */
static bool redis_append(struct redis_sink *s, int count, const char **args, const size_t *lens)
{
    char *command = NULL;
    int len;
    bool added;

    if (s->tls == NULL)
        return redisAppendCommandArgv(s->connection, count, args, lens) == REDIS_OK;
    len = (int)redisFormatCommandArgv(&command, count, args, lens);
    added = len > 0 && redis_tls_add(s->tls, command, (size_t)len);
    redisFreeCommand(command);
    return added;
}

/* The first command on a connection. Its answer comes before that of any record. A
 * username needs redis 6 (AUTH with two arguments). */
static void redis_log_in(struct redis_sink *s)
{
    const char *args[3] = { "AUTH" };
    int count = 1;

    if (s->password == NULL)
        return;
    if (s->username != NULL)
        args[count++] = s->username;
    args[count++] = s->password;
    s->login_awaited = true;
    if (!redis_append(s, count, args, NULL))
        redis_broken(s);
}

/* Begins a connection and does not wait for it. `refused` starts again, so that a new
 * server's complaint is logged, too. */
static void redis_dial(struct redis_sink *s)
{
    uint64_t now = clock_ns();

    if (now < s->again_at_ns)
        return;
    s->again_at_ns = now + again_ns;
    s->connection = strchr(s->server, '/') != NULL ? redisConnectUnixNonBlock(s->server)
                                                   : redisConnectNonBlock(s->server, s->port);
    s->connecting = true;
    s->refused = false;
    if (s->connection != NULL && s->connection->err != 0)
        redis_broken(s);
}

/* Offline there is always time, until the user stops the run. */
static bool redis_time_is_up(const struct redis_sink *s, uint64_t now, uint64_t until_ns)
{
    return s->stop != NULL ? __atomic_load_n(s->stop, __ATOMIC_RELAXED) != 0 : now >= until_ns;
}

/* The longest poll() before redis_time_is_up() is checked again. */
static int redis_poll_ms(const struct redis_sink *s, uint64_t now, uint64_t until_ns)
{
    return s->stop != NULL ? WAIT_STEP_MS : (int)((until_ns - now) / 1000000) + 1;
}

/* Waits at most wait_ms for the end of the TLS handshake. A server that is paused has taken the
 * connection, so offline it is waited for, as for its answers. */
static void redis_shake_hands(struct redis_sink *s, int wait_ms)
{
    uint64_t until_ns = clock_ns() + (uint64_t)wait_ms * 1000000;
    enum redis_tls_step step;

    while ((step = redis_tls_shake_hands(s->tls)) == REDIS_TLS_WAIT) {
        struct pollfd ready = { .fd = s->connection->fd, .events = redis_tls_events(s->tls) };
        uint64_t now = clock_ns();

        if (redis_time_is_up(s, now, s->shaken_ns + shake_ns)) {
            redis_hang_up(s, "TLS: no handshake in time", 0);
            return;
        }
        if (redis_time_is_up(s, now, until_ns))
            return;
        (void)poll(&ready, 1, redis_poll_ms(s, now, until_ns));
    }
    if (step == REDIS_TLS_BROKEN) {
        redis_hang_up(s, redis_tls_error(s->tls), 0);
        return;
    }
    s->shaking = s->connecting = false;
    redis_log_in(s);
}

/* The socket is connected. */
static void redis_on_connected(struct redis_sink *s, int wait_ms)
{
    if (s->tls == NULL) {
        s->connecting = false;
        redis_log_in(s);
        return;
    }
    if (!redis_tls_begin(s->tls, s->connection->fd)) {
        redis_hang_up(s, "TLS: out of memory", 0);
        return;
    }
    s->shaking = true;
    s->shaken_ns = clock_ns();
    redis_shake_hands(s, wait_ms);
}

/* Checks whether the connection is established. Waits at most wait_ms for it, and as long for a TLS
 * handshake. SO_ERROR has the result of a non-blocking connect(). Gives up after again_ns. */
static void redis_pick_up(struct redis_sink *s, int wait_ms)
{
    struct pollfd ready = { .fd = s->connection->fd, .events = POLLOUT };
    socklen_t len = sizeof(int);
    int failure = 0;

    if (s->shaking) {
        redis_shake_hands(s, wait_ms);
        return;
    }
    if (poll(&ready, 1, wait_ms) <= 0) {
        if (clock_ns() >= s->again_at_ns)
            redis_hang_up(s, "it cannot be reached", 0);
        return;
    }
    if (getsockopt(ready.fd, SOL_SOCKET, SO_ERROR, &failure, &len) == 0 && failure != 0) {
        redis_hang_up(s, strerror(failure), 0);
        return;
    }
    redis_on_connected(s, wait_ms);
}

/* False: the connection is closed. */
static bool redis_send_tls(struct redis_sink *s)
{
    enum redis_tls_step step = redis_tls_send(s->tls);

    if (step == REDIS_TLS_DONE)
        s->queued = 0;
    else if (step == REDIS_TLS_BROKEN)
        redis_hang_up(s, redis_tls_error(s->tls), 0);
    return step != REDIS_TLS_BROKEN;
}

/* Writes what the socket takes of hiredis' output buffer. False: the connection is closed. */
static bool redis_send(struct redis_sink *s)
{
    int done = 0;

    if (s->tls != NULL)
        return redis_send_tls(s);
    if (redisBufferWrite(s->connection, &done) != REDIS_OK) {
        redis_broken(s);
        return false;
    }
    if (done)
        s->queued = 0;
    return true;
}

/* False: the server rejects the login, so the connection is closed. Retries are rare then,
 * since a wrong password does not become right. */
static bool redis_on_login(struct redis_sink *s, const redisReply *reply)
{
    s->login_awaited = false;
    if (reply->type != REDIS_REPLY_ERROR)
        return true;
    redis_hang_up(s, reply->str, again_mute_ns);
    return false;
}

/* An error answers one record, for instance when the key has another type: that record is
 * lost, the connection stays. Only the first error of a connection is logged. */
static void redis_on_reply(struct redis_sink *s, const redisReply *reply)
{
    if (s->awaited > 0)
        s->awaited--;
    if (UNLIKELY(reply->type == REDIS_REPLY_ERROR)) {
        s->lost++;
        if (!s->refused)
            log_error("output", "redis at %s takes no records: %s", s->server, reply->str);
        s->refused = true;
    } else if (UNLIKELY(s->failing)) {
        s->failing = false;
        log_notice("output", "redis at %s is back", s->server);
    }
}

/* Reads the received bytes. False: the connection is closed. */
static bool redis_receive(struct redis_sink *s)
{
    if (s->tls != NULL) {
        if (redis_tls_receive(s->tls, s->connection->reader) == REDIS_TLS_DONE)
            return true;
        redis_hang_up(s, redis_tls_error(s->tls), 0);
        return false;
    }
    if (redisBufferRead(s->connection) == REDIS_OK)
        return true;
    redis_broken(s);
    return false;
}

/* Takes the answers that have come. False: the connection is closed. */
static bool redis_listen(struct redis_sink *s)
{
    void *reply = NULL;
    bool is_in, was_login;

    if (!redis_receive(s))
        return false;
    for (;;) {
        if (redisGetReply(s->connection, &reply) != REDIS_OK) {
            redis_broken(s);
            return false;
        }
        if (reply == NULL)
            return true;
        s->heard_ns = clock_ns();
        was_login = s->login_awaited;
        is_in = !s->login_awaited || redis_on_login(s, reply);
        if (is_in && !was_login)
            redis_on_reply(s, reply);
        freeReplyObject(reply);
        if (!is_in)
            return false;
    }
}

/* Sends, and waits for all answers. The lock is held, so other writers wait, too. */
static void redis_finish(struct redis_sink *s, uint64_t until_ns)
{
    while (redis_send(s) && redis_listen(s) && s->awaited > 0) {
        struct pollfd ready = { .fd = s->connection->fd, .events = POLLIN };
        uint64_t now = clock_ns();

        if (redis_time_is_up(s, now, until_ns)) {
            redis_hang_up(s, "no answer in time", again_mute_ns);
            return;
        }
        if (s->queued > 0)
            ready.events |= POLLOUT;
        (void)poll(&ready, 1, redis_poll_ms(s, now, until_ns));
    }
}

/* --- writing --------------------------------------------------------------------------------- */

/* A batch is complete. heard_ns: if nothing was outstanding before, waiting for an answer
 * begins now. Offline with `async` a full queue is emptied first, so that nothing is lost. */
static void redis_push(struct redis_sink *s, uint64_t now, uint64_t until_ns)
{
    if (s->awaited == s->gathered)
        s->heard_ns = now;
    s->gathered = 0;
    s->pushed_ns = now;
    if (s->async && (s->stop == NULL || s->queued <= QUEUE_MAX / 2))
        (void)redis_send(s);
    else
        redis_finish(s, until_ns);
}

/* Adds one command to hiredis' output buffer. When the server is away or the queue is full
 * the record is lost. A batch that is not full is sent after a second. */
static void redis_record(struct redis_sink *s, struct slice line, uint64_t now, uint64_t until_ns)
{
    if (s->connection == NULL || s->queued > QUEUE_MAX) {
        s->lost++;
        return;
    }
    s->args[s->arg_count] = (const char *)line.data;
    s->arg_lens[s->arg_count] = line.len;
    s->awaited++;
    s->gathered++;
    s->queued += line.len;
    if (!redis_append(s, s->arg_count + 1, s->args, s->arg_lens))
        redis_broken(s);
    else if (s->gathered >= s->batch || s->queued > QUEUE_MAX / 2 ||
             now >= s->pushed_ns + SECOND_NS)
        redis_push(s, now, until_ns);
}

/* Between hand-overs the server may have answered, gone or come back: checks that without
 * waiting. */
static void redis_look(struct redis_sink *s, uint64_t now)
{
    if (s->connection != NULL && !s->connecting && redis_listen(s) && s->stop == NULL &&
        s->awaited > s->gathered && now > s->heard_ns + mute_ns)
        redis_hang_up(s, "no answer in time", again_mute_ns);
    if (s->connection == NULL)
        redis_dial(s);
    if (s->connection != NULL && s->connecting)
        redis_pick_up(s, 0);
}

/* A record is a line. While the connection is being made records are lost: they would fill
 * memory if the server never came. */
static uint64_t redis_write(void *self, const uint8_t *data, size_t len)
{
    struct redis_sink *s = self;
    struct bytes in = bytes_of(data, len);
    struct slice line;
    uint64_t now;

    pthread_mutex_lock(&s->lock);
    now = clock_ns();
    redis_look(s, now);
    while (take_until(&in, '\n', &line)) {
        if (s->connection != NULL && s->connecting)
            s->lost++;
        else
            redis_record(s, line, now, now + wait_ns);
    }
    pthread_mutex_unlock(&s->lock);
    /* Records may be lost later than here: they are counted where it happens. */
    return 0;
}

/* --- set-up ---------------------------------------------------------------------------------- */

/* A fixed argument of the command. The text is borrowed. */
static void redis_add(struct redis_sink *s, const char *arg)
{
    s->args[s->arg_count] = arg;
    s->arg_lens[s->arg_count++] = strlen(arg);
}

/* The words and defaults are Suricata's: list is LPUSH, channel is PUBLISH, stream is
 * XADD. XADD trims the stream to about `stream-maxlen` entries ("~"), which is cheaper for
 * redis than exactly ("="). */
static void redis_read_mode(struct redis_sink *s, const struct conf_node *node)
{
    static const char *const modes[] = { "list", "lpush", "rpush", "channel", "publish", "stream",
                                         "xadd", NULL };
    static const char *const commands[] = { "LPUSH", "LPUSH", "RPUSH", "PUBLISH", "PUBLISH",
                                            "XADD", "XADD" };
    const char *command = commands[conf_choice(node, "mode", modes, 0)];
    uint64_t maxlen = conf_u64(node, "stream-maxlen", 100000);

    redis_add(s, command);
    redis_add(s, s->key);
    if (strcmp(command, "XADD") != 0)
        return;
    if (maxlen > 0) {
        snprintf(s->maxlen, sizeof(s->maxlen), "%llu", (unsigned long long)maxlen);
        redis_add(s, "MAXLEN");
        redis_add(s, conf_bool(node, "stream-trim-exact", false) ? "=" : "~");
        redis_add(s, s->maxlen);
    }
    redis_add(s, "*");
    redis_add(s, "eve");
}

/* A missing password is only an error message: the connection is made without a login. */
static void redis_read_login(struct redis_sink *s, const struct conf_node *node)
{
    const char *username = conf_string(node, "username", NULL);
    const char *password = conf_string(node, "password", NULL);

    if (password != NULL)
        s->password = xstrdup(password);
    if (username != NULL)
        s->username = xstrdup(username);
    if (username != NULL && password == NULL)
        conf_error(conf_find(node, "username"), "redis: a username needs a password");
}

/* Resolves the name once, so that no packet thread ever queries a name server. NULL: no address. A
 * server whose address changes later is not found again. A path is that of a unix socket. */
static char *redis_resolve(const char *name)
{
    struct addrinfo hints = { .ai_socktype = SOCK_STREAM }, *found;
    char address[128];
    int failure;

    if (strchr(name, '/') != NULL)
        return xstrdup(name);
    if (getaddrinfo(name, NULL, &hints, &found) != 0)
        return NULL;
    failure = getnameinfo(found->ai_addr, found->ai_addrlen, address, sizeof(address), NULL, 0,
                          NI_NUMERICHOST);
    freeaddrinfo(found);
    return failure == 0 ? xstrdup(address) : NULL;
}

/* At the start it waits up to a second for the server, so that the first records are not
 * lost. A server that is away is no error. */
static void *redis_open(const struct output_request *request, const struct conf_node *output,
                        const char *path, struct err *err)
{
    const struct conf_node *node = conf_find(output, "redis");
    const char *name = conf_string(node, "server", "127.0.0.1");
    char *server = redis_resolve(name);
    struct redis_sink *s;
    struct redis_tls *tls;
    bool ok;

    (void)path;
    (void)err;
    if (server == NULL) {
        conf_error(conf_find(node, "server"), "redis: server \"%s\" has no address", name);
        return NULL;
    }
    tls = redis_tls_new(node, name, &ok);
    if (!ok) {
        free(server);
        return NULL;
    }
    s = xcalloc(1, sizeof(*s));
    s->tls = tls;
    pthread_mutex_init(&s->lock, NULL);
    s->server = server;
    s->port = (int)conf_u64_range(node, "port", 6379, 1, 65535);
    s->key = xstrdup(conf_string(node, "key", "suricata"));
    s->stop = request->offline ? request->stop : NULL;
    redis_read_login(s, node);
    s->async = conf_bool(node, "async", false);
    s->batch = 1;
    if (conf_bool(node, "pipelining.enabled", false))
        s->batch = (unsigned)conf_u64_range(node, "pipelining.batch-size", 10, 1, BATCH_MAX);
    redis_read_mode(s, node);
    s->pushed_ns = clock_ns();
    redis_dial(s);
    if (s->connection != NULL)
        redis_pick_up(s, 1000);
    return s;
}

/* At the end of the run: gives the server some time to reply to the last records. */
static void redis_close(void *self)
{
    struct redis_sink *s = self;

    if (s->connection != NULL && s->awaited > 0)
        redis_finish(s, clock_ns() + last_wait_ns);
    if (s->lost > 0)
        log_warning("output", "redis at %s: %llu records were dropped", s->server,
                    (unsigned long long)s->lost);
    redis_tls_free(s->tls);
    redisFree(s->connection);
    pthread_mutex_destroy(&s->lock);
    free(s->server);
    free(s->key);
    free(s->username);
    free(s->password);
    free(s);
}

#else

static void *redis_open(const struct output_request *request, const struct conf_node *output,
                        const char *path, struct err *err)
{
    (void)request;
    (void)path;
    (void)err;
    conf_error(conf_find(output, "filetype"), "filetype redis: this is a build without hiredis; "
               "install the package libhiredis-dev, then run configure and make again");
    return NULL;
}

static uint64_t redis_write(void *self, const uint8_t *data, size_t len)
{
    (void)self;
    return sink_records(data, len);
}

static void redis_close(void *self)
{
    (void)self;
}

#endif

const struct sink_ops sink_redis = {
    .name = "redis",
    .is_own = true,
    .open = redis_open,
    .write = redis_write,
    .close = redis_close,
};
