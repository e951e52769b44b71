/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/ranges.h - files that come in ranges, over several requests and flows (RFC 9110, 14).
 *
 * A parser collects a range as it comes and hands it in when it is over. The range that makes the
 * file whole gets it back, to make a file of it in its own transaction. */
#ifndef APP_RANGES_H
#define APP_RANGES_H

#include "app/conf.h"
#include "app/tx.h"
#include "base/memory/buf.h"

struct app_range;       /* under way */

/* Bytes start to end (the last one, as Content-Range has it) of `total` of the file called key.
 * NULL: nothing will come of it. */
struct app_range *app_range_open(struct app_flow *af, struct slice key, uint64_t start,
                                 uint64_t end, uint64_t total);
/* NULL is fine, also below. Bytes beyond the end are dropped. */
void app_range_add(struct app_range *range, const void *data, size_t len);
/* It had a hole: the file will not become whole by it. */
void app_range_drop(struct app_range *range);
/* True: the file is whole and in *file, which is the caller's to buf_fini(). Frees range. */
bool app_range_close(struct app_range *range, struct buf *file);

/* --- for the framework ------------------------------------------------------------------------ */

struct app_ranges;
struct app_ranges *app_ranges_new(const struct conf_node *node);      /* byterange: */
void app_ranges_free(struct app_ranges *table);
struct app_memory *app_ranges_memory(struct app_ranges *table);

#endif
