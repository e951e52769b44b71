/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/signals.c - signals as events. */
#include "control/signals.h"

#include <pthread.h>
#include <signal.h>
#include <time.h>

static void signals_set(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
    sigaddset(set, SIGUSR1);
    sigaddset(set, SIGUSR2);
}

void signals_block(void)
{
    sigset_t set;

    signals_set(&set);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    signal(SIGSYS, SIG_IGN);
}

enum signal_event signals_wait(unsigned timeout_ms)
{
    struct timespec timeout = { timeout_ms / 1000, (long)(timeout_ms % 1000) * 1000000 };
    sigset_t set;

    signals_set(&set);
    switch (sigtimedwait(&set, NULL, &timeout)) {
    case SIGINT:
    case SIGTERM: return SIGNAL_STOP;
    case SIGHUP: return SIGNAL_ROTATE;
    case SIGUSR2: return SIGNAL_RELOAD;
    case SIGUSR1: return SIGNAL_REPORT;
    default: return SIGNAL_NONE;
    }
}
