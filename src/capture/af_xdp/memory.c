/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_xdp/memory.c - the frames of one thread (UMEM), on the NUMA node of the card. */
#include "config.h"

#ifdef HAVE_XDP
#include "capture/af_xdp/af_xdp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/memfd.h>
#include <linux/mempolicy.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
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

/* A file in memory, which another process can map, too (handover.h). */
static bool map_area(struct xdp_memory *m, unsigned flags)
{
    void *area = MAP_FAILED;

    m->fd = memfd_create("frames", MFD_CLOEXEC | flags);
    if (m->fd >= 0 && ftruncate(m->fd, (off_t)m->len) == 0)
        area = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (area != MAP_FAILED) {
        m->area = area;
        return true;
    }
    if (m->fd >= 0)
        close(m->fd);
    m->fd = -1;
    return false;
}

/* The states are behind the frames, so that another process finds them. */
static void lay_out(struct xdp_memory *m, unsigned size, unsigned count)
{
    *m = (struct xdp_memory){ .size = size, .count = count, .fd = -1 };
    m->len = ((size_t)(size + 1) * count + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
}

static void make_lists(struct xdp_memory *m)
{
    m->state = m->area + (size_t)m->size * m->count;
    m->free = xcalloc(m->count, sizeof(m->free[0]));
}

/* `count` frames of `size` bytes. Only the receiving thread uses the memory's lists. */
int xdp_memory_open(struct xdp_memory *m, unsigned size, unsigned count, int numa_node,
                    struct err *err)
{
    const struct rlimit unlimited = { RLIM_INFINITY, RLIM_INFINITY };

    lay_out(m, size, count);
    /* The kernel counts AF_XDP memory as locked memory, unless we have CAP_IPC_LOCK. */
    (void)setrlimit(RLIMIT_MEMLOCK, &unlimited);
    if (!map_area(m, MFD_HUGETLB | MFD_HUGE_2MB) && !map_area(m, 0))
        return err_set(err, "no memory for %u frames of AF_XDP: lower max-pending-packets", count);
    place_near(m, numa_node);
    memset(m->area, 0, m->len);
    make_lists(m);
    xdp_memory_reclaim(m);
    return 0;
}

/* The frames of another process, which uses them until xdp_memory_resume(). */
int xdp_memory_adopt(struct xdp_memory *m, unsigned size, unsigned count, int fd, struct err *err)
{
    struct stat st;
    void *area;

    lay_out(m, size, count);
    m->fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (m->fd < 0 || fstat(m->fd, &st) < 0 || st.st_size < (off_t)m->len)
        return err_set(err, "the engine that runs gives no memory of AF_XDP");
    area = mmap(NULL, m->len, PROT_READ | PROT_WRITE, MAP_SHARED, m->fd, 0);
    if (area == MAP_FAILED)
        return err_set(err, "cannot map the frames of AF_XDP: %s", strerror(errno));
    m->area = area;
    make_lists(m);
    return 0;
}

/* Packets of the other process have ended with it. What the kernel has comes back by the rings. */
void xdp_memory_resume(struct xdp_memory *m)
{
    m->free_count = 0;
    for (unsigned i = 0; i < m->count; i++) {
        m->state[i] &= (uint8_t)~FRAME_WITH_PACKET;
        if (m->state[i] == 0)
            m->free[m->free_count++] = i;
    }
}

unsigned xdp_memory_count(const struct xdp_memory *m, uint8_t reason)
{
    unsigned n = 0;

    for (unsigned i = 0; i < m->count; i++)
        n += (m->state[i] & reason) != 0;
    return n;
}

void xdp_memory_close(struct xdp_memory *m)
{
    if (m->area != NULL)
        munmap(m->area, m->len);
    if (m->fd >= 0)
        close(m->fd);
    free(m->free);
    *m = (struct xdp_memory){ .fd = -1 };
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
