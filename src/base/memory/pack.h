/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/pack.h - packs bytes that wait, so that they take less memory.
 *
 * Meant for what a sender has unpacked to more than he has sent: it repeats itself. The packed form
 * is a block of LZ4 and never leaves the process. Without liblz4 nothing is packed. */
#ifndef BASE_PACK_H
#define BASE_PACK_H

#include "base/base.h"

#define PACK_MOST (1u << 20)            /* bytes that can be packed at once */

/* Returns the size of the packed form, at most `space`; 0: it is larger, or len is above
 * PACK_MOST. */
size_t pack(const uint8_t *in, size_t len, uint8_t *out, size_t space);

/* False: `in` does not unpack to exactly `len` bytes. */
NODISCARD bool unpack(const uint8_t *in, size_t size, uint8_t *out, size_t len);

#endif
