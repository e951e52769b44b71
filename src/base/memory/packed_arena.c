/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/memory/packed_arena.c - regions of chunks. An object is in one chunk, and a region is
 * aligned to its size, so an object's address gives both. The first chunk of a region only says
 * which region it is. */
#include "base/memory/packed_arena.h"

#include "base/array.h"
#include "base/memory/packer.h"
#include "base/memory/pages.h"
#include "base/memory/traffic_memory.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define REGION_SIZE (256u << 10)
#define CHUNKS (REGION_SIZE / PACKED_CHUNK)

struct packed_region {
    struct packed_region *next;
    uint8_t *memory;
    struct packer *packer;              /* of what is packed; its lock is for unpacking */
    uint32_t used;                      /* bytes, the header's chunk included */
    struct {
        void *packed;                   /* atomic; NULL: the chunk may be read */
        uint32_t size;
    } chunk[CHUNKS];
};

static struct packed_region *region_of(const void *object)
{
    return *(struct packed_region **)((uintptr_t)object & ~(uintptr_t)(REGION_SIZE - 1));
}

static uint8_t *chunk_start(struct packed_region *region, unsigned i)
{
    return region->memory + (size_t)i * PACKED_CHUNK;
}

static struct packed_region *region_new(struct packed_arena *arena)
{
    struct packed_region *region = xcalloc(1, sizeof(*region));

    while ((region->memory = pages_map(REGION_SIZE, REGION_SIZE)) == NULL)
        out_of_memory(REGION_SIZE);
    *(struct packed_region **)region->memory = region;
    region->used = PACKED_CHUNK;
    region->next = arena->regions;
    arena->regions = region;
    return region;
}

void *packed_arena_alloc(struct packed_arena *arena, size_t size)
{
    struct packed_region *region = arena->regions;
    uint32_t left;

    if (size > PACKED_CHUNK)
        return NULL;
    size = (size + 7) & ~(size_t)7;
    left = region != NULL ? -region->used % PACKED_CHUNK : 0;
    if (left < size) {
        if (region != NULL)
            region->used += left;
        if (region == NULL || region->used == REGION_SIZE)
            region = region_new(arena);
    }
    region->used += (uint32_t)size;
    arena->used += size;
    return region->memory + region->used - size;
}

/* What does not save a page stays as it is. */
static void chunk_pack(struct packed_region *region, unsigned i)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    uint8_t packed[PACKED_CHUNK];
    size_t size = packer_pack(region->packer, chunk_start(region, i), PACKED_CHUNK, packed,
                              sizeof(packed));

    if (size == 0 || size + page > PACKED_CHUNK)
        return;
    region->chunk[i].size = (uint32_t)size;
    region->chunk[i].packed = memcpy(xmalloc(size), packed, size);
    (void)madvise(chunk_start(region, i), PACKED_CHUNK, MADV_DONTNEED);
    traffic_memory_release(PACKED_CHUNK);
}

/* Only once: later another thread may be reading what has been unpacked. */
void packed_arena_close(struct packed_arena *arena, struct packer *packer)
{
    if (arena->closed)
        return;
    arena->closed = true;
    for (struct packed_region *r = arena->regions; r != NULL; r = r->next) {
        r->packer = packer_ref(packer);
        for (unsigned i = 1; i * PACKED_CHUNK < r->used; i++)
            chunk_pack(r, i);
    }
}

/* The lock lets only one thread unpack; others read once there is nothing packed. */
static COLD void chunk_unpack(struct packed_region *region, unsigned i)
{
    void *packed;

    packer_lock(region->packer);
    packed = region->chunk[i].packed;
    if (packed != NULL) {
        traffic_memory_add(PACKED_CHUNK);
        (void)!packer_unpack(region->packer, packed, region->chunk[i].size,
                             chunk_start(region, i), PACKED_CHUNK);
        __atomic_store_n(&region->chunk[i].packed, NULL, __ATOMIC_RELEASE);
        free(packed);
    }
    packer_unlock(region->packer);
}

static inline void chunk_read(struct packed_region *region, unsigned i)
{
    if (UNLIKELY(__atomic_load_n(&region->chunk[i].packed, __ATOMIC_ACQUIRE) != NULL))
        chunk_unpack(region, i);
}

void packed_read(const void *object)
{
    struct packed_region *region = region_of(object);

    chunk_read(region, (unsigned)((uintptr_t)object % REGION_SIZE / PACKED_CHUNK));
}

void packed_arena_read_all(struct packed_arena *arena)
{
    for (struct packed_region *r = arena->regions; r != NULL; r = r->next)
        for (unsigned i = 1; i * PACKED_CHUNK < r->used; i++)
            chunk_read(r, i);
}

void packed_arena_fini(struct packed_arena *arena)
{
    while (arena->regions != NULL) {
        struct packed_region *region = arena->regions;

        arena->regions = region->next;
        for (unsigned i = 1; i < CHUNKS; i++)
            if (region->chunk[i].packed != NULL) {
                free(region->chunk[i].packed);
                traffic_memory_add(PACKED_CHUNK);       /* what unmapping subtracts */
            }
        packer_unref(region->packer);
        pages_unmap(region->memory, REGION_SIZE);
        free(region);
    }
}
