/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/explain/report.h - the answer: as text, as JSON, and of all rules in short. */
#ifndef DETECT_EXPLAIN_REPORT_H
#define DETECT_EXPLAIN_REPORT_H

#include "detect/explain/private.h"

bool group_is_shown(const struct explain *e, const struct group *g);
void verdict_add(const struct explain *e, const struct group *g, struct buf *out);
void summary_write(struct explain *e, struct buf *out);
void summary_write_json(struct explain *e, struct buf *out);
void report_write_json(struct explain *e, struct buf *out);
const char *part_key(const struct condition *c);
const char *part_name(const struct condition *c);       /* "destination port" */

#endif
