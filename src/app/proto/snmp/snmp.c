/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/snmp/snmp.c - SNMP versions 1 (RFC 1157), 2c (RFC 1901, 3416) and 3 (RFC 3412, 3414).
 *
 * Each datagram is a transaction of its own, complete at once. All content is DER from the network:
 * a failed cursor stays failed, so functions check once at their end. */
#include "app/log.h"
#include "app/proto.h"
#include "app/reports.h"
#include "app/rules.h"

#include "app/lib/asn1/der.h"
#include "app/lib/log_text.h"
#include "base/array.h"

#include <stdio.h>

#define SNMP_EVENT_LIST(E)                                   \
    E(SNMP_MALFORMED_DATA, "malformed_data")                 \
    E(SNMP_UNKNOWN_SECURITY_MODEL, "unknown_security_model") \
    E(SNMP_VERSION_MISMATCH, "version_mismatch")

enum snmp_event { SNMP_EVENT_NONE, SNMP_EVENT_LIST(APP_EVENT_ID) };

/* Numbers of context tags (RFC 3416 section 3); the last generic trap (RFC 1157 section 4.1.6). */
enum { PDU_TRAP_V1 = 4, PDU_BULK = 5, PDU_LAST = 8, TRAP_LAST = 6 };
#define MODEL_USM 3 /* user-based security (RFC 3414) */
#define OID_TEXT  512 /* bytes of an OID in dotted form; longer ones are cut */

/* A variable of a PDU; in the transaction's arena. */
struct snmp_oid {
    struct snmp_oid *next;
    struct slice content;
};

/* Community and user are UTF-8. The fields of a trap are valid only for a version 1 trap. */
struct snmp_tx {
    struct app_tx tx;
    uint32_t version;                   /* of the flow */
    bool encrypted, has_pdu, has_trap, has_community, has_usm;
    uint8_t pdu, trap;
    uint32_t error;
    struct slice community, usm, trap_oid;  /* trap_oid: content of the OID */
    struct slice trap_oid_text, trap_address_text;      /* once a rule has asked */
    uint8_t trap_address[4];
    struct snmp_oid *vars;
};

struct snmp_state {
    uint32_t version;                   /* of the first message; 0: none yet */
};

static struct snmp_tx *snmp_tx_of(const struct app_tx *tx)
{
    return (struct snmp_tx *)(uintptr_t)tx;
}

/* --- protocol detection ---------------------------------------------------------------------- */

/* Decides the version by the outermost sequence: versions 1 and 2c have a community and a PDU
 * behind the number (RFC 1157 section 4), version 3 has three elements (RFC 3412 section 6). 0:
 * none of them. */
static uint32_t envelope_version(struct bytes in)
{
    struct bytes body = der_enter(&in, DER_SEQUENCE);
    int64_t version = der_take_int(&body);
    unsigned more = 0;
    struct der d;

    if (body.failed)
        return 0;
    while (bytes_left(&body) > 0 && der_take(&body, &d))
        more++;
    if (body.failed)
        return 0;
    if (more == 2 && (version == 0 || version == 1))    /* the wire has 0 for version 1, 1 for 2c */
        return (uint32_t)version + 1;
    return more == 3 && version == 3 ? 3 : 0;
}

/* A datagram of at least 4 bytes is a message or not; no further bytes can change that. */
static enum app_probe_result snmp_probe(struct bytes in, enum direction direction UNUSED,
                                        const struct flow *flow UNUSED)
{
    if (bytes_left(&in) < 4)
        return APP_PROBE_MORE;
    return envelope_version(in) != 0 ? APP_PROBE_YES : APP_PROBE_NO;
}

/* --- messages --------------------------------------------------------------------------------- */

/* Keeps the names of the variable bindings (RFC 3416 section 3); values are not needed. As in
 * Suricata a name may have any tag, and one malformed binding makes the message malformed. The
 * datagram limits the number. */
static void take_variables(struct bytes *in, struct snmp_tx *t)
{
    struct bytes list = der_enter(in, DER_SEQUENCE);
    struct snmp_oid **tail = &t->vars;

    in->failed |= list.failed;
    while (!list.failed && bytes_left(&list) > 0) {
        struct bytes one = der_enter(&list, DER_SEQUENCE);
        struct der oid;

        if (!der_take(&one, &oid)) {
            in->failed = true;
            return;
        }
        *tail = arena_zalloc(&t->tx.arena, sizeof(**tail));
        if (*tail == NULL)
            break;
        (*tail)->content = app_text_copy(&t->tx.arena, oid.content);
        tail = &(*tail)->next;
    }
    in->failed |= list.failed;
}

/* Trap-PDU (RFC 1157 section 4.1.6): enterprise, agent-addr, generic-trap, specific-trap,
 * time-stamp, then the bindings, which take_pdu() reads. */
static void take_trap_v1(struct bytes *in, struct snmp_tx *t)
{
    struct slice oid, address;
    int64_t kind;

    if (!der_take_tag(in, DER_OID, &oid) || !der_take_tag(in, DER_APPLICATION, &address))
        return;
    kind = der_take_int(in);
    der_take_int(in);                           /* specific-trap */
    der_take(in, &(struct der){ 0 });           /* time-stamp */
    if (address.len != 4 || kind < 0 || kind > UINT8_MAX)
        in->failed = true;
    if (in->failed)
        return;
    t->trap = (uint8_t)kind;
    t->trap_oid = app_text_copy(&t->tx.arena, oid);
    memcpy(t->trap_address, address.data, 4);
}

/* A PDU (RFC 3416 section 3). GetBulk has other numbers in the place of the error fields. An error
 * is read as unsigned: a negative one becomes a large number. */
static void take_pdu(struct bytes *in, struct snmp_tx *t)
{
    struct der d = { 0 };
    struct bytes body;

    if (!der_take(in, &d) || d.tag < DER_CONTEXT_CONSTRUCTED ||
        d.tag > DER_CONTEXT_CONSTRUCTED + PDU_LAST) {
        in->failed = true;
        return;
    }
    body = bytes_of_slice(d.content);
    t->pdu = d.tag - DER_CONTEXT_CONSTRUCTED;
    if (t->pdu == PDU_TRAP_V1) {
        take_trap_v1(&body, t);
    } else {
        int64_t error;

        der_take_int(&body);                    /* request identifier */
        error = der_take_int(&body);
        der_take_int(&body);                    /* index of the error */
        t->error = t->pdu == PDU_BULK ? 0 : (uint32_t)error;
    }
    if (!body.failed)
        take_variables(&body, t);
    t->has_pdu = !body.failed;
    t->has_trap = t->has_pdu && t->pdu == PDU_TRAP_V1;
    in->failed |= body.failed;
}

/* Security parameters of USM (RFC 3414 section 2.4), DER within an OCTET STRING: engine, boots,
 * time, user. Authentication and privacy parameters behind them are not needed. */
static void take_usm(struct slice parameters, struct snmp_tx *t, struct bytes *outer)
{
    struct bytes in = bytes_of_slice(parameters), usm = der_enter(&in, DER_SEQUENCE);
    struct slice engine, user;

    der_take_tag(&usm, DER_OCTET_STRING, &engine);
    der_take_int(&usm);
    der_take_int(&usm);
    if (!der_take_tag(&usm, DER_OCTET_STRING, &user)) {
        outer->failed = true;
        return;
    }
    t->usm = app_text_utf8(&t->tx.arena, user);
    t->has_usm = true;
}

/* ScopedPduData (RFC 3412 section 6): an OCTET STRING when encrypted, otherwise a sequence with
 * context engine, context name and PDU. */
static void take_scoped(struct bytes *in, struct snmp_tx *t)
{
    struct slice encrypted, skipped;
    struct bytes scoped;

    if (der_peek(in) == DER_OCTET_STRING) {
        t->encrypted = der_take_tag(in, DER_OCTET_STRING, &encrypted);
        return;
    }
    scoped = der_enter(in, DER_SEQUENCE);
    der_take_tag(&scoped, DER_OCTET_STRING, &skipped);
    der_take_tag(&scoped, DER_OCTET_STRING, &skipped);
    take_pdu(&scoped, t);
    in->failed |= scoped.failed;
}

/* Version 3 (RFC 3412 section 6): msgID, msgMaxSize, msgFlags and msgSecurityModel in one sequence,
 * then security parameters, then the data. An unknown security model is an event; the data are read
 * all the same. */
static void take_v3(struct bytes *in, struct snmp_tx *t)
{
    struct bytes header = der_enter(in, DER_SEQUENCE);
    struct slice flags, parameters;
    int64_t model;

    der_take_int(&header);
    der_take_int(&header);
    der_take_tag(&header, DER_OCTET_STRING, &flags);
    model = der_take_int(&header);
    in->failed |= header.failed;
    if (!der_take_tag(in, DER_OCTET_STRING, &parameters))
        return;
    if (model == MODEL_USM)
        take_usm(parameters, t, in);
    else
        app_tx_event(&t->tx, SNMP_UNKNOWN_SECURITY_MODEL);
    take_scoped(in, t);
}

/* False: malformed. A version other than that of the flow's first message is an event only. */
static bool take_message(struct bytes in, struct snmp_tx *t)
{
    struct bytes body = der_enter(&in, DER_SEQUENCE);
    int64_t version = der_take_int(&body);

    /* 2 is version 2u (RFC 1910), which is not supported. */
    if (body.failed || version < 0 || version > 3 || version == 2)
        return false;
    if (t->version != (version == 3 ? 3 : (uint32_t)version + 1))
        app_tx_event(&t->tx, SNMP_VERSION_MISMATCH);
    if (version == 3) {
        take_v3(&body, t);
        return !body.failed;
    }
    t->has_community = der_take_tag(&body, DER_OCTET_STRING, &t->community);
    t->community = app_text_utf8(&t->tx.arena, t->community);
    take_pdu(&body, t);
    return !body.failed;
}

/* The malformed message has no transaction, so the event goes to the one before, if there is
 * one. */
static enum parse_status malformed(struct app_flow *af)
{
    if (af->last != NULL)
        app_tx_event(af->last, SNMP_MALFORMED_DATA);
    return PARSE_STOP;
}

/* One datagram. The first one decides the version that the flow is expected to have. */
static enum parse_status snmp_parse(struct app_flow *af, struct app_input *in)
{
    struct snmp_state *st = af->state;
    struct snmp_tx *t;

    if (in->len == 0)
        return PARSE_OK;
    if (st->version == 0)
        st->version = envelope_version(app_input_bytes(in));
    t = (struct snmp_tx *)app_tx_new(af);
    if (t == NULL)
        return PARSE_STOP;
    t->version = st->version;
    if (!take_message(app_input_bytes(in), t)) {
        app_tx_discard(&t->tx);
        return malformed(af);
    }
    t->tx.progress[in->direction] = 1;
    t->tx.unidirectional[OTHER_DIRECTION(in->direction)] = true;
    return PARSE_OK;
}

/* --- rules ------------------------------------------------------------------------------------ */

/* Rules see both as the record writes them. Few rules ask, so the text is made for the first one
 * and kept with the transaction. */
static bool get_trap_oid(struct app_tx *tx, enum direction d UNUSED, unsigned i, struct slice *out)
{
    struct snmp_tx *t = snmp_tx_of(tx);
    char text[OID_TEXT];

    if (i > 0 || !t->has_trap)
        return false;
    if (t->trap_oid_text.data == NULL)
        t->trap_oid_text = app_text_copy(
            &tx->arena, (struct slice){ (const uint8_t *)text,
                                        (uint32_t)der_oid_text(t->trap_oid, text, sizeof(text)) });
    *out = t->trap_oid_text;
    return out->len > 0;
}

static bool get_trap_address(struct app_tx *tx, enum direction d UNUSED, unsigned i,
                             struct slice *out)
{
    struct snmp_tx *t = snmp_tx_of(tx);
    char text[sizeof("255.255.255.255")];
    int n;

    if (i > 0 || !t->has_trap)
        return false;
    if (t->trap_address_text.data == NULL) {
        n = snprintf(text, sizeof(text), "%u.%u.%u.%u", t->trap_address[0], t->trap_address[1],
                     t->trap_address[2], t->trap_address[3]);
        t->trap_address_text =
            app_text_copy(&tx->arena, (struct slice){ (const uint8_t *)text, (uint32_t)n });
    }
    *out = t->trap_address_text;
    return out->len > 0;
}

/* Generic traps (RFC 1157 section 4.1.6). */
static const struct app_name traps[] = {
    { "coldstart", 0 }, { "warmstart", 1 }, { "linkdown", 2 }, { "linkup", 3 },
    { "authenticationfailure", 4 }, { "egpneighborloss", 5 }, { "enterprisespecific", 6 },
    { NULL, 0 },
};
/* RFC 3416 section 3. */
static const struct app_name pdu_types[] = {
    { "get_request", 0 }, { "get_next_request", 1 }, { "response", 2 }, { "set_request", 3 },
    { "trap_v1", 4 }, { "get_bulk_request", 5 }, { "inform_request", 6 }, { "trap_v2", 7 },
    { "report", 8 }, { NULL, 0 },
};
static const struct app_buffer community_buffer = {
    .name = "snmp.community", .doc = "community (versions 1 and 2c)", .directions = APP_BOTH,
    .field = APP_FIELD_WITH(snmp_tx, community, has_community),
};
static const struct app_buffer usm_buffer = {
    .name = "snmp.usm", .doc = "user name (version 3)", .directions = APP_BOTH,
    .field = APP_FIELD_WITH(snmp_tx, usm, has_usm),
};
static const struct app_buffer trap_oid_buffer = {
    .name = "snmp.trap_oid", .doc = "enterprise of a trap (version 1), as 1.3.6.1",
    .directions = APP_BOTH, .progress = { 1, 1 }, .get = get_trap_oid,
};
static const struct app_buffer trap_address_buffer = {
    .name = "snmp.trap_address", .doc = "address of the agent in a trap (version 1)",
    .directions = APP_BOTH, .progress = { 1, 1 }, .get = get_trap_address,
};
static const struct app_integer version_integer = {
    .name = "snmp.version", .doc = "version: 1, 2 or 3", .bits = 32, .directions = APP_BOTH,
    .field = APP_FIELD(snmp_tx, version, ALWAYS),
    .firewall = true,
};
static const struct app_integer pdu_integer = {
    .name = "snmp.pdu_type", .doc = "type of PDU, by number or name", .bits = 32,
    .directions = APP_BOTH, .names = pdu_types,
    .field = APP_FIELD_WITH(snmp_tx, pdu, has_pdu),
    .firewall = true,
};
/* Only a version 1 trap has a type. */
static const struct app_integer trap_integer = {
    .name = "snmp.trap_type", .doc = "type of a trap (version 1)", .bits = 8,
    .directions = APP_BOTH, .names = traps, .field = APP_FIELD_WITH(snmp_tx, trap, has_trap),
    .firewall = true,
};

/* --- log -------------------------------------------------------------------------------------- */

/* An OID that cannot be written is an empty string. */
static void log_oid(struct json *j, const char *key, struct slice oid)
{
    char text[OID_TEXT];
    size_t n = der_oid_text(oid, text, sizeof(text));

    json_bytes(j, key, text, n);
}

/* A generic trap without a name is written as a number, in the form that Suricata's records
 * have. */
static void log_trap(struct json *j, const struct snmp_tx *t)
{
    static const char *const names[] = {
        "coldStart", "warmStart", "linkDown", "linkUp", "authenticationFailure",
        "egpNeighborLoss", "enterpriseSpecific" };

    if (t->trap <= TRAP_LAST)
        json_string(j, "trap_type", names[t->trap]);
    else
        json_printf(j, "trap_type", "TrapType(%u / 0x%x)", t->trap, t->trap);
    log_oid(j, "trap_oid", t->trap_oid);
    json_printf(j, "trap_address", "%u.%u.%u.%u", t->trap_address[0], t->trap_address[1],
                t->trap_address[2], t->trap_address[3]);
}

/* take_pdu() checked the type. Errors: RFC 3416 section 3. */
static void log_pdu(struct json *j, const struct snmp_tx *t)
{
    static const char *const types[] = {
        "get_request", "get_next_request", "response", "set_request", "trap_v1",
        "get_bulk_request", "inform_request", "trap_v2", "report" };
    static const char *const errors[] = {
        "NoError", "TooBig", "NoSuchName", "BadValue", "ReadOnly", "GenErr", "NoAccess",
        "WrongType", "WrongLength", "WrongEncoding", "WrongValue", "NoCreation",
        "InconsistentValue", "ResourceUnavailable", "CommitFailed", "UndoFailed",
        "AuthorizationError", "NotWritable", "InconsistentName" };

    json_string(j, "pdu_type", types[t->pdu]);
    if (t->error >= ARRAY_LEN(errors))
        json_printf(j, "error", "ErrorStatus(%u / 0x%x)", t->error, t->error);
    else if (t->error != 0)
        json_string(j, "error", errors[t->error]);
    if (t->pdu == PDU_TRAP_V1)
        log_trap(j, t);
    if (t->vars == NULL)
        return;
    json_array(j, "vars");
    for (const struct snmp_oid *oid = t->vars; oid != NULL; oid = oid->next)
        log_oid(j, NULL, oid->content);
    json_array_end(j);
}

/* Of an encrypted message nothing else is known. The version is that of the flow. */
static bool snmp_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf UNUSED)
{
    const struct snmp_tx *t = snmp_tx_of(tx);

    json_u64(j, "version", t->version);
    if (t->encrypted) {
        json_string(j, "pdu_type", "encrypted");
        return true;
    }
    if (t->has_pdu)
        log_pdu(j, t);
    if (t->has_community)
        json_slice(j, "community", t->community);
    if (t->has_usm)
        json_slice(j, "usm", t->usm);
    return true;
}

/* The same fields within an alert. */
static void snmp_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "snmp");
    snmp_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve_snmp = {
    .as_packet = true,
    .conf_name = "snmp", .event_type = "snmp", .key = "snmp", .progress = { 1, 1 },
    .each_direction = true, .log = snmp_log,
};

static const struct app_name events[] = { SNMP_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } };

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "snmp.pdu_type", "snmp.generic", NULL }, { "snmp.trap_type", "snmp.generic", NULL },
        { "snmp.version", "snmp.generic", NULL }, { NULL, NULL, NULL } },
    .progress = (const struct app_report_progress[]){
        { "snmp.*", APP_BOTH, 1 }, { NULL, 0, 0 } },
};

const struct app_proto app_snmp = {
    .id = APP_PROTO_snmp,
    .name = "snmp",
    .reports = &reports,
    .transports = APP_UDP,
    .probes = (const struct app_probe[]){
        /* 161: requests. 162: traps. */
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "161,162", .max = 16,
          .probe = snmp_probe },
        { .probe = NULL } },
    .state_size = sizeof(struct snmp_state),
    .tx_size = sizeof(struct snmp_tx),
    .parse = snmp_parse,
    .progress_done = { 1, 1 },
    .events = events,
    .buffers = (const struct app_buffer *const[]){ &community_buffer, &usm_buffer,
                                                   &trap_oid_buffer, &trap_address_buffer, NULL },
    .integers = (const struct app_integer *const[]){ &version_integer, &pdu_integer,
                                                     &trap_integer, NULL },
    .logs = (const struct app_log *const[]){ &eve_snmp, NULL },
    .alert_metadata = snmp_alert_metadata,
};
