/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/lib/packed_window.c - windows of decompressed content that wait, packed. */
#include "app/lib/packed_window.h"

#include "base/memory/lib_memory.h"
#include "base/memory/pack.h"

#include <string.h>

#define LEAST 512u                      /* a smaller window stays as it is */
#define TIMES 4u                        /* so much smaller it has to become */
#define SIZE_MOST 8192u
#define TRIES 4u                        /* then only after it has doubled: packing costs time */

static bool is_worth(struct packed_window *packed, size_t len)
{
    if (len < LEAST || len > PACK_MOST ||
        (packed->tries >= TRIES && len < 2 * (size_t)packed->tried))
        return false;
    packed->tries += packed->tries < TRIES;
    packed->tried = (uint32_t)len;
    return true;
}

bool window_pack(struct packed_window *packed, struct buf *window)
{
    uint8_t out[SIZE_MOST];
    size_t size;

    if (window_is_packed(packed) || !is_worth(packed, window->len))
        return false;
    size = pack(window->data, window->len, out, MIN(window->len / TIMES, sizeof(out)));
    packed->data = size > 0 ? lib_malloc(size) : NULL;
    if (packed->data == NULL)
        return false;
    memcpy(packed->data, out, size);
    packed->size = (uint32_t)size;
    packed->len = (uint32_t)window->len;
    buf_fini(window);
    return true;
}

bool window_unpack(struct packed_window *packed, struct buf *window)
{
    bool ok;

    buf_fini(window);
    ok = buf_reserve(window, packed->len) &&
         unpack(packed->data, packed->size, window->data, packed->len);
    window->len = ok ? packed->len : 0;
    window_drop(packed);
    return ok;
}

void window_drop(struct packed_window *packed)
{
    lib_free(packed->data);
    packed->data = NULL;
}
