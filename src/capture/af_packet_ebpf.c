/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/af_packet_ebpf.c - programs of the user's own, by libbpf. Apart from the filters because
 * libpcap and the kernel use the same names. */
#include "config.h"

#include "capture/af_packet.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>

#ifdef HAVE_BPF
#include <bpf/libbpf.h>

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
#else
int af_ebpf_attach(int fd, const char *path, const char *section, int level, int option,
                   struct err *err)
{
    (void)fd, (void)section, (void)level, (void)option;
    return err_set(err, "%s: built without libbpf", path);
}
#endif
