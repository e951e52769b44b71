/* SPDX-License-Identifier: GPL-2.0-or-later */
/* plugins/logger.c - loggers of plugins as outputs of the engine. Their lines are records like all
 * others: they travel with the packet, and go to the sink that the configuration names. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "detect/rule/alert.h"
#include "detect/rule/rule.h"
#include "output/logger.h"
#include "plugins/private.h"

#define LINE_MAX_BYTES 65536            /* of one line; the rest is left out */
#define PRINT_MAX 4096                  /* of one call of print() */

struct plugin_logger {
    struct logger_ops ops;      /* first: open_registered() gets it */
    const struct ids_logger *logger;
};

/* One entry of `outputs:`. */
struct plugin_log {
    const struct ids_logger *logger;
    struct sink *sink;
    void *self;
};

/* The line that a call writes: lives on the stack as long as the call. */
struct ids_line {
    struct render *render;
    size_t start;               /* of the text in render->out */
};

/* A line feed would make two records of one, which lets traffic forge a record. */
void plugin_print(struct ids_line *line, const char *fmt, ...)
{
    size_t written = line->render->out->len - line->start;
    char text[PRINT_MAX];
    va_list args;
    int len;

    va_start(args, fmt);
    len = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (len <= 0 || written >= LINE_MAX_BYTES)
        return;
    len = MIN(len, (int)sizeof(text) - 1);
    for (int i = 0; i < len; i++)
        if (text[i] == '\n' || text[i] == '\r')
            text[i] = ' ';
    buf_add(line->render->out, text, MIN((size_t)len, LINE_MAX_BYTES - written));
}

static struct ids_line line_begin(struct render *r, const struct plugin_log *log)
{
    record_begin(r, log->sink);
    return (struct ids_line){ r, r->out->len };
}

static void line_end(struct ids_line *line)
{
    if (line->render->out->len == line->start && !line->render->out->failed) {
        record_cancel(line->render);
        return;
    }
    buf_add_u8(line->render->out, '\n');
    record_end(line->render);
}

/* --- what the engine calls -------------------------------------------------------------------- */

static void logger_alert(struct render *r, const struct plugin_log *log, struct packet *p,
                         const struct packet_alert *a)
{
    struct ids_alert alert = {
        .gid = a->rule->gid, .sid = a->rule->sid, .rev = a->rule->rev,
        .priority = (uint8_t)a->rule->priority, .message = rule_info(a->rule)->msg,
        .category = rule_info(a->rule)->class_text,
        .is_dropped = (a->action & (ACTION_DROP | ACTION_REJECT)) != 0,
    };
    struct ids_line line = line_begin(r, log);

    log->logger->alert(log->self, &line, plugin_packet_handle(p), &alert);
    line_end(&line);
}

static void logger_packet(struct render *r, void *self, struct packet *p)
{
    const struct plugin_log *log = self;
    const struct packet_alert *alerts = packet_alerts(p);
    struct ids_line line;

    for (unsigned i = 0; log->logger->alert != NULL && i < detect_slot(p)->alert_count; i++)
        if (!(alerts[i].flags & ALERT_SUPPRESSED))
            logger_alert(r, log, p, &alerts[i]);
    if (log->logger->packet == NULL || (p->flags & PACKET_PSEUDO))
        return;
    line = line_begin(r, log);
    log->logger->packet(log->self, &line, plugin_packet_handle(p));
    line_end(&line);
}

static void logger_flow(struct render *r, void *self, struct packet *p UNUSED,
                        const struct flow *f)
{
    const struct plugin_log *log = self;
    struct ids_line line = line_begin(r, log);

    log->logger->flow_end(log->self, &line, plugin_flow_handle(f));
    line_end(&line);
}

static void *logger_open(const struct logger_ops *ops, const struct output_request *request,
                         struct output_conf *conf, const struct conf_node *node, struct err *err)
{
    const struct ids_logger *logger = ((const struct plugin_logger *)(const void *)ops)->logger;
    struct sink *sink = sink_open(request, conf, node, logger->filename, err);
    struct plugin_log *log;
    void *self = NULL;

    if (sink == NULL)
        return NULL;
    if (logger->open != NULL) {
        struct ids_error *error = plugin_error_begin();

        self = logger->open(plugin_settings(node), error);
        plugin_error_end(error, err);
        if (self == NULL && err->text[0] == '\0')
            err_set(err, "the plugin cannot open it");
    }
    if (err->text[0] != '\0')
        return NULL;
    log = xcalloc(1, sizeof(*log));
    *log = (struct plugin_log){ logger, sink, self };
    return log;
}

static void logger_close(void *self)
{
    struct plugin_log *log = self;

    if (log->logger->close != NULL)
        log->logger->close(log->self);
    free(log);
}

int plugin_add_logger(struct ids_engine *engine, const struct ids_logger *logger)
{
    struct plugin_logger *new;

    if (logger->name == NULL || logger->filename == NULL ||
        (logger->alert == NULL && logger->packet == NULL && logger->flow_end == NULL))
        return plugin_refuse(engine, "a logger needs a name, a filename and something to log");
    new = plugin_alloc(sizeof(*new));
    new->logger = logger;
    new->ops = (struct logger_ops){
        .name = logger->name,
        .settings_keys = "@log-file",
        .open_registered = logger_open,
        .close = logger_close,
        .packet = logger->alert != NULL || logger->packet != NULL ? logger_packet : NULL,
        .flow = logger->flow_end != NULL ? logger_flow : NULL,
    };
    return logger_register(&new->ops, &engine->error.err);
}
