/* SPDX-License-Identifier: GPL-2.0-or-later */
/* engine/topology.c - from hwloc's tree to a flat table of CPUs.
 *
 * The table is sorted by the CPU numbers of the kernel. All others (core, package, node, cache) are
 * hwloc's logical ones, which start at 0 and have no holes. -1: the machine has no such level. */
#include "engine/topology.h"

#include "base/array.h"
#include "engine/cgroup.h"

#include <errno.h>
#include <hwloc.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int ancestor_number(hwloc_topology_t hw, hwloc_obj_t pu, hwloc_obj_type_t type)
{
    hwloc_obj_t obj = hwloc_get_ancestor_obj_by_type(hw, type, pu);

    return obj != NULL ? (int)obj->logical_index : -1;
}

/* Since hwloc 2.0 NUMA nodes are not in the tree of CPUs: the node is found by the CPUs it
 * serves. */
static int numa_number(hwloc_topology_t hw, hwloc_obj_t pu)
{
    hwloc_obj_t node = NULL;

    while ((node = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_NUMANODE, node)) != NULL)
        if (hwloc_bitmap_isset(node->cpuset, pu->os_index))
            return (int)node->logical_index;
    return -1;
}

static int compare_os(const void *a, const void *b)
{
    const struct topology_cpu *x = a, *y = b;

    return x->os < y->os ? -1 : x->os > y->os;
}

/* Numbers the hardware threads of each core. hwloc's sibling rank goes by logical number and lacks
 * offline threads, so counting is as easy. */
static void number_threads(struct topology *t)
{
    for (unsigned i = 0; i < t->count; i++)
        for (unsigned before = 0; before < i; before++)
            if (t->cpu[before].core == t->cpu[i].core && t->cpu[i].core >= 0)
                t->cpu[i].thread++;
}

/* hwloc returns -1 where a type has several levels; that counts as none. */
static unsigned type_count(hwloc_topology_t hw, hwloc_obj_type_t type)
{
    int n = hwloc_get_nbobjs_by_type(hw, type);

    return n > 0 ? (unsigned)n : 0;
}

/* Takes ownership of `hw`. */
static void flatten(struct topology *t, hwloc_topology_t hw)
{
    hwloc_obj_t pu = NULL;
    unsigned i = 0;

    t->count = type_count(hw, HWLOC_OBJ_PU);
    t->cpu = xcalloc(t->count > 0 ? t->count : 1, sizeof(t->cpu[0]));
    while ((pu = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_PU, pu)) != NULL && i < t->count) {
        t->cpu[i++] = (struct topology_cpu){
            .os = pu->os_index,
            .core = ancestor_number(hw, pu, HWLOC_OBJ_CORE),
            .package = ancestor_number(hw, pu, HWLOC_OBJ_PACKAGE),
            .l3 = ancestor_number(hw, pu, HWLOC_OBJ_L3CACHE),
            .l2 = ancestor_number(hw, pu, HWLOC_OBJ_L2CACHE),
            .numa = numa_number(hw, pu),
        };
        cpu_set_add(&t->all, pu->os_index);
    }
    qsort(t->cpu, t->count, sizeof(t->cpu[0]), compare_os);
    number_threads(t);
    t->cores = type_count(hw, HWLOC_OBJ_CORE);
    t->packages = type_count(hw, HWLOC_OBJ_PACKAGE);
    t->numas = type_count(hw, HWLOC_OBJ_NUMANODE);
    t->l3s = type_count(hw, HWLOC_OBJ_L3CACHE);
    t->allowed = t->all;
    t->hwloc = hw;
}

/* text NULL: this machine. Only of a described one are devices kept: sysfs names the node of this
 * machine's interfaces, and to look for devices takes 6 ms. */
static struct topology *topology_load(const char *text, bool is_file, struct err *err)
{
    hwloc_topology_t hw;
    struct topology *t;

    if (hwloc_topology_init(&hw) < 0) {
        err_set(err, "topology: hwloc does not start");
        return NULL;
    }
    if (text != NULL && (is_file ? hwloc_topology_set_xml(hw, text)
                                 : hwloc_topology_set_synthetic(hw, text)) < 0) {
        err_set(err, "topology \"%s\": %s", text, is_file ? "not an hwloc XML file"
                : "expected an hwloc description such as \"pack:2 core:6 pu:2\", or an XML file");
        hwloc_topology_destroy(hw);
        return NULL;
    }
    if (is_file)
        hwloc_topology_set_io_types_filter(hw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT);
    if (hwloc_topology_load(hw) < 0) {
        err_set(err, "topology: hwloc cannot read %s", text != NULL ? text : "this machine");
        hwloc_topology_destroy(hw);
        return NULL;
    }
    t = xcalloc(1, sizeof(*t));
    flatten(t, hw);
    if (is_file && strrchr(text, '/') != NULL)
        text = strrchr(text, '/') + 1;
    snprintf(t->text, sizeof(t->text), "%s", text != NULL ? text : "of this machine");
    return t;
}

/* CPUs that the affinity mask allows (taskset, cpuset cgroups). If the mask cannot be read, or
 * names no CPU of hwloc's, all are allowed. */
static void read_allowed(struct topology *t)
{
    size_t size = CPU_ALLOC_SIZE(CPUS_MAX);
    cpu_set_t *mask = CPU_ALLOC(CPUS_MAX);

    t->allowed = t->all;
    if (mask == NULL)
        return;
    if (sched_getaffinity(0, size, mask) == 0)
        for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
            if (!CPU_ISSET_S(cpu, size, mask))
                cpu_set_remove(&t->allowed, cpu);
    CPU_FREE(mask);
    if (cpu_set_count(&t->allowed) == 0)
        t->allowed = t->all;
}

void topology_read_limits(struct topology *t)
{
    if (!t->is_this_machine)
        return;
    read_allowed(t);
    t->quota = cgroup_cpus("/proc/self/cgroup", "/sys/fs/cgroup");
}

struct topology *topology_of_machine(struct err *err)
{
    struct topology *t = topology_load(NULL, false, err);

    if (t == NULL)
        return NULL;
    t->is_this_machine = true;
    topology_read_limits(t);
    return t;
}

/* A name that can be read is an hwloc XML file (as `lstopo FILE.xml` writes); anything else is an
 * hwloc synthetic description. */
struct topology *topology_described(const char *text, struct err *err)
{
    return topology_load(text, access(text, R_OK) == 0, err);
}

void topology_free(struct topology *t)
{
    if (t == NULL)
        return;
    hwloc_topology_destroy(t->hwloc);
    free(t->cpu);
    free(t);
}

/* Finds by kernel number; NULL if the topology lacks the CPU. */
const struct topology_cpu *topology_find(const struct topology *t, unsigned os)
{
    struct topology_cpu key = { .os = os };

    return bsearch(&key, t->cpu, t->count, sizeof(key), compare_os);
}

/* Reads the node from sysfs: a PCI address has colons, an interface name has none. "-1" in the file
 * means that the firmware does not report it. A name with a slash could leave the directory. */
static int sysfs_numa(const char *interface)
{
    char path[256];
    FILE *f;
    int node = -1;

    if (strchr(interface, '/') != NULL)
        return -1;
    snprintf(path, sizeof(path), strchr(interface, ':') != NULL
             ? "/sys/bus/pci/devices/%s/numa_node" : "/sys/class/net/%s/device/numa_node",
             interface);
    f = fopen(path, "re");
    if (f == NULL)
        return -1;
    if (fscanf(f, "%d", &node) != 1)
        node = -1;
    fclose(f);
    return node;
}

/* Converts the kernel's number of a NUMA node to hwloc's logical number; -1 if there is no such
 * node. */
static int numa_from_os(hwloc_topology_t hw, int os)
{
    hwloc_obj_t node = NULL;

    while ((node = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_NUMANODE, node)) != NULL)
        if ((int)node->os_index == os)
            return (int)node->logical_index;
    return -1;
}

/* For a described machine the XML file may contain its network devices. A device hangs below the
 * part of the machine that it is attached to; only a single node counts. */
int topology_interface_numa(const struct topology *t, const char *interface)
{
    hwloc_topology_t hw = t->hwloc;
    hwloc_obj_t device = NULL;

    if (t->is_this_machine)
        return numa_from_os(hw, sysfs_numa(interface));
    while ((device = hwloc_get_next_osdev(hw, device)) != NULL) {
        hwloc_obj_t place, node = NULL;

        if (device->name == NULL || strcmp(device->name, interface) != 0)
            continue;
        place = hwloc_get_non_io_ancestor_obj(hw, device);
        while ((node = hwloc_get_next_obj_by_type(hw, HWLOC_OBJ_NUMANODE, node)) != NULL)
            if (place != NULL && t->numas > 0 &&
                hwloc_bitmap_isequal(node->nodeset, place->nodeset))
                return (int)node->logical_index;
    }
    return -1;
}

bool topology_bind_memory(const struct topology *t, int numa)
{
    hwloc_obj_t node = hwloc_get_obj_by_type(t->hwloc, HWLOC_OBJ_NUMANODE, (unsigned)numa);

    if (!t->is_this_machine || node == NULL) {
        errno = ENODEV;
        return false;
    }
    /* Without HWLOC_MEMBIND_STRICT, under which a full node would end the process. */
    return hwloc_set_membind(t->hwloc, node->nodeset, HWLOC_MEMBIND_BIND,
                             HWLOC_MEMBIND_THREAD | HWLOC_MEMBIND_BYNODESET) == 0;
}

static int part_of(const struct topology_cpu *cpu, enum topology_part part)
{
    switch (part) {
    case TOPOLOGY_NUMA: return cpu->numa;
    case TOPOLOGY_PACKAGE: return cpu->package;
    case TOPOLOGY_CORE: return cpu->core;
    case TOPOLOGY_L3: return cpu->l3;
    }
    return -1;
}

/* All CPUs of part n; false if there is none. */
bool topology_part_cpus(const struct topology *t, enum topology_part part, unsigned n,
                        struct cpu_set *out)
{
    bool found = false;

    *out = (struct cpu_set){ 0 };
    for (unsigned i = 0; i < t->count; i++)
        if (part_of(&t->cpu[i], part) == (int)n) {
            cpu_set_add(out, t->cpu[i].os);
            found = true;
        }
    return found;
}

unsigned topology_part_count(const struct topology *t, enum topology_part part)
{
    const unsigned counts[] = { t->numas, t->packages, t->cores, t->l3s };

    return counts[part];
}

/* Keeps the hardware thread with the lowest CPU number of each core, for `no-smt`. */
void topology_one_per_core(const struct topology *t, struct cpu_set *s)
{
    struct cpu_set cores_seen = { 0 };

    for (unsigned i = 0; i < t->count; i++) {
        const struct topology_cpu *cpu = &t->cpu[i];

        if (!cpu_set_has(s, cpu->os) || cpu->core < 0)
            continue;
        if (cpu_set_has(&cores_seen, (unsigned)cpu->core))
            cpu_set_remove(s, cpu->os);
        cpu_set_add(&cores_seen, (unsigned)cpu->core);
    }
}
