/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet/ebpf.c - the user's own programs, through libbpf. Separate from the filters
 * because libpcap and the kernel use the same names. */
#include "config.h"

#include "capture/af_packet/af_packet.h"

#ifdef HAVE_BPF
#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_link.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/report/log.h"
#include "base/text/text.h"

/* Logs warnings of libbpf line by line, such as the verifier's reason for refusing a program. */
static int log_libbpf(enum libbpf_print_level level, const char *fmt, va_list args)
{
    struct text rest, line;
    char text[4096];

    vsnprintf(text, sizeof(text), fmt, args);
    rest = text_of(text);
    while (level == LIBBPF_WARN && rest.n > 0 && text_split(&rest, '\n', &line))
        if (line.n > 0)
            log_info("af-packet", "%.*s", TEXT(line));
    return 0;
}

/* libbpf may be old (errors as pointers) or new (NULL with errno); libbpf_get_error() handles
 * both. */
static struct bpf_object *open_object(const char *path, struct err *err)
{
    struct bpf_object *object = NULL;

    libbpf_set_print(log_libbpf);
    if (access(path, R_OK) < 0)
        err_set(err, "%s: %s", path, strerror(errno));
    else if (libbpf_get_error(object = bpf_object__open_file(path, NULL)) != 0)
        object = NULL, err_set(err, "%s: no eBPF object file, as `clang -O2 -g -target bpf -c` "
                               "makes them", path);
    return object;
}

/* Loads this program only: others in the file may need features that the kernel lacks. */
static struct bpf_program *find_program(struct bpf_object *object, const char *section,
                                        enum bpf_prog_type type)
{
    struct bpf_program *program, *target = NULL;

    bpf_object__for_each_program(program, object) {
        bool is_it = target == NULL && strcmp(bpf_program__section_name(program), section) == 0;

        bpf_program__set_autoload(program, is_it);
        if (is_it)
            target = program;
    }
    if (target != NULL)
        bpf_program__set_type(target, type);
    return target;
}

/* For xdp-mode `hw`: the card runs the program, so program and maps belong to its interface. */
static void load_into_card(struct bpf_object *object, struct bpf_program *program, int if_index)
{
    struct bpf_map *map;

    bpf_program__set_ifindex(program, (uint32_t)if_index);
    bpf_object__for_each_map(map, object)
        bpf_map__set_ifindex(map, (uint32_t)if_index);
}

/* card: the index of the interface whose card runs the program; 0: the kernel runs it. Returns a
 * file descriptor that keeps the program loaded after the object is closed. */
static int load(const char *path, const char *section, enum bpf_prog_type type, int card,
                struct err *err)
{
    struct bpf_object *object = open_object(path, err);
    struct bpf_program *program;
    int fd = -1, status;

    if (object == NULL)
        return -1;
    program = find_program(object, section, type);
    if (program != NULL && card > 0)
        load_into_card(object, program, card);
    if (program == NULL)
        err_set(err, "%s: there is no section \"%s\"", path, section);
    else if ((status = bpf_object__load(object)) < 0)
        err_set(err, "%s: %s refuses the program: %s%s", path, card > 0 ? "the card" : "the kernel",
                strerror(-status), status == -EPERM ? net_rights_hint(EPERM)
                                   : card > 0 ? ": xdp-mode: driver, or soft" : "");
    else
        fd = fcntl(bpf_program__fd(program), F_DUPFD_CLOEXEC, 0);
    bpf_object__close(object);
    return fd;
}

/* The section names "filter" and "loadbalancer" are those of Suricata's example programs. */
int af_ebpf_load(const char *path, const char *section, struct err *err)
{
    return load(path, section, BPF_PROG_TYPE_SOCKET_FILTER, 0, err);
}

int af_xdp_load(const char *path, const struct af_conf *conf, struct err *err)
{
    int card = conf->xdp_flags == XDP_FLAGS_HW_MODE ? conf->facts.index : 0;

    return load(path, "xdp", BPF_PROG_TYPE_XDP, card, err);
}

/* A link (Linux 5.9) holds the program: the kernel detaches it when the last descriptor closes,
 * also after a crash. */
static int put_before(struct af_conf *conf, int if_index, struct err *err)
{
    LIBBPF_OPTS(bpf_link_create_opts, options, .flags = conf->xdp_flags);
    const char *name = conf->device.name;
    int link = bpf_link_create(conf->xdp_fd, if_index, BPF_XDP, &options);

    if (link >= 0) {
        conf->xdp_link = link;
        conf->xdp_index = if_index;
        return 0;
    }
    if (errno == EBUSY || errno == EEXIST)
        return err_set(err, "%s has an XDP program of another process: `ip link set dev %s xdp "
                       "off`", name, name);
    if (conf->xdp_flags != XDP_FLAGS_SKB_MODE && (errno == EOPNOTSUPP || errno == EINVAL))
        return err_set(err, "%s cannot run XDP programs in this xdp-mode: soft always works", name);
    return err_set(err, "%s: cannot put the program of xdp-filter-file before it: %s%s", name,
                   strerror(errno), net_rights_hint(errno));
}

/* All threads of the interface call this when they open; the lock lets the first one attach. */
int af_xdp_open(struct af_conf *conf, int if_index, struct err *err)
{
    int status = 0;

    if (conf->xdp_fd < 0)
        return 0;
    pthread_mutex_lock(&conf->join_lock);
    if (conf->xdp_index != if_index) {
        af_xdp_close(conf);
        status = put_before(conf, if_index, err);
    }
    pthread_mutex_unlock(&conf->join_lock);
    return status;
}

void af_xdp_close(struct af_conf *conf)
{
    if (conf->xdp_index > 0)
        close(conf->xdp_link);
    conf->xdp_index = 0;
}
#else
int af_ebpf_load(const char *path, const char *section, struct err *err)
{
    (void)section;
    return err_set(err, "%s: built without libbpf", path);
}

int af_xdp_load(const char *path, const struct af_conf *conf, struct err *err)
{
    (void)conf;
    return err_set(err, "%s: built without libbpf", path);
}

int af_xdp_open(struct af_conf *conf, int if_index, struct err *err)
{
    (void)conf, (void)if_index, (void)err;
    return 0;
}

void af_xdp_close(struct af_conf *conf)
{
    (void)conf;
}
#endif
