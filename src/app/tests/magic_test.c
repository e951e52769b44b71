/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What of a file goes to libmagic, and that the bytes of the flow pay for it. */
#include "config.h"

#include "app/lib/magic.h"
#include "base/test.h"

#include <stdio.h>
#include <string.h>

TEST(magic_price)
{
    static uint8_t data[8192];

    memset(data, 'a', sizeof(data));
    CHECK_INT(magic_cost(data, 512), 256 + 32);
    CHECK_INT(magic_head(data, sizeof(data), UINT64_MAX), MAGIC_HEAD);
    CHECK_INT(magic_head(data, 100, UINT64_MAX), 100);
    CHECK_INT(magic_head(data, 100, 100), 0);
    memset(data, '\n', sizeof(data));
    CHECK_INT(magic_cost(data, 512), 256 + 1024 + 32);
    CHECK_INT(magic_head(data, sizeof(data), UINT64_MAX), MAGIC_HEAD);
    CHECK_INT(magic_head(data, sizeof(data), 256 + 2048 + 64), 1024);
    CHECK(magic_cost(data, magic_head(data, sizeof(data), 1500)) <= 1500);
    CHECK_INT(magic_head(data, sizeof(data), 1300), 0);
    CHECK_INT(magic_head(data, 300, 900), 300);
}

#ifdef HAVE_MAGIC
static struct magic_answer ask(struct app_magic *m, const char *text, size_t len, uint64_t units)
{
    return app_magic_look_up(m, (struct slice){ (const uint8_t *)text, (uint32_t)len }, units);
}

TEST(magic_has_its_price)
{
    static char blanks[6000];
    struct app_magic *m = app_magic_new(NULL);
    struct magic_answer found;

    CHECK(m != NULL);
    memset(blanks, ' ', sizeof(blanks));
    CHECK_INT(ask(m, blanks, sizeof(blanks), 1300).outcome, MAGIC_SKIPPED);
    found = ask(m, blanks, sizeof(blanks), 1500);
    CHECK_INT(found.outcome, MAGIC_SHORTENED);
    CHECK(found.spent > 1300 && found.spent <= 1500 && strstr(found.text, "ASCII text") != NULL);
    found = ask(m, blanks, sizeof(blanks), 10000);
    CHECK_INT(found.outcome, MAGIC_ASKED);
    CHECK_INT(found.spent, 256 + 2 * MAGIC_HEAD + MAGIC_HEAD / 16);
    found = ask(m, blanks, sizeof(blanks), 0);
    CHECK_INT(found.outcome, MAGIC_KNOWN);
    CHECK_INT(found.spent, 0);
    CHECK(strstr(found.text, "ASCII text") != NULL);
    app_magic_free(m);
}

/* More answers than are kept: all are right, and the latest is known. */
TEST(magic_keeps_a_bounded_number_of_answers)
{
    static const char *const heads[] = { "GIF89a\1\1\1\1", "%PDF-1.4\n", "#!/bin/sh\n" };
    static const char *const names[] = { "GIF image", "PDF document", "shell script" };
    struct app_magic *m = app_magic_new(NULL);

    for (unsigned i = 0; i < 900; i++) {
        char text[64];
        size_t n = (size_t)snprintf(text, sizeof(text), "%s%u", heads[i % 3], i);
        struct magic_answer found = ask(m, text, n, 1000);

        CHECK(found.text != NULL && strstr(found.text, names[i % 3]) != NULL);
        CHECK_INT(found.outcome, MAGIC_ASKED);
        CHECK_INT(ask(m, text, n, 0).outcome, MAGIC_KNOWN);
    }
    CHECK_INT(ask(m, "GIF89a\1\1\1\0010", 11, 0).outcome, MAGIC_SKIPPED);
    app_magic_free(m);
}
#endif
