/* SPDX-License-Identifier: GPL-2.0-or-later */
/* --list-keywords: a keyword that needs an argument says how it is written. */
#include "base/memory/buf.h"
#include "base/test.h"
#include "detect/keywords/registry.h"

#include <string.h>

static void check_syntax(const struct keyword_ops *k, void *arg)
{
    struct test *t = arg;

    if (k->argument == ARGUMENT_REQUIRED && k->syntax == NULL)
        test_fail(t, __FILE__, __LINE__, "%s: no syntax", k->name);
    if (k->argument == ARGUMENT_NONE && k->syntax != NULL)
        test_fail(t, __FILE__, __LINE__, "%s: a syntax, but no argument", k->name);
}

TEST(list_keywords_have_a_syntax)
{
    keyword_registry_init();
    keyword_each(check_syntax, t);
}

static void add_line(const char *line, void *arg)
{
    buf_printf(arg, "%s\n", line);
}

/* The lines about one keyword, with a NUL. */
static const char *listed(struct test *t, struct buf *b, const char *name)
{
    buf_clear(b);
    CHECK_INT(keyword_list_print(name, add_line, b), 0);
    CHECK(buf_add_u8(b, '\0'));
    return (const char *)b->data;
}

TEST(list_keywords_forms_and_names)
{
    struct buf b = { 0 };
    const char *text = listed(t, &b, "hostbits");

    CHECK(strstr(text, "\nSyntax: hostbits:set|unset|") != NULL);
    CHECK(strstr(text, "\n        hostbits:noalert\n") != NULL);
    text = listed(t, &b, "websocket.flags");
    CHECK(strstr(text, "\nSyntax: websocket.flags:<number>\n") != NULL);
    CHECK(strstr(text, "\nNames: fin, comp\n") != NULL);
    text = listed(t, &b, "http.method");
    CHECK(strstr(text, "Syntax") == NULL);
    buf_fini(&b);
}
