/* SPDX-License-Identifier: GPL-2.0-or-later */
/* frame - the tests after it apply to one kind of application-layer frame:
 * "http1.request", or "request" in a rule whose header names the protocol. */
#include "detect/rule/program.h"

#include <string.h>

/* Returns the index in the protocol's list of frames; -1: no such frame. */
static int frame_type(const struct app_proto *proto, struct text name)
{
    for (unsigned i = 0; proto != NULL && proto->frames != NULL && proto->frames[i] != NULL; i++)
        if (text_equal(name, proto->frames[i]))
            return (int)i;
    return -1;
}

static const struct app_proto *rule_proto(const struct rule *rule)
{
    return rule->app_proto == APP_PROTO_UNKNOWN ? NULL : app_proto_by_id(rule->app_proto);
}

/* Splits at the first dot: names of protocols contain none, names of frames may. */
static const struct app_proto *named_proto(struct text in, struct text *rest)
{
    const char *dot = memchr(in.p, '.', in.n);
    enum app_proto_id id;

    if (dot == NULL || !app_proto_by_rule_name((struct text){ in.p, (size_t)(dot - in.p) }, &id))
        return NULL;
    *rest = text_from(in, (size_t)(dot - in.p) + 1);
    return app_proto_by_id(id);
}

/* The rule's own protocol is tried first, because a frame's name may look like
 * "protocol.name". */
static int frame_parse(struct rule_parser *p, struct text in, void *arg UNUSED)
{
    const struct app_proto *proto = rule_proto(p->rule);
    struct text name = in;
    int type = frame_type(proto, in);

    if (type < 0) {
        proto = named_proto(in, &name);
        type = frame_type(proto, name);
    }
    if (type < 0)
        return rule_error(p, "unknown frame '%.*s'", TEXT(in));
    return rule_set_buffer(p, buffer_frame(p->ruleset, proto, (unsigned)type));
}

const struct keyword_ops keyword_frame = {
    .name = "frame",
    .doc = "what follows looks into frames of a protocol",
    .syntax = "[<protocol>.]<frame>",
    .features = "sticky buffer",
    .point = POINT_NONE,
    .parse = frame_parse,
};
