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

static bool cuts(const char *line, unsigned columns, const char *expected)
{
    struct buf out = { 0 };
    bool same;

    buf_add_string(&out, line);
    progress_cut(&out, columns);
    same = out.len == strlen(expected) &&
           (out.len == 0 || memcmp(out.data, expected, out.len) == 0);
    buf_fini(&out);
    return same;
}

/* The last column stays free. */
TEST(progress_cut)
{
    const char *line = "12.0 MB of 48.0 MB, 25 %, 3 s left, 90000 packets/s, 7 alerts";

    CHECK(cuts(line, 62, line));
    CHECK(cuts(line, 61, "12.0 MB of 48.0 MB, 25 %, 3 s left, 90000 packets/s"));
    CHECK(cuts(line, 40, "12.0 MB of 48.0 MB, 25 %, 3 s left"));
    CHECK(cuts(line, 25, "12.0 MB of 48.0 MB"));
    CHECK(cuts(line, 10, "12.0 MB o"));
    CHECK(cuts(line, 1, ""));
    CHECK(cuts("", 1, ""));
}

TEST(progress_units)
{
    static const struct { uint64_t bytes; double seconds; const char *expected; } cases[] = {
        { 0, 0.0004, "0 B 0.4 ms" }, { 999, 0.25, "999 B 250 ms" }, { 12345, 1.0, "12.3 kB 1.0 s" },
        { 3000000, 0.01, "3.0 MB 10 ms" }, { 5000000000, 90.0, "5000.0 MB 90.0 s" },
    };

    for (unsigned i = 0; i < ARRAY_LEN(cases); i++) {
        struct buf out = { 0 };

        progress_size(&out, cases[i].bytes);
        buf_add_u8(&out, ' ');
        progress_duration(&out, cases[i].seconds);
        buf_add_u8(&out, '\0');
        CHECK_STRING((const char *)out.data, cases[i].expected);
        buf_fini(&out);
    }
}
