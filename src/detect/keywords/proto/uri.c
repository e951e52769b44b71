/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/proto/uri.c - urilen and uricontent of HTTP, older words for tests on the URI. */
#include <strings.h>

#include "detect/rule/program.h"
#include "detect/rule/ruleset_private.h"

/* NULL with an error when no parser of this build declares the buffer. */
static const struct buffer *uri_buffer(struct rule_parser *p, bool raw)
{
    const struct buffer *b = buffer_find(p->ruleset, raw ? TEXT_LITERAL("http.uri.raw")
                                                         : TEXT_LITERAL("http.uri"));

    if (b == NULL)
        rule_error(p, "%s: HTTP is not available", p->keyword->name);
    return b;
}

/* Runs `parse` with the URI as the current buffer. Another sticky buffer ends with it. */
static int in_uri(struct rule_parser *p, struct text in, const struct buffer *buffer,
                  int (*parse)(struct rule_parser *p, struct text in, void *arg))
{
    struct rule_list *before = p->current, *list;
    int result;

    if (buffer == NULL)
        return -1;
    p->current = list = rule_buffer_list(p, buffer);
    result = list != NULL ? parse(p, in, NULL) : -1;
    p->current = before;
    rule_end_buffer(p, list);
    return result;
}

/* 16 bits, as in Suricata; a longer URI counts as one of 65,535 bytes. */
static int urilen_op(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct rule_op *op = op_append(p, OP_URILEN, false);

    if (op == NULL)
        return -1;
    return int_match_take(&in, 16, &op->size) ? 0 :
           rule_error(p, "urilen: expected a number or a range, found \"%.*s\"", TEXT(in));
}

/* "raw" after the length means the URI as it was sent. Anything else after it, "norm" or
 * not, has no effect. */
static int urilen_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    struct text word = in;
    struct int_match size;
    bool raw = int_match_take(&word, 16, &size) && text_starts(word, ",") &&
               text_starts(text_trim(text_from(word, 1)), "raw");

    return in_uri(p, in, uri_buffer(p, raw), urilen_op);
}

const struct keyword_ops keyword_urilen = {
    .name = "urilen",
    .doc = "how long the URI is",
    .syntax = "<number>[,norm|raw]",
    .features = "supports firewall",
    .point = POINT_BUFFER,
    .parse = urilen_parse,
};

extern const struct keyword_ops keyword_content;

/* legacy.uricontent lets an operator find rules that still use the old name: any value but
 * "enabled" makes them errors. */
static int uricontent_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    const char *legacy = conf_string(p->ruleset->conf, "legacy.uricontent", "enabled");

    if (strcasecmp(legacy, "enabled") != 0)
        return rule_error(p, "uricontent is off (legacy.uricontent: %s): write http.uri and "
                          "content", legacy);
    if (p->current != NULL)
        return rule_error(p, "\"uricontent\" keyword seen with a sticky buffer still set.  Reset "
                          "sticky buffer with pkt_data before using the modifier.");
    if (rule_set_app_proto(p, APP_PROTO_http1) < 0)
        return -1;
    return in_uri(p, in, uri_buffer(p, false), keyword_content.parse);
}

const struct keyword_ops keyword_uricontent = {
    .name = "uricontent",
    .doc = "a content of the URI, written http.uri now",
    .syntax = "[!]\"<text, bytes as |hex|>\"",
    .point = POINT_BUFFER,
    .negatable = true,
    .quotes = true,
    .quotes_required = true,
    .parse = uricontent_parse,
};
