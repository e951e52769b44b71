/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_xdp/memory.c - the frames of one thread (UMEM), on the NUMA node of the card. */
#include "config.h"

#ifdef HAVE_XDP
#include "capture/af_xdp/af_xdp.h"

#include <errno.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/array.h"

/* Frames are read at random, so huge pages save TLB misses. Without free huge pages normal ones
 * do. */
#define HUGE_PAGE (2u << 20)

/* Requests memory on the card's node. If that is unknown, the kernel uses the node on which the
 * thread runs, because the first touch happens here. */
static void place_near(const struct xdp_memory *m, int numa_node)
{
    unsigned long nodes = 0;

    if (numa_node < 0 || (unsigned)numa_node >= 8 * sizeof(nodes))
        return;
    nodes = 1ul << numa_node;
    (void)syscall(SYS_mbind, m->area, m->len, MPOL_PREFERRED, &nodes, 8 * sizeof(nodes), 0);
}

static uint8_t *map_area(size_t len)
{
    const int flags = MAP_PRIVATE | MAP_ANONYMOUS;
    void *area = mmap(NULL, len, PROT_READ | PROT_WRITE, flags | MAP_HUGETLB, -1, 0);

    if (area == MAP_FAILED)
        area = mmap(NULL, len, PROT_READ | PROT_WRITE, flags, -1, 0);
    return area != MAP_FAILED ? area : NULL;
}

/* `count` frames of `size` bytes. Only the receiving thread uses the memory's lists. */
int xdp_memory_open(struct xdp_memory *m, unsigned size, unsigned count, int numa_node,
                    struct err *err)
{
    const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

    *m = (struct xdp_memory){ .size = size, .count = count };
    m->len = ((size_t)size * count + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
    /* The kernel counts AF_XDP memory as locked memory, unless we have CAP_IPC_LOCK. */
    (void)setrlimit(RLIMIT_MEMLOCK, &unlimited);
    m->area = map_area(m->len);
    if (m->area == NULL)
        return err_set(err, "no memory for %u frames of AF_XDP: lower max-pending-packets", count);
    place_near(m, numa_node);
    memset(m->area, 0, m->len);
    m->state = xcalloc(count, sizeof(m->state[0]));
    m->free = xcalloc(count, sizeof(m->free[0]));
    xdp_memory_reclaim(m);
    return 0;
}

void xdp_memory_close(struct xdp_memory *m)
{
    if (m->area != NULL)
        munmap(m->area, m->len);
    free(m->state);
    free(m->free);
    *m = (struct xdp_memory){ 0 };
}

/* After the sockets are closed: the kernel has no frame any more, packets in flight still have
 * theirs. */
void xdp_memory_reclaim(struct xdp_memory *m)
{
    m->free_count = 0;
    for (unsigned i = 0; i < m->count; i++) {
        m->state[i] &= FRAME_WITH_PACKET;
        if (m->state[i] == 0)
            m->free[m->free_count++] = i;
    }
}
#endif
