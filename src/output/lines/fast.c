/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/fast.c - `fast`: an alert a line, for people. */
#include <stdlib.h>

#include "base/array.h"
#include "output/lines/alert_line.h"

static void *fast_open(const struct output_request *request, struct output_conf *conf,
                       const struct conf_node *node, struct err *err)
{
    struct sink *sink = sink_open(request, conf, node, "fast.log", err);
    struct alert_lines *lines;

    if (sink == NULL)
        return NULL;
    lines = xcalloc(1, sizeof(*lines));
    *lines = (struct alert_lines){ .sink = sink, .is_inline = request->is_inline,
                                   .is_dated = true };
    return lines;
}

static void fast_close(void *self)
{
    free(self);
}

const struct logger_ops logger_fast = {
    .name = "fast",
    .doc = "alerts, one a line",
    .open = fast_open,
    .close = fast_close,
    .packet = alert_lines_packet,
};
