/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/report/log.h - messages to the operator. Never called on the packet path. */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include "base/base.h"
#include "base/err.h"

enum log_level {
    LOG_LEVEL_ERROR,
    LOG_LEVEL_WARNING,
    LOG_LEVEL_NOTICE,
    LOG_LEVEL_INFO,
    LOG_LEVEL_PERF,
    LOG_LEVEL_CONFIG,
    LOG_LEVEL_DEBUG,
};

/* `module` names the area that logs: "detect", "conf". */
void log_at(enum log_level level, const char *module, struct where at, const char *fmt, ...)
    PRINTF(4, 5);

#define NO_LOCATION ((struct where){ 0 })
#define log_error(module, ...)   log_at(LOG_LEVEL_ERROR, module, NO_LOCATION, __VA_ARGS__)
#define log_warning(module, ...) log_at(LOG_LEVEL_WARNING, module, NO_LOCATION, __VA_ARGS__)
#define log_notice(module, ...)  log_at(LOG_LEVEL_NOTICE, module, NO_LOCATION, __VA_ARGS__)
#define log_info(module, ...)    log_at(LOG_LEVEL_INFO, module, NO_LOCATION, __VA_ARGS__)
#define log_perf(module, ...)    log_at(LOG_LEVEL_PERF, module, NO_LOCATION, __VA_ARGS__)
#define log_config(module, ...)  log_at(LOG_LEVEL_CONFIG, module, NO_LOCATION, __VA_ARGS__)
void log_err(enum log_level level, const char *module, const struct err *err);
/* Reports one more error of several: logs *err, then replaces it with *more, which the caller will
 * log. Returns -1. */
int log_err_also(const char *module, struct err *err, const struct err *more);

/* Errors logged since the start, for `-T` and --init-errors-fatal. */
unsigned log_error_count(void);
/* Counts an error that prevents the start whatever --init-errors-fatal says. */
void log_count_fatal(void);
unsigned log_fatal_count(void);

/* Set-up, by main/. A sink gets entire messages; `at.file` is NULL when the message has no
 * location. */
struct log_message {
    enum log_level level;
    const char *module;
    struct where at;
    const char *text;
    uint64_t time_us;
};
struct log_sink_ops {
    void (*write)(void *self, const struct log_message *m);
    void (*reopen)(void *self);     /* log rotation; may be NULL */
    void (*close)(void *self);
};
void log_set_level(enum log_level level);       /* highest level that any sink accepts */
enum log_level log_get_level(void);
void log_add_sink(const struct log_sink_ops *ops, void *self, enum log_level level);
void log_reopen(void);
/* Around fork(2): no message is being written between these two calls. */
void log_hold(void);
void log_release(void);
void log_close(void);                            /* log to plain stderr again */
bool log_level_parse(const char *name, enum log_level *out);
const char *log_level_name(enum log_level level);      /* "Notice" */

#endif
