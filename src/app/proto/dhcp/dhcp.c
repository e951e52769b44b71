/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dhcp/dhcp.c - DHCP (RFC 2131, 2132): one transaction for each message.
 *
 * The transaction keeps the options as bytes, in its arena. Rules and logs walk over them when they
 * need one, which costs nothing for messages that no rule or log looks at. */
#include "app/log.h"
#include "app/proto.h"
#include "app/reports.h"
#include "app/rules.h"

#include "app/lib/log_text.h"
#include "base/array.h"

#include <stdlib.h>

#define HEADER_SIZE 240                 /* bytes, with the magic cookie */
#define REQUEST 1                       /* `op` of RFC 2131 section 2 */
#define REPLY   2

#define DHCP_EVENT_LIST(E)                         \
    E(DHCP_TRUNCATED_OPTIONS, "truncated_options") \
    E(DHCP_MALFORMED_OPTIONS, "malformed_options")

enum dhcp_event { DHCP_EVENT_NONE, DHCP_EVENT_LIST(APP_EVENT_ID) };

/* Codes of RFC 2132 that have a meaning here; all others are skipped by their length. */
enum dhcp_code {
    SUBNET_MASK = 1, ROUTERS = 3, DNS_SERVERS = 6, HOSTNAME = 12, REQUESTED_IP = 50,
    LEASE_TIME = 51, MESSAGE_TYPE = 53, PARAMETERS = 55, RENEWAL_TIME = 58, REBINDING_TIME = 59,
    VENDOR_CLASS = 60, CLIENT_ID = 61, END = 255,
};
#define TYPE_ACK 5  /* DHCPACK (RFC 2132 section 9.6) */

/* Fields as in RFC 2131 section 2, addresses in network order. */
struct dhcp_tx {
    struct app_tx tx;
    uint8_t op, mac_len, mac[16], client[4], assigned[4], next_server[4], relay[4];
    uint32_t id;
    struct slice options;
};

/* One option. `data` points into the transaction's arena. */
struct dhcp_option {
    uint8_t code;
    uint32_t seconds;                   /* of the three time options */
    struct slice data;
};

static struct dhcp_tx *dhcp_tx_of(const struct app_tx *tx)
{
    return (struct dhcp_tx *)(uintptr_t)tx;
}

/* Takes one option. False at the end option, or where the options break off: then the cursor has
 * failed. The length of a time option is not checked, and a pad option, which is a single byte in
 * RFC 2132 section 3.1, is read with a length like others, both as in Suricata. */
static bool take_option(struct bytes *in, struct dhcp_option *out)
{
    uint8_t len;

    *out = (struct dhcp_option){ .code = take_u8(in) };
    if (in->failed || out->code == END)
        return false;
    len = take_u8(in);
    switch (out->code) {
    case LEASE_TIME: case RENEWAL_TIME: case REBINDING_TIME:
        out->seconds = take_be32(in);
        break;
    case CLIENT_ID:
        if (len < 2)
            in->failed = true;
        take_skip(in, 1);               /* type of hardware (RFC 2132 section 9.14) */
        out->data = take_slice(in, len - 1u);
        break;
    default:
        out->data = take_slice(in, len);
        break;
    }
    return !in->failed;
}

/* The port and the length decide: nothing is checked besides, so the parser must accept any
 * content. */
static enum app_probe_result dhcp_probe(struct bytes in, enum direction direction UNUSED,
                                        const struct flow *flow UNUSED)
{
    return bytes_left(&in) < HEADER_SIZE ? APP_PROBE_MORE : APP_PROBE_YES;
}

/* The caller has checked that HEADER_SIZE bytes are there, so no read fails. A hardware address is
 * at most 16 bytes, whatever its length field says. */
static void take_header(struct bytes *in, struct dhcp_tx *t)
{
    t->op = take_u8(in);
    take_skip(in, 1);   /* htype */
    t->mac_len = take_u8(in);
    t->mac_len = MIN(t->mac_len, 16);
    take_skip(in, 1);   /* hops */
    t->id = take_be32(in);
    take_skip(in, 4);   /* secs, flags */
    memcpy(t->client, take_bytes(in, 4), 4);
    memcpy(t->assigned, take_bytes(in, 4), 4);
    memcpy(t->next_server, take_bytes(in, 4), 4);
    memcpy(t->relay, take_bytes(in, 4), 4);
    memcpy(t->mac, take_bytes(in, 16), 16);
    take_skip(in, 64 + 128 + 4);        /* sname, file, magic cookie */
}

/* One message. A malformed option is an event and ends the walk over the options; the fields of the
 * header and the options before it stay usable. */
static enum parse_status dhcp_parse(struct app_flow *af, struct app_input *in)
{
    struct bytes b = app_input_bytes(in);
    struct dhcp_option option;
    struct dhcp_tx *t;

    if (in->len == 0)
        return PARSE_OK;
    if (in->len < HEADER_SIZE)
        return PARSE_STOP;
    t = (struct dhcp_tx *)app_tx_new(af);
    if (t == NULL)
        return PARSE_STOP;
    take_header(&b, t);
    t->options = app_text_copy(&t->tx.arena, take_rest(&b));
    b = bytes_of_slice(t->options);
    while (take_option(&b, &option))
        continue;
    if (b.failed)
        app_tx_event(&t->tx, DHCP_TRUNCATED_OPTIONS);
    t->tx.progress[in->direction] = 1;
    t->tx.unidirectional[OTHER_DIRECTION(in->direction)] = true;
    return PARSE_OK;
}

/* --- rules ------------------------------------------------------------------------------------ */

/* The first option with this code. False: there is none before the end or a malformed one. */
static bool find_option(const struct app_tx *tx, uint8_t code, struct dhcp_option *out)
{
    struct bytes in = bytes_of_slice(dhcp_tx_of(tx)->options);

    while (take_option(&in, out))
        if (out->code == code)
            return true;
    return false;
}

/* `key->number` is the code of the option. */
static bool find_time(struct app_tx *tx, enum direction d UNUSED, const struct app_key *key,
                      unsigned i UNUSED, uint64_t *out)
{
    struct dhcp_option option;

    if (!find_option(tx, (uint8_t)key->number, &option))
        return false;
    *out = option.seconds;
    return true;
}

#define TIME_INTEGER(id, keyword, code, text)                                                \
    static const struct app_integer id##_integer = {                                         \
        .name = keyword, .doc = text, .bits = 64, .directions = APP_BOTH,                    \
        .find = find_time, .key.number = (code),                                             \
    }
TIME_INTEGER(lease, "dhcp.leasetime", LEASE_TIME, "lease time in seconds");
TIME_INTEGER(rebinding, "dhcp.rebinding_time", REBINDING_TIME, "rebinding time in seconds");
TIME_INTEGER(renewal, "dhcp.renewal_time", RENEWAL_TIME, "renewal time in seconds");

/* --- log -------------------------------------------------------------------------------------- */

/* Options of this log. */
struct dhcp_log_settings {
    bool extended;  /* all message types and all known options */
};

static void *dhcp_log_configure(const struct conf_node *node, struct err *err UNUSED)
{
    struct dhcp_log_settings *s = xcalloc(1, sizeof(*s));

    s->extended = conf_bool(node, "extended", false);
    return s;
}

static void log_address(struct json *j, const char *key, const uint8_t *a)
{
    json_printf(j, key, "%u.%u.%u.%u", a[0], a[1], a[2], a[3]);
}

/* An option for one address with another length is an empty string. */
static void log_address_option(struct json *j, const char *key, struct slice data)
{
    if (data.len == 4)
        log_address(j, key, data.data);
    else
        json_string(j, key, "");
}

/* A rest of less than 4 bytes is left out. */
static void log_addresses(struct json *j, const char *key, struct slice data)
{
    json_array(j, key);
    for (uint32_t i = 0; i + 4 <= data.len; i += 4)
        log_address(j, NULL, data.data + i);
    json_array_end(j);
}

/* Hexadecimal bytes with colons between them. An option has at most 255 bytes. */
static void log_colons(struct json *j, const char *key, struct slice data)
{
    static const char digits[] = "0123456789abcdef";
    char text[UINT8_MAX * 3 + 1];
    size_t n = 0;

    for (uint32_t i = 0; i < data.len && i < UINT8_MAX; i++) {
        if (n > 0)
            text[n++] = ':';
        text[n++] = digits[data.data[i] >> 4];
        text[n++] = digits[data.data[i] & 15];
    }
    json_bytes(j, key, text, n);
}

/* The parameter request list (RFC 2132 section 9.8), one byte for each code. Codes without a name
 * here are left out. */
static void log_parameters(struct json *j, struct slice data)
{
    static const struct { uint8_t code; const char *name; } names[] = {
        { 1, "subnet_mask" }, { 3, "router" }, { 6, "dns_server" }, { 15, "domain" },
        { 35, "arp_timeout" }, { 42, "ntp_server" }, { 66, "tftp_server_name" },
        { 150, "tftp_server_ip" } };

    json_array(j, "params");
    for (uint32_t i = 0; i < data.len; i++)
        for (unsigned n = 0; n < ARRAY_LEN(names); n++)
            if (names[n].code == data.data[i])
                json_string(j, NULL, names[n].name);
    json_array_end(j);
}

/* DHCP message types (RFC 2132 section 9.6). */
static void log_type(struct json *j, struct slice data)
{
    static const char *const types[] = { "unknown", "discover", "offer", "request", "decline",
                                         "ack", "nak", "release", "inform" };

    if (data.len > 0)
        json_string(j, "dhcp_type", types[data.data[0] < ARRAY_LEN(types) ? data.data[0] : 0]);
}

/* Options that only an extended log has. */
static void log_extended(struct json *j, const struct dhcp_option *o)
{
    switch ((enum dhcp_code)o->code) {
    case LEASE_TIME:     json_u64(j, "lease_time", o->seconds); break;
    case REBINDING_TIME: json_u64(j, "rebinding_time", o->seconds); break;
    case SUBNET_MASK:    log_address_option(j, "subnet_mask", o->data); break;
    case REQUESTED_IP:   log_address_option(j, "requested_ip", o->data); break;
    case PARAMETERS:     log_parameters(j, o->data); break;
    case DNS_SERVERS:    log_addresses(j, "dns_servers", o->data); break;
    case ROUTERS:        log_addresses(j, "routers", o->data); break;
    case VENDOR_CLASS:
        if (o->data.len > 0)
            json_slice(j, "vendor_class_identifier", o->data);
        break;
    default: break;
    }
}

/* Options that every log has. */
static void log_option(struct json *j, const struct dhcp_option *o, bool extended)
{
    switch ((enum dhcp_code)o->code) {
    case CLIENT_ID:    log_colons(j, "client_id", o->data); break;
    case RENEWAL_TIME: json_u64(j, "renewal_time", o->seconds); break;
    case MESSAGE_TYPE: log_type(j, o->data); break;
    case HOSTNAME:
        if (o->data.len > 0)
            json_slice(j, "hostname", o->data);
        break;
    default:
        if (extended)
            log_extended(j, o);
        break;
    }
}

/* The hardware address is that of the client also in replies. */
static void log_message(struct json *j, const struct dhcp_tx *t, bool extended)
{
    struct bytes in = bytes_of_slice(t->options);
    uint32_t seen[8] = { 0 };           /* a bit for each code: a key appears only once */
    struct dhcp_option o;

    json_string(j, "type", t->op == REQUEST ? "request" : t->op == REPLY ? "reply" :
                "<unknown>");
    json_u64(j, "id", t->id);
    log_colons(j, "client_mac", (struct slice){ t->mac, t->mac_len });
    log_address(j, "assigned_ip", t->assigned);
    if (extended)
        log_address(j, "client_ip", t->client);
    if (extended && t->op == REPLY) {
        log_address(j, "relay_ip", t->relay);
        log_address(j, "next_server_ip", t->next_server);
    }
    while (take_option(&in, &o)) {
        if (!(seen[o.code / 32] & 1u << o.code % 32))
            log_option(j, &o, extended);
        seen[o.code / 32] |= 1u << o.code % 32;
    }
}

/* Without `extended` only a server's acknowledgement is logged: what it has granted. */
static bool dhcp_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf)
{
    const struct dhcp_log_settings *s = conf;
    struct dhcp_option type;

    if (!s->extended && (!find_option(tx, MESSAGE_TYPE, &type) || type.data.len == 0 ||
                         type.data.data[0] != TYPE_ACK))
        return false;
    log_message(j, dhcp_tx_of(tx), s->extended);
    return true;
}

static const struct app_log eve_dhcp = {
    .conf_name = "dhcp", .event_type = "dhcp", .key = "dhcp", .progress = { 1, 1 },
    .each_direction = true, .configure = dhcp_log_configure, .log = dhcp_log,
};

static const struct app_name events[] = { DHCP_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "dhcp.rebinding_time", "dhcp.rebinding-time", NULL },
        { "dhcp.renewal_time", "dhcp.renewal-time", NULL }, { NULL, NULL, NULL } },
};

const struct app_proto app_dhcp = {
    .id = APP_PROTO_dhcp,
    .name = "dhcp",
    .reports = &reports,
    .transports = APP_UDP,
    .probes = (const struct app_probe[]){
        /* The ports of server and client. The length of the header decides. */
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "67,68", .max = HEADER_SIZE,
          .probe = dhcp_probe },
        { .probe = NULL } },
    .state_size = 1,
    .tx_size = sizeof(struct dhcp_tx),
    .parse = dhcp_parse,
    .progress_done = { 1, 1 },
    .events = events,
    .integers = (const struct app_integer *const[]){ &lease_integer, &rebinding_integer,
                                                     &renewal_integer, NULL },
    .logs = (const struct app_log *const[]){ &eve_dhcp, NULL },
};
