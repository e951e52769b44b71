/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ldap/log.c - EVE ldap: a request and its responses.
 *
 * Reads the stored DER in the order of the RFC's definitions. A malformed element ends its part of
 * the record; the fields before it stay. */
#include "app/proto/ldap/ldap.h"

/* No field when the next element is not a string; the cursor then fails, and so do later reads. */
static void log_string(struct json *j, const char *key, struct bytes *in)
{
    struct slice s = { 0 };

    if (der_take_tag(in, DER_OCTET_STRING, &s))
        json_slice(j, key, s);
}

/* Takes the next element when it has this tag; otherwise leaves it for the next reader. */
static bool optional(struct bytes *in, uint8_t tag, struct slice *out)
{
    return bytes_left(in) > 0 && der_peek(in) == tag && der_take_tag(in, tag, out);
}

static void log_optional(struct json *j, const char *key, struct bytes *in, uint8_t tag)
{
    struct slice s;

    if (optional(in, tag, &s))
        json_slice(j, key, s);
}

/* A list of strings; no array for an empty or missing one. */
static void log_values(struct json *j, const char *key, struct bytes values)
{
    struct slice s;

    if (values.failed || bytes_left(&values) == 0)
        return;
    json_array(j, key);
    while (bytes_left(&values) > 0 && der_take_tag(&values, DER_OCTET_STRING, &s))
        json_slice(j, NULL, s);
    json_array_end(j);
}

/* PartialAttributeList (RFC 4511 section 4.1.7): types, each with a set of values. Records call the
 * type `name` in an add request and `type` in a search entry. */
static void log_attributes(struct json *j, struct bytes list, const char *type_key)
{
    struct bytes values;
    struct slice type;

    if (list.failed || bytes_left(&list) == 0)
        return;
    json_array(j, "attributes");
    while (ldap_take_attribute(&list, &type, &values)) {
        json_object(j, NULL);
        json_slice(j, type_key, type);
        log_values(j, "values", values);
        json_object_end(j);
    }
    json_array_end(j);
}

/* INTEGER or ENUMERATED; no field for a negative number. */
static void log_number(struct json *j, const char *key, struct bytes *in)
{
    struct der d;
    uint64_t value;

    if (der_take(in, &d) && der_uint(d.content, &value))
        json_u64(j, key, value);
}

/* Search request (RFC 4511 section 4.5.1), in the order of its members. Of the filters only
 * `present` [7] is written; others can nest and are skipped. */
static void log_search(struct json *j, struct bytes in)
{
    struct slice flag = { 0 }, present;
    struct der filter;

    log_string(j, "base_object", &in);
    log_number(j, "scope", &in);
    log_number(j, "deref_alias", &in);
    log_number(j, "size_limit", &in);
    log_number(j, "time_limit", &in);
    if (der_take_tag(&in, DER_BOOLEAN, &flag))
        json_bool(j, "types_only", flag.len > 0 && flag.data[0] != 0);
    if (optional(&in, DER_CONTEXT + 7, &present)) {
        json_object(j, "filter");
        json_string(j, "type", "present");
        json_slice(j, "value", present);
        json_object_end(j);
    } else {
        der_take(&in, &filter);     /* skip any other filter */
    }
    log_values(j, "attributes", der_enter(&in, DER_SEQUENCE));
}

/* Bind request (RFC 4511 section 4.2). A simple password is never written; SASL credentials are, as
 * hexadecimal text, because they are binary. */
static void log_bind(struct json *j, struct bytes in)
{
    struct slice content, credentials;
    struct bytes sasl;

    log_number(j, "version", &in);
    log_string(j, "name", &in);
    if (!optional(&in, DER_CONTEXT_CONSTRUCTED + 3, &content))
        return;
    sasl = bytes_of_slice(content);
    json_object(j, "sasl");
    log_string(j, "mechanism", &sasl);
    if (optional(&sasl, DER_OCTET_STRING, &credentials))
        json_hex(j, "credentials", credentials.data, credentials.len);
    json_object_end(j);
}

/* `operation` is the ENUMERATED of RFC 4511 section 4.6; an unknown one is written as a number. */
static void log_change(struct json *j, uint64_t operation, struct slice type,
                       struct bytes values)
{
    static const char *const operations[] = { "add", "delete", "replace" };

    json_object(j, NULL);
    if (operation < 3)
        json_string(j, "operation", operations[operation]);
    else
        json_printf(j, "operation", "%llu", (unsigned long long)operation);
    json_object(j, "modification");
    json_slice(j, "attribute_type", type);
    log_values(j, "attribute_values", values);
    json_object_end(j);
    json_object_end(j);
}

/* Modify request (RFC 4511 section 4.6). */
static void log_modify(struct json *j, struct bytes in)
{
    struct bytes list, values;
    struct slice type;
    uint64_t operation;

    log_string(j, "object", &in);
    list = der_enter(&in, DER_SEQUENCE);
    if (list.failed || bytes_left(&list) == 0)
        return;
    json_array(j, "changes");
    while (ldap_take_change(&list, &operation, &type, &values))
        log_change(j, operation, type, values);
    json_array_end(j);
}

/* ModifyDN request (RFC 4511 section 4.9); newSuperior [0] is optional. */
static void log_mod_dn(struct json *j, struct bytes in)
{
    struct slice flag = { 0 };

    log_string(j, "entry", &in);
    log_string(j, "new_rdn", &in);
    if (der_take_tag(&in, DER_BOOLEAN, &flag))
        json_bool(j, "delete_old_rdn", flag.len > 0 && flag.data[0] != 0);
    log_optional(j, "new_superior", &in, DER_CONTEXT);
}

/* Compare request (RFC 4511 section 4.10). */
static void log_compare(struct json *j, struct bytes in)
{
    struct bytes assertion;

    log_string(j, "entry", &in);
    assertion = der_enter(&in, DER_SEQUENCE);
    json_object(j, "attribute_value_assertion");
    log_string(j, "description", &assertion);
    log_string(j, "value", &assertion);
    json_object_end(j);
}

/* LDAPResult (RFC 4511 section 4.1.9) and what bind and extended responses append to it:
 * serverSaslCreds [7], responseName [10], responseValue [11]. */
static void log_result(struct json *j, const struct ldap_message *m)
{
    struct ldap_result result;
    struct slice credentials;
    const char *name;
    struct bytes in;

    if (!ldap_take_result(m, &in, &result))
        return;
    name = ldap_name(ldap_result_codes, result.code);
    if (name != NULL)
        json_string(j, "result_code", name);
    else
        json_printf(j, "result_code", "unknown-%llu", (unsigned long long)result.code);
    json_slice(j, "matched_dn", result.dn);
    json_slice(j, "message", result.text);
    optional(&in, DER_CONTEXT_CONSTRUCTED + 3, &credentials);       /* referral [3]: skipped */
    if (m->op == LDAP_BIND_RESPONSE && optional(&in, DER_CONTEXT + 7, &credentials))
        json_hex(j, "server_sasl_creds", credentials.data, credentials.len);
    if (m->op != LDAP_EXTENDED_RESPONSE)
        return;
    log_optional(j, "name", &in, DER_CONTEXT + 10);
    log_optional(j, "value", &in, DER_CONTEXT + 11);
}

/* The body of one message. The default case serves all responses with an LDAPResult. */
static void log_body(struct json *j, const struct ldap_message *m)
{
    struct bytes in = bytes_of_slice(m->body);
    struct slice name;

    switch ((enum ldap_op)m->op) {
    case LDAP_SEARCH_REQUEST:  log_search(j, in); break;
    case LDAP_BIND_REQUEST:    log_bind(j, in); break;
    case LDAP_MODIFY_REQUEST:  log_modify(j, in); break;
    case LDAP_ADD_REQUEST:
        log_string(j, "entry", &in);
        log_attributes(j, ldap_attributes(m, &name), "name");
        break;
    case LDAP_DEL_REQUEST:     json_slice(j, "dn", m->body); break;
    case LDAP_MOD_DN_REQUEST:  log_mod_dn(j, in); break;
    case LDAP_COMPARE_REQUEST: log_compare(j, in); break;
    case LDAP_EXTENDED_REQUEST: /* [0] requestName and [1] requestValue; the same tags in both */
    case LDAP_INTERMEDIATE_RESPONSE:
        log_optional(j, "name", &in, DER_CONTEXT);
        log_optional(j, "value", &in, DER_CONTEXT + 1);
        break;
    case LDAP_SEARCH_ENTRY:
        log_string(j, "base_object", &in);
        log_attributes(j, ldap_attributes(m, &name), "type");
        break;
    default:
        log_result(j, m);
        break;
    }
}

/* Controls (RFC 4511 section 4.1.11): type, criticality DEFAULT FALSE, value OPTIONAL. The first
 * malformed control ends the list. */
static void log_controls(struct json *j, struct slice controls)
{
    struct bytes in = bytes_of_slice(controls);
    struct slice flag, value;

    if (controls.len == 0)
        return;
    json_array(j, "controls");
    while (!in.failed && bytes_left(&in) > 0) {
        struct bytes one = der_enter(&in, DER_SEQUENCE);
        bool critical;

        if (one.failed)
            break;
        json_object(j, NULL);
        log_string(j, "control_type", &one);
        critical = optional(&one, DER_BOOLEAN, &flag) && flag.len > 0 && flag.data[0] != 0;
        json_bool(j, "criticality", critical);
        if (optional(&one, DER_OCTET_STRING, &value))
            json_hex(j, "control_value", value.data, value.len);
        json_object_end(j);
    }
    json_array_end(j);
}

/* The identifier comes before the operation in a request and after it in a response, which has one
 * only without a request: the order of Suricata's records. An unbind, an abandon and a reference
 * have no object of their own. */
static void log_message(struct json *j, const struct ldap_message *m, bool is_request,
                        bool with_id)
{
    const char *name = ldap_name(ldap_operations, m->op);
    bool has_body = m->op != LDAP_UNBIND_REQUEST && m->op != LDAP_ABANDON_REQUEST &&
                    m->op != LDAP_SEARCH_REFERENCE;

    if (is_request && with_id)
        json_u64(j, "message_id", m->id);
    json_string(j, "operation", name);
    if (!is_request && with_id)
        json_u64(j, "message_id", m->id);
    if (has_body) {
        json_object(j, name);
        log_body(j, m);
        json_object_end(j);
    }
    log_controls(j, m->controls);
}

/* A transaction without a request is a notice or a response whose request was not seen. */
static bool ldap_log(struct json *j, struct app_tx *tx, enum direction d UNUSED,
                     const void *conf UNUSED)
{
    const struct ldap_tx *t = ldap_tx_of(tx);

    if (t->request != NULL) {
        json_object(j, "request");
        log_message(j, t->request, true, true);
        json_object_end(j);
    }
    if (t->responses == NULL)
        return true;
    json_array(j, "responses");
    for (const struct ldap_message *m = t->responses; m != NULL; m = m->next) {
        json_object(j, NULL);
        log_message(j, m, false, t->request == NULL);
        json_object_end(j);
    }
    json_array_end(j);
    return true;
}

/* The same object within an alert. */
void ldap_alert_metadata(struct json *j, struct app_tx *tx)
{
    json_object(j, "ldap");
    ldap_log(j, tx, TO_SERVER, NULL);
    json_object_end(j);
}

static const struct app_log eve_ldap = {
    .conf_name = "ldap", .event_type = "ldap", .key = "ldap", .progress = { 1, 1 },
    .log = ldap_log,
};
const struct app_log *const ldap_logs[] = { &eve_ldap, NULL };
