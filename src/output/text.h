/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/text.h - pieces of the logs that are made for people: times, addresses, bytes. */
#ifndef OUTPUT_TEXT_H
#define OUTPUT_TEXT_H

#include "base/memory/buf.h"
#include "base/text/ip.h"

/* "05/27/2016-06:56:11.304062" in local time. */
void text_time(struct buf *out, uint64_t time_us);
void text_address(struct buf *out, const struct ip *ip);
/* Printable ones as they are, \\ for a backslash, \x22 for a quote and so for the rest. */
void text_escape(struct buf *out, struct slice s);
/* 16 bytes a line: their place, in hexadecimal, and what of them is printable. */
void text_dump(struct buf *out, const uint8_t *data, size_t len);

#endif
