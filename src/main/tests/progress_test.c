/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of main/progress: the line that a terminal shows while a file is read. */
#include "main/progress.h"

#include <string.h>

#include "base/test.h"

static bool shows(struct capture_progress at, double seconds, const char *expected)
{
    const struct progress_sums sums = { seconds, 90000, 7 };
    struct buf out = { 0 };
    bool same;

    progress_text(&at, &sums, &out);
    buf_add_u8(&out, '\0');
    same = strcmp((const char *)out.data, expected) == 0;
    buf_fini(&out);
    return same;
}

TEST(progress_text)
{
    /* A quarter took a second, so the rest takes three. */
    CHECK(shows((struct capture_progress){ .bytes = 12000000, .total_bytes = 48000000 }, 1.0,
                "12.0 MB of 48.0 MB, 25 %, 3 s left, 90000 packets/s, 7 alerts"));
    /* A pipe has no end that is known; a file that grew is read beyond its size. */
    CHECK(shows((struct capture_progress){ .bytes = 12000000 }, 2.0,
                "12.0 MB, 45000 packets/s, 7 alerts"));
    CHECK(shows((struct capture_progress){ .bytes = 2000000, .total_bytes = 1000000 }, 1.0,
                "2.0 MB of 1.0 MB, 100 %, 0 s left, 90000 packets/s, 7 alerts"));
}
