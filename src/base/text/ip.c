/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/ip.c - IP addresses to text and back. */
#include "base/text/ip.h"

#include <arpa/inet.h>
#include <stdio.h>

static size_t put_decimal(char *out, unsigned n)
{
    size_t len = 0;

    if (n >= 100)
        out[len++] = (char)('0' + n / 100);
    if (n >= 10)
        out[len++] = (char)('0' + n / 10 % 10);
    out[len++] = (char)('0' + n % 10);
    return len;
}

static size_t format_v4(const uint8_t *b, char *out)
{
    size_t len = 0;

    for (unsigned i = 0; i < 4; i++) {
        if (i > 0)
            out[len++] = '.';
        len += put_decimal(out + len, b[i]);
    }
    out[len] = '\0';
    return len;
}

/* All 32 digits without "::", as Suricata logs IPv6 addresses. */
static size_t format_v6(const uint8_t *b, char *out)
{
    static const char digits[] = "0123456789abcdef";
    size_t len = 0;

    for (unsigned i = 0; i < 16; i++) {
        if (i > 0 && i % 2 == 0)
            out[len++] = ':';
        out[len++] = digits[b[i] >> 4];
        out[len++] = digits[b[i] & 15];
    }
    out[len] = '\0';
    return len;
}

size_t ip_format(const struct ip *ip, char out[IP_TEXT_SIZE])
{
    if (ip->version == 4)
        return format_v4(ip->b, out);
    if (ip->version == 6)
        return format_v6(ip->b, out);
    out[0] = '\0';
    return 0;
}

/* inet_pton() only takes dotted IPv4 without leading zeros, and IPv6 without a zone: the forms in
 * which no two programs differ. */
bool ip_parse(struct text t, struct ip *out)
{
    char text[IP_TEXT_SIZE];
    uint8_t b[16];

    if (t.n == 0 || t.n >= sizeof(text))
        return false;
    memcpy(text, t.p, t.n);
    text[t.n] = '\0';
    if (inet_pton(AF_INET, text, b) == 1)
        *out = ip_v4(b);
    else if (inet_pton(AF_INET6, text, b) == 1)
        *out = ip_v6(b);
    else
        return false;
    return true;
}

/* An order for sorting; IPv4 comes first. */
int ip_compare(const struct ip *a, const struct ip *b)
{
    if (a->version != b->version)
        return a->version < b->version ? -1 : 1;
    return memcmp(a->b, b->b, sizeof(a->b));
}
