/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules get of a file that comes byte by byte. */
#include "app/core/file.h"
#include "app/core/files.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/proto.h"
#include "base/test.h"

#include <string.h>

#define SIZE 100000u

struct fixture {
    struct app_conf conf;
    struct app_thread thread;
    struct app_proto proto;
    struct app_flow flow;
    struct app_tx tx;
};

static void open_fixture(struct fixture *f, bool is_inline)
{
    *f = (struct fixture){ .proto.id = APP_PROTO_http1 };
    f->conf.is_inline = is_inline;
    f->conf.required_files = APP_FILE_CONTENT;
    f->conf.required_content[APP_PROTO_http1] = APP_BOTH;
    f->thread.conf = &f->conf;
    f->flow.thread = &f->thread;
    f->flow.proto = &f->proto;
    f->tx.flow = &f->flow;
    app_file_pool_init(&f->thread.files);
}

static void close_fixture(struct fixture *f)
{
    app_files_free(&f->thread, &f->tx);
    app_file_pool_fini(&f->thread.files);
    while (f->thread.spare_count > 0)
        buf_fini(&f->thread.spare[--f->thread.spare_count]);
}

/* Returns how often rules looked, and checks that they got each byte. */
static unsigned play(struct test *t, bool is_inline, uint64_t *seen)
{
    static struct fixture f;
    const struct file_window limits = { .window = 16384 };
    uint64_t position, reached = 0;
    struct app_file *file;
    unsigned looks = 0;
    struct slice out;

    open_fixture(&f, is_inline);
    file = app_file_open(&f.tx, TO_CLIENT, (struct slice){ 0 }, &limits);
    *seen = 0;
    for (unsigned i = 0; i <= SIZE; i++) {
        if (i < SIZE)
            app_file_append(file, (const uint8_t *)"x", 1);
        else
            app_file_close(file, FILE_CLOSED);
        if (app_file_inspect(file, &out, &position)) {
            CHECK(position <= reached);
            reached = position + out.len;
            *seen += out.len;
            looks++;
            CHECK(app_file_inspect(file, &out, &position));     /* the same for another rule */
            CHECK_INT(position + out.len, reached);
        }
        app_files_prune(&f.tx, TO_CLIENT, true);
    }
    CHECK_INT(reached, SIZE);
    close_fixture(&f);
    return looks;
}

TEST(file_windows_are_repeated_within_limits)
{
    uint64_t seen;

    CHECK(play(t, false, &seen) < SIZE / 50);
    CHECK(seen < 20 * SIZE);
    CHECK_INT(play(t, true, &seen), SIZE + 1);
}

/* Rules get the same of each later look, whether or not what they have seen stays. Returns how much
 * memory waits between two looks. */
static uint32_t play_large(struct test *t, size_t files, struct slice looks[2], uint64_t from[2])
{
    const struct file_window limits = { .window = 4096, .min_inspect = 32768 };
    static uint8_t content[64 << 10], copy[2][2 * sizeof(content)];
    static struct fixture f;
    struct app_file *file;
    uint32_t waits = 0;

    open_fixture(&f, false);
    for (unsigned i = 0; i < sizeof(content); i++)
        content[i] = (uint8_t)(i % 251);
    file = app_file_open(&f.tx, TO_CLIENT, (struct slice){ 0 }, &limits);
    f.thread.files.in_use += files;
    for (unsigned i = 0; i < 2; i++) {
        app_file_append(file, content, sizeof(content));
        CHECK(app_file_inspect(file, &looks[i], &from[i]));
        memcpy(copy[i], looks[i].data, looks[i].len);
        looks[i].data = copy[i];
        app_files_prune(&f.tx, TO_CLIENT, true);
        waits = file->window.cap;
    }
    f.thread.files.in_use -= files;
    app_file_close(file, FILE_CLOSED);
    close_fixture(&f);
    return waits;
}

TEST(file_windows_that_were_seen_do_not_wait_with_many)
{
    struct slice few[2], many[2];
    uint64_t few_from[2], many_from[2];
    static uint8_t kept[2][128 << 10];

    CHECK(play_large(t, 0, few, few_from) >= 64 << 10);
    for (unsigned i = 0; i < 2; i++)
        few[i].data = memcpy(kept[i], few[i].data, few[i].len);
    CHECK(play_large(t, 1000, many, many_from) < 8 << 10);
    for (unsigned i = 0; i < 2; i++) {
        CHECK_INT(many_from[i], few_from[i]);
        CHECK_BYTES(many[i].data, many[i].len, few[i].data, few[i].len);
    }
}
