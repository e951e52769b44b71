/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_xdp/prog.c - the XDP program of an interface. It redirects each packet to the socket
 * that the table has for its receive queue. Without a socket the packet takes its usual way through
 * the kernel.
 *
 * A link that we hold keeps the program attached, so the kernel removes it when we end, even after
 * SIGKILL. */
#include "config.h"

#ifdef HAVE_XDP
#include "capture/af_xdp/af_xdp.h"

#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <string.h>
#include <unistd.h>

/* return bpf_redirect_map(&map, ctx->rx_queue_index, XDP_PASS): the last argument is the result for
 * queues without a socket. */
static int load_program(int map_fd)
{
    const struct bpf_insn program[] = {
        { .code = BPF_LDX | BPF_MEM | BPF_W, .dst_reg = BPF_REG_2, .src_reg = BPF_REG_1,
          .off = offsetof(struct xdp_md, rx_queue_index) },
        { .code = BPF_LD | BPF_DW | BPF_IMM, .dst_reg = BPF_REG_1,
          .src_reg = BPF_PSEUDO_MAP_FD, .imm = map_fd },
        { .code = 0 },                  /* the upper half of the number */
        { .code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_3, .imm = XDP_PASS },
        { .code = BPF_JMP | BPF_CALL, .imm = BPF_FUNC_redirect_map },
        { .code = BPF_JMP | BPF_EXIT },
    };

    return bpf_prog_load(BPF_PROG_TYPE_XDP, "ids_gate", "GPL", program, ARRAY_LEN(program), NULL);
}

/* EBUSY or EEXIST: another program is attached, and only one can be. */
static int log_reason(const struct xdp_conf *conf, int error, struct err *err)
{
    const char *name = conf->device.name;

    if (error == EBUSY || error == EEXIST)
        return err_set(err, "%s has an XDP program of another process: `ip link set dev %s xdp "
                       "off`", name, name);
    if (error == EOPNOTSUPP && conf->attach_flags != 0)
        return err_set(err, "%s cannot run XDP programs in the mode of force-xdp-mode", name);
    return err_set(err, "%s: cannot put an XDP program before it: %s%s", name, strerror(error),
                   net_rights_hint(error));
}

static void close_fd(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

/* A thread that polls needs no interrupts while it polls (Documentation/networking/napi.rst). The
 * former values are kept and restored. */
static void tune(struct xdp_conf *conf, int if_index)
{
    struct xdp_prog *prog = &conf->prog;
    const char *name = conf->device.name;

    prog->is_tuned = conf->busy_poll &&
                     net_device_tune(name, if_index, "gro_flush_timeout", conf->gro_flush_ns,
                                     &prog->gro_flush_ns) &&
                     net_device_tune(name, if_index, "napi_defer_hard_irqs",
                                     conf->defer_interrupts, &prog->defer_interrupts);
}

static void tune_back(struct xdp_conf *conf)
{
    struct xdp_prog *prog = &conf->prog;
    const char *name = conf->device.name;
    unsigned ours;

    if (prog->is_tuned) {
        net_device_tune(name, prog->if_index, "gro_flush_timeout", prog->gro_flush_ns, &ours);
        net_device_tune(name, prog->if_index, "napi_defer_hard_irqs", prog->defer_interrupts,
                        &ours);
    }
    prog->is_tuned = false;
}

/* The caller holds prog->lock, or is the last thread. */
void xdp_prog_close(struct xdp_conf *conf)
{
    struct xdp_prog *prog = &conf->prog;

    tune_back(conf);
    close_fd(&prog->link_fd);
    close_fd(&prog->program_fd);
    close_fd(&prog->map_fd);
    prog->if_index = 0;
}

/* On error the caller closes what is open. */
static int attach(struct xdp_conf *conf, int if_index, struct err *err)
{
    LIBBPF_OPTS(bpf_link_create_opts, options, .flags = conf->attach_flags);
    struct xdp_prog *prog = &conf->prog;

    prog->map_fd = bpf_map_create(BPF_MAP_TYPE_XSKMAP, "ids_sockets", sizeof(uint32_t),
                                  sizeof(uint32_t), conf->queues, NULL);
    if (prog->map_fd < 0)
        return log_reason(conf, errno, err);
    prog->program_fd = load_program(prog->map_fd);
    if (prog->program_fd < 0)
        return log_reason(conf, errno, err);
    prog->link_fd = bpf_link_create(prog->program_fd, if_index, BPF_XDP, &options);
    if (prog->link_fd < 0)
        return log_reason(conf, errno, err);
    prog->if_index = if_index;
    tune(conf, if_index);
    return 0;
}

/* The first thread of the interface attaches the program; after a new interface of the same name
 * exists, the first one to reopen does. */
int xdp_prog_open(struct xdp_conf *conf, int if_index, struct err *err)
{
    struct xdp_prog *prog = &conf->prog;
    int status = 0;

    pthread_mutex_lock(&prog->lock);
    if (prog->if_index != if_index) {
        xdp_prog_close(conf);
        status = attach(conf, if_index, err);
        if (status < 0)
            xdp_prog_close(conf);
    }
    pthread_mutex_unlock(&prog->lock);
    return status;
}

/* Its table has the sockets already. Our own table comes when the interface is opened again. */
int xdp_prog_adopt(struct xdp_conf *conf, int if_index, int link_fd, struct err *err)
{
    struct xdp_prog *prog = &conf->prog;
    int status = 0;

    pthread_mutex_lock(&prog->lock);
    if (prog->if_index != if_index) {
        prog->link_fd = fcntl(link_fd, F_DUPFD_CLOEXEC, 3);
        if (prog->link_fd < 0)
            status = err_set(err, "%s: the engine that runs gives no XDP program",
                             conf->device.name);
        else
            prog->if_index = if_index;
    }
    pthread_mutex_unlock(&prog->lock);
    return status;
}

/* From here on the kernel redirects packets of this queue to the socket. */
int xdp_prog_enable(struct xdp_prog *prog, unsigned queue, int socket_fd, struct err *err)
{
    uint32_t key = queue, value = (uint32_t)socket_fd;
    int status;

    pthread_mutex_lock(&prog->lock);
    status = bpf_map_update_elem(prog->map_fd, &key, &value, BPF_ANY);
    pthread_mutex_unlock(&prog->lock);
    return status == 0 ? 0 : err_set(err, "the table of AF_XDP sockets: %s", strerror(errno));
}
#endif
