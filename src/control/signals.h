/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/signals.h - INT and TERM stop, HUP reopens logs, USR2 reloads rules, USR1 reports.
 *
 * Every thread blocks these signals. One thread waits for them synchronously, so no handler ever
 * interrupts the engine. */
#ifndef CONTROL_SIGNALS_H
#define CONTROL_SIGNALS_H

#include "base/base.h"

enum signal_event { SIGNAL_NONE, SIGNAL_STOP, SIGNAL_ROTATE, SIGNAL_RELOAD, SIGNAL_REPORT };

void signals_block(void);       /* before any thread starts */
/* Returns a descriptor from which blocked signals are read; -1: the kernel has none left. The
 * caller closes it. */
int signals_open(void);
/* Acts as if the signal had been sent to the process. */
void signals_raise(enum signal_event event);
/* Waits until a signal arrives, end_fd is readable, or timeout_ms have passed. */
enum signal_event signals_wait(int fd, int end_fd, int timeout_ms);

#endif
