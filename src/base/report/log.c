/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/report/log.c - messages to the operator. A lock keeps messages complete. Packet threads do
 * not contend for it: while packets flow they log only rare events of captures. */
#include "base/report/log.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#define SINKS_MAX 8
#define TEXT_MAX 2048       /* a message may quote a complete rule */

struct log_sink {
    const struct log_sink_ops *ops;
    void *self;
    enum log_level level;
};

/* Protected by the lock, except level and errors, which are atomic. */
static struct {
    pthread_mutex_t lock;
    struct log_sink sink[SINKS_MAX];
    unsigned sink_count;
    enum log_level level;
    unsigned errors, fatal;
} logger = { .lock = PTHREAD_MUTEX_INITIALIZER, .level = LOG_LEVEL_NOTICE };

static const struct {
    const char *name, *label, *colour;      /* name in the configuration; in messages */
} levels[] = {
    [LOG_LEVEL_ERROR]   = { "error",   "Error",   "\033[1;31m" },
    [LOG_LEVEL_WARNING] = { "warning", "Warning", "\033[1;33m" },
    [LOG_LEVEL_NOTICE]  = { "notice",  "Notice",  "\033[1m" },
    [LOG_LEVEL_INFO]    = { "info",    "Info",    "\033[32m" },
    [LOG_LEVEL_PERF]    = { "perf",    "Perf",    "\033[34m" },
    [LOG_LEVEL_CONFIG]  = { "config",  "Config",  "\033[36m" },
    [LOG_LEVEL_DEBUG]   = { "debug",   "Debug",   "\033[2m" },
};

/* One write() per line, so that lines of several processes do not mix. */
static void write_stderr(const struct log_message *m)
{
    char line[TEXT_MAX + 512], location[300];
    struct err nothing = { .at = m->at, .text = "" };
    bool colour = isatty(STDERR_FILENO) == 1;
    int n;

    err_text(&nothing, location, sizeof(location));      /* "file:3:12: " or nothing */
    n = snprintf(line, sizeof(line), "%s%s%s: %s: %s%s\n",
                 colour ? levels[m->level].colour : "", levels[m->level].label,
                 colour ? "\033[0m" : "", m->module, location, m->text);
    n = MIN(n, (int)sizeof(line) - 1);
    if (n > 0)
        line[n - 1] = '\n';
    if (n > 0 && write(STDERR_FILENO, line, (size_t)n) < 0)
        return;     /* there is no other place to report it */
}

/* Until the first sink is added, messages go to standard error. */
static void deliver(const struct log_message *m)
{
    pthread_mutex_lock(&logger.lock);
    if (logger.sink_count == 0)
        write_stderr(m);
    for (unsigned i = 0; i < logger.sink_count; i++) {
        const struct log_sink *sink = &logger.sink[i];

        if (m->level <= sink->level)
            sink->ops->write(sink->self, m);
    }
    pthread_mutex_unlock(&logger.lock);
}

/* A name of a file or a rule's text may hold a line break, which would look like a message of its
 * own, or an escape sequence of terminals. */
static void replace_controls(char *text)
{
    for (; *text != '\0'; text++)
        if (((unsigned char)*text < ' ' && *text != '\t') || *text == 0x7f)
            *text = '?';
}

/* Errors count even if the level hides them: --init-errors-fatal and -T depend on it. */
void log_at(enum log_level level, const char *module, struct where at, const char *fmt, ...)
{
    char text[TEXT_MAX];
    struct timespec now;
    va_list args;

    if (level == LOG_LEVEL_ERROR)
        __atomic_add_fetch(&logger.errors, 1, __ATOMIC_RELAXED);
    if (level > log_get_level())
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    replace_controls(text);
    clock_gettime(CLOCK_REALTIME, &now);
    deliver(&(struct log_message){
        .level = level,
        .module = module,
        .at = at,
        .text = text,
        .time_us = (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000,
    });
}

void log_err(enum log_level level, const char *module, const struct err *err)
{
    log_at(level, module, err->at, "%s", err->text);
}

/* For loops that report every mistake: logs the earlier error, keeps the later one for the
 * caller. */
int log_err_also(const char *module, struct err *err, const struct err *more)
{
    if (err == NULL)
        return -1;
    if (err->text[0] != '\0')
        log_err(LOG_LEVEL_ERROR, module, err);
    *err = *more;
    return -1;
}

unsigned log_error_count(void)
{
    return __atomic_load_n(&logger.errors, __ATOMIC_RELAXED);
}

void log_count_fatal(void)
{
    __atomic_add_fetch(&logger.fatal, 1, __ATOMIC_RELAXED);
}

unsigned log_fatal_count(void)
{
    return __atomic_load_n(&logger.fatal, __ATOMIC_RELAXED);
}

void log_set_level(enum log_level level)
{
    __atomic_store_n(&logger.level, level, __ATOMIC_RELAXED);
}

enum log_level log_get_level(void)
{
    return __atomic_load_n(&logger.level, __ATOMIC_RELAXED);
}

void log_add_sink(const struct log_sink_ops *ops, void *self, enum log_level level)
{
    bool added = false;

    pthread_mutex_lock(&logger.lock);
    if (logger.sink_count < SINKS_MAX) {
        logger.sink[logger.sink_count++] =
            (struct log_sink){ .ops = ops, .self = self, .level = level };
        added = true;
    }
    pthread_mutex_unlock(&logger.lock);
    if (!added) {
        log_error("log", "more than %d outputs", SINKS_MAX);
        if (ops->close != NULL)
            ops->close(self);
    }
}

/* Otherwise the new process would get a lock whose owner is not in it. */
void log_hold(void)
{
    pthread_mutex_lock(&logger.lock);
}

void log_release(void)
{
    pthread_mutex_unlock(&logger.lock);
}

void log_reopen(void)
{
    pthread_mutex_lock(&logger.lock);
    for (unsigned i = 0; i < logger.sink_count; i++) {
        if (logger.sink[i].ops->reopen != NULL)
            logger.sink[i].ops->reopen(logger.sink[i].self);
    }
    pthread_mutex_unlock(&logger.lock);
}

void log_close(void)
{
    pthread_mutex_lock(&logger.lock);
    while (logger.sink_count > 0) {
        const struct log_sink *sink = &logger.sink[--logger.sink_count];

        if (sink->ops->close != NULL)
            sink->ops->close(sink->self);
    }
    pthread_mutex_unlock(&logger.lock);
}

bool log_level_parse(const char *name, enum log_level *out)
{
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        if (strcasecmp(name, levels[i].name) == 0) {
            *out = (enum log_level)i;
            return true;
        }
    }
    return false;
}

const char *log_level_name(enum log_level level)
{
    return (size_t)level < ARRAY_LEN(levels) ? levels[level].label : "Unknown";
}
