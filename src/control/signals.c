/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/signals.c - receives signals as events. All threads block them, and the main
 * loop reads them from a signalfd(2), so no code runs inside a handler. */
#include "control/signals.h"

#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

/* The signals that have a meaning here. */
static void signals_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGUSR1);
    sigaddset(set, SIGUSR2);
}

/* Called before the first thread starts, because threads inherit the mask. A closed socket
 * must not end the engine (SIGPIPE). */
void signals_block(void)
{
    sigset_t set;

    signals_set(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGSYS, SIG_IGN);
}

int signals_open(void)
{
    sigset_t set;

    signals_set(&set);
    return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

/* Commands use the same way as a user's kill(1). */
void signals_raise(enum signal_event event)
{
    static const int numbers[] = { [SIGNAL_STOP] = SIGTERM, [SIGNAL_ROTATE] = SIGHUP,
                                   [SIGNAL_RELOAD] = SIGUSR2, [SIGNAL_REPORT] = SIGUSR1 };

    if (event != SIGNAL_NONE)
        kill(getpid(), numbers[event]);
}

/* `end_fd` wakes the loop for another reason, and its owner reads it. One signal per call;
 * another one stays pending in the kernel. */
enum signal_event signals_wait(int fd, int end_fd, int timeout_ms)
{
    struct pollfd at[] = { { .fd = fd, .events = POLLIN }, { .fd = end_fd, .events = POLLIN } };
    struct signalfd_siginfo info;

    if (poll(at, 2, timeout_ms) <= 0 || read(fd, &info, sizeof(info)) != (ssize_t)sizeof(info))
        return SIGNAL_NONE;
    switch (info.ssi_signo) {
    case SIGINT:
    case SIGTERM: return SIGNAL_STOP;
    case SIGHUP: return SIGNAL_ROTATE;
    case SIGUSR2: return SIGNAL_RELOAD;
    case SIGUSR1: return SIGNAL_REPORT;
    default: return SIGNAL_NONE;
    }
}
