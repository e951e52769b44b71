/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/system/digest.h - MD5, SHA-1, SHA-256, by libcrypto.
 *
 * The caller owns the state. libcrypto's newer interface allocates a state for each hash and counts
 * references in memory that all threads share; this one does neither. */
#ifndef BASE_DIGEST_H
#define BASE_DIGEST_H

#include "base/base.h"

enum digest { DIGEST_MD5, DIGEST_SHA1, DIGEST_SHA256, DIGEST_COUNT };
#define DIGEST_MD5_BYTES 16
#define DIGEST_SHA1_BYTES 20
#define DIGEST_SHA256_BYTES 32
#define DIGEST_MAX DIGEST_SHA256_BYTES          /* of the longest digest */

struct digest_stream {
    _Alignas(16) uint8_t state[112];
    enum digest which;
};

void digest_begin(struct digest_stream *s, enum digest which);
void digest_add(struct digest_stream *s, const void *data, size_t len);
unsigned digest_end(struct digest_stream *s, uint8_t *out);      /* returns the length */

#endif
