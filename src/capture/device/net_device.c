/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/device/net_device.c - what the kernel knows about an interface. Uses ioctls
 * (netdevice(7)), which work in any network namespace. /sys may show another interface of the same
 * name, because a mount of sysfs belongs to the namespace in which it was mounted. */
#include "capture/device/net_device.h"

#include <errno.h>
#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"

/* A request in progress: a socket for ioctls and the interface's name. */
struct asking {
    int fd;
    struct ifreq rq;
};

static int ask_open(struct asking *a, const char *name)
{
    memset(a, 0, sizeof(*a));
    if (strlen(name) >= sizeof(a->rq.ifr_name)) {
        errno = ENODEV;
        return -1;
    }
    memcpy(a->rq.ifr_name, name, strlen(name));
    a->fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return a->fd < 0 ? -1 : 0;
}

/* Whether an offload is on; false also where the driver does not know it. */
static bool ethtool_flag(struct asking *a, uint32_t command)
{
    struct ethtool_value value = { .cmd = command };

    a->rq.ifr_data = (void *)&value;
    return ioctl(a->fd, SIOCETHTOOL, &a->rq) == 0 && value.data != 0;
}

/* Lists offloads that are on as arguments of ethtool, for the message that suggests to turn them
 * off. */
static void read_offloads(struct asking *a, struct net_device *out)
{
    static const struct { uint32_t command; const char *name; } kinds[] = {
        { ETHTOOL_GGRO, "gro" }, { ETHTOOL_GTSO, "tso" }, { ETHTOOL_GGSO, "gso" },
        { ETHTOOL_GRXCSUM, "rx" }, { ETHTOOL_GTXCSUM, "tx" }, { ETHTOOL_GSG, "sg" },
    };
    struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };
    size_t at = 0;

    for (unsigned i = 0; i < ARRAY_LEN(kinds); i++)
        if (ethtool_flag(a, kinds[i].command))
            at += (size_t)snprintf(out->offloads + at, sizeof(out->offloads) - at, "%s%s off",
                                   at > 0 ? " " : "", kinds[i].name);
    a->rq.ifr_data = (void *)&flags;
    if (ioctl(a->fd, SIOCETHTOOL, &a->rq) == 0 && (flags.data & ETH_FLAG_LRO))
        at += (size_t)snprintf(out->offloads + at, sizeof(out->offloads) - at, "%slro off",
                               at > 0 ? " " : "");
    out->has_offloads = at > 0;
}

static bool set_flag(struct asking *a, uint32_t command, uint32_t data)
{
    struct ethtool_value value = { .cmd = command, .data = data };

    a->rq.ifr_data = (void *)&value;
    return ioctl(a->fd, SIOCETHTOOL, &a->rq) == 0;
}

/* Offloads that join packets. Each bit of net_device_join_off()'s result is a row; LRO is the next
 * bit. */
static const struct { uint32_t get, set; } joining[] = {
    { ETHTOOL_GGRO, ETHTOOL_SGRO }, { ETHTOOL_GTSO, ETHTOOL_STSO }, { ETHTOOL_GGSO, ETHTOOL_SGSO },
};
#define JOINING_LRO (1u << ARRAY_LEN(joining))

/* LRO is one of several flags in a word. */
static bool switch_lro(struct asking *a, bool on)
{
    struct ethtool_value flags = { .cmd = ETHTOOL_GFLAGS };

    a->rq.ifr_data = (void *)&flags;
    if (ioctl(a->fd, SIOCETHTOOL, &a->rq) < 0 || ((flags.data & ETH_FLAG_LRO) != 0) == on)
        return false;
    return set_flag(a, ETHTOOL_SFLAGS, flags.data ^ ETH_FLAG_LRO);
}

/* Returns the offloads that were on. A failure is not an error: the caller reads the offloads
 * again. */
unsigned net_device_join_off(const char *name)
{
    unsigned was = 0;
    struct asking a;

    if (ask_open(&a, name) < 0)
        return 0;
    for (unsigned i = 0; i < ARRAY_LEN(joining); i++)
        if (ethtool_flag(&a, joining[i].get) && set_flag(&a, joining[i].set, 0))
            was |= 1u << i;
    if (switch_lro(&a, false))
        was |= JOINING_LRO;
    close(a.fd);
    return was;
}

void net_device_join_on(const char *name, unsigned was)
{
    struct asking a;

    if (was == 0 || ask_open(&a, name) < 0)
        return;
    for (unsigned i = 0; i < ARRAY_LEN(joining); i++)
        if (was & 1u << i)
            set_flag(&a, joining[i].set, 1);
    if (was & JOINING_LRO)
        switch_lro(&a, true);
    close(a.fd);
}

/* Fails only if the interface does not exist; what cannot be read stays 0. */
int net_device_read(const char *name, struct net_device *out, struct err *err)
{
    struct asking a;

    memset(out, 0, sizeof(*out));
    if (ask_open(&a, name) < 0)
        return err_set(err, "interface %s: %s", name, strerror(errno));
    if (ioctl(a.fd, SIOCGIFINDEX, &a.rq) < 0) {
        close(a.fd);
        return err_set(err, "there is no interface \"%s\"; `ip -br link` lists them", name);
    }
    out->index = a.rq.ifr_ifindex;
    if (ioctl(a.fd, SIOCGIFMTU, &a.rq) == 0)
        out->mtu = (unsigned)a.rq.ifr_mtu;
    if (ioctl(a.fd, SIOCGIFFLAGS, &a.rq) == 0) {
        out->is_up = (a.rq.ifr_flags & IFF_UP) != 0;
        out->is_loopback = (a.rq.ifr_flags & IFF_LOOPBACK) != 0;
    }
    if (ioctl(a.fd, SIOCGIFHWADDR, &a.rq) == 0)
        out->arp_type = a.rq.ifr_hwaddr.sa_family;
    read_offloads(&a, out);
    close(a.fd);
    return 0;
}

/* An interface that was deleted and created again has the same name and another index. */
bool net_device_is(const char *name, int index)
{
    return (int)if_nametoindex(name) == index;
}

bool net_device_is_ready(const char *name, int index)
{
    struct asking a;
    bool up;

    if (!net_device_is(name, index) || ask_open(&a, name) < 0)
        return false;
    up = ioctl(a.fd, SIOCGIFFLAGS, &a.rq) == 0 && (a.rq.ifr_flags & IFF_UP) != 0;
    close(a.fd);
    return up;
}

/* Receive queues: the rings of RSS, or the channels; 1 where a driver reports neither. */
unsigned net_device_queues(const char *name)
{
    struct ethtool_channels channels = { .cmd = ETHTOOL_GCHANNELS };
    struct ethtool_rxnfc rings = { .cmd = ETHTOOL_GRXRINGS };
    struct asking a;
    unsigned count = 0;

    if (ask_open(&a, name) < 0)
        return 1;
    a.rq.ifr_data = (void *)&rings;
    if (ioctl(a.fd, SIOCETHTOOL, &a.rq) == 0)
        count = (unsigned)rings.data;
    a.rq.ifr_data = (void *)&channels;
    if (count == 0 && ioctl(a.fd, SIOCETHTOOL, &a.rq) == 0)
        count = channels.rx_count + channels.combined_count;
    close(a.fd);
    return count > 0 ? count : 1;
}

static FILE *open_file(const char *name, const char *file, const char *mode)
{
    char path[256];

    snprintf(path, sizeof(path), "/sys/class/net/%s/%s", name, file);
    return fopen(path, mode);
}

static bool read_number(const char *name, const char *file, long *out)
{
    FILE *f = open_file(name, file, "re");
    bool good = f != NULL && fscanf(f, "%ld", out) == 1;

    if (f != NULL)
        fclose(f);
    return good;
}

int net_device_numa_node(const char *name)
{
    long node = -1;

    return read_number(name, "device/numa_node", &node) ? (int)node : -1;
}

/* Writes a value below /sys/class/net and returns the former one. Checks the index first, since
 * sysfs may belong to another namespace. */
bool net_device_tune(const char *name, int index, const char *file, unsigned value,
                     unsigned *before)
{
    long there, old;
    bool good;
    FILE *f;

    if (!read_number(name, "ifindex", &there) || there != index || !read_number(name, file, &old))
        return false;
    f = open_file(name, file, "we");
    if (f == NULL)
        return false;
    *before = (unsigned)old;
    good = fprintf(f, "%u", value) > 0;
    return fclose(f) == 0 && good;
}

/* Returns the decoder for the frames. DATALINK_NONE: the engine has none for this hardware. */
enum datalink net_device_link(int arp_type)
{
    switch (arp_type) {
    case ARPHRD_ETHER:
    case ARPHRD_LOOPBACK:
        return DATALINK_ETHERNET;
    case ARPHRD_NONE:
    case ARPHRD_PPP:            /* the kernel takes the PPP header off */
    case ARPHRD_TUNNEL:
    case ARPHRD_TUNNEL6:
    case ARPHRD_SIT:
    case ARPHRD_IPGRE:
    case ARPHRD_RAWIP:
        return DATALINK_RAW;
    default:
        return DATALINK_NONE;
    }
}

/* Text for the end of a message, empty if the error is not about privileges. */
const char *net_rights_hint(int error)
{
    if (error != EPERM && error != EACCES)
        return "";
    return ": run as root, or give the program its rights with "
           "`setcap cap_net_raw,cap_net_admin,cap_bpf,cap_ipc_lock,cap_sys_nice+ep FILE`";
}
