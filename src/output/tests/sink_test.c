/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of output/sinks: what a slow or dead peer costs is counted by record, and offline a slow
 * one costs none. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/memory/buf.h"
#include "base/test.h"
#include "output/output.h"
#include "output/sink.h"

extern const struct sink_ops sink_file, sink_unix_dgram, sink_unix_stream;

enum { RECORDS = 4000, BATCH = 16, RECORD_LEN = 200 };

struct reader {
    int fd;
    int type;
    unsigned delay_us;
    unsigned lines, broken;
};

static int listen_at(struct test *t, const char *path, int type)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd = socket(AF_UNIX, type, 0);

    snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
    (void)unlink(path);
    CHECK(bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    if (type == SOCK_STREAM)
        CHECK(listen(fd, 1) == 0);
    return fd;
}

/* A record is RECORD_LEN - 1 times the same letter and the end of a line. */
static void check_line(struct reader *r, const char *line, size_t len)
{
    r->lines++;
    for (size_t i = 1; i < len; i++)
        if (line[i] != line[0])
            r->broken++;
    if (len != RECORD_LEN - 1)
        r->broken++;
}

/* Until "end", or the end of the stream. */
static void *read_slowly(void *arg)
{
    struct reader *r = arg;
    int fd = r->type == SOCK_STREAM ? accept(r->fd, NULL, NULL) : dup(r->fd);
    FILE *file = fdopen(fd, "r");
    char line[RECORD_LEN * 2];

    for (;;) {
        if (r->type == SOCK_STREAM ? fgets(line, sizeof(line), file) == NULL
                                   : recv(fd, line, sizeof(line), 0) <= 0)
            break;
        if (memcmp(line, "end\n", 4) == 0)
            break;
        check_line(r, line, strcspn(line, "\n"));
        if (r->delay_us > 0 && r->lines % 100 == 0)
            usleep(r->delay_us);
    }
    fclose(file);
    return NULL;
}

static uint64_t write_all(const struct sink_ops *ops, void *sink)
{
    char batch[BATCH * RECORD_LEN];
    uint64_t lost = 0;

    for (unsigned i = 0; i < RECORDS / BATCH; i++) {
        for (unsigned k = 0; k < BATCH; k++) {
            memset(batch + k * RECORD_LEN, 'a' + (int)((i + k) % 26), RECORD_LEN - 1);
            batch[(k + 1) * RECORD_LEN - 1] = '\n';
        }
        lost += ops->write(sink, (const uint8_t *)batch, sizeof(batch));
    }
    return lost;
}

static void check_slow_peer(struct test *t, const struct sink_ops *ops, int type, bool offline)
{
    static const int stop = 0;
    struct output_request request = { .offline = offline, .stop = &stop };
    struct reader reader = { .type = type, .delay_us = 1000 };
    struct err err = { 0 };
    char path[64];
    pthread_t thread;
    uint64_t lost;
    void *sink;

    snprintf(path, sizeof(path), "/tmp/ids-unit-%d.socket", (int)getpid());
    reader.fd = listen_at(t, path, type);
    sink = ops->open(&request, NULL, path, &err);
    CHECK(sink != NULL);
    if (offline)
        CHECK(pthread_create(&thread, NULL, read_slowly, &reader) == 0);
    lost = write_all(ops, sink);
    if (!offline)
        CHECK(pthread_create(&thread, NULL, read_slowly, &reader) == 0);
    /* Live, with room again, the next record goes through: the connection was kept. */
    while (ops->write(sink, (const uint8_t *)"end\n", 4) != 0)
        usleep(1000);
    pthread_join(thread, NULL);
    ops->close(sink);
    close(reader.fd);
    (void)unlink(path);
    CHECK_INT(reader.broken, 0);
    CHECK_INT(reader.lines + lost, RECORDS);
    if (offline)
        CHECK_INT(lost, 0);
    else
        CHECK(lost > 0);
}

TEST(sink_unix_offline_loses_none)
{
    check_slow_peer(t, &sink_unix_dgram, SOCK_DGRAM, true);
    check_slow_peer(t, &sink_unix_stream, SOCK_STREAM, true);
}

TEST(sink_unix_live_counts_records)
{
    check_slow_peer(t, &sink_unix_dgram, SOCK_DGRAM, false);
    check_slow_peer(t, &sink_unix_stream, SOCK_STREAM, false);
}

TEST(sink_file_counts_records)
{
    struct output_request request = { 0 };
    struct err err = { 0 };
    void *sink = sink_file.open(&request, NULL, "/dev/full", &err);

    CHECK(sink != NULL);
    CHECK_INT(write_all(&sink_file, sink), RECORDS);
    sink_file.close(sink);
}
