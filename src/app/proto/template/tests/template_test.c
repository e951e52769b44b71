/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/template/tests/template_test.c - two requests, their answers; what is no message. */
#include "app/tests/split.h"

#define ENABLED "app-layer: { protocols: { template: { enabled: yes } } }\n"

TEST(template_exchange)
{
    static const struct split_step steps[] = {
        SPLIT_TS("12:Hello World!2:ho"), SPLIT_TC("4:Bye.0:"), SPLIT_TS("3:who"),
    };
    struct split_case c = { .yaml = ENABLED, .port = 7000, .steps = steps,
                            .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 template {\"template\":{\"request\":\"Hello World!\",\"response\":\"Bye.\"}}\n"
                 "tx 1 template {\"template\":{\"request\":\"ho\",\"response\":\"\"}}\n"
                 "tx 2 template {\"template\":{\"request\":\"who\"}}\n"
                 "flow template template template\n");
}

TEST(template_nonsense)
{
    static const struct split_step steps[] = {
        SPLIT_TS("2:ab"), SPLIT_TC("2:cd"), SPLIT_TS("x:y"), SPLIT_TS("2:ef"),
    };
    struct split_case c = { .yaml = ENABLED, .port = 7000, .steps = steps,
                            .count = ARRAY_LEN(steps) };

    split_expect(t, &c,
                 "tx 0 template {\"template\":{\"request\":\"ab\",\"response\":\"cd\"}}\n"
                 "flow template template template\n");
}
