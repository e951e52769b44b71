/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/ip.h - IP addresses as values. */
#ifndef BASE_IP_H
#define BASE_IP_H

#include "base/base.h"
#include "base/text/text.h"

#include <string.h>

/* Network byte order. IPv4 is in the first four bytes, the rest is zero. */
struct ip {
    union {
        uint8_t b[16];
        uint32_t w[4];
        uint64_t q[2];
    };
    uint8_t version;        /* 4 or 6; 0: none */
};

#define IP_TEXT_SIZE 46

static inline bool ip_equal(const struct ip *a, const struct ip *b)
{
    return a->q[0] == b->q[0] && a->q[1] == b->q[1] && a->version == b->version;
}

/* Builds the address from entire words. If it wrote single bytes, a read right after would have to
 * wait until all of them are stored. */
static inline struct ip ip_v4(const uint8_t *p)
{
    uint64_t first = 0;

    memcpy(&first, p, 4);
    return (struct ip){ .q = { first, 0 }, .version = 4 };
}

static inline struct ip ip_v6(const uint8_t *p)
{
    uint64_t q[2];

    memcpy(q, p, 16);
    return (struct ip){ .q = { q[0], q[1] }, .version = 6 };
}

/* Writes IPv6 in full, as EVE does: "fe80:0000:0000:..."; returns the length. */
size_t ip_format(const struct ip *ip, char out[IP_TEXT_SIZE]);
bool ip_parse(struct text t, struct ip *out);
/* Orders by memory contents, IPv4 before IPv6. */
int ip_compare(const struct ip *a, const struct ip *b);

#endif
