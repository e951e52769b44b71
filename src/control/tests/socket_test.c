/* SPDX-License-Identifier: GPL-2.0-or-later */
/* The control socket with clients, and no engine behind it. */
#include "control/control.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/test.h"

struct control_fixture {
    char dir[32], path[64];
    bool live;
    struct conf *conf;
    struct run_context context;
    struct control *control;
    struct err err;
};

static bool fixture_open(struct control_fixture *w)
{
    struct control_conf conf = { .context = &w->context, .path = w->path, .takes_jobs = !w->live,
                                 .merge_reloads = true };

    w->conf = conf_new();
    conf_set(w->conf, "runmode", "workers");
    conf_set(w->conf, "unix-command.enabled", "yes");
    conf.root = conf_root(w->conf);
    pthread_mutex_init(&w->context.rules_lock, NULL);
    pthread_mutex_init(&w->context.qsbr_lock, NULL);
    return control_open(&conf, &w->control, &w->err) == 0 &&
           control_start(w->control, &w->err) == 0;
}

static void fixture_new(struct test *t, struct control_fixture *w)
{
    *w = (struct control_fixture){ .dir = "/tmp/ids-control-XXXXXX" };
    CHECK(mkdtemp(w->dir) != NULL);
    snprintf(w->path, sizeof(w->path), "%s/socket", w->dir);
    CHECK(fixture_open(w));
}

static void fixture_close(struct control_fixture *w)
{
    control_free(w->control);
    conf_free(w->conf);
    unlink(w->path);
    rmdir(w->dir);
}

static int dial(struct test *t, const struct control_fixture *w)
{
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    memcpy(to.sun_path, w->path, sizeof(w->path));
    CHECK_INT(connect(fd, (struct sockaddr *)&to, sizeof(to)), 0);
    return fd;
}

/* Up to the newline, which is left out; "" at the end of the connection. */
static const char *read_line(int fd, char *out, size_t size)
{
    struct pollfd at = { .fd = fd, .events = POLLIN };
    size_t n = 0;
    char c;

    while (n < size - 1 && poll(&at, 1, 5000) > 0 && read(fd, &c, 1) == 1 && c != '\n')
        out[n++] = c;
    out[n] = '\0';
    return out;
}

static const char *request(struct test *t, int fd, const char *text, char *out, size_t size)
{
    CHECK(send(fd, text, strlen(text), MSG_NOSIGNAL) == (ssize_t)strlen(text));
    return read_line(fd, out, size);
}

static int dial_and_greet(struct test *t, const struct control_fixture *w)
{
    int fd = dial(t, w);
    char line[256];

    CHECK_STRING(request(t, fd, "{\"version\":\"0.2\"}", line, sizeof(line)), "{\"return\":\"OK\"}");
    return fd;
}

TEST(control_socket_answers_several_clients)
{
    struct control_fixture w;
    struct stat st;
    char line[4096];
    int a, b;

    fixture_new(t, &w);
    CHECK(stat(w.path, &st) == 0 && (st.st_mode & 0777) == 0660);
    a = dial_and_greet(t, &w);
    b = dial_and_greet(t, &w);
    CHECK_STRING(request(t, a, "{\"command\":\"running-mode\"}\n", line, sizeof(line)),
                 "{\"message\":\"workers\",\"return\":\"OK\"}");
    CHECK_STRING(request(t, b, "{\"command\":\"nonsense\"}\n", line, sizeof(line)),
                 "{\"message\":\"Unknown command\",\"return\":\"NOK\"}");
    CHECK_STRING(request(t, a, "{\"command\":\"take-over-commit\"}\n", line, sizeof(line)),
                 "{\"message\":\"Unknown command\",\"return\":\"NOK\"}");
    CHECK_STRING(request(t, a, "{\"command\":\"iface-list\"}\n", line, sizeof(line)),
                 "{\"message\":{\"ifaces\":[],\"count\":0},\"return\":\"OK\"}");
    CHECK_STRING(request(t, b, "{\"command\":\"conf-get\",\"arguments\":{\"variable\":1}}", line,
                     sizeof(line)),
                 "{\"message\":\"variable is not a string\",\"return\":\"NOK\"}");
    /* two at once, answered in order */
    CHECK_STRING(request(t, b, "{\"command\":\"capture-mode\"}{\"command\":\"pcap-file-number\"}",
                     line, sizeof(line)),
                 "{\"message\":\"UNIX_SOCKET\",\"return\":\"OK\"}");
    CHECK_STRING(read_line(b, line, sizeof(line)), "{\"message\":0,\"return\":\"OK\"}");
    close(a);
    close(b);
    fixture_close(&w);
}

TEST(control_socket_ends_connections_that_make_no_sense)
{
    static const char *const wrong[] = { "{\"version\":\"9\"}", "{\"version\":2}", "hello\n",
                                         "{\"command\":\"uptime\"}" };
    struct control_fixture w;
    char line[64];

    fixture_new(t, &w);
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        int fd = dial(t, &w);

        CHECK_STRING(request(t, fd, wrong[i], line, sizeof(line)), "");
        close(fd);
    }
    close(dial_and_greet(t, &w));       /* others are served all the same */
    fixture_close(&w);
}

TEST(control_socket_first_version_has_no_newline)
{
    static const char expected[] = "{\"return\":\"OK\"}{\"message\":\"workers\",\"return\":\"OK\"}";
    struct control_fixture w;
    char line[sizeof(expected)] = "";
    size_t n = 0;
    int fd;

    fixture_new(t, &w);
    fd = dial(t, &w);
    CHECK(write(fd, "{\"version\":\"0.1\"}{\"command\":\"running-mode\"}", 43) == 43);
    while (n < sizeof(expected) - 1 && read(fd, line + n, 1) == 1)
        n++;
    CHECK_STRING(line, expected);
    close(fd);
    fixture_close(&w);
}

/* Does the answer to take-over have this text? Without an engine it is always a refusal. */
static bool is_refused(struct test *t, const struct control_fixture *w, const char *text)
{
    int fd = dial_and_greet(t, w);
    char line[256];
    bool is_so = strstr(request(t, fd, "{\"command\":\"take-over\"}", line, sizeof(line)),
                        text) != NULL;

    close(fd);
    return is_so;
}

/* The socket's mode may let a group in, or all: the sockets of the capture are not for them. */
TEST(control_take_over_is_for_root_and_the_own_user)
{
    static const struct capture_ops capture = { .name = "af-packet", .live = true };
    struct control_fixture w = { .dir = "/tmp/ids-control-XXXXXX", .live = true };
    int status = -1;
    pid_t child;

    if (geteuid() != 0) {
        t->skipped = true;
        return;
    }
    w.context.capture = &capture;
    CHECK(mkdtemp(w.dir) != NULL && chmod(w.dir, 0755) == 0);
    snprintf(w.path, sizeof(w.path), "%s/socket", w.dir);
    CHECK(fixture_open(&w));
    CHECK(chmod(w.path, 0666) == 0);
    CHECK(is_refused(t, &w, "Not while rules are loaded"));
    child = fork();
    if (child == 0)
        _exit(setresuid(65534, 65534, 65534) == 0 && is_refused(t, &w, "Only root and") ? 7 : 1);
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    fixture_close(&w);
}

TEST(control_socket_keeps_its_place)
{
    struct control_fixture w, other = { 0 };
    struct stat st;
    FILE *f;

    fixture_new(t, &w);
    memcpy(other.path, w.path, sizeof(w.path));
    CHECK(!fixture_open(&other));                         /* the first process listens there */
    CHECK(strstr(other.err.text, "another process") != NULL);
    conf_free(other.conf);
    control_free(w.control);
    conf_free(w.conf);
    CHECK(stat(w.path, &st) < 0);

    f = fopen(w.path, "w");                             /* not ours to remove */
    CHECK(f != NULL && fclose(f) == 0);
    CHECK(!fixture_open(&w));
    CHECK(strstr(w.err.text, "no socket") != NULL);
    conf_free(w.conf);
    unlink(w.path);
    fixture_close(&(struct control_fixture){ .dir = "/nonexistent" });
    rmdir(w.dir);
}

TEST(control_socket_replaces_one_left_behind)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };
    struct control_fixture w;
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    w = (struct control_fixture){ .dir = "/tmp/ids-control-XXXXXX" };
    CHECK(mkdtemp(w.dir) != NULL);
    snprintf(w.path, sizeof(w.path), "%s/socket", w.dir);
    memcpy(at.sun_path, w.path, sizeof(w.path));
    CHECK(bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
    close(fd);
    CHECK(fixture_open(&w));
    close(dial_and_greet(t, &w));
    fixture_close(&w);
}

#define RELOAD "{\"command\":\"ruleset-reload-rules\"}"
#define DONE "{\"message\":\"done\",\"return\":\"OK\"}"
#define RUNNING_MODE "{\"command\":\"running-mode\"}"

static void ask_reload(struct test *t, int fd)
{
    CHECK(send(fd, RELOAD, strlen(RELOAD), MSG_NOSIGNAL) == (ssize_t)strlen(RELOAD));
}

/* A command of another client is answered after those that came before it. */
static void wait_for_answer(struct test *t, int fd)
{
    char line[256];

    CHECK_STRING(request(t, fd, RUNNING_MODE, line, sizeof(line)),
                 "{\"message\":\"workers\",\"return\":\"OK\"}");
}

static bool has_answer(int fd)
{
    struct pollfd at = { .fd = fd, .events = POLLIN };

    return poll(&at, 1, 0) > 0;
}

/* `a` asks before the reload, `b` and `c` during it: theirs is the next, for both together. */
TEST(control_reloads_are_merged)
{
    struct control_fixture w;
    char line[256];
    int a, b, c, other;

    CHECK(signal(SIGUSR2, SIG_IGN) != SIG_ERR);     /* that is how the main thread is told */
    fixture_new(t, &w);
    a = dial_and_greet(t, &w);
    b = dial_and_greet(t, &w);
    c = dial_and_greet(t, &w);
    other = dial_and_greet(t, &w);
    ask_reload(t, a);
    wait_for_answer(t, other);
    control_reload_begins(w.control);
    ask_reload(t, b);
    ask_reload(t, c);
    wait_for_answer(t, other);
    control_reload_ends(w.control, NULL);
    CHECK_STRING(read_line(a, line, sizeof(line)), DONE);
    wait_for_answer(t, other);
    CHECK(!has_answer(b) && !has_answer(c));
    control_reload_begins(w.control);
    control_reload_ends(w.control, NULL);
    CHECK_STRING(read_line(b, line, sizeof(line)), DONE);
    CHECK_STRING(read_line(c, line, sizeof(line)), DONE);
    ask_reload(t, a);                               /* nothing is left over */
    wait_for_answer(t, other);
    control_reload_begins(w.control);
    control_reload_ends(w.control, "broken");
    CHECK_STRING(read_line(a, line, sizeof(line)),
                 "{\"message\":\"broken\",\"return\":\"NOK\"}");
    close(a);
    close(b);
    close(c);
    close(other);
    fixture_close(&w);
    signal(SIGUSR2, SIG_DFL);
}

TEST(control_jobs_wait_in_order)
{
    struct job a = { .file = xstrdup("a"), .log_dir = xstrdup("x") };
    struct job b = { .file = xstrdup("b"), .log_dir = xstrdup("y"), .continuous = true };
    struct jobs *jobs = jobs_new(1);
    const struct job *at;

    CHECK(jobs_take(jobs) == NULL);
    jobs_add(jobs, &a);
    jobs_add(jobs, &b);
    at = jobs_take(jobs);
    CHECK(at != NULL);
    CHECK_STRING(at->file, "a");
    CHECK_INT(jobs_each(jobs, NULL, NULL), 1);
    jobs_done(jobs, at, 5, NULL);
    CHECK_INT(jobs_last_ms(jobs), 5);
    at = jobs_take(jobs);
    CHECK(at != NULL && at->continuous);
    jobs_done(jobs, at, 6, NULL);
    CHECK(jobs_take(jobs) == NULL);
    jobs_free(jobs);
}

static const struct job *add(struct jobs *jobs, const char *name, unsigned parallel)
{
    struct job job = { .file = xstrdup(name), .log_dir = xstrdup("x"), .parallel = parallel };

    jobs_add(jobs, &job);
    return jobs_take(jobs);
}

/* The number that counts is the smallest of those that run and the one that wants to. */
TEST(control_jobs_run_at_once_as_far_as_each_allows)
{
    struct jobs *jobs = jobs_new(2);
    const struct job *a = add(jobs, "a", 0), *b = add(jobs, "b", 3), *c;

    CHECK(a != NULL && b != NULL);
    CHECK_INT(a->parallel, 2);
    CHECK(add(jobs, "c", 3) == NULL);           /* beside `a` there may be one other */
    CHECK_INT(jobs_each(jobs, NULL, NULL), 1);
    CHECK_INT(jobs_each_running(jobs, NULL, NULL), 2);
    jobs_done(jobs, a, 1, NULL);
    c = jobs_take(jobs);
    CHECK(c != NULL);
    CHECK_STRING(c->file, "c");
    CHECK(add(jobs, "alone", 1) == NULL);
    CHECK(add(jobs, "last", 3) == NULL);
    jobs_done(jobs, b, 2, NULL);
    CHECK(jobs_take(jobs) == NULL);             /* "alone" waits, and "last" does not overtake it */
    jobs_done(jobs, c, 3, NULL);
    a = jobs_take(jobs);
    CHECK_STRING(a->file, "alone");
    CHECK(jobs_take(jobs) == NULL);
    jobs_done(jobs, a, 4, NULL);
    CHECK(jobs_take(jobs) != NULL);
    jobs_free(jobs);
}

/* A process that is not known, or no longer, gets no signal. */
TEST(control_jobs_signal_the_processes_of_their_file)
{
    struct jobs *jobs = jobs_new(4);
    const struct job *a = add(jobs, "a", 0), *b = add(jobs, "b", 0);

    CHECK_INT(jobs_signal(jobs, NULL, 0), 0);
    jobs_set_process(jobs, a, getpid());        /* signal 0 only asks whether it is there */
    jobs_set_process(jobs, b, getpid());
    CHECK_INT(jobs_signal(jobs, NULL, 0), 2);
    CHECK_INT(jobs_signal(jobs, "b", 0), 1);
    jobs_set_process(jobs, b, 0);
    CHECK_INT(jobs_signal(jobs, "b", 0), 0);
    jobs_free(jobs);
}

static void copy_failed(const struct jobs_failed *f, void *arg)
{
    char *out = arg;

    snprintf(out, 100, "%d %s %s %d", (int)f->count, f->file != NULL ? f->file : "-",
             f->error != NULL ? f->error : "-", (int)f->wall_ms);
}

TEST(control_jobs_that_fail_are_counted)
{
    struct jobs *jobs = jobs_new(1);
    const struct job *at;
    char text[100];

    jobs_failed(jobs, copy_failed, text);
    CHECK_STRING(text, "0 - - 0");
    for (unsigned i = 0; i < 3; i++) {
        char name[8];
        struct job job = { .log_dir = xstrdup("x") };

        snprintf(name, sizeof(name), "file%u", i);
        job.file = xstrdup(name);
        jobs_add(jobs, &job);
        at = jobs_take(jobs);
        CHECK(at != NULL);
        jobs_done(jobs, at, 5 + i, i == 1 ? NULL : "broken");
    }
    jobs_failed(jobs, copy_failed, text);
    CHECK_STRING(text, "2 file2 broken 7");
    jobs_free(jobs);
}

#define IDLE_CLIENTS 64

/* As many as there is room for, and one of them busy: the next takes the place of the first. */
TEST(control_idle_clients_make_way)
{
    struct control_fixture w;
    char line[256];
    int fd[IDLE_CLIENTS], last;

    fixture_new(t, &w);
    for (unsigned i = 0; i < IDLE_CLIENTS; i++)
        fd[i] = dial_and_greet(t, &w);
    CHECK(strstr(request(t, fd[0], "{\"command\":\"version\"}", line, sizeof(line)), "OK") != NULL);
    last = dial_and_greet(t, &w);
    CHECK(strstr(request(t, last, "{\"command\":\"version\"}", line, sizeof(line)), "OK") != NULL);
    CHECK_STRING(read_line(fd[1], line, sizeof(line)), "");
    CHECK(strstr(request(t, fd[0], "{\"command\":\"version\"}", line, sizeof(line)), "OK") != NULL);
    close(last);
    for (unsigned i = 0; i < IDLE_CLIENTS; i++)
        close(fd[i]);
    fixture_close(&w);
}
