/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/xff.c - the client's address as a proxy reports it, in X-Forwarded-For or another
 * header: a list to which each proxy appends the address of its peer. */
#include "app/proto.h"
#include "app/proto/http1/http1.h"
#include "app/proto/http1/tx.h"

#include <ctype.h>
#include <string.h>

#define LIST_MIN 7      /* "1.1.1.1" */
#define LIST_MAX 255    /* bytes; a longer list is hostile */

/* The first entry: the client, if each proxy is honest. */
static struct slice first_address(struct slice list)
{
    const uint8_t *comma = memchr(list.data, ',', list.len);

    if (comma != NULL)
        list.len = (uint32_t)(comma - list.data);
    return list;
}

/* The last entry: the peer of the nearest proxy. */
static struct slice last_address(struct slice list)
{
    const uint8_t *space = memrchr(list.data, ' ', list.len);

    if (space == NULL)
        return list;
    space++;
    return (struct slice){ .data = space, .len = (uint32_t)(list.data + list.len - space) };
}

static unsigned count(struct slice s, uint8_t c)
{
    unsigned n = 0;

    for (uint32_t i = 0; i < s.len; i++)
        n += s.data[i] == c;
    return n;
}

/* "[2001:db8::1]:80" and "192.0.2.1:80" without brackets and port. */
static struct slice without_port(struct slice s)
{
    const uint8_t *end = NULL;

    if (s.len > 0 && s.data[0] == '[') {
        s.data++;
        s.len--;
        end = memchr(s.data, ']', s.len);
        s.len = end != NULL ? s.len : 0;
    } else if (s.len > 0 && count(s, '.') == 3 && count(s, ':') == 1) {
        end = memchr(s.data, ':', s.len);
    }
    if (end != NULL)
        s.len = (uint32_t)(end - s.data);
    return s;
}

/* The address of one transaction, checked by ip_parse(): the text goes into EVE records. False: no
 * header, or no address. */
static bool from_tx(struct http_tx *htx, const char *header, bool first, char out[IP_TEXT_SIZE])
{
    char name[64];
    const htp_header_t *h;
    struct slice s;
    struct ip ip;
    size_t n = strlen(header);

    if (n >= sizeof(name))
        return false;
    for (size_t i = 0; i <= n; i++)
        name[i] = (char)tolower((unsigned char)header[i]);
    h = http_header(htx, TO_SERVER, name);
    s = http_bstr(h != NULL ? h->value : NULL);
    if (s.len < LIST_MIN || s.len > LIST_MAX)
        return false;
    s = without_port(first ? first_address(s) : last_address(s));
    if (s.len >= IP_TEXT_SIZE || !ip_parse((struct text){ (const char *)s.data, s.len }, &ip))
        return false;
    memcpy(out, s.data, s.len);
    out[s.len] = '\0';
    return true;
}

bool http1_forwarded_for(struct app_tx *tx, const char *header, bool first,
                         char out[IP_TEXT_SIZE])
{
    return tx->flow->proto != NULL && tx->flow->proto->id == APP_PROTO_http1 &&
           from_tx(http_tx_of(tx), header, first, out);
}
