/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/engine_progress.c - the order in which Suricata lists the steps of a rule, and the
 * progress of each, as protocols declare them (app/reports.h). */
#include "detect/compile/tx_engines.h"

#include <string.h>

static bool is_called(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);

    if (n > 0 && pattern[n - 1] == '*')
        return strncmp(pattern, name, n - 1) == 0;
    return strcmp(pattern, name) == 0;
}

/* The first row that fits counts, so special names precede general ones. Empty: the order
 * of the protocols' numbers. */
const struct app_report_order *engine_order(const char *name, enum app_proto_id proto)
{
    const struct app_reports *reports = app_proto_by_id(proto)->reports;
    const struct app_report_order *order = reports != NULL ? reports->order : NULL;

    for (; order != NULL && order->list != NULL; order++)
        if (is_called(order->list, name))
            return order;
    return NULL;
}

/* `own`: the protocol's declared progress, which applies unless a row has another one. */
uint8_t engine_progress(const char *name, enum app_proto_id proto, unsigned direction,
                          uint8_t own)
{
    const struct app_reports *reports = app_proto_by_id(proto)->reports;
    const struct app_report_progress *row = reports != NULL ? reports->progress : NULL;

    for (; row != NULL && row->list != NULL; row++)
        if ((row->directions & APP_DIRECTION_BIT(direction)) && is_called(row->list, name))
            return row->progress;
    if (reports != NULL && reports->other_progress != NULL)
        return reports->other_progress(name, (enum direction)direction, own);
    return own;
}
