/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/pack.c - blocks of LZ4. To pack, the library needs 16 KB of the stack. */
#include "config.h"

#include "base/memory/pack.h"

#ifdef HAVE_LZ4
#include <lz4.h>

size_t pack(const uint8_t *in, size_t len, uint8_t *out, size_t space)
{
    int size;

    if (len == 0 || len > PACK_MOST)
        return 0;
    size = LZ4_compress_default((const char *)in, (char *)out, (int)len,
                                (int)MIN(space, (size_t)LZ4_COMPRESSBOUND(PACK_MOST)));
    return size > 0 ? (size_t)size : 0;
}

bool unpack(const uint8_t *in, size_t size, uint8_t *out, size_t len)
{
    return size <= LZ4_COMPRESSBOUND(PACK_MOST) && len <= PACK_MOST &&
           LZ4_decompress_safe((const char *)in, (char *)out, (int)size, (int)len) == (int)len;
}

#else

size_t pack(const uint8_t *in UNUSED, size_t len UNUSED, uint8_t *out UNUSED, size_t space UNUSED)
{
    return 0;
}

bool unpack(const uint8_t *in UNUSED, size_t size UNUSED, uint8_t *out UNUSED, size_t len UNUSED)
{
    return false;
}
#endif
