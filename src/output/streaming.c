/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/streaming.c - for outputs that want data rather than records: what TCP carries, and what
 * HTTP's bodies carry, unpacked, each byte once. */
#include "output/output_private.h"

#include "app/conf.h"
#include "app/proto.h"
#include "app/rules.h"

#include <string.h>

static void log_piece(struct output_conf *conf, struct render *r, struct packet *p,
                 const struct output_chunk *chunk)
{
    for (size_t i = 0; i < conf->loggers.count; i++)
        if (conf->loggers.at[i].ops->stream != NULL)
            conf->loggers.at[i].ops->stream(r, conf->loggers.at[i].self, p, chunk);
}

static void log_tcp(struct output_conf *conf, struct render *r, struct packet *p)
{
    static const uint32_t ends[] = { PACKET_END_TO_SERVER, PACKET_END_TO_CLIENT };

    for (unsigned i = 0; i < p->chunk_count; i++) {
        const struct stream_chunk *c = &p->chunk[i];
        struct output_chunk chunk = {
            .data = { c->data, c->len }, .direction = (enum direction)c->direction,
            .open = c->offset == 0,
        };

        if (c->kind == CHUNK_DATA && c->len > 0)
            log_piece(conf, r, p, &chunk);
    }
    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
        if (p->flags & (ends[d] | PACKET_FLOW_END))
            log_piece(conf, r, p, &(struct output_chunk){ .direction = d, .close = true });
}

/* --- bodies ------------------------------------------------------------------------------- */

static const struct app_buffer *body_of(const struct app_proto *proto, enum direction d)
{
    const char *name = d == TO_SERVER ? "http.request_body" : "http.response_body";

    for (unsigned i = 0; proto->buffers != NULL && proto->buffers[i] != NULL; i++)
        if (strcmp(proto->buffers[i]->name, name) == 0 && proto->buffers[i]->retained != NULL)
            return proto->buffers[i];
    return NULL;
}

void output_require_bodies(const struct app_conf *app)
{
    struct app_required_features required = { 0 };

    for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++) {
        const struct app_buffer *body = body_of(app_proto_by_id(APP_PROTO_http1), d);

        required.features[APP_PROTO_http1] |= body != NULL ? body->feature : 0;
    }
    app_require_files(app, APP_FILE_TRACK | APP_FILE_CONTENT);
    app_require(app, &required);
}

/* Of the bodies of a transaction: so much outputs have, and they know that it is over. */
struct streamed { uint64_t to[2]; bool closed[2]; };

static struct streamed *streamed_of(struct app_tx *tx)
{
    if (tx->streamed == NULL)
        tx->streamed = arena_zalloc(&tx->arena, sizeof(struct streamed));
    return tx->streamed;
}

/* What has come since the last time; the window reaches that far back. */
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

static void log_body(struct output_conf *conf, struct render *r, struct packet *p,
                      struct app_tx *tx, enum direction d)
{
    const struct app_buffer *body = body_of(tx->flow->proto, d);
    struct output_chunk chunk = { .tx = tx, .direction = d };
    struct streamed *s = body != NULL ? streamed_of(tx) : NULL;

    if (s == NULL || s->closed[d])
        return;
    chunk.data = body_news(tx, body, d, s->to[d]);
    chunk.open = s->to[d] == 0 && chunk.data.len > 0;
    chunk.close = app_tx_done(tx, d, tx->flow->proto) || (p->flags & PACKET_FLOW_END);
    if (chunk.data.len == 0 && !chunk.close)
        return;
    s->to[d] += chunk.data.len;
    s->closed[d] = chunk.close;
    log_piece(conf, r, p, &chunk);
}

void output_stream(struct output_conf *conf, struct render *r, struct packet *p)
{
    const struct app_flow *af = p->flow->app;

    if (p->ip_proto == 6)
        log_tcp(conf, r, p);
    if (af == NULL || af->proto == NULL || strcmp(af->proto->name, "http") != 0)
        return;
    for (struct app_tx *tx = af->due; tx != NULL; tx = tx->due_next)
        for (enum direction d = TO_SERVER; d <= TO_CLIENT; d++)
            log_body(conf, r, p, tx, d);
}
