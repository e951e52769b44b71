/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/libhtp.c - libhtp's memory.
 *
 * It calls malloc() for every header and has no way to be told otherwise. Where its archive was
 * found, the engine holds a copy in which those calls have other names (libhtp.symbols). */
#include "config.h"

#include "app/proto/http1/private.h"

#include <stdlib.h>
#include <zlib.h>

#include "base/memory/lib_memory.h"

void http_libhtp_free(void *block)
{
#ifdef HAVE_HTP_ARCHIVE
    lib_free(block);
#else
    free(block);
#endif
}

/* What the copy calls for inflateInit2(), so that zlib's windows come from the same place. */
int http_inflate_init(z_streamp z, int window_bits, const char *version, int stream_size);

int http_inflate_init(z_streamp z, int window_bits, const char *version, int stream_size)
{
    z->zalloc = lib_zalloc;
    z->zfree = lib_free_for;
    return inflateInit2_(z, window_bits, version, stream_size);
}
