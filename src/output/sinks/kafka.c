/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/sinks/kafka.c - writes records to Apache Kafka, one message each, with librdkafka.
 *
 * It always has a queue (sinks/queue.h), whose thread alone calls it, so waiting for the broker
 * stops no packet thread. Each property of librdkafka can be set under `options`. A record counts
 * as lost when the library reports that it could not be delivered. */
#include "config.h"

#include "output/output.h"
#include "output/sink.h"

#ifdef HAVE_RDKAFKA
#include <librdkafka/rdkafka.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/memory/buf.h"
#include "base/report/log.h"

/* The type of a record is within these first bytes; the flow's id and the community id are before
 * it. */
#define HEAD_LEN 1024
#define TOPIC_MAX 249                   /* bytes of a topic's name that Kafka takes */
#define EVENT_TYPE "{event_type}"
#define POLL_MS 100
#define FINISH_STOPPED_MS 10000         /* at the end, for what the broker has not answered */

enum kafka_key { KEY_NONE, KEY_COMMUNITY_ID, KEY_FLOW_ID };

struct kafka_sink {
    rd_kafka_conf_t *conf;              /* until the producer has it */
    rd_kafka_t *producer;               /* NULL: not yet made */
    char *topic;                        /* may hold EVENT_TYPE */
    enum kafka_key key;
    const int *stop;
    bool offline;
    bool failing;                       /* already logged */
    uint64_t lost;                      /* records since they were last reported */
};

/* --- callbacks of the library
 * ------------------------------------------------------------------ */

static void delivered(rd_kafka_t *producer, const rd_kafka_message_t *message, void *arg)
{
    struct kafka_sink *s = arg;

    (void)producer;
    if (message->err == RD_KAFKA_RESP_ERR_NO_ERROR) {
        s->failing = false;
        return;
    }
    if (!s->failing)
        log_warning("output", "kafka: %s; records are lost", rd_kafka_err2str(message->err));
    s->failing = true;
    s->lost++;
}

static void logged(const rd_kafka_t *producer, int level, const char *facility, const char *text)
{
    (void)producer;
    if (level <= 4)
        log_warning("kafka", "%s: %s", facility, text);
    else
        log_info("kafka", "%s: %s", facility, text);
}

/* --- records ---------------------------------------------------------------------------------- */

/* The value of a member in the head of a record: text without its quotes, or a number. */
static struct slice member(const uint8_t *record, size_t len, const char *name)
{
    size_t head = MIN(len, (size_t)HEAD_LEN), name_len = strlen(name), n = 0;
    const uint8_t *at = memmem(record, head, name, name_len), *end = record + head;
    bool quoted;

    if (at == NULL)
        return (struct slice){ NULL, 0 };
    at += name_len;
    quoted = at < end && *at == '"';
    at += quoted;
    while (at + n < end && at[n] != '"' && at[n] != ',' && at[n] != '}')
        n++;
    return (struct slice){ .data = at, .len = (uint32_t)n };
}

static struct slice key_of(const struct kafka_sink *s, const uint8_t *record, size_t len)
{
    if (s->key == KEY_COMMUNITY_ID)
        return member(record, len, "\"community_id\":");
    if (s->key == KEY_FLOW_ID)
        return member(record, len, "\"flow_id\":");
    return (struct slice){ NULL, 0 };
}

/* Kafka's names hold letters, digits, '.', '_' and '-'; our event types are of these. */
static const char *topic_of(const struct kafka_sink *s, const uint8_t *record, size_t len,
                            char out[TOPIC_MAX + 1])
{
    const char *at = strstr(s->topic, EVENT_TYPE);
    struct slice type;

    if (at == NULL)
        return s->topic;
    type = member(record, len, "\"event_type\":");
    snprintf(out, TOPIC_MAX + 1, "%.*s%.*s%s", (int)(at - s->topic), s->topic, (int)type.len,
             (const char *)type.data, at + sizeof(EVENT_TYPE) - 1);
    return out;
}

static bool is_stopped(const struct kafka_sink *s)
{
    return s->stop != NULL && __atomic_load_n(s->stop, __ATOMIC_RELAXED) != 0;
}

/* Waits while the library's own queue is full. */
static void send_record(struct kafka_sink *s, const uint8_t *record, size_t len)
{
    struct slice key = key_of(s, record, len);
    char name[TOPIC_MAX + 1];
    const char *topic = topic_of(s, record, len, name);
    rd_kafka_resp_err_t error;

    do {
        error = rd_kafka_producev(s->producer, RD_KAFKA_V_TOPIC(topic),
                                  RD_KAFKA_V_KEY(key.data, key.len),
                                  RD_KAFKA_V_VALUE((void *)(uintptr_t)record, len),
                                  RD_KAFKA_V_MSGFLAGS(RD_KAFKA_MSG_F_COPY), RD_KAFKA_V_END);
        if (error == RD_KAFKA_RESP_ERR__QUEUE_FULL)
            (void)rd_kafka_poll(s->producer, POLL_MS);
    } while (error == RD_KAFKA_RESP_ERR__QUEUE_FULL && !is_stopped(s));
    if (error == RD_KAFKA_RESP_ERR_NO_ERROR)
        return;
    if (!s->failing)
        log_warning("output", "kafka: topic %s: %s", topic, rd_kafka_err2str(error));
    s->failing = true;
    s->lost++;
}

/* Called on the queue's thread after privileges have been dropped, so the library's threads have no
 * more. */
static bool has_producer(struct kafka_sink *s)
{
    char why[256];

    if (s->producer != NULL)
        return true;
    if (s->conf == NULL)
        return false;
    s->producer = rd_kafka_new(RD_KAFKA_PRODUCER, s->conf, why, sizeof(why));
    if (s->producer == NULL) {
        log_error("output", "kafka: %s", why);
        rd_kafka_conf_destroy(s->conf);
    }
    s->conf = NULL;
    return s->producer != NULL;
}

static uint64_t take_lost(struct kafka_sink *s)
{
    uint64_t lost = s->lost;

    s->lost = 0;
    return lost;
}

static uint64_t kafka_write(void *self, const uint8_t *data, size_t len)
{
    struct kafka_sink *s = self;

    if (!has_producer(s))
        return sink_records(data, len);
    while (len > 0) {
        const uint8_t *end = memchr(data, '\n', len);
        size_t record = end != NULL ? (size_t)(end - data) : len;

        send_record(s, data, record);
        data += MIN(record + 1, len);
        len -= MIN(record + 1, len);
    }
    (void)rd_kafka_poll(s->producer, 0);
    return take_lost(s);
}

/* A file waits until the library has delivered all or given up (message.timeout.ms); when the run
 * is stopped, as long as live traffic does. */
static uint64_t kafka_finish(void *self)
{
    struct kafka_sink *s = self;
    int left_ms = FINISH_STOPPED_MS;

    if (s->producer == NULL)
        return 0;
    while (rd_kafka_outq_len(s->producer) > 0 && left_ms > 0) {
        (void)rd_kafka_flush(s->producer, POLL_MS);
        if (!s->offline || is_stopped(s))
            left_ms -= POLL_MS;
    }
    if (rd_kafka_outq_len(s->producer) > 0) {
        (void)rd_kafka_purge(s->producer, RD_KAFKA_PURGE_F_QUEUE | RD_KAFKA_PURGE_F_INFLIGHT);
        (void)rd_kafka_flush(s->producer, POLL_MS);
    }
    return take_lost(s);
}

static void kafka_close(void *self)
{
    struct kafka_sink *s = self;

    if (s->producer != NULL)
        rd_kafka_destroy(s->producer);
    if (s->conf != NULL)
        rd_kafka_conf_destroy(s->conf);
    free(s->topic);
    free(s);
}

/* --- settings --------------------------------------------------------------------------------- */

static int set_property(struct kafka_sink *s, const struct conf_node *at, const char *name,
                        const char *value)
{
    char why[256];

    if (rd_kafka_conf_set(s->conf, name, value, why, sizeof(why)) == RD_KAFKA_CONF_OK)
        return 0;
    conf_fatal(at, "kafka: %s", why);
    return -1;
}

/* A key with dots is a path in the tree: its parts are put together again. */
static int set_options(struct kafka_sink *s, const struct conf_node *node, const char *prefix)
{
    int status = 0;

    CONF_EACH (child, node) {
        struct buf name = { 0 };

        buf_printf(&name, "%s%s%s", prefix, prefix[0] != '\0' ? "." : "", child->name);
        buf_add_u8(&name, 0);
        if (child->kind == CONF_SCALAR &&
            set_property(s, child, (const char *)name.data, child->value) < 0)
            status = -1;
        if (set_options(s, child, (const char *)name.data) < 0)
            status = -1;
        buf_fini(&name);
    }
    return status;
}

static int read_settings(struct kafka_sink *s, const struct conf_node *output)
{
    static const char *const keys[] = { [KEY_NONE] = "none", [KEY_COMMUNITY_ID] = "community-id",
                                        [KEY_FLOW_ID] = "flow-id", [KEY_FLOW_ID + 1] = NULL };
    const struct conf_node *node = conf_find(output, "kafka");
    const char *brokers = conf_string(node, "brokers", NULL);

    if (brokers == NULL) {
        conf_fatal(node != NULL ? node : output, "kafka: `brokers` is missing: HOST:PORT, ...");
        return -1;
    }
    s->topic = xstrdup(conf_string(node, "topic", "ids"));
    s->key = (enum kafka_key)conf_choice_or_end(node, "key", keys, KEY_NONE);
    rd_kafka_conf_set_opaque(s->conf, s);
    rd_kafka_conf_set_dr_msg_cb(s->conf, delivered);
    rd_kafka_conf_set_log_cb(s->conf, logged);
    if (set_property(s, conf_find(node, "brokers"), "bootstrap.servers", brokers) < 0 ||
        set_property(s, node, "client.id", "ids") < 0)
        return -1;
    return set_options(s, conf_find(node, "options"), "");
}

static void *kafka_open(const struct output_request *request, const struct conf_node *output,
                        const char *path, struct err *err)
{
    struct kafka_sink *s = xcalloc(1, sizeof(*s));

    (void)path;
    (void)err;
    s->conf = rd_kafka_conf_new();
    s->stop = request->stop;
    s->offline = request->offline;
    if (read_settings(s, output) == 0)
        return s;
    kafka_close(s);
    return NULL;
}

#else

static void *kafka_open(const struct output_request *request, const struct conf_node *output,
                        const char *path, struct err *err)
{
    (void)request;
    (void)path;
    (void)err;
    conf_error(conf_find(output, "filetype"), "filetype kafka: this is a build without librdkafka; "
               "install the package librdkafka-dev, then run configure and make again");
    return NULL;
}

static uint64_t kafka_write(void *self, const uint8_t *data, size_t len)
{
    (void)self;
    return sink_records(data, len);
}

static uint64_t kafka_finish(void *self)
{
    (void)self;
    return 0;
}

static void kafka_close(void *self)
{
    (void)self;
}

#endif

const struct sink_ops sink_kafka = {
    .name = "kafka", .is_own = true, .is_slow = true, .open = kafka_open, .write = kafka_write,
    .finish = kafka_finish, .close = kafka_close,
};
