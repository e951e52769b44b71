/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/text.h - times, addresses and bytes in logs for human readers. */
#ifndef OUTPUT_TEXT_H
#define OUTPUT_TEXT_H

#include "base/memory/buf.h"
#include "base/text/ip.h"

/* "05/27/2016-06:56:11.304062" in local time. */
void text_time(struct buf *out, uint64_t time_us);
void text_address(struct buf *out, const struct ip *ip);
/* Writes printable characters unchanged, \\ for a backslash, \x22 for a quote, and the same form
 * for others. */
void text_escape(struct buf *out, struct slice s);
/* Writes 16 bytes per line: offset, hexadecimal digits, and printable characters. */
void text_dump(struct buf *out, const uint8_t *data, size_t len);

#endif
