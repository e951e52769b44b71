/* SPDX-License-Identifier: GPL-2.0-or-later */
/* libhtp's lists, whether by its own functions or by those of libhtp.c. */
#include "base/test.h"

#include <htp/htp.h>

static int mark[64];

TEST(http1_list_is_a_queue_and_a_stack)
{
    htp_list_t *list = htp_list_create(4);

    CHECK(htp_list_create(0) == NULL);
    CHECK_INT(htp_list_size(list), 0);
    CHECK(htp_list_get(list, 0) == NULL && htp_list_pop(list) == NULL);
    CHECK(htp_list_shift(list) == NULL);
    for (int i = 0; i < 3; i++)
        CHECK_INT(htp_list_push(list, &mark[i]), HTP_OK);
    CHECK(htp_list_shift(list) == &mark[0]);
    CHECK(htp_list_shift(list) == &mark[1]);
    for (int i = 3; i < 40; i++)            /* grows while it begins in the middle */
        CHECK_INT(htp_list_push(list, &mark[i]), HTP_OK);
    CHECK_INT(htp_list_size(list), 38);
    for (size_t i = 0; i < 38; i++)
        CHECK(htp_list_get(list, i) == &mark[i + 2]);
    CHECK(htp_list_get(list, 38) == NULL);
    CHECK(htp_list_pop(list) == &mark[39]);
    CHECK_INT(htp_list_replace(list, 36, &mark[0]), HTP_OK);
    CHECK_INT(htp_list_replace(list, 37, &mark[0]), HTP_DECLINED);
    CHECK(htp_list_pop(list) == &mark[0]);
    htp_list_clear(list);
    CHECK_INT(htp_list_size(list), 0);
    CHECK_INT(htp_list_push(list, &mark[7]), HTP_OK);
    CHECK(htp_list_get(list, 0) == &mark[7]);
    htp_list_destroy(list);
    htp_list_destroy(NULL);
}

static int calls;

static int declines(void *data)
{
    calls += data == mark;
    return HTP_DECLINED;
}

static int fails(void *data)
{
    calls += data == mark;
    return HTP_STOP;
}

TEST(http1_hooks_run_until_one_fails)
{
    htp_hook_t *hook = NULL;

    calls = 0;
    CHECK_INT(htp_hook_run_all(NULL, mark), HTP_OK);
    CHECK_INT(htp_hook_register(&hook, declines), HTP_OK);
    CHECK_INT(htp_hook_run_all(hook, mark), HTP_OK);
    CHECK_INT(calls, 1);
    CHECK_INT(htp_hook_register(&hook, fails), HTP_OK);
    CHECK_INT(htp_hook_register(&hook, declines), HTP_OK);
    CHECK_INT(htp_hook_run_all(hook, mark), HTP_STOP);
    CHECK_INT(calls, 3);
    htp_hook_destroy(hook);
}
