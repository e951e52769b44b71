/* SPDX-License-Identifier: GPL-2.0-or-later */
/* csv_log.c - a plugin with a logger: alerts and flows as lines of comma-separated values.
 *
 *     outputs:
 *       - csv-log: {enabled: yes, filename: csv.log, flows: yes} */
#include <ids/plugin.h>

#include <inttypes.h>
#include <stdlib.h>

static const struct ids_api *ids;

struct csv {
    bool shows_flows;
};

static void *csv_open(const struct ids_settings *settings, struct ids_error *error)
{
    struct csv *c = calloc(1, sizeof(*c));

    if (c == NULL)
        ids->fail(error, "no memory");
    else
        c->shows_flows = ids->yes(settings, "flows", true);
    return c;
}

static void print_ends(struct ids_line *line, const struct ids_ends *ends)
{
    char src[46], dst[46];

    ids->address(ends->ip_version, ends->src, src);
    ids->address(ends->ip_version, ends->dst, dst);
    ids->print(line, "%s,%u,%s,%u", src, ends->src_port, dst, ends->dst_port);
}

static void csv_alert(void *self, struct ids_line *line, const struct ids_packet *packet,
                      const struct ids_alert *alert)
{
    struct ids_ends ends;

    (void)self;
    ids->packet_ends(packet, &ends);
    ids->print(line, "alert,%" PRIu64 ",%" PRIu32 ",", ids->time_us(packet), alert->sid);
    print_ends(line, &ends);
    ids->print(line, ",\"%s\"\n", alert->message);      /* its line feed does not make a line */
}

static void csv_flow(void *self, struct ids_line *line, const struct ids_flow *flow)
{
    const struct csv *c = self;
    struct ids_flow_counts counts;
    struct ids_ends ends;

    if (!c->shows_flows)
        return;
    ids->flow_ends(flow, &ends);
    ids->flow_counts(flow, &counts);
    ids->print(line, "flow,%" PRIu64 ",%s,", counts.start_us, ids->app_proto(flow));
    print_ends(line, &ends);
    ids->print(line, ",%" PRIu64 ",%" PRIu64, counts.packets[IDS_TO_SERVER],
               counts.packets[IDS_TO_CLIENT]);
}

static const struct ids_logger csv_log = {
    .name = "csv-log", .filename = "csv.log", .open = csv_open, .close = free,
    .alert = csv_alert, .flow_end = csv_flow,
};

static int load(struct ids_engine *engine, const struct ids_api *api)
{
    ids = api;
    if (ids->add_key(engine, "outputs.csv-log.flows") < 0)
        return -1;
    return ids->add_logger(engine, &csv_log);
}

IDS_PLUGIN("csv-log", "1.0", load);
