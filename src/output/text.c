/* SPDX-License-Identifier: GPL-2.0-or-later */
/* output/text.c - times, addresses and dumps in text logs. */
#include "output/text.h"

#include <string.h>
#include <time.h>

/* Suricata's format for these logs: American order, local time. */
void text_time(struct buf *out, uint64_t time_us)
{
    time_t t = (time_t)(time_us / 1000000);
    struct tm tm;
    char text[32];

    localtime_r(&t, &tm);
    strftime(text, sizeof(text), "%m/%d/%Y-%H:%M:%S", &tm);
    buf_printf(out, "%s.%06u", text, (unsigned)(time_us % 1000000));
}

void text_address(struct buf *out, const struct ip *ip)
{
    char text[IP_TEXT_SIZE];

    buf_add(out, text, ip_format(ip, text));
}

/* Escapes quotes too, so that a value can be in quotes. Escapes each byte that is not ASCII, even
 * in valid UTF-8. */
void text_escape(struct buf *out, struct slice s)
{
    static const char digits[] = "0123456789ABCDEF";

    uint8_t *at;

    if (!buf_reserve(out, (size_t)s.len * 4))
        return;
    at = out->data + out->len;
    for (uint32_t i = 0; i < s.len; i++) {
        uint8_t c = s.data[i];

        if (LIKELY(c >= 0x20 && c < 0x7f && c != '"' && c != '\\')) {
            *at++ = c;
            continue;
        }
        *at++ = '\\';
        if (c == '\\') {
            *at++ = c;
            continue;
        }
        *at++ = 'x';
        *at++ = (uint8_t)digits[c >> 4];
        *at++ = (uint8_t)digits[c & 15];
    }
    out->len = (size_t)(at - out->data);
}

/* Bytes in a line, as in Suricata's dumps. */
#define DUMP_WIDTH 16
/* Columns: the bytes in hexadecimal, then as text; a blank separates the two halves of
 * each. */
#define HEX_AT 0
#define TEXT_AT (HEX_AT + DUMP_WIDTH * 3 + 3)
#define LINE_SIZE (TEXT_AT + DUMP_WIDTH + 1)

/* Builds the line in place: the columns are fixed, so a short last line lines up with the
 * others. */
static void dump_line(struct buf *out, const uint8_t *data, size_t n)
{
    static const char digits[] = "0123456789ABCDEF";
    char line[LINE_SIZE];
    size_t end = TEXT_AT;

    memset(line, ' ', sizeof(line));
    for (size_t i = 0; i < n; i++) {
        size_t half = i >= DUMP_WIDTH / 2;
        char *hex = &line[HEX_AT + i * 3 + half];

        hex[0] = digits[data[i] >> 4];
        hex[1] = digits[data[i] & 15];
        line[TEXT_AT + i + half] = data[i] >= 0x20 && data[i] < 0x7f ? (char)data[i] : '.';
        end = TEXT_AT + i + half + 1;
    }
    /* A full first half is followed by its blank even if the line ends there. */
    if (n == DUMP_WIDTH / 2)
        end++;
    buf_add(out, line, end);
    buf_add_u8(out, '\n');
}

/* Each line begins with the offset of its first byte. No bytes give an empty line, so that a label
 * is always followed by a line. */
void text_dump(struct buf *out, const uint8_t *data, size_t len)
{
    if (len == 0)
        buf_add_u8(out, '\n');
    for (size_t at = 0; at < len; at += DUMP_WIDTH) {
        size_t n = len - at < DUMP_WIDTH ? len - at : DUMP_WIDTH;

        buf_printf(out, " %04X  ", (unsigned)at);
        dump_line(out, data + at, n);
    }
}
