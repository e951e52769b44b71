/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_handover.c - flows that a hostile process hands over.
 *
 * Bit 0 of the first byte: records of flows, as the other process sends them. Each is a length of
 * two bytes and so many bytes; where bit 7 of the length is set, its sizes are made true. A flow
 * with the addresses of the last record then takes one.
 * Else the steps that parsers get, and traffic behind them. The second byte chooses the protocol. A
 * control byte says what follows it: 0-7 a step of this kind, 8 bytes as they are, 9 and 10 traffic
 * of a direction, 11 a gap, 12 another process takes over. Then a length of two bytes, and the
 * bytes. */
#include "app/core/session.h"
#include "app/core/settings.h"
#include "app/tests/replay.h"
#include "flow/flow_export.h"
#include "flow/flow_match.h"
#include "flow/vars.h"

#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

enum { OP_RAW = 8, OP_TO_SERVER, OP_TO_CLIENT, OP_GAP, OP_HAND_OVER, OP_COUNT };
#define RECORDS_MAX 16
#define HANDOVERS_MAX 3

static struct app_fixture fixture;
static struct flow_conf *flows;

int LLVMFuzzerInitialize(int *argc UNUSED, char ***argv UNUSED)
{
    struct err err;

    if (app_fixture_open(&fixture, NULL, NULL) < 0)
        abort();
    flows = flow_conf_new(conf_root(fixture.yaml), 1, &err);
    if (flows == NULL)
        abort();
    app_conf_hand_over(fixture.conf);
    return 0;
}

/* --- records ---------------------------------------------------------------------------------- */

static void add_record(struct buf *out, struct bytes *in)
{
    uint32_t word = take_be16(in), len = word & 0x7fff;
    struct slice part = take_slice(in, MIN(len, bytes_left(in)));
    struct flow_export record;
    size_t at = out->len, rest;

    memset(&record, 0, sizeof(record));
    memcpy(&record, part.data, MIN((size_t)part.len, sizeof(record)));
    if ((word & 0x8000) == 0) {
        buf_add(out, part.data, part.len);
        return;
    }
    rest = part.len > sizeof(record) ? part.len - sizeof(record) : 0;
    record.size = (uint32_t)(sizeof(record) + rest);
    record.app.heard = (uint32_t)MIN((size_t)record.app.heard, rest);
    record.tail[0] = (uint32_t)MIN((size_t)record.tail[0], rest - record.app.heard);
    record.tail[1] = (uint32_t)MIN((size_t)record.tail[1],
                                   rest - record.app.heard - record.tail[0]);
    buf_add(out, &record, sizeof(record));
    if (rest > 0)
        buf_add(out, part.data + sizeof(record), rest);
    if (!buf_cut_failed(out, at))
        abort();
}

static void take_flow(struct flow_imports *imports, const struct flow_export *like)
{
    struct flow_import from;
    struct flow f;

    memset(&f, 0, sizeof(f));
    f.key = like->key;
    f.hash = flow_match_hash(flows, &f.key, like->vlan_count);
    if (!flow_imports_take(imports, &f, &from))
        return;
    if (flow_imports_take(imports, &f, &from) &&
        flow_imports_left(imports) + 2 > flow_imports_count(imports))
        abort();                        /* one was taken twice */
    flow_import(&f, &from);
    flow_vars_free(f.vars);
    flow_ext_free(&f);
}

static void play_records(struct bytes *in)
{
    struct buf records = { 0 }, left = { 0 };
    struct flow_imports *imports;
    struct flow_export like;
    struct err err;
    unsigned lost = 0, count;

    memset(&like, 0, sizeof(like));
    for (unsigned i = 0; i < RECORDS_MAX && bytes_left(in) > 2; i++) {
        size_t at = records.len;

        add_record(&records, in);
        if (records.len - at >= sizeof(like))
            memcpy(&like, records.data + at, sizeof(like));
    }
    imports = flow_imports_new(flows, &records, app_exported_proto, &err);
    if (imports != NULL) {
        take_flow(imports, &like);
        count = flow_imports_pass_on(imports, like.last_us, &left, &lost);
        if (count + lost > flow_imports_left(imports))
            abort();
    }
    flow_imports_free(imports);
    buf_fini(&records);
    buf_fini(&left);
}

/* --- steps ------------------------------------------------------------------------------------ */

static void begin(struct replay *replay)
{
    replay_begin(replay, &fixture, false, 1);
    replay->quiet = replay->inspect = replay->frames = true;
}

/* The steps before the first traffic. */
static void add_steps(struct buf *steps, struct bytes *in)
{
    while (bytes_left(in) > 3 && peek_u8(in) % OP_COUNT <= OP_RAW) {
        uint8_t op = take_u8(in) % OP_COUNT, head[5] = { op };
        uint32_t len = take_be16(in);
        struct slice part = take_slice(in, MIN(len, bytes_left(in)));

        put_be32(head + 1, part.len);
        if (op != OP_RAW)
            buf_add(steps, head, sizeof(head));
        buf_add(steps, part.data, part.len);
    }
}

static void play_traffic(struct replay *replay, struct bytes *in)
{
    uint8_t op = take_u8(in) % OP_COUNT;
    uint32_t len = take_be16(in);
    struct slice part = take_slice(in, MIN(len, bytes_left(in)));

    if (op == OP_GAP)
        replay_data(replay, (enum direction)(len & 1), NULL, len + 1);
    else if (part.len > 0)
        replay_data(replay, (enum direction)(op & 1), part.data, part.len);
}

/* The process that goes on. */
static struct replay *hand_over(struct replay *from, struct bytes *in)
{
    take_skip(in, 3);
    begin(from + 1);
    replay_hand_over(from, from + 1);
    replay_free(from);
    return from + 1;
}

static void play_steps(struct bytes *in, uint8_t which)
{
    unsigned first = APP_PROTO_FIRST, count = APP_PROTO_COUNT - first;
    const struct app_proto *proto = app_proto_by_id((enum app_proto_id)(first + which % count));
    struct replay one[HANDOVERS_MAX + 1], *now = one;
    struct buf steps = { 0 };

    begin(now);
    add_steps(&steps, in);
    if (proto != NULL && steps.len > 0)
        replay_imported(now, proto->name, buf_slice(&steps));
    else if (proto != NULL)
        replay_force(now, proto->id);
    while (bytes_left(in) > 3 && !in->failed) {
        if (peek_u8(in) % OP_COUNT != OP_HAND_OVER)
            play_traffic(now, in);
        else if (now < one + HANDOVERS_MAX)
            now = hand_over(now, in);
        else
            break;
    }
    replay_end(now);
    replay_free(now);
    buf_fini(&steps);
}

int fuzz_input(const uint8_t *data, size_t size)
{
    struct bytes in = bytes_of(data, size);
    uint8_t how = take_u8(&in);

    if ((how & 1) != 0)
        play_records(&in);
    else
        play_steps(&in, take_u8(&in));
    return 0;
}
