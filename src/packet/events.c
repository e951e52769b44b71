/* SPDX-License-Identifier: GPL-2.0-or-later */
/* packet/events.c - names of packet events, and events by name. */
#include "packet/events.h"

#include <stdio.h>
#include <string.h>

static const char *const event_names[PACKET_EVENT_COUNT] = {
#define X(id, name) [EVENT_##id] = name,
    PACKET_EVENTS(X)
#undef X
};

/* Former names, which older rules still use. */
static const struct {
    const char *old;
    enum packet_event event;
} former_names[] = {
    { "stream.est_synack_resend_with_different_ack", EVENT_STREAM_EST_SYNACK_RESEND_WITH_DIFF_ACK },
    { "stream.3whs_synack_resend_with_different_ack",
      EVENT_STREAM_3WHS_SYNACK_RESEND_WITH_DIFF_ACK },
};

const char *packet_event_name(enum packet_event event)
{
    return (unsigned)event < PACKET_EVENT_COUNT ? event_names[event] : NULL;
}

/* Only called while rules are loaded, so a linear search is enough. */
enum packet_event packet_event_find(struct text name)
{
    for (unsigned i = 0; i < PACKET_EVENT_COUNT; i++)
        if (text_equal_nocase(name, event_names[i]))
            return (enum packet_event)i;
    for (unsigned i = 0; i < ARRAY_LEN(former_names); i++)
        if (text_equal_nocase(name, former_names[i].old))
            return former_names[i].event;
    return PACKET_EVENT_NONE;
}

/* For `decode-event:` and `stream-event:`, whose values lack the prefix. */
enum packet_event packet_event_find_short(const char *kind, struct text name)
{
    char full[PACKET_EVENT_NAME_MAX];
    int n = snprintf(full, sizeof(full), "%s.%.*s", kind, TEXT(name));

    if (n < 0 || (size_t)n >= sizeof(full))
        return PACKET_EVENT_NONE;
    return packet_event_find((struct text){ full, (size_t)n });
}

/* Decoder events go below a prefix that is configurable (stats.decoder-events-prefix), as in
 * Suricata. */
const char *packet_event_counter_name(enum packet_event event, const char *prefix,
                                      char out[PACKET_EVENT_NAME_MAX])
{
    const char *name = packet_event_name(event);

    if (name == NULL)
        return NULL;
    if (event != EVENT_TOO_MANY_LAYERS && strncmp(name, "decoder.", strlen("decoder.")) == 0)
        snprintf(out, PACKET_EVENT_NAME_MAX, "%s.%s", prefix, name + strlen("decoder."));
    else
        snprintf(out, PACKET_EVENT_NAME_MAX, "%s", name);
    return out;
}
