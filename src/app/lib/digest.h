/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/digest.h - hashes of short values, with base/system/digest.h; one per thread. */
#ifndef APP_DIGEST_H
#define APP_DIGEST_H

#include "base/text/bytes.h"
#include "base/system/digest.h"
#include "base/err.h"

struct digests;

struct digests *digests_new(void);
void digests_free(struct digests *d);       /* NULL is allowed */

/* Writes the hash to `out` and returns its length; 0 if d is NULL. */
unsigned digest(struct digests *d, enum digest which, const void *data, size_t len,
                uint8_t out[DIGEST_MAX]);

/* The `check` of a struct app_buffer for patterns on the text of an MD5. */
bool md5_pattern_check(struct slice pattern, bool nocase, struct err *err);

/* Writes two digits per byte, without a NUL; `between`, unless 0, separates bytes. Returns the
 * length. */
size_t hex_text(const uint8_t *data, size_t len, char between, const char digits[16], char *out);
#define HEX_LOWER "0123456789abcdef"
#define HEX_UPPER "0123456789ABCDEF"

#endif
