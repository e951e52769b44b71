/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Spare buffers of a thread. */
#include "app/core/thread.h"
#include "base/test.h"

static struct buf with_space(uint32_t cap)
{
    struct buf b = { 0 };

    (void)!buf_reserve(&b, cap);
    return b;
}

static void put_spare(struct app_thread *at, uint32_t cap)
{
    struct buf b = with_space(cap);

    app_buf_release(at, &b);
}

static uint32_t taken(struct app_thread *at, size_t len)
{
    struct buf b = app_buf_take(at, len);
    uint32_t cap = b.cap;

    buf_fini(&b);
    return cap;
}

TEST(app_buf_take_wastes_little)
{
    static struct app_thread at;

    at = (struct app_thread){ 0 };
    put_spare(&at, 100);
    for (uint32_t cap = 4096; cap >= 512; cap /= 2)
        put_spare(&at, cap);
    put_spare(&at, 8192);
    CHECK_INT(taken(&at, 600), 1024);
    CHECK_INT(taken(&at, 20), 100);
    CHECK_INT(taken(&at, 9000), 8192);      /* has to grow least */
    CHECK_INT(taken(&at, 0), 2048);         /* the newest of the rest */
    CHECK_INT(taken(&at, 1000), 4096);
    CHECK_INT(taken(&at, 1000), 512);
    CHECK_INT(taken(&at, 1), 0);
}

/* With few spare buffers large ones stay. Once there are enough, those that stay are small. */
TEST(app_buf_release_keeps_small_ones)
{
    static struct app_thread at;

    at = (struct app_thread){ 0 };
    put_spare(&at, APP_SPARE_BUF_MAX);
    CHECK_INT(at.spare_count, 1);
    for (unsigned i = 1; i < APP_SPARE_BUFS; i++)
        put_spare(&at, 4096);
    CHECK_INT(at.spare_count, APP_SPARE_BUFS);
    put_spare(&at, 128);
    put_spare(&at, APP_SPARE_BUF_USUAL + 1);
    put_spare(&at, 8192);
    CHECK_INT(at.spare_count, APP_SPARE_BUFS);
    CHECK_INT(taken(&at, 0), 128);
    CHECK_INT(taken(&at, 0), 4096);
    while (at.spare_count > 0)
        buf_fini(&at.spare[--at.spare_count]);
}
