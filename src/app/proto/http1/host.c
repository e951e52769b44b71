/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/http1/host.c - the host and port that a request is for: from the target of CONNECT, an
 * absolute URI, or the field Host. Read as Suricata 8 reads them, which differs from libhtp 0.5 in
 * what ends a name, in ports with something behind them, and in what names no host at all. */
#include "config.h"

#include "app/proto/http1/lines.h"
#include "app/proto/http1/state.h"
#include "app/proto/http1/tx.h"
#include "base/text/text.h"

#include <arpa/inet.h>
#include <string.h>

#define HOST_MAX 255                    /* RFC 1035, 2.3.4 */
#define LABEL_MAX 63

/* host[:port]; what may stand behind the port, from a space, '/', '?' or '#' on, is ignored. */
struct authority {
    struct slice name;                  /* without spaces around it */
    bool has_port, is_valid;
    int port;                           /* -1: none, or not a number from 1 to 65535 */
};

/* Bytes up to one of `ends`, which are ASCII. */
static uint32_t length_until(struct slice s, const char *ends)
{
    uint64_t is_end[2] = { 0 };
    uint32_t n = 0;

    for (; *ends != '\0'; ends++)
        is_end[*ends >> 6 & 1] |= UINT64_C(1) << (*ends & 63);
    while (n < s.len && (s.data[n] >= 0x80 ||
                         (is_end[s.data[n] >> 6] >> (s.data[n] & 63) & 1) == 0))
        n++;
    return n;
}

static struct slice rest_of(struct slice s, uint32_t from)
{
    return (struct slice){ .data = s.data + from, .len = s.len - from };
}

static struct slice without_spaces(struct slice s)
{
    while (s.len > 0 && s.data[0] == ' ')
        s = rest_of(s, 1);
    while (s.len > 0 && s.data[s.len - 1] == ' ')
        s.len--;
    return s;
}

static bool is_ipv6(struct slice address)
{
    char text[INET6_ADDRSTRLEN];
    struct in6_addr in6;

    if (address.len >= sizeof(text))
        return false;
    memcpy(text, address.data, address.len);
    text[address.len] = '\0';
    return inet_pton(AF_INET6, text, &in6) == 1;
}

/* Letters and digits of Latin-1 count. Underscores are no anomaly: many hosts have them. */
static const uint8_t is_label_byte[256] = {
    ['0' ... '9'] = 1, ['A' ... 'Z'] = 1, ['a' ... 'z'] = 1, ['-'] = 1, ['_'] = 1, [0xaa] = 1,
    [0xb2] = 1, [0xb3] = 1, [0xb5] = 1, [0xb9] = 1, [0xba] = 1, [0xbc ... 0xbe] = 1,
    [0xc0 ... 0xd6] = 1, [0xd8 ... 0xf6] = 1, [0xf8 ... 0xff] = 1,
};

static bool is_host_name(struct slice s)
{
    uint32_t label = 0, address = s.len > 0 && s.data[0] == '[' ? length_until(s, "#?/]") : 0;

    if (s.len == 0 || s.len > HOST_MAX || s.data[0] == '.')
        return false;
    if (address > 1 && address < s.len && s.data[address] == ']')
        return is_ipv6((struct slice){ .data = s.data + 1, .len = address - 1 });
    for (uint32_t i = 0; i < s.len; i++) {
        if (LIKELY(is_label_byte[s.data[i]])) {
            if (i - label >= LABEL_MAX)
                return false;
            continue;
        }
        if (s.data[i] != '.' || label == i)
            return false;
        label = i + 1;
    }
    return true;
}

static int port_number(struct slice s)
{
    uint64_t n;

    if (!text_to_u64((struct text){ (const char *)s.data, s.len }, UINT16_MAX, &n) || n == 0)
        return -1;
    return (int)n;
}

/* A valid name and nothing else, as in nearly all requests. */
static bool is_bare_name(struct slice in)
{
    return in.len > 0 && in.data[0] != '[' && is_host_name(in);
}

/* False: nothing is named. */
static bool authority_read(struct slice in, struct authority *a)
{
    struct slice rest;
    uint32_t n;

    *a = (struct authority){ .port = -1 };
    if (LIKELY(is_bare_name(in))) {
        a->name = in;
        a->is_valid = true;
        return true;
    }
    if (in.len >= 2 && memcmp(in.data, "//", 2) == 0)
        in = rest_of(in, 2);
    if (in.len > 0 && in.data[0] == '/')
        return false;
    while (in.len > 0 && in.data[0] == ' ')
        in = rest_of(in, 1);
    n = in.len > 0 && in.data[0] == '[' ? length_until(in, "/?#]") : 0;
    n = n > 1 ? n + (n < in.len && in.data[n] == ']') : length_until(in, "/?#:");
    if (n == 0)
        return false;
    a->name = without_spaces((struct slice){ .data = in.data, .len = n });
    a->is_valid = is_host_name(a->name) && n == in.len;
    rest = rest_of(in, n);
    if (rest.len == 0 || rest.data[0] != ':')
        return true;
    rest = rest_of(rest, 1);
    rest.len = length_until(rest, "/?#");
    rest = without_spaces(rest);
    rest.len = length_until(rest, " ");
    if (rest.len == 0)
        return true;
    a->has_port = true;
    a->port = port_number(rest);
    a->is_valid = a->port > 0 && is_host_name(a->name);
    return true;
}

static void set_flag(htp_tx_t *htp, uint64_t flag, bool on)
{
    htp->flags = on ? htp->flags | flag : htp->flags & ~flag;
}

static void replace(bstr **b, const struct slice *with)
{
    bstr_free(*b);
    *b = with != NULL ? bstr_dup_mem(with->data, with->len) : NULL;
}

/* The target of CONNECT is host:port. Without a host the field Host names it. */
static void read_tunnel(htp_tx_t *htp)
{
    htp_uri_t *uri = htp->parsed_uri;
    struct authority a;
    bool is_named = authority_read(http_bstr(htp->request_uri), &a);

    replace(&uri->hostname, is_named ? &a.name : NULL);
    uri->port_number = a.port;
    set_flag(htp, HTP_HOSTU_INVALID, is_named && !a.is_valid);
}

/* A URI with a scheme, but without "//" ("sip:me@example.org"): Suricata takes what follows for the
 * authority, libhtp 0.5 for the path. */
static void read_opaque(htp_tx_t *htp)
{
    struct slice target = http_bstr(htp->request_uri);
    struct authority a;
    uint32_t scheme;

    if (target.len == 0 || target.data[0] == '/')
        return;
    scheme = length_until(target, ":");
    if (scheme == target.len || !authority_read(rest_of(target, scheme + 1), &a))
        return;
    replace(&htp->parsed_uri->hostname, &a.name);
    htp->parsed_uri->port_number = a.port;
    set_flag(htp, HTP_HOSTU_INVALID, !is_host_name(a.name) || (a.has_port && a.port <= 0));
}

void http_host_of_line(htp_tx_t *htp)
{
    htp_uri_t *uri = htp->parsed_uri;
    const htp_uri_t *raw = htp->parsed_uri_raw != NULL ? htp->parsed_uri_raw : uri;

    if (uri == NULL)
        return;
    if (UNLIKELY(htp->request_method_number == HTP_M_CONNECT)) {
        read_tunnel(htp);
        return;
    }
    if (LIKELY(uri->hostname == NULL)) {
        read_opaque(htp);
        return;
    }
    if (without_spaces(http_bstr(raw->hostname)).len == 0) {
        replace(&uri->hostname, NULL);
        uri->port_number = -1;
        set_flag(htp, HTP_HOSTU_INVALID, false);
        return;
    }
    set_flag(htp, HTP_HOSTU_INVALID,
             !is_host_name(http_bstr(uri->hostname)) ||
                 (http_bstr(raw->port).len > 0 && uri->port_number <= 0));
}

static bool is_same(struct slice a, const bstr *b)
{
    struct slice s = http_bstr(b);

    return a.len == s.len && (a.len == 0 || bstr_util_cmp_mem_nocase(a.data, a.len, s.data,
                                                                     s.len) == 0);
}

void http_host_of_fields(htp_tx_t *htp)
{
    const htp_header_t *host = htp_table_get_c(htp->request_headers, "host");
    bool in_uri = htp->parsed_uri != NULL && htp->parsed_uri->hostname != NULL;
    struct authority a;
    bool is_named;

    if (host == NULL)
        return;
    is_named = authority_read(http_bstr(host->value), &a);
    set_flag(htp, HTP_HOSTH_INVALID, is_named && !a.is_valid);
    if (!in_uri) {
        replace(&htp->request_hostname, is_named ? &a.name : NULL);
        htp->request_port_number = a.port;
        set_flag(htp, HTP_HOST_AMBIGUOUS, false);
        return;
    }
    set_flag(htp, HTP_HOST_AMBIGUOUS,
             !is_named || !is_same(a.name, htp->request_hostname) ||
                 (a.has_port && htp->request_port_number > 0 &&
                  htp->request_port_number != a.port));
}

#ifdef HAVE_HTP_ARCHIVE

/* libhtp's reading of the field Host, all of which http_host_of_fields() replaces. */
htp_status_t htp_parse_header_hostport(bstr *hostport UNUSED, bstr **hostname, bstr **port UNUSED,
                                       int *port_number, uint64_t *flags UNUSED)
{
    *hostname = NULL;
    *port_number = -1;
    return HTP_OK;
}

#endif
