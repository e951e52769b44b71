/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/crash.h - where the program was when a signal ended it. */
#ifndef CONTROL_CRASH_H
#define CONTROL_CRASH_H

/* From here on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT write the calls that led there, to
 * standard error and to the files named below; then the signal does what it always does. */
void crash_report_begin(void);
/* A descriptor that stays as long as the process; of several the first four. */
void crash_report_to(int fd);

#endif
