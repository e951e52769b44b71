/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/process.c - what concerns the process: background, umask, pid file, core files,
 * and privileges. The main thread calls all of it while it starts. */
#include "config.h"

#include "control/process.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "base/report/log.h"
#include "base/system/directories.h"
#include "base/text/text.h"

#ifdef HAVE_CAPNG
#include <cap-ng.h>
#endif

/* The child's end of the pipe on which the parent waits; -1: not in the background. */
static int ready_fd = -1;

/* The parent waits until the child is ready and exits with its result, so an init script
 * sees a failed start. Standard error stays open until then. There is no second fork():
 * the child opens no terminal. */
int process_daemonize(struct err *err)
{
    int fds[2], null;
    char ok = 0;
    pid_t pid;

    if (pipe2(fds, O_CLOEXEC) < 0)
        return err_set(err, "cannot make a pipe: %s", strerror(errno));
    pid = fork();
    if (pid < 0)
        return err_set(err, "cannot fork: %s", strerror(errno));
    if (pid > 0) {
        close(fds[1]);
        while (read(fds[0], &ok, 1) < 0 && errno == EINTR)
            ;
        _exit(ok == 1 ? 0 : 1);
    }
    close(fds[0]);
    ready_fd = fds[1];
    setsid();
    umask(027);
    null = open("/dev/null", O_RDWR);
    if (null >= 0) {
        (void)dup2(null, STDIN_FILENO);
        (void)dup2(null, STDOUT_FILENO);
        if (null > STDERR_FILENO)
            close(null);
    }
    return 0;
}

/* A child that dies before this closes the pipe, and the parent exits with 1. */
void process_ready(void)
{
    const char ok = 1;
    int null;

    if (ready_fd < 0)
        return;
    null = open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (null >= 0) {
        (void)dup2(null, STDERR_FILENO);
        close(null);
    }
    (void)!write(ready_fd, &ok, 1);
    close(ready_fd);
    ready_fd = -1;
}

/* Octal, with or without a leading 0. */
static int mask_files(const struct conf_node *root, struct err *err)
{
    const char *text = conf_string(root, "umask", NULL);
    char *end;
    unsigned long mask;

    if (text == NULL)
        return 0;
    mask = strtoul(text, &end, 8);
    if (*text == '\0' || *end != '\0' || mask > 0777)
        return err_at(err, conf_find(root, "umask")->at,
                      "umask: expected up to three octal digits, "
                      "got \"%s\"",
                      text);
    umask((mode_t)mask);
    return 0;
}

/* The kernel clears the dumpable flag when the user changes (prctl(2), PR_SET_DUMPABLE),
 * so it is called again after that. Only root may raise the hard limit. */
void process_allow_core(const struct conf_node *root)
{
    const char *text = conf_string(root, "coredump.max-dump", NULL);
    struct rlimit limit;

    if (text == NULL || getrlimit(RLIMIT_CORE, &limit) < 0)
        return;
    limit.rlim_cur = strcasecmp(text, "unlimited") == 0
                         ? RLIM_INFINITY : (rlim_t)conf_size(root, "coredump.max-dump", 0);
    if (limit.rlim_cur > limit.rlim_max && geteuid() == 0)
        limit.rlim_max = limit.rlim_cur;
    limit.rlim_cur = MIN(limit.rlim_cur, limit.rlim_max);
    if (setrlimit(RLIMIT_CORE, &limit) < 0)
        log_info("ids", "the size of core files stays as it is: %s", strerror(errno));
    if (limit.rlim_cur > 0)
        (void)prctl(PR_SET_DUMPABLE, 1);
}

int process_apply_settings(const struct conf_node *root, bool daemon, struct err *err)
{
    const char *directory = conf_string(root, "daemon-directory", NULL);

    if (mask_files(root, err) < 0)
        return -1;
    process_allow_core(root);
    if (daemon && directory != NULL && chdir(directory) < 0)
        return err_at(err, conf_find(root, "daemon-directory")->at, "daemon-directory %s: %s",
                      directory, strerror(errno));
    return 0;
}

/* True if a living process holds the file. EPERM from kill() means that it exists and belongs to
 * another user. */
static bool pid_file_is_live(const char *path, long *pid)
{
    FILE *f = fopen(path, "r");
    bool live = false;

    if (f == NULL)
        return false;
    if (fscanf(f, "%ld", pid) == 1 && *pid > 0 && *pid != (long)getpid())
        live = kill((pid_t)*pid, 0) == 0 || errno == EPERM;
    fclose(f);
    return live;
}

/* A file that a dead process left is replaced. */
int process_pid_file(const char *path, struct err *err)
{
    long pid;
    FILE *f;

    if (pid_file_is_live(path, &pid))
        return err_set(err, "pid file %s belongs to process %ld, which is alive", path, pid);
    f = fopen(path, "w");
    if (f == NULL)
        return err_set(err, "pid file %s: %s", path, strerror(errno));
    fprintf(f, "%ld\n", (long)getpid());
    fclose(f);
    return 0;
}

void process_pid_file_remove(const char *path)
{
    long pid;

    if (path != NULL && !pid_file_is_live(path, &pid))
        unlink(path);
}

/* A user without a group gets the user's own group; without both, nothing changes. */
static int find_ids(const char *user, const char *group, uid_t *uid, gid_t *gid, struct err *err)
{
    const struct passwd *pw = user != NULL ? getpwnam(user) : NULL;
    const struct group *gr = group != NULL ? getgrnam(group) : NULL;

    if (user != NULL && pw == NULL)
        return err_set(err, "unable to get the user ID, check if user exist!! There is no user "
                       "\"%s\"", user);
    if (group != NULL && gr == NULL)
        return err_set(err, "there is no group \"%s\"", group);
    *uid = pw != NULL ? pw->pw_uid : getuid();
    *gid = gr != NULL ? gr->gr_gid : pw != NULL ? pw->pw_gid : getgid();
    return 0;
}

#ifdef HAVE_CAPNG
/* Keeps the capabilities that a live capture needs: raw sockets and interface settings,
 * thread priorities, locked memory. All others are dropped, from the bounding set too. */
static int change_ids(uid_t uid, gid_t gid, bool live, struct err *err)
{
    bool may_bpf = capng_get_caps_process() == 0 &&
                   capng_have_capability(CAPNG_PERMITTED, CAP_BPF);

    capng_clear(CAPNG_SELECT_BOTH);
    if (live)
        capng_updatev(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_NET_RAW, CAP_NET_ADMIN,
                      CAP_SYS_NICE, CAP_IPC_LOCK, -1);
    if (live && may_bpf)                /* for AF_XDP */
        capng_update(CAPNG_ADD, CAPNG_EFFECTIVE | CAPNG_PERMITTED, CAP_BPF);
    if (capng_change_id((int)uid, (int)gid, CAPNG_DROP_SUPP_GRP | CAPNG_CLEAR_BOUNDING) != 0)
        return err_set(err, "cannot change to user %u, group %u", (unsigned)uid, (unsigned)gid);
    return 0;
}
#else
/* Without libcap-ng the kernel clears all capabilities when the user changes (capabilities(7)). */
static int change_ids(uid_t uid, gid_t gid, bool live, struct err *err)
{
    (void)live;
    if (setgroups(0, NULL) < 0 || setgid(gid) < 0 || setuid(uid) < 0)
        return err_set(err, "cannot change to user %u, group %u: %s", (unsigned)uid,
                       (unsigned)gid, strerror(errno));
    return 0;
}
#endif

int process_own_directories(const char *user, const char *group, struct err *err)
{
    uid_t uid;
    gid_t gid;

    if (user == NULL && group == NULL)
        return 0;
    if (find_ids(user, group, &uid, &gid, err) < 0)
        return -1;
    directories_set_owner(uid, gid);
    return 0;
}

/* Called after sockets and log files are open. Not being root is an error: to go on with
 * other rights than the user set would be worse. */
int process_drop_privileges(const char *user, const char *group, bool live, struct err *err)
{
    uid_t uid = 0;
    gid_t gid = 0;

    if (user == NULL && group == NULL)
        return 0;
    if (find_ids(user, group, &uid, &gid, err) < 0)
        return -1;
    if (getuid() != 0)
        return err_set(err, "only root can run as another user");
    return change_ids(uid, gid, live, err);
}

/* Files that we opened have FD_CLOEXEC. Others, such as standard output, come from the
 * process that started us and keep their owner. */
static void chown_open_file(int fd, uid_t uid, gid_t gid)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);

    if (fd <= STDERR_FILENO || flags < 0 || (flags & O_ACCMODE) == O_RDONLY ||
        !(fcntl(fd, F_GETFD) & FD_CLOEXEC) || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return;
    if (fchown(fd, uid, gid) < 0)
        log_info("ids", "an open file cannot be given to another user: %s", strerror(errno));
}

/* After the privileges are dropped, log files could not be opened again at rotation
 * without this. */
int process_chown_open_files(const char *user, const char *group, struct err *err)
{
    uid_t uid = 0;
    gid_t gid = 0;
    struct dirent *entry;
    uint64_t fd;
    DIR *dir;

    if (user == NULL && group == NULL)
        return 0;
    if (find_ids(user, group, &uid, &gid, err) < 0)
        return -1;
    dir = opendir("/proc/self/fd");
    while (dir != NULL && (entry = readdir(dir)) != NULL)
        if (text_to_u64(text_of(entry->d_name), INT_MAX, &fd))
            chown_open_file((int)fd, uid, gid);
    if (dir != NULL)
        closedir(dir);
    return 0;
}

int process_chown_file(const char *path, const char *user, const char *group, struct err *err)
{
    uid_t uid = 0;
    gid_t gid = 0;

    if (user == NULL && group == NULL)
        return 0;
    if (find_ids(user, group, &uid, &gid, err) < 0)
        return -1;
    if (chown(path, uid, gid) < 0)
        return err_set(err, "%s cannot be given to another user: %s", path, strerror(errno));
    return 0;
}
