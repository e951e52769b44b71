/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/libhtp.c - libhtp's memory, and its strings.
 *
 * libhtp calls malloc() for each header and has no option to change that. If configure found its
 * archive, the engine links a copy in which these calls have other names (libhtp.symbols), so that
 * they use the engine's allocator. A message has some twenty strings, and the compiler inlines no
 * functions of an archive: some of them are here, and weak in the copy (libhtp.weak). */
#include "config.h"

#include "app/proto/http1/state.h"

#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "base/memory/lib_memory.h"

#ifdef HAVE_HTP_ARCHIVE
#define HTP_CALLOC lib_calloc
#define HTP_FREE lib_free
#else
#define HTP_CALLOC calloc
#define HTP_FREE free
#endif

void *http_libhtp_calloc(size_t size)
{
    return HTP_CALLOC(1, size);
}

void http_libhtp_free(void *block)
{
    HTP_FREE(block);
}

/* The copy of libhtp calls this instead of inflateInit2(), so that zlib's windows use the engine's
 * allocator. */
int http_inflate_init(z_streamp z, int window_bits, const char *version, int stream_size);

int http_inflate_init(z_streamp z, int window_bits, const char *version, int stream_size)
{
    z->zalloc = lib_zalloc;
    z->zfree = lib_free_for;
    return inflateInit2_(z, window_bits, version, stream_size);
}

/* --- strings, with the results of libhtp 0.5.42's functions ----------------------------------- */

#ifdef HAVE_HTP_ARCHIVE

bstr *bstr_alloc(size_t len)
{
    bstr *b = lib_malloc(sizeof(*b) + len);

    if (LIKELY(b != NULL))
        *b = (bstr){ .size = len };
    return b;
}

bstr *bstr_dup_mem(const void *data, size_t len)
{
    bstr *b = bstr_alloc(len);

    if (UNLIKELY(b == NULL))
        return NULL;
    if (len > 0)
        memcpy(b + 1, data, len);
    b->len = len;
    return b;
}

void bstr_free(bstr *b)
{
    lib_free(b);
}

/* Eight bytes at a time. `letters`: the high bit of each byte that is a capital. */
static void to_lower(uint8_t *data, size_t len)
{
    const uint64_t high = EACH_BYTE(0x80);
    size_t i = 0;

    for (uint64_t v, low, letters; len - i >= sizeof(v); i += sizeof(v)) {
        memcpy(&v, data + i, sizeof(v));
        low = v & ~high;
        letters = (low + EACH_BYTE(0x80 - 'A')) & ~(low + EACH_BYTE(0x7f - 'Z')) & ~v & high;
        v |= letters >> 2;
        memcpy(data + i, &v, sizeof(v));
    }
    for (; i < len; i++)
        if (data[i] >= 'A' && data[i] <= 'Z')
            data[i] |= 0x20;
}

bstr *bstr_to_lowercase(bstr *b)
{
    if (b != NULL)
        to_lower(bstr_ptr(b), bstr_len(b));
    return b;
}

#endif
