/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/alert_syslog.c - `syslog`: an alert a message. */
#include <stdlib.h>

#include "base/array.h"
#include "output/lines/alert_line.h"

static void *alert_syslog_open(const struct output_request *request, struct output_conf *conf,
                               const struct conf_node *node, struct err *err)
{
    struct sink *sink = sink_open_as(request, conf, node,
                                     (struct sink_default){ "syslog", "syslog" }, err);
    struct alert_lines *lines;

    if (sink == NULL)
        return NULL;
    lines = xcalloc(1, sizeof(*lines));
    *lines = (struct alert_lines){ .sink = sink, .is_inline = request->is_inline };
    return lines;
}

static void alert_syslog_close(void *self)
{
    free(self);
}

const struct logger_ops logger_alert_syslog = {
    .name = "syslog",
    .doc = "alerts, as messages to syslog",
    .open = alert_syslog_open,
    .close = alert_syslog_close,
    .packet = alert_lines_packet,
};
