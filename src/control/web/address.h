/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/address.h - where the listener listens: an address with a port, or a local socket. */
#ifndef CONTROL_WEB_ADDRESS_H
#define CONTROL_WEB_ADDRESS_H

#include <sys/socket.h>
#include <sys/un.h>

#include "base/err.h"

struct web_address {
    struct sockaddr_storage at;
    socklen_t len;
    bool is_loopback;           /* no other machine reaches it */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path)];    /* local socket; "" : none */
};

/* "127.0.0.1:9917", "[::1]:9917", "unix:/run/ids/metrics.socket". Numbers only: a name could mean
 * another address tomorrow. */
int web_address_read(const char *text, struct web_address *out, struct err *err);
/* A socket that listens there, not blocking; -1 with err set. A local socket that a dead process
 * left behind is replaced. user and group own a local socket; either may be NULL. */
int web_address_listen(const struct web_address *a, const char *user, const char *group,
                       struct err *err);
/* Is the Host header one by which a browser may name a loopback address? Guards against names of
 * a stranger that were made to resolve to 127.0.0.1 (DNS rebinding). NULL: no header. */
bool web_host_is_local(const char *host);

#endif
