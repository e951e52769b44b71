/* SPDX-License-Identifier: GPL-2.0-or-later */
/* detect/compile/engine_progress.c - the order in which Suricata counts the steps of a
 * rule, and the progress that it gives to each. Both grew with its parsers and follow no
 * rule. Reports print them. A rule with a hook is checked against them, so that both
 * engines accept the same rules. Inspection itself uses the progress that each protocol
 * declares (app/rules.h). In the tables ">" means to the server, "<" to the client. */
#include "detect/compile/tx_engines.h"

#include <string.h>

#define EITHER 2 /* after TO_SERVER and TO_CLIENT */

/* A '*' at the end of the pattern stands for any rest. */
static bool is_called(const char *pattern, const char *name)
{
    size_t n = strlen(pattern);

    if (n > 0 && pattern[n - 1] == '*')
        return strncmp(pattern, name, n - 1) == 0;
    return strcmp(pattern, name) == 0;
}

/* The first row that fits counts, so special names precede general ones. Empty: the order
 * of the protocols' numbers. */
const char *engine_step_order(const char *name)
{
    static const struct { const char *name, *order; } orders[] = {
        { "file*", "nfs< nfs> smb< smb> ftp< ftp> ftp-data< ftp-data> http< http> doh2< http2< "
                   "doh2> http2> smtp>" },
        { "dcerpc.stub_data", "smb> smb< dcerpc> dcerpc<" },
        { "dce_stub_data", "smb> smb< dcerpc> dcerpc<" },
        { "dce_generic", "dcerpc> smb> dcerpc< smb<" },
        { "dns*", "doh2> dns> doh2< dns<" },
        { "http_request_header", "doh2> http2> http>" },
        { "http_response_header", "doh2< http2< http<" },
        { "http_connection", "http> doh2> http2> http< doh2< http2<" },
        { "http_content_*", "http> doh2> http2> http< doh2< http2<" },
        { "http2_header_name", "doh2< http2< doh2> http2>" },
        { "http*", "http> http< doh2> http2> doh2< http2<" },
        { "tls.cert_serial", "tls< tls>" },
        { "tls.certs", "tls< tls>" },
        { "tls.cert_fingerprint", "tls< tls>" },
        { "tls_cert", "tls< tls>" },
        { "ftp.dynamic_port", "ftp< ftp>" },
        { "ftp.mode", "ftp< ftp>" },
    };

    for (size_t i = 0; i < ARRAY_LEN(orders); i++)
        if (is_called(orders[i].name, name))
            return orders[i].order;
    return "";
}

/* Suricata counts the states of an HTTP/2 stream through, those of the response after
 * those of the request. */
static uint8_t http2_progress(const char *name, unsigned direction, uint8_t own)
{
    if (strcmp(name, "http2_header_name") == 0 || strcmp(name, "http_response_header") == 0)
        return own;
    if (direction == TO_CLIENT)
        return 5;
    return own > 1 || strncmp(name, "file", 4) == 0 ? 3 : own;
}

/* `own`: what the protocol declares; it holds unless a row says otherwise. */
uint8_t engine_progress(const char *name, enum app_proto_id proto, unsigned direction,
                          uint8_t own)
{
    static const struct { const char *name; uint8_t direction, progress; } known[] = {
        { "dnp3", EITHER, 0 },
        { "http2", EITHER, 0 },
        { "dns.opcode", EITHER, 0 },
        { "dns.rcode", EITHER, 0 },
        { "dns.rrtype", EITHER, 0 },
        { "dns*", EITHER, 1 },
        { "krb5_cname", TO_CLIENT, 1 },
        { "krb5_sname", TO_CLIENT, 1 },
        { "ntp.*", EITHER, 1 },
        { "snmp.*", EITHER, 1 },
        { "tls.random", EITHER, 0 },
        { "websocket.payload", EITHER, 0 },
        { "pgsql.query", EITHER, 0 },
    };

    for (size_t i = 0; i < ARRAY_LEN(known); i++)
        if (is_called(known[i].name, name) &&
            (known[i].direction == EITHER || known[i].direction == direction))
            return known[i].progress;
    if (proto == APP_PROTO_http2 || proto == APP_PROTO_doh2)
        return http2_progress(name, direction, own);
    return proto == APP_PROTO_http1 && strcmp(name, "files") == 0 ? 3 : own;
}
