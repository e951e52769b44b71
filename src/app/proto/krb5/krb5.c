/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/krb5/krb5.c - Kerberos 5 over TCP and UDP: protocol detection, framing, what rules can
 * see. */
#include "app/proto/krb5/krb5.h"

#include "app/proto.h"
#include "app/reports.h"
#include "app/rules.h"

#include <ctype.h>

#define MARK_LEN 4 /* bytes of the length in front of a message over TCP (RFC 4120 section 7.2.2) */
#define MESSAGE_MAX 16384           /* bytes; detection takes no longer message for Kerberos */
#define CLASS_MASK 0xc0             /* the two class bits of an ASN.1 tag */

/* --- protocol detection --------------------------------------------------------------------- */

/* An APPLICATION element with a SEQUENCE in it, whose first member is the version, 5: `pvno` of RFC
 * 4120 sections 5.4 and 5.9.1. Its context tag is [1] in a request and [0] in a reply, so only the
 * INTEGER after that tag is compared. Highest message type: 30, KRB-ERROR. */
static enum app_probe_result probe_message(struct bytes in)
{
    uint8_t tag = peek_u8(&in);
    struct bytes inner;
    uint64_t size;

    if (bytes_left(&in) <= 10)  /* room for both headers and the version */
        return APP_PROBE_MORE;
    if ((tag & CLASS_MASK) != DER_APPLICATION || (tag & 0x1f) > 30)
        return APP_PROBE_NO;
    if (der_frame(in, &size) == DER_FRAME_BAD)
        return APP_PROBE_NO;
    inner = in;
    take_skip(&inner, 1);
    /* Skips the length octets: one, or 0x80 + n and n more. */
    take_skip(&inner, peek_u8(&inner) > 0x80 ? 1u + (peek_u8(&inner) & 0x7f) : 1u);
    if (take_u8(&inner) != DER_SEQUENCE)
        return APP_PROBE_NO;
    take_skip(&inner, peek_u8(&inner) > 0x80 ? 1u + (peek_u8(&inner) & 0x7f) : 1u);
    take_skip(&inner, 2);   /* the context tag and its length */
    if (!bytes_have(&inner, 3))
        return APP_PROBE_MORE;
    /* INTEGER, one byte, the value 5. */
    return inner.next[0] == DER_INTEGER && inner.next[1] == 1 && inner.next[2] == 5
               ? APP_PROBE_YES : APP_PROBE_NO;
}

/* A datagram holds a complete message, so one that is too short will never grow. */
static enum app_probe_result krb5_probe_udp(struct bytes in, enum direction d UNUSED,
                                            const struct flow *flow UNUSED)
{
    enum app_probe_result result = probe_message(in);

    return result == APP_PROBE_MORE ? APP_PROBE_NO : result;
}

/* The length comes first (RFC 4120 section 7.2.2). One above the limit is taken for another
 * protocol. */
static enum app_probe_result krb5_probe_tcp(struct bytes in, enum direction d UNUSED,
                                            const struct flow *flow UNUSED)
{
    uint32_t len = take_be32(&in);

    if (in.failed)
        return APP_PROBE_MORE;
    return len > MESSAGE_MAX ? APP_PROBE_NO : probe_message(in);
}

/* --- messages ------------------------------------------------------------------------------- */

/* Copies the parts of the name, which point into the input, to the transaction's arena. */
static void keep_name(struct krb5_tx *t, struct krb5_name *name)
{
    for (unsigned i = 0; i < name->count; i++)
        name->part[i] = arena_slice(&t->tx.arena, name->part[i]);
}

/* The input is gone after this call, so the transaction takes copies of all text. */
static void keep(struct krb5_tx *t, const struct krb5_message *m)
{
    t->message = *m;
    keep_name(t, &t->message.client);
    keep_name(t, &t->message.server);
    if (m->has_realm)
        t->message.realm = arena_slice(&t->tx.arena, m->realm);
}

/* AP-REP is missing here on purpose: it has no transaction of its own. */
static bool is_reply(unsigned type)
{
    return type == KRB5_AS_REP || type == KRB5_TGS_REP || type == KRB5_ERROR;
}

/* One transaction for each message, complete from the start: requests and replies are not paired,
 * but a reply takes over the type of the last request of the flow. */
static void add(struct app_flow *af, enum direction d, const struct krb5_message *m)
{
    const struct krb5_state *st = af->state;
    struct krb5_tx *t = krb5_tx_of(app_tx_new(af));

    if (t == NULL)
        return;
    keep(t, m);
    t->direction = d;
    if (is_reply(m->type))
        t->request_type = st->request_type;
    /* Rules of the other direction have nothing to see. */
    t->tx.unidirectional[OTHER_DIRECTION(d)] = true;
    t->tx.progress[TO_SERVER] = t->tx.progress[TO_CLIENT] = 1;
    if (m->has_encryption && krb5_is_weak(m->encryption))
        app_tx_event(&t->tx, KRB5_WEAK_ENCRYPTION);
}

/* False: the flow ends, because the bytes are not DER and no later boundary is known. Another class
 * than APPLICATION is not Kerberos, but harmless: it is ignored. A message of a known type that
 * cannot be read makes no transaction, but still counts as the last request or reply. */
static bool one_message(struct app_flow *af, enum direction d, struct slice in)
{
    struct krb5_state *st = af->state;
    struct krb5_message m = { 0 };
    uint64_t size;

    if (der_frame(bytes_of_slice(in), &size) != DER_FRAME_OK) {
        if (af->last != NULL)
            app_tx_event(af->last, KRB5_MALFORMED_DATA);
        return false;
    }
    if ((in.data[0] & CLASS_MASK) != DER_APPLICATION)
        return true;
    if (krb5_read_message(in, &m))
        add(af, d, &m);
    if (m.type == KRB5_AS_REQ || m.type == KRB5_TGS_REQ || m.type == KRB5_AP_REQ)
        st->request_type = m.type;
    else if (is_reply(m.type) || m.type == KRB5_AP_REP)
        st->request_type = 0;
    return true;
}

/* Skips a message of 64 KiB or more without buffering it: `skip` counts the rest across calls. The
 * length is the sender's claim, up to 4 GiB, and costs no memory. */
static enum parse_status parse_tcp(struct app_flow *af, struct app_input *in)
{
    struct krb5_state *st = af->state;
    struct bytes bytes = app_input_bytes(in);
    uint32_t *skip = &st->skip[in->direction], len;

    if (*skip > 0) {
        in->consumed = MIN(*skip, in->len);
        *skip -= in->consumed;
        return PARSE_OK;
    }
    len = take_be32(&bytes);
    in->consumed = 0;
    in->need = MARK_LEN;    /* ask for the length first, then for the message */
    if (bytes.failed)
        return PARSE_MORE;
    if (len > UINT16_MAX) {
        in->consumed = MARK_LEN;
        *skip = len;
        return PARSE_OK;
    }
    in->need = MARK_LEN + len;
    if (!bytes_have(&bytes, len))
        return PARSE_MORE;
    in->consumed = MARK_LEN + len;
    if (len == 0)   /* an empty message */
        return PARSE_OK;
    return one_message(af, in->direction, take_slice(&bytes, len)) ? PARSE_OK : PARSE_STOP;
}

/* A stream goes through parse_tcp; a datagram is one message without a length in front. */
static enum parse_status krb5_parse(struct app_flow *af, struct app_input *in)
{
    if (in->len == 0)
        return PARSE_OK;
    if (!in->is_udp)
        return parse_tcp(af, in);
    return one_message(af, in->direction, (struct slice){ in->data, in->len }) ? PARSE_OK
                                                                               : PARSE_STOP;
}

/* --- rules ---------------------------------------------------------------------------------- */

/* A message has one direction; buffers of the other direction are empty. */
static bool goes(const struct app_tx *tx, enum direction d)
{
    return krb5_tx_of(tx)->direction == d;
}

/* `key->number` is the offset of a struct krb5_name in the transaction. */
static bool find_part(struct app_tx *tx, enum direction d, const struct app_key *key,
                      unsigned index, struct slice *out)
{
    const struct krb5_name *name = (const void *)((const char *)tx + key->number);

    if (!goes(tx, d) || index >= name->count)
        return false;
    *out = name->part[index];
    return true;
}

#define ERROR_CHARS 3   /* the longest text that `krb5_err_code` accepts */

/* The value of `krb5_err_code`: at most three characters that begin with a number. Letters and dots
 * may follow the digits and are ignored; any other character makes the value invalid. */
static int error_parse(struct text in, void *arg, struct arena *arena UNUSED, struct err *err)
{
    struct text t = text_trim(in);
    uint64_t code;
    size_t digits = 0;

    while (digits < t.n && isdigit((unsigned char)t.p[digits]))
        digits++;
    for (size_t i = digits; i < t.n; i++)
        if (!isalnum((unsigned char)t.p[i]) && t.p[i] != '.')
            digits = 0;
    if (t.n > ERROR_CHARS || !text_to_decimal((struct text){ t.p, digits }, INT32_MAX, &code))
        return err_set(err,
                       "krb5_err_code: expected a number of up to three digits, found \"%.*s\"",
                       TEXT(in));
    *(int32_t *)arg = (int32_t)code;
    return 0;
}

/* Only KRB-ERROR (RFC 4120 section 5.9.1) has an error code. */
static bool error_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct krb5_message *m = &krb5_tx_of(tx)->message;

    return goes(tx, d) && m->type == KRB5_ERROR && m->error == *(const int32_t *)arg;
}

/* Argument of `krb5.ticket_encryption`. */
struct encryption_arg {
    enum { IN_LIST, WEAK, STRONG } what;
    int32_t *type;  /* in the rule's arena, `count` of them; only with IN_LIST */
    unsigned count;
};

/* Accepts "weak", "!weak" or a list of names and numbers with commas between them. The list has at
 * most one more entry than the text has commas, so `most` is enough. */
static int encryption_parse(struct text in, void *arg, struct arena *arena, struct err *err)
{
    struct encryption_arg *a = arg;
    struct text rest = text_trim(in), part;
    unsigned most = 1;

    if (text_equal(rest, "weak") || text_equal(rest, "!weak")) {
        a->what = text_equal(rest, "weak") ? WEAK : STRONG;
        return 0;
    }
    for (size_t i = 0; i < in.n; i++)
        most += in.p[i] == ',';
    a->type = arena_alloc(arena, most * sizeof(*a->type));
    while (text_split(&rest, ',', &part))
        if (!krb5_encryption_by_name(part, &a->type[a->count++]))
            return err_set(err,
                           "krb5.ticket_encryption: expected weak, !weak, or names and numbers "
                           "of encryption types, found \"%.*s\"",
                           TEXT(part));
    return a->count > 0 ? 0 : err_set(err, "krb5.ticket_encryption: expected at least one type");
}

/* The encryption of the ticket, not of the reply: the KDC encrypts the ticket with the key of the
 * service, and a weak one is what Kerberoasting attacks ask for. */
static bool encryption_match(struct app_tx *tx, enum direction d, const void *arg)
{
    const struct krb5_message *m = &krb5_tx_of(tx)->message;
    const struct encryption_arg *a = arg;

    if (!m->has_ticket || !goes(tx, d))
        return false;
    if (a->what != IN_LIST)
        return krb5_is_weak(m->ticket_encryption) == (a->what == WEAK);
    for (unsigned i = 0; i < a->count; i++)
        if (a->type[i] == m->ticket_encryption)
            return true;
    return false;
}

static bool tell_error(struct app_tx *tx, enum direction d, struct buf *out)
{
    const struct krb5_message *m = &krb5_tx_of(tx)->message;

    if (goes(tx, d) && m->type == KRB5_ERROR)
        buf_printf(out, "the value is %d", m->error);
    else
        buf_add_string(out, "the message is no error");
    return true;
}

static bool tell_encryption(struct app_tx *tx, enum direction d, struct buf *out)
{
    const struct krb5_message *m = &krb5_tx_of(tx)->message;

    if (goes(tx, d) && m->has_ticket)
        buf_printf(out, "the encryption of the ticket is %d, which is %s", m->ticket_encryption,
                   krb5_is_weak(m->ticket_encryption) ? "weak" : "not weak");
    else
        buf_add_string(out, "the message has no ticket");
    return true;
}

static const struct app_buffer cname = {
    .name = "krb5.cname", .alias = "krb5_cname", .doc = "part of the client's name",
    .directions = APP_TC, .multi = true,
    .find = find_part, .key.number = offsetof(struct krb5_tx, message.client),
};
static const struct app_buffer sname = {
    .name = "krb5.sname", .alias = "krb5_sname", .doc = "part of the server's name",
    .directions = APP_TC, .multi = true,
    .find = find_part, .key.number = offsetof(struct krb5_tx, message.server),
};
/* RFC 4120 section 7.5.7. */
static const struct app_name msg_types[] = {
    { "AS_REQ", KRB5_AS_REQ }, { "AS_REP", KRB5_AS_REP }, { "TGS_REQ", KRB5_TGS_REQ },
    { "TGS_REP", KRB5_TGS_REP }, { "AP_REQ", KRB5_AP_REQ }, { "AP_REP", KRB5_AP_REP },
    { "RESERVED16", 16 }, { "RESERVED17", 17 }, { "SAFE", 20 }, { "PRIV", 21 }, { "CRED", 22 },
    { "ERROR", KRB5_ERROR }, { NULL, 0 },
};
static const struct app_integer msg_type = {
    .name = "krb5_msg_type", .doc = "type of the message, by number or name", .bits = 32,
    .directions = APP_BOTH, .names = msg_types,
    .field = APP_FIELD_FROM(krb5_tx, message.type, ALWAYS, direction),
};
static const struct app_match err_code = {
    .name = "krb5_err_code", .doc = "error code",
    .syntax = "<n>",
    .directions = APP_BOTH,
    .arg_size = sizeof(int32_t), .parse = error_parse, .match = error_match,
    .tell = tell_error,
};
static const struct app_match ticket_encryption = {
    .name = "krb5.ticket_encryption", .doc = "encryption of the ticket",
    .syntax = "[!]weak\n"
              "<type>[,<type>]...",
    .directions = APP_TC, .arg_size = sizeof(struct encryption_arg), .parse = encryption_parse,
    .match = encryption_match, .tell = tell_encryption,
};

/* --- declaration ---------------------------------------------------------------------------- */

/* As Suricata has them. */
static const struct app_reports reports = {
    .names = (const struct app_report_name[]){
        { "krb5.cname", "krb5_cname", NULL }, { "krb5.sname", "krb5_sname", NULL },
        { "krb5.ticket_encryption", "krb5_ticket_encryption", NULL }, { NULL, NULL, NULL } },
    .progress = (const struct app_report_progress[]){
        { "krb5_cname", APP_TC, 1 }, { "krb5_sname", APP_TC, 1 }, { NULL, 0, 0 } },
};

const struct app_proto app_krb5 = {
    .id = APP_PROTO_krb5,
    .name = "krb5",
    .reports = &reports,
    .raw_on_tx_end = true,
    .transports = APP_TCP | APP_UDP,
    .probes = (const struct app_probe[]){
        /* 88: the registered port of Kerberos. */
        { .transport = APP_TCP, .directions = APP_BOTH, .ports = "88", .max = 32,
          .probe = krb5_probe_tcp },
        { .transport = APP_UDP, .directions = APP_BOTH, .ports = "88", .max = 16,
          .probe = krb5_probe_udp },
        { .probe = NULL } },
    .state_size = sizeof(struct krb5_state),
    .tx_size = sizeof(struct krb5_tx),
    .parse = krb5_parse,
    .progress_done = { 1, 1 },
    .events = (const struct app_name[]){ KRB5_EVENT_LIST(APP_EVENT_ROW) { NULL, 0 } },
    .buffers = (const struct app_buffer *const[]){ &cname, &sname, NULL },
    .integers = (const struct app_integer *const[]){ &msg_type, NULL },
    .matches = (const struct app_match *const[]){ &err_code, &ticket_encryption, NULL },
    .logs = krb5_logs,
    .alert_metadata = krb5_alert_metadata,
};
