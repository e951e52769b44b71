/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of output/output.c and eve-log: loggers that only want notable packets are asked for each
 * of these, and not for others. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "app/conf.h"
#include "base/array.h"
#include "base/test.h"
#include "conf/conf.h"
#include "detect/rule/alert.h"
#include "output/output.h"
#include "output/output_private.h"
#include "packet/inspection.h"

static unsigned asked;                  /* how often the logger of this test was asked */

static void *count_open(const struct output_request *request UNUSED,
                        struct output_conf *conf UNUSED, const struct conf_node *node UNUSED,
                        struct err *err UNUSED)
{
    return &asked;
}

static void count_packet(struct render *r UNUSED, void *self UNUSED, struct packet *p UNUSED)
{
    asked++;
}

static enum packets_wanted wants_notable(const void *self UNUSED)
{
    return PACKETS_NOTABLE;
}

static const struct logger_ops counts_notable = {
    .name = "test-notable", .open = count_open, .packet = count_packet,
    .wants_packets = wants_notable,
};
static const struct logger_ops counts_all = {
    .name = "test-all", .open = count_open, .packet = count_packet,
};

/* How many packets the outputs in `yaml` are asked for: one without anything, and six notable
 * ones. */
static unsigned asked_for(struct test *t, const char *yaml, unsigned *plain)
{
    static const struct packet_var var;
    struct packet packet[7];
    struct conf *conf = conf_new();
    struct app_conf *app;
    struct counters *counters = counters_new("packets-wanted-test");
    struct output_request request;
    struct output_conf *outputs;
    struct output_thread *thread;
    struct err err = { 0 };

    CHECK(conf_load_string(conf, yaml, "test.yaml", &err) == 0);
    app = app_conf_new(conf_root(conf), false, &err);
    request = (struct output_request){ .conf = conf_root(conf), .app = app, .log_dir = "/tmp" };
    outputs = output_conf_new(&request, &err);
    thread = output_thread_new(outputs, counters);
    memset(packet, 0, sizeof(packet));
    detect_slot(&packet[1])->alert_count = 1;
    detect_slot(&packet[2])->vars = &var;
    packet_set_event(&packet[3], (enum packet_event)0);
    packet[4].flags = PACKET_TAGGED;
    packet_drop(&packet[5], DROP_FLOW_DROP);
    packet[6].action = ACTION_REJECT;
    asked = 0;
    for (unsigned i = 0; i < ARRAY_LEN(packet); i++) {
        struct inspection in = { .packet = &packet[i] };

        output_render(thread, &in);
        if (i == 0)
            *plain = asked;
    }
    output_thread_free(thread);
    output_conf_free(outputs);
    app_conf_free(app);
    counters_free(counters);
    conf_free(conf);
    return asked;
}

TEST(packets_wanted_by_loggers)
{
    struct err err = { 0 };
    unsigned plain;

    CHECK(logger_register(&counts_notable, &err) == 0);
    CHECK(logger_register(&counts_all, &err) == 0);
    CHECK_INT(asked_for(t, "outputs:\n  - test-notable: {enabled: yes}\n", &plain), 6);
    CHECK_INT(plain, 0);
    CHECK_INT(asked_for(t, "outputs:\n  - test-all: {enabled: yes}\n", &plain), 7);
    CHECK_INT(plain, 1);
    CHECK_INT(asked_for(t, "outputs:\n  - test-all: {enabled: yes}\n"
                           "  - test-notable: {enabled: yes}\n", &plain), 14);
    CHECK_INT(plain, 2);
}

/* What the outputs of an eve-log with these types want. */
static enum packets_wanted eve_wants(struct test *t, const char *types, const char *more)
{
    char path[] = "/tmp/packets-wanted-test.XXXXXX", yaml[512];
    struct conf *conf = conf_new();
    struct app_conf *app;
    struct output_request request;
    struct output_conf *outputs;
    enum packets_wanted wanted;
    struct err err = { 0 };
    int fd = mkstemp(path);

    CHECK(fd >= 0);
    close(fd);
    snprintf(yaml, sizeof(yaml), "outputs:\n  - eve-log: {enabled: yes, filename: %s, "
             "types: [%s]%s, queue: no}\n", path, types, more);
    CHECK(conf_load_string(conf, yaml, "test.yaml", &err) == 0);
    app = app_conf_new(conf_root(conf), false, &err);
    request = (struct output_request){ .conf = conf_root(conf), .app = app, .log_dir = "/tmp" };
    outputs = output_conf_new(&request, &err);
    wanted = outputs->packets_wanted;
    output_conf_free(outputs);
    app_conf_free(app);
    conf_free(conf);
    (void)unlink(path);
    return wanted;
}

TEST(packets_wanted_by_eve)
{
    CHECK_INT(eve_wants(t, "http, flow", ""), PACKETS_NONE);
    CHECK_INT(eve_wants(t, "http, alert, drop, metadata", ""), PACKETS_NOTABLE);
    CHECK_INT(eve_wants(t, "alert, anomaly", ""), PACKETS_ALL);
    CHECK_INT(eve_wants(t, "alert, arp", ""), PACKETS_ALL);
    CHECK_INT(eve_wants(t, "http", ", ethernet: yes"), PACKETS_ALL);
}
