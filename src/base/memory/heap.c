/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/heap.c - a thread's own malloc(): no lock, no shared cache line.
 *
 * Blocks are in slabs, all of one size in a slab. A slab starts at a multiple of its size, so a
 * block's address tells its slab, and with it the heap and the size: blocks have no header. A slab
 * is divided as blocks are requested; its pages are not touched earlier.
 *
 * An empty slab may serve another size. When memory is scarce, all but a few return their pages.
 *
 * The blocks of each size that were freed last are in a list of their own and are the next to be
 * taken, whatever their slab: they are in the caches, and the slabs need no accounting.
 *
 * A block that is larger than the largest size has slabs of its own, which are kept for the next
 * block of as many slabs. */
#include "base/memory/heap.h"

#include "base/memory/pages.h"
#include "base/memory/traffic_memory.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#define SLAB_SIZE ((size_t)65536)
#define CHUNK_SLABS 16                  /* mapped at once */
#define SIZES 56                        /* 16 to 512 by 16, then four in each doubling to 32 KiB */
#define LARGEST ((size_t)32768)
#define SMALL_BITS 9
#define SMALL (1u << SMALL_BITS)        /* up to here sizes go by 16 */
#define RETAINED_SLABS_LIMIT 32                   /* larger blocks are unmapped at once */
#define RETAINED_BYTES_LIMIT ((size_t)16 << 20)   /* as are blocks beyond this in total */

/* The header is near the slab's start. Its cache line depends on the address: headers at the same
 * offset of all slabs would evict each other from the caches. */
struct slab {
    struct heap *owner;
    uint32_t block_size;                /* 0: one block over `slabs` slabs */
    union {
        uint32_t size_index, slabs;
    };
    struct slab *next, *prev;           /* among those of the size with a free block */
    void *free;                         /* the first word of a free block is the next one */
    uint16_t used, fresh, count;        /* blocks: in use, used once, all */
};

/* Space for all 16 positions of the header. */
#define HEAD_SIZE ((size_t)16 * CACHE_LINE)

/* An empty slab without its pages keeps the first, which has the header. */
#define DROPPED_SIZE pages_behind_first(SLAB_SIZE)
/* Empty slabs that stay when memory is scarce, so that few bytes cannot cost system calls. */
#define EMPTY_SLABS_LIMIT 16

/* A mapping of CHUNK_SLABS slabs, for taking everything down. */
struct chunk {
    struct chunk *next;
    unsigned char *slabs;
};

/* Blocks that were freed last. For their slab and for idle memory they are in use. */
struct recent {
    void *free;
    uint32_t count, limit;
};

/* How many of one size: libraries have many small blocks. They may keep so many slabs from becoming
 * empty. */
#define RECENT_SMALL 128                /* up to this size */
#define RECENT_SMALL_LIMIT 128
#define RECENT_LIMIT 32

/* Belongs to one thread, except the last two members. */
struct heap {
    struct recent recent[SIZES];
    struct slab *open[SIZES];           /* slabs with a free block */
    struct slab *empty, *dropped;       /* slabs without a size; without their pages */
    unsigned empty_count, dropped_count;
    struct idle_memory idle;
    void *retained[RETAINED_SLABS_LIMIT + 1];         /* free blocks of this many slabs */
    size_t retained_bytes;
    size_t in_use;                      /* blocks, recent ones included */
    struct chunk *chunks;
    unsigned slabs_left;                /* of the newest chunk */

    CACHE_ALIGNED _Atomic(void *) returned;    /* pushed by other threads; or ABANDONED */
    _Atomic(size_t) abroad;             /* of an abandoned heap: blocks in use */
};

/* The owner's thread has ended while other threads had blocks. The thread that returns the last one
 * frees the heap. */
#define ABANDONED ((void *)1)

/* --- sizes ----------------------------------------------------------------------------------- */

/* 16-byte steps up to 512, then four sizes for each power of two: at most 25 % are lost. */
static inline unsigned size_index(size_t size)
{
    size_t last = size - (size != 0);
    unsigned bit;

    if (last < SMALL)
        return (unsigned)(last / 16);
    bit = 63 - (unsigned)__builtin_clzl(last);
    return SMALL / 16 + (bit - SMALL_BITS) * 4 + ((last >> (bit - 2)) & 3);
}

/* The inverse: the size of all blocks with this index. */
static size_t index_size(unsigned index)
{
    if (index < SMALL / 16)
        return (index + 1) * 16;
    index -= SMALL / 16;
    return (size_t)(5 + index % 4) << (SMALL_BITS - 2 + index / 4);
}

size_t heap_block_size(size_t size)
{
    return size <= LARGEST ? index_size(size_index(size)) : size;
}

static inline unsigned char *slab_start(void *block)
{
    return (unsigned char *)((uintptr_t)block & ~(uintptr_t)(SLAB_SIZE - 1));
}

static inline struct slab *slab_of(void *block)
{
    unsigned char *start = slab_start(block);

    return (struct slab *)(start + (uintptr_t)start / SLAB_SIZE % 16 * CACHE_LINE);
}

/* --- slabs ----------------------------------------------------------------------------------- */

static COLD unsigned char *slabs_map(size_t n)
{
    return pages_map(n * SLAB_SIZE, SLAB_SIZE);
}

static void slabs_unmap(void *start, size_t n)
{
    pages_unmap(start, n * SLAB_SIZE);
}

static COLD unsigned char *chunk_slab(struct heap *heap)
{
    if (heap->slabs_left == 0) {
        struct chunk *chunk = malloc(sizeof(*chunk));

        if (chunk == NULL)
            return NULL;
        chunk->slabs = slabs_map(CHUNK_SLABS);
        if (chunk->slabs == NULL) {
            free(chunk);
            return NULL;
        }
        chunk->next = heap->chunks;
        heap->chunks = chunk;
        heap->slabs_left = CHUNK_SLABS;
        idle_memory_change(&heap->idle, (int64_t)(CHUNK_SLABS * SLAB_SIZE));
    }
    heap->slabs_left--;
    return heap->chunks->slabs + heap->slabs_left * SLAB_SIZE;
}

/* An empty slab first, then one that needs its pages back, then a new one. */
static COLD unsigned char *slab_new(struct heap *heap)
{
    struct slab *slab = heap->empty;

    if (slab != NULL) {
        heap->empty = slab->next;
        heap->empty_count--;
        return slab_start(slab);
    }
    slab = heap->dropped;
    if (slab == NULL)
        return chunk_slab(heap);
    if (!pages_restore(SLAB_SIZE))
        return NULL;
    idle_memory_change(&heap->idle, (int64_t)DROPPED_SIZE);
    heap->dropped = slab->next;
    heap->dropped_count--;
    return slab_start(slab);
}

/* Lists have the slab first that had a block freed last, while it is warm. */
static void slab_open(struct heap *heap, struct slab *slab)
{
    slab->prev = NULL;
    slab->next = heap->open[slab->size_index];
    if (slab->next != NULL)
        slab->next->prev = slab;
    heap->open[slab->size_index] = slab;
}

static void slab_close(struct heap *heap, struct slab *slab)
{
    if (slab->next != NULL)
        slab->next->prev = slab->prev;
    if (slab->prev != NULL)
        slab->prev->next = slab->next;
    else
        heap->open[slab->size_index] = slab->next;
}

/* Makes a slab for blocks of one size. */
static COLD struct slab *slab_cut(struct heap *heap, unsigned index)
{
    unsigned char *start = slab_new(heap);
    size_t size = index_size(index);
    struct slab *slab;

    if (start == NULL)
        return NULL;
    slab = slab_of(start);
    *slab = (struct slab){
        .owner = heap,
        .block_size = (uint32_t)size,
        .size_index = index,
        .count = (uint16_t)((SLAB_SIZE - HEAD_SIZE) / size),
    };
    slab_open(heap, slab);
    return slab;
}

static COLD void drop_empty(struct heap *heap)
{
    struct slab *slab = heap->empty;

    heap->empty = slab->next;
    heap->empty_count--;
    pages_drop(slab_start(slab), SLAB_SIZE);
    idle_memory_change(&heap->idle, -(int64_t)DROPPED_SIZE);
    slab->next = heap->dropped;
    heap->dropped = slab;
    heap->dropped_count++;
}

/* Two for each slab that becomes empty: those from before memory was scarce go as well. */
static COLD void slab_empty(struct heap *heap, struct slab *slab)
{
    slab_close(heap, slab);
    slab->next = heap->empty;
    heap->empty = slab;
    heap->empty_count++;
    for (unsigned i = 0; i < 2; i++)
        if (heap->empty_count > EMPTY_SLABS_LIMIT && traffic_memory_is_scarce())
            drop_empty(heap);
}

/* `slab` has a free block. */
static inline void *slab_get(struct heap *heap, struct slab *slab)
{
    void *block = slab->free;

    if (LIKELY(block != NULL))
        slab->free = *(void **)block;
    else
        block = slab_start(slab) + HEAD_SIZE + (size_t)slab->fresh++ * slab->block_size;
    if (UNLIKELY(++slab->used == slab->count))
        slab_close(heap, slab);
    heap->in_use++;
    idle_memory_change(&heap->idle, -(int64_t)slab->block_size);
    return block;
}

/* The last open slab of a size stays with it, or it might be cut for each block. */
static inline void slab_put(struct heap *heap, struct slab *slab, void *block)
{
    *(void **)block = slab->free;
    slab->free = block;
    idle_memory_change(&heap->idle, (int64_t)slab->block_size);
    if (UNLIKELY(slab->used-- == slab->count))
        slab_open(heap, slab);
    if (UNLIKELY(slab->used == 0) && (slab->next != NULL || slab->prev != NULL))
        slab_empty(heap, slab);
}

/* Takes all blocks that other threads have returned. Exchanging the complete list avoids the ABA
 * problem of popping one by one. */
static void take_returned(struct heap *heap)
{
    void *block = atomic_exchange_explicit(&heap->returned, NULL, memory_order_acquire);

    while (block != NULL) {
        void *next = *(void **)block;

        heap_put(heap, block);
        block = next;
    }
}

/* Returns the recent blocks of one size to their slabs. All of them, because the list does not tell
 * which are the oldest. */
static __attribute__((noinline)) void recent_drain(struct heap *heap, unsigned index)
{
    struct recent *recent = &heap->recent[index];

    while (recent->free != NULL) {
        void *block = recent->free;

        recent->free = *(void **)block;
        heap->in_use--;
        slab_put(heap, slab_of(block), block);
    }
    recent->count = 0;
}

/* No recent block of this size. If no slab has one either, first take returned blocks, then new
 * ones. */
static __attribute__((noinline)) void *get_slow(struct heap *heap, unsigned index)
{
    struct slab *slab = heap->open[index];
    void *block;

    if (UNLIKELY(slab == NULL)) {
        take_returned(heap);
        block = heap->recent[index].free;
        if (block != NULL) {
            heap->recent[index].free = *(void **)block;
            heap->recent[index].count--;
            return block;
        }
        slab = heap->open[index];
    }
    if (slab == NULL)
        slab = slab_cut(heap, index);
    return slab != NULL ? slab_get(heap, slab) : NULL;
}

/* --- large blocks ---------------------------------------------------------------------------- */

/* NULL if the system has no memory. */
static void *get_large(struct heap *heap, size_t size)
{
    size_t n = (size + HEAD_SIZE) / SLAB_SIZE + 1;
    unsigned char *start;
    struct slab *slab;
    void *block;

    if (size > SIZE_MAX / 2 || n > UINT32_MAX)
        return NULL;
    if (atomic_load_explicit(&heap->returned, memory_order_relaxed) != NULL)
        take_returned(heap);
    block = n <= RETAINED_SLABS_LIMIT ? heap->retained[n] : NULL;
    if (block != NULL) {
        heap->retained[n] = *(void **)block;
        heap->retained_bytes -= n * SLAB_SIZE;
        idle_memory_change(&heap->idle, -(int64_t)(n * SLAB_SIZE));
    } else {
        start = slabs_map(n);
        if (start == NULL)
            return NULL;
        slab = slab_of(start);
        slab->owner = heap;
        slab->block_size = 0;
        slab->slabs = (uint32_t)n;
        block = start + HEAD_SIZE;
    }
    heap->in_use++;
    return block;
}

static void put_large(struct heap *heap, void *block)
{
    size_t n = slab_of(block)->slabs;

    if (n > RETAINED_SLABS_LIMIT || heap->retained_bytes + n * SLAB_SIZE > RETAINED_BYTES_LIMIT ||
        UNLIKELY(traffic_memory_is_scarce())) {
        slabs_unmap(slab_start(block), n);
        return;
    }
    *(void **)block = heap->retained[n];
    heap->retained[n] = block;
    heap->retained_bytes += n * SLAB_SIZE;
    idle_memory_change(&heap->idle, (int64_t)(n * SLAB_SIZE));
}

/* --- blocks ---------------------------------------------------------------------------------- */

/* The usual case is a pop from a list. The next one is prefetched, because its link will be read
 * then. */
void *heap_get(struct heap *heap, size_t size)
{
    struct recent *recent;
    unsigned index;
    void *block;

    if (UNLIKELY(size > LARGEST))
        return get_large(heap, size);
    index = size_index(size);
    recent = &heap->recent[index];
    block = recent->free;
    if (UNLIKELY(block == NULL))
        return get_slow(heap, index);
    recent->free = *(void **)block;
    recent->count--;
    if (recent->free != NULL)
        PREFETCH(recent->free);
    return block;
}

void *heap_get_zeroed(struct heap *heap, size_t n, size_t size)
{
    void *block;

    if (__builtin_mul_overflow(n, size, &size))
        return NULL;
    block = heap_get(heap, size);
    return block != NULL ? memset(block, 0, size) : NULL;
}

/* Unmaps everything. No block is in use, so large blocks are all in `retained`. */
static void take_down(struct heap *heap)
{
    pages_add_dropped(heap->dropped_count * DROPPED_SIZE);
    idle_memory_fini(&heap->idle);
    for (unsigned n = 0; n <= RETAINED_SLABS_LIMIT; n++)
        while (heap->retained[n] != NULL) {
            void *block = heap->retained[n];

            heap->retained[n] = *(void **)block;
            slabs_unmap(slab_start(block), n);
        }
    while (heap->chunks != NULL) {
        struct chunk *next = heap->chunks->next;

        slabs_unmap(heap->chunks->slabs, CHUNK_SLABS);
        free(heap->chunks);
        heap->chunks = next;
    }
    free(heap);
}

/* acq_rel: the thread that frees the heap sees the writes of all that returned blocks before. */
static void put_abandoned(struct heap *owner, void *block)
{
    const struct slab *slab = slab_of(block);

    if (slab->block_size == 0)
        slabs_unmap(slab_start(block), slab->slabs);
    if (atomic_fetch_sub_explicit(&owner->abroad, 1, memory_order_acq_rel) == 1)
        take_down(owner);
}

/* A lock-free push (Treiber stack). Release publishes the block's link to the owner, acquire sees
 * ABANDONED's `abroad`. */
static COLD void return_to_owner(struct heap *owner, void *block)
{
    void *top = atomic_load_explicit(&owner->returned, memory_order_acquire);

    do {
        if (top == ABANDONED) {
            put_abandoned(owner, block);
            return;
        }
        *(void **)block = top;
    } while (!atomic_compare_exchange_weak_explicit(&owner->returned, &top, block,
                                                    memory_order_release, memory_order_acquire));
}

/* Any thread may return any block. */
void heap_put(struct heap *heap, void *block)
{
    struct recent *recent;
    struct slab *slab;

    if (block == NULL)
        return;
    slab = slab_of(block);
    if (UNLIKELY(slab->owner != heap)) {
        return_to_owner(slab->owner, block);
        return;
    }
    if (UNLIKELY(slab->block_size == 0)) {
        heap->in_use--;
        put_large(heap, block);
        return;
    }
    recent = &heap->recent[slab->size_index];
    if (UNLIKELY(recent->count == recent->limit))
        recent_drain(heap, slab->size_index);
    *(void **)block = recent->free;
    recent->free = block;
    recent->count++;
}

/* Never shrinks in place: a smaller size keeps the block. */
void *heap_resize(struct heap *heap, void *block, size_t size)
{
    struct slab *slab;
    size_t space;
    void *bigger;

    if (block == NULL)
        return heap_get(heap, size);
    slab = slab_of(block);
    space = slab->block_size != 0 ? slab->block_size : slab->slabs * SLAB_SIZE - HEAD_SIZE;
    if (size <= space)
        return block;
    bigger = heap_get(heap, size);
    if (bigger == NULL)
        return NULL;
    memcpy(bigger, block, space);
    heap_put(heap, block);
    return bigger;
}

/* --- begin and end --------------------------------------------------------------------------- */

struct heap *heap_new(void)
{
    struct heap *heap = aligned_alloc(CACHE_LINE, sizeof(*heap));

    if (heap == NULL)
        return NULL;
    memset(heap, 0, sizeof(*heap));
    for (unsigned i = 0; i < SIZES; i++)
        heap->recent[i].limit = index_size(i) <= RECENT_SMALL ? RECENT_SMALL_LIMIT : RECENT_LIMIT;
    return heap;
}

size_t heap_in_use(const struct heap *heap)
{
    size_t recent = 0;

    for (unsigned i = 0; i < SIZES; i++)
        recent += heap->recent[i].count;
    return heap->in_use - recent;
}

/* At the end of the thread. False: other threads still have blocks, and the heap lives until they
 * return them. `abroad` must be set before ABANDONED is visible. */
bool heap_free(struct heap *heap)
{
    void *nothing;

    if (heap == NULL)
        return true;
    do {
        take_returned(heap);
        for (unsigned i = 0; i < SIZES; i++)
            recent_drain(heap, i);
        if (heap->in_use == 0) {
            take_down(heap);
            return true;
        }
        atomic_store_explicit(&heap->abroad, heap->in_use, memory_order_relaxed);
        nothing = NULL;
    } while (!atomic_compare_exchange_strong_explicit(&heap->returned, &nothing, ABANDONED,
                                                      memory_order_acq_rel,
                                                      memory_order_relaxed));
    return false;
}
