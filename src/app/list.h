/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/list.h - the registration list of application protocols: one line each.
 *
 * X(symbol) stands for `const struct app_proto app_<symbol>` in app/proto/<symbol>/ and gives it
 * the number APP_PROTO_<symbol>. Where patterns of two protocols match, the one listed first wins.
 *
 * A group is a name that stands for several protocols in rules, and APP_PROTO_ANY_<symbol>. Its
 * members declare that they belong to it (app_proto.also). */
#ifndef APP_LIST_H
#define APP_LIST_H

#define APP_PROTO_LIST(X) \
    X(http1)              \
    X(http2)              \
    X(doh2)               \
    X(tls)                \
    X(ssh)                \
    X(mqtt)               \
    X(sip)                \
    X(pgsql)              \
    X(rfb)                \
    X(snmp)               \
    X(ldap)               \
    X(dhcp)               \
    X(dns)                \
    X(mdns)               \
    X(llmnr)              \
    X(smtp)               \
    X(dcerpc)             \
    X(ftp)                \
    X(ftp_data)           \
    X(pop3)               \
    X(imap)               \
    X(telnet)             \
    X(quic)               \
    X(tftp)               \
    X(smb)                \
    X(nfs)                \
    X(websocket)          \
    X(modbus)             \
    X(krb5)               \
    X(ntp)                \
    X(dnp3)               \
    X(enip)               \
    X(ike)                \
    X(rdp)                \
    X(bittorrent_dht)     \
    X(template)

#define APP_GROUP_LIST(X) \
    X(http)

/* Protocols that plugins add at the start have the numbers after those of the list. */
#define APP_PROTO_PLUGINS_MAX 8

enum app_proto_id {
    APP_PROTO_UNKNOWN,          /* not known yet */
    APP_PROTO_FAILED,           /* detection has failed */
#define X(symbol) APP_PROTO_ANY_##symbol,
    APP_GROUP_LIST(X)
#undef X
    APP_PROTO_FIRST,
    APP_PROTO_LAST_GROUP = APP_PROTO_FIRST - 1,
#define X(symbol) APP_PROTO_##symbol,
    APP_PROTO_LIST(X)
#undef X
    APP_PROTO_PLUGIN_FIRST,
    APP_PROTO_COUNT = APP_PROTO_PLUGIN_FIRST + APP_PROTO_PLUGINS_MAX
};

#endif
