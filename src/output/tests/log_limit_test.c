/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of output/log_limit: what it leaves out is written when the minute is over, also without
 * another packet, and a flow without memory for its sum pays from the burst. */
#include "output/log_limit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/memory/traffic_memory.h"
#include "base/test.h"
#include "conf/conf.h"
#include "detect/rule/rule.h"
#include "flow/flow.h"
#include "output/output_private.h"

#define MINUTE UINT64_C(60000000)

struct fixture {
    char path[64];
    struct conf *conf;
    struct output_request request;
    struct output_conf *outputs;
    struct counters *counters;
    struct render render;
    struct flow flow;
    struct packet packet;
};

/* An engine that listens, with an eve-log. A flow may write 10 times its bytes, and all together
 * 100 bytes in a minute. */
static void fixture_open(struct test *t, struct fixture *x)
{
    char yaml[512];
    struct err err = { 0 };
    int fd;

    memset(x, 0, sizeof(*x));
    snprintf(x->path, sizeof(x->path), "/tmp/log-limit-test.XXXXXX");
    fd = mkstemp(x->path);
    CHECK(fd >= 0);
    close(fd);
    snprintf(yaml, sizeof(yaml), "log-limit: {by-byte: 10, burst: 100}\n"
             "stats: {enabled: yes, interval: 8}\n"
             "outputs:\n  - eve-log: {enabled: yes, filename: %s, types: [], queue: no}\n", x->path);
    x->conf = conf_new();
    CHECK(conf_load_string(x->conf, yaml, "test.yaml", &err) == 0);
    x->request = (struct output_request){ .conf = conf_root(x->conf), .log_dir = "/tmp" };
    x->outputs = output_conf_new(&x->request, &err);
    CHECK(x->outputs != NULL);
    x->counters = counters_new("log-limit-test");
    x->render = (struct render){ .conf = x->outputs, .counters = x->counters };
    x->flow.bytes[TO_SERVER] = 60;
    x->packet.flow = &x->flow;
    x->packet.time_us = 100 * MINUTE;
}

static void fixture_close(struct fixture *x)
{
    output_conf_free(x->outputs);
    flow_ext_free(&x->flow);
    conf_free(x->conf);
    (void)unlink(x->path);
}

/* Returns the bytes of the log in a buffer that the next call overwrites. */
static const char *log_of(const struct fixture *x)
{
    static char text[4096];
    FILE *file = fopen(x->path, "r");
    size_t n = file != NULL ? fread(text, 1, sizeof(text) - 1, file) : 0;

    text[n] = '\0';
    if (file != NULL)
        fclose(file);
    return text;
}

static void leave_out(struct fixture *x, const struct rule *rule)
{
    while (log_limit_take(&x->render, &x->packet, 90))
        continue;
    log_limit_count(&x->render, &x->packet, LEFT_OUT_ALERT, rule);
}

TEST(log_limit_writes_when_the_minute_is_over)
{
    static const struct rule rule = { .gid = 1, .sid = 7 };
    struct fixture x;

    fixture_open(t, &x);
    leave_out(&x, &rule);
    output_stats(x.outputs, 100 * MINUTE + MINUTE / 2, 30);
    CHECK_STRING(log_of(&x), "");
    output_stats(x.outputs, 101 * MINUTE, 60);
    CHECK(strstr(log_of(&x), "\"event_type\":\"left_out\"") != NULL);
    CHECK(strstr(log_of(&x), "{\"gid\":1,\"signature_id\":7,\"alerts\":1}") != NULL);
    fixture_close(&x);
}

/* What a capture file leaves out depends on its packets alone, not on the clock. */
TEST(log_limit_of_files_ignores_the_clock)
{
    struct fixture x;

    fixture_open(t, &x);
    x.outputs->request.offline = true;
    leave_out(&x, NULL);
    output_stats(x.outputs, 200 * MINUTE, 60);
    CHECK_STRING(log_of(&x), "");
    fixture_close(&x);
}

/* 60 bytes pay for 600, of which the sum needs memory; the burst has 100. */
TEST(log_limit_without_memory_uses_the_burst)
{
    struct fixture x;

    fixture_open(t, &x);
    alloc_failures_set((struct alloc_failures){ .every = 1 });
    CHECK(log_limit_take(&x.render, &x.packet, 60));
    CHECK(!log_limit_take(&x.render, &x.packet, 60));
    CHECK(x.flow.ext == NULL);
    alloc_failures_set((struct alloc_failures){ 0 });
    CHECK(log_limit_take(&x.render, &x.packet, 500));
    CHECK(!log_limit_take(&x.render, &x.packet, 200));
    fixture_close(&x);
}

TEST(log_limit_of_files_and_lines)
{
    struct fixture x;

    fixture_open(t, &x);
    x.flow.bytes[TO_CLIENT] = LOG_LIMIT_FILE / 10;
    CHECK(log_limit_take_file(&x.render, &x.packet, 500));
    CHECK(!log_limit_take_file(&x.render, &x.packet, 0));
    CHECK_INT(x.outputs->log_limit.now->count[LEFT_OUT_OTHER], 1);
    log_limit_charge(&x.packet, 1000);
    CHECK(!log_limit_allows(&x.render, &x.packet, 0));
    fixture_close(&x);
}
