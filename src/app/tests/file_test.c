/* SPDX-License-Identifier: GPL-2.0-or-later */
/* What rules get of a file that comes byte by byte. */
#include "app/core/file.h"
#include "app/core/files.h"
#include "app/core/settings.h"
#include "app/core/thread.h"
#include "app/proto.h"
#include "base/test.h"

#define SIZE 100000u

struct fixture {
    struct app_conf conf;
    struct app_thread thread;
    struct app_proto proto;
    struct app_flow flow;
    struct app_tx tx;
};

/* Returns how often rules looked, and checks that they got each byte. */
static unsigned play(struct test *t, bool is_inline, uint64_t *seen)
{
    static struct fixture f;
    const struct file_window limits = { .window = 16384 };
    uint64_t position, reached = 0;
    struct app_file *file;
    unsigned looks = 0;
    struct slice out;

    f = (struct fixture){ .proto.id = APP_PROTO_http1 };
    f.conf.is_inline = is_inline;
    f.conf.required_files = APP_FILE_CONTENT;
    f.conf.required_content[APP_PROTO_http1] = APP_BOTH;
    f.thread.conf = &f.conf;
    f.flow.thread = &f.thread;
    f.flow.proto = &f.proto;
    f.tx.flow = &f.flow;
    app_file_pool_init(&f.thread.files);
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
    app_files_free(&f.thread, &f.tx);
    app_file_pool_fini(&f.thread.files);
    while (f.thread.spare_count > 0)
        buf_fini(&f.thread.spare[--f.thread.spare_count]);
    return looks;
}

TEST(file_windows_are_repeated_within_limits)
{
    uint64_t seen;

    CHECK(play(t, false, &seen) < SIZE / 50);
    CHECK(seen < 20 * SIZE);
    CHECK_INT(play(t, true, &seen), SIZE + 1);
}
