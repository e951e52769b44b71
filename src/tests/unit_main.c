/* SPDX-License-Identifier: GPL-2.0-or-later */
/* tests/unit_main.c - runs the unit tests: all, or those whose names begin as asked.
 *
 *     unit [--list] [--quiet] [PREFIX...]
 *
 * One line a test, in the form of the Test Anything Protocol; the last line counts. */
#include "tests/unit.h"

#include "app/proto.h"
#include "output/logger.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void test_fail(struct test *t, const char *file, int line, const char *fmt, ...)
{
    va_list args;

    t->failures++;
    printf("# %s: %s:%d: ", t->name, file, line);
    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar('\n');
}

void test_check_int(struct test *t, const char *file, int line, const char *what, long long found,
                    long long expected)
{
    if (found != expected)
        test_fail(t, file, line, "%s is %lld, wanted %lld", what, found, expected);
}

void test_check_string(struct test *t, const char *file, int line, const char *what,
                       const char *found, const char *expected)
{
    if (found == NULL || expected == NULL) {
        if (found != expected)
            test_fail(t, file, line, "%s is %s, wanted %s", what, found ? found : "NULL",
                      expected ? expected : "NULL");
        return;
    }
    if (strcmp(found, expected) != 0)
        test_fail(t, file, line, "%s is \"%s\", expected \"%s\"", what, found, expected);
}

static void print_bytes(const char *label, const uint8_t *data, size_t len)
{
    printf("#   %s %zu bytes: ", label, len);
    for (size_t i = 0; i < len && i < 256; i++) {
        if (isprint(data[i]) && data[i] != '\\')
            putchar(data[i]);
        else
            printf("\\x%02x", data[i]);
    }
    printf("%s\n", len > 256 ? "..." : "");
}

void test_check_bytes(struct test *t, const char *file, int line, const char *what,
                      const void *found, size_t found_len, const void *expected, size_t expected_len)
{
    if (found_len == expected_len && (found_len == 0 || memcmp(found, expected, found_len) == 0))
        return;
    test_fail(t, file, line, "%s differs", what);
    print_bytes("found ", found, found_len);
    print_bytes("wanted", expected, expected_len);
}

struct tally {
    unsigned passed, failed, skipped;
};

static void run_one(const struct unit_test *test, bool quiet, struct tally *tally)
{
    struct test t = { .name = test->name };

    test->run(&t);
    if (t.failures > 0) {
        tally->failed++;
        printf("not ok %s\n", test->name);
    } else if (t.skipped) {
        tally->skipped++;
        printf("ok %s # SKIP\n", test->name);
    } else {
        tally->passed++;
        if (!quiet)
            printf("ok %s\n", test->name);
    }
    fflush(stdout);
}

static bool is_wanted(const char *name, int count, char **prefixes)
{
    for (int i = 0; i < count; i++) {
        if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
            return true;
    }
    return count == 0;
}

int main(int argc, char **argv)
{
    struct tally tally = { 0 };
    bool quiet = false, list = false;
    int first = 1;

    app_protos_init();
    loggers_init();
    for (; first < argc && strncmp(argv[first], "--", 2) == 0; first++) {
        quiet |= strcmp(argv[first], "--quiet") == 0;
        list |= strcmp(argv[first], "--list") == 0;
    }
    for (const struct unit_test *test = unit_tests; test->name != NULL; test++) {
        if (!is_wanted(test->name, argc - first, argv + first))
            continue;
        if (list)
            puts(test->name);
        else
            run_one(test, quiet, &tally);
    }
    if (list)
        return 0;
    printf("%u passed, %u failed, %u skipped\n", tally.passed, tally.failed, tally.skipped);
    return tally.failed > 0 || tally.passed + tally.skipped == 0;
}
