/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/sandbox.c - restricts the process with Landlock and seccomp, through the
 * kernel's own interface. Threads must still be possible, and a limit on processes
 * (RLIMIT_NPROC) would count them too. So a filter on system calls allows those that make
 * a thread and refuses those that make a process. Rotation and reload open files again, so
 * the directories of logs and rules stay accessible, not only the open files. */
#include "control/sandbox.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stddef.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/report/log.h"

/* --- no other processes ------------------------------------------------------------------- */

#if defined(__x86_64__)
#define OWN_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define OWN_ARCH AUDIT_ARCH_AARCH64
#endif

/* Instructions of classic BPF on struct seccomp_data (seccomp(2)). */
#define LOAD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, field))
#define REFUSE(error) BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (error))
#define ALLOW BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW)
/* Skips the next instruction when it is another call. */
#define CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1)

/* A call of another architecture is refused, because its numbers mean other calls.
 * AddressSanitizer's leak check starts a process, so that build has no filter. */
#if defined(OWN_ARCH) && !defined(__SANITIZE_ADDRESS__)
static const struct sock_filter filter[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
    REFUSE(EPERM),
    LOAD(nr),
    CALL(execve), REFUSE(EPERM),
    CALL(execveat), REFUSE(EPERM),
#ifdef __NR_fork
    CALL(fork), REFUSE(EPERM),
    CALL(vfork), REFUSE(EPERM),
#endif
    /* A filter cannot read clone3's flags, which are in memory. libc then uses clone. */
    CALL(clone3), REFUSE(ENOSYS),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone, 1, 0),
    ALLOW,
    LOAD(args[0]),
    BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, CLONE_THREAD, 0, 1),
    ALLOW,
    REFUSE(EPERM),
};

/* Copies of the process are possible: captures at once (main/job_process.c). Other programs are
 * not. */
static const struct sock_filter filter_with_copies[] = {
    LOAD(arch),
    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, OWN_ARCH, 1, 0),
    REFUSE(EPERM),
    LOAD(nr),
    CALL(execve), REFUSE(EPERM),
    CALL(execveat), REFUSE(EPERM),
    ALLOW,
};

/* prctl(2) gives EINVAL on a kernel without seccomp, and in qemu-user. Like the lack of Landlock
 * that is a warning. */
static bool has_seccomp(void)
{
    if (prctl(PR_GET_SECCOMP, 0, 0, 0, 0) >= 0 || errno != EINVAL)
        return true;
    log_warning("sandbox", "security.limit-noproc: this kernel has no seccomp");
    return false;
}

static int refuse_processes(bool allow_copies, struct err *err)
{
    const struct sock_fprog all = { ARRAY_LEN(filter), (struct sock_filter *)filter };
    const struct sock_fprog others = { ARRAY_LEN(filter_with_copies),
                                       (struct sock_filter *)filter_with_copies };
    const struct sock_fprog program = allow_copies ? others : all;

    if (!has_seccomp())
        return 0;
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
        return err_set(err, "security.limit-noproc: the kernel takes no filter of system calls: "
                       "%s", strerror(errno));
    return 0;
}
#else
static int refuse_processes(bool allow_copies, struct err *err)
{
    (void)allow_copies;
    (void)err;
    return 0;
}
#endif

/* --- the file system ---------------------------------------------------------------------- */

/* Landlock ABI 2 and 3; some kernel headers lack them. */
#define ACCESS_REFER (1ull << 13)
#define ACCESS_TRUNCATE (1ull << 14)

#define ACCESS_READ                                                                       \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
/* The rights that apply to a file; the kernel rejects others in a rule about one. */
#define ACCESS_OF_FILE                                                                    \
    (LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE |                          \
     LANDLOCK_ACCESS_FS_WRITE_FILE | ACCESS_TRUNCATE)

/* The rights that this kernel's ABI version knows; asking for others is an error. */
static uint64_t all_access(long version)
{
    uint64_t all = (LANDLOCK_ACCESS_FS_MAKE_SYM << 1) - 1;

    if (version >= 2)
        all |= ACCESS_REFER;
    if (version >= 3)
        all |= ACCESS_TRUNCATE;
    return all;
}

/* `all`: the rights that are forbidden unless a rule allows them. */
struct sandbox_policy {
    int fd;
    uint64_t all;
};

/* A path that does not exist needs no rule and is no error. */
static int allow(const struct sandbox_policy *f, const char *path, uint64_t access, struct err *err)
{
    struct landlock_path_beneath_attr attr = { 0 };
    struct stat st;
    int status;

    attr.parent_fd = open(path, O_PATH | O_CLOEXEC);
    if (attr.parent_fd < 0 || fstat(attr.parent_fd, &st) < 0) {
        if (attr.parent_fd >= 0)
            close(attr.parent_fd);
        return 0;
    }
    attr.allowed_access = access & f->all;
    if (!S_ISDIR(st.st_mode))
        attr.allowed_access &= ACCESS_OF_FILE;
    status = (int)syscall(SYS_landlock_add_rule, f->fd, LANDLOCK_RULE_PATH_BENEATH, &attr, 0);
    close(attr.parent_fd);
    return status == 0 ? 0 : err_set(err, "security.landlock: %s: %s", path, strerror(errno));
}

static int allow_list(const struct sandbox_policy *f, const struct conf_node *list, uint64_t access,
                      struct err *err)
{
    CONF_EACH(item, list)
        if (item->value != NULL && allow(f, item->value, access, err) < 0)
            return -1;
    return 0;
}

/* The list `read` of the configuration replaces /usr and /etc; libraries and the kernel's
 * file systems are always readable. Writing never includes executing. */
static int allow_all(const struct sandbox_policy *f, const struct conf_node *root,
                     const struct sandbox_paths *needed, struct err *err)
{
    static const char *const system[] = { "/usr/", "/etc/", "/lib/", "/lib64/", "/proc/", "/sys/",
                                          "/dev/" };
    const struct conf_node *given = conf_find(root, "security.landlock.directories");

    if (conf_find(given, "read") == NULL)
        for (unsigned i = 0; i < 2; i++)
            if (allow(f, system[i], ACCESS_READ, err) < 0)
                return -1;
    for (unsigned i = 2; i < ARRAY_LEN(system); i++)
        if (allow(f, system[i], ACCESS_READ, err) < 0)
            return -1;
    for (size_t i = 0; i < needed->read.count; i++)
        if (allow(f, needed->read.at[i], ACCESS_READ, err) < 0)
            return -1;
    for (size_t i = 0; i < needed->write.count; i++)
        if (allow(f, needed->write.at[i], f->all & ~LANDLOCK_ACCESS_FS_EXECUTE, err) < 0)
            return -1;
    return allow_list(f, conf_find(given, "read"), ACCESS_READ, err) < 0 ? -1
           : allow_list(f, conf_find(given, "write"), f->all & ~LANDLOCK_ACCESS_FS_EXECUTE, err);
}

/* From here on nothing can remove the restriction. */
static int close_in(const struct sandbox_policy *f, struct err *err)
{
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
        syscall(SYS_landlock_restrict_self, f->fd, 0) < 0)
        return err_set(err, "security.landlock: %s", strerror(errno));
    return 0;
}

/* A kernel without Landlock is a warning, as in Suricata: the setting then protects
 * nothing. */
static int apply_file_policy(const struct conf_node *root, const struct sandbox_paths *needed,
                       struct err *err)
{
    long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
    struct landlock_ruleset_attr attr = { 0 };
    struct sandbox_policy f;
    int status;

    if (version < 0) {
        log_warning("sandbox", "security.landlock: this kernel does not have it");
        return 0;
    }
    f.all = attr.handled_access_fs = all_access(version);
    f.fd = (int)syscall(SYS_landlock_create_ruleset, &attr, sizeof(attr), 0);
    if (f.fd < 0)
        return err_set(err, "security.landlock: %s", strerror(errno));
    status = allow_all(&f, root, needed, err) < 0 ? -1 : close_in(&f, err);
    close(f.fd);
    return status;
}

/* Both restrict the calling thread and those that it starts later, so the main thread
 * calls this before the engine's threads start. */
int sandbox_enter(const struct conf_node *root, const struct sandbox_paths *needed,
                  struct err *err)
{
    if (conf_bool(root, "security.landlock.enabled", false) &&
        apply_file_policy(root, needed, err) < 0)
        return -1;
    if (conf_bool(root, "security.limit-noproc", false) &&
        refuse_processes(needed->copies, err) < 0)
        return -1;
    return 0;
}

int sandbox_refuse_copies(const struct conf_node *root, struct err *err)
{
    return conf_bool(root, "security.limit-noproc", false) ? refuse_processes(false, err) : 0;
}
