/* SPDX-License-Identifier: GPL-2.0-or-later */
/* control/web/address.c - the listener's address: read, checked, bound. */
#include "control/web/address.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text/text.h"
#include "control/process.h"

#define UNIX_PREFIX "unix:"
#define BACKLOG 64

static int read_local(const char *path, struct web_address *out, struct err *err)
{
    struct sockaddr_un *to = (struct sockaddr_un *)&out->at;

    if (path[0] != '/')
        return err_set(err, "metrics.listen: %s: the path of a socket begins with /", path);
    if (strlen(path) >= sizeof(to->sun_path))
        return err_set(err, "metrics.listen: %s: the path is too long", path);
    to->sun_family = AF_UNIX;
    memcpy(to->sun_path, path, strlen(path) + 1);
    memcpy(out->path, path, strlen(path) + 1);
    out->len = sizeof(*to);
    out->is_loopback = true;
    return 0;
}

static bool read_v4(const char *host, uint16_t port, struct web_address *out)
{
    struct sockaddr_in *to = (struct sockaddr_in *)&out->at;

    if (inet_pton(AF_INET, host, &to->sin_addr) != 1)
        return false;
    to->sin_family = AF_INET;
    to->sin_port = htons(port);
    out->len = sizeof(*to);
    out->is_loopback = ntohl(to->sin_addr.s_addr) >> 24 == 127;
    return true;
}

/* ::ffff:127.0.0.1 is IPv4's loopback in IPv6's clothes. */
static bool read_v6(const char *host, uint16_t port, struct web_address *out)
{
    struct sockaddr_in6 *to = (struct sockaddr_in6 *)&out->at;

    if (inet_pton(AF_INET6, host, &to->sin6_addr) != 1)
        return false;
    to->sin6_family = AF_INET6;
    to->sin6_port = htons(port);
    out->len = sizeof(*to);
    out->is_loopback = IN6_IS_ADDR_LOOPBACK(&to->sin6_addr) ||
                       (IN6_IS_ADDR_V4MAPPED(&to->sin6_addr) && to->sin6_addr.s6_addr[12] == 127);
    return true;
}

int web_address_read(const char *text, struct web_address *out, struct err *err)
{
    const char *colon = strrchr(text, ':');
    char host[INET6_ADDRSTRLEN + 2];
    uint64_t port;
    size_t len;

    memset(out, 0, sizeof(*out));
    if (strncmp(text, UNIX_PREFIX, sizeof(UNIX_PREFIX) - 1) == 0)
        return read_local(text + sizeof(UNIX_PREFIX) - 1, out, err);
    if (colon == NULL || !text_to_u64((struct text){ colon + 1, strlen(colon + 1) }, 65535, &port))
        return err_set(err, "metrics.listen: %s: want ADDRESS:PORT, [ADDRESS]:PORT or unix:PATH",
                       text);
    len = (size_t)(colon - text);
    if (len > 2 && text[0] == '[' && text[len - 1] == ']') {
        text++;
        len -= 2;
    }
    if (len >= sizeof(host))
        return err_set(err, "metrics.listen: %s: the address is too long", text);
    memcpy(host, text, len);
    host[len] = '\0';
    if (!read_v4(host, (uint16_t)port, out) && !read_v6(host, (uint16_t)port, out))
        return err_set(err, "metrics.listen: %s is no IPv4 or IPv6 address", host);
    return 0;
}

/* Only a socket that no process answers is removed. */
static int make_way(const struct web_address *a, struct err *err)
{
    struct stat st;
    int fd, status;

    if (a->path[0] == '\0' || lstat(a->path, &st) < 0)
        return 0;
    if (!S_ISSOCK(st.st_mode))
        return err_set(err, "metrics.listen: %s exists and is no socket", a->path);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    status = fd >= 0 ? connect(fd, (const struct sockaddr *)&a->at, a->len) : -1;
    if (fd >= 0)
        close(fd);
    if (status == 0)
        return err_set(err, "metrics.listen: %s belongs to another process", a->path);
    return unlink(a->path) == 0 ? 0 : err_set(err, "metrics.listen: %s: %s", a->path,
                                              strerror(errno));
}

static int bind_to(int fd, const struct web_address *a, const char *user, const char *group,
                   struct err *err)
{
    int yes = 1;

    if (a->path[0] == '\0')
        (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof(yes));
    if (bind(fd, (const struct sockaddr *)&a->at, a->len) < 0)
        return err_set(err, "metrics.listen: cannot listen: %s", strerror(errno));
    if (a->path[0] != '\0' && (process_chown_file(a->path, user, group, err) < 0 ||
                               chmod(a->path, 0660) < 0))
        return err->text[0] != '\0' ? -1 : err_set(err, "metrics.listen: %s: %s", a->path,
                                                   strerror(errno));
    if (listen(fd, BACKLOG) < 0)
        return err_set(err, "metrics.listen: %s", strerror(errno));
    return 0;
}

int web_address_listen(const struct web_address *a, const char *user, const char *group,
                       struct err *err)
{
    int fd;

    if (make_way(a, err) < 0)
        return -1;
    fd = socket(a->at.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    if (fd < 0)
        return err_set(err, "metrics.listen: %s", strerror(errno));
    if (bind_to(fd, a, user, group, err) == 0)
        return fd;
    close(fd);
    return -1;
}

bool web_host_is_local(const char *host)
{
    static const char *const local[] = { "localhost", "127.0.0.1", "[::1]", "ids" };

    for (unsigned i = 0; host != NULL && i < ARRAY_LEN(local); i++) {
        size_t len = strlen(local[i]);

        if (strncasecmp(host, local[i], len) == 0 && (host[len] == '\0' || host[len] == ':'))
            return true;
    }
    return host == NULL;
}
