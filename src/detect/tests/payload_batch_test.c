/* SPDX-License-Identifier: GPL-2.0-or-later */
/* A batch of payloads has the candidates that each payload has alone. */
#include "base/test.h"
#include "detect/compile/compile.h"
#include "detect/prefilter/payload_batch.h"
#include "detect/tests/rules_helper.h"

#include <stdlib.h>
#include <string.h>

/* Patterns in front and anywhere, on a rare port, runs of one byte with bytes before and after
 * them, a run alone, and enough others for a matcher of many. */
static const char *const contents[] = {
    "content:\"abcd\"", "content:\"bcda\"; nocase", "content:\"dddd\"", "content:\"aaaab\"",
    "content:\"baaaa\"", "content:\"cccc\"; depth:40", "content:\"abab\"; offset:8; depth:60",
    "content:\"dcba\"; startswith", "content:\"aabbccdd\"", "content:\"bbbb\"",
};

#define PAYLOADS 40
#define PAYLOAD_MOST 700

struct fixture {
    struct test_rules rules;
    const struct payload_sets *sets;
    struct payload_batch *batch;
    struct candidates alone, together;
    uint8_t bytes[PAYLOADS][PAYLOAD_MOST];
    struct sent_payload payload[PAYLOADS];
    uint32_t seed;
};

static uint32_t random_of(struct fixture *f, uint32_t below)
{
    f->seed = f->seed * 1664525u + 1013904223u;
    return (uint32_t)((uint64_t)f->seed * below >> 32);
}

static bool fixture_init(struct fixture *f)
{
    *f = (struct fixture){ .seed = 21 };
    for (unsigned i = 0; i < ARRAY_LEN(contents); i++) {
        test_rules_add(&f->rules, "alert udp any any -> any any (%s; sid:%u;)", contents[i],
                       2 * i + 1);
        test_rules_add(&f->rules, "alert udp any any -> any 4444 (%s; sid:%u;)", contents[i],
                       2 * i + 2);
    }
    if (!test_rules_ready(&f->rules))
        return false;
    f->sets = f->rules.set->plan->group[TRANSPORT_UDP][TO_SERVER].payload[0];
    f->batch = payload_batch_new();
    candidates_init(&f->alone, (unsigned)f->rules.set->rules.count);
    candidates_init(&f->together, (unsigned)f->rules.set->rules.count);
    return true;
}

static void fixture_fini(struct fixture *f)
{
    payload_batch_free(f->batch);
    candidates_fini(&f->alone);
    candidates_fini(&f->together);
    test_rules_free(&f->rules);
}

/* Of four letters, with runs, so that literals are frequent and span payloads. */
static void fill(struct fixture *f, unsigned i, uint32_t len)
{
    for (uint32_t at = 0; at < len; ) {
        uint32_t run = random_of(f, 4) == 0 ? 1 + random_of(f, 6) : 1;
        uint8_t c = (uint8_t)('a' + random_of(f, 4));

        for (; run > 0 && at < len; run--)
            f->bytes[i][at++] = c;
    }
    f->payload[i] = (struct sent_payload){ { f->bytes[i], len }, 1,
                                           random_of(f, 3) == 0 ? 4444 : 80 };
}

static bool is_same(struct fixture *f, unsigned i)
{
    bool same;

    candidates_clear(&f->alone);
    candidates_clear(&f->together);
    payload_sets_scan(f->sets, NULL, &f->payload[i], &f->alone);
    if (!payload_batch_collect(f->batch, i, NULL, &f->together))
        return false;
    candidates_sort(&f->alone);
    candidates_sort(&f->together);
    same = f->alone.count == f->together.count &&
           memcmp(f->alone.list, f->together.list, f->alone.count * sizeof(f->alone.list[0])) == 0;
    return same;
}

/* Fills, searches and compares one batch. Returns the candidates of all payloads; 0: something
 * differs. */
static unsigned batch_found(struct fixture *f, unsigned count)
{
    unsigned found = 1;

    payload_batch_begin(f->batch, f->sets);
    for (unsigned i = 0; i < count; i++) {
        fill(f, i, 1 + random_of(f, i % 2 == 0 ? 12 : 60));
        if (!payload_batch_add(f->batch, &f->payload[i]))
            return 0;
    }
    payload_batch_scan(f->batch, NULL);
    for (unsigned i = 0; i < count; i++) {
        if (!is_same(f, i))
            return 0;
        found += f->together.count;
    }
    return found;
}

TEST(payload_batch_finds_what_each_payload_has)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    bool ready = fixture_init(f);
    unsigned all = 0;

    CHECK(ready);
    for (unsigned batch = 0; ready && batch < 200; batch++) {
        unsigned found = batch_found(f, 1 + random_of(f, 12));

        CHECK(found > 0);
        all += found;
    }
    CHECK(all > 1000);
    fixture_fini(f);
    free(f);
}

/* What has no space is refused; with too many hits each payload is to be searched alone. */
TEST(payload_batch_has_limits)
{
    struct fixture *f = xcalloc(1, sizeof(*f));
    unsigned count = 0;

    if (!fixture_init(f)) {
        CHECK(false);
        free(f);
        return;
    }
    payload_batch_begin(f->batch, f->sets);
    fill(f, 0, PAYLOAD_MOST);
    for (unsigned i = 0; i < PAYLOAD_MOST; i++)
        f->bytes[0][i] = (uint8_t)('a' + i % 4);
    CHECK(!payload_batch_add(f->batch, &(struct sent_payload){ { f->bytes[0], 0 }, 1, 80 }));
    while (payload_batch_add(f->batch, &f->payload[0]))
        count++;
    CHECK_INT(count, BATCH_BYTES / PAYLOAD_MOST);
    payload_batch_scan(f->batch, NULL);
    CHECK(!payload_batch_collect(f->batch, 0, NULL, &f->together));
    CHECK_INT(f->together.count, 0);
    payload_batch_begin(f->batch, f->sets);
    for (count = 0; count < PAYLOADS; count++) {
        fill(f, count, 4);
        if (!payload_batch_add(f->batch, &f->payload[count]))
            break;
    }
    CHECK_INT(count, BATCH_PAYLOADS);
    fixture_fini(f);
    free(f);
}
