/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/utf8.h - bytes that should be text (RFC 3629). */
#ifndef BASE_UTF8_H
#define BASE_UTF8_H

#include "base/text/bytes.h"

/* Copies, with U+FFFD for each run of bytes that is no character. `out` needs space for three times
 * in.len. Returns the length. */
size_t utf8_lossy(struct slice in, uint8_t *out);
bool utf8_is_valid(struct slice in);

#endif
