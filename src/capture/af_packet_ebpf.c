/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet_ebpf.c - programs of the user's own, by libbpf. Apart from the filters because
 * libpcap and the kernel use the same names. */
#include "config.h"

#include "capture/af_packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#ifdef HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <pthread.h>
#include <unistd.h>

/* The program of that section; the object goes, the program stays while somebody uses it. */
int af_ebpf_attach(int fd, const char *path, const char *section, int level, int option,
                   struct err *err)
{
    struct bpf_object *object = bpf_object__open_file(path, NULL);
    struct bpf_program *program, *wanted = NULL;
    int status, program_fd;

    if (libbpf_get_error(object) != 0)
        return err_set(err, "%s: no eBPF object file", path);
    bpf_object__for_each_program(program, object) {
        bpf_program__set_type(program, BPF_PROG_TYPE_SOCKET_FILTER);
        if (strcmp(bpf_program__section_name(program), section) == 0)
            wanted = program;
    }
    if (wanted == NULL) {
        bpf_object__close(object);
        return err_set(err, "%s: there is no section \"%s\"", path, section);
    }
    status = bpf_object__load(object);
    program_fd = status == 0 ? bpf_program__fd(wanted) : -1;
    if (program_fd < 0)
        err_set(err, "%s: the kernel refuses the program: %s", path, strerror(-status));
    else if (setsockopt(fd, level, option, &program_fd, sizeof(program_fd)) < 0)
        program_fd = err_set(err, "%s: cannot attach the program: %s", path, strerror(errno));
    bpf_object__close(object);
    return program_fd < 0 ? -1 : 0;
}

/* Only that program is loaded, whatever else the file has. */
static struct bpf_program *find_xdp(struct bpf_object *object)
{
    struct bpf_program *program, *wanted = NULL;

    bpf_object__for_each_program(program, object) {
        bool is_it = wanted == NULL && strcmp(bpf_program__section_name(program), "xdp") == 0;

        bpf_program__set_autoload(program, is_it);
        if (is_it)
            wanted = program;
    }
    if (wanted != NULL)
        bpf_program__set_type(wanted, BPF_PROG_TYPE_XDP);
    return wanted;
}

static int put_before(struct af_conf *conf, int program_fd, int if_index, struct err *err)
{
    LIBBPF_OPTS(bpf_link_create_opts, options, .flags = conf->xdp_flags);
    const char *name = conf->device.name;
    int link = bpf_link_create(program_fd, if_index, BPF_XDP, &options);

    if (link >= 0) {
        conf->xdp_link = link;
        conf->xdp_index = if_index;
        return 0;
    }
    if (errno == EBUSY || errno == EEXIST)
        return err_set(err, "%s has an XDP program of somebody else's: `ip link set dev %s xdp "
                       "off`", name, name);
    return err_set(err, "%s: cannot put %s before it: %s%s", name, conf->xdp_filter_file,
                   strerror(errno), net_rights_hint(errno));
}

static int attach_xdp(struct af_conf *conf, int if_index, struct err *err)
{
    const char *path = conf->xdp_filter_file;
    struct bpf_object *object = bpf_object__open_file(path, NULL);
    struct bpf_program *program;
    int status;

    if (libbpf_get_error(object) != 0)
        return err_set(err, "%s: no eBPF object file", path);
    program = find_xdp(object);
    if (program == NULL)
        status = err_set(err, "%s: there is no section \"xdp\"", path);
    else if ((status = bpf_object__load(object)) < 0)
        status = err_set(err, "%s: the kernel refuses the program: %s", path, strerror(-status));
    else
        status = put_before(conf, bpf_program__fd(program), if_index, err);
    bpf_object__close(object);
    return status;
}

static void detach_xdp(struct af_conf *conf)
{
    if (conf->xdp_index > 0)
        close(conf->xdp_link);
    conf->xdp_index = 0;
}

int af_xdp_filter_open(struct af_conf *conf, int if_index, struct err *err)
{
    int status = 0;

    if (conf->xdp_filter_file == NULL)
        return 0;
    pthread_mutex_lock(&conf->join_lock);
    if (conf->xdp_index != if_index) {
        detach_xdp(conf);
        status = attach_xdp(conf, if_index, err);
    }
    pthread_mutex_unlock(&conf->join_lock);
    return status;
}

void af_xdp_filter_close(struct af_conf *conf)
{
    detach_xdp(conf);
}
#else
int af_xdp_filter_open(struct af_conf *conf, int if_index, struct err *err)
{
    (void)if_index;
    if (conf->xdp_filter_file == NULL)
        return 0;
    return err_set(err, "%s: built without libbpf", conf->xdp_filter_file);
}

void af_xdp_filter_close(struct af_conf *conf)
{
    (void)conf;
}

int af_ebpf_attach(int fd, const char *path, const char *section, int level, int option,
                   struct err *err)
{
    (void)fd, (void)section, (void)level, (void)option;
    return err_set(err, "%s: built without libbpf", path);
}
#endif
