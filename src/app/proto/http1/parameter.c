/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/parameter.c - the file name in a response's Content-Disposition (RFC 6266).
 *
 * It is read as browsers do, without decoding. Parts of multipart bodies follow MIME instead, see
 * app/lib/mime/parameter.h. */
#include "app/proto/http1/body.h"

#include <ctype.h>
#include <strings.h>

/* The part up to a semicolon that no quotes enclose. */
static struct slice take_part(struct bytes *in)
{
    const uint8_t *start = in->next;
    unsigned quotes = 0;
    uint8_t previous = '\\';

    while (bytes_have(in, 1)) {
        uint8_t c = take_u8(in);

        if (c == '"' && previous != '\\')
            quotes++;
        if (c == ';' && previous != '\\' && quotes % 2 == 0)
            return (struct slice){ .data = start, .len = (uint32_t)(in->next - 1 - start) };
        previous = c;
    }
    return (struct slice){ .data = start, .len = (uint32_t)(in->next - start) };
}

static struct slice without_quotes(struct slice s)
{
    if (s.len > 0 && s.data[0] == '"') {
        s.data++;
        s.len--;
    }
    if (s.len > 0 && s.data[s.len - 1] == '"')
        s.len--;
    return s;
}

/* The first "filename=" wins; "filename*=" is not looked at, as in Suricata. False: none. */
bool http_disposition_name(struct slice header, struct slice *out)
{
    static const char key[] = "filename=";
    const uint32_t n = sizeof(key) - 1;
    struct bytes in = bytes_of_slice(header);

    while (bytes_have(&in, 1)) {
        struct slice part;

        while (bytes_have(&in, 1) && isspace(peek_u8(&in)))
            take_u8(&in);
        part = take_part(&in);
        if (part.len <= n || strncasecmp((const char *)part.data, key, n) != 0)
            continue;
        *out = without_quotes((struct slice){ .data = part.data + n, .len = part.len - n });
        return true;
    }
    return false;
}
