/* SPDX-License-Identifier: GPL-2.0-or-later */
/* app/proto/ldap/message.c - names, and the pieces that several operations share.
 *
 * All cursors here run over stored content that only has a correct outer frame. Every read can
 * fail, and a failed cursor stays failed. */
#include "app/proto/ldap/ldap.h"

/* Numbers are the APPLICATION tags of RFC 4511; the names are Suricata's. */
const struct app_name ldap_operations[] = { LDAP_OP_LIST(APP_NUMBER_ROW) { NULL, 0 } };

/* resultCode of RFC 4511 section 4.1.9 and later registrations; names are Suricata's. */
const struct app_name ldap_result_codes[] = {
    { "success", 0 }, { "operations_error", 1 }, { "protocol_error", 2 },
    { "time_limit_exceeded", 3 }, { "size_limit_exceeded", 4 }, { "compare_false", 5 },
    { "compare_true", 6 }, { "auth_method_not_supported", 7 }, { "stronger_auth_required", 8 },
    { "referral", 10 }, { "admin_limit_exceeded", 11 }, { "unavailable_critical_extension", 12 },
    { "confidentiality_required", 13 }, { "sasl_bind_in_progress", 14 },
    { "no_such_attribute", 16 }, { "undefined_attribute_type", 17 },
    { "inappropriate_matching", 18 }, { "constraint_violation", 19 },
    { "attribute_or_value_exists", 20 }, { "invalid_attribute_syntax", 21 },
    { "no_such_object", 32 }, { "alias_problem", 33 }, { "invalid_dns_syntax", 34 },
    { "is_leaf", 35 }, { "alias_dereferencing_problem", 36 },
    { "inappropriate_authentication", 48 }, { "invalid_credentials", 49 },
    { "insufficient_access_rights", 50 }, { "busy", 51 }, { "unavailable", 52 },
    { "unwilling_to_perform", 53 }, { "loop_detect", 54 }, { "sort_control_missing", 60 },
    { "offset_range_error", 61 }, { "naming_violation", 64 }, { "object_class_violation", 65 },
    { "not_allowed_on_non_leaf", 66 }, { "not_allowed_on_rdn", 67 },
    { "entry_already_exists", 68 }, { "object_class_mods_prohibited", 69 },
    { "results_too_large", 70 }, { "affects_multiple_dsas", 71 }, { "control_error", 76 },
    { "other", 80 }, { "server_down", 81 }, { "local_error", 82 }, { "encoding_error", 83 },
    { "decoding_error", 84 }, { "timeout", 85 }, { "auth_unknown", 86 }, { "filter_error", 87 },
    { "user_canceled", 88 }, { "param_error", 89 }, { "no_memory", 90 }, { "connect_error", 91 },
    { "not_supported", 92 }, { "control_not_found", 93 }, { "no_results_returned", 94 },
    { "more_results_to_return", 95 }, { "client_loop", 96 }, { "referral_limit_exceeded", 97 },
    { "invalid_response", 100 }, { "ambiguous_response", 101 }, { "tls_not_supported", 112 },
    { "intermediate_response", 113 }, { "unknown_type", 114 }, { "canceled", 118 },
    { "no_such_operation", 119 }, { "too_late", 120 }, { "cannot_cancel", 121 },
    { "assertion_failed", 122 }, { "authorization_denied", 123 },
    { "e_sync_refresh_required", 4096 }, { "no_operation", 16654 }, { NULL, 0 },
};

/* Linear: called for one message at a time, on lists of at most a hundred entries. */
const char *ldap_name(const struct app_name *names, uint64_t value)
{
    for (; names->name != NULL; names++)
        if ((uint64_t)names->value == value)
            return names->name;
    return NULL;
}

/* On success *in is behind diagnosticMessage, where operations append their own members. */
bool ldap_take_result(const struct ldap_message *m, struct bytes *in, struct ldap_result *out)
{
    struct slice code = { 0 };

    switch ((enum ldap_op)m->op) {
    case LDAP_BIND_RESPONSE: case LDAP_SEARCH_DONE: case LDAP_MODIFY_RESPONSE:
    case LDAP_ADD_RESPONSE: case LDAP_DEL_RESPONSE: case LDAP_MOD_DN_RESPONSE:
    case LDAP_COMPARE_RESPONSE: case LDAP_EXTENDED_RESPONSE:
        break;
    default:
        return false;
    }
    *in = bytes_of_slice(m->body);
    der_take_tag(in, DER_ENUMERATED, &code);
    der_take_tag(in, DER_OCTET_STRING, &out->dn);
    der_take_tag(in, DER_OCTET_STRING, &out->text);
    return !in->failed && der_uint(code, &out->code);
}

/* PartialAttribute (RFC 4511 section 4.1.7). A set that is malformed makes *values a failed cursor
 * but still gives the type. */
bool ldap_take_attribute(struct bytes *list, struct slice *type, struct bytes *values)
{
    struct bytes one;

    if (list->failed || bytes_left(list) == 0)
        return false;
    one = der_enter(list, DER_SEQUENCE);
    if (!der_take_tag(&one, DER_OCTET_STRING, type))
        return false;
    *values = der_enter(&one, DER_SET);
    return true;
}

/* Both messages begin with a DN, then the list. The cursor is failed when either is malformed, and
 * ldap_take_attribute() treats that as an empty list. */
struct bytes ldap_attributes(const struct ldap_message *m, struct slice *name)
{
    struct bytes in = bytes_of_slice(m->body);

    *name = (struct slice){ 0 };
    der_take_tag(&in, DER_OCTET_STRING, name);
    return der_enter(&in, DER_SEQUENCE);
}

/* A change (RFC 4511 section 4.6): ENUMERATED operation, then a PartialAttribute. */
bool ldap_take_change(struct bytes *list, uint64_t *operation, struct slice *type,
                      struct bytes *values)
{
    struct bytes one;
    struct slice op;

    if (list->failed || bytes_left(list) == 0)
        return false;
    one = der_enter(list, DER_SEQUENCE);
    return der_take_tag(&one, DER_ENUMERATED, &op) && der_uint(op, operation) &&
           ldap_take_attribute(&one, type, values);
}
