/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "app/tests/split.h"

#include "app/private.h"
#include "app/tests/play.h"
#include "base/hash.h"

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

static void play_step(struct play *play, const struct split_step *step, enum split_segmentation cut,
                      uint64_t *seed)
{
    const uint8_t *data = step->data;
    uint32_t left = step->len;

    if (data == NULL || play->udp) {
        play_data(play, step->direction, data, left);
        return;
    }
    while (left > 0) {
        uint32_t n = step_len(cut, seed, left);

        play_data(play, step->direction, data, n);
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

char *split_play(const struct split_case *c, enum split_segmentation cut, uint64_t seed)
{
    struct app_fixture fixture;
    struct play play;
    char *text;

    if (app_fixture_open(&fixture, c->yaml, c->extra) < 0)
        return NULL;
    require_features(&fixture, c);
    if (c->prepare != NULL)
        c->prepare(&fixture);
    play_begin(&play, &fixture, c->udp, c->port);
    play.midstream = c->midstream;
    play.frames = c->frames;
    for (unsigned i = 0; i < c->count; i++)
        play_step(&play, &c->steps[i], cut, &seed);
    play_end(&play);
    text = play_text(&play);
    play_free(&play);
    app_fixture_close(&fixture);
    return text;
}

void split_check_rounds(struct test *t, const struct split_case *c, unsigned rounds)
{
    char *unsplit = split_play(c, SPLIT_NONE, 0);

    for (unsigned i = 0; i <= rounds && t->failures == 0; i++) {
        char *cut = split_play(c, i == 0 ? SPLIT_BYTES : SPLIT_RANDOM, i);

        CHECK_STRING(cut, unsplit);
        if (t->failures > 0)
            printf("# in %s, seed %u\n", i == 0 ? "bytes" : "random cuts", i);
        free(cut);
    }
    free(unsplit);
}

void split_expect(struct test *t, const struct split_case *c, const char *expected)
{
    char *unsplit = split_play(c, SPLIT_NONE, 0);

    CHECK_STRING(unsplit, expected);
    free(unsplit);
    split_check(t, c);
}
