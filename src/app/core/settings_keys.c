/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/settings_keys.c - the keys of suricata.yaml that follow from the list of protocols. Each
 * protocol can be enabled, limited and given ports, and each of its logs is a type of eve-log. So a
 * new protocol needs no line in conf/schema_keys.c. */
#include "app/conf.h"
#include "app/log.h"
#include "app/proto.h"
#include "base/array.h"
#include "base/memory/arena.h"

#include <stdlib.h>

/* Lines of the outline format that conf/schema_keys.c has: two blanks of indent per level. */
struct outline { ARRAY_OF(const char *) lines; };

static void add_transport(struct outline *out, const char *name)
{
    ARRAY_PUSH(&out->lines, name);
    ARRAY_PUSH(&out->lines, "        detection-ports: dp sp");
}

static void add_settings(struct outline *out, const struct app_proto *proto, struct arena *arena)
{
    const char *own = proto->settings_keys != NULL ? proto->settings_keys : "";

    ARRAY_PUSH(&out->lines, arena_printf(arena, "    %s: enabled max-tx stream-depth %s",
                                         proto->name, own));
    ARRAY_PUSH(&out->lines, "      detection-ports: dp sp");
    if (proto->transports & APP_TCP)
        add_transport(out, "      tcp: enabled stream-depth");
    if (proto->transports & APP_UDP)
        add_transport(out, "      udp: enabled");
}

static void add_logs(struct outline *out, const struct app_proto *proto, struct arena *arena)
{
    for (unsigned i = 0; proto->logs != NULL && proto->logs[i] != NULL; i++) {
        const char *line = arena_printf(arena, "      %s: enabled", proto->logs[i]->conf_name);

        ARRAY_PUSH(&out->lines, line);
    }
}

/* Allocated in the arena, NULL at the end. An unknown key only gives a warning at start, so a key
 * that is missing here causes a false warning. */
const char *const *app_settings_keys(struct arena *arena)
{
    struct outline out = { 0 };
    const char *const *lines;

    ARRAY_PUSH(&out.lines, "app-layer");
    ARRAY_PUSH(&out.lines, "  protocols");
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        if (app_proto_by_id((enum app_proto_id)id) != NULL)
            add_settings(&out, app_proto_by_id((enum app_proto_id)id), arena);
    ARRAY_PUSH(&out.lines, "outputs");
    ARRAY_PUSH(&out.lines, "  eve-log");
    ARRAY_PUSH(&out.lines, "    types");
    for (unsigned id = 0; id < APP_PROTO_COUNT; id++)
        if (app_proto_by_id((enum app_proto_id)id) != NULL)
            add_logs(&out, app_proto_by_id((enum app_proto_id)id), arena);
    ARRAY_PUSH(&out.lines, NULL);
    lines = arena_copy(arena, out.lines.at, out.lines.count * sizeof(*out.lines.at));
    ARRAY_FREE(&out.lines);
    return lines;
}
