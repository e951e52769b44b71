/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/streaming.c - for outputs that want data rather than records: what TCP carries, and what
 * bodies carry, unpacked, each byte once. */
#include "output/output_private.h"

#include "app/conf.h"
#include "app/proto.h"
#include "app/rules.h"
#include "stream/slot.h"


/* Passes data to all loggers that take them. */
static void log_piece(struct output_conf *conf, struct render *r, struct packet *p,
                 const struct output_chunk *chunk)
{
    for (size_t i = 0; i < conf->loggers.count; i++)
        if (conf->loggers.at[i].ops->stream != NULL)
            conf->loggers.at[i].ops->stream(r, conf->loggers.at[i].self, p, chunk);
}

/* chunk[] is what reassembly released with this packet: in order and without repeats. Gaps
 * are not reported. The end of a direction is a chunk without data. */
static void log_tcp(struct output_conf *conf, struct render *r, struct packet *p)
{
    static const uint32_t ends[] = { PACKET_END_TO_SERVER, PACKET_END_TO_CLIENT };

    for (unsigned i = 0; i < r->inspection->chunk_count; i++) {
        const struct stream_chunk *c = &r->inspection->chunk[i];
        struct output_chunk chunk = {
            .data = { c->data, c->len }, .direction = (enum direction)c->direction,
            .open = c->offset == 0,
        };

        if (c->kind == CHUNK_DATA && c->len > 0)
            log_piece(conf, r, p, &chunk);
    }
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        if ((p->flags & ends[d]) || inspection_ends_flow(r->inspection))
            log_piece(conf, r, p, &(struct output_chunk){ .direction = d, .close = true });
}

/* --- bodies ------------------------------------------------------------------------------- */

void output_require_bodies(const struct app_conf *app)
{
    struct app_required_features required = { 0 };

    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end(); id++) {
        const struct app_proto *proto = app_proto_by_id(id);

        for (unsigned d = 0; proto->bodies != NULL && d < 2; d++)
            required.features[id] |= proto->bodies[d]->feature;
    }
    app_require_files(app, APP_FILE_TRACK | APP_FILE_CONTENT);
    app_require(app, &required);
}

/* For each body: how many bytes outputs have received, and whether they know its end. In the
 * transaction's arena, allocated at first use. */
struct streamed { uint64_t to[2]; bool closed[2]; };

static struct streamed *streamed_of(struct app_tx *tx)
{
    if (output_tx(tx)->streamed == NULL)
        output_tx(tx)->streamed = arena_zalloc(&tx->arena, sizeof(struct streamed));
    return output_tx(tx)->streamed;
}

/* Returns the data since the last call. The window always contains them: app/ prunes it only after
 * the outputs. */
static struct slice body_news(struct app_tx *tx, const struct app_buffer *body, enum direction d,
                              uint64_t known_to)
{
    struct slice data;
    uint64_t from;

    if (!body->retained(tx, d, &data, &from))
        return (struct slice){ NULL, 0 };
    if (from + data.len <= known_to)
        return (struct slice){ NULL, 0 };
    if (from < known_to) {
        uint32_t known = (uint32_t)(known_to - from);

        data.data += known;
        data.len -= known;
    }
    return data;
}

/* On each packet of the flow: most have no news, and the function returns early. */
static void log_body(struct output_conf *conf, struct render *r, struct packet *p,
                      struct app_tx *tx, enum direction d)
{
    const struct app_buffer *body = tx->flow->proto->bodies[d];
    struct output_chunk chunk = { .tx = tx, .direction = d };
    struct streamed *s = streamed_of(tx);

    if (s->closed[d])
        return;
    chunk.data = body_news(tx, body, d, s->to[d]);
    chunk.open = s->to[d] == 0 && chunk.data.len > 0;
    chunk.close = app_tx_done(tx, d, tx->flow->proto) || inspection_ends_flow(r->inspection);
    if (chunk.data.len == 0 && !chunk.close)
        return;
    s->to[d] += chunk.data.len;
    s->closed[d] = chunk.close;
    log_piece(conf, r, p, &chunk);
}

/* Called by output_render() on the inspecting thread, only if some logger takes data. */
void output_stream(struct output_conf *conf, struct render *r, struct packet *p)
{
    const struct app_flow *af = p->flow->app;

    if (p->ip_proto == 6)
        log_tcp(conf, r, p);
    if (af == NULL || af->proto == NULL || af->proto->bodies == NULL)
        return;
    for (struct app_tx *tx = af->due; tx != NULL; tx = tx->due_next)
        for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
            log_body(conf, r, p, tx, d);
}
