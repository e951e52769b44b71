/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/libhtp.c - libhtp's memory, its strings and its lists.
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

bstr *bstr_dup_lower(const bstr *b)
{
    return bstr_to_lowercase(bstr_dup_mem(bstr_ptr(b), bstr_len(b)));
}

/* --- lists, and hooks, which are lists of functions ------------------------------------------- */

/* libhtp makes three calls for each hook that it runs, some fifteen for a transaction. Lists within
 * other structs are not here: only libhtp's tables have them. libhtp does not notice if it cannot
 * add a transaction, and would never free it. So the usual number of places is there from the
 * start. */
#define CAP_MIN 8u

struct htp_list_array_t {
    void **element;                     /* a ring */
    size_t first, count, cap;           /* cap: a power of 2 */
    void *few[CAP_MIN];                 /* of a short list */
};

static size_t place(const htp_list_array_t *l, size_t index)
{
    return (l->first + index) & (l->cap - 1);
}

/* size: 0 is refused, else of no account. */
htp_list_array_t *htp_list_array_create(size_t size)
{
    htp_list_array_t *l = size > 0 ? lib_calloc(1, sizeof(*l)) : NULL;

    if (l != NULL) {
        l->element = l->few;
        l->cap = CAP_MIN;
    }
    return l;
}

static void free_elements(htp_list_array_t *l)
{
    if (l->element != l->few)
        lib_free(l->element);
}

void htp_list_array_destroy(htp_list_array_t *l)
{
    if (l == NULL)
        return;
    free_elements(l);
    lib_free(l);
}

void htp_list_array_clear(htp_list_array_t *l)
{
    if (l != NULL)
        l->first = l->count = 0;
}

size_t htp_list_array_size(const htp_list_array_t *l)
{
    return l != NULL ? l->count : 0;
}

void *htp_list_array_get(const htp_list_array_t *l, size_t index)
{
    return l != NULL && index < l->count ? l->element[place(l, index)] : NULL;
}

static bool grow(htp_list_array_t *l)
{
    size_t cap = l->cap * 2;
    void **more = lib_malloc(cap * sizeof(*more));

    if (more == NULL)
        return false;
    for (size_t i = 0; i < l->count; i++)
        more[i] = l->element[place(l, i)];
    free_elements(l);
    l->element = more;
    l->first = 0;
    l->cap = cap;
    return true;
}

htp_status_t htp_list_array_push(htp_list_array_t *l, void *element)
{
    if (l == NULL || (l->count == l->cap && !grow(l)))
        return HTP_ERROR;
    l->element[place(l, l->count++)] = element;
    return HTP_OK;
}

void *htp_list_array_pop(htp_list_array_t *l)
{
    return l != NULL && l->count > 0 ? l->element[place(l, --l->count)] : NULL;
}

void *htp_list_array_shift(htp_list_array_t *l)
{
    void *element = htp_list_array_get(l, 0);

    if (l != NULL && l->count > 0) {
        l->first = place(l, 1);
        l->count--;
    }
    return element;
}

htp_status_t htp_list_array_replace(htp_list_array_t *l, size_t index, void *element)
{
    if (l == NULL)
        return HTP_ERROR;
    if (index >= l->count)
        return HTP_DECLINED;
    l->element[place(l, index)] = element;
    return HTP_OK;
}

/* The first function that fails ends the run. */
htp_status_t htp_hook_run_all(htp_hook_t *hook, void *data)
{
    if (hook == NULL)
        return HTP_OK;
    for (size_t i = 0, n = htp_list_array_size(hook->callbacks); i < n; i++) {
        const htp_callback_t *callback = htp_list_array_get(hook->callbacks, i);
        htp_status_t result = callback->fn(data);

        if (result != HTP_OK && result != HTP_DECLINED)
            return result;
    }
    return HTP_OK;
}

#endif
