/* SPDX-License-Identifier: GPL-2.0-or-later */
/* qa/fuzz/fuzz_http1.c - HTTP/1 on hostile bytes: libhtp with our tables under it, codings and
 * multipart bodies unpacked, parsers and decoders that sleep.
 *
 * The first byte chooses settings (bits 0-1) and says whether parsers sleep: bit 2 that they do,
 * bits 3-4 being 01 that the same is played with and without, and must come to the same: at twice
 * the cost, so one in four. Then follow chunks,
 * each behind ff fe and a control byte: bit 0 the direction, bits 1-3 all set: a gap of its length
 * instead; bits 4-7: in parts of so many bytes, 0: whole. After PARTS_MAX parts of an input its
 * chunks come whole, because each part is a packet that all is inspected for. Text between the
 * marks may grow and shrink as a fuzzer likes. */
#include "app/core/ranges.h"
#include "app/core/settings.h"
#include "app/proto/http1/state.h"
#include "app/tests/replay.h"
#include "endless.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fuzz_input(const uint8_t *data, size_t size);
int LLVMFuzzerInitialize(int *argc, char ***argv);

#define PARTS_MAX 16
/* So that decoders are closed, and what they have decompressed is packed. */
#define DECODERS_OF_OTHERS (10u << 20)

#define HEAD "%YAML 1.1\n---\napp-layer:\n  protocols:\n    http:\n      enabled: yes\n" \
             "      byterange:\n        memcap: 1mb\n      libhtp:\n        default-config:\n"
#define KEY(text) "          " text "\n"

static const char *const settings[4] = {
    HEAD KEY("personality: IDS") KEY("request-body-limit: 100kb") KEY("response-body-limit: 100kb")
         KEY("decompression-time-limit: 1000000"),
    HEAD KEY("personality: Apache_2") KEY("lzma-enabled: true") KEY("lzma-memlimit: 1mb")
         KEY("response-body-decompress-layer-limit: 0") KEY("request-body-limit: 0")
         KEY("response-body-limit: 0") KEY("http-body-inline: yes") KEY("double-decode-path: yes")
         KEY("double-decode-query: yes") KEY("compression-bomb-limit: 64kb")
         KEY("decompression-time-limit: 1000000")
         KEY("swf-decompression: {enabled: yes, type: both, compress-depth: 100kb,"
             " decompress-depth: 100kb}"),
    HEAD KEY("personality: IIS_7_5") KEY("uri-include-all: yes") KEY("headers-limit: 16")
         KEY("max-tx: 4") KEY("request-body-limit: 64") KEY("response-body-limit: 64")
         KEY("decompression-time-limit: 1000000")
         KEY("path-u-encoding-decode: yes") KEY("path-utf8-convert-bestfit: yes")
         KEY("path-nul-encoded-terminates: yes") KEY("query-plusspace-decode: yes"),
    HEAD KEY("personality: Minimal") KEY("request-body-minimal-inspect-size: 8")
         KEY("request-body-inspect-window: 4") KEY("response-body-minimal-inspect-size: 8")
         KEY("response-body-inspect-window: 4") KEY("meta-field-limit: 128")
         KEY("decompression-time-limit: 1000000"),
};
static struct app_fixture fixture[4];
static const struct app_proto *http1;

int LLVMFuzzerInitialize(int *argc UNUSED, char ***argv UNUSED)
{
    for (unsigned w = 0; w < ARRAY_LEN(fixture); w++) {
        if (app_fixture_open(&fixture[w], settings[w], NULL) < 0)
            abort();
        app_require_files(fixture[w].conf, APP_FILE_TRACK | APP_FILE_SHA256);
        for (unsigned i = 0; i < APP_PROTO_MAX; i++)
            fixture[w].conf->required_frames[i] = fixture[w].conf->required_features[i] =
                UINT32_MAX;
    }
    http1 = app_proto_by_name("http");
    return 0;
}

/* Up to the next mark; *control is what stands behind that. False: it was the last one. */
static bool next_chunk(struct bytes *in, struct slice *chunk, uint8_t *control)
{
    struct slice rest = take_rest(in);

    for (uint32_t i = 0; i + 2 < rest.len; i++) {
        if (rest.data[i] != 0xff || rest.data[i + 1] != 0xfe)
            continue;
        *chunk = (struct slice){ .data = rest.data, .len = i };
        *control = rest.data[i + 2];
        *in = bytes_of(rest.data + i + 3, rest.len - i - 3);
        return true;
    }
    *chunk = rest;
    return false;
}

/* parts: how many there have been. */
static void replay_chunk(struct replay *replay, uint8_t control, struct slice chunk,
                         unsigned *parts)
{
    enum direction d = (enum direction)(control & 1);
    uint32_t part = control >> 4, n;

    if (chunk.len == 0)
        return;
    if ((control & 0x0e) == 0x0e) {
        replay_data(replay, d, NULL, chunk.len);
        return;
    }
    for (uint32_t at = 0; at < chunk.len; at += n, (*parts)++) {
        n = part != 0 && *parts < PARTS_MAX ? MIN(part, chunk.len - at) : chunk.len - at;
        replay_data(replay, d, chunk.data + at, n);
    }
}

/* Files from ranges are put together across flows, and bombs share what they unpack to. An input
 * starts without what others left. The table of ranges is large, so one that is empty stays. */
static void forget_shared(struct app_fixture *f)
{
    static const char key[] = "app-layer.protocols.http.byterange";

    f->conf->decoders.drawn_until = 0;
    if (app_ranges_memory(f->conf->ranges)->used == 0)
        return;
    app_ranges_free(f->conf->ranges);
    f->conf->ranges = app_ranges_new(conf_find(conf_root(f->yaml), key));
}

static char *replay_input(const uint8_t *data, size_t size, unsigned w, bool suspends, bool compare)
{
    struct bytes in = bytes_of(data, size);
    struct slice chunk;
    struct replay replay;
    uint8_t control = 0, next = 0;
    unsigned parts = 0;
    char *text = NULL;
    bool more;

    forget_shared(&fixture[w]);
    fixture[w].conf->decoders.memory.used = suspends ? 2 * DECODERS_OF_OTHERS : 0;
    fixture[w].conf->decoders.unpacked = suspends ? DECODERS_OF_OTHERS : 0;
    replay_begin(&replay, &fixture[w], false, 80);
    replay.quiet = !compare;
    replay.inspect = !compare;
    replay.frames = true;
    replay_force(&replay, http1->id);
    if (replay.flow->app->thread_data != NULL)
        ((struct http_thread *)replay.flow->app->thread_data)->active_max =
            suspends ? 0 : UINT32_MAX;
    do {
        more = next_chunk(&in, &chunk, &next);
        replay_chunk(&replay, control, chunk, &parts);
        control = next;
    } while (more);
    replay_end(&replay);
    if (compare)
        text = replay_text(&replay);
    replay_free(&replay);
    return text;
}

static void go_on_for_ever(const uint8_t *data, size_t size, unsigned w)
{
    struct endless e = { .fixture = &fixture[w], .proto = http1 };
    struct bytes in = bytes_of(data, size);
    struct slice chunk;
    uint8_t control = 0, next = 0;
    bool more;

    do {
        more = next_chunk(&in, &chunk, &next);
        endless_add(&e, (enum direction)(control & 1), chunk);
        control = next;
    } while (more);
    endless_check(&e);
}

int fuzz_input(const uint8_t *data, size_t size)
{
    unsigned w;

    if (size < 1 || size > 65536)
        return 0;
    w = data[0] & 3;
    if (endless_is_enabled()) {
        go_on_for_ever(data + 1, size - 1, w);
        return 0;
    }
    if ((data[0] & 0x18) != 8) {
        (void)replay_input(data + 1, size - 1, w, (data[0] & 4) != 0, false);
        return 0;
    }
    char *active = replay_input(data + 1, size - 1, w, false, true);
    char *suspended = replay_input(data + 1, size - 1, w, true, true);

    if (strcmp(active, suspended) != 0) {
        fprintf(stderr, "--- awake\n%s--- asleep\n%s", active, suspended);
        abort();
    }
    free(active);
    free(suspended);
    return 0;
}
