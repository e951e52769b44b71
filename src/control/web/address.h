/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/address.h - the address of the listener: an IP address with a port, or a local
 * socket. */
#ifndef CONTROL_WEB_ADDRESS_H
#define CONTROL_WEB_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/err.h"

struct web_address {
    struct sockaddr_storage at;
    socklen_t len;
    bool is_loopback;           /* other machines cannot reach it */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];    /* local socket; "": none */
};

/* Parses "127.0.0.1:9917", "[::1]:9917", "unix:/run/ids/metrics.socket". Addresses must be numbers,
 * because a name could later resolve to another address. */
int web_address_read(const char *text, struct web_address *out, struct err *err);
/* Returns a non-blocking listening socket; -1 with err set. Replaces a local socket that an ended
 * process has left. user and group own a local socket; either may be NULL. */
int web_address_listen(const struct web_address *a, const char *user, const char *group,
                       struct err *err);
/* True if the Host header names a loopback address. This prevents access through a foreign name
 * that resolves to 127.0.0.1 (DNS rebinding). NULL: no header. */
bool web_host_is_local(const char *host);

#endif
