/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/syslog.c - records to syslog, a message each. */
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <syslog.h>

#include "base/array.h"
#include "output/output.h"
#include "output/sink.h"

/* priority: facility and level, as syslog(3) takes them. */
struct syslog_sink {
    int priority;
};

/* A name in the configuration and its number in syslog.h. */
struct word { const char *name; int value; };

static const struct word facilities[] = {
    { "auth", LOG_AUTH }, { "authpriv", LOG_AUTHPRIV }, { "cron", LOG_CRON },
    { "daemon", LOG_DAEMON }, { "ftp", LOG_FTP }, { "kern", LOG_KERN }, { "lpr", LOG_LPR },
    { "mail", LOG_MAIL }, { "news", LOG_NEWS }, { "syslog", LOG_SYSLOG }, { "user", LOG_USER },
    { "uucp", LOG_UUCP }, { "local0", LOG_LOCAL0 }, { "local1", LOG_LOCAL1 },
    { "local2", LOG_LOCAL2 }, { "local3", LOG_LOCAL3 }, { "local4", LOG_LOCAL4 },
    { "local5", LOG_LOCAL5 }, { "local6", LOG_LOCAL6 }, { "local7", LOG_LOCAL7 }, { 0 },
};
static const struct word levels[] = {
    { "emergency", LOG_EMERG }, { "alert", LOG_ALERT }, { "critical", LOG_CRIT },
    { "error", LOG_ERR }, { "warning", LOG_WARNING }, { "notice", LOG_NOTICE },
    { "info", LOG_INFO }, { "debug", LOG_DEBUG }, { 0 },
};

/* Case does not matter: configurations have "Info" and "local5". */
static bool word_find(const struct word *words, const char *name, int *value)
{
    for (; words->name != NULL; words++) {
        if (strcasecmp(words->name, name) == 0) {
            *value = words->value;
            return true;
        }
    }
    return false;
}

/* For the engine's own log, too (logging.outputs). */
bool output_syslog_facility(const char *name, int *facility)
{
    return word_find(facilities, name, facility);
}

/* openlog() affects the entire process: with several syslog outputs the last identity counts, and
 * each message has its own facility and level. Alerts are errors by default, EVE's records info. */
static void *syslog_open(const struct output_request *request, const struct conf_node *node,
                         const char *path, struct err *err)
{
    bool is_alerts = strcmp(node->name, "syslog") == 0;
    const char *facility_name = conf_string(node, "facility", "local0");
    const char *level_name = conf_string(node, "level", is_alerts ? "error" : "info");
    struct syslog_sink *s;
    int facility, level;

    (void)request;
    (void)path;
    if (!output_syslog_facility(facility_name, &facility)) {
        err_set(err, "syslog facility \"%s\" is not known: local0 to local7, daemon, user ...",
                facility_name);
        return NULL;
    }
    if (!word_find(levels, level_name, &level)) {
        err_set(err, "syslog level \"%s\" is not known: emergency, alert, critical, error, "
                     "warning, notice, info or debug", level_name);
        return NULL;
    }
    s = xcalloc(1, sizeof(*s));
    s->priority = facility | level;
    openlog(conf_string(node, "identity", NULL), LOG_NDELAY | LOG_PID, facility);
    return s;
}

/* A message for each line. syslog(3) reports no failure, so no record counts as lost. */
static uint64_t syslog_write(void *self, const uint8_t *data, size_t len)
{
    const struct syslog_sink *s = self;
    struct bytes in = bytes_of(data, len);
    struct slice line;

    while (take_until(&in, '\n', &line))
        syslog(s->priority, "%.*s", (int)line.len, (const char *)line.data);
    return 0;
}

static void syslog_close(void *self)
{
    closelog();
    free(self);
}

const struct sink_ops sink_syslog = {
    .name = "syslog",
    .open = syslog_open,
    .write = syslog_write,
    .close = syslog_close,
};
