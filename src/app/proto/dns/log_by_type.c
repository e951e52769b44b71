/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/dns/log_by_type.c - records as mdns and llmnr log them: the data of each under the
 * name of its type. */
#include "app/proto/dns/dns.h"

#include <ctype.h>

/* Records in EVE name the data of a record by its type in lower case. */
static const char *type_key(uint16_t type, char out[DNS_TYPE_SIZE])
{
    dns_type_text(type, out);
    for (char *c = out; *c != '\0'; c++)
        *c = (char)tolower((unsigned char)*c);
    return out;
}

/* TXT: a list of strings, each with a length byte (RFC 1035 section 3.3.14). A malformed rest is
 * left out. */
static void log_texts(struct json *j, const char *key, const struct dns_record *r)
{
    struct bytes in = bytes_of_slice(r->data);
    struct slice text;

    json_array(j, key);
    while (dns_take_text(&in, &text))
        json_slice(j, NULL, text);
    json_array_end(j);
}

/* A name within the data of a record; a name beyond the limit of the DNS parser is marked. */
static void log_target(struct json *j, const char *key, const struct dns_record *r)
{
    json_slice(j, key, r->target.text);
    if ((r->target.flags & DNS_NAME_TRUNCATED) != 0)
        json_bool(j, "rdata_truncated", true);
}

/* Types without a case here are written as raw text. */
static void log_data(struct json *j, const struct dns_record *r)
{
    char key[DNS_TYPE_SIZE], address[DNS_ADDRESS_SIZE];

    type_key(r->type, key);
    switch (r->type) {
    case DNS_A:
    case DNS_AAAA:
        dns_address(r->data, address);
        json_string(j, key, address);
        break;
    case DNS_CNAME:
    case DNS_MX:
    case DNS_NS:
    case DNS_PTR:
        log_target(j, key, r);
        break;
    case DNS_TXT:
        log_texts(j, key, r);
        break;
    case DNS_SOA:
        dns_log_soa(j, key, r);
        break;
    case DNS_SRV:
        dns_log_srv(j, key, r);
        break;
    case DNS_SSHFP:
        dns_log_sshfp(j, key, r);
        break;
    case DNS_OPT:
        dns_log_options(j, key, r);
        break;
    default:
        json_slice(j, key, r->data);
    }
}

static void log_name(struct json *j, const struct dns_name *name)
{
    json_slice(j, "rrname", name->text);
    if ((name->flags & DNS_NAME_TRUNCATED) != 0)
        json_bool(j, "rrname_truncated", true);
}

/* The array appears only when it has an entry. An OPT record without options is left out. */
static void log_section(struct json *j, const char *key, const struct dns_section *section)
{
    bool open = false;

    for (unsigned i = 0; i < section->count; i++) {
        const struct dns_record *r = &section->at[i];

        if (r->type == DNS_OPT && r->data.len == 0)
            continue;
        if (!open)
            json_array(j, key);
        open = true;
        json_object(j, NULL);
        log_name(j, &r->name);
        log_data(j, r);
        json_object_end(j);
    }
    if (open)
        json_array_end(j);
}

/* The array appears only when there is a question. */
static void log_questions(struct json *j, const struct dns_message *m)
{
    char type[DNS_TYPE_SIZE];

    if (m->question_count == 0)
        return;
    json_array(j, "queries");
    for (unsigned i = 0; i < m->question_count; i++) {
        json_object(j, NULL);
        log_name(j, &m->question[i].name);
        json_string(j, "rrtype", type_key(m->question[i].type, type));
        json_object_end(j);
    }
    json_array_end(j);
}

/* Only flags that are set; none: no key. */
static void log_flags(struct json *j, const struct dns_message *m, const struct dns_flag *flag)
{
    bool open = false;

    for (; flag->name != NULL; flag++) {
        if ((m->flags & flag->bit) == 0)
            continue;
        if (!open)
            json_array(j, "flags");
        open = true;
        json_string(j, NULL, flag->name);
    }
    if (open)
        json_array_end(j);
}

void dns_log_by_type(struct json *j, const struct app_tx *tx, const struct dns_flag *flags,
                     bool has_rcode)
{
    const struct dns_message *m = dns_message_of(tx);

    json_string(j, "type", dns_is_response(tx) ? "response" : "request");
    json_u64(j, "id", m->id);
    log_flags(j, m, flags);
    json_u64(j, "opcode", dns_opcode(m));
    if (has_rcode)
        json_u64(j, "rcode", dns_rcode(m));
    log_questions(j, m);
    log_section(j, "answers", &m->answers);
    log_section(j, "authorities", &m->authorities);
    log_section(j, "additionals", &m->additionals);
}
