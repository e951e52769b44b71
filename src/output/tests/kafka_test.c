/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of output/sinks/kafka against librdkafka's own mock cluster: topics, keys, and a broker
 * that refuses. */
#include "config.h"

#include "base/test.h"

#ifdef HAVE_RDKAFKA
#include <librdkafka/rdkafka.h>
#include <librdkafka/rdkafka_mock.h>
#include <stdio.h>
#include <string.h>

#include "output/output.h"
#include "output/sink.h"

extern const struct sink_ops sink_kafka;

#define ALERT "{\"flow_id\":77,\"event_type\":\"alert\",\"community_id\":\"1:ab=\",\"n\":1}\n"
#define FLOW "{\"flow_id\":78,\"event_type\":\"flow\",\"n\":2}\n"

/* A cluster of one broker, and the configuration of a sink that writes to it. */
struct cluster {
    rd_kafka_t *owner;
    rd_kafka_mock_cluster_t *mock;
    struct conf *conf;
    struct output_request request;
};

static void cluster_open(struct test *t, struct cluster *c, const char *settings)
{
    char yaml[1024], why[256];
    struct err err = { 0 };

    c->owner = rd_kafka_new(RD_KAFKA_PRODUCER, rd_kafka_conf_new(), why, sizeof(why));
    c->mock = rd_kafka_mock_cluster_new(c->owner, 1);
    c->conf = conf_new();
    snprintf(yaml, sizeof(yaml), "kafka:\n  brokers: \"%s\"\n%s",
             rd_kafka_mock_cluster_bootstraps(c->mock), settings);
    CHECK(conf_load_string(c->conf, yaml, "kafka.yaml", &err) == 0);
    c->request = (struct output_request){ .offline = true };
}

static void cluster_close(struct cluster *c)
{
    conf_free(c->conf);
    rd_kafka_mock_cluster_destroy(c->mock);
    rd_kafka_destroy(c->owner);
}

static void *open_sink(struct cluster *c)
{
    struct err err = { 0 };

    return sink_kafka.open(&c->request, conf_root(c->conf), "", &err);
}

static void write_text(void *sink, const char *text, uint64_t *lost)
{
    *lost += sink_kafka.write(sink, (const uint8_t *)text, strlen(text));
}

/* The first message of a topic, its key and value as text; false: there is none in time. */
static bool read_first(struct cluster *c, const char *topic, char key[64], char value[256])
{
    rd_kafka_conf_t *conf = rd_kafka_conf_new();
    rd_kafka_topic_partition_list_t *topics = rd_kafka_topic_partition_list_new(1);
    rd_kafka_message_t *m = NULL;
    rd_kafka_t *consumer;
    char why[256];
    bool found = false;

    rd_kafka_conf_set(conf, "bootstrap.servers", rd_kafka_mock_cluster_bootstraps(c->mock), why,
                      sizeof(why));
    rd_kafka_conf_set(conf, "group.id", topic, why, sizeof(why));
    rd_kafka_conf_set(conf, "auto.offset.reset", "earliest", why, sizeof(why));
    consumer = rd_kafka_new(RD_KAFKA_CONSUMER, conf, why, sizeof(why));
    rd_kafka_poll_set_consumer(consumer);
    rd_kafka_topic_partition_list_add(topics, topic, RD_KAFKA_PARTITION_UA);
    rd_kafka_subscribe(consumer, topics);
    for (unsigned i = 0; i < 300 && !found; i++) {
        m = rd_kafka_consumer_poll(consumer, 100);
        found = m != NULL && m->err == RD_KAFKA_RESP_ERR_NO_ERROR;
        if (found) {
            snprintf(key, 64, "%.*s", (int)m->key_len, m->key != NULL ? (char *)m->key : "");
            snprintf(value, 256, "%.*s", (int)m->len, (char *)m->payload);
        }
        if (m != NULL)
            rd_kafka_message_destroy(m);
    }
    rd_kafka_consumer_close(consumer);
    rd_kafka_topic_partition_list_destroy(topics);
    rd_kafka_destroy(consumer);
    return found;
}

/* The library makes its threads by thrd_create(3), which ThreadSanitizer does not know: they have no
 * state of it, and end the program. */
static bool may_run(struct test *t)
{
#ifdef __SANITIZE_THREAD__
    t->skipped = true;
#endif
    return !t->skipped;
}

TEST(kafka_topics_and_keys)
{
    struct cluster c;
    uint64_t lost = 0;
    char key[64], value[256];
    void *sink;

    if (!may_run(t))
        return;
    cluster_open(t, &c, "  topic: ids-{event_type}\n  key: flow-id\n");
    sink = open_sink(&c);
    CHECK(sink != NULL);
    write_text(sink, ALERT FLOW, &lost);
    lost += sink_kafka.finish(sink);
    CHECK_INT(lost, 0);
    CHECK(read_first(&c, "ids-alert", key, value));
    CHECK_STRING(key, "77");
    CHECK(strlen(value) == strlen(ALERT) - 1 && memcmp(value, ALERT, strlen(value)) == 0);
    CHECK(read_first(&c, "ids-flow", key, value));
    CHECK_STRING(key, "78");
    sink_kafka.close(sink);
    cluster_close(&c);
}

/* A run on files that is stopped still sends what it has. */
TEST(kafka_stopped_run_sends)
{
    struct cluster c;
    uint64_t lost = 0;
    int stop = 1;
    void *sink;

    if (!may_run(t))
        return;
    cluster_open(t, &c, "");
    c.request.stop = &stop;
    sink = open_sink(&c);
    CHECK(sink != NULL);
    write_text(sink, ALERT FLOW ALERT, &lost);
    lost += sink_kafka.finish(sink);
    CHECK_INT(lost, 0);
    sink_kafka.close(sink);
    cluster_close(&c);
}

/* What the library gives up is lost, and counted by record. */
TEST(kafka_lost_is_counted)
{
    struct cluster c;
    uint64_t lost = 0;
    void *sink;

    if (!may_run(t))
        return;
    cluster_open(t, &c, "  options:\n    message.timeout.ms: 300\n    retries: 0\n");
    sink = open_sink(&c);
    CHECK(sink != NULL);
    rd_kafka_mock_broker_set_down(c.mock, 1);
    write_text(sink, ALERT FLOW ALERT, &lost);
    lost += sink_kafka.finish(sink);
    CHECK_INT(lost, 3);
    sink_kafka.close(sink);
    cluster_close(&c);
}

TEST(kafka_settings)
{
    struct cluster c;

    if (!may_run(t))
        return;
    cluster_open(t, &c, "  options:\n    no.such.property: 1\n");
    CHECK(open_sink(&c) == NULL);
    cluster_close(&c);
}
#endif
