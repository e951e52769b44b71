/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/keywords/meta/metadata.c - free key and value pairs, for alerts and for tools. */
#include "detect/rule/keyword.h"

/* They are read when the rule is complete, see rule/metadata.c. */
static int metadata_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    ARRAY_PUSH(&p->metadata, in);
    return 0;
}

const struct keyword_ops keyword_metadata = {
    .name = "metadata",
    .doc = "key and value pairs, copied to alerts when asked for",
    .syntax = "<key> <value>[,<key> <value>]...",
    .point = POINT_NONE,
    .parse = metadata_parse,
};
