/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/core/ranges.h - files that arrive in ranges, over several requests and flows (RFC 9110, 14).
 *
 * A parser appends a range's data as they arrive and closes the range at its end. Closing the range
 * that completes the file returns the file, which the caller then opens in its own transaction. */
#ifndef APP_RANGES_H
#define APP_RANGES_H

#include "app/conf.h"
#include "app/tx.h"
#include "base/memory/buf.h"

struct app_range;       /* a range being received */

/* Opens bytes start to end (end included, as in Content-Range) of `total` of the file with this
 * key. NULL: the range cannot be collected. */
struct app_range *app_range_open(struct app_flow *af, struct slice key, uint64_t start,
                                 uint64_t end, uint64_t total);
/* Appends data; drops bytes after the range's end. `range` may be NULL, here and below. */
void app_range_add(struct app_range *range, const void *data, size_t len);
/* Marks that bytes of the range are missing: it cannot complete the file. */
void app_range_drop(struct app_range *range);
/* Frees the range. True: the file is complete and in *file, which the caller frees with
 * buf_fini(). */
bool app_range_close(struct app_range *range, struct buf *file);

/* --- for the framework ------------------------------------------------------------------------ */

struct app_ranges;
struct app_ranges *app_ranges_new(const struct conf_node *node);      /* byterange: */
void app_ranges_free(struct app_ranges *table);
struct app_memory *app_ranges_memory(struct app_ranges *table);

#endif
