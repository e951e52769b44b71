/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/device/late_close.h - sockets that threads are done with, closed when the capture is.
 *
 * When a packet socket closes, the kernel waits until all CPUs have forgotten it, some 50 ms. The
 * process that takes over waits for the end of the threads, and packets wait with it. */
#ifndef CAPTURE_LATE_CLOSE_H
#define CAPTURE_LATE_CLOSE_H

struct late_close;

struct late_close *late_close_new(void);
/* Closes all that was left to it. NULL is fine. */
void late_close_free(struct late_close *late);
/* Any thread. fd is no longer the caller's; -1: nothing. late NULL, or no memory: closes it now. */
void late_close(struct late_close *late, int fd);

#endif
