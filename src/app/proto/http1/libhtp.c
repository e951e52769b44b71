/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/libhtp.c - libhtp's memory.
 *
 * libhtp calls malloc() for each header and has no option to change that. If configure found its
 * archive, the engine links a copy in which these calls have other names (libhtp.symbols), so that
 * they use the engine's allocator. */
#include "config.h"

#include "app/proto/http1/state.h"

#include <stdlib.h>
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
