/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/engine_names.c - Suricata's names for the steps in which rules inspect
 * transactions. Many buffers have the name of the older content modifier, tests that of their list.
 * A protocol declares its own names (app/reports.h). */
#include "detect/compile/tx_engines.h"

#include <stdio.h>
#include <string.h>

/* Names of file buffers, and names of all protocols. */
static const struct app_report_name common[] = {
    { "app-layer-event", "app-layer-events", NULL },
    { "file.data", "file_data", NULL },
    { "filemd5", "files", NULL },
    { "filesha1", "files", NULL },
    { "filesha256", "files", NULL },
    { "filesize", "files", NULL },
    { "filestore", "files", NULL },
    { NULL, NULL, NULL },
};

/* Our keyword, Suricata's inspection list. */
static const struct app_report_name *find_name(const struct app_report_name *names,
                                               const char *keyword)
{
    for (; names != NULL && names->keyword != NULL; names++)
        if (strcmp(names->keyword, keyword) == 0)
            return names;
    return NULL;
}

static const struct app_report_name *reported(const char *keyword)
{
    const struct app_report_name *found = find_name(common, keyword);

    for (enum app_proto_id id = APP_PROTO_FIRST; id < app_proto_end() && found == NULL; id++) {
        const struct app_reports *reports = app_proto_by_id(id)->reports;

        if (reports != NULL)
            found = find_name(reports->names, keyword);
    }
    return found;
}

static const char *list_name(const char *keyword)
{
    const struct app_report_name *found = reported(keyword);

    return found != NULL ? found->list : keyword;
}

/* `out` is used for frames only; other names are constants. Suricata calls HTTP/1 frames
 * "http1". */
const char *engine_buffer_name(const struct buffer *b, char out[ENGINE_NAME_SIZE])
{
    const struct app_proto *proto;

    if (b == NULL)
        return "payload";
    if (b->kind != BUFFER_FRAME)
        return list_name(b->base->name);
    proto = app_proto_by_id((enum app_proto_id)b->frame_proto);
    snprintf(out, ENGINE_NAME_SIZE, "%s.%s", app_proto_rule_name(proto),
             proto->frames[b->frame_type]);
    return out;
}

const char *engine_test_position(const struct rule_test *test)
{
    return list_name(test->keyword->name);
}

const char *engine_listed_name(const struct keyword_ops *keyword)
{
    const struct app_report_name *found = reported(keyword->name);

    return found != NULL && found->test != NULL ? found->test : keyword->name;
}
