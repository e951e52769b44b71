/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/quic/quic.c - QUIC: the declaration, and the packets of a datagram. */
#include "app/proto/quic/quic.h"

#include "app/proto.h"
#include "app/reports.h"

#include <stdlib.h>

static const struct app_name events[] = { QUIC_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* A weak check: it is trusted on the ports of HTTP/3 only. */
static enum app_probe_result quic_probe(struct bytes in, enum direction d UNUSED,
                                        const struct flow *flow UNUSED)
{
    struct quic_header h;

    return quic_header_parse(in, &h) ? APP_PROBE_YES : APP_PROBE_NO;
}

/* --- packets ---------------------------------------------------------------------------------- */

/* Each packet is a transaction with one direction. */
static struct quic_tx *add_tx(struct app_flow *af, enum direction d, const struct quic_header *h)
{
    struct app_tx *tx = app_tx_new(af);
    struct quic_tx *t;

    if (tx == NULL)
        return NULL;
    t = quic_tx_of(tx);
    t->direction = d;
    t->version = h->version;
    t->type = h->type;
    t->is_long = h->is_long;
    for (unsigned i = 0; i < 4; i++)
        t->version_bytes[i] = (uint8_t)(h->version >> (24 - 8 * i));
    tx->progress[d] = 1;
    tx->unidirectional[OTHER_DIRECTION(d)] = true;
    return t;
}

/* After a Retry the client starts again, with keys of the connection id that it got. Only the first
 * Retry counts (RFC 9000 section 17.2.5.2). */
static void follow_keys(struct quic_crypto *c, struct quic_state *st, enum direction d,
                        const struct quic_header *h)
{
    if (!st->keys.known && h->type == QUIC_INITIAL) {
        quic_keys_make(c, &st->keys, h->version, h->dcid);
    } else if (d == TO_CLIENT && st->keys.known && h->type == QUIC_RETRY && !st->retried) {
        st->keys.known = false;
        st->hello[TO_SERVER] = false;
        quic_assembly_fini(&st->assembly[TO_SERVER]);
        st->retried = true;
    }
}

/* Without known keys the payload is read as it is: early versions of Google do not encrypt it. */
static bool parse_initial(struct app_flow *af, struct quic_tx *t, const struct quic_header *h,
                          const uint8_t *packet)
{
    const struct quic_thread *thread = af->thread_data;
    struct quic_state *st = af->state;
    struct slice payload = { .data = packet + h->size, .len = h->payload };

    if (st->keys.known && payload.len > 0 &&
        !quic_decrypt(thread->crypto, &st->keys.ds[t->direction], h, packet, &payload)) {
        app_tx_event(&t->tx, QUIC_FAILED_DECRYPT);
        return false;
    }
    if (quic_frames_parse(st, t, payload))
        return true;
    app_tx_event(&t->tx, QUIC_ERROR_ON_DATA);
    return false;
}

/* One packet of the datagram. False: nothing more to read. After a direction's hello its packets
 * are encrypted for good. */
static bool parse_packet(struct app_flow *af, enum direction d, struct bytes *in, bool *failed)
{
    const struct quic_thread *thread = af->thread_data;
    struct quic_state *st = af->state;
    const uint8_t *packet = in->next;
    struct quic_header h;
    struct quic_tx *t;

    *failed = !quic_header_parse(*in, &h);
    if (*failed || st->hello[d] || h.type == QUIC_SHORT)
        return false;
    take_skip(in, (size_t)h.size + h.payload);
    follow_keys(thread != NULL ? thread->crypto : NULL, st, d, &h);
    t = add_tx(af, d, &h);
    if (t == NULL)
        return false;
    *failed = h.type == QUIC_INITIAL && !parse_initial(af, t, &h, packet);
    return !*failed;
}

static enum parse_status quic_parse(struct app_flow *af, struct app_input *in)
{
    struct bytes b = app_input_bytes(in);
    bool failed = false;

    while (bytes_left(&b) > 0 && parse_packet(af, in->direction, &b, &failed)) {
    }
    return failed ? PARSE_STOP : PARSE_OK;
}

static void quic_close(struct app_flow *af)
{
    struct quic_state *st = af->state;

    quic_assembly_fini(&st->assembly[TO_SERVER]);
    quic_assembly_fini(&st->assembly[TO_CLIENT]);
}

/* --- the declaration -------------------------------------------------------------------------- */

static void quic_thread_close(void *data)
{
    struct quic_thread *thread = data;

    if (thread == NULL)
        return;
    digests_free(thread->digests);
    quic_crypto_free(thread->crypto);
    free(thread);
}

/* NULL crypto is fine, see quic_keys_make(). */
static void *quic_thread_open(const void *settings UNUSED, struct counters *counters UNUSED)
{
    struct quic_thread *thread = calloc(1, sizeof(*thread));

    if (thread == NULL)
        return NULL;
    thread->digests = digests_new();
    thread->crypto = quic_crypto_new();
    return thread;
}

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "quic.sni", "quic_sni", NULL }, { "quic.ua", "quic_ua", NULL },
        { "quic.version", "quic_version", NULL }, { NULL, NULL, NULL } },
};

const struct app_proto app_quic = {
    .id = APP_PROTO_quic,
    .name = "quic",
    .reports = &reports,
    .transports = APP_UDP,
    .probes = (const struct app_probe[]){
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "443,80", .max = 16,
          .probe = quic_probe },
        { .probe = NULL } },
    .thread_open = quic_thread_open,
    .thread_close = quic_thread_close,
    .state_size = sizeof(struct quic_state),
    .tx_size = sizeof(struct quic_tx),
    .close = quic_close,
    .parse = quic_parse,
    .progress_done = { 1, 1 },
    .events = events,
    .buffers = quic_buffers,
    .logs = quic_logs,
    .alert_metadata = quic_alert_metadata,
};
