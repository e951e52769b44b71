/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/lines/flow_lines.c - `flow-lines`: a flow a line, when it ends. */
#include "app/proto.h"
#include "output/logger.h"
#include "output/text.h"

static void *flow_lines_open(const struct output_request *request, struct output_conf *conf,
                             const struct conf_node *node, struct err *err)
{
    return sink_open(request, conf, node, "flows.log", err);
}

static void flow_lines_flow(struct render *r, void *self, struct packet *p UNUSED,
                            const struct flow *f)
{
    record_begin(r, self);
    buf_printf(r->out, "%s %llu bytes to server, %llu to client\n",
               app_proto_name((enum app_proto_id)f->app_proto),
               (unsigned long long)f->bytes[TO_SERVER], (unsigned long long)f->bytes[TO_CLIENT]);
    record_end(r);
}

const struct logger_ops logger_flow_lines = {
    .name = "flow-lines",
    .doc = "flows, one a line",
    .settings_keys = "@log-file",
    .open = flow_lines_open,
    .flow = flow_lines_flow,
};
