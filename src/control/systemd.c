/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/systemd.c - the notification protocol of sd_notify(3): lines of text in a
 * datagram to a local socket. So the library is not needed. */
#include "control/systemd.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/system/clock.h"
#include "base/text/text.h"

static void notify(const char *fmt, ...) PRINTF(1, 2);

/* Does nothing without NOTIFY_SOCKET: then another program started ids. '@' represents the NUL of
 * an abstract address (unix(7)). */
static void notify(const char *fmt, ...)
{
    const char *path = getenv("NOTIFY_SOCKET");
    struct sockaddr_un to = { .sun_family = AF_UNIX };
    char text[512];
    va_list args;
    socklen_t len;
    int fd, n;

    if (path == NULL || (path[0] != '/' && path[0] != '@') || strlen(path) >= sizeof(to.sun_path))
        return;
    memcpy(to.sun_path, path, strlen(path));
    len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + strlen(path));
    if (path[0] == '@')
        to.sun_path[0] = '\0';          /* abstract */
    va_start(args, fmt);
    n = vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0)
        return;
    (void)sendto(fd, text, MIN((size_t)n, sizeof(text) - 1), MSG_NOSIGNAL,
                 (struct sockaddr *)&to, len);
    close(fd);
}

void systemd_ready(const char *status)
{
    notify("READY=1\nSTATUS=%s\nMAINPID=%ld", status, (long)getpid());
}

/* Type=notify-reload requires the time of the monotonic clock. */
void systemd_reloading(void)
{
    notify("RELOADING=1\nMONOTONIC_USEC=%llu", (unsigned long long)(clock_ns() / 1000));
}

/* Only the main process may say so (NotifyAccess=main). */
void systemd_main_pid(long pid)
{
    notify("MAINPID=%ld\nREADY=1", pid);
}

const char *systemd_socket(void)
{
    const char *path = getenv("NOTIFY_SOCKET");

    return path != NULL ? path : "";
}

/* The manager gives its socket and its timeout only to the process that it starts as the main one.
 * WATCHDOG_PID names that process. */
void systemd_inherit(const char *path, unsigned watchdog_ms)
{
    char text[32];

    if (path[0] == '\0')
        return;
    setenv("NOTIFY_SOCKET", path, 1);
    snprintf(text, sizeof(text), "%llu", 2000ull * watchdog_ms);
    if (watchdog_ms > 0)
        setenv("WATCHDOG_USEC", text, 1);
    unsetenv("WATCHDOG_PID");
}

void systemd_stopping(void)
{
    notify("STOPPING=1");
}

/* Half of WATCHDOG_USEC, as sd_watchdog_enabled(3) recommends; 0: no watchdog, or it is
 * meant for another process. */
unsigned systemd_watchdog_ms(void)
{
    const char *usec = getenv("WATCHDOG_USEC"), *pid = getenv("WATCHDOG_PID");
    uint64_t n = 0, whom = 0;

    if (usec == NULL || !text_to_u64(text_of(usec), UINT64_MAX, &n) || n == 0)
        return 0;
    if (pid != NULL &&
        (!text_to_u64(text_of(pid), UINT64_MAX, &whom) || whom != (uint64_t)getpid()))
        return 0;
    return (unsigned)MIN(MAX(n / 2000, (uint64_t)1), (uint64_t)3600000);
}

void systemd_alive(void)
{
    notify("WATCHDOG=1");
}
