/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/packet/events.c - decode-event, stream-event, engine-event: anomalies
 * that the decode and stream modules found in the packet. */
#include "base/report/log.h"
#include "detect/rule/keyword.h"

#include <stdio.h>

/* An event that older rules name and that no module raises any more. The message carries
 * no position, as in Suricata, because the rule was right when it was written. */
static int removed_event(struct rule_parser *p, struct text full_name)
{
    enum log_level level = p->strict ? LOG_LEVEL_ERROR : LOG_LEVEL_WARNING;

    log_at(level, "detect", NO_LOCATION, "%s keyword no longer supports event \"%.*s\"",
           p->keyword->name, TEXT(full_name));
    if (!p->strict)
        return KEYWORD_IGNORE_RULE;
    return rule_error(p, "%s: event \"%.*s\" no longer exists", p->keyword->name,
                      TEXT(full_name));
}

/* kind: the prefix that the rule leaves out ("decoder" in decode-event); NULL: the name is
 * complete. */
static int event_find(struct rule_parser *p, const char *kind, struct text in, void *arg)
{
    enum packet_event event = kind == NULL ? packet_event_find(in) :
                              packet_event_find_short(kind, in);
    const char *dot = kind == NULL ? "" : ".";
    char full[PACKET_EVENT_NAME_MAX];

    snprintf(full, sizeof(full), "%s%s%.*s", kind != NULL ? kind : "", dot, TEXT(in));
    if (text_equal(text_of(full), "decoder.udp.hlen_invalid"))
        return removed_event(p, text_of(full));
    if (event == PACKET_EVENT_NONE)
        return rule_error(p, "%s: there is no event \"%.*s\"", p->keyword->name, TEXT(in));
    *(uint16_t *)arg = (uint16_t)event;
    return 0;
}

static int decode_event_parse(struct rule_parser *p, struct text in, void *arg)
{
    return event_find(p, "decoder", in, arg);
}

static int stream_event_parse(struct rule_parser *p, struct text in, void *arg)
{
    return event_find(p, "stream", in, arg);
}

static int engine_event_parse(struct rule_parser *p, struct text in, void *arg)
{
    return event_find(p, NULL, in, arg);
}

static bool event_match(const struct match_input *in, const void *arg)
{
    return packet_has_event(in->packet, (enum packet_event)*(const uint16_t *)arg);
}

#define EVENTS_SHOWN 6

/* Those of the packet that the keyword can name. */
static bool event_tell(const struct rule_test *test, const struct match_input *in, struct buf *out)
{
    bool is_stream = packet_event_is_stream((enum packet_event)*(const uint16_t *)test->arg);
    unsigned count = 0;

    buf_printf(out, "the %sevents of the packet are: ", is_stream ? "stream " : "");
    for (unsigned i = 0; i < PACKET_EVENT_COUNT && count < EVENTS_SHOWN; i++)
        if (packet_has_event(in->packet, (enum packet_event)i) &&
            packet_event_is_stream((enum packet_event)i) == is_stream)
            buf_printf(out, "%s%s", count++ > 0 ? ", " : "",
                       packet_event_name((enum packet_event)i));
    if (count == 0)
        buf_add_string(out, "none");
    return true;
}

const struct keyword_ops keyword_decode_event = {
    .name = "decode-event",
    .doc = "an anomaly that decoding found",
    .syntax = "<event>",
    .features = "compatible with decoder event only rule,prefilter",
    .point = POINT_PACKET,
    .of_packet = true,
    .tests_event = true,
    .arg_size = sizeof(uint16_t),
    .parse = decode_event_parse,
    .match = event_match,
    .tell = event_tell,
};

const struct keyword_ops keyword_stream_event = {
    .name = "stream-event",
    .doc = "an anomaly that TCP tracking found",
    .syntax = "<event>",
    .features = "prefilter",
    .point = POINT_PACKET,
    .of_packet = true,
    .tests_event = true,
    .arg_size = sizeof(uint16_t),
    .parse = stream_event_parse,
    .match = event_match,
    .tell = event_tell,
};

const struct keyword_ops keyword_engine_event = {
    .name = "engine-event",
    .doc = "an event by its full name",
    .syntax = "decoder.<event>\n"
              "stream.<event>",
    .point = POINT_PACKET,
    .of_packet = true,
    .tests_event = true,
    .arg_size = sizeof(uint16_t),
    .parse = engine_event_parse,
    .match = event_match,
    .tell = event_tell,
};
