/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/filter.c - decides which packets a socket gets: its filter, and its position in
 * the fanout group of the interface. */
#include "capture/af_packet/af_packet.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <pcap/pcap.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"

/* libpcap's maximum; filters return it as "all bytes". */
#define SNAPLEN 262144
#define FANOUT_ID(arg) ((arg) & 0xffff)

/* Classic BPF has at most BPF_MAXINSNS (4,096) instructions; the kernel rejects more. */
static int attach(int fd, const struct sock_filter *code, unsigned len, struct err *err)
{
    struct sock_fprog program = { .len = (unsigned short)len,
                                  .filter = (struct sock_filter *)code };

    if (setsockopt(fd, SOL_SOCKET, SO_ATTACH_FILTER, &program, sizeof(program)) < 0)
        return err_set(err, "the kernel does not take the packet filter: %s", strerror(errno));
    return 0;
}

/* Between bind() and the start a socket would already queue packets; this filter drops them. */
int af_filter_nothing(int fd, struct err *err)
{
    struct sock_filter none = BPF_STMT(BPF_RET | BPF_K, 0);

    return attach(fd, &none, 1, err);
}

static int dlt_of(const struct af_conf *conf)
{
    return net_device_link(conf->facts.arp_type) == DATALINK_RAW ? DLT_RAW : DLT_EN10MB;
}

/* The kernel keeps VLAN tags outside of the frame that a socket filter sees. Only for a live
 * capture handle does libpcap compile `vlan` so that it reads them there. */
static pcap_t *open_compiler(const struct af_conf *conf, const char *expression)
{
    char text[PCAP_ERRBUF_SIZE];
    pcap_t *live;

    if (strstr(expression, "vlan") == NULL)
        return pcap_open_dead(dlt_of(conf), SNAPLEN);
    live = pcap_create(conf->device.name, text);
    if (live == NULL || pcap_set_snaplen(live, SNAPLEN) != 0 || pcap_activate(live) >= 0)
        return live;
    pcap_close(live);
    return pcap_open_dead(dlt_of(conf), SNAPLEN);
}

/* Compiles with libpcap, whose instructions have the kernel's format. pcap_compile() in libpcap
 * before 1.8 is not thread-safe; only the main thread calls this. */
int af_filter_compile(struct af_conf *conf, const char *expression, struct err *err)
{
    pcap_t *compiler = open_compiler(conf, expression);
    struct bpf_program program;
    int status;

    if (compiler == NULL)
        return err_set(err, "libpcap has no memory");
    status = pcap_compile(compiler, &program, expression, 1, PCAP_NETMASK_UNKNOWN);
    if (status < 0) {
        err_set(err, "bpf-filter \"%s\": %s", expression, pcap_geterr(compiler));
    } else {
        conf->filter_len = program.bf_len;
        conf->filter = xcalloc(program.bf_len, sizeof(conf->filter[0]));
        memcpy(conf->filter, program.bf_insns, program.bf_len * sizeof(conf->filter[0]));
        pcap_freecode(&program);
    }
    pcap_close(compiler);
    return status;
}

void af_filter_free(struct af_conf *conf)
{
    free(conf->filter);
    conf->filter = NULL;
}

static int attach_program(int fd, int program_fd, int level, int option, struct err *err)
{
    if (setsockopt(fd, level, option, &program_fd, sizeof(program_fd)) < 0)
        return err_set(err, "the kernel does not take the eBPF program: %s", strerror(errno));
    return 0;
}

/* In order of precedence. A socket can have one filter; each option replaces the one that lets
 * nothing in. Without any, SO_DETACH_FILTER opens the socket. A socket that comes from another
 * process has no filter any more (ENOENT). */
int af_filter_attach(int fd, const struct af_conf *conf, struct err *err)
{
    int ignored = 0;

    if (conf->filter != NULL)
        return attach(fd, conf->filter, conf->filter_len, err);
    if (conf->filter_fd >= 0)
        return attach_program(fd, conf->filter_fd, SOL_SOCKET, SO_ATTACH_BPF, err);
    if (conf->bypass != NULL)
        return af_bypass_attach(conf->bypass, fd, err);
    if (setsockopt(fd, SOL_SOCKET, SO_DETACH_FILTER, &ignored, sizeof(ignored)) < 0 &&
        errno != ENOENT)
        return err_set(err, "cannot take the packet filter off: %s", strerror(errno));
    return 0;
}

/* --- fanout ------------------------------------------------------------------------------- */

/* Tries to join with another type: the kernel refuses that if the group exists (EINVAL, ENOSPC),
 * and otherwise makes a group, which closes with the socket. */
static bool group_exists(const struct af_conf *conf)
{
    unsigned other = (conf->fanout_type & 0xff) == PACKET_FANOUT_LB ? PACKET_FANOUT_RND
                                                                    : PACKET_FANOUT_LB;
    struct sockaddr_ll at = { .sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL),
                              .sll_ifindex = conf->facts.index };
    int arg = (int)(conf->cluster_id | other << 16);
    int fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    bool exists;

    if (fd < 0)
        return false;
    af_filter_nothing(fd, NULL);
    exists = bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0 &&
             setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, sizeof(arg)) < 0 &&
             (errno == EINVAL || errno == ENOSPC);
    close(fd);
    return exists;
}

/* The id is in the low 16 bits of the option, type and flags in the high ones (packet(7)). With
 * UNIQUEID the kernel chooses the id, which getsockopt() returns. */
static int join(int fd, struct af_conf *conf, unsigned id, unsigned flags, struct err *err)
{
    int arg = (int)(id | (conf->fanout_type | flags) << 16);
    socklen_t len = sizeof(arg);

    if (setsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, sizeof(arg)) < 0)
        return err_set(err, "%s: cannot join fanout group %u: %s%s", conf->device.name, id,
                       strerror(errno), errno == EINVAL ? ": another program or interface has it, "
                       "with other settings; give another cluster-id" : "");
    if (getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, &len) == 0)
        __atomic_store_n(&conf->fanout_id, FANOUT_ID(arg), __ATOMIC_RELAXED);
    return 0;
}

/* The caller holds join_lock. The first member creates the group and installs the eBPF program that
 * distributes packets (PACKET_FANOUT_DATA). */
static int join_group(int fd, struct af_conf *conf, struct err *err)
{
    int id = __atomic_load_n(&conf->fanout_id, __ATOMIC_RELAXED);

    if (id < 0 && conf->cluster_id != 0 && group_exists(conf))
        return err_set(err, "%s: fanout group %u is in use: another program would get a share of "
                       "the packets; give another cluster-id", conf->device.name,
                       conf->cluster_id);
    if (join(fd, conf, id >= 0 ? (unsigned)id : conf->cluster_id,
             id < 0 && conf->cluster_id == 0 ? PACKET_FANOUT_FLAG_UNIQUEID : 0, err) < 0)
        return -1;
    if (conf->joined == 0 && conf->lb_fd >= 0)
        return attach_program(fd, conf->lb_fd, SOL_PACKET, PACKET_FANOUT_DATA, err);
    return 0;
}

/* Another process has joined with the socket. An interface that comes back later needs a group with
 * as many members. */
void af_fanout_adopt(int fd, struct af_conf *conf, int if_index, int position)
{
    int arg = 0;
    socklen_t len = sizeof(arg);

    if (position < 0)
        return;
    pthread_mutex_lock(&conf->join_lock);
    if (getsockopt(fd, SOL_PACKET, PACKET_FANOUT, &arg, &len) == 0)
        __atomic_store_n(&conf->fanout_id, FANOUT_ID(arg), __ATOMIC_RELAXED);
    conf->joined_index = if_index;
    conf->joined = MAX(conf->joined, (unsigned)position + 1);
    pthread_mutex_unlock(&conf->join_lock);
}

/* *position -1 gets the next position of the group. A thread that reopens requires its old one:
 * both ports of a bridge must keep the same order, because the kernel selects a member by hash
 * modulo the number of members. */
int af_fanout_join(int fd, struct af_conf *conf, int if_index, int *position, struct err *err)
{
    int status;

    pthread_mutex_lock(&conf->join_lock);
    if (conf->joined_index != if_index) {
        conf->joined_index = if_index;
        conf->joined = 0;
    }
    if (*position >= 0 && conf->joined != (unsigned)*position)
        status = err_set(err, "%s: not yet this thread's turn to join", conf->device.name);
    else
        status = join_group(fd, conf, err);
    if (status == 0)
        *position = (int)conf->joined++;
    pthread_mutex_unlock(&conf->join_lock);
    return status;
}
