/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/systemd.h - reports the state to the service manager (NOTIFY_SOCKET, sd_notify(3));
 * without that variable it does nothing. Any thread may call these. */
#ifndef CONTROL_SYSTEMD_H
#define CONTROL_SYSTEMD_H

#include "base/base.h"

void systemd_ready(const char *status);
void systemd_reloading(void);       /* until systemd_ready() */
void systemd_stopping(void);
void systemd_main_pid(long pid);    /* another process continues the service */
/* Where the manager listens; "": another program has started ids. */
const char *systemd_socket(void);
/* Before any thread: this process will be the main one, instead of the one that had these. */
void systemd_inherit(const char *path, unsigned watchdog_ms);
/* Returns the ms between calls of systemd_alive(), half of the manager's timeout; 0: not needed. */
unsigned systemd_watchdog_ms(void);
void systemd_alive(void);

#endif
