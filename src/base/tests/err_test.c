/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of base/err. */
#include "base/err.h"
#include "base/test.h"

#include <string.h>

TEST(err_text_has_location)
{
    struct err err;
    char buf[100];

    CHECK_INT(err_at(&err, (struct where){ "a.rules", 3, 12 }, "expected %d", 7), -1);
    CHECK_STRING(err_text(&err, buf, sizeof(buf)), "a.rules:3:12: expected 7");
    err.at.column = 0;
    CHECK_STRING(err_text(&err, buf, sizeof(buf)), "a.rules:3: expected 7");
    err.at.line = 0;
    CHECK_STRING(err_text(&err, buf, sizeof(buf)), "a.rules: expected 7");
    CHECK_INT(err_set(&err, "plain"), -1);
    CHECK_STRING(err_text(&err, buf, sizeof(buf)), "plain");
}

TEST(err_may_quote_itself)
{
    struct err err;

    err_set(&err, "inner");
    err_at(&err, err.at, "outer: %s", err.text);
    CHECK_STRING(err.text, "outer: inner");
    CHECK_INT(err_set(NULL, "nobody listens"), -1);
}

TEST(err_text_is_cut_not_overrun)
{
    struct err err;
    char longer[1000];

    memset(longer, 'x', sizeof(longer) - 1);
    longer[sizeof(longer) - 1] = '\0';
    err_set(&err, "%s", longer);
    CHECK_INT(strlen(err.text), sizeof(err.text) - 1);
}
