/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ftp/port.c - ports and addresses as FTP writes them (RFC 959 section 4.1.2, RFC
 * 2428). */
#include "app/proto/ftp/ftp.h"

#include <string.h>

static bool is_digit(uint8_t c)
{
    return c >= '0' && c <= '9';
}

static void skip_space(struct bytes *in)
{
    while (peek_u8(in) == ' ' || peek_u8(in) == '\t' || peek_u8(in) == '\r' || peek_u8(in) == '\n')
        take_u8(in);
}

/* A decimal number up to max. The cursor fails beyond it, or without a digit. */
static uint32_t take_number(struct bytes *in, uint32_t max)
{
    uint32_t n = 0;

    if (!is_digit(peek_u8(in)))
        in->failed = true;
    while (is_digit(peek_u8(in))) {
        n = n * 10 + (uint32_t)(take_u8(in) - '0');
        if (n > max)
            in->failed = true;
    }
    return n;
}

static void take_exactly(struct bytes *in, uint8_t c)
{
    if (take_u8(in) != c)
        in->failed = true;
}

static void take_word(struct bytes *in, const char *word)
{
    for (; *word != '\0'; word++) {
        uint8_t c = take_u8(in);

        if (c >= 'a' && c <= 'z')
            c &= (uint8_t)~0x20;
        if (c != (uint8_t)*word)
            in->failed = true;
    }
}

static void skip_behind(struct bytes *in, uint8_t c)
{
    struct slice skipped;

    if (!take_until(in, c, &skipped))
        in->failed = true;
}

/* "4,5": the two bytes of a port. 0: malformed. */
static uint16_t take_port_pair(struct bytes *in)
{
    uint32_t high, low;

    skip_space(in);
    high = take_number(in, 255);
    skip_space(in);
    take_exactly(in, ',');
    skip_space(in);
    low = take_number(in, 255);
    return in->failed ? 0 : (uint16_t)(high << 8 | low);
}

/* The address in PORT and PASV is not used: the flow's hosts are. */
static void skip_host(struct bytes *in)
{
    for (unsigned i = 0; i < 4; i++) {
        (void)take_number(in, UINT32_MAX / 16);
        skip_space(in);
        take_exactly(in, ',');
    }
}

uint16_t ftp_port_of_port(struct slice request)
{
    struct bytes in = bytes_of_slice(request);

    take_word(&in, "PORT");
    skip_space(&in);
    skip_host(&in);
    return take_port_pair(&in);
}

uint16_t ftp_port_of_pasv(struct slice reply)
{
    struct bytes in = bytes_of_slice(reply);
    uint16_t port;

    skip_behind(&in, '(');
    skip_host(&in);
    port = take_port_pair(&in);
    skip_space(&in);
    take_exactly(&in, ')');
    return in.failed ? 0 : port;
}

/* "EPRT |2|2001:db8::1|41813|", RFC 2428 section 2. */
uint16_t ftp_port_of_eprt(struct slice request)
{
    struct bytes in = bytes_of_slice(request);
    uint16_t port;

    take_word(&in, "EPRT");
    for (unsigned i = 0; i < 3; i++)
        skip_behind(&in, '|');
    skip_space(&in);
    port = (uint16_t)take_number(&in, UINT16_MAX);
    skip_space(&in);
    take_exactly(&in, '|');
    return in.failed ? 0 : port;
}

/* "229 Entering Extended Passive Mode (
 *
 * |48758|)", RFC 2428 section 3. */
uint16_t ftp_port_of_epsv(struct slice reply)
{
    struct bytes in = bytes_of_slice(reply);
    uint16_t port;

    skip_behind(&in, '|');
    take_exactly(&in, '|');
    take_exactly(&in, '|');
    skip_space(&in);
    port = (uint16_t)take_number(&in, UINT16_MAX);
    skip_space(&in);
    take_exactly(&in, '|');
    take_exactly(&in, ')');
    return in.failed ? 0 : port;
}

/* The address in PORT, for ftpbounce. */
bool ftp_address_of_port(struct slice request, uint32_t *address)
{
    struct bytes in = bytes_of_slice(request);

    *address = 0;
    while (bytes_have(&in, 1) && !is_digit(peek_u8(&in)))
        take_u8(&in);
    for (unsigned i = 0; i < 4; i++) {
        *address = *address << 8 | (take_number(&in, 255) & 0xff);
        skip_space(&in);
        take_exactly(&in, ',');
    }
    return !in.failed;
}
