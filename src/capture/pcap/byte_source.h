/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/pcap/byte_source.h - the bytes of a capture file, from any source: a file, mapped or
 * copied in pieces, a pipe, or a compressed file (gzip, zstd, lz4, xz; detected by content, not by
 * name).
 *
 * One thread. Not for the packet path of live captures. */
#ifndef CAPTURE_BYTE_SOURCE_H
#define CAPTURE_BYTE_SOURCE_H

#include "base/err.h"

struct byte_source;

/* "-" is standard input. */
struct byte_source *byte_source_open(const char *path, size_t buffer_size, struct err *err);
void byte_source_close(struct byte_source *s);

/* The next `need` bytes, without consuming them; NULL when there are fewer, when reading failed, or
 * when the source waits. Bytes of a stable source may be written to, and stay until they are
 * released; others stay until the next call. */
const uint8_t *byte_source_peek(struct byte_source *s, size_t need);
void byte_source_skip(struct byte_source *s, size_t n);     /* n <= what was peeked */
/* Releases the skipped bytes: a stable source may free them. Cheap to call often. */
void byte_source_release(struct byte_source *s);
/* Of a mapped source that is not written: bytes before `end` are hardly read any more. Their pages
 * are dropped, and read again if they are. */
void byte_source_release_to(struct byte_source *s, const uint8_t *end);
/* True if more bytes exist, but have no space before skipped ones are released. */
bool byte_source_waits(const struct byte_source *s);
/* From here on a pipe without data waits instead of blocking. */
void byte_source_poll(struct byte_source *s);
/* Until a pipe that waits has data or ends. True: it still waits. */
bool byte_source_wait(const struct byte_source *s, int timeout_ms);
/* Keeps skipped bytes valid, without a later release. is_written: the caller writes to them;
 * otherwise their pages may be dropped early and read again. True: the source is mapped now, so all
 * bytes stay until it is closed. */
bool byte_source_hold(struct byte_source *s, bool is_written);
size_t byte_source_left(const struct byte_source *s);       /* bytes available at once */

bool byte_source_is_stable(const struct byte_source *s);
uint64_t byte_source_offset(const struct byte_source *s);   /* in the uncompressed bytes */
/* Position in the file itself, for a progress line; total 0: not known. */
void byte_source_progress(const struct byte_source *s, uint64_t *done, uint64_t *total);
/* NULL: no error. */
const char *byte_source_error(const struct byte_source *s);

#endif
