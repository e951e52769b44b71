/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/flow/tag.c - tag: logs the packets after a match, of the flow or of a
 * host. */
#include "detect/rule/keyword.h"
#include "detect/rule/ruleset_private.h"
#include "detect/state/tag.h"

#define TAG_PACKETS_MAX 256 /* Suricata's DETECT_TAG_MAX_PKTS */

/* "N,packets|bytes|seconds". A higher number of packets is cut to TAG_PACKETS_MAX; bytes
 * and seconds have no limit but 32 bits. */
static int amount_parse(struct rule_parser *p, struct text *rest, struct tag_spec *spec)
{
    static const char *const metrics[] = { [TAG_PACKETS] = "packets", [TAG_BYTES] = "bytes",
                                           [TAG_SECONDS] = "seconds" };
    struct text count = { "", 0 }, metric = { "", 0 };
    uint64_t value;

    text_split(rest, ',', &count);
    text_split(rest, ',', &metric);
    for (unsigned i = 0; i < ARRAY_LEN(metrics); i++) {
        if (!text_equal_nocase(metric, metrics[i]) || !text_to_u64(count, UINT32_MAX, &value))
            continue;
        spec->metric = (uint8_t)i;
        spec->count = (uint32_t)(i == TAG_PACKETS ? MIN(value, TAG_PACKETS_MAX) : value);
        return 0;
    }
    return rule_error(p, "tag: expected a number and packets, bytes or seconds, found "
                      "\"%.*s,%.*s\"", TEXT(count), TEXT(metric));
}

/* Without an amount a tag covers TAG_PACKETS_MAX packets. A tag on a host is state that
 * other flows see, so the rule waits for the order of packets. A rule may have several
 * tags. */
static int tag_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct tag_spec *spec = arg, **last = &p->rule->tags;
    struct text rest = in, kind = { "", 0 }, side = { "dst", 3 };

    text_split(&rest, ',', &kind);
    spec->host = text_equal_nocase(kind, "host");
    if (!spec->host && !text_equal_nocase(kind, "session"))
        return rule_error(p, "tag: expected session or host, found \"%.*s\"", TEXT(kind));
    spec->metric = TAG_PACKETS;
    spec->count = TAG_PACKETS_MAX;
    if (rest.n > 0 && amount_parse(p, &rest, spec) < 0)
        return -1;
    text_split(&rest, ',', &side);
    if (!text_equal_nocase(side, "src") && !text_equal_nocase(side, "dst"))
        return rule_error(p, "tag: expected src or dst at the end, found \"%.*s\"", TEXT(side));
    spec->src = text_equal_nocase(side, "src");
    if (spec->host) {
        tag_expect_hosts(p->ruleset->tags);
        p->rule->uses_shared_state = true;
    }
    while (*last != NULL)
        last = &(*last)->next;
    *last = spec;
    return 0;
}

/* Does nothing here: the tag starts with the alert, and a threshold may suppress that. See
 * alert_finish(). */
static bool tag_match(const struct match_input *in UNUSED, const void *arg UNUSED)
{
    return true;
}

const struct keyword_ops keyword_tag = {
    .name = "tag",
    .doc = "log the packets that follow, of the flow or a host",
    .syntax = "session|host[,<n>,packets|bytes|seconds[,src|dst]]",
    .features = "compatible with IP only rule",
    .point = POINT_POST,
    .arg_size = sizeof(struct tag_spec),
    .parse = tag_parse,
    .match = tag_match,
};
