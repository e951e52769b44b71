/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/systemd.h - tells the service manager how we are, where it asked to be told
 * (NOTIFY_SOCKET, sd_notify(3)); else nothing happens. Any thread. */
#ifndef CONTROL_SYSTEMD_H
#define CONTROL_SYSTEMD_H

#include "base/base.h"

void systemd_ready(const char *status);
void systemd_reloading(void);       /* until systemd_ready() */
void systemd_stopping(void);
/* ms between calls of systemd_alive(): half of the time that the manager waits; 0: none. */
unsigned systemd_watchdog_ms(void);
void systemd_alive(void);

#endif
