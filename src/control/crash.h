/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/crash.h - writes the call stack when a signal ends the program. */
#ifndef CONTROL_CRASH_H
#define CONTROL_CRASH_H

/* From here on SIGSEGV, SIGBUS, SIGFPE, SIGILL and SIGABRT write the call stack to standard error
 * and to the files named below. Then the signal has its default effect. */
void crash_report_begin(void);
/* Adds a file descriptor, which must stay open; the first four are used. */
void crash_report_to(int fd);

#endif
