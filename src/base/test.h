/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/test.h - unit tests: files <directory>/tests/<name>_test.c, all linked into src/unit.
 *
 *     TEST(bytes_short_read_fails)
 *     {
 *         CHECK(in.failed);
 *         CHECK_INT(take_u8(&in), 0);
 *     }
 *
 * The list of tests is generated from the files by scripts/test-list. */
#ifndef BASE_TEST_H
#define BASE_TEST_H

#include "base/base.h"

struct test {
    const char *name;
    unsigned failures;
    bool skipped;
};

#define TEST(name) \
    void test_##name(struct test *t); \
    void test_##name(struct test *t UNUSED)

void test_fail(struct test *t, const char *file, int line, const char *fmt, ...) PRINTF(4, 5);
void test_check_int(struct test *t, const char *file, int line, const char *what, long long found,
                    long long expected);
void test_check_string(struct test *t, const char *file, int line, const char *what,
                       const char *found, const char *expected);
void test_check_bytes(struct test *t, const char *file, int line, const char *what,
                      const void *found, size_t found_len, const void *expected,
                      size_t expected_len);

#define CHECK(cond) \
    do { if (!(cond)) test_fail(t, __FILE__, __LINE__, "%s", #cond); } while (0)
#define CHECK_INT(found, expected) \
    test_check_int(t, __FILE__, __LINE__, #found, (long long)(found), (long long)(expected))
#define CHECK_STRING(found, expected) \
    test_check_string(t, __FILE__, __LINE__, #found, (found), (expected))
#define CHECK_BYTES(found, found_len, expected, expected_len)                         \
    test_check_bytes(t, __FILE__, __LINE__, #found, (found), (found_len), (expected), \
                     (expected_len))

#endif
