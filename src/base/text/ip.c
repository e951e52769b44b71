/* SPDX-License-Identifier: GPL-2.0-or-later */
/* base/text/ip.c - IP addresses to text and back. */
#include "base/text/ip.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define ONE(c) { c, '.' }
#define TWO(t, c) { t, c, '.' }
#define THREE(h, t, c) { h, t, c, '.' }
#define TENS(t)                                                                                  \
    TWO(t, '0'), TWO(t, '1'), TWO(t, '2'), TWO(t, '3'), TWO(t, '4'), TWO(t, '5'), TWO(t, '6'),   \
        TWO(t, '7'), TWO(t, '8'), TWO(t, '9')
#define HUNDREDS(h, t)                                                                           \
    THREE(h, t, '0'), THREE(h, t, '1'), THREE(h, t, '2'), THREE(h, t, '3'), THREE(h, t, '4'),    \
        THREE(h, t, '5'), THREE(h, t, '6'), THREE(h, t, '7'), THREE(h, t, '8'), THREE(h, t, '9')

/* Each octet with its dot: an address takes four copies without a branch. */
static const char octet_text[256][4] = {
    ONE('0'), ONE('1'), ONE('2'), ONE('3'), ONE('4'), ONE('5'), ONE('6'), ONE('7'), ONE('8'),
    ONE('9'), TENS('1'), TENS('2'), TENS('3'), TENS('4'), TENS('5'), TENS('6'), TENS('7'),
    TENS('8'), TENS('9'), HUNDREDS('1', '0'), HUNDREDS('1', '1'), HUNDREDS('1', '2'),
    HUNDREDS('1', '3'), HUNDREDS('1', '4'), HUNDREDS('1', '5'), HUNDREDS('1', '6'),
    HUNDREDS('1', '7'), HUNDREDS('1', '8'), HUNDREDS('1', '9'), HUNDREDS('2', '0'),
    HUNDREDS('2', '1'), HUNDREDS('2', '2'), HUNDREDS('2', '3'), HUNDREDS('2', '4'),
    THREE('2', '5', '0'), THREE('2', '5', '1'), THREE('2', '5', '2'), THREE('2', '5', '3'),
    THREE('2', '5', '4'), THREE('2', '5', '5'),
};

static size_t format_v4(const uint8_t *b, char *out)
{
    char *p = out;

    for (unsigned i = 0; i < 4; i++) {
        memcpy(p, octet_text[b[i]], 4);
        p += 2 + (b[i] >= 10) + (b[i] >= 100);
    }
    p[-1] = '\0';
    return (size_t)(p - 1 - out);
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
