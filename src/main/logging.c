/* SPDX-License-Identifier: GPL-2.0-or-later */
/* main/logging.c - writes messages of the engine to the console, a file or syslog, as text
 * or JSON. Sinks are added while the engine starts. Any thread may log; each sink has a
 * lock of its own. */
#include "config.h"

#include "main/logging.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

#include <pthread.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "base/array.h"
#include "base/report/json.h"
#include "base/report/log.h"
#include "control/crash.h"
#include "output/output.h"

/* Owned by the log (base), which calls message_close() at the end. */
struct message_sink {
    int fd;                 /* -1: syslog; console: that of errors, other messages go to standard
                             * output */
    char *path;             /* NULL: console */
    bool json, colour;
    char *format;           /* text form */
    int facility;
    pcre2_code *filter;     /* only lines that match are written; NULL: all */
    pthread_mutex_t lock;
};

/* `iso`: the form of EVE's timestamps; otherwise that of Suricata's %t. */
static void format_time(struct buf *out, uint64_t time_us, bool iso)
{
    time_t t = (time_t)(time_us / 1000000);
    struct tm tm;
    char text[48];

    localtime_r(&t, &tm);
    if (!iso) {
        strftime(text, sizeof(text), "%d/%m/%Y -- %H:%M:%S", &tm);
        buf_add_string(out, text);
        return;
    }
    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm);
    buf_printf(out, "%s.%06u", text, (unsigned)(time_us % 1000000));
    strftime(text, sizeof(text), "%z", &tm);
    buf_add_string(out, text);
}

/* "file:3:12", as far as the position is known. */
static void message_place(struct buf *out, const struct log_message *m)
{
    if (m->at.file != NULL && m->at.line > 0 && m->at.column > 0)
        buf_printf(out, "%s:%u:%u", m->at.file, m->at.line, m->at.column);
    else if (m->at.file != NULL && m->at.line > 0)
        buf_printf(out, "%s:%u", m->at.file, m->at.line);
    else if (m->at.file != NULL)
        buf_printf(out, "%s", m->at.file);
}

static void message_text(struct buf *out, const struct log_message *m)
{
    message_place(out, m);
    if (m->at.file != NULL)
        BUF_LITERAL(out, ": ");
    buf_add_string(out, m->text);
}

static char level_letter(enum log_level level)
{
    return level == LOG_LEVEL_ERROR ? 'E' : level == LOG_LEVEL_WARNING ? 'W'
           : level == LOG_LEVEL_DEBUG ? 'd' : 'i';
}

/* The letters of default-log-format: %z time, %t its older form, %p process, %i thread, %m and
 * %T name of the thread, %d level, %D a letter for it, %S module, %M message. %f, %l and %n are
 * positions in Suricata's source; they print "-" here, because positions in our source would not
 * help a user. */
static void format_letter(struct buf *out, char letter, const struct log_message *m)
{
    char name[16] = "";

    switch (letter) {
    case 'z': format_time(out, m->time_us, true); break;
    case 't': format_time(out, m->time_us, false); break;
    case 'p': buf_printf(out, "%d", (int)getpid()); break;
    case 'i': buf_printf(out, "%ld", (long)syscall(SYS_gettid)); break;
    case 'm':
    case 'T':
        pthread_getname_np(pthread_self(), name, sizeof(name));
        buf_add_string(out, name);
        break;
    case 'd': buf_add_string(out, log_level_name(m->level)); break;
    case 'D': buf_add_u8(out, (uint8_t)level_letter(m->level)); break;
    case 'f':
    case 'l':
    case 'n': buf_add_u8(out, '-'); break;
    case 'S': buf_add_string(out, m->module); break;
    case 'M': message_text(out, m); break;
    default: buf_add_u8(out, '%'); buf_add_u8(out, (uint8_t)letter); break;
    }
}

/* A format without %M would lose the message, so that is appended. */
static void format_line(struct buf *out, const char *format, const struct log_message *m)
{
    bool has_message = strstr(format, "%M") != NULL;

    for (const char *p = format; *p != '\0'; p++) {
        if (*p == '%' && p[1] != '\0')
            format_letter(out, *++p, m);
        else
            buf_add_u8(out, (uint8_t)*p);
    }
    if (!has_message)
        message_text(out, m);
    buf_add_u8(out, '\n');
}

/* The record is one of EVE's "engine" events, so the same tools read it. */
static void format_json(struct buf *out, const struct log_message *m)
{
    struct buf text = { 0 }, time = { 0 }, place = { 0 };
    struct json j;
    char name[16] = "";

    format_time(&time, m->time_us, true);
    json_init(&j, out);
    json_object(&j, NULL);
    json_bytes(&j, "timestamp", time.data, time.len);
    json_string(&j, "log_level", log_level_name(m->level));
    json_string(&j, "event_type", "engine");
    json_object(&j, "engine");
    buf_add_string(&text, m->text);
    json_bytes(&j, "message", text.data, text.len);
    pthread_getname_np(pthread_self(), name, sizeof(name));
    json_string(&j, "thread_name", name);
    json_string(&j, "module", m->module);
    message_place(&place, m);
    if (place.len > 0)                  /* the schema of EVE has no other member for it */
        json_bytes(&j, "error", place.data, place.len);
    json_object_end(&j);
    json_object_end(&j);
    buf_add_u8(out, '\n');
    buf_fini(&text);
    buf_fini(&time);
    buf_fini(&place);
}

/* Allocates per message; messages are rare, and never on the packet path. An error of
 * PCRE2 writes the line: a message must not get lost. */
static bool is_logged(const struct message_sink *s, const struct buf *line)
{
    pcre2_match_data *match;
    int n;

    if (s->filter == NULL)
        return true;
    match = pcre2_match_data_create_from_pattern(s->filter, NULL);
    n = pcre2_match(s->filter, line->data, line->len, 0, 0, match, NULL);
    pcre2_match_data_free(match);
    return n != PCRE2_ERROR_NOMATCH;
}

/* Red and yellow (ECMA-48), for terminals; https://no-color.org defines how a user switches
 * colours off. "": no colour. */
static const char *colour_of(const struct message_sink *s, int fd, enum log_level level)
{
    const char *no_colour = getenv("NO_COLOR"), *terminal = getenv("TERM");

    if (level > LOG_LEVEL_WARNING || s->json || !isatty(fd) ||
        (no_colour != NULL && no_colour[0] != '\0') ||
        (terminal != NULL && strcmp(terminal, "dumb") == 0))
        return "";
    return level == LOG_LEVEL_ERROR ? "\033[31m" : "\033[33m";
}

/* A line without an end is on the terminal. */
static bool has_open_line;

void logging_open_line(void)
{
    __atomic_store_n(&has_open_line, true, __ATOMIC_RELAXED);
}

void logging_clear_line(void)
{
    if (__atomic_exchange_n(&has_open_line, false, __ATOMIC_RELAXED))
        fprintf(stderr, "\r%*s\r", (int)logging_columns() - 1, "");
}

unsigned logging_columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

/* One write, so that lines of several threads do not mix. The colour ends before the line does. */
static void console_write(const struct message_sink *s, enum log_level level,
                          const struct buf *line)
{
    int fd = level == LOG_LEVEL_ERROR ? s->fd : STDOUT_FILENO;
    const char *colour = colour_of(s, fd, level);
    struct buf out = { 0 };

    logging_clear_line();
    if (colour[0] == '\0' || line->len == 0) {
        (void)!write(fd, line->data, line->len);
        return;
    }
    buf_printf(&out, "%s%.*s\033[0m\n", colour, (int)line->len - 1, (const char *)line->data);
    (void)!write(fd, out.data, out.len);
    buf_fini(&out);
}

/* On the console only errors go to standard error, so that a user can redirect them. */
static void line_write(struct message_sink *s, const struct log_message *m, const struct buf *line)
{
    pthread_mutex_lock(&s->lock);
    if (s->fd >= 0 && s->path == NULL)
        console_write(s, m->level, line);
    else if (s->fd >= 0)
        (void)!write(s->fd, line->data, line->len);
    else
        syslog(s->facility | (m->level == LOG_LEVEL_ERROR ? LOG_ERR
                              : m->level == LOG_LEVEL_WARNING ? LOG_WARNING
                              : m->level == LOG_LEVEL_NOTICE ? LOG_NOTICE : LOG_INFO),
               "%.*s", (int)line->len, (const char *)line->data);
    pthread_mutex_unlock(&s->lock);
}

static void message_write(void *self, const struct log_message *m)
{
    struct message_sink *s = self;
    struct buf line = { 0 };

    if (s->json)
        format_json(&line, m);
    else
        format_line(&line, s->format, m);
    if (is_logged(s, &line))
        line_write(s, m, &line);
    buf_fini(&line);
}

/* dup2() exchanges the file under a descriptor that other threads and the crash handler
 * use. When the new file cannot be opened, the old one stays. */
static void message_reopen(void *self)
{
    struct message_sink *s = self;
    int fd;

    if (s->path == NULL)
        return;
    fd = open(s->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (fd < 0)
        return;
    (void)dup2(fd, s->fd);
    close(fd);
}

static void message_close(void *self)
{
    struct message_sink *s = self;

    if (s->path != NULL)
        close(s->fd);
    pthread_mutex_destroy(&s->lock);
    pcre2_code_free(s->filter);
    free(s->path);
    free(s->format);
    free(s);
}

static const struct log_sink_ops message_ops = {
    .write = message_write,
    .reopen = message_reopen,
    .close = message_close,
};

/* Settings for all outputs that have none of their own. */
struct logging_defaults {
    enum log_level level, at_least;
    const char *format;         /* NULL: each has its own */
    const char *filter;         /* a regular expression; NULL: none */
    const char *log_dir;        /* of files without a path */
    bool forced;                /* SC_LOG_LEVEL gives the level, and no setting changes it */
    bool daemon;                /* there is no console */
};

/* NULL: no filter, or not a regular expression; filter_read() has reported the latter. */
static pcre2_code *filter_compile(const char *pattern)
{
    PCRE2_SIZE at;
    int code;

    return pattern != NULL ? pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, 0, &code,
                                           &at, NULL) : NULL;
}

static struct message_sink *sink_new(const struct logging_defaults *d,
                                     const struct conf_node *node, const char *format)
{
    struct message_sink *s = xcalloc(1, sizeof(*s));

    s->fd = STDERR_FILENO;
    s->json = strcasecmp(conf_string(node, "type", ""), "json") == 0;
    s->format = xstrdup(conf_string(node, "format", format));
    s->filter = filter_compile(d->filter);
    pthread_mutex_init(&s->lock, NULL);
    return s;
}

/* -v raises a level that the configuration gives, and never lowers it. */
static enum log_level level_of(const struct conf_node *node, const struct logging_defaults *d)
{
    const char *name = conf_string(node, "level", NULL);
    enum log_level level = d->level;

    if (name != NULL && !log_level_parse(name, &level))
        conf_error(conf_find(node, "level"), "level \"%s\" is not known: error, warning, notice, "
                   "info, perf, config or debug", name);
    return d->forced ? d->level : MAX(level, d->at_least);
}

/* The formats of outputs that have none in the configuration. */
#define CONSOLE_FORMAT "%d: %S: %M"
#define FILE_FORMAT "[%i - %m] %z %d: %S: %M"
#define SYSLOG_FORMAT "[%i] <%d> -- %M"

static const char *format_or(const struct logging_defaults *d, const char *otherwise)
{
    return d->format != NULL ? d->format : otherwise;
}

static char *path_of(const char *log_dir, const char *name)
{
    struct buf path = { 0 };

    if (name[0] != '/')
        buf_printf(&path, "%s/", log_dir);
    buf_add_string(&path, name);
    buf_add_u8(&path, 0);
    return (char *)path.data;
}

/* NULL with *err: the file cannot be opened. */
static struct message_sink *file_sink(const struct logging_defaults *d,
                                      const struct conf_node *node, const char *format,
                                      const char *name, struct err *err)
{
    struct message_sink *s = sink_new(d, node, format);

    s->path = path_of(d->log_dir, name);
    s->fd = open(s->path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0640);
    if (s->fd >= 0)
        return s;
    err_at(err, node != NULL ? node->at : NO_LOCATION, "cannot open %s: %s", s->path,
           strerror(errno));
    free(s->path);
    s->path = NULL;
    message_close(s);
    return NULL;
}

/* local5 is Suricata's default. */
static struct message_sink *syslog_sink(const struct logging_defaults *d,
                                        const struct conf_node *node, const char *facility)
{
    struct message_sink *s = sink_new(d, node, format_or(d, SYSLOG_FORMAT));

    s->fd = -1;
    s->facility = LOG_LOCAL5;
    if (!output_syslog_facility(facility, &s->facility))
        conf_error(node != NULL ? conf_find(node, "facility") : NULL, "syslog facility \"%s\" is "
                   "not known: local0 to local7, daemon, user ...", facility);
    openlog("ids", LOG_PID, s->facility);
    return s;
}

/* NULL: there is no such output, or its file cannot be opened. The engine is worth more than its
 * messages: it runs without. */
static struct message_sink *configured_sink(const struct logging_defaults *d,
                                            const struct conf_node *node)
{
    struct message_sink *s;
    struct err err;

    if (strcmp(node->name, "console") == 0)
        return sink_new(d, node, format_or(d, CONSOLE_FORMAT));
    if (strcmp(node->name, "syslog") == 0)
        return syslog_sink(d, node, conf_string(node, "facility", "local5"));
    if (strcmp(node->name, "file") != 0) {
        conf_warning(node, "there is no log output \"%s\": console, file or syslog", node->name);
        return NULL;
    }
    if (conf_find(node, "filename") != NULL && conf_string(node, "filename", NULL) == NULL)
        conf_fatal(conf_find(node, "filename"), "Logging to file requires a filename");
    s = file_sink(d, node, FILE_FORMAT, conf_string(node, "filename", "ids.log"), &err);
    if (s == NULL)
        log_err(LOG_LEVEL_WARNING, "ids", &err);
    else
        crash_report_to(s->fd);
    return s;
}

/* A daemon has no console. */
static void add_output(const struct logging_defaults *d, const struct conf_node *node)
{
    enum log_level level = level_of(node, d);
    struct message_sink *s;

    if (!conf_bool(node, "enabled", true) || (strcmp(node->name, "console") == 0 && d->daemon))
        return;
    s = configured_sink(d, node);
    if (s == NULL)
        return;
    log_set_level(MAX(log_get_level(), level));
    log_add_sink(&message_ops, s, level);
}

/* The environment overrides the configuration, as in Suricata. The result is borrowed from
 * either. */
static const char *filter_read(const struct conf_node *root)
{
    const char *given = getenv("SC_LOG_OP_FILTER");
    const char *pattern = given != NULL && given[0] != '\0'
                              ? given : conf_string(root, "logging.default-output-filter", NULL);
    pcre2_code *code = filter_compile(pattern);

    if (pattern != NULL && code == NULL) {
        conf_error(conf_find(root, "logging.default-output-filter"),
                   "not a regular expression: %s", pattern);
        pattern = NULL;
    }
    pcre2_code_free(code);
    return pattern;
}

/* Suricata's variable of the environment. */
static bool level_given(enum log_level *level)
{
    const char *name = getenv("SC_LOG_LEVEL");

    return name != NULL && log_level_parse(name, level);
}

/* Before the configuration is read there are no sinks; messages go to standard error. */
void logging_begin(void)
{
    enum log_level level;

    if (level_given(&level))
        log_set_level(level);
}

static const char *env_or(const char *variable, const char *otherwise)
{
    const char *value = getenv(variable);

    return value != NULL ? value : otherwise;
}

/* Used when the configuration names no output. The variables of the environment are
 * Suricata's. */
static int add_default(const struct logging_defaults *d, struct err *err)
{
    const char *kind = env_or("SC_LOG_OP_IFACE", "console");
    struct message_sink *s;

    if (strcasecmp(kind, "file") == 0)
        s = file_sink(d, NULL, format_or(d, FILE_FORMAT), env_or("SC_LOG_FILE", "ids.log"), err);
    else if (strcasecmp(kind, "syslog") == 0)
        s = syslog_sink(d, NULL, env_or("SC_LOG_FACILITY", "local5"));
    else if (!d->daemon)
        s = sink_new(d, NULL, format_or(d, CONSOLE_FORMAT));
    else
        return 0;
    if (s == NULL)
        return -1;
    log_add_sink(&message_ops, s, d->forced ? d->level : MAX(d->level, d->at_least));
    return 0;
}

/* A daemon's errors go to standard error as well until process_ready(): the user who
 * starts it sees them. Afterwards that is /dev/null. */
static void add_start_errors(const struct logging_defaults *d)
{
    log_add_sink(&message_ops, sink_new(d, NULL, CONSOLE_FORMAT), LOG_LEVEL_ERROR);
}

/* The order of precedence: the environment, then -v, then the configuration. */
int logging_setup(const struct conf_node *root, const char *log_dir, unsigned verbose,
                  bool daemon, struct err *err)
{
    struct logging_defaults d = { .level = LOG_LEVEL_INFO, .at_least = LOG_LEVEL_ERROR,
                                  .log_dir = log_dir, .daemon = daemon };
    const struct conf_node *outputs = conf_find(root, "logging.outputs");
    bool any = false;

    d.format = getenv("SC_LOG_FORMAT");
    if (d.format == NULL)
        d.format = conf_string(root, "logging.default-log-format", NULL);
    d.filter = filter_read(root);
    if (conf_bool(root, "logging.stacktrace-on-signal", true))
        crash_report_begin();
    if (!log_level_parse(conf_string(root, "logging.default-log-level", "info"), &d.level))
        conf_fatal(conf_find(root, "logging.default-log-level"),
                   "not a level: error, warning, notice, info, perf, config or debug");
    d.forced = level_given(&d.level);
    if (verbose > 0 && !d.forced)
        d.at_least = MIN((enum log_level)(LOG_LEVEL_NOTICE + verbose), LOG_LEVEL_DEBUG);
    log_set_level(MAX(d.level, d.at_least));
    CONF_EACH (item, outputs) {
        if (item->child == NULL)
            continue;
        any = true;
        add_output(&d, item->child);
    }
    if (!any && add_default(&d, err) < 0)
        return -1;
    if (d.forced)
        log_set_level(d.level);
    if (daemon)
        add_start_errors(&d);
    return 0;
}
