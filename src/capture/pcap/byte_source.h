/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/byte_source.h - the bytes of a capture file, whatever holds them: a file, mapped or
 * copied piece by piece, a pipe, or a compressed file (gzip, zstd, lz4, xz; told by content, not
 * by name).
 *
 * One thread. Not for the packet path of live captures. */
#ifndef CAPTURE_BYTE_SOURCE_H
#define CAPTURE_BYTE_SOURCE_H

#include "base/err.h"

struct byte_source;

/* "-" is standard input. */
struct byte_source *byte_source_open(const char *path, size_t buffer_size, struct err *err);
void byte_source_close(struct byte_source *s);

/* The next `need` bytes, without moving on; NULL when there are fewer, or reading broke, or the
 * source waits. A stable source's bytes may be written to and stay until they are forgotten, others
 * until the next call. */
const uint8_t *byte_source_peek(struct byte_source *s, size_t need);
void byte_source_skip(struct byte_source *s, size_t n);     /* n <= what was peeked */
/* Nobody uses what was skipped any more: a stable source may let it go. Cheap to call often. */
void byte_source_release(struct byte_source *s);
/* For there is more, but no room for it before what was skipped is forgotten. */
bool byte_source_waits(const struct byte_source *s);
/* What was skipped is used for longer, and there will be no waiting for it. is_written: it is also
 * written to; else its pages may be let go sooner, and come again when they are needed. True: the
 * source is mapped now, so that all bytes stay until it is closed. */
bool byte_source_hold(struct byte_source *s, bool is_written);
size_t byte_source_left(const struct byte_source *s);       /* bytes that can be had at once */

bool byte_source_is_stable(const struct byte_source *s);
uint64_t byte_source_offset(const struct byte_source *s);   /* in the uncompressed bytes */
/* Of the file itself, for a progress line; total 0: not known. */
void byte_source_progress(const struct byte_source *s, uint64_t *done, uint64_t *total);
/* NULL: all is well. */
const char *byte_source_error(const struct byte_source *s);

#endif
