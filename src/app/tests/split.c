/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include "app/conf.h"
#include "app/core/settings.h"
#include "app/tests/replay.h"
#include "base/containers/hash.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint32_t next_random(uint64_t *seed)
{
    *seed = hash_mix(*seed + 1, UINT64_C(0x5851f42d4c957f2d));
    return (uint32_t)(*seed >> 16);
}

static uint32_t step_len(enum split_segmentation cut, uint64_t *seed, uint32_t left)
{
    uint32_t want = left;

    if (cut == SPLIT_BYTES)
        want = 1;
    else if (cut == SPLIT_RANDOM)
        want = 1 + next_random(seed) % (next_random(seed) % 4 == 0 ? 400 : 12);
    return MIN(want, left);
}

static void replay_step(struct replay *replay, const struct split_step *step, enum split_segmentation cut,
                      uint64_t *seed)
{
    const uint8_t *data = step->data;
    uint32_t left = step->len;

    if (data == NULL || replay->udp) {
        replay_data(replay, step->direction, data, left);
        return;
    }
    while (left > 0) {
        uint32_t n = step_len(cut, seed, left);

        replay_data(replay, step->direction, data, n);
        data += n;
        left -= n;
    }
}

static void require_features(struct app_fixture *fixture, const struct split_case *c)
{
    app_require_files(fixture->conf, APP_FILE_TRACK | c->file_features);
    for (unsigned i = 0; c->frames && i < APP_PROTO_MAX; i++)
        fixture->conf->required_frames[i] = UINT32_MAX;
}

char *split_replay(const struct split_case *c, enum split_segmentation cut, uint64_t seed)
{
    struct app_fixture fixture;
    struct replay replay;
    char *text;

    if (app_fixture_open(&fixture, c->yaml, c->extra) < 0)
        return NULL;
    require_features(&fixture, c);
    if (c->prepare != NULL)
        c->prepare(&fixture);
    replay_begin(&replay, &fixture, c->udp, c->port);
    replay.midstream = c->midstream;
    replay.frames = c->frames;
    replay.show = c->show;
    for (unsigned i = 0; i < c->count; i++)
        replay_step(&replay, &c->steps[i], cut, &seed);
    replay_end(&replay);
    text = replay_text(&replay);
    replay_free(&replay);
    app_fixture_close(&fixture);
    return text;
}

void split_check_rounds(struct test *t, const struct split_case *c, unsigned rounds)
{
    char *unsplit = split_replay(c, SPLIT_NONE, 0);

    for (unsigned i = 0; i <= rounds && t->failures == 0; i++) {
        char *cut = split_replay(c, i == 0 ? SPLIT_BYTES : SPLIT_RANDOM, i);

        CHECK_STRING(cut, unsplit);
        if (t->failures > 0)
            printf("# in %s, seed %u\n", i == 0 ? "bytes" : "random cuts", i);
        free(cut);
    }
    free(unsplit);
}

void split_expect(struct test *t, const struct split_case *c, const char *expected)
{
    char *unsplit = split_replay(c, SPLIT_NONE, 0);

    CHECK_STRING(unsplit, expected);
    free(unsplit);
    split_check(t, c);
}
