/* SPDX-License-Identifier: GPL-2.0-or-later */
/* JSON of a plugin's library: only what is valid comes into a record. */
#include <stdio.h>
#include <string.h>

#include "base/test.h"
#include "plugins/private.h"

static void expect(struct test *t, const char *text, bool taken)
{
    struct buf out = { 0 };
    struct json j;
    struct ids_json json = { .to = &j };
    char expected[200];

    json_init(&j, &out);
    json_object(&j, NULL);
    json_u64(&j, "a", 1);
    CHECK_INT(plugin_api.json_members(&json, (struct ids_slice){ (const uint8_t *)text,
                                                                  (uint32_t)strlen(text) }), taken);
    json_object_end(&j);
    buf_add_u8(&out, '\0');
    snprintf(expected, sizeof(expected), "{\"a\":1%s%s}", taken ? "," : "", taken ? text : "");
    CHECK_STRING((const char *)out.data, expected);
    buf_fini(&out);
}

TEST(plugin_raw_json_takes_members)
{
    expect(t, "\"b\":2", true);
    expect(t, "\"b\": {\"c\":[1, -2.5e+3,\"x\\u00ff\\\"\",true,null,{}],\"d\":[]} , \"e\":0", true);
}

TEST(plugin_raw_json_refuses_the_rest)
{
    static const char *const wrong[] = {
        "", "b", "\"b\"", "\"b\":", "\"b\":2,", "\"b\":2}", "\"b\":01", "\"b\":1.", "\"b\":tru",
        "\"b\":\"\x01\"", "\"b\":\"\xff\"", "\"b\":\"\\x\"", "\"b\":\"\\u12g4\"", "\"b\":\"",
        "\"b\":[1,]", "\"b\":[1", "\"b\":{\"c\"}", "\"b\":1\n", "\"b\":+1", "{\"b\":1}",
        "\"b\":[[[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]]",
    };

    for (unsigned i = 0; i < ARRAY_LEN(wrong); i++)
        expect(t, wrong[i], false);
}
