/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_app.c - any application protocol on hostile bytes.
 *
 * Bit 0 of the first byte of the input asks for UDP, the rest of it chooses the protocol unless
 * -DFUZZ_PROTO='"dns"' fixes it. Then follow chunks: a control byte, a length of two bytes, that
 * many bytes. Control: bit 0 the direction, bits 1-3 all set: a gap instead.
 * Recognition is skipped; every buffer, number and log of each transaction is read as rules and
 * outputs would. With IDS_ENDLESS in the environment: see endless.h. */
#include "app/core/settings.h"
#include "app/tests/replay.h"
#include "endless.h"

#include <stdlib.h>

int fuzz_input(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

static struct app_fixture fixture;

/* Those that are off by default. */
static const char settings[] =
    "%YAML 1.1\n---\napp-layer:\n  protocols:\n    dnp3: {enabled: yes}\n"
    "    llmnr: {enabled: yes}\n    modbus: {enabled: yes}\n    template: {enabled: yes}\n";

int LLVMFuzzerInitialize(int *argc UNUSED, char ***argv UNUSED)
{
    if (app_fixture_open(&fixture, settings, NULL) < 0)
        abort();
    app_require_files(fixture.conf, APP_FILE_TRACK | APP_FILE_MD5 | APP_FILE_SHA256);
    for (unsigned i = 0; i < APP_PROTO_MAX; i++)
        fixture.conf->required_frames[i] = fixture.conf->required_features[i] = UINT32_MAX;
    return 0;
}

static const struct app_proto *choose(uint8_t c)
{
#ifdef FUZZ_PROTO
    (void)c;
    return app_proto_by_name(FUZZ_PROTO);
#else
    unsigned first = APP_PROTO_FIRST, count = APP_PROTO_COUNT - first;

    return count > 0 ? app_proto_by_id((enum app_proto_id)(first + (c >> 1) % count)) : NULL;
#endif
}

static void replay_chunk(struct replay *replay, struct bytes *in)
{
    uint8_t control = take_u8(in);
    uint32_t len = take_be16(in);
    enum direction d = (enum direction)(control & 1);

    if ((control & 0x0e) == 0x0e) {
        replay_data(replay, d, NULL, len + 1);
        return;
    }
    struct slice chunk = take_slice(in, MIN(len, bytes_left(in)));

    if (chunk.len > 0)
        replay_data(replay, d, chunk.data, chunk.len);
}

static void go_on_for_ever(struct bytes in, const struct app_proto *proto, bool udp)
{
    struct endless e = { .fixture = &fixture, .proto = proto, .udp = udp };

    while (bytes_left(&in) > 3 && !in.failed) {
        enum direction d = (enum direction)(take_u8(&in) & 1);
        uint32_t len = take_be16(&in);

        endless_add(&e, d, take_slice(&in, MIN(len, bytes_left(&in))));
    }
    endless_check(&e);
}

int fuzz_input(const uint8_t *data, size_t size)
{
    struct bytes in = bytes_of(data, size);
    uint8_t c = take_u8(&in);
    const struct app_proto *proto = choose(c);
    bool udp = (c & 1) != 0;
    struct replay replay;

    if (proto == NULL)
        return 0;
    udp = (proto->transports & (udp ? APP_UDP : APP_TCP)) != 0 ? udp : !udp;
    if (endless_is_enabled()) {
        go_on_for_ever(in, proto, udp);
        return 0;
    }
    replay_begin(&replay, &fixture, udp, 1);
    replay.quiet = replay.inspect = replay.frames = true;
    replay_force(&replay, proto->id);
    while (bytes_left(&in) > 3 && !in.failed)
        replay_chunk(&replay, &in);
    replay_end(&replay);
    replay_free(&replay);
    return 0;
}
