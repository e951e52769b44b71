/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/ranges.h - files that arrive in ranges, over several requests and flows (RFC 9110, 14).
 *
 * A parser collects a range as it arrives and hands it in when the range is over. The range that
 * completes the file returns it, and the caller makes a file of it in its own transaction. */
#ifndef APP_RANGES_H
#define APP_RANGES_H

#include "app/conf.h"
#include "app/tx.h"
#include "base/memory/buf.h"

struct app_range;       /* a range being collected */

/* Bytes start to end (end included, as in Content-Range) of `total` of the file called key. NULL:
 * the range cannot be collected. */
struct app_range *app_range_open(struct app_flow *af, struct slice key, uint64_t start,
                                 uint64_t end, uint64_t total);
/* r may be NULL, also below. Bytes after the end are dropped. */
void app_range_add(struct app_range *range, const void *data, size_t len);
/* Bytes of the range are missing: the file cannot be completed with it. */
void app_range_drop(struct app_range *range);
/* True: the file is complete and in *file, which the caller frees with buf_fini(). Frees range. */
bool app_range_close(struct app_range *range, struct buf *file);

/* --- for the framework ------------------------------------------------------------------------ */

struct app_ranges;
struct app_ranges *app_ranges_new(const struct conf_node *node);      /* byterange: */
void app_ranges_free(struct app_ranges *table);
struct app_memory *app_ranges_memory(struct app_ranges *table);

#endif
