/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/signals.h - INT and TERM stop, HUP reopens logs, USR2 reloads rules, USR1 reports.
 *
 * All are blocked in every thread and taken synchronously by the one that waits, so no handler
 * ever interrupts the engine. */
#ifndef CONTROL_SIGNALS_H
#define CONTROL_SIGNALS_H

#include "base/base.h"

enum signal_event { SIGNAL_NONE, SIGNAL_STOP, SIGNAL_ROTATE, SIGNAL_RELOAD, SIGNAL_REPORT };

void signals_block(void);       /* before any thread starts */
/* From where blocked signals are read; -1: the kernel has none left. For close(). */
int signals_open(void);
/* As if it had been sent to the process. */
void signals_raise(enum signal_event event);
/* Waits at most timeout_ms, and no longer than until end_fd can be read. */
enum signal_event signals_wait(int fd, int end_fd, int timeout_ms);

#endif
