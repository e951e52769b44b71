/* SPDX-License-Identifier: GPL-2.0-or-later */
/* Tests of output/metrics and output/metric_families: names, labels and both formats. */
#include "output/metric_families.h"
#include "output/metrics.h"

#include <string.h>

#include "base/report/counters.h"
#include "base/test.h"

TEST(metric_families_find)
{
    struct metric_part part[METRIC_LABELS_MAX];
    const struct metric_family *f = metric_family_find("decoder.event.ipv4.trunc_pkt", part);

    CHECK(f != NULL && strcmp(f->name, "decoder_events") == 0);
    CHECK(part[0].len == 4 && memcmp(part[0].at, "ipv4", 4) == 0);
    CHECK_STRING(part[1].at, "trunc_pkt");
    f = metric_family_find("decoder.pkts", part);
    CHECK(f != NULL && f->by_thread);
    f = metric_family_find("decoder.ipv4", part);
    CHECK(f != NULL && strcmp(f->name, "decoder_layer_pkts") == 0);
    CHECK(metric_family_find("decoder.", part) == NULL);
    CHECK(metric_family_find("nothing.of.ours", part) == NULL);
}

/* The text with a zero byte behind it. */
static const char *text_of(struct buf *out, enum metrics_format format)
{
    struct metrics_text m = { .out = out, .format = format };

    buf_clear(out);
    output_metrics(&m, NULL);
    metrics_end(&m);
    buf_add_u8(out, 0);
    return (const char *)out->data;
}

TEST(metrics_formats)
{
    counter_id decoded = counter_register("decoder.pkts", COUNTER_SUM);
    counter_id busy = counter_register("engine.busy_permille", COUNTER_GAUGE);
    struct counters *c = counters_new("W\"1");
    struct buf out = { 0 };
    const char *text;

    counter_add(c, decoded, 12);
    counter_set(c, busy, 250);
    text = text_of(&out, METRICS_PROMETHEUS);
    CHECK(strstr(text, "# TYPE ids_decoder_pkts_total counter\n") != NULL);
    CHECK(strstr(text, "\nids_decoder_pkts_total{thread=\"W\\\"1\"} 12\n") != NULL);
    CHECK(strstr(text, "# TYPE ids_engine_busy_ratio gauge\n") != NULL);
    CHECK(strstr(text, "\nids_engine_busy_ratio{thread=\"W\\\"1\"} 0.250000\n") != NULL);
    CHECK(strstr(text, "# EOF") == NULL);
    text = text_of(&out, METRICS_OPENMETRICS);
    CHECK(strstr(text, "# TYPE ids_decoder_pkts counter\n") != NULL);
    CHECK(strstr(text, "\nids_decoder_pkts_total{thread=\"W\\\"1\"} 12\n") != NULL);
    CHECK(strcmp(text + strlen(text) - 6, "# EOF\n") == 0);
    counters_free(c);
    buf_fini(&out);
}

/* A family's head stands once, before all its samples. */
TEST(metrics_families_complete)
{
    counter_id first = counter_register("app_layer.flow.one", COUNTER_SUM);
    counter_id second = counter_register("app_layer.flow.two", COUNTER_SUM);
    struct counters *c = counters_new("W1");
    struct buf out = { 0 };
    const char *text, *head, *after;

    counter_add(c, first, 1);
    counter_add(c, second, 2);
    text = text_of(&out, METRICS_PROMETHEUS);
    head = strstr(text, "# TYPE ids_app_flows_total counter\n");
    CHECK(head != NULL && strstr(head + 1, "# TYPE ids_app_flows_total ") == NULL);
    CHECK(strstr(head, "ids_app_flows_total{app=\"one\"} 1\n") != NULL);
    after = strstr(head, "# HELP ");
    head = strstr(head, "ids_app_flows_total{app=\"two\"} 2\n");
    CHECK(head != NULL && (after == NULL || head < after));
    counters_free(c);
    buf_fini(&out);
}
