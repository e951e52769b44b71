/* SPDX-License-Identifier: GPL-2.0-or-later */
#include "match/pcre_memory.h"

#include "base/memory/traffic_memory.h"
#include "base/test.h"

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include <string.h>

/* Backtracking of an expression without JIT code takes memory as the subject decides. It counts for
 * the process, and may be refused. */
TEST(pcre_backtracking_points_count)
{
    static const char expression[] = "(?:(a)|b)*c";
    static uint8_t subject[400];
    pcre2_match_data *data = pcre_match_data_new(4);
    PCRE2_SIZE at;
    int error;
    pcre2_code *code = pcre2_compile((PCRE2_SPTR)expression, sizeof(expression) - 1, 0, &error,
                                     &at, NULL);

    memset(subject, 'a', sizeof(subject));
    CHECK(code != NULL && data != NULL);
    alloc_failures_set((struct alloc_failures){ .every = 1 });
    CHECK_INT(pcre2_match(code, subject, sizeof(subject), 0, 0, data, NULL),
              PCRE2_ERROR_NOMEMORY);
    alloc_failures_set((struct alloc_failures){ 0 });
    CHECK_INT(pcre2_match(code, subject, sizeof(subject), 0, 0, data, NULL),
              PCRE2_ERROR_NOMATCH);
    pcre2_match_data_free(data);
    pcre2_code_free(code);
}

/* A thread that starts at the limit gets its match data. */
TEST(pcre_match_data_is_never_refused)
{
    pcre2_match_data *data;

    alloc_failures_set((struct alloc_failures){ .every = 1 });
    data = pcre_match_data_try(4);
    alloc_failures_set((struct alloc_failures){ 0 });
    CHECK(data != NULL);
    pcre2_match_data_free(data);
}
