/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dnp3/dnp3.c - DNP3 (IEEE 1815-2012): detection, link frames, transport segments,
 * messages. */
#include "app/proto/dnp3/dnp3.h"

#include "app/proto.h"
#include "app/reports.h"

#include <ctype.h>

#define START          0x0564
#define HEADER_LEN     10               /* bytes of a link frame's header, with its CRC */
#define COUNTED        5                /* bytes of that header that its length counts */
#define CRC_LEN        2
#define BLOCK_LEN      16               /* bytes before each CRC */
#define MESSAGE_MAX    (63 * 255)       /* 63 segments of one link frame each */
#define BANNER_MAX     256              /* bytes of text before the first frame */
#define SMALLEST       256              /* bytes of a message's first buffer */

#define LINK_DIR       0x80             /* from the master, which is the client */
#define TRANSPORT_FIN  0x80
#define TRANSPORT_FIR  0x40
#define TRANSPORT_SEQ  0x3f

/* --- CRC -------------------------------------------------------------------------------------- */

/* CRC-16/DNP, four bits at a time: a table of 16 entries. */
static uint16_t crc_of(const uint8_t *data, uint32_t len)
{
    static const uint16_t table[16] = {
        0x0000, 0xb26b, 0x29af, 0x9bc4, 0x535e, 0xe135, 0x7af1, 0xc89a,
        0xa6bc, 0x14d7, 0x8f13, 0x3d78, 0xf5e2, 0x4789, 0xdc4d, 0x6e26 };
    uint16_t crc = 0;

    for (uint32_t i = 0; i < len; i++) {
        crc ^= data[i];
        crc = (uint16_t)(crc >> 4 ^ table[crc & 15]);
        crc = (uint16_t)(crc >> 4 ^ table[crc & 15]);
    }
    return (uint16_t)~crc;
}

#ifdef FUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION
/* A fuzzer cannot find matching CRCs. */
static bool crc_holds(struct slice block UNUSED, uint16_t crc UNUSED)
{
    return true;
}
#else
static bool crc_holds(struct slice block, uint16_t crc)
{
    return crc_of(block.data, block.len) == crc;
}
#endif

/* The next block without its CRC. False: the CRC is wrong, or nothing is left. */
static bool take_block(struct bytes *in, struct slice *block)
{
    size_t left = bytes_left(in);

    if (left <= CRC_LEN)
        return false;
    *block = take_slice(in, MIN(left - CRC_LEN, BLOCK_LEN));
    return crc_holds(*block, take_le16(in));
}

static bool crcs_hold(struct bytes in)
{
    struct slice block;

    while (bytes_left(&in) > 0)
        if (!take_block(&in, &block))
            return false;
    return true;
}

/* --- recognition ------------------------------------------------------------------------------ */

static bool has_banner(struct slice in)
{
    return in.len >= 4 && memmem(in.data, in.len, "DNP3", 4) != NULL;
}

static bool is_printable(struct slice in)
{
    for (uint32_t i = 0; i < in.len && i < BANNER_MAX; i++)
        if (!isprint(in.data[i]))
            return false;
    return true;
}

/* Some outstations send a line of text first, which names DNP3. Otherwise the direction bit shows
 * which side is the master. */
static enum app_probe_result dnp3_probe(struct bytes in, enum direction direction,
                                        const struct flow *flow UNUSED)
{
    struct slice all = { in.next, (uint32_t)bytes_left(&in) };
    uint16_t start = take_be16(&in);
    uint8_t length = take_u8(&in), control = take_u8(&in);
    bool from_master = (control & LINK_DIR) != 0;

    if (has_banner(all) && is_printable(all))
        return direction == TO_SERVER ? APP_PROBE_YES_REVERSED : APP_PROBE_YES;
    if (all.len < HEADER_LEN)
        return APP_PROBE_MORE;
    if (start != START || length < COUNTED)
        return APP_PROBE_NO;
    return from_master == (direction == TO_SERVER) ? APP_PROBE_YES : APP_PROBE_YES_REVERSED;
}

/* --- messages --------------------------------------------------------------------------------- */

/* Raises an event of the link layer on the newest message; if rules have seen it already, on a
 * transaction of its own that is not logged. Before the first message the event is not raised, as
 * in Suricata: the flow's record says that the parser gave up. */
static void link_event(struct app_flow *af, enum direction d, unsigned event)
{
    const struct dnp3_state *st = af->state;
    bool none = af->last == NULL;

    if (!st->has_message)
        return;
    app_event(af, d, event);
    if (none && af->last != NULL)
        af->last->no_log = true;
}

/* One event per flood: the flag is cleared when transactions fall to max-tx again. */
static void watch_flood(struct app_flow *af, struct dnp3_tx *t)
{
    const struct dnp3_settings *settings = af->settings;
    struct dnp3_state *st = af->state;

    if (st->flooded && af->tx_count <= settings->max_tx)
        st->flooded = false;
    if (st->flooded || af->tx_count <= settings->max_tx)
        return;
    st->flooded = true;
    app_tx_event(&t->tx, DNP3_FLOODED);
}

/* NULL: too many transactions. Each message has one direction: requests and responses are not
 * paired. */
static struct dnp3_tx *message_new(struct app_flow *af, enum direction d,
                                   const struct dnp3_link *link, struct bytes application)
{
    struct dnp3_tx *t = dnp3_tx_of(app_tx_new(af));

    if (t == NULL)
        return NULL;
    ((struct dnp3_state *)af->state)->has_message = true;
    t->is_message = true;
    t->is_request = d == TO_SERVER;
    t->tx.unidirectional[OTHER_DIRECTION(d)] = true;
    t->objects_end = &t->objects;
    t->link = *link;
    t->control = take_u8(&application);
    t->function = take_u8(&application);
    if (!t->is_request)
        t->indications = take_be16(&application);
    watch_flood(af, t);
    return t;
}

/* The message that this segment continues: the same stations, and the next sequence number. A lost
 * segment therefore ends in no message. */
static struct dnp3_tx *message_of(struct app_flow *af, enum direction d,
                                  const struct dnp3_link *link, uint8_t transport)
{
    for (struct app_tx *tx = af->first; tx != NULL; tx = tx->next) {
        struct dnp3_tx *t = dnp3_tx_of(tx);

        if (t->is_message && t->is_request == (d == TO_SERVER) && !t->done &&
            tx->progress[d] == 0 && t->link.source == link->source &&
            t->link.destination == link->destination &&
            ((t->transport + 1) & TRANSPORT_SEQ) == (transport & TRANSPORT_SEQ))
            return t;
    }
    return NULL;
}

/* Doubles the buffer: the arena's earlier buffers together are no larger than the last. */
static void make_space(struct dnp3_tx *t, uint32_t more)
{
    uint32_t capacity = MAX(t->capacity, SMALLEST);
    uint8_t *data;

    while (capacity < t->len + more)
        capacity *= 2;
    if (capacity == t->capacity)
        return;
    data = arena_alloc(&t->tx.arena, capacity);
    if (data == NULL)
        return;
    if (t->len > 0)
        memcpy(data, t->data, t->len);
    t->data = data;
    t->capacity = capacity;
}

/* Appends the blocks, whose CRCs hold, without the transport header in the first one. */
static void append(struct dnp3_tx *t, struct bytes user)
{
    struct slice block;
    uint32_t header = 1;

    make_space(t, (uint32_t)bytes_left(&user));
    while (take_block(&user, &block) && t->capacity - t->len >= block.len - header) {
        memcpy(t->data + t->len, block.data + header, block.len - header);
        t->len += block.len - header;
        header = 0;
    }
}

static void finish(struct dnp3_tx *t)
{
    t->done = true;
    t->tx.progress[TO_SERVER] = t->tx.progress[TO_CLIENT] = 1;
}

/* A transport segment (IEEE 1815 section 8). Confirms from the master are not logged, as in
 * Suricata. A message over MESSAGE_MAX bytes ends with an event. */
static void take_segment(struct app_flow *af, enum direction d, const struct dnp3_link *link,
                         struct bytes user)
{
    struct bytes in = user;
    uint8_t transport = take_u8(&in);
    struct dnp3_tx *t;

    if (transport & TRANSPORT_FIR) {
        struct bytes application = in;

        take_skip(&application, 1);
        if (d == TO_SERVER && peek_u8(&application) == DNP3_CONFIRM)
            return;
        t = message_new(af, d, link, in);
    } else {
        t = message_of(af, d, link, transport);
    }
    if (t == NULL)
        return;
    t->transport = transport;
    append(t, user);
    if (t->len > MESSAGE_MAX) {
        app_tx_event(&t->tx, DNP3_TOO_LONG_REASSEMBLY);
        finish(t);
        return;
    }
    if (!(transport & TRANSPORT_FIN))
        return;
    dnp3_read_objects(t, af->settings);
    finish(t);
}

/* --- link layer ------------------------------------------------------------------------------- */

/* Other link functions manage the link and carry no message. */
static bool is_user_data(uint8_t control)
{
    unsigned function = control & 0x0f;

    return function == 3 || function == 4;      /* confirmed, unconfirmed */
}

/* Is there space for the transport header (1) and the application header (2, or 4 in a
 * response)? */
static bool has_headers(uint8_t length, enum direction d)
{
    return length >= COUNTED + 1 + (d == TO_SERVER ? 2 : 4);
}

/* Each block of up to 16 bytes has a CRC of its own. */
static uint32_t frame_size(uint8_t length)
{
    uint32_t user = length - COUNTED;

    return HEADER_LEN + user + (user + BLOCK_LEN - 1) / BLOCK_LEN * CRC_LEN;
}

/* False stops the parser. A short frame of the client is tolerated. */
static bool take_user_data(struct app_flow *af, enum direction d, const struct dnp3_link *link,
                           struct bytes user)
{
    if (!has_headers(link->length, d)) {
        link_event(af, d, DNP3_LEN_TOO_SMALL);
        return d == TO_SERVER;
    }
    if (!crcs_hold(user))
        link_event(af, d, DNP3_BAD_TRANSPORT_CRC);
    else
        take_segment(af, d, link, user);
    return true;
}

static enum parse_status bad_link(struct app_flow *af, enum direction d, unsigned event)
{
    link_event(af, d, event);
    return PARSE_STOP;
}

/* A wrong start or header CRC means that framing is lost: the parser stops. */
static enum parse_status take_frame(struct app_flow *af, struct app_input *in)
{
    struct bytes b = app_input_bytes(in), header = take_sub(&b, HEADER_LEN);
    struct slice covered = { header.next, HEADER_LEN - CRC_LEN };
    struct dnp3_link link;
    uint16_t start;

    in->consumed = 0;
    in->need = HEADER_LEN;
    if (b.failed)
        return PARSE_MORE;
    start = take_be16(&header);
    link.length = take_u8(&header);
    link.control = take_u8(&header);
    link.destination = take_le16(&header);
    link.source = take_le16(&header);
    link.crc = take_le16(&header);
    if (start != START)
        return PARSE_STOP;
    if (!crc_holds(covered, link.crc))
        return bad_link(af, in->direction, DNP3_BAD_LINK_CRC);
    if (link.length < COUNTED)
        return bad_link(af, in->direction, DNP3_LEN_TOO_SMALL);
    in->need = frame_size(link.length);
    if (in->len < in->need)
        return PARSE_MORE;
    in->consumed = in->need;
    if (!is_user_data(link.control))
        return PARSE_OK;
    return take_user_data(af, in->direction, &link, take_sub(&b, in->need - HEADER_LEN)) ?
           PARSE_OK : PARSE_STOP;
}

/* Text before the first frame, whose first byte 0x05 is no text. */
static enum parse_status take_banner(struct app_input *in)
{
    const uint8_t *frame = memchr(in->data, START >> 8, in->len);
    struct slice text = { in->data, frame != NULL ? (uint32_t)(frame - in->data) : in->len };

    in->consumed = frame != NULL ? text.len : 0;
    if (frame == NULL)
        return text.len < BANNER_MAX ? PARSE_MORE : PARSE_STOP;
    return has_banner(text) ? PARSE_OK : PARSE_STOP;
}

/* A server may send text first, see take_banner(). */
static enum parse_status dnp3_parse(struct app_flow *af, struct app_input *in)
{
    struct dnp3_state *st = af->state;

    if (in->len == 0)
        return PARSE_OK;
    if (in->direction == TO_CLIENT && !st->framed[TO_CLIENT] && in->data[0] != START >> 8)
        return take_banner(in);
    st->framed[in->direction] = true;
    return take_frame(af, in);
}

/* --- declaration ------------------------------------------------------------------------------ */

static int dnp3_configure(const struct conf_node *node, const struct conf_node *root UNUSED,
                          void *settings, struct err *err UNUSED)
{
    struct dnp3_settings *s = settings;

    s->max_tx = (uint32_t)conf_u64_range(node, "max-tx", 32, 1, UINT32_MAX);
    s->max_points = conf_u64_range(node, "max-points", 16384, 1, UINT32_MAX);
    s->max_objects = conf_u64_range(node, "max-objects", 2048, 1, UINT32_MAX);
    return 0;
}

static const struct app_name events[] = { DNP3_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "dnp3.data", "dnp3_data", NULL }, { "dnp3_func", "dnp3", NULL },
        { "dnp3_ind", "dnp3", NULL }, { "dnp3_obj", "dnp3", NULL }, { NULL, NULL, NULL } },
    .progress = (const struct app_report_progress[]){
        { "dnp3", APP_BOTH, 0 }, { NULL, 0, 0 } },
};

const struct app_proto app_dnp3 = {
    .id = APP_PROTO_dnp3,
    .raw_on_tx_end = true,
    .name = "dnp3",
    .reports = &reports,
    .transports = APP_TCP,
    .off_by_default = true,
    .probes = (const struct app_probe[]){
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "20000", .max = HEADER_LEN,
          .probe = dnp3_probe },
        { .probe = NULL } },
    .settings_size = sizeof(struct dnp3_settings),
    .configure = dnp3_configure,
    .state_size = sizeof(struct dnp3_state),
    .tx_size = sizeof(struct dnp3_tx),
    .tx_limit = 32,
    .parse = dnp3_parse,
    .progress_done = { 1, 1 },
    .events = events,
    .events_in_capitals = true,
    .buffers = dnp3_buffers,
    .matches = dnp3_matches,
    .logs = dnp3_logs,
    .alert_metadata = dnp3_alert_metadata,
};
