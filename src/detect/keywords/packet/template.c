/* SPDX-License-Identifier: GPL-2.0-or-later */
/* template - the first and the last byte of a packet's payload, by number. Suricata's
 * example of how to add a keyword; published rules use it. */
#include "detect/rule/keyword.h"

struct template_arg { uint8_t first, last; };

/* Both numbers are required. */
static int template_parse(struct rule_parser *p, struct text in, void *arg)
{
    struct template_arg *a = arg;
    struct text rest = in, word;
    uint64_t first = 0, last = 0;

    if (!text_split(&rest, ',', &word) || !text_to_decimal(word, UINT8_MAX, &first) ||
        !text_split(&rest, ',', &word) || !text_to_decimal(word, UINT8_MAX, &last) || rest.n > 0)
        return rule_error(p, "template: expected FIRST,LAST, numbers up to 255, found \"%.*s\"",
                          TEXT(in));
    a->first = (uint8_t)first;
    a->last = (uint8_t)last;
    return 0;
}

static bool template_match(const struct match_input *in, const void *arg)
{
    const struct packet *p = in->packet;
    const struct template_arg *a = arg;

    return p->payload_len > 0 && p->payload[0] == a->first &&
           p->payload[p->payload_len - 1] == a->last;
}

const struct keyword_ops keyword_template = {
    .name = "template",
    .doc = "first and last byte of the payload",
    .syntax = "<first>,<last>",
    .point = POINT_PACKET,
    .needs_packet = true,
    .arg_size = sizeof(struct template_arg),
    .parse = template_parse,
    .match = template_match,
};
