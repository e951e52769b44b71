/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dns/log.c - EVE dns. Version 3: one record per message, with all sections. Version 2:
 * one record per question, and one per response. */
#include "app/proto/dns/dns.h"

#include "base/array.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct dns_log_settings {
    uint8_t version;
    bool requests, responses, detailed, grouped;
    bool everything;                    /* no filter: types without a name are logged, too */
    uint64_t types;                     /* bit per index in dns_types */
};

static const struct dns_log_settings alert_settings = {
    .version = 3, .requests = true, .responses = true, .detailed = true, .types = UINT64_MAX,
};

/* --- settings --------------------------------------------------------------------------------- */

/* Suricata reads this environment variable, too. Version 1 is gone: it means
 * 3. */
static void read_version(struct dns_log_settings *s, const struct conf_node *node)
{
    const char *text = conf_string(node, "version", getenv("SURICATA_EVE_DNS_VERSION"));
    uint64_t version = 3;

    if (text != NULL && (!text_to_u64(text_of(text), 255, &version) || version < 1 || version > 3))
        conf_warning(conf_find(node, "version"), "dns: no EVE version \"%s\", using 3", text);
    s->version = version == 2 ? 2 : 3;
}

/* 0: a type without a name, which a list of types excludes. */
static uint64_t type_bit(uint16_t type)
{
    for (unsigned i = 0; dns_types[i].name != NULL; i++)
        if (dns_types[i].value == type)
            return UINT64_C(1) << i;
    return 0;
}

/* Unknown names are ignored. */
static void read_types(struct dns_log_settings *s, const struct conf_node *node)
{
    const struct conf_node *types = conf_find(node, "types");

    s->types = UINT64_MAX;
    if (types == NULL)
        return;
    s->everything = false;
    s->types = 0;
    CONF_EACH (item, types)
        for (unsigned i = 0; dns_types[i].name != NULL; i++)
            if (strcasecmp(dns_types[i].name, item->value) == 0)
                s->types |= UINT64_C(1) << i;
}

/* `formats` applies to answers. */
static void read_formats(struct dns_log_settings *s, const struct conf_node *node)
{
    const struct conf_node *formats = conf_find(node, "formats");
    bool detailed = false, grouped = false;

    CONF_EACH (item, formats) {
        if (strcasecmp(item->value, "detailed") == 0)
            detailed = true;
        else if (strcasecmp(item->value, "grouped") == 0)
            grouped = true;
        else
            conf_warning(item, "dns: expected detailed or grouped, got \"%s\"", item->value);
    }
    if (formats == NULL)
        return;
    if (!detailed && !grouped) {
        conf_warning(formats, "dns: no format named, using both");
        return;
    }
    s->detailed = detailed;
    s->grouped = grouped;
}

/* With nothing filtered out, records need no test per type. */
void *dns_log_configure(const struct conf_node *node, struct err *err)
{
    struct dns_log_settings *s = xcalloc(1, sizeof(*s));

    (void)err;
    *s = (struct dns_log_settings){ .detailed = true, .grouped = true, .everything = true };
    read_version(s, node);
    s->requests = conf_bool(node, "requests", true);
    s->responses = conf_bool(node, "responses", true);
    read_types(s, node);
    if (s->responses)
        read_formats(s, node);
    s->everything &= s->requests && s->responses && s->detailed && s->grouped;
    return s;
}

/* --- pieces ----------------------------------------------------------------------------------- */

/* Data of another length are no address: an empty text. */
void dns_address(struct slice data, char out[DNS_ADDRESS_SIZE])
{
    struct ip ip;

    out[0] = '\0';
    if (data.len != 4 && data.len != 16)
        return;
    ip = data.len == 4 ? ip_v4(data.data) : ip_v6(data.data);
    ip_format(&ip, out);
}

static void log_name(struct json *j, const char *key, const char *truncated_key,
                     const struct dns_name *name)
{
    json_slice(j, key, name->text);
    if (truncated_key != NULL && (name->flags & DNS_NAME_TRUNCATED) != 0)
        json_bool(j, truncated_key, true);
}

/* Of a question or a record; with names, this is what most logs consist of. */
static void log_rrname(struct json *j, const struct dns_name *name)
{
    JSON_SLICE(j, "rrname", name->text);
    if (UNLIKELY((name->flags & DNS_NAME_TRUNCATED) != 0))
        json_bool(j, "rrname_truncated", true);
}

static void log_type(struct json *j, uint16_t type)
{
    char text[DNS_TYPE_SIZE];

    JSON_NAME(j, "rrtype", dns_type_text(type, text));
}

/* RFC 1035 section 3.3.13 */
void dns_log_soa(struct json *j, const char *key, const struct dns_record *r)
{
    json_object(j, key);
    log_name(j, "mname", "mname_truncated", &r->target);
    log_name(j, "rname", "rname_truncated", &r->soa->rname);
    json_u64(j, "serial", r->soa->serial);
    json_u64(j, "refresh", r->soa->refresh);
    json_u64(j, "retry", r->soa->retry);
    json_u64(j, "expire", r->soa->expire);
    json_u64(j, "minimum", r->soa->minimum);
    json_object_end(j);
}

/* RFC 2782 */
void dns_log_srv(struct json *j, const char *key, const struct dns_record *r)
{
    json_object(j, key);
    json_u64(j, "priority", r->priority);
    json_u64(j, "weight", r->weight);
    json_u64(j, "port", r->port);
    log_name(j, "name", NULL, &r->target);
    json_object_end(j);
}

#define FINGERPRINT_MAX 512     /* bytes; SHA-256 has 32 */

/* RFC 4255. The fingerprint is bounded, because the data may have 64 KiB. */
void dns_log_sshfp(struct json *j, const char *key, const struct dns_record *r)
{
    static const char digits[] = "0123456789abcdef";
    struct bytes in = bytes_of_slice(r->data);
    uint8_t algo = take_u8(&in), type = take_u8(&in);
    struct slice print = take_rest(&in);
    char text[FINGERPRINT_MAX * 3 + 1];
    size_t n = 0;

    for (uint32_t i = 0; i < print.len && i < FINGERPRINT_MAX; i++) {
        if (n > 0)
            text[n++] = ':';
        text[n++] = digits[print.data[i] >> 4];
        text[n++] = digits[print.data[i] & 15];
    }
    json_object(j, key);
    json_bytes(j, "fingerprint", text, n);
    json_u64(j, "algo", algo);
    json_u64(j, "type", type);
    json_object_end(j);
}

/* EDNS options, RFC 6891 section 6.1.2 */
void dns_log_options(struct json *j, const char *key, const struct dns_record *r)
{
    struct bytes in = bytes_of_slice(r->data);
    struct slice option;
    uint16_t code;

    json_array(j, key);
    while (dns_take_option(&in, &code, &option)) {
        json_object(j, NULL);
        json_u64(j, "code", code);
        json_hex(j, "data", option.data, option.len);
        json_object_end(j);
    }
    json_array_end(j);
}

/* Without leading zeros. Returns the length. */
static size_t hex_of(uint16_t value, char text[4])
{
    size_t n = 0;

    for (int shift = 12; shift >= 0; shift -= 4)
        if (value >> shift != 0 || shift == 0)
            text[n++] = "0123456789abcdef"[value >> shift & 15];
    return n;
}

static void log_flags(struct json *j, const struct dns_message *m)
{
    static const struct { uint16_t bit; char member[12]; uint8_t len; } flags[] = {
        { DNS_FLAG_QR, ",\"qr\":true", 10 }, { DNS_FLAG_AA, ",\"aa\":true", 10 },
        { DNS_FLAG_TC, ",\"tc\":true", 10 }, { DNS_FLAG_RD, ",\"rd\":true", 10 },
        { DNS_FLAG_RA, ",\"ra\":true", 10 }, { DNS_FLAG_Z, ",\"z\":true", 9 } };
    uint8_t *p = json_reserve(j, 16 + ARRAY_LEN(flags) * sizeof(flags[0].member) + 32);

    if (UNLIKELY(p == NULL))
        return;
    p = JSON_PUT(p, "\"flags\":\"");
    p += hex_of(m->flags, (char *)p);
    *p++ = '"';
    for (unsigned i = 0; i < ARRAY_LEN(flags); i++)
        if ((m->flags & flags[i].bit) != 0) {
            memcpy(p, flags[i].member, sizeof(flags[i].member));
            p += flags[i].len;
        }
    json_written(j, JSON_PUT_U64(p, ",\"opcode\":", dns_opcode(m)));
}

/* Suricata writes names in capitals, and other codes as numbers. */
static void log_rcode(struct json *j, const struct dns_message *m)
{
    char text[16];
    unsigned n = 0;

    for (const struct app_name *r = dns_rcodes; r->name != NULL; r++) {
        if (r->value != dns_rcode(m))
            continue;
        for (; r->name[n] != '\0' && n < sizeof(text) - 1; n++)
            text[n] = (char)(r->name[n] - 'a' + 'A');
        JSON_CLEAN(j, "rcode", text, n);
        return;
    }
    json_printf(j, "rcode", "%u", dns_rcode(m));
}

/* --- records ---------------------------------------------------------------------------------- */

/* The value under `key`, or as an item of an array. False: the type has no simple form. */
static bool log_value(struct json *j, const char *key, const struct dns_record *r)
{
    char address[DNS_ADDRESS_SIZE];

    switch (r->type) {
    case DNS_A:
    case DNS_AAAA:
        dns_address(r->data, address);
        json_string(j, key, address);
        return true;
    case DNS_CNAME:
    case DNS_MX:
    case DNS_NS:
    case DNS_PTR:
        json_slice(j, key, r->target.text);
        return true;
    case DNS_NULL:
        json_slice(j, key, r->data);
        return true;
    default:
        return false;
    }
}

/* One record of version 3, or of "detailed" answers. `text`: one text of a TXT record. */
static void log_detail(struct json *j, const struct dns_record *r, const struct slice *text)
{
    json_object(j, NULL);
    log_rrname(j, &r->name);
    log_type(j, r->type);
    JSON_U64(j, "ttl", r->ttl);
    if (text != NULL)
        json_slice(j, "rdata", *text);
    else if (r->type == DNS_SOA)
        dns_log_soa(j, "soa", r);
    else if (r->type == DNS_SSHFP)
        dns_log_sshfp(j, "sshfp", r);
    else if (r->type == DNS_SRV)
        dns_log_srv(j, "srv", r);
    else if (r->type == DNS_OPT)
        dns_log_options(j, "opt", r);
    else if (log_value(j, "rdata", r) && (r->target.flags & DNS_NAME_TRUNCATED) != 0)
        json_bool(j, "rdata_truncated", true);
    json_object_end(j);
}

/* A name of 1,025 bytes costs a sender two bytes: a pointer (RFC 1035 section 4.1.4). So a record
 * ends, with `cut`, when it has LOG_FREE bytes and LOG_EXPANSION times the message's length. A long
 * list of short answers to one long name can reach that, too. */
#define LOG_EXPANSION 8
#define LOG_FREE 4096

/* The output size from which no further question or record is added. */
static size_t log_end(const struct json *j, const struct dns_message *m)
{
    return j->out->len + LOG_FREE + (size_t)LOG_EXPANSION * m->len;
}

static bool is_full(const struct json *j, size_t end)
{
    return j->out->len >= end;
}

/* Each text of a TXT record (RFC 1035 section 3.3.14) is logged as a record of its own. */
static void log_record(struct json *j, const struct dns_record *r, size_t end)
{
    struct bytes in = bytes_of_slice(r->data);
    struct slice text;

    if (r->type != DNS_TXT) {
        log_detail(j, r, NULL);
        return;
    }
    while (!is_full(j, end) && dns_take_text(&in, &text))
        log_detail(j, r, &text);
}

static void log_records(struct json *j, const char *key, const struct dns_section *section,
                        size_t end)
{
    json_array(j, key);
    for (unsigned i = 0; i < section->count && !is_full(j, end); i++)
        log_record(j, &section->at[i], end);
    json_array_end(j);
}

static void log_authorities(struct json *j, const struct dns_message *m, size_t end)
{
    if (m->authorities.count > 0)
        log_records(j, "authorities", &m->authorities, end);
}

/* An OPT record without options is not logged: it carries nothing. */
static void log_additionals(struct json *j, const struct dns_message *m, size_t end)
{
    bool open = false;

    for (unsigned i = 0; i < m->additionals.count && !is_full(j, end); i++) {
        const struct dns_record *r = &m->additionals.at[i];

        if (r->type == DNS_OPT && r->data.len == 0)
            continue;
        if (!open)
            json_array(j, "additionals");
        open = true;
        log_record(j, r, end);
    }
    if (open)
        json_array_end(j);
}

/* The types that Suricata groups; others are in "detailed" only. */
static bool is_groupable(uint16_t type)
{
    switch (type) {
    case DNS_A: case DNS_AAAA: case DNS_CNAME: case DNS_MX: case DNS_NS: case DNS_PTR:
    case DNS_TXT: case DNS_NULL: case DNS_SOA: case DNS_SSHFP: case DNS_SRV:
        return true;
    default:
        return false;
    }
}

static void log_group_item(struct json *j, const struct dns_record *r, size_t end)
{
    struct bytes in = bytes_of_slice(r->data);
    struct slice text;

    if (r->type == DNS_SOA)
        dns_log_soa(j, NULL, r);
    else if (r->type == DNS_SSHFP)
        dns_log_sshfp(j, NULL, r);
    else if (r->type == DNS_SRV)
        dns_log_srv(j, NULL, r);
    else if (r->type != DNS_TXT)
        log_value(j, NULL, r);
    else
        while (!is_full(j, end) && dns_take_text(&in, &text))
            json_slice(j, NULL, text);
}

/* One array per type, in the order of the first answer of each. */
static void log_grouped(struct json *j, const struct dns_section *section, size_t end)
{
    char text[DNS_TYPE_SIZE];
    uint64_t logged = 0;        /* a bit for each type: all groupable ones are below 64 */

    json_object(j, "grouped");
    for (unsigned i = 0; i < section->count; i++) {
        uint16_t type = section->at[i].type;

        if (!is_groupable(type) || (logged >> type & 1) != 0)
            continue;
        logged |= UINT64_C(1) << type;
        json_array(j, dns_type_text(type, text));
        for (unsigned k = i; k < section->count && !is_full(j, end); k++)
            if (section->at[k].type == type)
                log_group_item(j, &section->at[k], end);
        json_array_end(j);
    }
    json_object_end(j);
}

static void log_answers(struct json *j, const struct dns_message *m,
                        const struct dns_log_settings *s, size_t end)
{
    if (m->answers.count == 0)
        return;
    if (s->detailed)
        log_records(j, "answers", &m->answers, end);
    if (s->grouped)
        log_grouped(j, &m->answers, end);
}

/* --- version 3 -------------------------------------------------------------------------------- */

static bool type_is_logged(const struct dns_log_settings *s, uint16_t type)
{
    return s->everything || (s->types & type_bit(type)) != 0;
}

/* A filter on types selects by question. A message without questions is logged only without a
 * filter. */
static bool any_is_logged(const struct dns_log_settings *s, const struct dns_message *m)
{
    for (unsigned i = 0; i < m->question_count; i++)
        if (type_is_logged(s, m->question[i].type))
            return true;
    return false;
}

static void log_questions(struct json *j, const struct dns_message *m,
                          const struct dns_log_settings *s, size_t end)
{
    if (m->question_count == 0)
        return;
    JSON_ARRAY(j, "queries");
    for (unsigned i = 0; i < m->question_count && !is_full(j, end); i++) {
        if (!type_is_logged(s, m->question[i].type))
            continue;
        json_object(j, NULL);
        log_rrname(j, &m->question[i].name);
        log_type(j, m->question[i].type);
        json_object_end(j);
    }
    json_array_end(j);
}

static void log_head(struct json *j, const struct dns_message *m, bool is_response,
                     uint64_t tx_id)
{
    uint8_t *p = json_reserve(j, 96);

    if (UNLIKELY(p == NULL))
        return;
    p = is_response ? JSON_PUT(p, "\"version\":3,\"type\":\"response\"")
                    : JSON_PUT(p, "\"version\":3,\"type\":\"request\"");
    p = JSON_PUT_U64(p, ",\"tx_id\":", tx_id);
    json_written(j, JSON_PUT_U64(p, ",\"id\":", m->id));
}

static void log_message(struct json *j, const struct dns_message *m, bool is_response,
                        uint64_t tx_id, const struct dns_log_settings *s)
{
    size_t end = log_end(j, m);

    log_head(j, m, is_response, tx_id);
    log_flags(j, m);
    log_rcode(j, m);
    log_questions(j, m, s, end);
    log_answers(j, m, s, end);
    log_authorities(j, m, end);
    log_additionals(j, m, end);
    if (is_full(j, end))
        json_bool(j, "cut", true);
}

static bool kind_is_logged(const struct dns_log_settings *s, bool response)
{
    return response ? s->responses : s->requests;
}

/* For DNS over HTTP/2, which has its own transactions: tx_id is 0. */
bool dns_log_object(struct json *j, const struct dns_message *m, bool response,
                    const struct dns_log_settings *s)
{
    if (s == NULL)
        s = &alert_settings;
    if (!kind_is_logged(s, response) || !any_is_logged(s, m))
        return false;
    json_object(j, "dns");
    log_message(j, m, response, 0, s);
    json_object_end(j);
    return true;
}

static bool dns_log_v3(struct json *j, struct app_tx *tx, enum direction direction,
                       const void *conf)
{
    const struct dns_log_settings *s = conf;

    (void)direction;
    if (!kind_is_logged(s, dns_is_response(tx)) || !any_is_logged(s, dns_message_of(tx)))
        return false;
    log_message(j, dns_message_of(tx), dns_is_response(tx), tx->id, s);
    return true;
}

/* --- version 2 -------------------------------------------------------------------------------- */

/* Called once per question. */
static void log_v2_question(struct json *j, const struct app_tx *tx, const struct dns_question *q)
{
    const struct dns_message *m = dns_message_of(tx);

    JSON_U64(j, "version", 2);
    json_string(j, "type", "query");
    JSON_U64(j, "id", m->id);
    log_rrname(j, &q->name);
    log_type(j, q->type);
    JSON_U64(j, "tx_id", tx->id);
    if ((m->flags & DNS_FLAG_Z) != 0)
        json_bool(j, "z", true);
    JSON_U64(j, "opcode", dns_opcode(m));
}

static void log_v2_answer(struct json *j, const struct dns_message *m,
                          const struct dns_log_settings *s)
{
    size_t end = log_end(j, m);

    JSON_U64(j, "version", 2);
    json_string(j, "type", "answer");
    JSON_U64(j, "id", m->id);
    log_flags(j, m);
    if (m->question_count > 0) {
        log_rrname(j, &m->question[0].name);
        log_type(j, m->question[0].type);
    }
    log_rcode(j, m);
    log_answers(j, m, s, end);
    log_authorities(j, m, end);
    log_additionals(j, m, end);
    if (is_full(j, end))
        json_bool(j, "cut", true);
}

/* log_nth() calls with n = 0, 1 ... until it returns false: the first question of an excluded type
 * ends the list. */
static bool dns_log_v2(struct json *j, struct app_tx *tx, unsigned n, const void *conf)
{
    const struct dns_tx *t = (const struct dns_tx *)(const void *)tx;
    const struct dns_log_settings *s = conf;

    if (!kind_is_logged(s, dns_is_response(tx)))
        return false;
    if (t->is_response) {
        if (n > 0 || !any_is_logged(s, &t->message))
            return false;
        log_v2_answer(j, &t->message, s);
        return true;
    }
    if (n >= t->message.question_count || !type_is_logged(s, t->message.question[n].type))
        return false;
    log_v2_question(j, tx, &t->message.question[n]);
    return true;
}

/* --- what outputs find ------------------------------------------------------------------------ */

void dns_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "dns");
    log_message(j, dns_message_of(tx), dns_is_response(tx), tx->id, &alert_settings);
    json_object_end(j);
}

static bool v3_is_off(const void *conf)
{
    return ((const struct dns_log_settings *)conf)->version != 3;
}

static bool v2_is_off(const void *conf)
{
    return ((const struct dns_log_settings *)conf)->version != 2;
}

static const struct app_log v3 = {
    .conf_name = "dns", .event_type = "dns", .key = "dns", .progress = { 1, 1 },
    .each_direction = true, .configure = dns_log_configure, .is_off = v3_is_off,
    .log = dns_log_v3,
};

static const struct app_log v2 = {
    .conf_name = "dns", .event_type = "dns", .key = "dns", .progress = { 1, 1 },
    .configure = dns_log_configure, .is_off = v2_is_off, .log_nth = dns_log_v2,
};

const struct app_log *const dns_logs[] = { &v3, &v2, NULL };
