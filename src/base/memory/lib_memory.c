/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/lib_memory.c - the calling thread's heap, as malloc() for libraries.
 *
 * Libraries such as libhtp, lua and zlib allocate per flow on many threads. With a heap per thread
 * they neither lock nor share cache lines. */
#include "config.h"

#include "base/memory/lib_memory.h"

#include "base/memory/traffic_memory.h"

#include <string.h>

#ifdef IDS_THREAD_HEAPS

#include <pthread.h>

#include "base/memory/heap.h"

/* The only thread-local variable: allocation hooks of libraries have no argument for a context. */
static __thread struct heap *thread_heap;
static pthread_key_t at_thread_end;
static pthread_once_t key_once = PTHREAD_ONCE_INIT;

static void thread_ends(void *heap)
{
    thread_heap = NULL;
    heap_free(heap);
}

static void make_key(void)
{
    pthread_key_create(&at_thread_end, thread_ends);
}

static COLD struct heap *thread_heap_new(void)
{
    pthread_once(&key_once, make_key);
    thread_heap = heap_new();
    pthread_setspecific(at_thread_end, thread_heap);
    return thread_heap;
}

static inline struct heap *own_heap(void)
{
    struct heap *heap = thread_heap;

    return LIKELY(heap != NULL) ? heap : thread_heap_new();
}

void *lib_malloc(size_t size)
{
    struct heap *heap = own_heap();

    return LIKELY(heap != NULL) ? heap_get(heap, size) : NULL;
}

void *lib_calloc(size_t n, size_t size)
{
    struct heap *heap = own_heap();

    return LIKELY(heap != NULL) ? heap_get_zeroed(heap, n, size) : NULL;
}

void *lib_realloc(void *block, size_t size)
{
    struct heap *heap = own_heap();

    return LIKELY(heap != NULL) ? heap_resize(heap, block, size) : NULL;
}

void lib_free(void *block)
{
    heap_put(thread_heap, block);       /* also on a thread without a heap of its own */
}

size_t lib_block_size(size_t size)
{
    return heap_block_size(size);
}

#else

void *lib_malloc(size_t size)
{
    return traffic_malloc(size);
}

void *lib_calloc(size_t n, size_t size)
{
    return traffic_calloc(n, size);
}

void *lib_realloc(void *block, size_t size)
{
    return traffic_realloc(block, size);
}

void lib_free(void *block)
{
    traffic_free(block);
}

size_t lib_block_size(size_t size)
{
    return size;
}

#endif

char *lib_strdup(const char *text)
{
    size_t size = strlen(text) + 1;
    char *copy = lib_malloc(size);

    return copy != NULL ? memcpy(copy, text, size) : NULL;
}

void *lib_zalloc(void *unused UNUSED, unsigned n, unsigned size)
{
    return lib_malloc((size_t)n * size);
}

void *lib_malloc_for(void *unused UNUSED, size_t size)
{
    return lib_malloc(size);
}

void lib_free_for(void *unused UNUSED, void *block)
{
    lib_free(block);
}
