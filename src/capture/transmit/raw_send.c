/* SPDX-License-Identifier: GPL-2.0-or-later */
/* capture/transmit/raw_send.c - sends single packets that the engine creates: one packet socket,
 * and one raw socket for each version of IP. */
#include "capture/transmit/raw_send.h"

#include <linux/if_packet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/array.h"

/* Sockets are -1 where privileges are missing; sending then fails. The marks are the sockets'
 * current ones. */
struct raw_sender {
    int link, ip4, ip6;
    uint32_t mark4, mark6;
};

struct raw_sender *raw_sender_new(void)
{
    struct raw_sender *s = xcalloc(1, sizeof(*s));

    s->link = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    /* With IPPROTO_RAW the caller writes the IP header (raw(7), IP_HDRINCL). */
    s->ip4 = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    s->ip6 = socket(AF_INET6, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);
    return s;
}

void raw_sender_free(struct raw_sender *s)
{
    if (s == NULL)
        return;
    if (s->link >= 0)
        close(s->link);
    if (s->ip4 >= 0)
        close(s->ip4);
    if (s->ip6 >= 0)
        close(s->ip6);
    free(s);
}

int raw_send_frame(struct raw_sender *s, int if_index, const uint8_t *frame, size_t len)
{
    struct sockaddr_ll to = { .sll_family = AF_PACKET, .sll_ifindex = if_index };

    return sendto(s->link, frame, len, MSG_DONTWAIT, (struct sockaddr *)&to, sizeof(to)) < 0 ? -1
                                                                                             : 0;
}

/* SO_MARK belongs to the socket, so it is only set when it changes. */
static void set_mark(int fd, uint32_t *now, uint32_t mark)
{
    if (*now == mark)
        return;
    *now = mark;
    (void)setsockopt(fd, SOL_SOCKET, SO_MARK, &mark, sizeof(mark));
}

/* The packet's own header decides the destination; the kernel chooses the route. */
int raw_send_ip(struct raw_sender *s, const uint8_t *packet, size_t len, uint32_t mark)
{
    struct sockaddr_in to4 = { .sin_family = AF_INET };
    struct sockaddr_in6 to6 = { .sin6_family = AF_INET6 };

    if (packet[0] >> 4 == 4) {
        memcpy(&to4.sin_addr, packet + 16, 4);
        set_mark(s->ip4, &s->mark4, mark);
        return sendto(s->ip4, packet, len, MSG_DONTWAIT, (struct sockaddr *)&to4,
                      sizeof(to4)) < 0 ? -1 : 0;
    }
    memcpy(&to6.sin6_addr, packet + 24, 16);
    set_mark(s->ip6, &s->mark6, mark);
    return sendto(s->ip6, packet, len, MSG_DONTWAIT, (struct sockaddr *)&to6, sizeof(to6)) < 0
               ? -1 : 0;
}
